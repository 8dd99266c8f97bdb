"""Constants of bodies and frames as expressions: placements to transforms, descriptions to inertias."""

from __future__ import annotations

import math
from fractions import Fraction

from torseur.graph import PI, Expr, symbol
from torseur.mechanism import Body, Placement, Turn
from torseur.mechanism.bodies import INERTIA_COMPONENTS
from torseur.mechanism.solids import Solid
from torseur.spatial import (
    NO_INERTIA,
    NULL,
    Inertia,
    Rotation,
    Symmetric3,
    Transform,
    Vec3,
    about,
    inertia_at,
)

QUARTER_TURN = 1e-15
"""How far from a quarter turn an angle in radians is still one."""


def transform_of(placement: Placement) -> Transform:
    """The place a placement describes."""
    rotation = Rotation()
    for turn in placement.rotation:
        rotation = rotation.then(about(Vec3(*turn.axis), _exact_angle(turn)))
    return Transform(rotation, Vec3(*placement.position))


def _exact_angle(turn: Turn) -> Expr:
    """The angle, a float within a few roundings of a multiple of pi/2 taken as that multiple.

    Files write quarter turns with 15 or 16 digits. Their sines and cosines are then exactly 0 or 1 instead of 4e-16,
    which shortens the equations of an arm by a quarter and changes nothing that a float can tell. No other angle is
    touched.
    """
    if not turn.angle.is_constant or not isinstance(turn.angle.value, float):
        return turn.angle
    quarters = round(turn.angle.value / (math.pi / 2))
    off = abs(turn.angle.value - quarters * (math.pi / 2))
    return PI * Fraction(quarters, 2) if off <= QUARTER_TURN * max(abs(quarters), 1) else turn.angle


def mass_centre(body: Body) -> Transform:
    """The inertial frame of a body in its reference frame; symbols when it is not given."""
    if body.iframe is not None:
        return transform_of(body.iframe)
    if body.solids and body.mass is None:
        inertia = body_inertia(body)
        return Transform(Rotation(), inertia.moment * (1 / inertia.mass))
    if body.mass is not None and body.mass.is_zero:
        return Transform(Rotation(), NULL)
    names = [symbol(f"{body.name}.centre.{axis}", "m", f"mass centre of {body.name}") for axis in "xyz"]
    return Transform(Rotation(), Vec3(*names))


def body_inertia(body: Body) -> Inertia:
    """Mass, first moment and inertia matrix of a body at its reference frame."""
    total = NO_INERTIA
    for solid in body.solids:
        total = total + solid_inertia(solid)
    if body.solids and body.mass is None and body.inertia is None:
        return total
    return total + _given_inertia(body)


def _given_inertia(body: Body) -> Inertia:
    mass = body.mass if body.mass is not None else symbol(f"{body.name}.mass", "kg", f"mass of {body.name}")
    centre = mass_centre(body) if not (body.solids and body.iframe is None) else Transform(Rotation(), NULL)
    given = body.inertia
    if given is None:
        components = _inertia_symbols(body)
        return inertia_at(mass, centre.position, centre.rotation.tensor_to_parent(Symmetric3(*components)))
    matrix = Symmetric3(*given.components)
    if given.about == "iframe":
        return inertia_at(mass, centre.position, centre.rotation.tensor_to_parent(matrix))
    if given.about == "frame":
        return Inertia(mass, centre.position * mass, matrix)
    assert isinstance(given.about, Placement)
    return _about_point(mass, centre.position, matrix, transform_of(given.about))


def _about_point(mass: Expr, centre: Vec3, matrix: Symmetric3, about_frame: Transform) -> Inertia:
    """Inertia given about any point and axes: the first moment there follows from the mass centre."""
    local = about_frame.rotation.to_child(centre - about_frame.position)
    return about_frame.inertia_to_parent(Inertia(mass, local * mass, matrix))


def _inertia_symbols(body: Body) -> list[Expr]:
    meaning = f"inertia of {body.name} at its mass centre"
    return [symbol(f"{body.name}.I{c}", "kg*m^2", meaning) for c in INERTIA_COMPONENTS]


def solid_inertia(solid: Solid) -> Inertia:
    """A homogeneous solid's inertia at the body's reference frame."""
    moments, mass = solid.moments, solid.total_mass
    xx, yy, zz = (mass * square for square in moments.gyration)
    local = inertia_at(mass, Vec3(0, 0, moments.centre_z), Symmetric3(xx, yy, zz, 0, 0, 0))
    return transform_of(solid.placement).inertia_to_parent(local)
