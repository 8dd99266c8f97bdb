"""Contacts from the command line: bounds of coordinates at which a mechanism rebounds, such as 'z >= 0'."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torseur.cli.exits import USAGE, CommandError
from torseur.errors import unknown_name

if TYPE_CHECKING:
    from torseur.simulation import Impact
    from torseur.tree import Tree

_BOUND = re.compile(r"\s*(.+?)\s*(>=|<=)\s*(.+?)\s*")


def contacts(tree: Tree, bounds: Sequence[str] | None, restitution: float) -> list[Impact]:
    """One contact per bound, named after it."""
    return [_contact(tree, text, restitution) for text in bounds or ()]


def _contact(tree: Tree, text: str, restitution: float) -> Impact:
    from torseur.language.quantities import quantity
    from torseur.mechanism.units import parse_unit
    from torseur.simulation import Impact

    match = _BOUND.fullmatch(text)
    if match is None:
        raise CommandError(f"--contact {text}: expected a bound of a coordinate, such as 'q <= 60 deg'.", USAGE)
    name, sign, limit = match.groups()
    coordinates = dict(zip(tree.layout.coordinate_names, tree.layout.coordinates, strict=True))
    if name not in coordinates:
        raise CommandError(unknown_name("coordinate", name, coordinates, f"--contact {text}: "))
    value, unit = quantity(limit, name)
    if unit is not None and parse_unit(unit)[1] != parse_unit(coordinates[name].data.unit)[1]:
        raise CommandError(f"--contact {text}: '{name}' is measured in {coordinates[name].data.unit}.")
    gap = coordinates[name] - value if sign == ">=" else value - coordinates[name]
    return Impact(text, gap, restitution)
