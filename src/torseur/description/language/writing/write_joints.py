"""Joints as text: by their preset where that gives the same joint, as a link of motions otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from torseur.algebra.graph import Expr
from torseur.description.language.default_names import joint_name
from torseur.description.language.formulas.dimensions import LENGTH, NUMBER, dimension_of
from torseur.description.language.reading.joint_kinds import COORDINATE_UNITS
from torseur.description.language.writing.words import meaning_text, name_text, string_text
from torseur.description.language.writing.writing_context import WIDTH, Place, Script
from torseur.description.mechanism import (
    EARTH_NAME,
    Coordinate,
    ElementaryMotion,
    Joint,
    Speed,
    body_speeds,
    cylindrical,
    fixed,
    free,
    helical,
    planar,
    prismatic,
    revolute,
    spherical,
    universal,
)
from torseur.description.mechanism.joints import X, Y, Z
from torseur.description.mechanism.units import si_name
from torseur.errors import TorseurError, UnsupportedError

_LETTERS = {X: "x", Y: "y", Z: "z"}


def qualifier(joint: Joint, named: bool) -> str:
    """What the joint's own undetermined constants are named after."""
    return joint.name if named else joint.child.body


def needs_name(joint: Joint, script: Script) -> bool:
    """Whether the name must be said: the reader would not give it."""
    return not script.short or joint.name != joint_name(joint.parent.body, joint.child.body)


def joint_place(joint: Joint, written: dict[str, str], script: Script) -> Place:
    """The joint as a place of formulas: its coordinates go by the names written in it."""
    names = {}
    for q in joint.coordinates:
        short = name_text(written[q.name])
        names[q.symbol], names[q.rate] = short, f"{short}'"
    return Place(qualifier(joint, needs_name(joint, script)), names)


def wrap_parts(head: str, parts: list[str]) -> str:
    """Parts after a head, on one line or on several that fit the width."""
    line = " ".join([head, *parts])
    if len(line) <= WIDTH:
        return line
    before, _, after = head.rpartition(" with ")
    lines = [before, f"    with {after}"]
    for part in parts:
        if len(lines[-1]) + 1 + len(part) <= WIDTH:
            lines[-1] += f" {part}"
        else:
            lines.append(f"        {part}")
    return "\n".join(lines)


def joint_text(joint: Joint, written: dict[str, str], options: list[str], script: Script) -> str:
    """join A and B as name with kind(coordinates) ... end ;"""
    place = joint_place(joint, written, script)
    sides = [script.frame(side, place) for side in (joint.parent, joint.child)]
    word = "to" if joint.child.body == EARTH_NAME else "and"
    name = f" as {name_text(joint.name)}" if needs_name(joint, script) else ""
    head = f"join {sides[0]} {word} {sides[1]}{name}"
    motion, items, preset = _motion(joint, place, script)
    coordinates = _coordinates(joint, written, preset)
    items += options + ([f"role = {joint.role}"] if joint.role else [])
    items += [f"within {script.formula(joint.within, LENGTH, place)}"] if joint.within is not None else []
    parts = [*(f"{item}," for item in items[:-1]), *items[-1:], *_speeds(joint, place, script), "end ;"]
    return wrap_parts(f"{head} with {motion}{coordinates}", parts)


# Presets

Preset = Callable[[Joint], tuple[Joint, list[tuple[str, object]]]]


def _motion(joint: Joint, place: Place, script: Script) -> tuple[str, list[str], str | None]:
    """(kind, items, preset): the preset that builds this joint, or a link with its motions."""
    plain = replace(joint, speeds=(), frame_speeds="", role="", within=None)
    for kind, make in _PRESETS.items():
        if len(joint.coordinates) not in [len(units) for units in COORDINATE_UNITS[kind] or ()]:
            continue
        try:
            made, words = make(plain)
        except (TorseurError, ValueError, IndexError, TypeError, ArithmeticError):
            continue
        if made == plain:
            return kind, _clauses(words, place, script), kind
    dofs = _dofs(joint, place, script)
    items = [f"dof{i if len(dofs) > 1 else ''} = {text}" for i, text in enumerate(dofs, 1)]
    if joint.kind != "link":
        items.insert(0, f"kind = {string_text(joint.kind)}")
    return "link", items, None


def _clauses(words: list[tuple[str, object]], place: Place, script: Script) -> list[str]:
    """The clauses of a preset; those of axes follow each other without commas."""
    texts = []
    for word, value in words:
        if isinstance(value, tuple):
            texts.append(f"{word} {script.direction(value, place)}")
        elif isinstance(value, Expr):
            texts.append(f"{word} = {script.formula(value, LENGTH, place)}")
        else:
            texts.append(f"{word} {value}")
    return texts


def _plain(make: Callable[..., Joint], *words: str) -> Preset:
    """A preset of coordinates and the axes of its first motions, each after its word."""

    def preset(joint: Joint) -> tuple[Joint, list[tuple[str, object]]]:
        axes = [motion.axis for motion in joint.motions[: len(words)]]
        made = make(joint.name, joint.parent, joint.child, *joint.coordinates, *axes)
        return made, list(zip(words, axes, strict=True))

    return preset


def _helical(joint: Joint) -> tuple[Joint, list[tuple[str, object]]]:
    (q,) = joint.coordinates
    axis, pitch = joint.motions[0].axis, joint.motions[1].amount / q.symbol
    made = helical(joint.name, joint.parent, joint.child, q, pitch, axis)
    return made, [("about", axis), ("pitch", pitch)]


