"""The text of a rollout: one motion in a thread, with fixed steps of Runge-Kutta 4 or semi-implicit Euler, or with its
own steps of Dormand and Prince's method of order 5(4).

It calls device functions: `motion` gives the rates of the coordinates, the accelerations and what is integrated,
`observe` what is recorded, `correction` the way back to constraints. States lie in registers: every index is a number
once the loops over entries are unrolled.
"""

ZEROS = """\
/* Results go into local arrays, which hold nothing yet: zeros are always stored. */
#undef TORSEUR_ZERO
#define TORSEUR_ZERO(place) place = T(0)
"""

STATE = """\
/* x is the state: {nq} coordinates, {nv} speeds, {nz} integrals, each with its changes. */
template <class T, class F>
TORSEUR_DEVICE void rates_of(const T now, const T *x, {constants}, T *dx) {{
  motion<T, F>({motion}, 1);
}}
"""

RECORD = """\
template <class T, class F>
TORSEUR_DEVICE void record(const T now, const T *x, {constants}, T *out, long long stride) {{
  T seen[{seen}];
  observe<T, F>({observe}, 1);
  TORSEUR_UNROLL for (int j = 0; j < {seen}; ++j) out[j * stride] = seen[j];
}}
"""

SETTLE = """\
/* Back to the constraints; what is left is the square of what was there. */
template <class T, class F>
TORSEUR_DEVICE void settle(const T now, T *x, {constants}) {{
  T dx[{settled}];
  correction<T, F>({correction}, 1);
  TORSEUR_UNROLL for (int j = 0; j < {settled}; ++j) x[j] += dx[j];
}}
"""

FREE = """\
template <class T, class F> TORSEUR_DEVICE void settle(const T, T *, {constants_unnamed}) {{}}
"""

RK4 = """\
/* The classical Runge-Kutta method of order 4. The stages stay a loop: code that is four times as long does not fit
   where instructions are kept near. */
template <class T, class F>
TORSEUR_DEVICE void advance(const T t, T *x, {constants}, const T h) {{
  T at[{n}], dx[{n}], sum[{n}];
  TORSEUR_UNROLL for (int j = 0; j < {n}; ++j) {{ at[j] = x[j]; sum[j] = T(0); }}
TORSEUR_ROLLED
  for (int stage = 0; stage < 4; ++stage) {{
    rates_of<T, F>(t + (stage == 0 ? T(0) : stage == 3 ? h : T(0.5) * h), at, {passed}, dx);
    const T weight = (stage == 1 || stage == 2) ? T(2) : T(1);
    const T reach = stage == 2 ? h : T(0.5) * h;
    TORSEUR_UNROLL for (int j = 0; j < {n}; ++j) {{ sum[j] += weight * dx[j]; at[j] = x[j] + reach * dx[j]; }}
  }}
  TORSEUR_UNROLL for (int j = 0; j < {n}; ++j) x[j] += h * T(1.0 / 6.0) * sum[j];
}}
"""

SEMI_IMPLICIT = """\
/* Speeds first, then coordinates with the new speeds: order 1, but the energy of a closed system does not drift. */
template <class T, class F>
TORSEUR_DEVICE void advance(const T t, T *x, {constants}, const T h) {{
  T dx[{n}];
  rates_of<T, F>(t, x, {passed}, dx);
  TORSEUR_UNROLL for (int j = {nq}; j < {n}; ++j) x[j] += h * dx[j];
  rates_of<T, F>(t, x, {passed}, dx);
  TORSEUR_UNROLL for (int j = 0; j < {nq}; ++j) x[j] += h * dx[j];
}}
"""

FIXED = """\
/* One motion: `steps` steps of length h; every `every`-th state is recorded, the last one always. */
template <class T, class F>
TORSEUR_DEVICE void rollout(const T *q0, const T *v0, {given}, T *out, T start, T h, long long steps,
                            long long every, T, const T *, T, long long stride) {{
  T x[{n}]{locals};
  TORSEUR_UNROLL for (int j = 0; j < {nq}; ++j) x[j] = q0[j * stride];
  TORSEUR_UNROLL for (int j = 0; j < {nv}; ++j) x[{nq} + j] = v0[j * stride];
{loading}{first_settle}  long long left = every;
TORSEUR_ROLLED
  for (long long step = 1; step <= steps; ++step) {{
    advance<T, F>(start + h * T(step - 1), x, {passed}, h);
    settle<T, F>(start + h * T(step), x, {passed});
    if (--left == 0 || step == steps) {{
      record<T, F>(start + h * T(step), x, {passed}, out, stride);
      out += {seen} * stride;
      left = every;
    }}
  }}
}}
"""

