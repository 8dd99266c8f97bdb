"""Andrews' squeezing mechanism and the stiff flyball governor: torseur beside CasADi's SUNDIALS and SciPy's Radau.

Run: python benchmarks/bench_constrained.py

Each program is measured at the loosest tolerance at which its final state is within the target of a reference that two
of them agree on. All are timed in this one run, the best of several repetitions; deriving, compiling and making solver
objects is left out. SciPy's Radau calls the very right-hand side that torseur compiled. CasADi gets the equations in
closed form, written by hand: of Andrews' mechanism as a differential-algebraic system of index 1 for IDAS, of the
governor as an ordinary one (its symmetric motion, three coordinates instead of four) for CVODES.

Two small mechanisms say nothing about large ones, nor about programs that are not here.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import casadi
import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from oracles.constrained_mechanisms import ANDREWS_COORDINATES, andrews, flyball, reference
from torseur.computation.codegen import compile_routine
from torseur.computation.simulation import System
from torseur.computation.simulation.constrained.solver.accelerations import constrained_rhs
from torseur.computation.simulation.loop.memory import KEEP_NOTHING
from torseur.computation.simulation.loop.routine_binding import Binding
from torseur.computation.simulation.model.first_order_form import as_system
from torseur.computation.simulation.problem import Problem
from torseur.computation.simulation.simulate import system_on_constraints
from torseur.description.mechanism import Mechanism

State = NDArray[np.float64]


@dataclass(frozen=True)
class Measurement:
    """One way to the final state: what it took, and how far off it is."""

    name: str
    tolerance: float
    seconds: float
    error: float


@dataclass(frozen=True, eq=False)
class Case:
    """A mechanism, how long it moves, how well its final state must be known, and what others need of it."""

    mechanism: Mechanism
    until: float
    target: float
    scale: State


def best(action: Callable[[], object], repetitions: int) -> float:
    """The shortest of several repetitions, in seconds."""
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times)


@cache
def prepared(case: Case) -> System:
    return system_on_constraints(as_system(case.mechanism), None, 0.0, "augmented")


def problem_of(case: Case, rtol: float) -> Problem:
    system = prepared(case)
    return Problem(
        initial=np.array(system.initial),
        parameters=system.solver_parameters,
        start=0.0,
        until=case.until,
        rtol=rtol,
        atol=rtol * case.scale,
        times=np.empty(0),
        keep=KEEP_NOTHING,
        max_steps=1_000_000,
        max_step=case.until / 10,
    )


@cache
def integrator(case: Case, method: str) -> object:
    return Binding(prepared(case), None).integrator((), "auto", method)


def torseur(case: Case, method: str, rtol: float, final: State, repetitions: int) -> Measurement:
    problem, loop = problem_of(case, rtol), integrator(case, method)
    error = distance(case, loop.run(problem).y, final)
    return Measurement(f"torseur, {method}", rtol, best(lambda: loop.run(problem), repetitions), error)


def distance(case: Case, y: State, final: State) -> float:
    """Largest error of the coordinates in units of their scale."""
    count = len(final)
    return float(np.abs((y[:count] - final) / case.scale[:count]).max())


# Andrews' mechanism for the others


@cache
def andrews_case() -> Case:
    return Case(andrews(), 0.03, 1e-8, np.repeat([1.0, 1e3], 7))


def compiled_slope(case: Case) -> Callable[[float, State], State]:
    """torseur's right-hand side as a function that SciPy can call."""
    system, binding = prepared(case), Binding(prepared(case), None)
    slope = compile_routine(constrained_rhs, binding.statics, binding.externals)
    p, dy = system.solver_parameters, np.empty(len(system.states))

    def value(t: float, y: State) -> State:
        slope(t, np.ascontiguousarray(y), p, dy)
        return dy.copy()

    return value


def scipy_radau(case: Case, rtol: float, final: State, repetitions: int) -> Measurement:
    slope, start = compiled_slope(case), np.array(prepared(case).initial)

    def solve() -> State:
        answer = solve_ivp(slope, (0.0, case.until), start, "Radau", rtol=rtol, atol=rtol * case.scale)
        return np.array(answer.y[:, -1])

    error = distance(case, solve(), final)
    return Measurement("SciPy Radau, same compiled equations", rtol, best(solve, repetitions), error)