def _angles(motions: tuple[ElementaryMotion, ...]) -> str:
    if motions and motions[-1].kind == "quaternion":
        return "quaternion"
    return "".join(_LETTERS.get(motion.axis, "?") for motion in motions[-3:])


def _turning(make: Callable[..., Joint]) -> Preset:
    def preset(joint: Joint) -> tuple[Joint, list[tuple[str, object]]]:
        angles = _angles(joint.motions)
        made = make(joint.name, joint.parent, joint.child, *joint.coordinates, angles=angles)
        return made, [("angles", angles)]

    return preset


_PRESETS: dict[str, Preset] = {
    "fixed": _plain(fixed), "revolute": _plain(revolute, "about"), "prismatic": _plain(prismatic, "along"),
    "helical": _helical, "cylindrical": _plain(cylindrical, "about"), "universal": _plain(universal, "about", "then"),
    "planar": _plain(planar), "spherical": _turning(spherical), "free": _turning(free),
}  # fmt: skip


# Coordinates and motions


def _coordinates(joint: Joint, written: dict[str, str], preset: str | None) -> str:
    if not joint.coordinates:
        return ""
    units = _preset_units(joint, preset)
    parts = [
        f"{name_text(written[q.name])}{'' if q.unit == unit else f' in {q.unit}'}{meaning_text(q.meaning)}"
        for q, unit in zip(joint.coordinates, units, strict=True)
    ]
    return f"({', '.join(parts)})"


def _preset_units(joint: Joint, preset: str | None) -> list[str]:
    """The units the reader would give to the coordinates."""
    if preset is not None:
        rows = COORDINATE_UNITS[preset] or ()
        quaternion = any(motion.kind == "quaternion" for motion in joint.motions)
        return list(rows[1] if quaternion else rows[0])
    return [_moved_unit(q, joint) for q in joint.coordinates]


def _moved_unit(q: Coordinate, joint: Joint) -> str:
    """The unit that follows from a motion by the coordinate itself; none when there is no such motion."""
    kinds = {motion.kind for motion in joint.motions if motion.amount is q.symbol}
    return {frozenset({"rotation"}): "rad", frozenset({"translation"}): "m"}.get(frozenset(kinds), "")


def _dofs(joint: Joint, place: Place, script: Script) -> list[str]:
    """The motions as dofs; translations along x, y, z in this order share a vector."""
    texts: list[str] = []
    moved: dict[str, str] = {}
    for motion in joint.motions:
        letter = _LETTERS.get(motion.axis, "") if motion.kind == "translation" and not motion.amount.is_zero else ""
        if not letter or any(letter <= other for other in moved):
            texts += _moves(moved)
            moved = {}
        if letter:
            moved[letter] = script.formula(motion.amount, LENGTH, place)
        else:
            texts.append(_dof(motion, place, script))
    return texts + _moves(moved)


def _moves(moved: dict[str, str]) -> list[str]:
    return [f"[{', '.join(moved.get(letter, '0') for letter in 'xyz')}]"] if moved else []


def _dof(motion: ElementaryMotion, place: Place, script: Script) -> str:
    if motion.kind == "quaternion":
        return "quaternion"
    axis = script.direction(motion.axis, place)
    if motion.kind == "rotation":
        return f"{script.formula(motion.amount, NUMBER, place)} || {axis}"
    return f"{script.formula(motion.amount, LENGTH, place)} along {axis}"


# Speeds


def _speeds(joint: Joint, place: Place, script: Script) -> list[str]:
    child = name_text(joint.child.body)
    if not joint.speeds:
        return [f"speeds in {child}"] if joint.frame_speeds == "body" else []
    groups, quantities, left = [], [], list(joint.speeds)
    while left:
        count, quantity = _components(left, joint)
        names = ", ".join(name_text(speed.name) for speed in left[:count])
        groups.append(f"{names} = {quantity} in {child}" if quantity else _speed(left[0], place, script))
        quantities.append(quantity)
        left = left[count:]
    if joint.frame_speeds == "body" and quantities != ["velocity", "rotation"]:
        raise UnsupportedError(f"joint '{joint.name}': its speeds are not those of the child in its own axes.")
    return [f"speeds {', '.join(groups)}"]


def _components(speeds: list[Speed], joint: Joint) -> tuple[int, str]:
    """How many of the first speeds are components of the child's velocity or rotation in its own axes, and of which."""
    for quantity in ("velocity", "rotation"):
        for count in (3, 2):
            names = [speed.name for speed in speeds[:count]]
            try:
                made = body_speeds(names, quantity, joint.coordinates, joint.motions)
            except TorseurError:  # it has not that many components
                continue
            if len(names) == count and made == tuple(speeds[:count]):
                return count, quantity
    return 1, ""


def _speed(speed: Speed, place: Place, script: Script) -> str:
    natural = script.formulas.sizes.natural(speed.value)
    unit = None if natural is None else si_name(dimension_of(speed.unit).exponents)
    note = "" if speed.unit == ("rad/s" if unit == "1/s" else unit) else f" in {speed.unit}"
    return f"{name_text(speed.name)} = {script.formula(speed.value, dimension_of(speed.unit), place)}{note}"
