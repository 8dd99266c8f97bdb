"""Bodies: mass, mass centre and inertia, given directly or by homogeneous solids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from torseur.algebra.graph import ExprLike, as_expr, symbol
from torseur.algebra.graph.expr import Expr
from torseur.description.mechanism.frames import Frame, Placement, Turn, placement
from torseur.description.mechanism.solids import Solid
from torseur.errors import MechanismError

INERTIA_COMPONENTS = ("xx", "yy", "zz", "xy", "xz", "yz")


@dataclass(frozen=True)
class InertiaMatrix:
    """Components (xx, yy, zz, xy, xz, yz) of an inertia matrix, with the point and axes they refer to.

    Off-diagonal components are entries of the matrix (minus the products of inertia ∫xy dm). `about` is
    "iframe" (mass centre, axes of the body's inertial frame), "frame" (body origin and axes) or a placement
    from the body's frame.
    """

    components: tuple[Expr, ...]
    about: str | Placement = "iframe"

    def __post_init__(self) -> None:
        if len(self.components) != 6:
            raise MechanismError(f"an inertia has six components {INERTIA_COMPONENTS}, got {len(self.components)}.")
        if isinstance(self.about, str) and self.about not in ("frame", "iframe"):
            raise MechanismError(f"an inertia is about 'frame', 'iframe' or a placement, not '{self.about}'.")


def inertia(
    xx: ExprLike,
    yy: ExprLike,
    zz: ExprLike,
    xy: ExprLike = 0,
    xz: ExprLike = 0,
    yz: ExprLike = 0,
    about: str | Placement = "iframe",
) -> InertiaMatrix:
    """An inertia matrix (kg m²) about the mass centre unless said otherwise.

    xx, yy, zz are its diagonal; xy, xz, yz the entries beside it, -∫ x y dm and so on. `about` is "iframe" (the mass
    centre), "frame" (the body's origin) or a placement.
    """
    return InertiaMatrix(tuple(as_expr(c) for c in (xx, yy, zz, xy, xz, yz)), about)


@dataclass(frozen=True)
class Body:
    """A rigid body. What is None is a symbol named after the body (`arm.mass`), unless solids give it.

    `iframe` places the mass centre (and the axes in which an inertia "about iframe" is given). Solids add up, and
    add to a mass given beside them. A mass below zero is refused unless `negative` says that it is meant: a hole in
    the body it is fixed to.
    """

    name: str
    mass: Expr | None = None
    iframe: Placement | None = None
    inertia: InertiaMatrix | None = None
    solids: tuple[Solid, ...] = ()
    meaning: str = ""
    negative: bool = False

    @property
    def frame(self) -> Frame:
        """The reference frame."""
        return Frame(self.name)

    @property
    def centre_frame(self) -> Frame:
        """The inertial frame: origin at the mass centre."""
        return Frame(self.name, base="iframe")

    def at(self, position: Sequence[Any], *rotation: Turn) -> Frame:
        """A frame fixed in the body."""
        return Frame(self.name, placement(position, *rotation))


def frame_of(place: Frame | Body, where: str) -> Frame:
    """The frame itself, or a body's reference frame."""
    if isinstance(place, Body):
        return place.frame
    if isinstance(place, Frame):
        return place
    raise MechanismError(f"{where}: expected a body, a frame of one (body.at(...)) or EARTH, got {place!r}.")


def implied_symbols(body: str) -> dict[str, Expr]:
    """The symbols that stand for what is not given about a body, by name: mass, centre, inertia at the centre."""
    centre = {f"{body}.centre.{axis}": ("m", f"mass centre of {body}") for axis in "xyz"}
    moments = {f"{body}.I{c}": ("kg*m^2", f"inertia of {body} at its mass centre") for c in INERTIA_COMPONENTS}
    named = {f"{body}.mass": ("kg", f"mass of {body}")} | centre | moments
    return {name: symbol(name, unit, meaning) for name, (unit, meaning) in named.items()}


def open_symbols(body: Body) -> dict[str, Expr]:
    """The symbols that stand for what this body leaves open, by name."""
    solids = bool(body.solids) and body.mass is None and body.inertia is None
    massless = body.mass is not None and body.mass.is_zero
    is_open = {
        "mass": body.mass is None and not solids,
        "centre": body.iframe is None and not body.solids and not massless,
        "I": body.inertia is None and not solids,
    }
    symbols = implied_symbols(body.name).items()
    return {name: s for name, s in symbols if is_open[_property_of(name.removeprefix(f"{body.name}."))]}


def _property_of(what: str) -> str:
    return what if what == "mass" else "I" if what.startswith("I") else "centre"


def body(
    name: str,
    *,
    mass: ExprLike | None = None,
    centre: Sequence[Any] | None = None,
    axes: Sequence[Turn] = (),
    inertia: InertiaMatrix | ExprLike | None = None,
    solids: Sequence[Solid] = (),
    meaning: str = "",
    negative: bool = False,
) -> Body:
    """A body from its mass (kg), mass centre (m) and inertia (kg m²; a number 0 means none).

    `axes` turns the inertial frame with respect to the body's frame. `solids` (see `solid`) bring mass, centre and
    inertia of their own. What is given by neither is a symbol named after the body: arm.mass, arm.centre.x, arm.Ixx.
    The `meaning` goes into tables. A mass below zero must be said to be `negative`.
    """
    iframe = None if centre is None and not axes else placement((0, 0, 0) if centre is None else centre, *axes)
    matrix = inertia if isinstance(inertia, InertiaMatrix) or inertia is None else _none(name, inertia)
    return Body(name, None if mass is None else as_expr(mass), iframe, matrix, tuple(solids), meaning, negative)


def _none(name: str, value: ExprLike) -> InertiaMatrix:
    zero = as_expr(0)
    if not isinstance(value, int | float | Fraction | Expr) or not as_expr(value).is_zero:
        raise MechanismError(f"inertia of body '{name}': give a matrix, e.g. inertia(Ixx, Iyy, Izz), or 0 for none.")
    return InertiaMatrix((zero,) * 6)
