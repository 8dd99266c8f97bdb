"""Trials written as C3D files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.files.plate_channels import CHANNELS, UNITS, PlateSetup
from torseur.analysis.biomechanics.recordings.laboratory_axes import Axes
from torseur.analysis.biomechanics.recordings.motion_trial import Analog, MotionTrial
from torseur.errors import RecordingError, UnsupportedError
from torseur.extras import install_command

_MM = 1e3
_INT, _FLOAT = 2, 4  # kinds of numbers in ezc3d


def write_c3d(
    path: str | Path, trial: MotionTrial, setups: Sequence[PlateSetup] = (), channels: Sequence[Array] = ()
) -> Path:
    """A trial as a C3D file in mm, with its results, its analog channels and, after them, those of force plates.

    `channels` gives what each plate of `setups` recorded, (samples, channels) in N, N m and m at the rate of the analog
    channels. Without them the trial's own plates are written as plates of type 2.
    """
    file = Path(path)
    if file.suffix != ".c3d":
        raise RecordingError(f"'{file}': the name of a C3D file ends with .c3d.")
    try:
        import ezc3d
    except ImportError as problem:
        raise UnsupportedError(f"C3D files need ezc3d: {install_command('mocap')}.") from problem
    if not setups and trial.plates:
        setups = [PlateSetup(plate.name, 2, plate.corners, np.zeros(3)) for plate in trial.plates]
        pairs = zip(setups, trial.plates, strict=True)
        channels = [plate_channels(setup, plate.force, plate.moment_about_origin) for setup, plate in pairs]
    content = ezc3d.c3d()
    _write_points(content, trial)
    analog = _with_plates(trial, setups, channels)
    if analog is not None:
        _write_analog(content, analog, trial.markers.rate)
    if setups:
        _write_plates(content, setups, len(trial.analog.labels) if trial.analog else 0)
    content.write(str(file))
    return file


def plate_channels(setup: PlateSetup, force: Array, moment_about_origin: Array) -> Array:
    """What a plate of type 2 records (samples, 6) of a force and its moment about the laboratory's origin.

    The inverse of `plate_record`.
    """
    if setup.kind != 2:
        raise UnsupportedError(f"channels are made for plates of type 2, not {setup.kind}.")
    local = force @ setup.rotation
    at_surface = (moment_about_origin - np.cross(setup.centre, force)) @ setup.rotation
    return np.hstack([local, at_surface + np.cross(setup.origin, local)])


def _write_points(content: Any, trial: MotionTrial) -> None:
    markers, group = trial.markers, content["parameters"]["POINT"]
    group["RATE"]["value"] = np.array([markers.rate])
    group["UNITS"]["value"] = ["mm"]
    for name, value in _screen(markers.axes).items():
        content.add_parameter("POINT", name, [value])
    # Results stand among the points, as angles in degrees stand beside markers in mm, and are listed by their kind.
    labels = [*markers.labels, *trial.results]
    values = np.stack([*np.moveaxis(_MM * markers.positions, 1, 0), *trial.results.values()])
    group["LABELS"]["value"] = labels
    for kind in ("ANGLES", "MOMENTS", "POWERS"):
        if own := [label for label in trial.results if kind.title()[:-1] in label]:
            content.add_parameter("POINT", kind, own)
    points = np.ones((4, len(labels), len(markers)))
    points[:3] = np.moveaxis(values, 2, 0)
    content["data"]["points"] = points
    content["data"]["meta_points"]["residuals"] = np.where(np.isfinite(values).all(axis=2), 0.0, -1.0)[None]
    content["data"]["meta_points"]["camera_masks"] = np.zeros((7, len(labels), len(markers)), dtype=bool)


def _screen(axes: Axes) -> dict[str, str]:
    """The axes to draw to the right and upwards, where it is known what points up."""
    upright = [k for k, word in enumerate(axes.words) if word in ("up", "down")]
    if not upright:
        return {}
    k = upright[0]
    sign = "+" if axes.words[k] == "up" else "-"
    return {"X_SCREEN": "+" + "XYZ"[(k + 1) % 3], "Y_SCREEN": sign + "XYZ"[k]}


def _with_plates(trial: MotionTrial, setups: Sequence[PlateSetup], channels: Sequence[Array]) -> Analog | None:
    """The trial's channels and those of the plates, moments in N mm as most files have them."""
    if len(setups) != len(channels):
        raise RecordingError(f"{len(setups)} plates but channels of {len(channels)}.")
    if not setups:
        return trial.analog
    own = trial.analog
    count = len(channels[0])
    time = own.time if own is not None else trial.markers.time[0] + np.arange(count) / _rate(trial, count)
    labels, units, values = list(own.labels if own else ()), list(own.units if own else ()), [own.values] if own else []
    for k, (setup, recorded) in enumerate(zip(setups, channels, strict=True)):
        if recorded.shape != (len(time), CHANNELS[setup.kind]):
            raise RecordingError(f"'{setup.name}': channels of the shape {recorded.shape}, not "
                                 f"{(len(time), CHANNELS[setup.kind])}.")  # fmt: skip
        wanted = UNITS[setup.kind]
        labels += [f"FP{k + 1}.{_LETTERS[unit]}{i + 1}" for i, unit in enumerate(wanted)]
        units += [_WRITTEN[unit][0] for unit in wanted]
        values.append(recorded * np.array([_WRITTEN[unit][1] for unit in wanted]))
    return Analog(time, tuple(labels), np.hstack(values), tuple(units), trial.name)


_LETTERS = {"N": "F", "N*m": "M", "m": "P", "V": "C"}
_WRITTEN = {"N": ("N", 1.0), "N*m": ("Nmm", _MM), "m": ("mm", _MM), "V": ("V", 1.0)}


def _rate(trial: MotionTrial, samples: int) -> float:
    return trial.markers.rate * samples / len(trial.markers)


def _write_analog(content: Any, analog: Analog, rate: float) -> None:
    group = content["parameters"]["ANALOG"]
    step = float(np.median(np.diff(analog.time)))
    group["RATE"]["value"] = np.array([round(1 / step / rate) * rate])
    group["LABELS"]["value"] = list(analog.labels)
    group["UNITS"]["value"] = list(analog.units)
    content["data"]["analogs"] = analog.values.T[None].copy()


def _write_plates(content: Any, setups: Sequence[PlateSetup], before: int) -> None:
    widest = max(CHANNELS[setup.kind] for setup in setups)
    numbers = np.zeros((widest, len(setups)), dtype=int)
    for k, setup in enumerate(setups):
        own = CHANNELS[setup.kind]
        numbers[:own, k] = before + 1 + np.arange(own)
        before += own
    parameters = {
        "USED": (_INT, np.array([len(setups)])),
        "TYPE": (_INT, np.array([setup.kind for setup in setups])),
        "ZERO": (_INT, np.array([1, 0])),
        "CHANNEL": (_INT, numbers),
        "CORNERS": (_FLOAT, np.stack([_MM * setup.corners.T for setup in setups], axis=2)),
        "ORIGIN": (_FLOAT, np.stack([_MM * setup.origin for setup in setups], axis=1)),
    }
    if any(setup.calibration is not None for setup in setups):
        to_mm = np.diag([1, 1, 1, _MM, _MM, _MM])
        matrices = [np.eye(6) if setup.calibration is None else to_mm @ setup.calibration for setup in setups]
        parameters["CAL_MATRIX"] = (_FLOAT, np.stack(matrices, axis=2))
    group = content["parameters"]["FORCE_PLATFORM"]
    for name, (kind, value) in parameters.items():
        group[name] = {"type": kind, "description": "", "is_locked": False, "value": value}
