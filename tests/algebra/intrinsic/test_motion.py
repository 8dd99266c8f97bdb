"""Derivatives in moving frames. Oracle: explicit components in SymPy, differentiated by time."""

from __future__ import annotations

import pytest
import sympy
from sympy import cos, sin

from torseur.algebra.intrinsic import (
    TIME,
    Cross,
    Dot,
    Frame,
    IntrinsicError,
    Tilde,
    angular_velocity,
    change_of_frame,
    composed_acceleration,
    composed_velocity,
    derivative,
    is_zero,
    matrix,
    vector,
)

earth = Frame("earth")
arm = Frame("arm", earth)
blade = Frame("blade", arm)
r = vector("r", constant=True, frame=arm)
s = vector("s", frame=blade)

p, q = sympy.Function("p")(TIME), sympy.Function("q")(TIME)
ARM = sympy.Matrix([[cos(p), -sin(p), 0], [sin(p), cos(p), 0], [0, 0, 1]])
BLADE = sympy.Matrix([[1, 0, 0], [0, cos(q), -sin(q)], [0, sin(q), cos(q)]])
MOVING = sympy.Matrix([sympy.Function(f"s{k}")(TIME) for k in "xyz"])


def explicit(e):
    """Earth components of an expression of this mechanism: arm turns about z by p, blade about x by q."""
    own = {
        arm.omega: sympy.Matrix([0, 0, p.diff(TIME)]),
        blade.omega: ARM * sympy.Matrix([q.diff(TIME), 0, 0]),
        r: ARM * sympy.Matrix([1, 2, 3]),
    }
    for dots in range(3):
        own[vector("s", frame=blade, dots=dots)] = ARM * BLADE * MOVING.diff(TIME, dots)
        own[vector("Omega_arm", frame=arm, dots=dots)] = sympy.Matrix([0, 0, p.diff(TIME, dots + 1)])
        own[vector("Omega_blade", frame=blade, dots=dots)] = ARM * sympy.Matrix([q.diff(TIME, dots + 1), 0, 0])
    if e in own:
        return own[e]
    if isinstance(e, Cross):
        return explicit(e.args[0]).cross(explicit(e.args[1]))
    if not e.args or e.is_number:
        return e
    parts = [explicit(x) if hasattr(x, "shape") else x for x in e.args]
    total = parts[0]
    for part in parts[1:]:
        total = total + part if type(e).__name__ == "MatAdd" else total * part
    return total


def zero(m):
    return sympy.simplify(m) == sympy.zeros(3, 1)


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, 2])
def test_derivative_in_the_earth_is_that_of_the_components(order):
    place, expected = r + s, explicit(r + s)
    for _ in range(order):
        place, expected = derivative(place, earth), expected.diff(TIME)
    assert zero(explicit(place) - expected)


@pytest.mark.slow
def test_derivative_in_a_moving_frame():
    """Oracle: components seen in the arm, differentiated there and turned back."""
    expected = ARM * (ARM.T * explicit(s)).diff(TIME)
    assert zero(explicit(derivative(s, arm)) - expected)


def test_compositions_are_the_derivatives():
    velocity, acceleration = derivative(r + s, earth), derivative(derivative(r + s, earth), earth)
    assert is_zero(velocity - composed_velocity(s, r, blade, earth).total)
    parts = composed_acceleration(s, r, blade, earth)
    assert is_zero(acceleration - parts.total)
    assert is_zero(parts.coriolis - 2 * Cross(arm.omega + blade.omega, derivative(s, blade)))


def test_angular_velocities_compose_and_are_opposite():
    assert is_zero(angular_velocity(blade, earth) - angular_velocity(blade, arm) - angular_velocity(arm, earth))
    assert is_zero(angular_velocity(arm, blade) + angular_velocity(blade, arm))


def test_change_of_frame_goes_there_and_back():
    there, back = change_of_frame(blade, earth), change_of_frame(earth, blade)
    assert is_zero(there * back - sympy.Identity(3))
    assert is_zero(derivative(arm.rotation, earth) - Tilde(arm.omega) * arm.rotation)


def test_angular_momentum_of_a_body():
    """Euler: d(I ω)/dt = I ω' + ω x I ω for an inertia constant in the body."""
    inertia = matrix("I", symmetric=True, constant=True, frame=arm)
    omega = arm.omega
    rate = derivative(inertia * omega, earth)
    euler = inertia * derivative(omega, earth) + Cross(omega, inertia * omega)
    assert is_zero(rate - euler)
    power = derivative(Dot(omega, inertia * omega) / 2, earth) - Dot(omega, euler)
    assert is_zero(power)


def test_mistakes_are_named():
    with pytest.raises(IntrinsicError, match="belongs to no frame"):
        derivative(vector("a"), earth)
    with pytest.raises(IntrinsicError, match="no frame in common"):
        angular_velocity(Frame("here"), Frame("there"))
    with pytest.raises(IntrinsicError, match="changes in an unknown way"):
        derivative(matrix("A", frame=arm), earth)
