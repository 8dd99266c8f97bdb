"""Motions that cannot be computed to their end: when, why, and the part that is valid."""

import math

import numpy as np
import pytest

import torseur as ts
from computation.simulation.systems import oscillator, program
from torseur.algebra.graph import symbol
from torseur.algebra.graph.scalar import sqrt
from torseur.computation.simulation import Quantity, System, simulate
from torseur.errors import MechanismError, SimulationError

X = symbol("x")


def single(slope, initial=1.0, **more):
    return System(
        name="case", states=(Quantity("x"),), initial=(initial,), rhs=program((X,), (), (slope,)), coordinates=1, **more
    )


def failure_of(system, until, **options):
    with pytest.raises(SimulationError) as failure:
        simulate(system, until, **options)
    return str(failure.value), failure.value.trajectory


def test_divergence_in_finite_time(backend):
    """x' = x^2 from 1 blows up at t = 1: x = 1 / (1 - t)."""
    message, valid = failure_of(single(X * X), 2.0, backend=backend)
    assert "t = 1 s" in message or "t = 0.99999" in message
    assert "diverges: 'x' has grown to" in message
    early = valid.time < 0.9
    assert early.sum() > 3
    assert np.allclose(valid["x"][early], 1 / (1 - valid.time[early]), rtol=1e-7)


def test_divergence_to_infinity_without_singularity():
    """x' = x leaves the range of double precision at t = log(1.8e308), about 709.8."""
    message, valid = failure_of(single(X), 1000.0)
    assert "diverges" in message and "t = 70" in message
    assert np.all(np.isfinite(valid.values))


def test_leaving_the_domain(backend):
    """x' = -1 / sqrt(x), x = (1 - 3 t / 2)^(2/3): over at t = 2/3."""
    message, valid = failure_of(single(-1 / sqrt(X)), 2.0, backend=backend)
    assert "the motion ends at t = 0.66666" in message and "'x'" in message
    assert valid.time[-1] == pytest.approx(2 / 3, abs=1e-6)
    assert np.all(np.isfinite(valid.values))
    inside = valid.time < 0.6
    assert np.allclose(valid["x"][inside], (1 - 1.5 * valid.time[inside]) ** (2 / 3), rtol=0.0, atol=1e-7)


def test_not_finite_at_the_start(backend):
    message, valid = failure_of(single(sqrt(X), initial=-1.0), 1.0, backend=backend)
    assert "cannot start" in message and "rate of change of 'x' is not a finite number" in message
    assert valid.time.tolist() == [0.0]


def test_too_many_steps():
    message, valid = failure_of(oscillator(), 1e6, max_steps=100)
    assert "after 100 steps" in message and "Raise max_steps" in message
    assert valid.statistics.steps + valid.statistics.rejected == 100
    assert np.allclose(valid["x"], np.cos(valid.time), rtol=0.0, atol=1e-6)


def test_stiff_system_is_recognised():
    """x' = -1e6 (x - 1): explicit steps are limited by stability."""
    message, _ = failure_of(single(-1e6 * (X - 1.0), initial=2.0), 10.0, max_steps=3000, method="explicit")
    assert "stiff" in message


def test_tolerance_that_cannot_be_met():
    """A slope that jumps in the state itself: sliding on a surface is no solution of an ordinary equation."""
    system = System(
        name="case",
        states=(Quantity("x"),),
        initial=(1.0,),
        coordinates=1,
        rhs=lambda t, y, p: [-1.0 if y[0] > 0.5 else 1.0],
    )
    message, valid = failure_of(system, 3.0, max_steps=2_000)
    assert "t = 0.5" in message or "steps" in message
    assert valid["x"][-1] == pytest.approx(0.5, abs=1e-6)


def test_the_equations_explain_themselves():
    system = single(-1 / sqrt(X), explain=lambda t, y: f"The mass matrix loses rank: x = {y[0]:.1e}.")
    message, _ = failure_of(system, 2.0)
    assert "The mass matrix loses rank" in message and "Look for" not in message


def test_samples_of_the_valid_part():
    _, valid = failure_of(single(X * X), 2.0, samples=201)
    assert valid.time[-1] <= 1.0 and len(valid) in (100, 101)
    assert math.isfinite(valid["x"][-1])


def test_negative_masses_under_constraints():
    rope = ts.parse("""let a = body mass = -1 kg, negative, centre = 0, inertia = 0 end ;
    join earth and a.frame with planar(x, y, q) end ; constrain q = 0 ; constrain x = y ;""")
    with pytest.raises(SimulationError, match="negative inertia"):
        ts.simulate(rope, 1)


SPRING = """let b = body mass = 4 kg, centre = 0, inertia = diag(1, 1, 1) end ;
join earth and b.frame with planar(x, y, a) end ; apply spring {} between earth and b as cord ; init y' = 1 m/s ;"""


def test_a_spring_without_rest_length_through_its_own_end():
    """Oracle: y = sin(w t) / w with w² = k/m, from where both ends meet."""
    motion = ts.simulate(ts.parse(SPRING.format("stiffness = 36 N/m")), 3, samples=7, rtol=1e-11, outputs=["energy"])
    assert motion["y"] == pytest.approx(np.sin(3 * motion.time) / 3, abs=1e-9)
    assert motion["energy"] == pytest.approx(2.0, abs=1e-9)


def test_a_spring_between_points_that_stay_together():
    arm = ts.parse("""let b = body mass = 4 kg, centre = 0, inertia = diag(1, 1, 1) end ;
    join earth and b.frame with revolute(a) end ; apply spring stiffness = 3 N/m, rest = 1 m between earth and b as cord ;""")
    with pytest.raises(MechanismError, match="spring 'cord': its ends 'earth' and 'b' are at one place"):
        ts.simulate(arm, 1)


@pytest.mark.parametrize("request_type", [ts.Output, ts.Event])
def test_a_function_that_is_none_is_refused(request_type):
    with pytest.raises(ts.TorseurError, match="'y': expected a formula, an expression .* got 3"):
        request_type("y", 3)
