"""Sensitivities: torseur beside CasADi's CVODES, JAX with diffrax, and finite differences with SciPy.

Run: python benchmarks/bench_sensitivity.py [--quick] [--out FILE.md]

First the orthogonal double pendulum over 5 s by four parameters: derivatives of its states, by adjoints those of its
kinetic energy (relative to the largest), every method at the loosest tolerance whose error is below 2e-9, against
numbers that were computed by another program; a method that never gets there is timed where it comes nearest. Then what
torseur's methods cost in simulations of the same mechanism at the same tolerance, for 4, 20 and 100 parameters, to
second order, on Andrews' squeezing mechanism with its three closed loops, and on a stiff governor; and how long setting
up a floating quadruped takes. All in one run, each the best of several repetitions; deriving, compiling and making
solver objects is left out. "Loop" times leave out what Python does before and after the compiled loops; others' times
are those of their calls. Small mechanisms say nothing about large ones, where the quality of the compiled right-hand
side decides.
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
from peers.pendulum_sensitivity import UNTIL, cvodes, diffrax, scipy_differences

from torseur import parse
from torseur.analysis.sensitivity.adjoint.discrete_adjoint import record_motion
from torseur.analysis.sensitivity.criteria.motion_formulas import read_formula
from torseur.analysis.sensitivity.criteria.observation import observation_of
from torseur.analysis.sensitivity.direct.direct_method import integrate_tangents
from torseur.analysis.sensitivity.events.discontinuities import Discontinuities
from torseur.analysis.sensitivity.extended_loop import Course
from torseur.analysis.sensitivity.method_routines import Routines, routines_of
from torseur.analysis.sensitivity.model.initial_derivatives import initial_tangents
from torseur.analysis.sensitivity.model.preparation import Prepared, prepare
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.analysis.sensitivity.second_order.second_order_adjoint import Curvature
from torseur.computation.simulation import simulate
from torseur.description import library
from torseur.description.library.catalogue import source_of
from torseur.description.mechanism import Mechanism

ORACLES = Path(__file__).parents[1] / "tests" / "oracles"
NAMES = ("m1", "m2", "l2", "r2")
TARGET = 2e-9
TOLERANCES = [10.0**-k for k in np.arange(6.0, 13.1, 0.25)]
GOVERNOR = ["k", "c", "mp", "omega"]
LINES: list[str] = []


@dataclass(frozen=True)
class Measurement:
    """One way to the derivatives: its tolerance, its achieved error, its times (a call, and the loop alone)."""

    name: str
    tolerance: float
    error: float
    seconds: float
    loop: float


def reference() -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of the states and of the kinetic energy at 5 s, a column per parameter."""
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
    """The loosest tolerance that reaches the target, or comes nearest; `solve` gives derivatives and a time."""
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
    integrator: str = "explicit"

    @staticmethod
    def of(mechanism: Mechanism, names: list[str]) -> Case:
        ready = prepare(mechanism, names, {}, {}, {}, 0.0)
        bare = Variation(ready.system, ready.varied, np.zeros((len(ready.system.states), len(names))))
        return Case(ready, routines_of(replace(bare, start=initial_tangents(bare, {}, 0.0))))

    def course(self, rtol: float, until: float) -> Course:
        return Course(0.0, until, np.array([until]), rtol=rtol, integrator=self.integrator)

    def simulation(self, rtol: float, until: float, method: str = "explicit") -> float:
        motion = simulate(self.ready.model, until, samples=2, rtol=rtol, method=method)
        assert motion.statistics is not None
        return motion.statistics.wall_time

    def direct(self, rtol: float, until: float) -> tuple[np.ndarray, float]:
        found = integrate_tangents(self.routines, self.course(rtol, until))
        return found.end.u, found.run.statistics.wall_time

    def adjoint(self, rtol: float, until: float, adjoints: np.ndarray, pbar: np.ndarray) -> tuple[np.ndarray, float]:
        back = record_motion(self.routines, self.course(rtol, until))
        back.loop(1, back.recording.blocks[-1].method)
        begin = time.perf_counter()
        derivatives = back.gradients(adjoints[None], pbar[None])[0][0]
        return derivatives, back.recording.run.statistics.wall_time + time.perf_counter() - begin

    def second_order(self, rtol: float, until: float) -> float:
        variation = self.routines.variation
        curvature = Curvature(self.routines, self.course(rtol, until), Discontinuities(variation))
        adjoints = np.zeros(variation.size * (1 + variation.columns))
        adjoints[0] = 1.0
        forward = curvature.recording.run.statistics.wall_time
        begin = time.perf_counter()
        curvature.hessian(adjoints, np.zeros(variation.columns), np.zeros((variation.columns,) * 2))
        return forward + time.perf_counter() - begin


