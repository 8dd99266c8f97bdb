"""Sensitivities: torseur beside CasADi's CVODES (forward and adjoint) and finite differences with SciPy.

Run: python benchmarks/bench_sensitivity.py [--quick]

First the orthogonal double pendulum over 5 s by four parameters: slopes of its states, by adjoints those of its kinetic
energy (relative to the largest), every method at the loosest tolerance whose error is below 2e-9, against numbers that
were computed by another program; a method that never gets there is timed where it comes nearest. Then what
torseur's methods cost in simulations of the same mechanism at the same tolerance, for 4, 20 and 100 parameters, to
second order, and on Andrews' squeezing mechanism with its three closed loops. All in one run, each the best of several
repetitions; deriving, compiling and making solver objects is left out. "Loop" times leave out what Python does before
and after the compiled loops; CasADi's times are those of its calls. JAX with diffrax is not compared. Small mechanisms
say nothing about large ones, where the quality of the compiled right-hand side decides.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from torseur import library, parse
from torseur.library.catalogue import source_of
from torseur.mechanism import Mechanism
from torseur.sensitivity.adjoint import recorded
from torseur.sensitivity.course import Course
from torseur.sensitivity.direct import direct
from torseur.sensitivity.formulas import read_formula
from torseur.sensitivity.initial import initial_changes
from torseur.sensitivity.observation import Observation
from torseur.sensitivity.preparation import Prepared, prepare
from torseur.sensitivity.routines import Routines, routines_of
from torseur.sensitivity.second_order import Curvature
from torseur.sensitivity.variation import Variation
from torseur.simulation import simulate

ORACLES = Path(__file__).parents[1] / "tests" / "oracles"
NAMES = ("m1", "m2", "l2", "r2")
VALUES = {"m1": 4.0, "m2": 2.0, "l2": 2.0, "r2": 5.0}
UNTIL = 5.0
TARGET = 2e-9
TOLERANCES = [10.0**-k for k in np.arange(6.0, 13.1, 0.25)]


@dataclass(frozen=True)
class Measurement:
    """One way to the slopes: its tolerance, its achieved error, its times (a call, and the loop alone)."""

    name: str
    tolerance: float
    error: float
    seconds: float
    loop: float


def reference() -> tuple[np.ndarray, np.ndarray]:
    """Slopes of the states and of the kinetic energy at 5 s, a column per parameter."""
    case = json.loads((ORACLES / "double_pendulum.json").read_text())["cases"]["pi/4"]
    states = np.array([case["dstate_d"][name][5] for name in NAMES]).T
    return states, np.array([case["dT_d"][name][5] for name in NAMES])


def best(repetitions: int, call: Callable[[], Any]) -> float:
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def loosest(name: str, solve: Callable[[float], tuple[np.ndarray, float]], exact: np.ndarray, runs: int) -> Measurement:
    """The loosest tolerance that reaches the target, or comes nearest; `solve` gives slopes and the loop's own time."""
    nearest, reached = 1.0, np.inf
    for tolerance in TOLERANCES:
        error = float(np.abs(solve(tolerance)[0] - exact).max() / max(1.0, np.abs(exact).max()))
        if error < reached:
            nearest, reached = tolerance, error
        if error <= TARGET:
            break
    loops: list[float] = []
    seconds = best(runs, lambda: loops.append(solve(nearest)[1]))
    return Measurement(name, nearest, reached, seconds, min(loops))


