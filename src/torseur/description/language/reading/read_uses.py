"""Instances of parts: `use corner as front_left(k = 20 kN/m) attach chassis to car`, mirrored, chained, counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from itertools import product
from typing import Any, TypeVar

from torseur.algebra.graph import Expr
from torseur.description.language.description_errors import listing
from torseur.description.language.formulas.dimensions import MASS, RATE, dimension_of
from torseur.description.language.formulas.name_scope import Context, Function, JointNames, Known, Placed
from torseur.description.language.formulas.read_places import vector_of
from torseur.description.language.formulas.scalar_formulas import Term
from torseur.description.language.reading.part_sources import Found, PartSources
from torseur.description.language.reading.reading_context import Workshop
from torseur.description.language.syntax import part_nodes as parts_of
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.mechanism import EARTH, EARTH_NAME, Frame, Instance, Joint, Mechanism, mirror, use
from torseur.description.mechanism.bodies import open_symbols
from torseur.description.mechanism.quantities import ORIGIN
from torseur.description.mechanism.transformations.instancing import Naming
from torseur.description.mechanism.validation import implied_speeds
from torseur.errors import nearest

MOST_THINGS = 50_000
T = TypeVar("T")
C = TypeVar("C", bound=parts_of.UseClause)


@dataclass
class InstanceReading:
    """An instance while it is read: its statement with the index put in, its name, its part, how to build it."""

    statement: parts_of.UseIs
    name: str
    found: Found
    previous: InstanceReading | None = None
    image_of: InstanceReading | None = None
    build: Callable[[], Instance] = field(default=lambda: _unread())

    @property
    def mechanism(self) -> Mechanism:
        return self.found.part.mechanism

    def clause(self, kind: type[C]) -> C | None:
        return next((clause for clause in self.statement.clauses if isinstance(clause, kind)), None)


def _unread() -> Instance:
    raise AssertionError("an instance is built before its statement is read")


# Names


def declare_uses(statements: Sequence[parts_of.UseIs], sources: PartSources, shop: Workshop) -> list[InstanceReading]:
    """Makes the instances and everything in them known to the text."""
    instances: dict[str, InstanceReading] = {}
    things = 0
    for statement in statements:
        part = _find(statement, sources, shop, instances)
        # A use that cannot be read hides what it would have given a name to.
        if part is None:
            shop.scope.doubtful |= {statement.name.text, statement.part.text}
            continue
        things += _count(statement) * _size(part.part.mechanism)
        if things > MOST_THINGS:
            shop.scope.fault(statement, f"the parts in use have more than {MOST_THINGS} bodies, joints and names.")
            break
        for reading in _instances(statement, part, shop):
            if shop.define(replace(statement.name, text=reading.name), "instance", shop.scope.bodies, instances):
                _link(reading, instances, shop)
                instances[reading.name] = reading
                _declare_content(reading, shop)
    return list(instances.values())


def _size(mechanism: Mechanism) -> int:
    return 1 + len(mechanism.bodies) + len(mechanism.joints) + len(mechanism.parameters) + len(mechanism.loads)


def _count(statement: parts_of.UseIs) -> int:
    total = 1
    for index in statement.indices:
        span = (index.first, index.last)
        total *= max(1, int(span[1]) - int(span[0]) + 1) if all(end.isdecimal() for end in span) else 1
    return total


def _find(
    statement: parts_of.UseIs, sources: PartSources, shop: Workshop, instances: Mapping[str, InstanceReading]
) -> Found | None:
    for kind in (parts_of.Origin, parts_of.Mount, parts_of.Mirrored, parts_of.Chain):
        for again in [clause for clause in statement.clauses if isinstance(clause, kind)][1:]:
            shop.scope.fault(again, "this is said twice.")
    name = statement.part
    origin = next((clause for clause in statement.clauses if isinstance(clause, parts_of.Origin)), None)
    if origin is not None:
        return sources.of_file(name, origin.file)
    if name.text in sources.defined:
        return sources.own(name.text, name)
    # A part that another statement takes from a file is known by its name from then on.
    for reading in instances.values():
        if reading.statement.part.text == name.text:
            return reading.found
    shop.scope.unknown(name, "part", name.text, sources.defined)
    return None


def _instances(statement: parts_of.UseIs, found: Found, shop: Workshop) -> Iterator[InstanceReading]:
    """One instance, or one for each value of its indices: cell_1, cell_2, or cell_1_1, cell_1_2 of two."""
    ranges = []
    for index in statement.indices:
        if not (index.first.isdecimal() and index.last.isdecimal() and int(index.first) <= int(index.last)):
            shop.scope.fault(index, f"expected two whole numbers that rise, got {index.first}..{index.last}.")
            return
        ranges.append(range(int(index.first), int(index.last) + 1))
    names = [index.name.text for index in statement.indices]
    for values in product(*ranges):
        suffix = "".join(f"_{value}" for value in values)
        counted = _with_numbers(statement, dict(zip(names, values, strict=True)))
        yield InstanceReading(counted, f"{statement.name.text}{suffix}", found)


def _with_numbers(node: T, numbers: Mapping[str, int]) -> T:
    """Syntax with a number in the place of each index."""
    result: Any = node
    if not numbers:
        return node
    if isinstance(node, x.Reference) and node.name in numbers and not node.primes:
        result = x.Number(node.start, node.end, node.depth, str(numbers[node.name]), None)
    elif isinstance(node, tuple):
        result = tuple(_with_numbers(item, numbers) for item in node)
    elif is_dataclass(node) and not isinstance(node, type):
        result = replace(node, **{f.name: _with_numbers(getattr(node, f.name), numbers) for f in fields(node)})
    return result


def _link(reading: InstanceReading, instances: dict[str, InstanceReading], shop: Workshop) -> None:
    """Finds the instance that this one is the image of, and the one before it in a chain."""
    chain, mirrored = reading.clause(parts_of.Chain), reading.clause(parts_of.Mirrored)
    first = reading.statement.indices
    if chain is not None and len(first) != 1:
        shop.scope.fault(chain, "a chain is counted by one index.", "Write: use link[i = 1..20] chain tip to base.")
    elif chain is not None:
        stem, _, number = reading.name.rpartition("_")
        reading.previous = instances.get(f"{stem}_{int(number) - 1}")
    if mirrored is not None and mirrored.name is not None:
        wanted = mirrored.name.text
        suffix = reading.name.removeprefix(reading.statement.name.text)
        reading.image_of = instances.get(f"{wanted}{suffix}") or instances.get(wanted)
        if reading.image_of is None:
            shop.scope.unknown(mirrored.name, "instance", wanted, instances)
        elif reading.image_of.found.part is not reading.found.part:
            other = reading.image_of.statement.part.text
            shop.scope.fault(reading.statement.part, f"'{wanted}' is an instance of '{other}'.", f"Write: use {other}.")


def _declare_content(reading: InstanceReading, shop: Workshop) -> None:
    """Everything of the part, under the name of the instance."""
    part, scope = reading.mechanism, shop.scope
    outside = (EARTH_NAME, *reading.found.part.attachments)
    names = Naming(part, reading.name, dict.fromkeys(outside, ""))
    held = reading.found.part.holding_joints
    for body in part.bodies:
        if body.name not in outside:
            shop.define(replace(reading.statement.name, text=names.name(body.name)), "body", scope.bodies)
            scope.bodies[names.name(body.name)] = _body_quantities(reading, body.name, names)
    for name, frame in part.frames:
        scope.frames[names.name(name)] = _frame(reading, name, frame, names)
    quantities: dict[str, Known] = {}
    for parameter in part.parameters:
        quantities[parameter.name] = _quantity(parameter.si_unit, cache(lambda s=parameter.symbol: names.symbol(s)))
    for joint in part.joints:
        if joint.name not in held:
            _declare_joint(reading, joint, names, quantities, shop)
    for state in part.states:
        quantities[state.name] = _with_rate(state.unit, state.symbol, state.rate, names)
        shop.states.append(names.name(state.name))
    for sensor in part.sensors:
        # Of the instance: what a sensor measures is said by the body that it is attached to.
        build = cache(lambda name=sensor.name: reading.build().sensor(name).symbol)
        quantities[sensor.name] = _quantity(str(sensor.symbol.data.unit), build)
    for law in part.laws:
        dimensions = tuple(dimension_of(str(argument.data.unit)) for argument in law.arguments)
        made = replace(law.function, name=names.name(law.name))
        scope.functions[made.name] = Function(dimensions, dimension_of(made.unit), lambda made=made: made)  # type: ignore[misc]
    for name, known in quantities.items():
        scope.quantities[names.name(name)] = known
        scope.names.taken.add(names.name(name))


def _quantity(unit: str, build: Callable[[], Expr]) -> Known:
    return Known(dimension_of(unit), build)


def _with_rate(unit: str, value: Expr, rate: Expr, names: Naming) -> Known:
    change = Known(dimension_of(unit).times(RATE), lambda: names.symbol(rate))
    return Known(dimension_of(unit), lambda: names.symbol(value), change)


def _declare_joint(
    reading: InstanceReading, joint: Joint, names: Naming, quantities: dict[str, Known], shop: Workshop
) -> None:
    full = {q.name: names.name(q.name) for q in joint.coordinates}
    short = {q.name.removeprefix(f"{joint.name}."): names.name(q.name) for q in joint.coordinates}
    shop.scope.joints[names.name(joint.name)] = JointNames(names.name(joint.name), full | short)
    for q in joint.coordinates:
        quantities[q.name] = _with_rate(q.unit, q.symbol, q.rate, names)
    for number, speed in enumerate(joint.speeds):
        # Of the instance, not of the part: the speeds of a mirror image are other formulas.
        quantities[speed.name] = _quantity(
            speed.unit,
            lambda n=number: reading.build().joint(joint.name).speeds[n].value,  # type: ignore[misc]
        )
        shop.speeds.append(names.name(speed.name))


def _body_quantities(reading: InstanceReading, name: str, names: Naming) -> dict[str, Known]:
    body = reading.mechanism.body(name)
    left_open = open_symbols(replace(body, name=names.name(name)))
    quantities = {key: _quantity(str(s.data.unit), lambda s=s: s) for key, s in left_open.items()}  # type: ignore[misc]
    mass = body.mass
    if mass is not None and not body.solids:
        quantities[f"{names.name(name)}.mass"] = Known(MASS, lambda: names.formulas([mass])[0])
    return quantities


def _frame(reading: InstanceReading, name: str, frame: Frame, names: Naming) -> Placed:
    """A frame of the part: of its own bodies by its text alone, of what it is attached to when that is built."""
    if frame.body in names.outside or reading.clause(parts_of.Mirrored) is not None:
        return Placed(names.body(frame.body), lambda: reading.build().frame(name))
    return Placed(names.body(frame.body), cache(lambda: names.frame(names.in_formulas(frame))))


def implied_units(reading: InstanceReading) -> dict[str, str]:
    """Speeds of the part's joints that replace rates without having been named, with their units."""
    joints = [joint for joint in reading.mechanism.joints if joint.name not in reading.found.part.holding_joints]
    speeds = [name for joint in joints for name in implied_speeds(joint)]
    return {f"{reading.name}.{name}": "m/s" if name[-2] == "v" else "rad/s" for name in speeds}


