"""Joints: sequences of elementary motions, and the catalogue of presets made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from torseur.algebra.graph import ExprLike, as_expr, symbols_of
from torseur.algebra.graph.expr import Expr
from torseur.algebra.spatial import Rotation, Vec3, about
from torseur.description.mechanism.bodies import Body, frame_of
from torseur.description.mechanism.frames import Frame
from torseur.description.mechanism.quantities import ORIGIN, TIME, Coordinate, Vector, as_vector
from torseur.errors import MechanismError, counted, unknown_name

X: Vector = as_vector((1, 0, 0), "x")
Y: Vector = as_vector((0, 1, 0), "y")
Z: Vector = as_vector((0, 0, 1), "z")
_AXES = {"x": X, "y": Y, "z": Z}


@dataclass(frozen=True)
class ElementaryMotion:
    """One step from the parent frame to the child frame.

    kind "rotation": turn by `amount` (rad) about `axis`; "translation": move by `amount` (m) along `axis`. The amount
    is an expression of the joint's coordinates, time and parameters. kind "quaternion": a free rotation whose
    four coordinates (scalar first) form a unit quaternion; its speeds are the angular velocity in the turned frame.
    """

    kind: str
    axis: Vector
    amount: Expr


@dataclass(frozen=True)
class Speed:
    """A quasi-velocity of a joint: a name for `value`, a combination of rates with coefficients of coordinates."""

    name: str
    value: Expr
    unit: str = "rad/s"


@dataclass(frozen=True)
class Joint:
    """A joint between a frame of one body (parent side) and a frame of another (child side).

    `kind` names the preset, `coordinates` the joint's own coordinates, `motions` the elementary motions from parent
    to child. `speeds` are quasi-velocities replacing the rates, one per degree of freedom, or empty. `frame_speeds`
    "body" makes the speeds of a free joint the child's velocity and rotation in its own axes. `role` may force "tree"
    or "loop"; `within` (m) is by how much the loop it closes may stay open.
    """

    name: str
    parent: Frame
    child: Frame
    kind: str
    coordinates: tuple[Coordinate, ...]
    motions: tuple[ElementaryMotion, ...]
    speeds: tuple[Speed, ...] = ()
    frame_speeds: str = ""
    role: str = ""
    within: Expr | None = None

    def __post_init__(self) -> None:
        count = f"{counted(self.freedoms, 'degree')} of freedom"
        if self.speeds and len(self.speeds) != self.freedoms:
            raise MechanismError(f"joint '{self.name}' has {count} but {counted(len(self.speeds), 'speed')}.")
        if self.frame_speeds and self.freedoms != 6:
            raise MechanismError(
                f"joint '{self.name}': speeds in the axes of a body are six, but the joint has {count}. "
                "Name its speeds: speeds u = ..."
            )

    @property
    def freedoms(self) -> int:
        """How many speeds it has: one per coordinate, three for the four of a quaternion."""
        return len(self.coordinates) - sum(motion.kind == "quaternion" for motion in self.motions)

    def coordinate(self, name: str) -> Coordinate:
        """Its coordinate of a name."""
        known = {c.name: c for c in self.coordinates}
        if not isinstance(name, str) or name not in known:
            raise MechanismError(unknown_name("coordinate", str(name), known, f"joint '{self.name}': "))
        return known[name]


Side = Frame | Body
Named = str | Coordinate


def rotation(axis: Sequence[Any], amount: ExprLike) -> ElementaryMotion:
    """A turn by an amount about an axis."""
    return ElementaryMotion("rotation", as_vector(axis, "rotation axis"), as_expr(amount))


def translation(axis: Sequence[Any], amount: ExprLike) -> ElementaryMotion:
    """A move by an amount along an axis."""
    return ElementaryMotion("translation", as_vector(axis, "translation axis"), as_expr(amount))


def sequence(
    name: str,
    parent: Side,
    child: Side,
    coordinates: Sequence[Coordinate],
    motions: Sequence[ElementaryMotion],
    *,
    kind: str = "link",
    speeds: Sequence[Speed] = (),
    frame_speeds: str = "",
) -> Joint:
    """The general joint: any sequence of elementary motions of any number of coordinates.

    The position of the parent's frame may depend on the joint's coordinates and on time: it becomes its first motions.
    """
    first, second = (frame_of(side, f"joint '{name}'") for side in (parent, child))
    carried = _motions_of_origin(first, coordinates)
    if carried:
        # The rotation stays with the frame: components "in the parent's joint frame" keep their axes.
        first, kind = replace(first, placement=replace(first.placement, position=ORIGIN)), "link"
    return Joint(name, first, second, kind, tuple(coordinates), (*carried, *motions), tuple(speeds), frame_speeds)


def _motions_of_origin(frame: Frame, coordinates: Sequence[Coordinate]) -> tuple[ElementaryMotion, ...]:
    """The position of a frame as translations, where it moves with time or the given coordinates; none elsewhere.

    At p and turned by R is the same as turned first, then moved along Rᵀ x, Rᵀ y, Rᵀ z by the components of p.
    """
    position, turns = frame.placement.position, frame.placement.rotation
    if not {TIME, *(q.symbol for q in coordinates)} & set(symbols_of(position)):
        return ()
    rotation = Rotation()
    for turn in turns:
        rotation = rotation.then(about(Vec3(*turn.axis), turn.angle))
    axes = [list(rotation.to_child(Vec3(*axis))) for axis in _AXES.values()]
    return tuple(translation(axis, c) for axis, c in zip(axes, position, strict=True) if not c.is_zero)


def _coordinate(given: Named, unit: str) -> Coordinate:
    return given if isinstance(given, Coordinate) else Coordinate(given, unit)


def fixed(name: str, parent: Side, child: Side) -> Joint:
    """Holds two bodies together: the child's frame coincides with the parent's.

    fixed("weld", arm.at((0, 0, 1)), tool). A side is a body, meaning its reference frame, or a frame fixed in it; EARTH
    is the ground.
    """
    return sequence(name, parent, child, (), (), kind="fixed")


def revolute(name: str, parent: Side, child: Side, coordinate: Named, axis: Sequence[Any] = Z) -> Joint:
    """One rotation by a coordinate (rad) about an axis fixed in both frames, z unless said otherwise.

    revolute("elbow", arm.at((0, -0.5, 0)), hand, "q", axis=(0, 0, 1)). A side is a body, meaning its reference frame,
    or a frame fixed in it; EARTH is the ground. The coordinate is a name, or a Coordinate that has a meaning too.
    """
    q = _coordinate(coordinate, "rad")
    return sequence(name, parent, child, (q,), (rotation(axis, q.symbol),), kind="revolute")


def prismatic(name: str, parent: Side, child: Side, coordinate: Named, axis: Sequence[Any] = X) -> Joint:
    """One translation by a coordinate (m) along an axis fixed in both frames, x unless said otherwise.

    prismatic("rail", EARTH, cart, "x", axis=(1, 0, 0)). Sides and coordinate are as of `revolute`.
    """
    q = _coordinate(coordinate, "m")
    return sequence(name, parent, child, (q,), (translation(axis, q.symbol),), kind="prismatic")


def helical(name: str, parent: Side, child: Side, coordinate: Named, pitch: ExprLike, axis: Sequence[Any] = Z) -> Joint:
    """A screw: rotation by a coordinate q (rad) about the axis, advance pitch * q (pitch in m/rad); see `revolute`."""
    q = _coordinate(coordinate, "rad")
    motions = (rotation(axis, q.symbol), translation(axis, as_expr(pitch) * q.symbol))
    return sequence(name, parent, child, (q,), motions, kind="helical")


def cylindrical(name: str, parent: Side, child: Side, angle: Named, advance: Named, axis: Sequence[Any] = Z) -> Joint:
    """Rotation by `angle` (rad) about and translation by `advance` (m) along one axis; see `revolute`."""
    a, d = _coordinate(angle, "rad"), _coordinate(advance, "m")
    return sequence(
        name, parent, child, (a, d), (rotation(axis, a.symbol), translation(axis, d.symbol)), kind="cylindrical"
    )


def universal(
    name: str,
    parent: Side,
    child: Side,
    first: Named,
    second: Named,
    first_axis: Sequence[Any] = X,
    second_axis: Sequence[Any] = Y,
) -> Joint:
    """Two rotations (rad): `first` about first_axis, `second` about second_axis, carried along; see `revolute`."""
    a, b = _coordinate(first, "rad"), _coordinate(second, "rad")
    motions = (rotation(first_axis, a.symbol), rotation(second_axis, b.symbol))
    return sequence(name, parent, child, (a, b), motions, kind="universal")


def spherical(name: str, parent: Side, child: Side, *coordinates: Named, angles: str = "zxz") -> Joint:
    """Free rotation: three angles in any sequence ("zxz" Euler, "xyz" Bryant, ...), or "quaternion" (scalar first).

    spherical("hip", EARTH, leg, "a", "b", "c", angles="xyz"): the names of the coordinates follow the sides.
    """
    coords, motions = _free_rotation(name, coordinates, angles)
    kind = "spherical" if angles != "quaternion" else "spherical_quaternion"
    return sequence(name, parent, child, coords, motions, kind=kind)


def planar(name: str, parent: Side, child: Side, x: Named, y: Named, angle: Named) -> Joint:
    """Motion in the plane of the parent frame's axes: x and y (m), then a turn by `angle` (rad) about z."""
    cx, cy, ca = _coordinate(x, "m"), _coordinate(y, "m"), _coordinate(angle, "rad")
    motions = (translation(X, cx.symbol), translation(Y, cy.symbol), rotation(Z, ca.symbol))
    return sequence(name, parent, child, (cx, cy, ca), motions, kind="planar")