def andrews_equations(q: casadi.SX, v: casadi.SX) -> tuple[casadi.SX, ...]:
    """M, f, G and the constraints, as in the IVP test set."""
    case = reference("andrews_squeezer")["params"]
    p = type("Parameters", (), {name: float(value) for name, value in case.items()})
    be, th, ga, ph, de, om, ep = casadi.vertsplit(q)
    bep, thp, _, php, dep, omp, epp = casadi.vertsplit(v)
    sin, cos = casadi.sin, casadi.cos
    m = casadi.SX(7, 7)
    m[0, 0] = p.m1 * p.ra**2 + p.m2 * (p.rr**2 - 2 * p.da * p.rr * cos(th) + p.da**2) + p.i1 + p.i2
    m[0, 1] = m[1, 0] = p.m2 * (p.da**2 - p.da * p.rr * cos(th)) + p.i2
    m[1, 1] = p.m2 * p.da**2 + p.i2
    m[2, 2] = p.m3 * (p.sa**2 + p.sb**2) + p.i3
    m[3, 3] = p.m4 * (p.e - p.ea) ** 2 + p.i4
    m[3, 4] = m[4, 3] = p.m4 * ((p.e - p.ea) ** 2 + p.zt * (p.e - p.ea) * sin(ph)) + p.i4
    m[4, 4] = p.m4 * (p.zt**2 + 2 * p.zt * (p.e - p.ea) * sin(ph) + (p.e - p.ea) ** 2)
    m[4, 4] += p.m5 * (p.ta**2 + p.tb**2) + p.i4 + p.i5
    m[5, 5] = p.m6 * (p.zf - p.fa) ** 2 + p.i6
    m[5, 6] = m[6, 5] = p.m6 * ((p.zf - p.fa) ** 2 - p.u * (p.zf - p.fa) * sin(om)) + p.i6
    m[6, 6] = p.m6 * ((p.zf - p.fa) ** 2 - 2 * p.u * (p.zf - p.fa) * sin(om) + p.u**2)
    m[6, 6] += p.m7 * (p.ua**2 + p.ub**2) + p.i6 + p.i7
    xd, yd = p.sd * cos(ga) + p.sc * sin(ga) + p.xb, p.sd * sin(ga) - p.sc * cos(ga) + p.yb
    length = casadi.sqrt((xd - p.xc) ** 2 + (yd - p.yc) ** 2)
    pull = -p.c0 * (length - p.l0) / length
    fx, fy = pull * (xd - p.xc), pull * (yd - p.yc)
    f = casadi.vertcat(
        p.mom - p.m2 * p.da * p.rr * thp * (thp + 2 * bep) * sin(th),
        p.m2 * p.da * p.rr * bep**2 * sin(th),
        fx * (p.sc * cos(ga) - p.sd * sin(ga)) + fy * (p.sd * cos(ga) + p.sc * sin(ga)),
        p.m4 * p.zt * (p.e - p.ea) * dep**2 * cos(ph),
        -p.m4 * p.zt * (p.e - p.ea) * php * (php + 2 * dep) * cos(ph),
        -p.m6 * p.u * (p.zf - p.fa) * epp**2 * cos(om),
        p.m6 * p.u * (p.zf - p.fa) * omp * (omp + 2 * epp) * cos(om),
    )
    x, y = p.rr * cos(be) - p.d * cos(be + th), p.rr * sin(be) - p.d * sin(be + th)
    g = casadi.vertcat(
        x - p.ss * sin(ga) - p.xb,
        y + p.ss * cos(ga) - p.yb,
        x - p.e * sin(ph + de) - p.zt * cos(de) - p.xa,
        y + p.e * cos(ph + de) - p.zt * sin(de) - p.ya,
        x - p.zf * cos(om + ep) - p.u * sin(ep) - p.xa,
        y - p.zf * sin(om + ep) + p.u * cos(ep) - p.ya,
    )
    return m, f, casadi.jacobian(g, q), g


def idas(case: Case, rtol: float, final: State, repetitions: int) -> Measurement:
    q, v = casadi.SX.sym("q", 7), casadi.SX.sym("v", 7)
    a, multipliers = casadi.SX.sym("a", 7), casadi.SX.sym("l", 6)
    m, f, slopes, _ = andrews_equations(q, v)
    balance = casadi.mtimes(m, a) + casadi.mtimes(slopes.T, multipliers) - f
    closing = casadi.mtimes(slopes, a) + casadi.jtimes(casadi.mtimes(slopes, v), q, v)
    dae = {
        "x": casadi.vertcat(q, v), "z": casadi.vertcat(a, multipliers), "ode": casadi.vertcat(v, a),
        "alg": casadi.vertcat(balance, closing),
    }  # fmt: skip
    order = [ANDREWS_COORDINATES.index(state.name) for state in prepared(case).states[:7]]
    start = np.concatenate([np.array(reference("andrews_squeezer")["q0"], float), np.zeros(7)])
    at_zero = casadi.solve(casadi.jacobian(dae["alg"], dae["z"]), -casadi.substitute(dae["alg"], dae["z"], 0))
    solution = np.array(casadi.Function("solution", [dae["x"]], [at_zero])(start)).ravel()
    options = {
        "abstol": rtol, "reltol": rtol, "max_num_steps": 1_000_000, "calc_ic": False,
        "init_xdot": np.concatenate([start[7:], solution[:7]]).tolist(),
    }  # fmt: skip
    solver = casadi.integrator("andrews", "idas", dae, 0.0, case.until, options)

    def solve() -> State:
        return np.array(solver(x0=start, z0=solution)["xf"]).ravel()[:7][order]

    error = distance(case, solve(), final)
    return Measurement("CasADi IDAS", rtol, best(solve, repetitions), error)


# The governor for the others


