"""Homogeneous solids: their volume, mass centre and inertia in closed form.

Each solid lies in its own frame: box, sphere and shell centred at the origin; cylinder, cone and rod along
their z axis (cylinder centred, cone and rod starting at the origin).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torseur.algebra.graph import PI, ExprLike, as_expr
from torseur.algebra.graph import scalar as s
from torseur.algebra.graph.expr import Expr
from torseur.description.mechanism.frames import HERE, Placement, placement, turn
from torseur.errors import MechanismError, unknown_name

Dimensions = dict[str, Expr]


@dataclass(frozen=True)
class Moments:
    """Volume, distance of the mass centre along z, and principal moments per unit mass about the mass centre."""

    volume: Expr
    centre_z: Expr
    gyration: tuple[Expr, Expr, Expr]


@dataclass(frozen=True)
class Solid:
    """A homogeneous solid with a density (kg/m³) or a mass (kg), placed in the body's frame.

    `dimensions` are (name, metres) pairs in the order of SHAPES.
    """

    shape: str
    dimensions: tuple[tuple[str, Expr], ...]
    density: Expr | None = None
    mass: Expr | None = None
    placement: Placement = HERE

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            raise MechanismError(unknown_name("solid", self.shape, SHAPES))
        wanted, given = SHAPES[self.shape][0], tuple(name for name, _ in self.dimensions)
        if sorted(given) != sorted(wanted):
            raise MechanismError(f"a {self.shape} needs {', '.join(wanted)}; got {', '.join(given) or 'nothing'}.")
        if (self.density is None) == (self.mass is None):
            raise MechanismError(f"a {self.shape} needs either a density or a mass.")

    @property
    def moments(self) -> Moments:
        return SHAPES[self.shape][1](dict(self.dimensions))

    @property
    def total_mass(self) -> Expr:
        return self.mass if self.mass is not None else self.density * self.moments.volume  # type: ignore[operator]


def solid(
    shape: str,
    *,
    density: ExprLike | None = None,
    mass: ExprLike | None = None,
    placement: Placement = HERE,
    **dimensions: ExprLike,
) -> Solid:
    """A homogeneous solid, e.g. solid("box", x=1, y=0.2, z=0.1, density=2700)."""
    order = SHAPES[shape][0] if shape in SHAPES else tuple(dimensions)
    pairs = tuple((name, as_expr(dimensions[name])) for name in order if name in dimensions)
    extra = tuple((name, as_expr(value)) for name, value in dimensions.items() if name not in order)
    given = (None if density is None else as_expr(density), None if mass is None else as_expr(mass))
    return Solid(shape, pairs + extra, *given, placement)


def _box(d: Dimensions) -> Moments:
    """Edges x, y, z; centred."""
    x, y, z = d["x"], d["y"], d["z"]
    gyration = ((y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12)
    return Moments(x * y * z, as_expr(0), gyration)


def _cylinder(d: Dimensions) -> Moments:
    """Radius and length along z; centred."""
    r, h = d["radius"], d["length"]
    across = r * r / 4 + h * h / 12
    return Moments(PI * r * r * h, as_expr(0), (across, across, r * r / 2))


def _sphere(d: Dimensions) -> Moments:
    """Full ball; centred."""
    r = d["radius"]
    moment = 2 * r * r / 5
    return Moments(4 * PI * r * r * r / 3, as_expr(0), (moment, moment, moment))


def _cone(d: Dimensions) -> Moments:
    """Base disc of the radius in z = 0, apex at z = length."""
    r, h = d["radius"], d["length"]
    # About the mass centre, a quarter of the height above the base.
    across = 3 * r * r / 20 + 3 * h * h / 80
    return Moments(PI * r * r * h / 3, h / 4, (across, across, 3 * r * r / 10))


def _rod(d: Dimensions) -> Moments:
    """Thin rod along z from the origin; its density is per metre."""
    h = d["length"]
    return Moments(h, h / 2, (h * h / 12, h * h / 12, as_expr(0)))


def _shell(d: Dimensions) -> Moments:
    """Thin spherical shell; centred; its density is per square metre."""
    r = d["radius"]
    moment = 2 * r * r / 3
    return Moments(4 * PI * r * r, as_expr(0), (moment, moment, moment))


SHAPES: dict[str, tuple[tuple[str, ...], Callable[[Dimensions], Moments]]] = {
    "box": (("x", "y", "z"), _box),
    "cylinder": (("radius", "length"), _cylinder),
    "sphere": (("radius",), _sphere),
    "cone": (("radius", "length"), _cone),
    "rod": (("length",), _rod),
    "shell": (("radius",), _shell),
}


def along(axis: Sequence[Any]) -> Placement:
    """The placement that lays a solid's z axis along a coordinate direction or any given vector."""
    x, y, z = (as_expr(component) for component in axis)
    if x.is_zero and y.is_zero:
        return HERE if not z.is_constant or z.value > 0 else placement((0, 0, 0), turn(PI, (1, 0, 0)))
    angle = PI / 2 if z.is_zero else s.atan2(s.sqrt(x * x + y * y), z)
    return placement((0, 0, 0), turn(angle, (-y, x, 0)))
