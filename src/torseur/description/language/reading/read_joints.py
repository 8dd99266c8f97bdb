"""Joints: `join A and B as elbow with revolute(q) about [0, 0, 1] end`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from torseur.algebra.graph import as_expr
from torseur.description.language.default_names import joint_name, qualified_coordinates
from torseur.description.language.formulas.dimensions import LENGTH, NUMBER, RATE, Dim, dimension_of
from torseur.description.language.formulas.name_scope import Context, Deferred, JointNames, Known, Placed
from torseur.description.language.reading.clauses import Items
from torseur.description.language.reading.joint_kinds import COORDINATE_UNITS, JOINT_KINDS, Reading
from torseur.description.language.reading.joint_loads import OPTIONS, joint_loads
from torseur.description.language.reading.read_contacts import FRICTION, STICKING, joint_contacts
from torseur.description.language.reading.reading_context import Workshop
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.mechanism import EARTH_NAME, Coordinate, Joint, Load, Speed, Switching, body_speeds

SPEED_UNITS = {"velocity": dimension_of("m/s"), "rotation": RATE}


@dataclass
class JointReading:
    """A joint while it is read: its statement, names, sides, coordinates and the speeds' expressions."""

    statement: x.JointIs
    name: str
    qualifier: str
    parent: x.Expression
    child: x.Expression
    coordinates: tuple[Callable[[], Coordinate], ...] = ()
    context: Context = field(default_factory=lambda: Context(""))
    items: tuple[x.Item, ...] = ()
    speed_groups: tuple[x.SpeedGroup, ...] = ()
    body_speeds: x.Reference | None = None
    speeds: Callable[[], tuple[Speed, ...]] = tuple
    complete: bool = True


def declare_joints(statements: Sequence[x.JointIs], shop: Workshop) -> list[JointReading]:
    """Names every joint and its coordinates, and makes them known to formulas."""
    names = shop.statement_names("joint", statements, lambda s: joint_name(*(body for _, body in _sides(s, shop))))
    joints = [_joint_reading(s, name, shop) for s, name in zip(statements, names, strict=True)]
    written = [[c.name.text for c in joint.statement.coordinates] for joint in joints]
    full = qualified_coordinates([(j.qualifier, w) for j, w in zip(joints, written, strict=True)])
    for joint, names_of_joint in zip(joints, full, strict=True):
        _declare_coordinates(joint, names_of_joint, shop)
        _split_items(joint, shop)
        _declare_speeds(joint, shop)
    return joints


def _sides(statement: x.JointIs, shop: Workshop) -> list[tuple[x.Expression, str]]:
    """The frames of parent and child, each with its body."""
    sides = [(side, shop.places.owner(side)) for side in (statement.first, statement.second)]
    # The earth is the parent wherever it stands, unless `to` says which way the joint is meant.
    return sides[::-1] if sides[1][1] == EARTH_NAME and not statement.ordered else sides


def _joint_reading(statement: x.JointIs, name: str, shop: Workshop) -> JointReading:
    (parent, _), (child, child_body) = _sides(statement, shop)
    # Coordinates that several joints have are put behind the joint's own name, or the name of the body it moves.
    return JointReading(statement, name, name if statement.name is not None else child_body, parent, child)


def _declare_coordinates(joint: JointReading, full: list[str], shop: Workshop) -> None:
    written = [c.name.text for c in joint.statement.coordinates]
    local: dict[str, Known] = {}
    builders = []
    for declared, name, unit in zip(joint.statement.coordinates, full, _units(joint, shop), strict=True):
        if written.count(declared.name.text) > 1:
            shop.scope.fault(declared, f"coordinate '{declared.name.text}' appears twice in this joint.")
        dimension = shop.scope.dimensions.unknown() if unit is None else dimension_of(unit)
        build = _coordinate(name, unit, declared.meaning, dimension, shop)
        known = _coordinate_quantity(build, dimension)
        if shop.define(replace(declared.name, text=name), "coordinate", shop.scope.quantities):
            shop.scope.quantities[name] = known
        local[declared.name.text] = known
        builders.append(build)
    joint.coordinates = tuple(builders)
    joint.context = Context(joint.qualifier, local)
    names = JointNames(joint.name, dict(zip(written, full, strict=True)))
    shop.scope.joints[joint.name] = names
    shop.scope.qualifiers.setdefault(joint.qualifier, names)
    shop.scope.names.taken.update(full)


def _coordinate_quantity(build: Callable[[], Coordinate], dimension: Dim) -> Known:
    rate = Known(dimension.times(RATE), lambda: build().rate)
    return Known(dimension, lambda: build().symbol, rate)


def _coordinate(name: str, unit: str | None, meaning: str, dimension: Dim, shop: Workshop) -> Callable[[], Coordinate]:
    def build() -> Coordinate:
        dimensions = shop.scope.dimensions
        # What turns is an angle; what nothing determines is a plain number.
        number = "rad" if dimensions.resolve(dimension).is_known else "1"
        return Coordinate(name, unit or dimensions.unit(dimension, number), meaning)

    return build


