"""Parts and their uses as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from torseur.description.language.default_names import Names
from torseur.description.language.formulas.dimensions import dimension_of
from torseur.description.language.writing.own_content import given_values, parts_used
from torseur.description.language.writing.words import meaning_text, name_text
from torseur.description.language.writing.writing_context import Place, Script
from torseur.description.mechanism import EARTH, EARTH_NAME, Instance, Mechanism, Part

_AXES = ("[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]")
_INDENT = "    "


def part_names(mechanism: Mechanism) -> dict[Part, str]:
    """A name for every part behind a mechanism: its own, with a number where two have the same."""
    names = Names()
    return {part: names.unique(part.name) for part in parts_used(mechanism)}


def part_text(part: Part, name: str, sections: str) -> str:
    """`part corner attach chassis ... end ;` around the sections of its mechanism."""
    attach = f" attach {', '.join(name_text(a) for a in part.attachments)}" if part.attachments else ""
    lines = [f"{_INDENT}{line}" if line else "" for line in sections.rstrip("\n").split("\n")]
    head = f"part {name_text(name)}{meaning_text(part.mechanism.meaning)}{attach}"
    return "\n".join([head, *lines, "end ;\n"])


def use_texts(
    instances: Sequence[Instance], mechanism: Mechanism, names: Mapping[Part, str], script: Script
) -> list[str]:
    """`use corner as front_left(k = 20 kN/m) attach chassis to car ;` for each instance."""
    return [_use_text(instance, mechanism, names[instance.part], script) for instance in instances]


def _use_text(instance: Instance, mechanism: Mechanism, part: str, script: Script) -> str:
    place = Place(instance.name)
    units = {p.name: p.si_unit for p in instance.part.mechanism.parameters}
    formula: Callable[..., str] = script.formula
    values = ", ".join(
        f"{name_text(name)} = {formula(value, dimension_of(units[name]), Place(f'{instance.name}.{name}'))}"
        for name, value in given_values(instance, mechanism)
    )
    mounts = dict(instance.mounts)
    earth = mounts.pop(EARTH_NAME)
    at = "" if earth == EARTH else f" at {script.frame(earth, place)}"
    attach = ", ".join(f"{name_text(name)} to {script.point(frame, place)}" for name, frame in mounts.items())
    across = "" if instance.across is None else f" mirrored across {_AXES[instance.across]}"
    called = f"{name_text(instance.name)}({values})" if values else name_text(instance.name)
    return f"use {name_text(part)} as {called}{at}{f' attach {attach}' if attach else ''}{across} ;"
