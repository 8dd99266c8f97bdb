"""Loads and constraints as text."""

from __future__ import annotations

from torseur.algebra.graph import Expr
from torseur.description.language.default_names import between, joint_load, wrench_name
from torseur.description.language.formulas.dimensions import LENGTH, TIME, Dim, dimension_of
from torseur.description.language.reading.joint_loads import ENERGY, FORCE, spring_dimensions
from torseur.description.language.reading.read_loads import STIFFNESS
from torseur.description.language.writing.words import name_text
from torseur.description.language.writing.writing_context import Place, Script
from torseur.description.mechanism import (
    EARTH,
    LENGTH_RATE,
    AppliedWrench,
    Bushing,
    Constraint,
    Coordinate,
    CoordinateForce,
    CoordinateSpring,
    Distance,
    Equation,
    Joint,
    JointWrench,
    Load,
    PointSpring,
    Vector,
)
from torseur.description.mechanism import LENGTH as LENGTH_SYMBOL

_SPRING_NAMES = {LENGTH_SYMBOL: "length", LENGTH_RATE: "length'"}


def joint_options(loads: list[Load], joint: Joint, written: dict[str, str], place: Place, script: Script) -> list[str]:
    """The loads as options of their joint."""
    return [text for load in loads for text in _options(load, joint, written, place, script)]


def is_option(load: Load, joint: Joint, written: dict[str, str]) -> bool:
    """Whether the reader would give the load this name as an option of the joint."""
    if isinstance(load, JointWrench):
        return load.name == joint_load(joint.name, "wrench") and not _is_zero(load.force, load.moment)
    if not isinstance(load, (CoordinateForce, CoordinateSpring)):
        return False
    q = joint.coordinate(load.coordinate)
    what = "spring" if isinstance(load, CoordinateSpring) else _acting(q)
    zero = isinstance(load, CoordinateSpring) and all(v.is_zero for v in (load.stiffness, load.rest, load.damping))
    coordinate = written[q.name] if len(joint.coordinates) > 1 else ""
    return load.name == joint_load(joint.name, what, coordinate) and not zero


def _is_zero(*vectors: Vector) -> bool:
    return all(component.is_zero for vector in vectors for component in vector)


def _acting(q: Coordinate) -> str:
    return "force" if dimension_of(q.unit) == LENGTH else "torque"


def _options(load: Load, joint: Joint, written: dict[str, str], place: Place, script: Script) -> list[str]:
    if isinstance(load, JointWrench):
        parts = [("force", load.force, FORCE), ("torque", load.moment, ENERGY)]
        return [f"{word} = {script.vector(v, want, place)}" for word, v, want in parts if not _is_zero(v)]
    assert isinstance(load, (CoordinateForce, CoordinateSpring))
    q = joint.coordinate(load.coordinate)
    of = f"({name_text(written[q.name])})" if len(joint.coordinates) > 1 else ""
    if isinstance(load, CoordinateForce):
        want = FORCE if _acting(q) == "force" else ENERGY
        return [f"{_acting(q)}{of} = {script.formula(load.law, want, place)}"]
    return [
        f"{name}{of} = {text}" for name, text in _spring(load, spring_dimensions(dimension_of(q.unit)), place, script)
    ]


def _spring(
    load: CoordinateSpring | PointSpring, wants: dict[str, Dim], place: Place, script: Script
) -> list[tuple[str, str]]:
    values = {"stiffness": load.stiffness, "rest": load.rest, "damping": load.damping}
    kept = [name for name, value in values.items() if not value.is_zero]
    if kept[:1] == ["rest"]:
        kept = ["stiffness", *kept]  # the reader asks for it
    return [(name, script.formula(values[name], wants[name], place)) for name in kept]


def load_text(load: Load, coordinates: dict[str, Coordinate], script: Script) -> str:
    """apply ... ;"""
    place = Place(load.name, after_joints=True)
    if isinstance(load, AppliedWrench):
        return _wrench_text(load, place, script)
    if isinstance(load, JointWrench):
        parts = _wrench([("force", load.force, FORCE), ("torque", load.moment, ENERGY)], place, script)
        return f"apply {parts} on joint {name_text(load.joint)} as {name_text(load.name)} ;"
    if isinstance(load, Bushing):
        return _bushing(load, place, script)
    if isinstance(load, PointSpring):
        return _point_spring(load, place, script)
    q = coordinates[load.coordinate]
    target = name_text(q.name)
    if isinstance(load, CoordinateForce):
        word = _acting(q)
        law = script.formula(load.law, FORCE if word == "force" else ENERGY, place)
        return f"apply {word} {law} on {target}{name_clause(load.name, wrench_name([word], q.name), script)} ;"
    items = ", ".join(f"{n} = {t}" for n, t in _spring(load, spring_dimensions(dimension_of(q.unit)), place, script))
    return f"apply spring {items} on {target}{name_clause(load.name, wrench_name(['spring'], q.name), script)} ;"