DOPRI5 = """\
/* Dormand and Prince's step of order 5 with an error of order 4. `slopes` is the first slope, `ends` that at the end,
   where the next step starts. Returns the error in units of the tolerance. */
template <class T, class F>
TORSEUR_DEVICE T attempt(const T t, const T *x, {constants}, const T h, const T *slopes, T *next, T *ends{bend_given},
                         const T rtol, const T *atol) {{
  T k2[{n}], k3[{n}], k4[{n}], k5[{n}], k6[{n}], at[{n}];
  TORSEUR_UNROLL for (int j = 0; j < {n}; ++j) at[j] = x[j] + h * T(1.0 / 5.0) * slopes[j];
  rates_of<T, F>(t + h * T(1.0 / 5.0), at, {passed}, k2);
  TORSEUR_UNROLL for (int j = 0; j < {n}; ++j) at[j] = x[j] + h * (T(3.0 / 40.0) * slopes[j] + T(9.0 / 40.0) * k2[j]);
  rates_of<T, F>(t + h * T(3.0 / 10.0), at, {passed}, k3);
  TORSEUR_UNROLL for (int j = 0; j < {n}; ++j)
    at[j] = x[j] + h * (T(44.0 / 45.0) * slopes[j] - T(56.0 / 15.0) * k2[j] + T(32.0 / 9.0) * k3[j]);
  rates_of<T, F>(t + h * T(4.0 / 5.0), at, {passed}, k4);
  TORSEUR_UNROLL for (int j = 0; j < {n}; ++j)
    at[j] = x[j] + h * (T(19372.0 / 6561.0) * slopes[j] - T(25360.0 / 2187.0) * k2[j] + T(64448.0 / 6561.0) * k3[j] -
                        T(212.0 / 729.0) * k4[j]);
  rates_of<T, F>(t + h * T(8.0 / 9.0), at, {passed}, k5);
  TORSEUR_UNROLL for (int j = 0; j < {n}; ++j)
    at[j] = x[j] + h * (T(9017.0 / 3168.0) * slopes[j] - T(355.0 / 33.0) * k2[j] + T(46732.0 / 5247.0) * k3[j] +
                        T(49.0 / 176.0) * k4[j] - T(5103.0 / 18656.0) * k5[j]);
  rates_of<T, F>(t + h, at, {passed}, k6);
  TORSEUR_UNROLL for (int j = 0; j < {n}; ++j)
    next[j] = x[j] + h * (T(35.0 / 384.0) * slopes[j] + T(500.0 / 1113.0) * k3[j] + T(125.0 / 192.0) * k4[j] -
                          T(2187.0 / 6784.0) * k5[j] + T(11.0 / 84.0) * k6[j]);
  rates_of<T, F>(t + h, next, {passed}, ends);
  T sum = T(0);
  TORSEUR_UNROLL for (int j = 0; j < {n}; ++j) {{
    const T error = h * (T(71.0 / 57600.0) * slopes[j] - T(71.0 / 16695.0) * k3[j] + T(71.0 / 1920.0) * k4[j] -
                         T(17253.0 / 339200.0) * k5[j] + T(22.0 / 525.0) * k6[j] - T(1.0 / 40.0) * ends[j]);
    const T a = x[j] < T(0) ? -x[j] : x[j], b = next[j] < T(0) ? -next[j] : next[j];
    const T part = error / (atol[j] + rtol * (a > b ? a : b));
    sum += part * part;
  }}
  const T error = sqrt(sum * T(1.0 / {n}));
{bend}{settle_again}  return error;
}}
"""

ADAPTIVE = """\
/* One motion with its own steps: recorded `steps` / `every` times, at intervals of `every` * h, where steps end.
   Where it cannot be continued its records are not a number. */
template <class T, class F>
TORSEUR_DEVICE void rollout(const T *q0, const T *v0, {given}, T *out, T start, T h, long long steps,
                            long long every, T rtol, const T *atol, T longest, long long stride) {{
  T x[{n}], next[{n}], slopes[{n}], ends[{n}]{locals};
  TORSEUR_UNROLL for (int j = 0; j < {nq}; ++j) x[j] = q0[j * stride];
  TORSEUR_UNROLL for (int j = 0; j < {nv}; ++j) x[{nq} + j] = v0[j * stride];
{loading}  const long long records = steps / every;
  const long long most = 100000;
  T t = start, length = h * T(every) * T(0.01);
  length = length < longest ? length : longest;
  long long count = 0;
  bool failed = false;
{first_settle}  rates_of<T, F>(t, x, {passed}, slopes);
TORSEUR_ROLLED
  for (long long k = 1; k <= records; ++k) {{
    const T goal = start + h * T(every * k);
TORSEUR_ROLLED
    while (!failed && t < goal) {{
      const bool last = t + length * T(1.01) >= goal;
      const T step = last ? goal - t : length;
      const T error = attempt<T, F>(t, x, {passed}, step, slopes, next, ends, rtol, atol);
      const T power = error > T(1e-10) ? exp(T(-0.2) * log(error)) : T(10);
      const T factor = T(0.9) * power;
      ++count;
      if (error <= T(1)) {{
        TORSEUR_UNROLL for (int j = 0; j < {n}; ++j) {{ x[j] = next[j]; slopes[j] = ends[j]; }}
        t = last ? goal : t + step;
        if (!last || factor < T(1)) length = step * (factor < T(5) ? factor : T(5));
        length = length < longest ? length : longest;
      }} else {{
        length = step * (factor > T(0.2) ? factor : T(0.2));
      }}
      failed = !(error < T(1e30)) || count > most || !(t + length > t);
    }}
    if (failed) {{
      TORSEUR_UNROLL for (int j = 0; j < {n}; ++j) x[j] = T(0) / T(0);
    }}
    record<T, F>(goal, x, {passed}, out, stride);
    out += {seen} * stride;
  }}
}}
"""

KERNEL = """\
extern "C" __global__ void TORSEUR_BOUNDS kernels_rollout_{suffix}(const {T} *q0, const {T} *v0, {arguments}, {T} *out,
    {judged_given}{T} start, {T} h, long long steps, long long every, {T} rtol, const {T} *atol, {T} longest,
    long long n) {{
  const long long lane = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (lane < n)
    kernels::rollout<{T}, {F}>(q0 + lane, v0 + lane, {passed}, out + lane, {judged_passed}start, h, steps, every,
                               rtol, atol, longest, n);
}}
"""
