"""TRC files: markers as OpenSim reads them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from torseur.biomechanics.axes import OPENSIM_AXES, Axes
from torseur.biomechanics.files.text_tables import lines_of, numbers_of, whole_number
from torseur.biomechanics.files.units import factor_to_si, plain, require_plausible
from torseur.biomechanics.markers import Markers
from torseur.errors import RecordingError
from torseur.identification.arrays import Array

_FIRST_ROW = 5


def read_trc(
    path: str | Path, *, unit: str | None = None, axes: Axes = OPENSIM_AXES, any_size: bool = False
) -> Markers:
    """Markers of a TRC file in m, gaps as empty cells. The format has x forward, y up, z right."""
    file = Path(path)
    lines = lines_of(file)
    header = _header(file, lines)
    labels = _labels(file, lines, whole_number(file, "NumMarkers", header["NumMarkers"]))
    rows = [
        (number, line.split("\t")) for number, line in enumerate(lines[_FIRST_ROW:], _FIRST_ROW + 1) if line.strip()
    ]
    claimed = whole_number(file, "NumFrames", header["NumFrames"])
    if claimed != len(rows):
        raise RecordingError(f"'{file}' lies about its size: NumFrames is {claimed}, but it holds {len(rows)} frames.")
    table = numbers_of(
        file, [(number, _trimmed(cells, len(labels))) for number, cells in rows], 2 + 3 * len(labels), True
    )
    length = unit or header["Units"]
    positions = factor_to_si(length, "m", f"'{file}'") * table[:, 2:].reshape(len(table), len(labels), 3)
    _check_rate(file, table[:, 1], header["DataRate"])
    if not any_size:
        require_plausible(positions, length, unit is not None, file)
    return Markers(table[:, 1], tuple(labels), positions, axes, file.stem)


def _header(file: Path, lines: list[str]) -> dict[str, str]:
    if len(lines) < _FIRST_ROW or not lines[0].startswith("PathFileType"):
        raise RecordingError(f"'{file}' is not a TRC file: it does not begin with PathFileType and four more lines.")
    header = dict(zip(lines[1].split("\t"), lines[2].split("\t"), strict=False))
    for name in ("DataRate", "NumFrames", "NumMarkers", "Units"):
        if not header.get(name, "").strip():
            raise RecordingError(f"'{file}', line 3: no value for {name}.")
    return {name.strip(): plain(value) for name, value in header.items()}


def _labels(file: Path, lines: list[str], count: int) -> list[str]:
    labels = [plain(cell) for cell in lines[3].split("\t")[2:] if cell.strip()]
    if len(labels) != count:
        raise RecordingError(f"'{file}' lies about its size: NumMarkers is {count}, but it names {len(labels)}.")
    return labels


def _trimmed(cells: list[str], markers: int) -> list[str]:
    """Cells without the empty ones that a tab at the end of a line leaves."""
    while len(cells) > 2 + 3 * markers and not cells[-1].strip():
        cells = cells[:-1]
    return cells


def _check_rate(file: Path, time: Array, stated: str) -> None:
    if len(time) > 1:
        rate = (len(time) - 1) / float(time[-1] - time[0]) if time[-1] > time[0] else 0.0
        if not np.isclose(rate, float(stated), rtol=0.01):
            raise RecordingError(f"'{file}': DataRate is {stated} Hz, but its times are {rate:.6g} frames a second.")


def write_trc(path: str | Path, markers: Markers) -> Path:
    """Markers as a TRC file in mm along x forward, y up, z right, to which they are turned."""
    file = Path(path)
    turned = markers if markers.axes == OPENSIM_AXES else markers.turned(OPENSIM_AXES)
    count, rate = len(markers.labels), f"{markers.rate:.6g}"
    fields = {
        "DataRate": rate, "CameraRate": rate, "NumFrames": len(markers), "NumMarkers": count, "Units": "mm",
        "OrigDataRate": rate, "OrigDataStartFrame": 1, "OrigNumFrames": len(markers),
    }  # fmt: skip
    axes = [f"{axis}{k + 1}" for k in range(count) for axis in "XYZ"]
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{file.name}",
        "\t".join(fields),
        "\t".join(map(str, fields.values())),
        "Frame#\tTime\t" + "\t\t\t".join(markers.labels),
        "\t\t" + "\t".join(axes),
        "",
    ]
    for k, (t, row) in enumerate(zip(turned.time, 1e3 * turned.positions.reshape(len(turned), -1), strict=True)):
        cells = ["" if np.isnan(x) else f"{x:.6f}" for x in row]
        lines.append("\t".join([str(k + 1), f"{t:.6f}", *cells]))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file