@dataclass(frozen=True)
class Case:
    """A mechanism made ready, with its routines."""

    ready: Prepared
    routines: Routines

    @staticmethod
    def of(mechanism: Mechanism, names: list[str]) -> Case:
        ready = prepare(mechanism, names, {}, {}, {}, 0.0)
        bare = Variation(ready.system, ready.varied, np.zeros((len(ready.system.states), len(names))))
        return Case(ready, routines_of(replace(bare, start=initial_changes(bare, {}, 0.0))))

    def course(self, rtol: float, until: float) -> Course:
        return Course(0.0, until, np.array([until]), rtol=rtol)

    def simulation(self, rtol: float, until: float) -> float:
        motion = simulate(self.ready.model, until, samples=2, rtol=rtol, method="explicit")
        assert motion.statistics is not None
        return motion.statistics.wall_time

    def direct(self, rtol: float, until: float) -> tuple[np.ndarray, float]:
        found = direct(self.routines, self.course(rtol, until))
        return found.end.u, found.run.statistics.wall_time

    def adjoint(self, rtol: float, until: float, weights: np.ndarray, pbar: np.ndarray) -> tuple[np.ndarray, float]:
        back = recorded(self.routines, self.course(rtol, until))
        begin = time.perf_counter()
        slopes = back.gradients(weights[None], pbar[None])[0]
        return slopes, back.recording.run.statistics.wall_time + time.perf_counter() - begin

    def second_order(self, rtol: float, until: float) -> float:
        curvature, variation = Curvature(self.routines, self.course(rtol, until)), self.routines.variation
        weights = np.zeros(variation.size * (1 + variation.columns))
        weights[0] = 1.0
        forward = curvature.recording.run.statistics.wall_time
        begin = time.perf_counter()
        curvature.hessian(weights, np.zeros(variation.columns), np.zeros((variation.columns,) * 2))
        return forward + time.perf_counter() - begin


def energy_adjoint(case: Case, rtol: float) -> tuple[np.ndarray, float]:
    """Slopes of the kinetic energy by the discrete adjoint."""
    variation = case.routines.variation
    formula = read_formula("kinetic_energy", case.ready.system).value
    routines = routines_of(replace(variation, integrands=(formula,)))
    observed = Observation(routines, case.ready.system.solver_parameters, "auto")
    back = recorded(case.routines, case.course(rtol, UNTIL))
    weights, pbar = observed.weights(UNTIL, back.recording.end, np.ones(1))
    begin = time.perf_counter()
    slopes = back.gradients(weights[None], pbar[None])[0]
    return slopes, back.recording.run.statistics.wall_time + time.perf_counter() - begin


def casadi_pendulum() -> tuple[Any, Any]:
    """State equations and kinetic energy in CasADi, in closed form."""
    import casadi as ca

    x, p = ca.SX.sym("x", 4), ca.SX.sym("p", 4)
    q1, q2, w1, w2 = ca.vertsplit(x)
    m1, m2, l2, r2 = ca.vertsplit(p)
    g, s1, c1, s2, c2 = 9.81, ca.sin(q1), ca.cos(q1), ca.sin(q2), ca.cos(q2)
    b2 = m2 * l2**2
    m11, m12, m22 = (m1 + m2) * r2**2 + b2 * c2**2, m2 * l2 * r2 * s2, b2
    f1 = 2 * b2 * w1 * w2 * s2 * c2 - g * (m1 + m2) * r2 * s1 + m2 * l2 * (g * c1 * c2 - w2**2 * r2 * c2)
    f2 = -b2 * w1**2 * s2 * c2 - g * l2 * m2 * s1 * s2
    d = m11 * m22 - m12 * m12
    slopes = ca.vertcat(w1, w2, (m22 * f1 - m12 * f2) / d, (m11 * f2 - m12 * f1) / d)
    energy = 0.5 * (m11 * w1**2 + m22 * w2**2) + m12 * w1 * w2
    return {"x": x, "p": p, "ode": slopes}, ca.Function("T", [x, p], [energy])


def casadi_solver(tolerance: float) -> Any:
    import casadi as ca

    options = {"abstol": tolerance, "reltol": tolerance, "fsens_err_con": True}
    options |= {"linear_multistep_method": "adams", "nonlinear_solver_iteration": "functional"}
    return ca.integrator("F", "cvodes", casadi_pendulum()[0], 0.0, UNTIL, options)


