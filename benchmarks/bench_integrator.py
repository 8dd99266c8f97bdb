"""The double pendulum over 10 s, to an achieved error near 1e-9: torseur beside CasADi's CVODES and SciPy's DOP853.

Run: python benchmarks/bench_integrator.py

Every answer is checked against one at a much tighter tolerance, computed by another program, before it is timed.
All are timed in this one run, taking the best of several repetitions. Setting up (deriving, compiling, making the
solver objects) is left out; a call from Python to the finished state is in, except in the line "loop alone", which
leaves out what Python does before and after it. SciPy appears twice: with the accelerations in closed form in plain
Python numbers, its best case, and with the mass matrix solved by NumPy, as such a program is usually written. One
small mechanism says nothing about large ones: there the quality of the compiled right-hand side decides.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import casadi
import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from torseur.algebra.graph import Input, Program, symbol, vector
from torseur.algebra.graph import scalar as graph_functions
from torseur.computation.codegen.kernels.backends import choose_backend
from torseur.computation.simulation import Quantity, System
from torseur.computation.simulation.loop.integrator import Integrator, Memory
from torseur.computation.simulation.loop.memory import KEEP_NOTHING
from torseur.computation.simulation.loop.routine_binding import Binding
from torseur.computation.simulation.problem import Problem
from torseur.errors import CompilationError

UNTIL = 10.0
TARGET = 1e-9
PARAMETERS = {"m1": 4.0, "m2": 2.0, "r2": 5.0, "l2": 2.0, "g": 9.81}
START = (math.pi / 4, math.pi / 4, 0.0, 0.0)

State = NDArray[np.float64]


@dataclass(frozen=True)
class Measurement:
    """One way to the final state: what it took, and how far off it is."""

    name: str
    tolerance: float
    evaluations: int
    seconds: float
    error: float


def mass_and_forces(f, q1, q2, w1, w2, m1, m2, r2, l2, g):  # type: ignore[no-untyped-def]
    """Mass matrix and forces of the orthogonal double pendulum in any scalar whose sine is f.sin and cosine f.cos."""
    s1, c1, s2, c2 = f.sin(q1), f.cos(q1), f.sin(q2), f.cos(q2)
    b2 = m2 * l2**2
    m11, m12, m22 = (m1 + m2) * r2**2 + b2 * c2**2, m2 * l2 * r2 * s2, b2
    f1 = 2 * b2 * w1 * w2 * s2 * c2 - g * (m1 + m2) * r2 * s1 + m2 * l2 * (g * c1 * c2 - w2**2 * r2 * c2)
    f2 = -b2 * w1**2 * s2 * c2 - g * l2 * m2 * s1 * s2
    return m11, m12, m22, f1, f2


def accelerations(f, *state_and_parameters):  # type: ignore[no-untyped-def]
    """Closed form, by Cramer's rule."""
    m11, m12, m22, f1, f2 = mass_and_forces(f, *state_and_parameters)
    d = m11 * m22 - m12 * m12
    return (m22 * f1 - m12 * f2) / d, (m11 * f2 - m12 * f1) / d


def pendulum() -> System:
    """The pendulum as torseur takes it."""
    y = tuple(symbol(name) for name in ("q1", "q2", "w1", "w2"))
    p = tuple(symbol(name) for name in PARAMETERS)
    slopes = (y[2], y[3], *accelerations(graph_functions, *y, *p))
    return System(
        states=tuple(Quantity(str(node.name)) for node in y),
        initial=START,
        coordinates=2,
        rhs=Program("rhs", (Input("y", y), Input("p", p)), (vector("dy", slopes),)),
        parameters=tuple(Quantity(name) for name in PARAMETERS),
        values=tuple(PARAMETERS.values()),
    )


def closed_form(t: float, y: State) -> tuple[float, ...]:
    """The pendulum as SciPy takes it, in plain numbers."""
    return (y[2], y[3], *accelerations(math, *y.tolist(), *PARAMETERS.values()))


def with_mass_matrix(t: float, y: State) -> State:
    """The pendulum as SciPy takes it, its mass matrix solved by NumPy."""
    m11, m12, m22, f1, f2 = mass_and_forces(np, *y, *PARAMETERS.values())
    return np.concatenate([y[2:], np.linalg.solve(np.array([[m11, m12], [m12, m22]]), np.array([f1, f2]))])


def best(action: Callable[[], object], repetitions: int, prepare: Callable[[], object] = lambda: None) -> float:
    """The shortest of several repetitions, in seconds."""
    times = []
    for _ in range(repetitions):
        prepare()
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times)


def problem_at(rtol: float) -> Problem:
    return Problem(
        initial=np.array(START),
        parameters=np.array(list(PARAMETERS.values())),
        start=0.0,
        until=UNTIL,
        rtol=rtol,
        atol=np.full(4, rtol),
        times=np.empty(0),
        keep=KEEP_NOTHING,
        max_steps=100_000,
        max_step=UNTIL / 10,
    )


