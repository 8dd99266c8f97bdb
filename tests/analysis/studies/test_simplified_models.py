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


@pytest.mark.slow
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
    stopped = ts.parse(SWING.replace("damping = c", "damping = c stops -1 cm, 1 cm"))
    held = ts.derive(stopped)
    with pytest.raises(UnsupportedError, match="stops, dry friction"):
        _ = ts.simplify(held, box_of(held, BOX), 0.0).mechanism


CRANK_BOX = {"theta": (0.9, 1.4), "phi": (-2, -1), "x": (0.7, 1.0), "angular_speeds": (-3, 3), "velocities": (-1, 1),
             "angular_accelerations": (-20, 20), "accelerations": (-5, 5), "multipliers": (-60, 60),
             "t": (0, 0.3)}  # fmt: skip


@pytest.fixture(scope="module")
def crank() -> ts.Equations:
    return ts.derive(library.load("slider_crank"))


def crank_model(crank: ts.Equations, tolerance: float) -> ts.SimplifiedEquations:
    return ts.simplify(crank, box_of(crank, CRANK_BOX), tolerance)


@pytest.mark.slow
def test_the_complete_model_of_a_loop_moves_and_is_differentiated_as_the_loop(crank) -> None:
    """Oracle: the integrator of constrained motions, which projects and knows no impulses."""
    model = crank_model(crank, 0.0).mechanism
    ours, theirs = (ts.simulate(one, until=0.3, samples=4) for one in (model, crank))
    for name in crank.layout.coordinate_names:
        assert ours[name] == pytest.approx(theirs[name], abs=1e-8)
    ours, theirs = (ts.sensitivity(one, "x", ["r", "l", "m2"], until=0.3)["x"].gradient for one in (model, crank))
    assert ours == pytest.approx(theirs, rel=1e-5)
    longer = {"r": float(library.load("slider_crank").parameter("r").value.value) * 1.1}
    ours, theirs = (ts.simulate(one, until=0.1, samples=2, parameters=longer)["phi"] for one in (model, crank))
    assert ours == pytest.approx(theirs, abs=1e-8)  # the start closes again


def test_the_model_of_a_loop_moves_by_the_rows_that_are_left(crank) -> None:
    """Oracle: the simplified rows with closure by hand, [[M, Cᵀ], [C, 0]] solved by NumPy, integrated by SciPy."""
    from torseur.algebra.graph import evaluate

    simplified = crank_model(crank, 0.1)
    layout = crank.layout
    values = {x: r.low for x, r in simplified.box.ranges.items() if x in layout.parameters}
    r, l = (values[x] for x in layout.parameters if str(x.name) in ("r", "l"))
    unknowns = [*layout.accelerations, *crank.multipliers]

    def rhs(t: float, y: np.ndarray) -> list[float]:
        (theta, phi, _), (w, s, _) = y[:3], y[3:]
        state = {**values, crank.time: t, **dict(zip((*layout.coordinates, *layout.speeds), y, strict=True))}

        def rows(z: np.ndarray) -> np.ndarray:
            at = {**state, **dict(zip(unknowns, z, strict=True))}
            return np.array([float(x) for x in evaluate(list(simplified.residual), at)])

        zero = rows(np.zeros(5))
        upper = np.column_stack([rows(unit) - zero for unit in np.eye(5)])
        a = theta + phi
        closure = [
            [r * np.sin(theta) + l * np.sin(a), l * np.sin(a), 1],
            [r * np.cos(theta) + l * np.cos(a), l * np.cos(a), 0],
        ]
        gamma = [
            -r * w**2 * np.cos(theta) - l * (w + s) ** 2 * np.cos(a),
            r * w**2 * np.sin(theta) + l * (w + s) ** 2 * np.sin(a),
        ]
        lower = np.column_stack([np.array(closure), np.zeros((2, 2))])
        return [*y[3:], *np.linalg.solve(np.vstack([upper, lower]), [*-zero, *gamma])[:3]]

    motion = ts.simulate(simplified.mechanism, until=0.3, samples=2)
    start = [motion[name][0] for name in layout.coordinate_names]
    end = solve_ivp(rhs, (0, 0.3), [*start, 0, 0, 0], rtol=1e-10, atol=1e-12).y[:, -1]
    assert [motion[name][-1] for name in layout.coordinate_names] == pytest.approx(end[:3], abs=1e-7)
    complete = ts.simulate(crank, until=0.3, samples=2)["theta"][-1]
    assert abs(motion["theta"][-1] - complete) > 1e-3


def test_a_model_of_a_loop_does_not_move_open(crank) -> None:
    model = crank_model(crank, 0.0).mechanism
    with pytest.raises(TorseurError, match="cannot start"):
        ts.simulate(model, until=0.1, initial={"theta": 1.2})
    with pytest.raises(TorseurError, match=r"'theta\(0\)' would leave the constraints"):
        ts.sensitivity(model, "x", ["theta(0)"], until=0.1)
    with pytest.raises(TorseurError, match="initial value '.*' has no value with these parameters"):
        ts.simulate(model, until=0.1, parameters={"l": 0.1})


def test_rolling_and_quaternions_start_and_move_as_their_mechanisms() -> None:
    wide = {"angles": (-7, 7), "lengths": (-9, 9), "angular_speeds": (-20, 20), "velocities": (-20, 20),
            "angular_accelerations": (-60, 60), "accelerations": (-60, 60), "multipliers": (-500, 500)}  # fmt: skip
    for name in ("rolling_disc", "free_body"):
        equations = ts.derive(library.load(name))
        numbers = {str(q.name): (-1.0, 1.0) for q in equations.layout.coordinates if q.data.unit == "1"}
        box = box_of(equations, wide | numbers)
        model = ts.simplify(equations, box, 0.0, method="sampling").mechanism
        ours, theirs = (ts.simulate(one, until=1.0, samples=2) for one in (model, equations))
        for q in equations.layout.coordinate_names:
            assert ours[q] == pytest.approx(theirs[q], abs=1e-7), (name, q)
