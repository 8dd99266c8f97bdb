"""Study files: what to vary, how, and which criteria to keep, described in TOML."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from torseur.equations import Equations
from torseur.errors import TorseurError, unknown_name
from torseur.formalisms import derive
from torseur.language.quantities import number_in
from torseur.library import PREFIX
from torseur.mechanism import Mechanism
from torseur.sensitivity import Criterion
from torseur.studies.axes import Axis, read_axis
from torseur.studies.design import Design

TABLES = ("mechanism", "until", "rtol", "vary", "design", "values", "initial", "criteria", "chunk", "objective",
          "constraints", "starts", "algorithm")  # fmt: skip
CRITERION_KINDS = {
    "value": "value",
    "integral": "integral",
    "maximum": "maximum",
    "minimum": "minimum",
    "event": "event",
    "event_time": "event time",
}


@dataclass(frozen=True, eq=False)
class SweepStudy:
    """A study: a mechanism, the axes along which it varies, and the criteria of its motions."""

    path: Path
    text: str
    mechanism: Mechanism
    until: float
    rtol: float
    axes: tuple[Axis, ...]
    design: Design
    values: Mapping[str, float]
    initial: Mapping[str, float]
    criteria: tuple[Criterion, ...]
    chunk: int
    tables: Mapping[str, Any]

    @cached_property
    def equations(self) -> Equations:
        return derive(self.mechanism)

    @property
    def digest(self) -> str:
        """What the results depend on, as a hash: the file and the mechanism."""
        from torseur.language import to_text

        content = self.text + to_text(self.mechanism)
        return hashlib.sha256(content.encode()).hexdigest()


def read_study(path: str | Path) -> SweepStudy:
    """The study of a TOML file; every fault names its place."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
        tables = tomllib.loads(text)
    except OSError as problem:
        raise TorseurError(f"'{file}': {problem.strerror or problem}.") from problem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise TorseurError(f"'{file}': {problem}.") from problem
    for key in tables:
        if key not in TABLES:
            raise TorseurError(unknown_name("table", key, TABLES, f"'{file}': "))
    return _Reader(file, text, tables).study()


class _Reader:
    """Turns the tables of a file into a study."""

    def __init__(self, file: Path, text: str, tables: Mapping[str, Any]) -> None:
        self.file, self.text, self.tables = file, text, tables

    def study(self) -> SweepStudy:
        mechanism = self._mechanism()
        units = _units(derive(mechanism))
        axes = [read_axis(n, self._unit(n, units), t, self._at(f"vary.{n}")) for n, t in self._table("vary").items()]
        if not axes and "objective" not in self.tables:
            raise TorseurError(f"{self._at('vary')}: nothing varies.")
        plain = {name: unit for name, unit in units.items() if not name.endswith("(0)")}
        starts = {name.removesuffix("(0)"): unit for name, unit in units.items() if name.endswith("(0)")}
        return SweepStudy(
            self.file, self.text, mechanism, number_in(self._required("until"), "s", self._at("until")),
            number_in(self.tables.get("rtol", 1e-9), "1", self._at("rtol")), tuple(axes), self._design(axes),
            self._numbers("values", plain), self._numbers("initial", starts), self._criteria(),
            self._whole("chunk", 0), self.tables,
        )  # fmt: skip

    def _at(self, place: str) -> str:
        return f"'{self.file}': {place}"

    def _required(self, key: str) -> Any:
        if key not in self.tables:
            raise TorseurError(f"'{self.file}': '{key}' is missing.")
        return self.tables[key]

    def _table(self, key: str) -> Mapping[str, Any]:
        found = self.tables.get(key, {})
        if not isinstance(found, Mapping):
            raise TorseurError(f"{self._at(key)}: expected a table, [{key}].")
        return found

    def _whole(self, key: str, default: int) -> int:
        value = self.tables.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise TorseurError(f"{self._at(key)}: expected a whole number, got {value!r}.")
        return value

    def _mechanism(self) -> Mechanism:
        named = self._required("mechanism")
        if not isinstance(named, str):
            raise TorseurError(f"{self._at('mechanism')}: expected a file or a library name, got {named!r}.")
        if named.startswith(PREFIX):
            from torseur import library

            return library.load(named.removeprefix(PREFIX))
        beside = self.file.parent / named
        if not beside.is_file():
            raise TorseurError(f"{self._at('mechanism')}: there is no file '{named}' beside the study.")
        if beside.suffix in (".urdf", ".xml", ".mjcf"):
            from torseur.readers import read_robot

            return read_robot(beside).mechanism
        from torseur.language import load

        return load(beside)

    def _unit(self, name: str, units: Mapping[str, str]) -> str:
        if name not in units:
            raise TorseurError(unknown_name("parameter", name, units, f"{self._at('vary')}: "))
        return units[name]

    def _numbers(self, key: str, units: Mapping[str, str]) -> dict[str, float]:
        found = {}
        for name, given in self._table(key).items():
            if name not in units:
                raise TorseurError(unknown_name("name", name, units, f"{self._at(key)}: "))
            found[name] = number_in(given, units[name], self._at(f"{key}.{name}"))
        return found

    def _design(self, axes: Sequence[Axis]) -> Design:
        table = dict(self._table("design"))
        for key in table:
            if key not in ("kind", "count", "seed"):
                raise TorseurError(unknown_name("key", key, ("kind", "count", "seed"), f"{self._at('design')}: "))
        try:
            return Design(**table)
        except TypeError as problem:
            raise TorseurError(f"{self._at('design')}: {problem}.") from problem

    def _criteria(self) -> tuple[Criterion, ...]:
        table = self._table("criteria")
        if not table:
            raise TorseurError(f'{self._at("criteria")}: no criterion is given, such as energy = "energy".')
        return tuple(self._criterion(name, given) for name, given in table.items())

    def _criterion(self, name: str, given: Any) -> Criterion:
        where = self._at(f"criteria.{name}")
        if isinstance(given, str):
            return Criterion(given, name=name)
        kinds = [key for key in CRITERION_KINDS if isinstance(given, Mapping) and key in given]
        if len(kinds) != 1:
            raise TorseurError(f"{where}: expected a formula, or a table with one of {', '.join(CRITERION_KINDS)}.")
        more = {key: value for key, value in given.items() if key != kinds[0]}
        for key in more:
            if key not in ("when", "direction", "occurrence"):
                raise TorseurError(unknown_name("key", key, ("when", "direction", "occurrence"), f"{where}: "))
        formula = given[kinds[0]]
        if kinds[0] == "event_time":
            return Criterion("t", "event time", name, when=formula, **more)
        return Criterion(formula, CRITERION_KINDS[kinds[0]], name, **more)


def _units(equations: Equations) -> dict[str, str]:
    """Units of what can be varied: parameters, and initial values under their name with (0)."""
    layout = equations.layout
    found = {str(p.name): p.data.unit for p in layout.parameters}
    starts = [*layout.coordinates, *layout.speeds, *layout.rates]
    return found | {f"{x.name}(0)": x.data.unit for x in starts}