def energy_adjoint(case: Case) -> Callable[[float], tuple[np.ndarray, float]]:
    """Derivatives of the kinetic energy by the discrete adjoint."""
    formula = read_formula("kinetic_energy", case.ready.system).value
    observed = observation_of(case.routines.variation, [formula], "auto")

    def solve(rtol: float) -> tuple[np.ndarray, float]:
        back = record_motion(case.routines, case.course(rtol, UNTIL))
        adjoints, pbar = observed.adjoints(UNTIL, back.recording.end, np.ones(1), back.recording.settings)
        back.loop(1)
        begin = time.perf_counter()
        derivatives = back.gradients(adjoints[None], pbar[None])[0][0]
        return derivatives, back.recording.run.statistics.wall_time + time.perf_counter() - begin

    return solve


def peers(quick: bool) -> list[tuple[str, Callable[[float], tuple[np.ndarray, float]], str, int]]:
    """Other programs that are installed: name, derivatives for a tolerance, what of, repetitions."""
    found: list[tuple[str, Callable[[float], tuple[np.ndarray, float]], str, int]] = []
    for module, name, solve in (("casadi", "CVODES", cvodes), ("diffrax", "diffrax", diffrax)):
        if find_spec(module) is None:
            say(f"{module} is not installed: {name} is not compared.")
            continue
        found.append((f"{name} forward", lambda tol, solve=solve: solve(tol, False), "states", 10))
        found.append((f"{name} adjoint", lambda tol, solve=solve: solve(tol, True), "energy", 10))
    return found if quick else [*found, ("SciPy differences", scipy_differences, "states", 1)]


def compare(quick: bool) -> None:
    """The double pendulum by all programs, at the same achieved error."""
    states, energy = reference()
    exact, runs = {"states": states, "energy": energy}, 20 if quick else 300
    case = Case.of(library.load("double_pendulum"), list(NAMES))
    found = [
        loosest("torseur direct", lambda tol: case.direct(tol, UNTIL), states, runs),
        loosest("torseur adjoint", energy_adjoint(case), energy, runs),
    ]
    found += [loosest(name, solve, exact[what], count) for name, solve, what, count in peers(quick)]
    say(f"## Double pendulum, {UNTIL:g} s, four parameters, achieved error below {TARGET:g}\n")
    own = {"direct": found[0].loop, "adjoint": found[1].loop}
    rows = []
    for m in found:
        mine = own["adjoint" if "adjoint" in m.name else "direct"]
        times = f"{m.seconds * 1e6:.1f}", f"{m.loop * 1e6:.1f}", f"{m.loop / mine:.1f}"
        rows.append([m.name, f"{m.tolerance:.1e}", f"{m.error:.1e}", *times])
    table(["method", "tolerance", "error", "call (µs)", "loop (µs)", "times torseur's loop"], rows)


def say(line: str = "") -> None:
    """A line of the report, on the screen at once."""
    LINES.append(line)
    print(line, flush=True)


