"""The text that looks for events: changes of sign of functions within a step, and the steps that end on them.

The search runs on the dense output of a step. Each of its four parts is checked at its ends for a change of sign, and
by the slopes there for a dip through zero and back. The root found is a guess, which real steps refine.
"""

SIDES = """\
template <class T> TORSEUR_DEVICE int side_of(const T value) {{ return value >= T(0) ? 1 : -1; }}
template <class T> TORSEUR_DEVICE T precision_of() {{ return sizeof(T) == 4 ? T(1.2e-7) : T(2.3e-16); }}
TORSEUR_DEVICE int direction_of(int i) {{ return {directions}; }}
TORSEUR_DEVICE bool is_wanted(int i, int side) {{ return direction_of(i) == 0 || direction_of(i) == side; }}

/* Entry i, without an index that only the thread knows: arrays with such indices leave the registers. */
template <class T> TORSEUR_DEVICE T chosen(const int i, const T *g) {{
  T found = g[0];
  TORSEUR_UNROLL for (int j = 1; j < {events}; ++j) found = j == i ? g[j] : found;
  return found;
}}
"""

SMOOTH_PIECE = """\
/* A step as a piece of motion: with s from 0 to 1 and r = 1 - s, c0 + s c1 + s r c2 + s s r c3 + s s r r c4. */
template <class T>
TORSEUR_DEVICE void piece_of(const T *x, const T *next, const T *slopes, const T *ends, const T *bend, const T h,
                             T *piece) {{
  TORSEUR_UNROLL for (int j = 0; j < {base}; ++j) {{
    const int i = j < {nq0} ? j : {nq} - {nq0} + j;
    const T change = next[i] - x[i];
    piece[j] = x[i];
    piece[{base} + j] = change;
    piece[2 * {base} + j] = h * slopes[i] - change;
    piece[3 * {base} + j] = T(2) * change - h * (slopes[i] + ends[i]);
    piece[4 * {base} + j] = bend[j];
  }}
}}

/* All event functions at the fraction s of a piece of motion. */
template <class T, class F>
TORSEUR_DEVICE void watch_within(const T s, const T t, const T h, const T *piece, {constants}, T *g) {{
  T x[{base}], dx[{base}];
  const T r = T(1) - s, now = t + s * h, turn = r - s;
  TORSEUR_UNROLL for (int j = 0; j < {base}; ++j) {{
    const T *c = piece + j;
    x[j] = c[0] + s * (c[{base}] + r * (c[2 * {base}] + s * (c[3 * {base}] + r * c[4 * {base}])));
    dx[j] = (c[{base}] + turn * c[2 * {base}] + s * (r + turn) * c[3 * {base}] + T(2) * s * r * turn * c[4 * {base}]) /
            h;
  }}
  watch<T, F>({watch}, 1);
}}
"""

STRAIGHT_PIECE = """\
/* A step of order 1 as a piece of motion: states and slopes go evenly from its start to its end. */
template <class T>
TORSEUR_DEVICE void piece_of(const T *x, const T *next, const T *slopes, const T *ends, const T *, const T, T *piece) {{
  TORSEUR_UNROLL for (int j = 0; j < {base}; ++j) {{
    const int i = j < {nq0} ? j : {nq} - {nq0} + j;
    piece[j] = x[i];
    piece[{base} + j] = next[i] - x[i];
    piece[2 * {base} + j] = slopes[i];
    piece[3 * {base} + j] = ends[i] - slopes[i];
  }}
}}

template <class T, class F>
TORSEUR_DEVICE void watch_within(const T s, const T t, const T h, const T *piece, {constants}, T *g) {{
  T x[{base}], dx[{base}];
  const T now = t + s * h;
  TORSEUR_UNROLL for (int j = 0; j < {base}; ++j) {{
    x[j] = piece[j] + s * piece[{base} + j];
    dx[j] = piece[2 * {base} + j] + s * piece[3 * {base} + j];
  }}
  watch<T, F>({watch}, 1);
}}
"""