def torseur_measurement(backend: str, rtol: float, reference: State, repetitions: int) -> Measurement:
    problem, integrator = problem_at(rtol), Binding(pendulum(), None).integrator((), backend)
    run = integrator.run(problem)
    error = float(np.abs(run.y - reference).max())
    seconds = best(lambda: integrator.run(problem), repetitions)
    return Measurement(f"torseur, {backend}", rtol, run.statistics.evaluations, seconds, error)


def loop_alone(measured: Measurement, backend: str, repetitions: int) -> Measurement:
    """The same with only the call of the compiled loop timed."""
    problem, integrator = problem_at(measured.tolerance), Binding(pendulum(), None).integrator((), backend)
    seconds = best(*_call_of(integrator, problem, repetitions))
    return replace(measured, name=f"torseur, {backend}, loop alone", seconds=seconds)


def _call_of(
    integrator: Integrator, problem: Problem, repetitions: int
) -> tuple[Callable[[], object], int, Callable[[], object]]:
    memory: list[Memory] = []

    def prepare() -> None:
        memory[:] = [Memory.of(problem)]
        memory[0].make_room(problem.max_steps)

    return lambda: integrator.call(memory[0], problem), repetitions, prepare


def casadi_measurement(tolerance: float, reference: State, repetitions: int) -> Measurement:
    y = casadi.SX.sym("y", 4)
    slopes = casadi.vertcat(y[2], y[3], *accelerations(casadi, *casadi.vertsplit(y), *PARAMETERS.values()))
    options = {
        "abstol": tolerance,
        "reltol": tolerance,
        "max_num_steps": 100_000,
        "linear_multistep_method": "adams",
        "nonlinear_solver_iteration": "newton",
    }
    solver = casadi.integrator("motion", "cvodes", {"x": y, "ode": slopes}, 0.0, UNTIL, options)
    error = float(np.abs(np.array(solver(x0=START)["xf"]).ravel() - reference).max())
    evaluations = int(solver.stats()["nfevals"])
    seconds = best(lambda: solver(x0=START), repetitions)
    return Measurement("CasADi CVODES (Adams)", tolerance, evaluations, seconds, error)


def scipy_measurement(
    slopes: Callable[..., object], tolerance: float, reference: State, repetitions: int
) -> Measurement:
    solve = partial(solve_ivp, slopes, (0.0, UNTIL), START, "DOP853", rtol=tolerance, atol=tolerance)
    solution = solve()
    error = float(np.abs(solution.y[:, -1] - reference).max())
    name = f"SciPy DOP853, {slopes.__name__.replace('_', ' ')}"
    return Measurement(name, tolerance, int(solution.nfev), best(solve, repetitions), error)


def at_target(kind: Callable[..., Measurement], *arguments: object, repetitions: int) -> Measurement:
    """The measurement of one program at the loosest tolerance whose achieved error is within the target."""
    reference = reference_state()
    for tolerance in 10.0 ** np.arange(-7.5, -13.6, -0.25):
        quick = kind(*arguments, float(tolerance), reference, 1)
        if quick.error <= TARGET:
            return kind(*arguments, float(tolerance), reference, repetitions)
    raise SystemExit("no tolerance reached the target: the answers do not agree.")


def available(backend: str) -> bool:
    try:
        return choose_backend(backend) == backend
    except CompilationError:
        return False


@cache
def reference_state() -> State:
    """SciPy at its tightest, confirmed by CasADi."""
    final = solve_ivp(closed_form, (0.0, UNTIL), START, "DOP853", rtol=3e-14, atol=1e-14).y[:, -1]
    assert casadi_measurement(1e-13, final, 1).error < TARGET, "the reference answers do not agree"
    return np.array(final)


def measurements() -> list[Measurement]:
    found = []
    for backend in filter(available, ("c", "llvm")):
        whole = at_target(torseur_measurement, backend, repetitions=1000)
        found += [whole, loop_alone(whole, backend, repetitions=1000)]
    found.append(at_target(torseur_measurement, "python", repetitions=5))
    found.append(at_target(casadi_measurement, repetitions=50))
    found += [at_target(scipy_measurement, slopes, repetitions=5) for slopes in (closed_form, with_mass_matrix)]
    return found


def main() -> None:
    found = measurements()
    print(f"double pendulum, {UNTIL:g} s, achieved error at most {TARGET:g}")
    print(f"{'':32}{'tolerance':>10}{'evaluations':>13}{'error':>10}{'time':>13}{'ratio':>9}")
    for m in found:
        ratio = m.seconds / found[0].seconds
        print(f"{m.name:32}{m.tolerance:10.1e}{m.evaluations:13}{m.error:10.1e}{1e6 * m.seconds:10.1f} µs{ratio:9.1f}")


if __name__ == "__main__":
    main()