def _units(joint: JointReading, shop: Workshop) -> list[str | None]:
    """The unit of each coordinate: declared, that of the preset, or unknown until its use tells."""
    statement = joint.statement
    kind = statement.kind.text
    count = len(statement.coordinates)
    preset: Sequence[str | None] = [None] * count
    if kind in JOINT_KINDS and (units := COORDINATE_UNITS[kind]) is not None:
        wanted = units[1] if _is_quaternion(statement) and len(units) > 1 else units[0]
        if len(wanted) != count:
            plural = "" if len(wanted) == 1 else "s"
            way = " with angles quaternion" if wanted is not units[0] else ""
            shop.scope.fault(statement.kind, f"a {kind} joint{way} has {len(wanted)} coordinate{plural}, got {count}.")
            joint.complete = False
        preset = [*wanted, *([None] * count)][:count]
    declared = [None if c.unit is None else shop.formulas.unit(c.unit) for c in statement.coordinates]
    return [unit or default for unit, default in zip(declared, preset, strict=True)]


def _is_quaternion(statement: x.JointIs) -> bool:
    """Whether the joint turns by a quaternion: `angles quaternion`, or a dof of a link."""
    values = [item.value for item in statement.items if isinstance(item, (x.Clause, x.Property))]
    return any(isinstance(value, x.Reference) and value.name == "quaternion" for value in values)


def _split_items(joint: JointReading, shop: Workshop) -> None:
    """Tells the speeds of a joint from its other items, which may stand before and after them.

    After the word `speeds`, names and the formula that follows them are a group. A single name that the joint has as
    a property (damping, pitch, role) is that property.
    """
    kind = JOINT_KINDS.get(joint.statement.kind.text)
    own = {*(kind.properties if kind else ()), *OPTIONS, *FRICTION, "role"}
    items: list[x.Item] = []
    groups: list[x.SpeedGroup] = []
    names: list[x.Shape] = []
    follow: x.SpeedsFollow | None = None
    for item in joint.statement.items:
        if isinstance(item, x.SpeedsFollow):
            if follow is not None:
                shop.scope.fault(item, f"the speeds of joint '{joint.name}' are given twice.")
            follow = item
        elif follow is not None and isinstance(item, x.Shape) and item.name.text != STICKING:
            names.append(item)
        elif _is_speed(item, own, bool(names)) and follow is not None:
            groups.append(_group(item, names))  # type: ignore[arg-type]
            names = []
        else:
            items.append(item)
    # Names without a formula are left among the items, where they are refused.
    joint.items, joint.speed_groups = (*items, *names), tuple(groups)
    joint.body_speeds = None if follow is None else follow.body
    if follow is not None and not groups and not names and follow.body is None:
        shop.scope.fault(follow, "expected speeds: speeds u = q', or speeds vx, vy, vz = velocity in body.")
    if groups and joint.body_speeds is not None:
        shop.scope.fault(groups[0], "`speeds in` gives all six speeds: give these names instead, or no others.")


def _is_speed(item: x.Item, own: set[str], is_named: bool) -> bool:
    if not isinstance(item, x.Property) or item.of is not None or isinstance(item.value, x.Text):
        return False
    name = item.name.text
    return is_named or (name not in own and not ("dof" in own and name.rstrip("0123456789") == "dof"))


def _group(item: x.Property, names: Sequence[x.Shape]) -> x.SpeedGroup:
    assert isinstance(item.value, x.Expression)
    start = names[0].start if names else item.start
    return x.SpeedGroup(start, item.end, (*(n.name for n in names), item.name), item.value, item.within)


def _declare_speeds(joint: JointReading, shop: Workshop) -> None:
    for group in joint.speed_groups:
        for index, name in enumerate(group.names):
            if not shop.define(name, "speed", shop.scope.quantities):
                continue
            kind = group.value.name if isinstance(group.value, x.Reference) and group.within is not None else ""
            dimension = SPEED_UNITS.get(kind) or shop.scope.dimensions.unknown()
            shop.scope.quantities[name.text] = Known(dimension, _speed_value(joint, group, index, shop))
            shop.scope.names.taken.add(name.text)
            shop.speeds.append(name.text)


def implied_speed_units(joint: JointReading) -> dict[str, str]:
    """Speeds that replace rates without having been named, with their units."""
    if joint.speed_groups:
        return {}
    turning = {f"{joint.name}.w{axis}": "rad/s" for axis in "xyz"}
    if joint.body_speeds is not None:
        return {f"{joint.name}.v{axis}": "m/s" for axis in "xyz"} | turning
    return turning if _is_quaternion(joint.statement) else {}


def _speed_value(joint: JointReading, group: x.SpeedGroup, index: int, shop: Workshop) -> Deferred:
    name = group.names[index].text
    return Deferred(
        lambda: next((speed.value for speed in joint.speeds() if speed.name == name), as_expr(1)),
        lambda: shop.scope.fault(group, f"speed '{name}' is defined in terms of itself."),
    )