def free(name: str, parent: Side, child: Side, *coordinates: Named, angles: str = "zxz", speeds: str = "") -> Joint:
    """Six freedoms: three translations, then a rotation in any angles or as a quaternion.

    free("flight", EARTH, drone, "x", "y", "z", "e0", "e1", "e2", "e3", angles="quaternion")

    speeds="body": the speeds are the child's origin velocity and angular velocity in its own axes.
    """
    if len(coordinates) < 3:
        raise MechanismError(f"joint '{name}': a free joint needs 3 translations and 3 angles (4 for a quaternion).")
    shifts = tuple(_coordinate(c, "m") for c in coordinates[:3])
    turns, rotations = _free_rotation(name, coordinates[3:], angles)
    moves = tuple(translation(axis, c.symbol) for axis, c in zip((X, Y, Z), shifts, strict=True))
    kind = "free" if angles != "quaternion" else "free_quaternion"
    return sequence(name, parent, child, shifts + turns, moves + rotations, kind=kind, frame_speeds=speeds)


def _free_rotation(
    joint: str, names: Sequence[Named], angles: str
) -> tuple[tuple[Coordinate, ...], tuple[ElementaryMotion, ...]]:
    if angles == "quaternion":
        if len(names) != 4:
            raise MechanismError(f"joint '{joint}': a quaternion has four coordinates, got {len(names)}.")
        return tuple(_coordinate(n, "1") for n in names), (ElementaryMotion("quaternion", Z, as_expr(1)),)
    order = {"euler": "zxz", "bryant": "xyz"}.get(angles, angles)
    if len(order) != 3 or any(letter not in _AXES for letter in order) or order[0] == order[1] or order[1] == order[2]:
        raise MechanismError(
            f"joint '{joint}': angles '{angles}' must be three of x, y, z without repeating a "
            "neighbour (such as 'zxz'), 'euler', 'bryant' or 'quaternion'."
        )
    if len(names) != 3:
        raise MechanismError(f"joint '{joint}': angles '{angles}' need three coordinates, got {len(names)}.")
    coords = tuple(_coordinate(n, "rad") for n in names)
    return coords, tuple(rotation(_AXES[a], c.symbol) for a, c in zip(order, coords, strict=True))


