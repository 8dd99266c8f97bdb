"""Constants of bodies and frames as expressions: placements to transforms, descriptions to inertias."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from operator import add
from typing import Any

from torseur.algebra.graph import Expr, symbol
from torseur.algebra.spatial import (
    NO_INERTIA,
    NULL,
    Inertia,
    Rotation,
    Scalar,
    Symmetric3,
    Transform,
    Vec3,
    about,
    inertia_at,
)
from torseur.derivation.tree.transformations.quarter_turns import exact_angle
from torseur.description.mechanism import Body, Placement
from torseur.description.mechanism.bodies import INERTIA_COMPONENTS


def transform_of(placement: Placement) -> Transform:
    """The place a placement describes."""
    rotation = Rotation()
    for turn in placement.rotation:
        rotation = rotation.then(about(Vec3(*turn.axis), exact_angle(turn)))
    return Transform(rotation, Vec3(*placement.position))


def mass_centre(body: Body) -> Transform:
    """The inertial frame of a body in its reference frame; symbols when it is not given."""
    if body.iframe is not None:
        return transform_of(body.iframe)
    if body.solids and body.mass is None:
        inertia = body_inertia(body)
        return Transform(Rotation(), inertia.moment * (1 / inertia.mass))
    if body.mass is not None and body.mass.is_zero:
        return Transform(Rotation(), NULL)
    # What is not given becomes a symbol, so that equations can be written before anything is known.
    names = [symbol(f"{body.name}.centre.{axis}", "m", f"mass centre of {body.name}") for axis in "xyz"]
    return Transform(Rotation(), Vec3(*names))


def body_inertia(body: Body) -> Inertia:
    """Mass, first moment and inertia matrix of a body at its reference frame."""
    return sum_of(formula(*given) for formula, given in inertia_parts(body))


def sum_of(parts: Iterable[Inertia]) -> Inertia:
    return reduce(add, parts, NO_INERTIA)


def inertia_parts(body: Body) -> list[tuple[Callable[..., Inertia], tuple[Any, ...]]]:
    """The inertias that add up to a body's, each as a formula, generic in the scalar, and what it is a formula of."""
    # Formulas with their arguments rather than values: regrouping takes the same formulas again in 60 digits.
    parts: list[tuple[Callable[..., Inertia], tuple[Any, ...]]] = [
        (_solid, (solid.total_mass, solid.moments.gyration, solid.moments.centre_z, transform_of(solid.placement)))
        for solid in body.solids
    ]
    if body.solids and body.mass is None and body.inertia is None:
        return parts
    # A mass or inertia given beside solids is one part more.
    mass = body.mass if body.mass is not None else symbol(f"{body.name}.mass", "kg", f"mass of {body.name}")
    centre = mass_centre(body) if not (body.solids and body.iframe is None) else Transform(Rotation(), NULL)
    matrix = Symmetric3(*(_inertia_symbols(body) if body.inertia is None else body.inertia.components))
    # An inertia that nobody gives is a symbol about the mass centre, where it is what tables and people mean.
    about = "iframe" if body.inertia is None else body.inertia.about
    if isinstance(about, Placement):
        return [*parts, (_about_point, (mass, centre.position, matrix, transform_of(about)))]
    return [*parts, (_about_centre if about == "iframe" else _about_origin, (mass, centre, matrix))]


def _about_centre(mass: Scalar, centre: Transform, matrix: Symmetric3) -> Inertia:
    return inertia_at(mass, centre.position, centre.rotation.tensor_to_parent(matrix))


def _about_origin(mass: Scalar, centre: Transform, matrix: Symmetric3) -> Inertia:
    return Inertia(mass, centre.position * mass, matrix)


def _about_point(mass: Scalar, centre: Vec3, matrix: Symmetric3, about_frame: Transform) -> Inertia:
    """Inertia given about any point and axes: the first moment there follows from the mass centre."""
    # An Inertia refers to the origin of its frame; so the frame of the matrix is taken first, the body's after.
    local = about_frame.rotation.to_child(centre - about_frame.position)
    return about_frame.inertia_to_parent(Inertia(mass, local * mass, matrix))


def _solid(mass: Scalar, gyration: tuple[Scalar, ...], centre_z: Scalar, place: Transform) -> Inertia:
    """A homogeneous solid's inertia at the body's reference frame."""
    xx, yy, zz = (mass * square for square in gyration)
    local = inertia_at(mass, Vec3(0, 0, centre_z), Symmetric3(xx, yy, zz, 0, 0, 0))
    return place.inertia_to_parent(local)


def _inertia_symbols(body: Body) -> list[Expr]:
    meaning = f"inertia of {body.name} at its mass centre"
    return [symbol(f"{body.name}.I{c}", "kg*m^2", meaning) for c in INERTIA_COMPONENTS]
