"""What varies: parameters of a mechanism, initial values, and groups of these that change together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from torseur.computation.simulation.model.system import System, Vector
from torseur.errors import TorseurError, unknown_name

Requested: TypeAlias = str | Sequence[str] | Mapping[str, Sequence[str] | Mapping[str, float]]

_INITIAL = re.compile(r"(.+)\(0\)")
_GROUP = re.compile(r"\s*([^=]+?)\s*=\s*(.+)")


@dataclass(frozen=True)
class Varied:
    """A parameter of the study: what changes with it, and by how much for a unit change.

    `constants` are slots of the system's parameters with their weight, `starts` slots of its initial state.
    """

    name: str
    value: float
    unit: str = "1"
    meaning: str = ""
    constants: tuple[tuple[int, float], ...] = ()
    starts: tuple[tuple[int, float], ...] = ()

    @property
    def scale(self) -> float:
        """The size that a change is compared with: the value, or 1 where it vanishes."""
        return abs(self.value) or 1.0


def requested_names(requested: Requested | None, system: System) -> dict[str, dict[str, float]]:
    """Names of the study's parameters, each with its members and their weights."""
    if requested is None:
        return {quantity.name: {quantity.name: 1.0} for quantity in system.parameters}
    if isinstance(requested, Mapping):
        return {name: _weights(members) for name, members in requested.items()}
    listed = [name.strip() for name in requested.split(",")] if isinstance(requested, str) else list(requested)
    members_by_name: dict[str, dict[str, float]] = {}
    for text in listed:
        group = _GROUP.fullmatch(text)
        name, members = (group[1], group[2].split("+")) if group else (text, [text])
        if name in members_by_name:
            raise TorseurError(f"parameter '{name}' is listed twice.")
        members_by_name[name] = {member.strip(): 1.0 for member in members}
    if not members_by_name or not all(members_by_name):
        raise TorseurError("no parameter is given, such as parameters=['m1', 'q1(0)'].")
    return members_by_name


def _weights(members: Sequence[str] | Mapping[str, float]) -> dict[str, float]:
    return dict(members) if isinstance(members, Mapping) else dict.fromkeys(members, 1.0)


def varied_of(name: str, members: Mapping[str, float], system: System, fixed: Mapping[str, str]) -> Varied:
    """The parameter of the study that these members make; `fixed` says why some names cannot vary by themselves."""
    parts = [_single(member, system, fixed) for member in members]
    weights = list(members.values())
    # A group counts in units of its first member, so that 1 % of it is 1 % of that.
    first = parts[0]
    return Varied(
        name,
        first.value,
        first.unit,
        first.meaning if len(parts) == 1 else f"{' and '.join(members)} together",
        tuple((slot, w * k) for part, w in zip(parts, weights, strict=True) for slot, k in part.constants),
        tuple((slot, w * k) for part, w in zip(parts, weights, strict=True) for slot, k in part.starts),
    )


def _single(name: str, system: System, fixed: Mapping[str, str]) -> Varied:
    names = [quantity.name for quantity in system.parameters]
    if name in names:
        slot = names.index(name)
        quantity = system.parameters[slot]
        return Varied(name, system.values[slot], quantity.unit, quantity.meaning, constants=((slot, 1.0),))
    states = [quantity.name for quantity in system.states]
    if name in fixed:
        raise TorseurError(f"parameter '{name}' {fixed[name]}")
    start = _INITIAL.fullmatch(name)
    if start and start[1] in states:
        slot = states.index(start[1])
        meaning = f"initial value of {start[1]}"
        return Varied(name, system.initial[slot], system.states[slot].unit, meaning, starts=((slot, 1.0),))
    known = unknown_name("parameter", name, [*names, *(f"{state}(0)" for state in states)])
    raise TorseurError(
        f"{known} Constants go by their owner: BODY.mass, BODY.centre.x, BODY.Ixx, LOAD.stiffness, gravity.z."
    )


def starts_matrix(varied: Sequence[Varied], states: int) -> Vector:
    """Tangents of the initial state that are parameters themselves, one column per parameter."""
    matrix = np.zeros((states, len(varied)))
    for column, parameter in enumerate(varied):
        for slot, weight in parameter.starts:
            matrix[slot, column] += weight
    return matrix


def constants_matrix(varied: Sequence[Varied], constants: int) -> Vector:
    """Tangents of the system's parameters, one column per parameter of the study."""
    matrix = np.zeros((constants, len(varied)))
    for column, parameter in enumerate(varied):
        for slot, weight in parameter.constants:
            matrix[slot, column] += weight
    return matrix
