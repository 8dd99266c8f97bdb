"""Whole motions, one thread each: fixed steps of Runge-Kutta 4 or semi-implicit Euler, or Dormand-Prince 5(4).

The text of a rollout calls two device functions: `motion` gives the rates of the coordinates and the accelerations,
`observe` what is recorded. States lie in registers: every index is a number once the loops over entries are unrolled.
"""

from __future__ import annotations

from collections.abc import Sequence

from torseur.codegen.cpp.module import spline_text
from torseur.codegen.cuda.device import Printer
from torseur.codegen.cuda.entry import BY_VALUE, SCALARS, KernelSource, on_device
from torseur.codegen.cuda.language import CUDA
from torseur.codegen.cuda.scalar import HEAD
from torseur.codegen.cuda.stages import Plan
from torseur.codegen.kernel import PREPARED
from torseur.codegen.names import Names
from torseur.codegen.straight import Layout, Splines, arranged, fewest_live, pair_sines, result_orders
from torseur.errors import UnsupportedError, unknown_name
from torseur.graph.program import Program

STATE = """\
/* x is the state: {nq} coordinates, then {nv} speeds. */
template <class T, class F>
TORSEUR_DEVICE void rates_of(const T now, const T *x, {constants}, T *dx) {{
  motion<T, F>({motion}, 1);
}}

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
  T dx[{n}];
  correction<T, F>({motion}, 1);
  TORSEUR_UNROLL for (int j = 0; j < {n}; ++j) x[j] += dx[j];
}}
"""

FREE = """\
template <class T, class F> TORSEUR_DEVICE void settle(const T, T *, {constants_unnamed}) {{}}
"""

RK4 = """\
/* The classical Runge-Kutta method of order 4. */
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
                            long long every, T, T, long long stride) {{
  T x[{n}]{locals};
  TORSEUR_UNROLL for (int j = 0; j < {nq}; ++j) x[j] = q0[j * stride];
  TORSEUR_UNROLL for (int j = 0; j < {nv}; ++j) x[{nq} + j] = v0[j * stride];
{loading}{first_settle}TORSEUR_ROLLED
  for (long long step = 1; step <= steps; ++step) {{
    advance<T, F>(start + h * T(step - 1), x, {passed}, h);
    settle<T, F>(start + h * T(step), x, {passed});
    if (step == steps || (every > 0 && step % every == 0)) {{
      record<T, F>(start + h * T(step), x, {passed}, out, stride);
      out += {seen} * stride;
    }}
  }}
}}
"""

