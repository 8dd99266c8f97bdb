"""Transmission angles against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur import library
from torseur.errors import MechanismError


def test_of_a_four_bar_it_is_the_angle_between_coupler_and_rocker():
    """Oracle: the law of cosines in the triangle of coupler, rocker and the diagonal from crank pin to ground."""
    turn = ts.transmission_angle(library.load("four_bar"), "coupler", "rocker", "alpha", 0.3, 2.8)
    diagonal = 0.4**2 + 1.2**2 - 2 * 0.4 * 1.2 * np.cos(turn.values)
    angle = np.arccos((1.0**2 + 0.8**2 - diagonal) / (2 * 1.0 * 0.8))
    assert turn.angles == pytest.approx(np.minimum(angle, np.pi - angle), abs=1e-9)
    assert turn.least == min(turn.angles)
    assert turn.values[int(np.argmin(turn.angles))] == turn.at_least
    assert str(turn).startswith(f"Transmission: at least {np.degrees(turn.least):.4g} deg, at alpha = ")


def test_a_slider_is_pushed_along_its_guide():
    """Oracle: the rod leans by φ with l sin φ = r sin θ, and the angle is 90° - φ."""
    turn = ts.transmission_angle(library.load("slider_crank"), "rod", "piston", "theta", 0.2, 3.0)
    assert turn.angles == pytest.approx(np.pi / 2 - np.abs(np.arcsin(0.3 / 0.8 * np.sin(turn.values))), abs=1e-9)


def test_what_is_no_coupler_is_refused_with_the_joints_it_has():
    four_bar = library.load("four_bar")
    with pytest.raises(MechanismError, match="'crank' is not a coupler of 'rocker'.* it has A, B"):
        ts.transmission_angle(four_bar, "crank", "rocker", "alpha", 1.0, 1.2)
    with pytest.raises(MechanismError, match="'couple'"):
        ts.transmission_angle(four_bar, "couple", "rocker", "alpha", 1.0, 1.2)
