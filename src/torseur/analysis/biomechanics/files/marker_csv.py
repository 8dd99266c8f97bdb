"""CSV files of markers: a column "time [s]" and three for each marker, "LABEL.x [mm]"."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.files.recording_units import require_plausible
from torseur.analysis.biomechanics.recordings.laboratory_axes import NOT_STATED, Axes
from torseur.analysis.biomechanics.recordings.markers import Markers
from torseur.analysis.identification.data.data_files import Table, read_table
from torseur.edges.plain_text import cell
from torseur.errors import RecordingError

_ENDINGS = (".", "_", ":")


def read_csv(path: str | Path, *, unit: str | None = None, axes: Axes = NOT_STATED, any_size: bool = False) -> Markers:
    """Markers of a CSV file in m, gaps as empty cells.

    Columns are LABEL.x, LABEL.y and LABEL.z (also LABEL_x or LABEL:x), their unit in square brackets or `unit`.
    """
    file = Path(path)
    table = read_table(file)
    if "time" not in table.columns:
        raise RecordingError(f"'{file}' has no column 'time [s]'. Columns: {', '.join(table.columns)}.")
    columns = _columns(file, table)
    length = _unit(file, table, columns, unit)
    points = [np.column_stack([table.quantity(c, "m", length) for c in three]) for three in columns.values()]
    positions = np.stack(points, axis=1)
    if not any_size:
        require_plausible(positions, length, unit is not None, file)
    return Markers(table.quantity("time", "s"), tuple(columns), positions, axes, file.stem)


def _columns(file: Path, table: Table) -> dict[str, list[str]]:
    """The three columns of every marker."""
    columns: dict[str, list[str]] = {}
    for name in table.columns:
        if len(name) > 2 and name[-1] in "xX" and name[-2] in _ENDINGS:
            three = [name[:-1] + axis for axis in ("xyz" if name[-1] == "x" else "XYZ")]
            absent = [column for column in three if column not in table.columns]
            if absent:
                raise RecordingError(f"'{file}': marker '{name[:-2]}' has no column '{absent[0]}'.")
            columns[name[:-2]] = three
    if not columns:
        raise RecordingError(f"'{file}' has no markers: three columns LABEL.x, LABEL.y, LABEL.z each.")
    return columns


def _unit(file: Path, table: Table, columns: dict[str, list[str]], given: str | None) -> str:
    stated = {table.units[column] for three in columns.values() for column in three}
    if given is not None:
        return given
    if len(stated) != 1 or None in stated:
        listing = ", ".join(sorted(str(unit) for unit in stated if unit)) or "none"
        raise RecordingError(
            f"'{file}': its markers need one unit (stated: {listing}). Write 'LABEL.x [mm]', or say it: "
            "--unit mm, or `unit` in Python."
        )
    return str(stated.pop())


def write_csv(path: str | Path, markers: Markers) -> Path:
    """Markers as a CSV file in m, gaps as empty cells."""
    file = Path(path)
    headings = ["time [s]", *(cell(f"{label}.{axis} [m]") for label in markers.labels for axis in "xyz")]
    rows: Array = np.column_stack([markers.time, markers.positions.reshape(len(markers), -1)])
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(headings)
        writer.writerows([["" if np.isnan(x) else repr(float(x)) for x in row] for row in rows])
    return file