ADAPTIVE = """\
/* Dormand and Prince's step of order 5 with an error of order 4. `slopes` holds the first slope, and after the step the
   first one of the next. Returns the error in units of the tolerance. */
template <class T, class F>
TORSEUR_DEVICE T attempt(const T t, const T *x, {constants}, const T h, T *slopes, T *next, const T rtol,
                         const T atol) {{
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
  rates_of<T, F>(t + h, next, {passed}, k2);
  T sum = T(0);
  TORSEUR_UNROLL for (int j = 0; j < {n}; ++j) {{
    const T error = h * (T(71.0 / 57600.0) * slopes[j] - T(71.0 / 16695.0) * k3[j] + T(71.0 / 1920.0) * k4[j] -
                         T(17253.0 / 339200.0) * k5[j] + T(22.0 / 525.0) * k6[j] - T(1.0 / 40.0) * k2[j]);
    const T a = x[j] < T(0) ? -x[j] : x[j], b = next[j] < T(0) ? -next[j] : next[j];
    const T part = error / (atol + rtol * (a > b ? a : b));
    sum += part * part;
  }}
  const T error = sqrt(sum * T(1.0 / {n}));
  if (error <= T(1)) {{
    TORSEUR_UNROLL for (int j = 0; j < {n}; ++j) slopes[j] = k2[j];
  }}
  return error;
}}

/* One motion with its own steps: recorded `steps` / `every` times, at intervals of `every` * h, where steps end.
   Where it cannot be continued its records are not a number. */
template <class T, class F>
TORSEUR_DEVICE void rollout(const T *q0, const T *v0, {given}, T *out, T start, T h, long long steps,
                            long long every, T rtol, T atol, long long stride) {{
  T x[{n}], next[{n}], slopes[{n}]{locals};
  TORSEUR_UNROLL for (int j = 0; j < {nq}; ++j) x[j] = q0[j * stride];
  TORSEUR_UNROLL for (int j = 0; j < {nv}; ++j) x[{nq} + j] = v0[j * stride];
{loading}  const long long records = steps / every;
  const long long most = 100000;
  T t = start, length = h * T(every) * T(0.01);
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
      const T error = attempt<T, F>(t, x, {passed}, step, slopes, next, rtol, atol);
      const T power = error > T(1e-10) ? exp(T(-0.2) * log(error)) : T(10);
      const T factor = T(0.9) * power;
      ++count;
      if (error <= T(1)) {{
        TORSEUR_UNROLL for (int j = 0; j < {n}; ++j) x[j] = next[j];
        t = last ? goal : t + step;
{settle_again}        if (!last || factor < T(1)) length = step * (factor < T(5) ? factor : T(5));
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

_KERNEL = """\
extern "C" __global__ void TORSEUR_BOUNDS kernels_rollout_{suffix}(const {T} *q0, const {T} *v0, {arguments}, {T} *out,
    {T} start, {T} h, long long steps, long long every, {T} rtol, {T} atol, long long n) {{
  const long long lane = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (lane < n)
    kernels::rollout<{T}, {F}>(q0 + lane, v0 + lane, {passed}, out + lane, start, h, steps, every, rtol, atol,
                               n);
}}
"""
METHODS = {"rk4": RK4 + "\n" + FIXED, "semi_implicit": SEMI_IMPLICIT + "\n" + FIXED, "dopri5": ADAPTIVE}


def rollout_source(programs: Sequence[Program], suffix: str, method: str) -> KernelSource:
    """The source of a rollout kernel from programs with the same inputs: t, q, v, then what stays as it is.

    The first gives rates and vdot, the second what is recorded, a third, if any, what settles a state after a step.
    """
    if method not in METHODS:
        raise UnsupportedError(unknown_name("method", method, METHODS))
    names = Names(CUDA.reserved)
    splines = Splines.of(programs, names)
    printer = Printer(splines)
    tables = [on_device(spline_text(name, spline)) for name, spline in splines.items()]
    functions = [
        printer.templates(name, Plan(_in_one(program, printer), outputs=len(program.outputs)))
        for name, program in zip(("motion", "observe", "correction"), programs, strict=False)
    ]
    words = _words(programs[0], programs[1], settles=len(programs) > 2)
    texts = (STATE, SETTLE if len(programs) > 2 else FREE, METHODS[method])
    inside = "\n".join([BY_VALUE, *tables, *functions, *(text.format(**words) for text in texts)])
    kernel = _KERNEL.format(suffix=suffix, **_kernel_words(programs[0], suffix))
    text = f"{HEAD}\nnamespace kernels {{\n\n{inside}\n}}\n#if defined(__CUDACC__)\n{kernel}#endif\n"
    operations = sum(len(program.operations) for program in programs) * (6 if method == "dopri5" else 1)
    return KernelSource(text, f"kernels_rollout_{suffix}", operations)


def _in_one(program: Program, printer: Printer) -> Layout:
    order = pair_sines(fewest_live(program.operations, *result_orders(program)))
    return arranged(program, [order], printer.taken)


def _constants(program: Program) -> list[tuple[str, int]]:
    """Inputs that stay as they are along a motion, with their sizes."""
    return [(group.name, len(group)) for group in program.inputs if group.name not in ("t", "q", "v")]


def _words(motion: Program, observe: Program, settles: bool) -> dict[str, object]:
    """What the texts above are filled with."""
    constants = _constants(motion)
    local = [(name, size) for name, size in constants if name != PREPARED]
    names = [name for name, _ in constants]
    sizes = {output.name: len(output) for output in motion.outputs}
    nq, nv = sizes["rates"], sizes["vdot"]
    known = {"t": "&now", "q": "x", "v": f"x + {nq}", **{name: name for name in names}}
    scalar = {name: "F" if name == PREPARED else "T" for name in names}
    loading = "".join(f"  TORSEUR_UNROLL for (int j = 0; j < {n}; ++j) {x}[j] = {x}_0[j * stride];\n" for x, n in local)
    passed = ", ".join(names) or "0"
    settling = f"  for (int k = 0; k < 3; ++k) settle<T, F>(start, x, {passed});\n"
    again = f"        settle<T, F>(t, x, {passed});\n        rates_of<T, F>(t, x, {passed}, slopes);\n"
    given = [f"const {scalar[name]} *{name if name == PREPARED else f'{name}_0'}" for name in names]
    return {
        "nq": nq,
        "nv": nv,
        "n": nq + nv,
        "seen": sum(len(output) for output in observe.outputs),
        "motion": ", ".join([known[group.name] for group in motion.inputs] + ["dx", f"dx + {nq}"]),
        "observe": ", ".join([known[group.name] for group in observe.inputs] + ["seen"]),
        "constants": ", ".join(f"const {scalar[name]} *{name}" for name in names) or "int",
        "given": ", ".join(given) or "int",
        "locals": "".join(f", {name}[{max(size, 1)}]" for name, size in local),
        "loading": loading,
        "passed": passed,
        "constants_unnamed": ", ".join(f"const {scalar[name]} *" for name in names) or "int",
        "first_settle": settling if settles else "",
        "settle_again": again if settles else "",
    }


def _kernel_words(program: Program, suffix: str) -> dict[str, str]:
    scalar, fine = SCALARS[suffix]
    arguments, passed = [], []
    for name, size in _constants(program):
        if name == PREPARED:
            arguments.append(f"kernels::values_of<{fine}, {max(size, 1)}> {name}")
            passed.append(f"{name}.values")
        else:
            arguments.append(f"const {scalar} *{name}")
            passed.append(f"{name} + lane")
    return {
        "T": scalar,
        "F": fine,
        "arguments": ", ".join(arguments) or "int nothing",
        "passed": ", ".join(passed) or "nothing",
    }