# Frames and values


def read_use(reading: InstanceReading, has_gravity: bool, shop: Workshop) -> None:
    """Reads the formulas of a use; `reading.build` makes the instance."""
    part = reading.found.part
    if has_gravity and any(not c.is_zero for c in part.mechanism.gravity):
        # The whole has said its gravity: that of a mechanism that is used as a part goes unused.
        part = replace(part, mechanism=replace(part.mechanism, gravity=ORIGIN))
    context = Context(reading.name, slot="frame")
    mount, chain = reading.clause(parts_of.Mount), reading.clause(parts_of.Chain)
    frames: dict[str, Placed] = {}
    if mount is not None:
        frames[EARTH_NAME] = shop.places.frame(mount.frame, context)
    for attachment in _attachments(reading, shop):
        if attachment.to is not None:
            frames[attachment.name.text] = shop.places.frame(attachment.to, context)
    if chain is not None and reading.previous is not None:
        _chain(reading, chain, frames, shop)
    values = _values(reading, shop)
    mirrored = reading.clause(parts_of.Mirrored)
    normal = None
    if mirrored is not None:
        normal = shop.places.vector(mirrored.normal, shop.scope.dimensions.unknown(), Context(reading.name))
    if reading.image_of is None:
        _complete(reading, frames, context, shop)

    @cache
    def build() -> Instance:
        given = {name: placed.build() for name, placed in frames.items()}
        amounts = {name: term.build() for name, term in values.items()}
        plane = None if normal is None else vector_of(normal)
        if reading.image_of is not None and plane is not None:
            return mirror(reading.image_of.build(), reading.name, plane, attach=given, values=amounts)
        at = given.pop(EARTH_NAME, EARTH)
        return use(part, reading.name, at=at, attach=given, across=plane, values=amounts)

    reading.build = build