@cache
def flyball_case() -> Case:
    return Case(flyball(), 10.0, 1e-8, np.ones(8))


def cvodes(case: Case, rtol: float, final: State, repetitions: int) -> Measurement:
    q, v = casadi.SX.sym("q", 3), casadi.SX.sym("v", 3)
    _, s, alpha = casadi.vertsplit(q)
    energy, dissipated = governor(s, alpha, *casadi.vertsplit(v))
    kinetic, potential = energy
    m = casadi.hessian(kinetic, v)[0]
    moving = casadi.jtimes(casadi.mtimes(m, v), q, v)
    force = casadi.gradient(kinetic - potential, q) - casadi.gradient(dissipated, v) - moving
    ode = casadi.vertcat(v, casadi.solve(m, force))
    options = {"abstol": rtol, "reltol": rtol, "max_num_steps": 1_000_000, "linear_multistep_method": "bdf"}
    solver = casadi.integrator("governor", "cvodes", {"x": casadi.vertcat(q, v), "ode": ode}, 0.0, case.until, options)
    start = [0.0, 0.5, np.pi / 6, 2 * np.pi, 0.0, 0.0]

    def solve() -> State:
        return np.array(solver(x0=start)["xf"]).ravel()[[0, 1, 2, 2]]

    error = distance(case, solve(), final)
    return Measurement("CasADi CVODES (BDF), 3 coordinates", rtol, best(solve, repetitions), error)


def governor(s, alpha, spin, slide, swing):  # type: ignore[no-untyped-def]
    """Energies (kinetic, potential) and dissipation function of the governor in its symmetric motion."""
    sin, cos = casadi.sin, casadi.cos
    along, across = 0.3 * (1 + 1e-4) / 12, 0.3 * 2e-4 / 12
    kinetic = (across + 3 * 0.02 / 12) / 2 * spin**2 + 1.5 * slide**2
    potential = 3 * 9.81 * s
    for mass, distance_out in ((0.3, 0.5), (5.0, 1.0)):
        radius = 0.05 + distance_out * cos(alpha)
        kinetic += mass * ((radius * spin) ** 2 + (distance_out * swing) ** 2)
        potential -= 2 * mass * 9.81 * distance_out * sin(alpha)
    kinetic += along * (swing**2 + (cos(alpha) * spin) ** 2) + across * (sin(alpha) * spin) ** 2
    dx, dz = 0.5 * cos(alpha), 1.0 - 0.5 * sin(alpha) - s
    length = casadi.sqrt(dx**2 + dz**2)
    rate = (dx * (-0.5 * sin(alpha) * swing) + dz * (-0.5 * cos(alpha) * swing - slide)) / length
    return (kinetic, potential + 8e5 * (length - 0.5) ** 2), 4e4 * rate**2


# Together


def at_target(case: Case, kind: Callable[..., Measurement], *arguments: object, repetitions: int) -> Measurement:
    """The measurement of one program at the loosest tolerance whose achieved error is within the target."""
    final = finals(case)
    for tolerance in 10.0 ** np.arange(-5.0, -13.6, -0.5):
        quick = kind(case, *arguments, float(tolerance), final, 1)
        if quick.error <= case.target:
            return kind(case, *arguments, float(tolerance), final, repetitions)
    raise SystemExit(f"{kind.__name__}: no tolerance reached the target: the answers do not agree.")


@cache
def finals(case: Case) -> State:
    """The final coordinates: torseur at its tightest, confirmed by another program."""
    coordinates = prepared(case).coordinates
    final = integrator(case, "explicit").run(problem_of(case, 1e-12)).y[:coordinates].copy()
    other = idas if case is andrews_case() else cvodes
    assert other(case, 1e-10, final, 1).error < 10 * case.target, "the reference answers do not agree"
    return np.array(final)


def report(title: str, found: list[Measurement]) -> None:
    print(title)
    print(f"{'':42}{'tolerance':>10}{'error':>10}{'time':>13}{'ratio':>9}")
    for m in found:
        ratio = m.seconds / found[0].seconds
        print(f"{m.name:42}{m.tolerance:10.1e}{m.error:10.1e}{1e3 * m.seconds:10.3f} ms{ratio:9.1f}")


def main() -> None:
    squeezer, governed = andrews_case(), flyball_case()
    report(
        f"Andrews' squeezing mechanism, {squeezer.until:g} s, achieved error at most {squeezer.target:g}",
        [
            at_target(squeezer, torseur, "explicit", repetitions=200),
            at_target(squeezer, torseur, "radau9", repetitions=20),
            at_target(squeezer, idas, repetitions=5),
            at_target(squeezer, scipy_radau, repetitions=2),
        ],
    )
    report(
        f"flyball governor, {governed.until:g} s, achieved error at most {governed.target:g}",
        [
            at_target(governed, torseur, "radau9", repetitions=100),
            at_target(governed, torseur, "radau5", repetitions=20),
            at_target(governed, torseur, "explicit", repetitions=5),
            at_target(governed, cvodes, repetitions=5),
        ],
    )


if __name__ == "__main__":
    main()
