"""Parts: mechanisms, or pieces of one, that other mechanisms use under names of their own.

A part is a mechanism. Its earth is where it is mounted; bodies that it does not have itself are its attachments.
Why so: docs/decisions/0095-parts-are-mechanisms.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, ExprLike, as_expr
from torseur.algebra.graph import scalar as s
from torseur.description.mechanism.bodies import Body, body, frame_of
from torseur.description.mechanism.frames import EARTH, EARTH_NAME, Frame, Placement, Sensor, Turn
from torseur.description.mechanism.joints import Joint, fixed
from torseur.description.mechanism.mechanism import Mechanism, require_mechanism
from torseur.description.mechanism.quantities import Parameter, Vector, as_vector
from torseur.description.mechanism.transformations.instancing import Content, Mounting, instance_content
from torseur.description.mechanism.transformations.reflection import component_signs, reflect, reflect_placement
from torseur.errors import MechanismError, unknown_name


@dataclass(frozen=True)
class Part:
    """A mechanism to be used in others, and the names of the bodies in it that stand for bodies of those.

    See `attachment` for how such a body comes into the mechanism.
    """

    mechanism: Mechanism
    attachments: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_mechanism(self.mechanism)
        object.__setattr__(self, "attachments", tuple(self.attachments))
        for name in self.attachments:
            self.mechanism.body(name)

    @property
    def name(self) -> str:
        return self.mechanism.name

    @property
    def holding_joints(self) -> tuple[str, ...]:
        """The joints that hold the attachments while the part stands alone."""
        return tuple(held_by(name) for name in self.attachments)


def held_by(attachment: str) -> str:
    """The name of the joint that holds an attachment."""
    return f"{attachment}.attachment"


def attachment(name: str) -> tuple[Body, Joint]:
    """A body that a part does not have itself, without mass, and the joint that holds it while the part stands alone.

    chassis, held = attachment("chassis"); Part(Mechanism("corner", bodies=[chassis, ...], joints=[held, ...]),
    ["chassis"])
    """
    stand_in = body(name, mass=0, centre=(0, 0, 0), inertia=0)
    return stand_in, fixed(held_by(name), EARTH, stand_in)


@dataclass(frozen=True)
class Instance:
    """A part in use: its name, the frames that it is fixed to, and the values given for its parameters.

    `mounts` maps "earth" and the attachments to frames of the mechanism that uses it. `across` is the axis (0, 1, 2)
    along which a mirrored one is reflected, within those frames. Values are those of the part before that.
    """

    name: str
    part: Part
    mounts: tuple[tuple[str, Frame], ...]
    values: tuple[tuple[str, Expr], ...] = ()
    across: int | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise MechanismError(f"an instance of part '{self.part.name}' has an empty name.")
        known = [p.name for p in self.part.mechanism.parameters]
        for name, _ in self.values:
            if name not in known:
                raise MechanismError(unknown_name("parameter", name, known, f"part '{self.part.name}': "))
        wanted = (EARTH_NAME, *self.part.attachments)
        for name, _ in self.mounts:
            if name not in wanted:
                raise MechanismError(unknown_name("attachment", name, wanted[1:], f"part '{self.part.name}': "))
        given = dict(self.mounts)
        for name in wanted:
            if name not in given:
                raise MechanismError(
                    f"part '{self.part.name}' is attached by '{name}': say to what, attach={{'{name}': ...}}."
                )

    @cached_property
    def content(self) -> Content:
        """What it brings into the mechanism that uses it."""
        mechanism, given = self.part.mechanism, dict(self.values)
        if self.across is not None:
            # Values belong to the part as it is described: reflected with it, where they are components.
            mechanism = reflect(mechanism, self.across)
            signs = component_signs(self.part.mechanism, self.across)
            given = {name: value if signs.get(name, 1) > 0 else -value for name, value in given.items()}
        return instance_content(mechanism, self.name, dict(self.mounts), self.part.holding_joints, given)

    def body(self, name: str) -> Body:
        """The body that has that name in the part."""
        return _named("body", f"{self.name}.{name}", self.content.bodies)

    def joint(self, name: str) -> Joint:
        """The joint that has that name in the part."""
        return _named("joint", f"{self.name}.{name}", self.content.joints)

    def parameter(self, name: str) -> Parameter:
        """The parameter that has that name in the part."""
        return _named("parameter", f"{self.name}.{name}", self.content.parameters)

    def sensor(self, name: str) -> Sensor:
        """The sensor that has that name in the part."""
        return _named("sensor", f"{self.name}.{name}", self.content.sensors)

    def frame(self, name: str) -> Frame:
        """The named frame of the part."""
        frames = dict(self.content.frames)
        if f"{self.name}.{name}" not in frames:
            raise MechanismError(unknown_name("frame", f"{self.name}.{name}", frames))
        return frames[f"{self.name}.{name}"]


def _named(kind: str, name: str, things: Iterable[Any]) -> Any:
    for thing in things:
        if thing.name == name:
            return thing
    raise MechanismError(unknown_name(kind, name, [thing.name for thing in things]))


def use(
    part: Part | Mechanism,
    name: str,
    *,
    at: Frame | Body = EARTH,
    attach: Mapping[str, Frame | Body] | None = None,
    across: Sequence[Any] | None = None,
    values: Mapping[str, ExprLike] | None = None,
) -> Instance:
    """An instance of a part, for Mechanism(..., parts=[...]); all its names stand behind its own: left.arm, left.q.

    use(corner, "front", at=chassis.at((1, 0, 0)), attach={"rack": rack}, values={"k": 20e3}). `at` is the frame that is
    the part's earth, `attach` gives its attachments, `values` replace those of its parameters and may be formulas of
    the mechanism's own. `across` makes it the mirror image of the part in the plane with that normal, in its earth.
    """
    whole = part if isinstance(part, Part) else Part(part)
    mounts = {EARTH_NAME: at, **(attach or {})}
    frames = {key: frame_of(frame, f"instance '{name}'") for key, frame in mounts.items()}
    given = tuple((key, as_expr(value)) for key, value in (values or {}).items())
    if across is None:
        return Instance(name, whole, tuple(frames.items()), given)
    axis, turn = mirror_plane(as_vector(across, "normal of a mirror"))
    turned = {key: replace(f, placement=replace(f.placement, rotation=(*f.placement.rotation, *turn))) for key, f in
              frames.items()}  # fmt: skip
    return Instance(name, whole, tuple(turned.items()), given, axis)


def mirror(
    instance: Instance,
    name: str,
    across: Sequence[Any],
    *,
    attach: Mapping[str, Frame | Body] | None = None,
    values: Mapping[str, ExprLike] | None = None,
) -> Instance:
    """The mirror image of an instance in planes with that normal through the origins of the bodies that it is fixed to.

    Equal coordinates of the two are symmetric motions. `attach` and `values` say what is different in the image.
    """
    if instance.across is not None:
        raise MechanismError(f"'{instance.name}' is a mirror image itself: mirror what it is the image of.")
    axis, turn = mirror_plane(as_vector(across, "normal of a mirror"))
    frames = {key: _image(frame, axis, turn) for key, frame in instance.mounts}
    frames |= {key: frame_of(frame, f"instance '{name}'") for key, frame in (attach or {}).items()}
    given = dict(instance.values) | {key: as_expr(value) for key, value in (values or {}).items()}
    return Instance(name, instance.part, tuple(frames.items()), tuple(given.items()), axis)


def _image(frame: Frame, axis: int, turn: tuple[Turn, ...]) -> Frame:
    """The image (R p, R Q S) of a frame (p, Q) of a body in a plane through the body's origin.

    R = T S, of the reflection S along an axis and a turn T: the image is T applied to that by S alone.
    """
    if frame.base != "frame":
        raise MechanismError(
            f"a mirror stands at the origin of body '{frame.body}': place what is mirrored from its frame, not "
            "from its iframe."
        )
    reflected = replace(frame, placement=reflect_placement(frame.placement, axis))
    return Mounting("", {frame.body: Frame(frame.body, Placement(rotation=turn))}).frame(reflected)


def mirror_plane(normal: Vector) -> tuple[int, tuple[Turn, ...]]:
    """(axis, turn): a reflection across the normal is one along that axis, then the turn.

    Reflections in two planes make a turn by twice the angle between them about their common line, so that the turn from
    the axis e to the normal n is one by 2 acos(e·n) about e x n.
    """
    if not all(c.is_constant for c in normal) or all(c.is_zero for c in normal):
        raise MechanismError("the normal of a mirror is three numbers, not all zero.")
    sizes = [abs(float(c)) for c in normal]
    axis = sizes.index(max(sizes))
    others = [k for k in range(3) if k != axis]
    if all(normal[k].is_zero for k in others):
        return axis, ()
    along = [as_expr(int(k == axis)) for k in range(3)]
    n = normal if float(normal[axis]) > 0 else tuple(-c for c in normal)
    cross = (along[1] * n[2] - along[2] * n[1], along[2] * n[0] - along[0] * n[2], along[0] * n[1] - along[1] * n[0])
    beside = s.sqrt(sum((n[k] * n[k] for k in others), as_expr(0)))
    return axis, (Turn(2 * s.atan2(beside, n[axis]), cross),)