def _attachments(reading: InstanceReading, shop: Workshop) -> list[parts_of.Attachment]:
    known = reading.found.part.attachments
    given: list[parts_of.Attachment] = []
    clauses = [c for c in reading.statement.clauses if isinstance(c, parts_of.Attached)]
    for attachment in [a for clause in clauses for a in clause.attachments]:
        name = attachment.name.text
        if name not in known:
            _unknown_in_part(attachment.name, "attachment", known, reading, shop)
        elif attachment.to is None:
            shop.scope.fault(attachment, f"say to what '{name}' is attached.", f"Write: attach {name} to BODY.")
        elif any(name == other.name.text for other in given):
            shop.scope.fault(attachment.name, f"'{name}' is attached twice.")
        else:
            given.append(attachment)
    return given


def _complete(reading: InstanceReading, frames: dict[str, Placed], context: Context, shop: Workshop) -> None:
    """Attachments that the use does not give are those that the head of the part names; some there must be."""
    for name in reading.found.part.attachments:
        default = reading.found.defaults.get(name)
        if name in frames:
            continue
        if isinstance(default, x.Reference) and shop.places.named_frame(default.path) is not None:
            placed = shop.places.named_frame(default.path)
            assert placed is not None
            frames[name] = placed
            continue
        excerpt = shop.scope.excerpt(default) if isinstance(default, x.Reference) else ""
        written = f" to '{excerpt}', which is not here" if excerpt else ""
        message = f"{_description(reading)} is attached by '{name}'{written}, and this does not say to what."
        shop.scope.fault(reading.statement, message, f"Write: attach {name} to BODY.")


