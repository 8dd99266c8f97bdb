"""Accelerations under constraints and the way back to them, as formulas. Oracle: constrained motion by simulation."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.derivation.equations import motion_values
from torseur.description import library
from torseur.errors import UnsupportedError


def states_of(motion, equations, row):
    q, v = equations.layout.coordinates, equations.layout.speeds
    values = motion.values[row]
    return values[: len(q)], values[len(q) : len(q) + len(v)]


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bennett", "andrews_squeezer", "rolling_disc"])
def test_accelerations_are_those_of_the_motion(name):
    """Bennett's linkage has redundant constraints, the disc rolls."""
    equations = ts.derive(library.load(name))
    until = 0.02 if name == "andrews_squeezer" else 0.5
    wanted = [str(symbol.name) for symbol in equations.layout.accelerations]
    motion = ts.simulate(equations, until=until, samples=5, rtol=1e-11, outputs=wanted)
    kernel = ts.compile(equations, ["constrained_forward_dynamics"])
    given = {"p": list(motion_values(equations, {}).values()), "tau": np.zeros(len(wanted))}
    for row in (1, 4):
        q, v = states_of(motion, equations, row)
        inputs = given | {"q": q, "v": v, "t": [motion.time[row]]}
        found = kernel(*(inputs[group.name] for group in kernel.program.inputs))["vdot"]
        exact = np.array([motion[name][row] for name in wanted])
        assert np.allclose(found, exact, rtol=1e-6, atol=1e-7 * np.abs(exact).max())


@pytest.mark.parametrize("name", ["four_bar", "bennett"])
def test_corrections_lead_back_quadratically(name):
    """What is left of a small violation is its square. Oracle: the constraints' own residuals."""
    equations = ts.derive(library.load(name))
    motion = ts.simulate(equations, until=0.2, samples=2, rtol=1e-11)
    q, v = states_of(motion, equations, -1)
    correct = ts.compile(equations, ["constraint_corrections"])
    residual = ts.compile(equations, ["constraint_residuals"])
    p = list(motion_values(equations, {}).values())
    known = {"p": p, "tau": np.zeros(len(v)), "t": [0.2]}

    def evaluate(kernel, q, v):
        return kernel(*((known | {"q": q, "v": v})[group.name] for group in kernel.program.inputs))

    random = np.random.default_rng(0)
    push = random.uniform(-1, 1, len(q))
    left = []
    for size in (1e-3, 1e-4):
        away = q + size * push
        back = away + evaluate(correct, away, v)["q_correction"]
        left.append(np.abs(evaluate(residual, back, v)["constraint_residuals"]).max())
    assert left[1] < 0.03 * left[0] or left[0] < 1e-12


def test_open_mechanisms_are_refused():
    with pytest.raises(UnsupportedError, match="has no loops"):
        ts.compile(ts.derive(library.load("double_pendulum")), ["constrained_forward_dynamics"])


def test_sensitivity_elements_of_a_loop_agree_with_differences() -> None:
    """J, B and f_p - A_p y' against differences of A y' and f, computed without any derivative."""
    import torseur as ts
    from torseur import library

    kernel = ts.compile(ts.derive(library.load("four_bar")), ["sensitivity_elements"])
    rng = np.random.default_rng(1)
    given = {group.name: rng.uniform(0.5, 1.5, len(group)) for group in kernel.program.inputs}
    rates = np.concatenate([given["v"], given["vdot"], given["multipliers"]])

    def balance(name: str, k: int, step: float) -> np.ndarray:
        moved = {key: x.copy() for key, x in given.items()}
        moved[name][k] += step
        result = kernel(**moved)
        return np.stack([np.ravel(result["state_right"]), np.asarray(result["state_matrix"]) @ rates])

    parts = kernel(**given)
    for name, columns in (("q", 3), ("p", 6)):
        for k in range(columns):
            right, left = (balance(name, k, 1e-5) - balance(name, k, -1e-5)) / 2e-5
            if name == "q":
                np.testing.assert_allclose(np.asarray(parts["state_jacobian"])[:, k], right, atol=1e-8)
                np.testing.assert_allclose(np.asarray(parts["mass_jacobian"])[:, k], left, atol=1e-8)
            else:
                np.testing.assert_allclose(np.asarray(parts["parameter_forcing"])[:, k], right - left, atol=1e-8)
