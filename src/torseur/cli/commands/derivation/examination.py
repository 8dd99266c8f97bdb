"""What `torseur loops` is asked besides the report: assemblies, singular configurations, syzygies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torseur.cli.shared.exits import USAGE, CommandError
from torseur.derivation.loops import Assembly, Singularity, assemble, drive, singular_map, singularities_in
from torseur.derivation.loops.actuation.actuation import actuation
from torseur.description.language.formulas.quantities_with_units import quantity
from torseur.description.mechanism import Mechanism
from torseur.description.mechanism.units import kind_of, parse_unit
from torseur.errors import unknown_name

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
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    def assembly(self, starts: int) -> Answer:
        """Closed configurations from several starts."""
        result = assemble(self.mechanism, self.at, locked=self.locked, time=self.time, starts=starts)
        listed = [{"hits": c.hits, "coordinates": dict(c.coordinates)} for c in result.configurations]
        document = {"starts": result.starts, "closed": result.closed, "isolated": result.isolated,
                    "estimated": result.estimated, "configurations": listed}  # fmt: skip
        return Answer("assembly", document, _assembly_text(result))

    def singularities_on_drive(self, text: str) -> Answer:
        """Singular configurations along the motion of a coordinate."""
        name, start, stop = range_of(self.mechanism, "--drive", text)
        met = drive(self.mechanism, name, start, stop, at=self.at, locked=self.locked, inputs=self.inputs,
                    outputs=self.outputs)  # fmt: skip
        where = f"while {name} goes from {start:.6g} to {stop:.6g}"
        where += f" with {', '.join(self.locked)} held" if self.locked else ""
        answer = _singularities("singular_along", where, met.singularities)
        return replace(answer, text="\n".join([answer.text, *(f"  {note}" for note in met.notes)]))

    def singularities_in_box(self, texts: Sequence[str]) -> Answer:
        """Singular configurations in a box."""
        ranges = [range_of(self.mechanism, "--box", text) for text in texts]
        names = [name for name, _, _ in ranges]
        if twice := {name for name in names if names.count(name) > 1}:
            raise CommandError(f"--box: {', '.join(sorted(twice))} has more than one range.", USAGE)
        box = {name: (low, high) for name, low, high in ranges}
        listed = singularities_in(self.mechanism, box, at=self.at, locked=self.locked, inputs=self.inputs,
                                  outputs=self.outputs)  # fmt: skip
        return _singularities("singular_in_box", "in the box", listed)

    def actuation(self) -> Answer:
        """Inputs and outputs at the pose."""
        report = actuation(self.mechanism, self.inputs, self.outputs, at=self.at, time=self.time)
        return Answer("actuation", report.to_dict(), str(report))

    def map(self, texts: Sequence[str], picture: Path | None) -> Answer:
        """Singular lines over two coordinates, and their picture in a file."""
        if len(texts) != 2:
            raise CommandError(f"--map: expected two coordinates, got {len(texts)}; give --map NAME=A..B twice.", USAGE)
        first, second = (range_of(self.mechanism, "--map", text) for text in texts)
        drawn = singular_map(self.mechanism, first, second, self.inputs, self.outputs, locked=self.locked, at=self.at)
        if picture is not None:
            from torseur.cli.shared.output_files import write_text
            from torseur.presentation.report.drawing.map_picture import map_picture

            write_text(picture, map_picture(drawn))
        return Answer("map", drawn.to_dict(), str(drawn))

    def algebraic_mobility(self, configuration: Mapping[str, float]) -> Answer:
        """Dimension and mobility with a proof, at the configuration of the report."""
        from torseur.derivation.loops.rank.algebraic_mobility import algebraic_mobility

        proof = algebraic_mobility(self.mechanism, configuration, time=self.time)
        return Answer("algebraic", proof.to_dict(), str(proof))

    def syzygies(self, closed: bool) -> Answer:
        """N by standard bases."""
        from torseur.derivation.loops.rank.exact_loops import polynomial_loops, readable_passage

        passage = readable_passage(polynomial_loops(self.mechanism), closed)
        document = {"coordinates": list(passage.coordinates), "N": [list(row) for row in passage.rows]}
        return Answer("syzygies", document, str(passage))


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
    start, stop = (_value_in(name, value, units[name]) for value in both)
    return name, start, stop


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _value_in(name: str, text: str, unit: str) -> float:
    value, own_unit = quantity(text, name)
    wanted = parse_unit(unit)[1]
    if own_unit is not None and parse_unit(own_unit)[1] != wanted:
        raise CommandError(
            f"{name}={text}: expected a {kind_of(wanted)} ({unit}), got a {kind_of(parse_unit(own_unit)[1])}."
        )
    return value


def _assembly_text(result: Assembly) -> str:
    if not result.found:
        return f"assembly: {result.explanation}"
    count = len(result.configurations)
    head = f"assembly: {result.closed} of {result.starts} starts close"
    if result.isolated:
        guess = f", about {result.estimated:.0f} by how often each was met" if result.estimated else ""
        head += f", in {count} different configuration{'s' if count != 1 else ''}{guess}"
    else:
        head += " (configurations form families: lock coordinates to count branches); the nearest:"
    shown = result.configurations[: _SHOWN if result.isolated else 1]
    return "\n".join([head, *(f"  {c.hits} times: {_coordinates(c.coordinates)}" for c in shown)])


def _coordinates(values: Mapping[str, float]) -> str:
    shown = [f"{name} = {value:.6g}" for name, value in list(values.items())[:_SHOWN]]
    return ", ".join(shown) + (", ..." if len(values) > _SHOWN else "")


def _singularities(name: str, where: str, listed: Sequence[Singularity]) -> Answer:
    document = [{"kind": s.kind, "rank": s.rank, "infinitesimal": s.infinitesimal, "family": s.family,
                 "coordinates": dict(s.coordinates)} for s in listed]  # fmt: skip
    head = f"singular configurations {where}: {len(listed) or 'none'}"
    if any(s.family for s in listed):
        head += " found, among them points of curves or surfaces, which have more"
    return Answer(name, document, "\n".join([head, *(f"  {s}" for s in listed)]))