def table(headings: list[str], rows: list[list[str]]) -> None:
    """A table of the report."""
    for row in (headings, ["---"] * len(headings), *rows):
        say(f"| {' | '.join(row)} |")
    say()


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
    """Direct, adjoint and second order by many parameters."""
    say("## Cost in simulations, rtol 1e-9, 10 s, loops only\n")
    rows = []
    for count in (4, 20, 100):
        case = Case.of(library.load("double_pendulum"), list(NAMES)) if count == 4 else None
        case = case or Case.of(*driven_pendulum(count - 4))
        runs, adjoints = (10 if quick else 60), np.eye(case.routines.variation.size)[0]
        simulation = min(case.simulation(1e-9, 10.0) for _ in range(runs + 5))
        forward = min(case.direct(1e-9, 10.0)[1] for _ in range(runs))
        back = min(case.adjoint(1e-9, 10.0, adjoints, np.zeros(count))[1] for _ in range(runs))
        second = f"{min(case.second_order(1e-9, 10.0) for _ in range(runs)) / simulation:.1f}" if count == 4 else ""
        rows.append([str(count), f"{forward / simulation:.2f}", f"{back / simulation:.2f}", second])
    table(["parameters", "direct (at most 2.3, 5, 9)", "adjoint (2.6, 3, 4)", "second order (12)"], rows)


def in_simulations(case: Case, method: str, rtol: float, until: float, runs: int) -> list[str]:
    """What both methods cost, and how they agree."""
    columns, adjoints = case.routines.variation.columns, np.eye(case.routines.variation.size)[0]
    simulation = min(case.simulation(rtol, until, method) for _ in range(runs + 5))
    forward = [case.direct(rtol, until) for _ in range(runs)]
    back = [case.adjoint(rtol, until, adjoints, np.zeros(columns)) for _ in range(runs)]
    apart = np.abs(forward[0][0][0] - back[0][0]).max() / np.abs(back[0][0]).max()
    ratios = [f"{min(t for _, t in found) / simulation:.2f}" for found in (forward, back)]
    return [f"{simulation * 1e3:.2f} ms", *ratios, f"{apart:.0e}"]


def constrained_and_stiff(quick: bool) -> None:
    """Andrews' mechanism, and the governor with stiff springs."""
    sys.path.insert(0, str(ORACLES))
    from constrained_mechanisms import andrews as mechanism

    runs = 10 if quick else 60
    squeezer = Case.of(mechanism(), ["m7", "c0", "d", "mom"])
    governor = replace(Case.of(library.load("flyball_governor"), GOVERNOR), integrator="radau9")
    say("## Closed loops and stiff motions, four parameters, in simulations by the same integrator\n")
    rows = [
        ["Andrews, 0.03 s, rtol 1e-8 (at most 3.5, 2.5)", *in_simulations(squeezer, "explicit", 1e-8, 0.03, runs)],
        ["governor, 10 s, rtol 1e-9, radau9", *in_simulations(governor, "radau9", 1e-9, 10.0, max(3, runs // 10))],
    ]
    table(["mechanism", "simulation", "direct", "adjoint", "apart"], rows)


def setting_up() -> None:
    """Seconds from a mechanism to its first derivatives, in processes of their own without a cache."""
    import os
    import subprocess
    import tempfile

    say("## Setting up a floating quadruped: 18 speeds, 19 parameters, nothing cached, imports included\n")
    rows = []
    for method in ("direct", "adjoint"):
        code = (
            "import time; begin = time.perf_counter(); import torseur as ts; from torseur import library\n"
            f"ts.sensitivity(library.load('quadruped'), 'kinetic_energy', until=0.01, rtol=1e-6, method='{method}')\n"
            "print(time.perf_counter() - begin)"
        )
        with tempfile.TemporaryDirectory() as folder:
            where = {**os.environ, "TORSEUR_CACHE": folder}
            found = subprocess.run([sys.executable, "-c", code], env=where, capture_output=True, text=True, check=True)
        rows.append([method, f"{float(found.stdout):.1f} s"])
    table(["method", "time"], rows)


def versions() -> str:
    """What was compared, and where."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = [f"Python {platform.python_version()}"]
    for name in ("torseur", "numpy", "scipy", "casadi", "jax", "diffrax"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} absent")
    return f"{platform.processor() or platform.machine()}, {platform.system()}; {', '.join(found)}"


if __name__ == "__main__":
    hurry = "--quick" in sys.argv
    say("# Sensitivities beside other programs\n")
    say(f"{versions()}\n")
    compare(hurry)
    costs(hurry)
    constrained_and_stiff(hurry)
    setting_up()
    if "--out" in sys.argv:
        Path(sys.argv[sys.argv.index("--out") + 1]).write_text("\n".join(LINES).rstrip() + "\n", encoding="utf-8")
