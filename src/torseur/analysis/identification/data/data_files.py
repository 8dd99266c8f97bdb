"""Recordings in files: CSV with headings "name [unit]", and NetCDF with units as attributes; converted to SI.

CSV as loggers write it: commas, semicolons or tabs, decimal commas beside the latter two, units in brackets or in a row
of their own, notes that begin with #, empty cells and the like for samples that are missing.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.description.mechanism.units import kind_of, parse_unit
from torseur.edges.budgets import bounded_bytes
from torseur.edges.plain_text import cell_text
from torseur.errors import IdentificationError, UnitError, unknown_name

SUFFIXES = (".csv", ".nc")
_HEADING = re.compile(r"\s*(.+?)\s*(?:\[([^\[\]]*)\]|\(([^()]*)\))?\s*")
_POWER, _BETWEEN = re.compile(r"([A-Za-z])\^?(-?\d+)"), re.compile(r"[ .·](?=[A-Za-z°])")
_TORQUE = re.compile(r"\b([mkM]?N)(mm|cm|m)(?=$|[^A-Za-z])")
_MISSING = {"", "-", "--", "na", "n/a", "nan", "null", "none"}


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of a file by name, each with the unit written beside it (None where none is).

    `faults` says of columns that are not numbers where that begins; it is told when such a column is asked for.
    """

    path: str
    columns: Mapping[str, Array]
    units: Mapping[str, str | None]
    faults: Mapping[str, str] = field(default_factory=dict)

    def quantity(self, column: str, wanted: str, stated: str | None = None) -> Array:
        """A column in SI; `wanted` is the SI unit it must have, `stated` a unit given elsewhere."""
        if column not in self.columns:
            raise IdentificationError(unknown_name("column", column, self.columns, f"'{self.path}': "))
        if column in self.faults:
            raise IdentificationError(self.faults[column])
        unit = stated or self.units.get(column)
        values = self.columns[column]
        if unit is None:
            return values
        try:
            factor, dimension = _unit(unit)
        except UnitError as problem:
            raise IdentificationError(f"'{self.path}', column '{column}': {problem}") from problem
        expected = parse_unit(wanted)[1]
        if dimension != expected:
            raise IdentificationError(
                f"'{self.path}', column '{column}': the unit {unit} is that of a {kind_of(dimension)}, expected a "
                f"{kind_of(expected)} ({wanted})."
            )
        return values * factor

    def columns_without_unit(self, columns: Mapping[str, str], stated: Mapping[str, str]) -> list[str]:
        """Columns used without any unit: taken as SI."""
        return [c for c in columns.values() if self.units.get(c) is None and c not in stated]


def _unit(text: str) -> tuple[float, Any]:
    """A unit as descriptions write it (N*m, rad/s^2), as loggers do (Nm), or as conventions of NetCDF do (rad s-2)."""
    text = _TORQUE.sub(r"\1*\2", text)
    try:
        return parse_unit(text)
    except UnitError:
        powers = _POWER.sub(r"\1^\2", text.strip())
        spelled = _BETWEEN.sub("*", powers)
        if spelled == text:
            raise
        return parse_unit(spelled)


def read_table(path: str | Path) -> Table:
    """A recording from its file."""
    file = Path(path)
    if file.suffix not in SUFFIXES:
        raise IdentificationError(f"'{file}': recordings are read from {' and '.join(SUFFIXES)} files.")
    if not file.is_file():
        raise IdentificationError(f"there is no file '{file}'.")
    return _csv(file) if file.suffix == ".csv" else _netcdf(file)


def _csv(file: Path) -> Table:
    lines = [line for line in _text(file).splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if len(lines) < 2:
        raise IdentificationError(f"'{file}' has no samples below its headings.")
    # The separator is the sign that occurs most in the headings; decimal commas only beside another separator.
    mark = max(",;\t", key=lines[0].count)
    try:
        rows = list(csv.reader(lines, delimiter=mark))
    except csv.Error as problem:
        raise IdentificationError(f"'{file}' cannot be read as CSV: {problem}.") from problem
    if len(rows) < 2:  # a quotation mark that is not closed takes the lines below into its cell
        raise IdentificationError(f"'{file}' has no samples below its headings; is a quotation mark not closed?")
    names, units, rows = _headings(file, rows)
    for number, row in enumerate(rows, 1):
        if len(row) != len(names):
            raise IdentificationError(f"'{file}', sample {number}: {len(row)} cells, the headings have {len(names)}.")
    columns, faults = {}, {}
    for name, cells in zip(names, zip(*rows, strict=True), strict=True):
        columns[name], fault = _numbers(cells, mark != ",")
        if fault is not None:
            faults[name] = f"'{file}', sample {fault + 1}: '{cells[fault]}' in column '{name}' is not a number."
    return Table(str(file), columns, dict(zip(names, units, strict=True)), faults)


def _text(file: Path) -> str:
    raw = bounded_bytes(file)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace")  # a degree sign in a heading, as older programs write it


def _headings(file: Path, rows: list[list[str]]) -> tuple[list[str], list[str | None], list[list[str]]]:
    """Names, units and the rows of samples; a second row without any number holds units."""
    matches = [_HEADING.fullmatch(cell_text(text)) for text in rows[0]]
    if any(match is None for match in matches):
        raise IdentificationError(f"'{file}': a column has no name.")
    names = [match[1] for match in matches if match]
    units = [match[2] or match[3] for match in matches if match]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise IdentificationError(f"'{file}': two columns are named '{twice[0]}'.")
    second = rows[1]
    if not any(units) and len(rows) > 2 and len(second) == len(names) and _are_words(second):
        return names, [None if c.strip().lower() in _MISSING else c.strip(" []()") for c in second], rows[2:]
    return names, units, rows[1:]


def _are_words(cells: Sequence[str]) -> bool:
    """Whether there is something in these cells and none of it is a number."""
    written = [cell for cell in cells if cell.strip().lower() not in _MISSING]
    return bool(written) and not any(_numbers([cell], True)[1] is None for cell in written)


def _numbers(cells: Sequence[str], comma: bool) -> tuple[Array, int | None]:
    """Cells as numbers, NaN where nothing was written, and the first that is none of it."""
    try:
        return np.array(cells, dtype=float), None
    except ValueError:
        pass
    numbers = np.full(len(cells), np.nan)
    for k, cell in enumerate(cells):
        text = cell.strip()
        if text.lower() in _MISSING:
            continue
        try:
            numbers[k] = float(text.replace(",", ".") if comma and text.count(",") == 1 and "." not in text else text)
        except ValueError:
            return numbers, k
    return numbers, None


def _netcdf(file: Path) -> Table:
    import xarray

    try:
        with xarray.open_dataset(file, decode_times=False) as dataset:
            dataset.load()
    except (OSError, ValueError) as problem:
        raise IdentificationError(f"'{file}' is not a NetCDF file: {problem}.") from problem
    if "time" not in dataset.dims:
        raise IdentificationError(f"'{file}' has no dimension 'time'. Dimensions: {', '.join(map(str, dataset.dims))}.")
    variables = {str(n): v for n, v in dataset.variables.items() if v.dims == ("time",)}
    variables = {name: variable for name, variable in variables.items() if variable.dtype.kind in "fiu"}
    columns = {name: np.asarray(variable.values, dtype=float) for name, variable in variables.items()}
    return Table(str(file), columns, {name: variable.attrs.get("units") for name, variable in variables.items()})