START = [np.pi / 4, np.pi / 4, 0.0, 0.0]


def casadi_forward(solvers: dict[float, Any], tolerance: float) -> tuple[np.ndarray, float]:
    import casadi as ca

    if tolerance not in solvers:
        p = ca.MX.sym("p", 4)
        solvers[tolerance] = ca.Function("J", [p], [ca.jacobian(casadi_solver(tolerance)(x0=START, p=p)["xf"], p)])
    begin = time.perf_counter()
    found = solvers[tolerance](list(VALUES.values()))
    return np.array(found), time.perf_counter() - begin


def casadi_adjoint(solvers: dict[float, Any], tolerance: float) -> tuple[np.ndarray, float]:
    import casadi as ca

    if tolerance not in solvers:
        solver, energy = casadi_solver(tolerance), casadi_pendulum()[1]
        p = ca.MX.sym("p", 4)
        criterion = energy(solver(x0=START, p=p)["xf"], p)
        solvers[tolerance] = ca.Function("gradient", [p], [ca.gradient(criterion, p)])
    begin = time.perf_counter()
    found = solvers[tolerance](list(VALUES.values()))
    return np.array(found).ravel(), time.perf_counter() - begin


def scipy_differences(tolerance: float) -> tuple[np.ndarray, float]:
    """Central differences of SciPy's DOP853, in plain Python numbers."""
    import math

    from scipy.integrate import solve_ivp

    def slopes(t: float, y: Any, m1: float, m2: float, l2: float, r2: float) -> tuple[float, ...]:
        q1, q2, w1, w2 = y.tolist()
        s1, c1, s2, c2, g = math.sin(q1), math.cos(q1), math.sin(q2), math.cos(q2), 9.81
        b2 = m2 * l2**2
        m11, m12, m22 = (m1 + m2) * r2**2 + b2 * c2**2, m2 * l2 * r2 * s2, b2
        f1 = 2 * b2 * w1 * w2 * s2 * c2 - g * (m1 + m2) * r2 * s1 + m2 * l2 * (g * c1 * c2 - w2**2 * r2 * c2)
        f2 = -b2 * w1**2 * s2 * c2 - g * l2 * m2 * s1 * s2
        d = m11 * m22 - m12 * m12
        return w1, w2, (m22 * f1 - m12 * f2) / d, (m11 * f2 - m12 * f1) / d

    begin = time.perf_counter()
    columns = []
    for k in range(4):
        step = 2e-3 * list(VALUES.values())[k]
        near = []
        for shift in (-2, -1, 1, 2):
            values = list(VALUES.values())
            values[k] += shift * step
            near.append(
                solve_ivp(slopes, (0.0, UNTIL), START, "DOP853", args=values, rtol=tolerance, atol=tolerance).y[:, -1]
            )
        columns.append((8 * (near[2] - near[1]) - (near[3] - near[0])) / (12 * step))
    return np.array(columns).T, time.perf_counter() - begin


def compare(quick: bool) -> None:
    states, energy = reference()
    runs = 20 if quick else 300
    case = Case.of(library.load("double_pendulum"), list(NAMES))
    found = [
        loosest("torseur direct", lambda tol: case.direct(tol, UNTIL), states, runs),
        loosest("torseur adjoint", lambda tol: energy_adjoint(case, tol), energy, runs),
    ]
    if find_spec("casadi"):
        forward, reverse = {}, {}
        found.append(loosest("CVODES forward", lambda tol: casadi_forward(forward, tol), states, 10))
        found.append(loosest("CVODES adjoint", lambda tol: casadi_adjoint(reverse, tol), energy, 10))
    if not quick:
        found.append(loosest("SciPy differences", scipy_differences, states, 1))
    print(f"Double pendulum, {UNTIL:g} s, four parameters, achieved error below {TARGET:g}")
    print(f"{'method':20} {'tolerance':>10} {'error':>9} {'call (µs)':>11} {'loop (µs)':>11}")
    for m in found:
        print(f"{m.name:20} {m.tolerance:10.1e} {m.error:9.1e} {m.seconds * 1e6:11.1f} {m.loop * 1e6:11.1f}")
    table = {m.name: m for m in found}
    for kind, peer in (("direct", "forward"), ("adjoint", "adjoint")):
        if f"CVODES {peer}" in table:
            ratio = table[f"CVODES {peer}"].loop / table[f"torseur {kind}"].loop
            print(f"CVODES {peer} takes {ratio:.0f} times as long as the {kind} method's loops")


