"""Regressors beside Pinocchio, consistent fits beside cvxpy, a hundred thousand samples of an arm, and a platform.

Run: python benchmarks/bench_identification.py

Everything is timed in this one run, the best of several repetitions, after the answers were compared. Compilation of
the regressor is left out (it happens once and is cached). Pinocchio is called through its Python binding, once per
sample, as a Python user would; a C++ loop would save the binding's share. cvxpy gets the same quadratic cost and the
same cones, solved by the same solver, so that the difference is the road to the solver. One machine, three mechanisms:
nothing is said about others. Linear algebra runs on one core for everybody.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from analysis.identification.arms import SEVEN_R, Row, arm, true_parameters
from analysis.identification.recordings import sines
from robots import FOLDER, data, robot
from torseur.analysis.identification import Options, base_parameters, identify, linear_model
from torseur.analysis.identification.data.trials import Trial
from torseur.analysis.identification.estimators.body_family import body_family, consistent_problem
from torseur.analysis.identification.estimators.consistent_fit import ConsistentProblem, fit_consistent
from torseur.analysis.identification.estimators.least_squares import weighted_least_squares
from torseur.analysis.identification.estimators.priors import description_parameters
from torseur.analysis.identification.estimators.regression import Regression, excited_columns, excited_combination
from torseur.analysis.identification.identify import whiten
from torseur.analysis.identification.model.constraint_projector import Projector
from torseur.analysis.identification.model.pseudo_inertia import BASIS, is_consistent
from torseur.description.library import load


def best(action: Callable[[], object], repetitions: int = 3) -> float:
    """The shortest of several repetitions, in seconds."""
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times)


def line(what: str, *facts: str) -> None:
    print(f"{what:28}" + "   ".join(facts), flush=True)


def trial_of(model, parameters, count: int, noise: float = 0.01) -> Trial:
    """A recording by the regressor itself, in memory."""
    n = len(model.equations.layout.speeds)
    t, q, v, a = sines(n, count)
    rng = np.random.default_rng(0)
    empty = Trial("t", t, q, v, a, np.zeros((count, n)), (True,) * n)
    tau = np.zeros((count, n))
    for block in Regression(model, (empty,)).blocks():
        tau[block.samples, block.equation] = block.matrix @ parameters[block.columns]
    return Trial("t", t, q, v, a, tau + noise * tau.std(axis=0) * rng.normal(size=tau.shape), (True,) * n)


def regressors(samples: int = 5000) -> None:
    """The joint torque regressor of ur5 at many states."""
    import pinocchio as pin

    theirs = pin.buildModelFromUrdf(str(FOLDER / "ur5_nomesh.urdf"))
    memory = theirs.createData()
    model = linear_model(robot("ur5"))
    rng = np.random.default_rng(0)
    q, v, a = (rng.uniform(-2, 2, (samples, 6)) for _ in range(3))
    ours = model.matrix(q[:20], v[:20], a[:20])
    states = list(zip(q, v, a, strict=True))
    other = np.array([pin.computeJointTorqueRegressor(theirs, memory, *x) for x in states[:20]])
    gap = np.abs(ours - other).max()
    assert gap < 1e-11, gap
    zero = np.zeros(samples)
    mine = best(lambda: model.evaluate(zero, q, v, a)) / samples
    peer = best(lambda: [pin.computeJointTorqueRegressor(theirs, memory, *x) for x in states], 2) / samples
    line(
        "regressor of ur5", f"torseur {1e6 * mine:.2f} us", f"pinocchio {1e6 * peer:.2f} us", f"ratio {peer / mine:.1f}"
    )


def hundred_thousand(samples: int = 100_000) -> None:
    """Regressor and weighted fit of a 7-dof arm."""
    mechanism = arm(SEVEN_R)
    model = linear_model(mechanism)
    base = base_parameters(model)
    truth = true_parameters(mechanism)
    trial = trial_of(model, truth, samples)
    found = identify(model, [trial], "weighted", Options(base=base))
    error = np.abs((found.values - base.combination @ truth) / found.deviation).max()
    assert error < 5, error
    seconds = best(lambda: weighted_least_squares(Regression(model, (trial,), frozenset(base.columns)), base.columns))
    whole = best(lambda: identify(model, [trial], "weighted", Options(base=base)), 2)
    line(f"7-dof arm, {samples} samples", f"regressor and fit {seconds:.2f} s", f"with residuals {whole:.2f} s")


def twenty_bodies() -> None:
    """A fully consistent fit of twenty bodies, by the cones directly and through cvxpy."""
    mechanism = arm([Row(a=0.1 * (k % 3), alpha=np.pi / 2 * (-1) ** k, r=0.2) for k in range(20)], seed=3)
    model = linear_model(mechanism)
    base = base_parameters(model)
    truth = true_parameters(mechanism)
    trial = trial_of(model, truth, 2000, 0.05)
    regression = Regression(model, (trial,), frozenset(base.columns))
    columns, _, _ = excited_columns(regression, base)
    combination = excited_combination(regression, base, columns)
    noise = weighted_least_squares(regression, columns).noise
    R, c = whiten(regression, columns, noise)
    family = body_family(model, columns, combination, np.linalg.solve(R, c), None)
    problem = consistent_problem(model, family, (R, c), None, {}, {})
    ours = fit_consistent(problem).parameters
    assert all(is_consistent(ours[where], 1e-8) for where in model.bodies.values())
    theirs, seconds = _cvxpy(problem, model)
    costs = [_cost(problem, p) for p in (ours, theirs)]
    assert costs[0] < costs[1] + 1e-2, costs
    mine = best(lambda: fit_consistent(problem))
    whole = best(lambda: identify(model, [trial], "consistent", Options(base=base)), 2)
    line("20 bodies, cones", f"torseur {mine:.3f} s", f"cvxpy {seconds:.3f} s", f"ratio {seconds / mine:.1f}")
    line(
        "20 bodies, 2000 samples",
        f"from data to consistent bodies {whole:.2f} s",
        f"costs {costs[0]:.4f} {costs[1]:.4f}",
    )


def _cost(problem: ConsistentProblem, p: np.ndarray) -> float:
    return float(np.sum((problem.R @ (problem.family.combination @ p) - problem.c) ** 2))


def _cvxpy(problem: ConsistentProblem, model) -> tuple[np.ndarray, float]:
    """The same problem as its user would write it down."""
    import cvxpy as cp

    begin = time.perf_counter()
    pi = cp.Variable(len(model.columns))
    cost = cp.sum_squares(problem.R @ (problem.family.combination @ pi) - problem.c)
    cones = []
    for where in model.bodies.values():
        J = cp.Variable((4, 4), PSD=True)
        cones.append(sum(pi[where.start + k] * BASIS[k] for k in range(10)) == J)
    cp.Problem(cp.Minimize(cost), cones).solve(solver=cp.CLARABEL)
    return np.asarray(pi.value), time.perf_counter() - begin


def linkage(samples: int = 2000) -> None:
    """Regressor through the projector and fit of a Stewart platform on six actuators, every coordinate recorded."""
    model = linear_model(load("stewart_platform"), loads="measured")
    base = base_parameters(model)
    rng = np.random.default_rng(1)
    q, v, a = Projector(model).random(samples, rng)
    n = v.shape[1]
    truth = np.concatenate([description_parameters(model)[owner] for owner in model.bodies])
    time = np.arange(samples, dtype=float)
    tau = np.einsum("tij,j->ti", model.matrix(q, v, a), truth)
    trial = Trial("t", time, q, v, a, tau, (True,) * n)
    found = identify(model, [trial], "ordinary", Options(base=base))
    error = np.abs(found.values - base.combination @ truth).max()
    assert error < 1e-8, error
    seconds = best(lambda: identify(model, [trial], "ordinary", Options(base=base)), 1)
    line(f"Stewart platform, {samples}", f"{len(base)} parameters through loops {seconds:.2f} s", f"error {error:.0e}")


if __name__ == "__main__":
    print(f"data of ur5 hold {len(data('ur5')['q'])} states that agree with the regressor to 1e-11 (tests)")
    regressors()
    twenty_bodies()
    hundred_thousand()
    linkage()
