"""What `torseur loops` is asked besides the report: assemblies, singular configurations, syzygies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torseur.cli.exits import USAGE, CommandError
from torseur.errors import unknown_name
from torseur.language.quantities import quantity
from torseur.loops import Assembly, Singularity, assemble, singularities_along, singularities_in
from torseur.mechanism import Mechanism
from torseur.mechanism.units import kind_of, parse_unit

_SHOWN = 12
_UNIT = re.compile(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*(.*)")


@dataclass(frozen=True)
class Answer:
    """A further result: its name and value in the JSON document, and as text."""

    name: str
    document: Any
    text: str


@dataclass(frozen=True)
class Examination:
    """A mechanism at a pose, with what is held, and when."""

    mechanism: Mechanism
    at: Mapping[str, float] | None
    locked: tuple[str, ...]
    time: float

    def assembled(self, starts: int) -> Answer:
        """Closed configurations from several starts."""
        found = assemble(self.mechanism, self.at, locked=self.locked, time=self.time, starts=starts)
        listed = [{"hits": c.hits, "coordinates": dict(c.coordinates)} for c in found.configurations]
        document = {"starts": found.starts, "closed": found.closed, "isolated": found.isolated,
                    "estimated": found.estimated, "configurations": listed}  # fmt: skip
        return Answer("assembly", document, _assembly_text(found))

    def driven(self, text: str) -> Answer:
        """Singular configurations along the motion of a coordinate."""
        name, start, stop = range_of(self.mechanism, "--drive", text)
        found = singularities_along(self.mechanism, name, start, stop, at=self.at)
        return _singularities("singular_along", f"while {name} goes from {start:.6g} to {stop:.6g}", found)

    def boxed(self, texts: Sequence[str]) -> Answer:
        """Singular configurations in a box."""
        ranges = [range_of(self.mechanism, "--box", text) for text in texts]
        found = singularities_in(self.mechanism, {name: (low, high) for name, low, high in ranges})
        return _singularities("singular_in_box", "in the box", found)

    def syzygies(self) -> Answer:
        """N by standard bases."""
        from torseur.loops.exact import polynomial_loops
        from torseur.loops.syzygies import written_passage

        written = written_passage(polynomial_loops(self.mechanism))
        document = {"coordinates": list(written.coordinates), "N": [list(row) for row in written.rows]}
        return Answer("syzygies", document, str(written))


def range_of(mechanism: Mechanism, option: str, text: str) -> tuple[str, float, float]:
    """(coordinate, from, to) in SI; a unit after the second value holds for a plain first one."""
    name, equals, values = (part.strip() for part in text.partition("="))
    low, dots, high = (part.strip() for part in values.partition(".."))
    if not equals or not dots or not low or not high:
        raise CommandError(f"{option} {text}: expected NAME=FROM..TO, such as {option} 'theta=0..360 deg'.", USAGE)
    units = {c.name: c.unit for joint in mechanism.joints for c in joint.coordinates}
    if name not in units:
        raise CommandError(unknown_name("coordinate", name, units, f"{option} {text}: "))
    unit = _UNIT.fullmatch(high)
    both = (f"{low} {unit[1]}" if unit and unit[1] and _is_number(low) else low, high)
    start, stop = (_checked(name, value, units[name]) for value in both)
    return name, start, stop


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _checked(name: str, text: str, unit: str) -> float:
    value, found = quantity(text, name)
    wanted = parse_unit(unit)[1]
    if found is not None and parse_unit(found)[1] != wanted:
        raise CommandError(
            f"{name}={text}: expected a {kind_of(wanted)} ({unit}), got a {kind_of(parse_unit(found)[1])}."
        )
    return value


def _assembly_text(found: Assembly) -> str:
    if not found.found:
        return f"assembly: {found.explanation}"
    count = len(found.configurations)
    told = f"assembly: {found.closed} of {found.starts} starts close"
    if found.isolated:
        guess = f", about {found.estimated:.0f} by how often each was met" if found.estimated else ""
        told += f", in {count} different configuration{'s' if count != 1 else ''}{guess}"
    else:
        told += " (configurations form families: lock coordinates to count branches); the nearest:"
    shown = found.configurations[: _SHOWN if found.isolated else 1]
    return "\n".join([told, *(f"  {c.hits} times: {_coordinates(c.coordinates)}" for c in shown)])


def _coordinates(values: Mapping[str, float]) -> str:
    shown = [f"{name} = {value:.6g}" for name, value in list(values.items())[:_SHOWN]]
    return ", ".join(shown) + (", ..." if len(values) > _SHOWN else "")


def _singularities(name: str, where: str, found: Sequence[Singularity]) -> Answer:
    document = [{"kind": s.kind, "rank": s.rank, "infinitesimal": s.infinitesimal, "coordinates": dict(s.coordinates)}
                for s in found]  # fmt: skip
    head = f"singular configurations {where}: {len(found) or 'none'}"
    return Answer(name, document, "\n".join([head, *(f"  {s}" for s in found)]))
