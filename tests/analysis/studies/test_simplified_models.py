"""Models of decreasing size. Oracles: a pendulum's simplified equation by hand, integrated by SciPy; differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torseur as ts
from torseur import library
from torseur.derivation.equations.simplification import box_of
from torseur.errors import TorseurError, UnsupportedError

# A swing whose mass slides outward on a stiff spring: Coriolis and centrifugal terms are small in the box below.
SWING = """mechanism swing ; param g = 9.81 m/s^2, m = 2 kg, l = 0.8 m, k = 8 kN/m, c = 20 N*s/m ;
gravity = [0, -g, 0] ;
let rod = body mass = 0, inertia = 0 end ;
let bob = body mass = m, centre = [0, 0, 0], inertia = 0 end ;
join earth and rod.frame as pivot with revolute(q) about [0, 0, 1] end ;
join [0, -l, 0] @ rod and bob.frame as slide with prismatic(s) along [0, -1, 0] stiffness = k, damping = c end ;
init q = 0.3 rad, s = 0.0024 m ;"""
BOX = {"q": (-0.35, 0.35), "s": (-0.01, 0.01), "angular_speeds": (-1.3, 1.3), "velocities": (-0.1, 0.1),
       "angular_accelerations": (-5, 5), "accelerations": (-3, 3)}  # fmt: skip


@pytest.fixture(scope="module")
def models() -> object:
    return ts.simplified_models(ts.parse(SWING), BOX, "q", until=1.0, tolerances=(0.0, 0.03, 0.12), samples=101)


def test_the_complete_model_of_states_moves_as_the_mechanism(models) -> None:
    assert models.models[0].motion_error < 1e-6 and models.models[0].terms > models.models[-1].terms
    assert models.complete == pytest.approx(ts.simulate(ts.parse(SWING), until=1.0, samples=2)["q"][-1], abs=1e-8)


def test_the_model_moves_by_the_terms_that_are_left(models) -> None:
    """Oracle: the printed rows of the smallest model, typed in here, integrated by SciPy."""
    model = models.models[-1]
    printed = ts.write_equations(ts.derive(model.mechanism), "scalar")
    assert "q_rate" in printed and "s_rate" in printed
    residual = model.simplified.residual
    layout = model.simplified.complete.layout
    symbols = (*layout.coordinates, *layout.speeds, *layout.accelerations, *layout.parameters)
    values = (9.81, 2.0, 0.8, 8000.0, 20.0)
    from torseur.algebra.graph import evaluate

    def rhs(t: float, y: np.ndarray) -> list[float]:
        def rows(a: tuple[float, float]) -> np.ndarray:
            return np.array([float(x) for x in evaluate(residual, dict(zip(symbols, (*y, *a, *values), strict=True)))])

        zero = rows((0.0, 0.0))
        matrix = np.column_stack([rows((1.0, 0.0)) - zero, rows((0.0, 1.0)) - zero])
        return [*y[2:], *np.linalg.solve(matrix, -zero)]

    assert [str(p.name) for p in layout.parameters] == ["g", "m", "l", "k", "c"]
    end = solve_ivp(rhs, (0, 1.0), [0.3, 0.0024, 0, 0], rtol=1e-10, atol=1e-12).y[:, -1]
    motion = ts.simulate(model.mechanism, until=1.0, samples=2)
    assert motion["q"][-1] == pytest.approx(end[0], abs=1e-7)
    assert motion["q_rate"][-1] == pytest.approx(end[2], abs=1e-7)
    complete = ts.simulate(ts.parse(SWING), until=1.0, samples=2)["q"][-1]
    assert abs(motion["q"][-1] - complete) > 1e-5  # what was dropped is not brought back


def test_the_model_is_differentiated_as_what_it_is(models) -> None:
    """Oracle: differences of the model's own motions."""
    mechanism = models.models[-1].mechanism
    derivative = ts.sensitivity(mechanism, "q", "l", until=0.5)["q"].gradient[0]

    def end(l: float) -> float:
        return float(ts.simulate(mechanism, until=0.5, samples=2, parameters={"l": l}, rtol=1e-12)["q"][-1])

    assert derivative == pytest.approx((end(0.8 + 1e-4) - end(0.8 - 1e-4)) / 2e-4, rel=1e-5)


def test_the_smallest_model_within_an_allowed_error_is_chosen(models) -> None:
    errors = [m.criterion_error for m in models.models]
    assert errors[0] < 1e-6 < errors[1]
    chosen = models.choose(max(errors))
    assert chosen.terms == min(m.terms for m in models.models)
    assert models.choose(errors[0]).tolerance == 0.0
    with pytest.raises(TorseurError, match="no model keeps"):
        ts.simplified_models(ts.parse(SWING), BOX, "q", until=0.2, tolerances=(0.12,), samples=11).choose(1e-9)
    assert len(models.table().splitlines()) == 4


def test_what_a_model_of_states_cannot_be_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="solved for"):
        ts.simplified_models(ts.parse(SWING), BOX, "q''", until=0.1)
    equations = ts.derive(ts.parse(SWING))
    still = {**BOX, "angular_accelerations": (0.0, 1e-9)}
    with pytest.raises(UnsupportedError, match="no acceleration is left in the equation along q"):
        _ = ts.simplify(equations, box_of(equations, still), 0.01).mechanism
    loop = ts.derive(library.load("four_bar"))
    ranges = {"angles": (0.1, 2.0), "angular_speeds": (-1, 1), "angular_accelerations": (-1, 1)}
    ranges |= {f"lambda_C_{axis}": (-5.0, 5.0) for axis in "xy"}
    with pytest.raises(UnsupportedError, match="constrained"):
        _ = ts.simplify(loop, box_of(loop, ranges), 0.01).mechanism