def name_clause(name: str, default: str, script: Script) -> str:
    return "" if script.short and name == default else f" as {name_text(name)}"


def _wrench(parts: list[tuple[str, Vector, Dim]], place: Place, script: Script) -> str:
    given = [part for part in parts if not _is_zero(part[1])] or parts[:1]
    return ", ".join(f"{word} {script.vector(vector, want, place)}" for word, vector, want in given)


def _wrench_text(load: AppliedWrench, place: Place, script: Script) -> str:
    parts = [("force", load.force, FORCE), ("torque", load.moment, ENERGY)]
    kinds = [word for word, vector, _ in parts if not _is_zero(vector)] or ["force"]
    name = name_clause(load.name, wrench_name(kinds, load.on.body), script)
    on = script.point(load.on, place)
    symbols = script.undetermined_components(load.force if kinds == ["force"] else load.moment, load.name)
    if symbols and len(kinds) == 1:
        return f"apply {kinds[0]} body = {script.point(load.axes, place)} end on {on}{name} ;"
    axes = "" if load.axes == EARTH else f" in {script.point(load.axes, place)}"
    return f"apply {_wrench(parts, place, script)}{axes} on {on}{name} ;"


def _point_spring(load: PointSpring, place: Place, script: Script) -> str:
    wants = {"stiffness": STIFFNESS, "rest": LENGTH, "damping": STIFFNESS.times(TIME)}
    items = [f"{name} = {text}" for name, text in _spring(load, wants, place, script)]
    if load.law is not None:
        items.append(f"law = {script.formula(load.law, FORCE, Place(load.name, _SPRING_NAMES, after_joints=True))}")
    return f"apply spring {', '.join(items)}{_ends(load, 'spring', place, script)}"


def _ends(load: PointSpring | Bushing, kind: str, place: Place, script: Script) -> str:
    first, second = (script.point(end, place) for end in (load.first, load.second))
    name = name_clause(load.name, between(kind, load.first.body, load.second.body), script)
    return f" between {first} and {second}{name} ;"


def _bushing(load: Bushing, place: Place, script: Script) -> str:
    damping, torsion = STIFFNESS.times(TIME), ENERGY.times(TIME)
    parts = [
        ("stiffness", load.stiffness[:3], STIFFNESS), ("torsion", load.stiffness[3:], ENERGY),
        ("damping", load.damping[:3], damping), ("torsion_damping", load.damping[3:], torsion),
    ]  # fmt: skip
    items = [f"{word} = {script.vector(_three(v), want, place)}" for word, v, want in parts if not _is_zero(_three(v))]
    return f"apply bushing {', '.join(items)}{_ends(load, 'bushing', place, script)}"


def _three(values: tuple[Expr, ...]) -> Vector:
    x, y, z = values
    return x, y, z


def constraint_text(constraint: Constraint, script: Script) -> str:
    """constrain ... ;"""
    place = Place(constraint.name, after_joints=True)
    dimension = None if isinstance(constraint, Equation) else LENGTH
    within = f" within {script.formula(constraint.within, dimension, place)}" if constraint.within is not None else ""
    if isinstance(constraint, Equation):
        formula = script.formula(constraint.residual, None, place)
        return f"constrain 0 = {formula}{within}{name_clause(constraint.name, 'equation', script)} ;"
    if isinstance(constraint, Distance):
        first, second = (script.point(end, place) for end in (constraint.first, constraint.second))
        name = name_clause(constraint.name, between("distance", constraint.first.body, constraint.second.body), script)
        value = script.formula(constraint.value, LENGTH, place)
        return f"constrain distance {first} to {second} = {value}{within}{name} ;"
    wheel, on = script.point(constraint.wheel, place), script.point(constraint.on, place)
    radius = script.formula(constraint.radius, LENGTH, place)
    tyre = "" if constraint.tyre_radius is None else f" tyre {script.formula(constraint.tyre_radius, LENGTH, place)}"
    normal = script.direction(constraint.normal, place)
    name = name_clause(constraint.name, f"rolling_{constraint.wheel.body}", script)
    return f"constrain rolling {wheel} radius {radius}{tyre} on {on} normal {normal}{within}{name} ;"
