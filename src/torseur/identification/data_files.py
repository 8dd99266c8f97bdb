"""Recordings in files: CSV with headings "name [unit]", and NetCDF with units as attributes; converted to SI."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from torseur.errors import IdentificationError, UnitError, unknown_name
from torseur.identification.arrays import Array
from torseur.mechanism.units import kind_of, parse_unit

SUFFIXES = (".csv", ".nc")
_HEADING = re.compile(r"\s*(.+?)\s*(?:\[(.*)\])?\s*")


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of a file by name, each with the unit written beside it (None where none is)."""

    path: str
    columns: Mapping[str, Array]
    units: Mapping[str, str | None]

    def quantity(self, column: str, wanted: str, stated: str | None = None) -> Array:
        """A column in SI; `wanted` is the SI unit it must have, `stated` a unit given elsewhere."""
        if column not in self.columns:
            raise IdentificationError(unknown_name("column", column, self.columns, f"'{self.path}': "))
        unit = stated or self.units.get(column)
        values = self.columns[column]
        if unit is None:
            return values
        try:
            factor, dimension = parse_unit(unit)
        except UnitError as problem:
            raise IdentificationError(f"'{self.path}', column '{column}': {problem}") from problem
        expected = parse_unit(wanted)[1]
        if dimension != expected:
            raise IdentificationError(
                f"'{self.path}', column '{column}': the unit {unit} is that of a {kind_of(dimension)}, expected a "
                f"{kind_of(expected)} ({wanted})."
            )
        return values * factor

    def unstated(self, columns: Mapping[str, str], stated: Mapping[str, str]) -> list[str]:
        """Columns used without any unit: taken as SI."""
        return [c for c in columns.values() if self.units.get(c) is None and c not in stated]


def read_table(path: str | Path) -> Table:
    """A recording from its file."""
    file = Path(path)
    if file.suffix not in SUFFIXES:
        raise IdentificationError(f"'{file}': recordings are read from {' and '.join(SUFFIXES)} files.")
    if not file.is_file():
        raise IdentificationError(f"there is no file '{file}'.")
    return _csv(file) if file.suffix == ".csv" else _netcdf(file)


def _csv(file: Path) -> Table:
    with file.open(newline="", encoding="utf-8-sig") as stream:
        rows = list(csv.reader(stream))
    if len(rows) < 2:
        raise IdentificationError(f"'{file}' has no samples below its headings.")
    headings = [_heading(file, text) for text in rows[0]]
    names = [name for name, _ in headings]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise IdentificationError(f"'{file}': two columns are named '{twice[0]}'.")
    values = np.array([_numbers(file, number, row, names) for number, row in enumerate(rows[1:], 2)])
    return Table(str(file), dict(zip(names, values.T, strict=True)), dict(headings))


def _heading(file: Path, text: str) -> tuple[str, str | None]:
    match = _HEADING.fullmatch(text)
    if match is None:
        raise IdentificationError(f"'{file}': a column has no name.")
    return match[1], match[2]


def _numbers(file: Path, line: int, row: list[str], names: list[str]) -> list[float]:
    if len(row) != len(names):
        raise IdentificationError(f"'{file}', line {line}: {len(row)} cells, the headings have {len(names)}.")
    found = []
    for name, cell in zip(names, row, strict=True):
        try:
            found.append(float(cell) if cell.strip() else float("nan"))
        except ValueError as problem:
            raise IdentificationError(
                f"'{file}', line {line}: '{cell}' in column '{name}' is not a number."
            ) from problem
    return found


def _netcdf(file: Path) -> Table:
    import xarray

    try:
        with xarray.open_dataset(file, decode_times=False) as dataset:
            dataset.load()
    except (OSError, ValueError) as problem:
        raise IdentificationError(f"'{file}' is not a NetCDF file: {problem}.") from problem
    if "time" not in dataset.dims:
        raise IdentificationError(f"'{file}' has no dimension 'time'. Dimensions: {', '.join(map(str, dataset.dims))}.")
    found = {str(n): v for n, v in dataset.variables.items() if v.dims == ("time",)}
    columns = {name: np.asarray(variable.values, dtype=float) for name, variable in found.items()}
    return Table(str(file), columns, {name: variable.attrs.get("units") for name, variable in found.items()})