def driven_pendulum(coefficients: int) -> tuple[Mechanism, list[str]]:
    """The double pendulum with a motor whose law has that many coefficients: powers of time, eight in a group."""
    names = [f"c{k}" for k in range(coefficients)]
    groups = [names[k : k + 8] for k in range(0, coefficients, 8)]

    def horner(group: list[str]) -> str:
        law = group[-1]
        for name in reversed(group[:-1]):
            law = f"{name} + ({law}) * (t / 10 s - 0.5)"
        return law

    law = " + ".join(f"({horner(group)}) * (t / 10 s)^{k + 1}" for k, group in enumerate(groups))
    given = ", ".join(f"{name} = {3.0 / (k + 1):.4f} N*m" for k, name in enumerate(names))
    text = source_of("double_pendulum")
    text = text.replace(
        'revolute(q1 "swing of the arm") about [0, 0, 1]', f"revolute(q1) about [0, 0, 1] torque = {law}"
    )
    return parse(text.replace("gravity =", f"param {given} ;\ngravity =")), [*NAMES, *names]


def costs(quick: bool) -> None:
    print("\nCost in simulations (rtol 1e-9, 10 s; loops only)")
    print(f"{'parameters':>10} {'direct':>8} {'adjoint':>8} {'second order':>13}   limits: 2.3/5/9, 2.6/3/4, 12")
    for count in (4, 20, 100):
        if count == 4:
            case = Case.of(library.load("double_pendulum"), list(NAMES))
        else:
            case = Case.of(*driven_pendulum(count - 4))
        runs, weights = (10 if quick else 60), np.eye(case.routines.variation.size)[0]
        simulation = min(case.simulation(1e-9, 10.0) for _ in range(runs + 5))
        forward = min(case.direct(1e-9, 10.0)[1] for _ in range(runs))
        back = min(case.adjoint(1e-9, 10.0, weights, np.zeros(count))[1] for _ in range(runs))
        second = min(case.second_order(1e-9, 10.0) for _ in range(runs)) if count == 4 else float("nan")
        print(f"{count:10} {forward / simulation:8.2f} {back / simulation:8.2f} {second / simulation:13.1f}")


def andrews(quick: bool) -> None:
    sys.path.insert(0, str(ORACLES))
    from constrained_mechanisms import andrews as mechanism

    case = Case.of(mechanism(), ["m7", "c0", "d", "mom"])
    runs, weights = (10 if quick else 60), np.eye(case.routines.variation.size)[0]
    simulation = min(case.simulation(1e-8, 0.03) for _ in range(runs + 5))
    forward = [case.direct(1e-8, 0.03) for _ in range(runs)]
    back = [case.adjoint(1e-8, 0.03, weights, np.zeros(4)) for _ in range(runs)]
    apart = np.abs(forward[0][0][0] / back[0][0] - 1.0).max()
    print("\nAndrews' squeezing mechanism, 0.03 s, rtol 1e-8, four parameters, in simulations (limits 3.5 and 2.5)")
    print(f"simulation {simulation * 1e3:.2f} ms, direct {min(t for _, t in forward) / simulation:.2f}, ", end="")
    print(f"adjoint {min(t for _, t in back) / simulation:.2f}; both agree to {apart:.1e}")


if __name__ == "__main__":
    hurry = "--quick" in sys.argv
    compare(hurry)
    costs(hurry)
    andrews(hurry)
