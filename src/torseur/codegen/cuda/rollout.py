"""Whole motions, one thread each: fixed steps of Runge-Kutta 4 or semi-implicit Euler, or adaptive Dormand-Prince 5(4).

The text of a rollout calls one device function `motion` that gives the rates of the coordinates and the accelerations.
Its arrays lie in registers: every index is a number once the loops over entries are unrolled.
"""

from __future__ import annotations

from torseur.codegen.cpp.module import spline_text
from torseur.codegen.cuda.language import CUDA
from torseur.codegen.cuda.module import BY_VALUE, SCALARS, Printer, on_device
from torseur.codegen.cuda.scalar import HEAD
from torseur.codegen.kernel import PREPARED
from torseur.codegen.names import Names
from torseur.codegen.straight import Splines, arranged, fewest_live, pair_sines, result_orders
from torseur.errors import UnsupportedError, unknown_name
from torseur.graph.program import Program

RK4 = """\
/* The classical Runge-Kutta method of order 4. */
template <class T>
TORSEUR_DEVICE void advance(T &t, T *q, T *v, {constants}, T h) {{
  T qs[{nq}], vs[{nv}], dq[{nq}], dv[{nv}], sum_q[{nq}], sum_v[{nv}];
  TORSEUR_UNROLL for (int j = 0; j < {nq}; ++j) {{ qs[j] = q[j]; sum_q[j] = T(0); }}
  TORSEUR_UNROLL for (int j = 0; j < {nv}; ++j) {{ vs[j] = v[j]; sum_v[j] = T(0); }}
TORSEUR_ROLLED
  for (int stage = 0; stage < 4; ++stage) {{
    const T now = t + (stage == 0 ? T(0) : stage == 3 ? h : T(0.5) * h);
    motion<T>({call}, 1);
    const T weight = (stage == 1 || stage == 2) ? T(2) : T(1);
    const T reach = stage == 2 ? h : T(0.5) * h;
    TORSEUR_UNROLL for (int j = 0; j < {nq}; ++j) {{ sum_q[j] += weight * dq[j]; qs[j] = q[j] + reach * dq[j]; }}
    TORSEUR_UNROLL for (int j = 0; j < {nv}; ++j) {{ sum_v[j] += weight * dv[j]; vs[j] = v[j] + reach * dv[j]; }}
  }}
  TORSEUR_UNROLL for (int j = 0; j < {nq}; ++j) q[j] += h * T(1.0 / 6.0) * sum_q[j];
  TORSEUR_UNROLL for (int j = 0; j < {nv}; ++j) v[j] += h * T(1.0 / 6.0) * sum_v[j];
  t += h;
}}
"""

SEMI_IMPLICIT = """\
/* Speeds first, then coordinates with the new speeds: order 1, but the energy of a closed system does not drift. */
template <class T>
TORSEUR_DEVICE void advance(T &t, T *q, T *v, {constants}, T h) {{
  T *qs = q, *vs = v, dq[{nq}], dv[{nv}];
  const T now = t;
  motion<T>({call}, 1);
  TORSEUR_UNROLL for (int j = 0; j < {nv}; ++j) v[j] += h * dv[j];
  motion<T>({call}, 1);
  TORSEUR_UNROLL for (int j = 0; j < {nq}; ++j) q[j] += h * dq[j];
  t += h;
}}
"""

FIXED = """\
/* One motion: `steps` steps of length h; every `every`-th state goes to out, the last one always. */
template <class T>
TORSEUR_DEVICE void rollout(const T *q0, const T *v0, {given}, T *out, T start, T h, long long steps, long long every,
                            long long stride) {{
  T q[{nq}], v[{nv}]{locals};
  TORSEUR_UNROLL for (int j = 0; j < {nq}; ++j) q[j] = q0[j * stride];
  TORSEUR_UNROLL for (int j = 0; j < {nv}; ++j) v[j] = v0[j * stride];
{loading}  T t = start;
TORSEUR_ROLLED
  for (long long step = 1; step <= steps; ++step) {{
    advance<T>(t, q, v, {passed}, h);
    t = start + h * T(step);
    if (step == steps || (every > 0 && step % every == 0)) {{
      TORSEUR_UNROLL for (int j = 0; j < {nq}; ++j) out[j * stride] = q[j];
      TORSEUR_UNROLL for (int j = 0; j < {nv}; ++j) out[({nq} + j) * stride] = v[j];
      out += ({nq} + {nv}) * stride;
    }}
  }}
}}
"""

