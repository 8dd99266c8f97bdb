"""The text of a rollout that is watched: criteria are taken at the start, at the end, and at events between.

Events are changes of sign of functions of the state. They are looked for on the dense output of each step, and real
steps then end on them, as in the CPU's integrator (computation/simulation/events/event_search.py,
computation/simulation/events/landing.py): so that a thread that lands runs through the same code as one that takes an
ordinary step.
"""

# Why landing on an event is an ordinary step: docs/decisions/0044-landing-on-an-event-is-a-step.md.
WATCHED = """\
/* One motion with criteria; records as without them. Where it cannot be continued, all that is kept of it is not a
   number. A motion that an event stopped is recorded as it was then. */
template <class T, class F>
TORSEUR_DEVICE void rollout(const T *q0, const T *v0, {given}, T *out, T *judged, T start, T h, long long steps,
                            long long every, T rtol, const T *atol, T longest, long long stride) {{
  T x[{n}], trial_floats[{trial}]{locals};
  T *slopes = trial_floats, *ends = trial_floats + {ends}, *next = trial_floats + {next};
{plan}  TORSEUR_UNROLL for (int j = 0; j < {nq}; ++j) x[j] = q0[j * stride];
  TORSEUR_UNROLL for (int j = 0; j < {nv}; ++j) x[{nq} + j] = v0[j * stride];
  TORSEUR_UNROLL for (int j = {nq} + {nv}; j < {n}; ++j) x[j] = T(0);
{loading}  const T spacing = {adaptive} ? h * T(every) : h;
  const long long goals = {adaptive} ? steps / every : steps;
  const long long most = {adaptive} ? 100000 : 100000 + 50 * steps;
  T t = start, length = spacing * T({adaptive} ? 0.01 : 2.0);
  if ({adaptive}) length = length < longest ? length : longest;
  long long count = 0;
  bool failed = false, stopped = false;
{first_settle}  rates_of<T, F>(t, x, {passed}, slopes);
  taken_so_far<T> taken = {{}};
  TORSEUR_UNROLL for (int j = 0; j < {judged}; ++j) judged[j * stride] = T(0) / T(0);
{start}{watching}TORSEUR_ROLLED
  for (long long k = 1; k <= goals; ++k) {{
    const T goal = start + spacing * T(k);
TORSEUR_ROLLED
    while (!failed && !stopped && t < goal) {{
      const bool lands = {lands};
      const bool last = !lands && t + length * T(1.01) >= goal;
      const T step = lands ? {reach} : last ? goal - t : length;
      const T error = {attempt};
      const bool good = error <= T(1);
      bool accepted = good;
      ++count;
{searching}      if ({adaptive} && !lands && (accepted || !good)) {{
        length = {next_length};
      }}
      if (accepted) {{
        TORSEUR_UNROLL for (int j = 0; j < {n}; ++j) {{ x[j] = next[j]; slopes[j] = ends[j]; }}
        t = last ? goal : t + step;
      }}
{noting}      failed = !(error < T(1e30)) || count > most || !(t + length > t);
    }}
{recording}  }}
  if (!failed && !stopped) {{
    note_end<T, F>(t, x, slopes, {passed}, &taken, judged, stride);
  }} else if (failed) {{
    TORSEUR_UNROLL for (int j = 0; j < {judged}; ++j) judged[j * stride] = T(0) / T(0);
  }}
}}
"""

WATCHING = """\
  T *bend = trial_floats + {bend}, piece[5 * {base}], g[{events}];
  int side[{events}], fired = -1, fired_side = 0;
  landing_of<T> landing = {{}};
  TORSEUR_UNROLL for (int i = 0; i < {events}; ++i) side[i] = 0;
"""

SEARCHING = """\
      const T size = t < T(0) ? -t : t;
      const T resolution = T(4) * precision_of<T>() * (size > step ? size : step);
      bool happens = false;
      if (lands) {{
        const T now = t + step;
        watch<T, F>({watch_end}, 1);
        accepted = has_landed(&landing, chosen(fired, g), fired_side, step, resolution);
        happens = accepted && !landing.past;
      }} else if (good) {{
        piece_of(x, next, slopes, ends, bend, step, piece);
        const T s = first_event<T, F>(t, step, piece, {passed}, resolution / step, side, &fired,
                                        &fired_side, &landing.rate);
        accepted = fired < 0;
        if (fired >= 0) {{
          aim(&landing, s * step, step, chosen(fired, side) != fired_side);
          happens = landing.reach <= resolution;  /* at the very start, without a step */
        }}
      }}
"""

NOTING = """\
      if (happens || (accepted && lands)) {{
        if (goal - t <= resolution) t = goal;
        if (happens) {{
{dispatch}        }}
        TORSEUR_UNROLL for (int i = 0; i < {events}; ++i) {{
          if (i == fired) side[i] = fired_side;
          else if (accepted && side_of(g[i]) != side[i] && !is_wanted(i, side_of(g[i]))) side[i] = side_of(g[i]);
        }}
        fired = -1;
      }}
"""

RECORDING = """\
    if (failed) {{
      TORSEUR_UNROLL for (int j = 0; j < {n}; ++j) x[j] = T(0) / T(0);
    }}
    if ({adaptive} || k == goals || k % every == 0) {{
      record<T, F>(stopped ? t : goal, x, {passed}, out, stride);
      out += {seen} * stride;
    }}
"""