def _chain(reading: InstanceReading, chain: parts_of.Chain, frames: dict[str, Placed], shop: Workshop) -> None:
    base, previous = chain.base.text, reading.previous
    assert previous is not None
    known = (EARTH_NAME, *reading.found.part.attachments)
    if base not in known:
        _unknown_in_part(chain.base, "attachment", known, reading, shop)
        return
    tip = shop.places.named_frame((*previous.name.split("."), *chain.tip.text.split(".")))
    if tip is None:
        bodies = [body.name for body in previous.mechanism.bodies if body.name not in known]
        ends = [name for name, _ in previous.mechanism.frames] + bodies
        shop.scope.unknown(chain.tip, "frame", chain.tip.text, ends)
        return
    frames[base] = tip


def _values(reading: InstanceReading, shop: Workshop) -> dict[str, Term]:
    """The values given for parameters of the part, each of the parameter's own dimension."""
    known = {p.name: p for p in reading.mechanism.parameters}
    values: dict[str, Term] = {}
    for given in reading.statement.values:
        name = given.name.text
        if name not in known:
            _unknown_in_part(given.name, "parameter", list(known), reading, shop)
        elif name in values:
            shop.scope.fault(given.name, f"'{name}' is given twice.")
        else:
            assert isinstance(given.value, x.Expression)
            context = Context(f"{reading.name}.{name}", slot="input")
            values[name] = shop.formulas.read(given.value, dimension_of(known[name].si_unit), context)
    return values


def _description(reading: InstanceReading) -> str:
    return f"part '{reading.statement.part.text}' ({reading.found.place})"


def _unknown_in_part(name: x.Name, kind: str, known: Sequence[str], reading: InstanceReading, shop: Workshop) -> None:
    """Notes a name that the part does not have, with the place where the part is described."""
    guess = nearest(name.text, list(known))
    hint = f"Did you mean '{guess}'?" if guess else ""
    message = f"{_description(reading)} has no {kind} '{name.text}'. {listing(kind, list(known))}"
    shop.scope.fault(name, message, hint)


def mounted_on(reading: InstanceReading, shop: Workshop) -> list[str]:
    """The bodies that an instance is fixed to, by the text alone."""
    nodes = [clause.frame for clause in reading.statement.clauses if isinstance(clause, parts_of.Mount)]
    clauses = [c for c in reading.statement.clauses if isinstance(c, parts_of.Attached)]
    nodes += [a.to for clause in clauses for a in clause.attachments if a.to is not None]
    nodes += [node for node in reading.found.defaults.values() if node is not None]
    return [shop.places.owner(node) for node in nodes]