_KERNEL = """\
extern "C" __global__ void TORSEUR_BOUNDS kernels_rollout_{suffix}(const {scalar} *q0, const {scalar} *v0, {arguments},
    {scalar} *out, {scalar} start, {scalar} h, long long steps, long long every, long long n) {{
  const long long lane = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (lane < n) kernels::rollout<{scalar}>(q0 + lane, v0 + lane, {passed}, out + lane, start, h, steps, every, n);
}}
"""
METHODS = {"rk4": RK4, "semi_implicit": SEMI_IMPLICIT}


def rollout_source(program: Program, suffix: str, method: str) -> str:
    """The source of a rollout kernel from a program with outputs rates and vdot (see module.kernel_source)."""
    if method not in METHODS:
        raise UnsupportedError(unknown_name("method", method, METHODS))
    names = Names(CUDA.reserved)
    splines = Splines.of([program], names)
    printer = Printer(splines)
    order = pair_sines(fewest_live(program.operations, *result_orders(program)))
    plan = arranged(program, [order], printer.taken)
    tables = [on_device(spline_text(name, spline)) for name, spline in splines.items()]
    words = _words(program)
    text = [printer.templates("motion", plan), METHODS[method].format(**words), FIXED.format(**words)]
    inside = "\n".join([BY_VALUE, *tables, *text])
    kernel = _KERNEL.format(suffix=suffix, scalar=SCALARS[suffix], **_kernel_words(program, SCALARS[suffix]))
    guarded = f"#if defined(__CUDACC__)\n{kernel}#endif\n"
    return f"{HEAD}\nnamespace kernels {{\n\n{inside}\n}}\n{guarded}"


def _constants(program: Program) -> list[tuple[str, int]]:
    """Inputs that stay as they are along a motion, with their sizes."""
    return [(group.name, len(group)) for group in program.inputs if group.name not in ("t", "q", "v")]


def _words(program: Program) -> dict[str, object]:
    """What the texts above are filled with."""
    constants = _constants(program)
    local = [(name, size) for name, size in constants if name != PREPARED]
    known = {"t": "&now", "q": "qs", "v": "vs", **{name: name for name, _ in constants}}
    call = [known[group.name] for group in program.inputs] + ["dq", "dv"]
    sizes = {output.name: len(output) for output in program.outputs}
    names = [name for name, _ in constants]
    loading = "".join(f"  TORSEUR_UNROLL for (int j = 0; j < {n}; ++j) {x}[j] = {x}_0[j * stride];\n" for x, n in local)
    given = [f"const T *{name if name == PREPARED else f'{name}_0'}" for name in names]
    return {
        "nq": sizes["rates"],
        "nv": sizes["vdot"],
        "call": ", ".join(call),
        "constants": ", ".join(f"const T *{name}" for name in names) or "int",
        "given": ", ".join(given) or "int",
        "locals": "".join(f", {name}[{size}]" for name, size in local),
        "loading": loading,
        "passed": ", ".join(names) or "0",
    }


def _kernel_words(program: Program, scalar: str) -> dict[str, str]:
    arguments, passed = [], []
    for name, size in _constants(program):
        if name == PREPARED:
            arguments.append(f"kernels::values_of<{scalar}, {max(size, 1)}> {name}")
            passed.append(f"{name}.values")
        else:
            arguments.append(f"const {scalar} *{name}")
            passed.append(f"{name} + lane")
    return {"arguments": ", ".join(arguments) or "int nothing", "passed": ", ".join(passed) or "nothing"}
