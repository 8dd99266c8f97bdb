"""The text around the routines of a rollout: a motion's programs as functions of its state, its start, and the kernel.

Device functions of programs: `motion` gives the rates of the coordinates, the accelerations and what is integrated,
`observe` what is recorded, `correction` the way back to constraints. The steps and the loop are routines, printed by
`cuda_routine`.
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

VALUES = """\
template <class T, class F>
TORSEUR_DEVICE void values_of_{name}(const T now, const T *x, const T *dx, {constants}, T *values) {{
  {name}<T, F>({called}, 1);
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

ROLLOUT = """\
/* One motion: its start, then the loop. */
template <class T, class F>
TORSEUR_DEVICE void rollout(const T *q0, const T *v0, {given}, T *out, {judged}T start, T h, long long steps,
                            long long every, T rtol, const T *atol, T longest, long long stride) {{
  T x[{n}]{locals};
{plan}  TORSEUR_UNROLL for (int j = 0; j < {nq}; ++j) x[j] = q0[j * stride];
  TORSEUR_UNROLL for (int j = 0; j < {nv}; ++j) x[{nq} + j] = v0[j * stride];
  TORSEUR_UNROLL for (int j = {nq} + {nv}; j < {n}; ++j) x[j] = T(0);
{loading}{first_settle}  {move};
}}
"""

PLAN = """\
  T plan_floats[] = {{{floats}}};
  long long plan_ints[] = {{{ints}}};
  T *plan_atol = const_cast<T *>(atol);
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