def read_joint(joint: JointReading, shop: Workshop) -> Callable[[], tuple[Joint, list[Load], list[Switching]]]:
    """The joint, the loads given as its options, its stops and friction, ready to build."""
    statement = joint.statement
    parent = shop.places.frame(joint.parent, joint.context.within("joint origin"))
    child = shop.places.frame(joint.child, joint.context.within("joint frame"))
    if parent.body == child.body:
        shop.scope.fault(statement, f"joint '{joint.name}' joins '{parent.body}' to itself.")
    items = Items(joint.items, shop.scope, f"joint '{joint.name}'")
    motion = _motion(joint, items, parent, child, shop)
    loads = joint_loads(items, joint.name, joint.context, joint.coordinates, shop)
    contacts = joint_contacts(items, joint.name, joint.context, shop)
    role = _role(items, shop)
    tolerance = items.clause("within")
    opening = None if tolerance is None else shop.formulas.read(tolerance, LENGTH, joint.context)
    kind = JOINT_KINDS.get(statement.kind.text)
    items.finish(
        (*(kind.properties if kind else ()), *OPTIONS, *FRICTION, "role"), (*(kind.clauses if kind else ()), "within")
    )
    joint.speeds = _speeds(joint, motion, child.body, shop)

    def build() -> tuple[Joint, list[Load], list[Switching]]:
        open_by = None if opening is None else opening.build()
        made = replace(motion(), role=role, speeds=joint.speeds(), within=open_by)
        giving, switching = contacts(made)
        whole = replace(made, frame_speeds="body") if _in_body_axes(joint) else made
        return whole, [*loads(), *giving], switching

    return build


def _motion(joint: JointReading, items: Items, parent: Placed, child: Placed, shop: Workshop) -> Callable[[], Joint]:
    kind = joint.statement.kind
    preset = JOINT_KINDS.get(kind.text)
    if preset is None:
        shop.scope.unknown(kind, "joint", kind.text, JOINT_KINDS)
        preset = JOINT_KINDS["link"]
    reading = Reading(joint.name, parent, child, joint.coordinates, joint.context, items, kind, shop)
    read = preset.read(reading)
    return read if joint.complete else JOINT_KINDS["fixed"].read(reading)


def _role(items: Items, shop: Workshop) -> str:
    node = items.word("role")
    if node is None:
        return ""
    if isinstance(node, x.Reference) and node.name in ("tree", "loop"):
        return node.name
    shop.scope.fault(node, "the role of a joint is tree or loop.")
    return ""


def _speeds(
    joint: JointReading, motion: Callable[[], Joint], child: str, shop: Workshop
) -> Callable[[], tuple[Speed, ...]]:
    """The declared quasi-velocities: formulas, or components of the velocity and rotation in the child's axes."""
    if joint.body_speeds is not None:
        _check_child(joint.body_speeds, child, shop)
    builders = [_speed_group(joint, group, motion, child, shop) for group in joint.speed_groups]
    return lambda: tuple(speed for build in builders for speed in build())


def _check_child(node: x.Reference, child: str, shop: Workshop) -> None:
    if node.name != child:
        shop.scope.fault(
            node, f"the speeds of a joint are taken in the body it moves, '{child}', not in '{node.name}'."
        )


def _speed_group(joint: JointReading, group: x.SpeedGroup, motion: Callable[[], Joint], child: str,
                 shop: Workshop) -> Callable[[], tuple[Speed, ...]]:  # fmt: skip
    names = [name.text for name in group.names]
    if (
        isinstance(group.value, x.Reference)
        and group.value.name in SPEED_UNITS
        and isinstance(group.within, x.Reference)
    ):
        quantity = group.value.name
        _check_child(group.within, child, shop)

        def components() -> tuple[Speed, ...]:
            made = motion()
            return shop.attempt(group, lambda: body_speeds(names, quantity, made.coordinates, made.motions), ())

        return components
    if len(names) > 1:
        shop.scope.fault(group, f"one formula gives one speed, not {len(names)}.")
    unit = None if group.within is None else shop.formulas.unit(group.within)
    value = shop.formulas.read(group.value, None if unit is None else dimension_of(unit), joint.context.within("speed"))
    known = shop.scope.quantities.get(names[0])
    if known is not None and not value.literal:
        shop.scope.dimensions.equal(known.dimension, value.dimension)

    def speed() -> tuple[Speed, ...]:
        own_unit = shop.scope.dimensions.unit(value.dimension if not value.literal else NUMBER)
        return (Speed(names[0], value.build(), unit or ("rad/s" if own_unit == "1/s" else own_unit)),)

    return speed


def _in_body_axes(joint: JointReading) -> bool:
    """Whether the speeds are the whole velocity and rotation of the child in its own axes."""
    if joint.body_speeds is not None:
        return True
    kinds = [group.value.name if isinstance(group.value, x.Reference) and group.within is not None else "" for group in
             joint.speed_groups]  # fmt: skip
    return kinds == ["velocity", "rotation"] and [len(g.names) for g in joint.speed_groups] == [3, 3]
