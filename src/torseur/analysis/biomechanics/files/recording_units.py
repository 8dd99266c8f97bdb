"""Units and labels of recordings, and sizes that tell that a unit is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from torseur.algebra.arrays import Array
from torseur.description.mechanism.units import kind_of, parse_unit
from torseur.errors import RecordingError, UnitError

SMALLEST, LARGEST = 0.02, 25.0  # m: extents of what is recorded with markers, from a hand to a hall
_JOINED = {"nmm": "N*mm", "n.mm": "N*mm", "n-mm": "N*mm", "nm": "N*m", "n.m": "N*m", "n-m": "N*m", "volts": "V",
           "nt": "N", "newton": "N", "newtons": "N", "ntm": "N*m", "ntmm": "N*mm", "nt*m": "N*m", "nt*mm": "N*mm",
           # A field of four letters cuts words.
           "mete": "m", "meter": "m", "meters": "m", "metre": "m", "metres": "m", "mill": "mm", "millimeters": "mm",
           "millimetres": "mm", "cent": "cm", "centimeters": "cm", "centimetres": "cm"}  # fmt: skip


def factor_to_si(unit: str, wanted: str, where: str) -> float:
    """By what numbers in a unit are multiplied to be in the SI unit `wanted`."""
    text = _JOINED.get(unit.strip().lower(), unit.strip())
    try:
        factor, dimension = parse_unit(text)
    except UnitError as problem:
        raise RecordingError(f"{where}: {problem}") from problem
    expected = parse_unit(wanted)[1]
    if dimension != expected:
        raise RecordingError(
            f"{where}: the unit {unit} is that of a {kind_of(dimension)}, expected a {kind_of(expected)} ({wanted})."
        )
    return float(factor)


def likely_length(values: Array) -> str:
    """m or mm, as sizes of what laboratories record tell; mm where they tell nothing, as most files have it."""
    known = values[np.isfinite(values)]
    return "m" if len(known) and 0 < float(np.percentile(np.abs(known), 95)) < LARGEST else "mm"


def extent(positions: Array) -> float:
    """Median over the frames of the largest side of the box around the markers in m; over all frames for one marker."""
    frames = positions if positions.shape[1] > 1 else np.swapaxes(positions, 0, 1)
    seen = frames[np.isfinite(frames).all(axis=2).sum(axis=1) > 1]
    if not len(seen):
        return float("nan")
    # The box and not distances: one marker thrown far off in a few frames does not move the median.
    sides = np.nanmax(seen, axis=1) - np.nanmin(seen, axis=1)
    return float(np.median(sides.max(axis=1)))


def require_plausible(positions: Array, unit: str, stated: bool, path: Path) -> None:
    """Refuses markers that lie within millimetres or across kilometres: a unit that is not the file's own."""
    size = extent(positions)
    if not np.isfinite(size) or SMALLEST <= size <= LARGEST or size == 0:
        return
    by = "as asked" if stated else "as it says"
    guess = "metres read as millimetres" if size < SMALLEST else "millimetres read as metres"
    likely = "m" if size < SMALLEST else "mm"
    raise RecordingError(
        f"'{path}': read in {unit} {by}, its markers lie within {_length(size)}: {guess}? Read it in "
        f"{likely} (--unit {likely}, `unit` in Python; `any_size` there if it is right)."
    )


def _length(size: float) -> str:
    return f"{1e3 * size:.3g} mm" if size < 1 else f"{size:.4g} m"


def plain(text: str) -> str:
    """A label or unit without the blanks that files pad it with."""
    return re.sub(r"\s+", " ", text).strip()


def distinct_labels(labels: list[str], count: int) -> tuple[list[str], list[str]]:
    """A label of its own for every point; those without one, or with one that is taken, get another, noted."""
    distinct: list[str] = []
    renamed: list[str] = []
    for k in range(count):
        wanted = labels[k] if k < len(labels) and labels[k] else f"unlabelled {k + 1}"
        label, times = wanted, 1
        while label in distinct:
            times += 1
            label = f"{wanted} ({times})"
        if k >= len(labels) or label != labels[k]:
            renamed.append(label)
        distinct.append(label)
    return distinct, [f"points without a label of their own, named here: {', '.join(renamed)}"] if renamed else []