SEARCH = """\
/* The fraction at which function i leaves its side between a and b: regula falsi in the Illinois variant. Where it only
   dips there, a golden section looks for the other side first; beyond 1 where there is none. */
template <class T, class F>
TORSEUR_DEVICE T locate(const int i, int side, bool dips, T a, T b, T at_a, T at_b, const T t, const T h,
                        const T *piece, {constants}, T *rate) {{
  const T golden = T(0.3819660112501051);
  const bool second = dips && !is_wanted(i, -side);
  T g[{events}];
  at_a *= T(side);
  at_b *= T(side);
  if (!dips && at_a < T(0)) return a;
  T x = dips ? a + golden * (b - a) : b - at_b * (b - a) / (at_b - at_a);
  T lowest_x = x, lowest = T(0), last_x = a, last = at_a, slope = (at_b - at_a) / (b - a);
TORSEUR_ROLLED
  for (int tries = 0; tries < 60; ++tries) {{
    watch_within<T, F>(x, t, h, piece, {passed}, g);
    T value = T(side) * chosen(i, g);
    if (dips && value >= T(0)) {{
      if (tries >= 30) return T(2);
      if (tries == 0) {{
        lowest = value;
      }} else if (value >= lowest) {{
        if (x > lowest_x) {{ b = x; at_b = value; }} else {{ a = x; at_a = value; }}
      }} else {{
        if (x > lowest_x) {{ a = lowest_x; at_a = lowest; }} else {{ b = lowest_x; at_b = lowest; }}
        lowest_x = x;
        lowest = value;
      }}
      x = b - lowest_x > lowest_x - a ? lowest_x + golden * (b - lowest_x) : lowest_x - golden * (lowest_x - a);
      continue;
    }}
    if (dips && second) {{ side = -side; value = -value; at_b = -at_b; }}
    const T apart = x > last_x ? x - last_x : last_x - x;
    if (!dips && apart > T(1e-5)) slope = (value - last) / (x - last_x);
    last_x = x;
    last = value;
    if (value >= T(0)) {{ a = x; at_a = value; at_b *= dips ? T(1) : T(0.5); }}
    else {{ b = x; at_b = value; at_a *= dips ? T(1) : T(0.5); }}
    if (dips) slope = (at_b - at_a) / (b - a);
    dips = false;
    if (b - a <= T(8) * precision_of<T>()) break;
    x = b - at_b * (b - a) / (at_b - at_a);
    if (tries % 8 == 7 || !(a < x && x < b)) x = T(0.5) * (a + b);
  }}
  *rate = T(side) * slope / h;
  return b;
}}

/* Whether a function comes nearer to zero at the start of part k of a step and leaves again at its end. */
template <class T> TORSEUR_DEVICE bool comes_and_goes(const T *samples, const int i, const int k, const int side) {{
  const T *u = samples + i;
  const T before = k == 1 ? T(4) * u[{events}] - T(3) * u[0] - u[2 * {events}]
                          : u[k * {events}] - u[(k - 2) * {events}];
  const T after = k == 4 ? T(3) * u[4 * {events}] - T(4) * u[3 * {events}] + u[2 * {events}]
                         : u[(k + 1) * {events}] - u[(k - 1) * {events}];
  return T(side) * before < T(0) && T(side) * after > T(0);
}}

/* The fraction of a step at which the first wanted event happens, looked for in four parts one after the other; `fired`
   tells which it is, -1 that there is none, `fired_side` on which side it ends. At the very start, before the fraction
   `least`, only what was on the other side before can happen. */
template <class T, class F>
TORSEUR_DEVICE T first_event(const T t, const T h, const T *piece, {constants}, const T least, int *side, int *fired,
                             int *fired_side, T *rate) {{
  T samples[5 * {events}];
  int now[{events}];
  const T after_start = sizeof(T) == 4 ? T(1e-3) : T(1e-6);
TORSEUR_ROLLED
  for (int k = 0; k <= 4; ++k)
    watch_within<T, F>(k > 0 ? T(0.25) * T(k) : side[0] == 0 ? after_start : T(0), t, h, piece, {passed},
                       samples + k * {events});
  TORSEUR_UNROLL for (int i = 0; i < {events}; ++i) {{
    if (side[i] == 0) side[i] = side_of(samples[i]);
    now[i] = side[i];
  }}
  T first = T(2);
  *fired = -1;
TORSEUR_ROLLED
  for (int k = 1; k <= 4 && *fired < 0; ++k) {{
TORSEUR_ROLLED
    for (int i = 0; i < {events}; ++i) {{
      const int other = side_of(samples[k * {events} + i]);
      const bool crosses = other != now[i], dips = !crosses && comes_and_goes(samples, i, k, now[i]);
      if (dips || (crosses && is_wanted(i, other))) {{
        T own = T(0);
        const T s = locate<T, F>(i, now[i], dips, T(0.25) * T(k - 1), T(0.25) * T(k), samples[(k - 1) * {events} + i],
                                 samples[k * {events} + i], t, h, piece, {passed}, &own);
        const int end = direction_of(i) != 0 ? direction_of(i) : -now[i];
        if (s < first && (s > least || side[i] != end)) {{
          first = s;
          *fired = i;
          *fired_side = end;
          *rate = own;
        }}
      }}
      now[i] = other;
    }}
  }}
  if (*fired < 0) {{
    TORSEUR_UNROLL for (int i = 0; i < {events}; ++i) side[i] = now[i];
  }}
  return first;
}}

/* `armed`: the function was on the other side before; else it only seemed so within the step, and must be seen there.
   `past`: nothing happens, the step goes as far as the event was looked for. */
template <class T>
struct landing_of {{ T reach, first, before, after, last_length, last_value, rate; int tries; bool armed, past; }};

template <class T> TORSEUR_DEVICE void aim(landing_of<T> *landing, const T reach, const T step, const bool armed) {{
  landing->reach = landing->first = reach;
  landing->before = T(0);
  landing->after = step;
  landing->tries = 0;
  landing->armed = armed;
  landing->past = false;
}}

/* Whether a real step of this length is the last one that is tried; else the next length, by the secant rule. */
template <class T>
TORSEUR_DEVICE bool has_landed(landing_of<T> *landing, const T value, const int fired_side, const T step,
                               const T resolution) {{
  if (landing->past) return true;
  if (landing->tries > 0 && value != landing->last_value)
    landing->rate = (value - landing->last_value) / (step - landing->last_length);
  if (side_of(value) == fired_side) landing->after = step;
  else landing->before = step;
  T better = landing->rate != T(0) ? step - value / landing->rate : step;
  const T moved = better > step ? better - step : step - better;
  const bool seen = landing->armed || landing->before > T(0);
  if (++landing->tries >= 24 || (seen && moved <= resolution)) {{
    landing->past = !seen;
    landing->reach = landing->first;
    return seen;
  }}
  if (!seen && moved <= resolution) better = step * T(0.9999);
  else if (!(landing->before < better && better < landing->after))
    better = T(0.5) * (landing->before + landing->after);
  landing->last_length = step;
  landing->last_value = value;
  landing->reach = better;
  return false;
}}
"""