def denavit_hartenberg(
    name: str,
    parent: Body | Frame,
    child: Side,
    coordinate: Named,
    *,
    a: ExprLike = 0,
    alpha: ExprLike = 0,
    r: ExprLike = 0,
    theta: ExprLike = 0,
    prismatic: bool = False,
) -> Joint:
    """A joint given by modified Denavit-Hartenberg (Khalil-Kleinfinger) parameters a_{i-1}, alpha_{i-1}, r_i, theta_i.

    The child's frame is obtained by Trans(x, a) Rot(x, alpha) Trans(z, r) Rot(z, theta), the coordinate
    being added to theta (revolute) or to r (prismatic).
    """
    from torseur.description.mechanism.frames import turn

    base = frame_of(parent, f"joint '{name}'")
    if not base.placement.is_identity:
        raise MechanismError(f"joint '{name}': Denavit-Hartenberg parameters start from a body's own frame.")
    placed = base.at((a, 0, 0), turn(alpha, X))
    q = _coordinate(coordinate, "m" if prismatic else "rad")
    shift = as_expr(r) + q.symbol if prismatic else as_expr(r)
    angle = as_expr(theta) if prismatic else as_expr(theta) + q.symbol
    motions = [m for m in (translation(Z, shift), rotation(Z, angle)) if not m.amount.is_zero]
    return sequence(name, placed, child, (q,), motions, kind="link")
