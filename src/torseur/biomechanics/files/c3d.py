"""C3D files: markers, analog channels and force plates, through ezc3d."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from torseur.biomechanics.axes import NOT_STATED, Axes
from torseur.biomechanics.files.c3d_parameters import Parameters
from torseur.biomechanics.files.c3d_plates import plates_of
from torseur.biomechanics.files.c3d_size import Claim, require_honest_size
from torseur.biomechanics.files.plates import LEAST_FORCE
from torseur.biomechanics.files.units import factor_to_si, require_plausible
from torseur.biomechanics.markers import Markers
from torseur.biomechanics.motion_trial import Analog, MotionTrial
from torseur.errors import RecordingError, UnsupportedError
from torseur.identification.arrays import Array

_RESULTS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS", "MODELED_MARKERS")


def read_c3d(
    path: str | Path,
    *,
    unit: str | None = None,
    axes: Axes | None = None,
    least_force: float = LEAST_FORCE,
    any_size: bool = False,
) -> MotionTrial:
    """Markers, plates and analog channels of a C3D file, in SI.

    `unit` is that of its points, where it is not what the file says; `axes` the directions of its axes, of which a file
    states at most the vertical one. Points that the file says were not seen are NaN. Points that are results (angles,
    moments) and not markers are left out, and noted. `least_force` (N) is where a centre of pressure begins.
    """
    file = Path(path)
    claim = require_honest_size(file)
    content = _content(file)
    parameters = Parameters(file, content["parameters"])
    _require_agreement(file, claim, content, parameters)
    length = _length_unit(file, parameters, unit)
    found = axes if axes is not None else _stated_axes(parameters)
    markers = _markers(file, content, parameters, factor_to_si(length, "m", f"'{file}', points"), found)
    if not any_size:
        require_plausible(markers.positions, length, unit is not None, file)
    analog = _analog(file, content, parameters)
    plates = plates_of(parameters, analog, length, found, least_force)
    return MotionTrial(markers, plates, analog)


def _content(file: Path) -> Any:
    try:
        import ezc3d
    except ImportError as problem:
        raise UnsupportedError("C3D files need ezc3d: pip install torseur[mocap].") from problem
    try:
        return ezc3d.c3d(str(file))
    except (OSError, RuntimeError, ValueError, IndexError) as problem:
        raise RecordingError(f"'{file}' cannot be read as C3D: {problem}.") from problem


def _require_agreement(file: Path, claim: Claim, content: Any, parameters: Parameters) -> None:
    """Header, parameters and data must tell the same numbers."""
    _, points, frames = content["data"]["points"].shape
    _, channels, samples = content["data"]["analogs"].shape
    pairs = {
        "points by the header": (claim.points, points),
        "points by POINT:USED": (parameters.whole("POINT", "USED", points), points),
        "frames by the header": (claim.frames if claim.counted else frames, frames),
        "analog values a frame by the header": (claim.analog, channels * (samples // frames if frames else 0)),
        "channels by ANALOG:USED": (parameters.whole("ANALOG", "USED", channels), channels),
    }
    for what, (said, held) in pairs.items():
        if said != held:
            raise RecordingError(f"'{file}' lies about its size: {said} {what}, but it holds {held}.")
    if not points or not frames:
        raise RecordingError(f"'{file}' holds no markers: {points} points in {frames} frames.")
    rate = parameters.number("POINT", "RATE")
    if not rate > 0:
        raise RecordingError(f"'{file}': its points have a rate of {rate:g} frames per second.")


def _length_unit(file: Path, parameters: Parameters, given: str | None) -> str:
    stated = parameters.text("POINT", "UNITS")
    if given is None and not stated:
        raise RecordingError(f"'{file}' does not say the unit of its points. Read it with unit='mm' or unit='m'.")
    return given or stated


def _stated_axes(parameters: Parameters) -> Axes:
    """The axis that the file draws upwards on a screen is the vertical one."""
    vertical = parameters.text("POINT", "Y_SCREEN").upper()
    if len(vertical) != 2 or vertical[0] not in "+-" or vertical[1] not in "XYZ":
        return NOT_STATED
    return replace(NOT_STATED, **{vertical[1].lower(): "up" if vertical[0] == "+" else "down"})


def _markers(file: Path, content: Any, parameters: Parameters, factor: float, axes: Axes) -> Markers:
    labels, notes = _distinct(parameters.labels("POINT"), content["data"]["points"].shape[1])
    points = np.moveaxis(np.asarray(content["data"]["points"][:3], dtype=float), 0, 2).swapaxes(0, 1).copy()
    residuals = np.asarray(content["data"]["meta_points"]["residuals"])[0].T
    points[residuals < 0] = np.nan
    notes += _gaps_at_origin(points, labels)
    results = {label for group in _RESULTS for label in parameters.texts("POINT", group)}
    kept = [k for k, label in enumerate(labels) if label not in results]
    if len(kept) < len(labels):
        notes.append(f"left out, being results and no markers: {', '.join(x for x in labels if x in results)}")
    rate = parameters.number("POINT", "RATE")
    time = (int(content["header"]["points"]["first_frame"]) + np.arange(len(points))) / rate
    return Markers(time, tuple(labels[k] for k in kept), factor * points[:, kept], axes, file.stem, tuple(notes))


def _distinct(labels: list[str], count: int) -> tuple[list[str], list[str]]:
    """A label of its own for every point; those without one, or with one that is taken, get another, noted."""
    found: list[str] = []
    renamed: list[str] = []
    for k in range(count):
        wanted = labels[k] if k < len(labels) and labels[k] else f"unlabelled {k + 1}"
        label, times = wanted, 1
        while label in found:
            times += 1
            label = f"{wanted} ({times})"
        if k >= len(labels) or label != labels[k]:
            renamed.append(label)
        found.append(label)
    return found, [f"points without a label of their own, named here: {', '.join(renamed)}"] if renamed else []


def _gaps_at_origin(points: Array, labels: list[str]) -> list[str]:
    """Points exactly at the laboratory's origin were not seen; some systems write them so."""
    empty = np.all(points == 0, axis=2)
    if not empty.any():
        return []
    points[empty] = np.nan
    listing = ", ".join(label for label, column in zip(labels, empty.T, strict=True) if column.any())
    return [f"exactly at the origin in some frames, taken as gaps: {listing}"]


def _analog(file: Path, content: Any, parameters: Parameters) -> Analog | None:
    values = np.asarray(content["data"]["analogs"], dtype=float)[0].T
    if not values.size:
        return None
    count = values.shape[1]
    labels = (parameters.labels("ANALOG") + [f"channel {k + 1}" for k in range(count)])[:count]
    units = (parameters.texts("ANALOG", "UNITS") + [""] * count)[:count]
    rate = parameters.number("ANALOG", "RATE")
    if not rate > 0:
        raise RecordingError(f"'{file}': its analog channels have a rate of {rate:g} samples per second.")
    start = int(content["header"]["points"]["first_frame"]) / parameters.number("POINT", "RATE")
    return Analog(start + np.arange(len(values)) / rate, tuple(labels), values, tuple(units), file.stem)
