"""C3D files: markers, analog channels and force plates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array, Slots
from torseur.analysis.biomechanics.files.c3d_format import BLOCK, C3dFile, Claim, Frames, Groups, open_c3d
from torseur.analysis.biomechanics.files.plate_channels import (
    CHANNELS,
    LEAST_FORCE,
    UNITS,
    PlateSetup,
    plate_record,
)
from torseur.analysis.biomechanics.files.recording_units import (
    distinct_labels,
    factor_to_si,
    likely_length,
    plain,
    require_plausible,
)
from torseur.analysis.biomechanics.recordings.force_plates import PlateRecord
from torseur.analysis.biomechanics.recordings.laboratory_axes import NOT_STATED, Axes
from torseur.analysis.biomechanics.recordings.markers import Markers
from torseur.analysis.biomechanics.recordings.motion_trial import Analog, MotionTrial, RecordedEvent
from torseur.errors import RecordingError, UnsupportedError


@dataclass(frozen=True)
class Parameters:
    """What a file says about itself; what it does not say is empty, and an error only where it is needed."""

    file: Path
    groups: Groups

    def _value(self, group: str, name: str) -> Any:
        # Names mean the same in capitals: the format's own are, those of some laboratories' software are not.
        held = self.groups.get(group, {})
        known = name if name in held else next((each for each in held if each.upper() == name.upper()), "")
        return held[known] if known else []

    def texts(self, group: str, name: str) -> list[str]:
        return [plain(str(text)) for text in self._value(group, name)]

    def text(self, group: str, name: str) -> str:
        return next(iter(self.texts(group, name)), "")

    def labels(self, group: str) -> list[str]:
        """Labels of all points or channels, which a file may spread over LABELS, LABELS2, ..."""
        labels, more = self.texts(group, "LABELS"), 2
        while part := self.texts(group, f"LABELS{more}"):
            labels, more = labels + part, more + 1
        return labels

    def numbers(self, group: str, name: str) -> Array:
        value = self._value(group, name)
        if any(isinstance(each, str) for each in value):
            raise RecordingError(f"'{self.file}': its parameter {group}:{name} is text, expected numbers.")
        return np.asarray(value, dtype=float)

    def number(self, group: str, name: str) -> float:
        values = self.numbers(group, name).reshape(-1)
        if not len(values):
            raise RecordingError(f"'{self.file}' has no parameter {group}:{name}.")
        return float(values[0])

    def whole(self, group: str, name: str, default: int) -> int:
        values = self.numbers(group, name).reshape(-1)
        if len(values) and not np.isfinite(values[0]):
            raise RecordingError(
                f"'{self.file}': its parameter {group}:{name} is {values[0]}, expected a whole number."
            )
        # Counts above 32767 are stored as if negative.
        return int(values[0]) % 65536 if len(values) else default


GROUP = "FORCE_PLATFORM"


def plates_of(
    parameters: Parameters, analog: Analog | None, length: str, axes: Axes, least_force: float
) -> tuple[tuple[PlateRecord, ...], tuple[str, ...]]:
    """The plates that the file describes, each from its channels, and a word on those that it describes wrongly.

    A plate with impossible corners, or with channels that are no forces, is left out: the markers and the other plates
    are as good as ever.
    """
    count = parameters.whole(GROUP, "USED", 0)
    if count and analog is None:
        raise RecordingError(f"'{parameters.file}' describes {count} force plates but holds no analog channels.")
    plates, notes = [], []
    for k in range(count if analog is not None else 0):
        assert analog is not None
        try:
            plates.append(_plate(parameters, analog, k, length, axes, least_force))
        except (RecordingError, UnsupportedError) as problem:
            notes.append(f"plate {k + 1} is left out: {problem}")
    return tuple(plates), tuple(notes)


def _plate(parameters: Parameters, analog: Analog, k: int, length: str, axes: Axes, least_force: float) -> PlateRecord:
    setup = _setup(parameters, k, factor_to_si(length, "m", f"'{parameters.file}', corners of plates"))
    slots = _slots(parameters, analog, k, setup)
    scaled, notes = _in_si(parameters, analog, slots, setup, length)
    offset, more = _baseline(parameters, scaled, len(analog.time))
    record = plate_record(setup, analog.time, scaled - offset, least_force=least_force, axes=axes)
    for note in (*notes, *more):
        record = record.with_note(note)
    return record


def _setup(parameters: Parameters, k: int, factor: float) -> PlateSetup:
    name = f"plate {k + 1}"
    kinds = parameters.numbers(GROUP, "TYPE").reshape(-1)
    corners, origins = parameters.numbers(GROUP, "CORNERS"), parameters.numbers(GROUP, "ORIGIN")
    for what, values in (("TYPE", kinds), ("CORNERS", corners), ("ORIGIN", origins)):
        if values.size == 0 or values.shape[-1] <= k:
            raise RecordingError(f"'{parameters.file}': {GROUP}:{what} says nothing of {name}.")
    calibration = None
    if int(kinds[k]) == 4:
        matrices = parameters.numbers(GROUP, "CAL_MATRIX")
        if matrices.ndim >= 2:
            # Its moments come out in the unit of length of the points.
            calibration = (
                np.diag([1, 1, 1, factor, factor, factor]) @ matrices.reshape(*matrices.shape[:2], -1)[:, :, k]
            )
    return PlateSetup(name, int(kinds[k]), factor * corners[:, :, k].T, factor * origins[:, k], calibration)


def _slots(parameters: Parameters, analog: Analog, k: int, setup: PlateSetup) -> Slots:
    channels = parameters.numbers(GROUP, "CHANNEL").astype(int)
    wanted = CHANNELS[setup.kind]
    if channels.ndim != 2 or channels.shape[0] < wanted or channels.shape[1] <= k:
        raise RecordingError(f"'{parameters.file}': {GROUP}:CHANNEL does not name {wanted} channels of {setup.name}.")
    slots = channels[:wanted, k] - 1
    if slots.min() < 0 or slots.max() >= len(analog.labels):
        raise RecordingError(
            f"'{parameters.file}': {setup.name} uses channel {int(slots.max()) + 1}, the file has {len(analog.labels)}."
        )
    return np.asarray(slots, dtype=np.intp)


def _in_si(
    parameters: Parameters, analog: Analog, slots: Slots, setup: PlateSetup, length: str
) -> tuple[Array, list[str]]:
    """The plate's channels in N, N m and m; those of type 4 as they are, since its matrix takes them so."""
    if setup.kind == 4:
        return analog.values[:, slots], []
    columns, silent = [], []
    moment = f"N*{length}"
    for slot, wanted in zip(slots, UNITS[setup.kind], strict=True):
        label, unit = analog.labels[slot], analog.units[slot]
        usual = {"N": "N", "N*m": moment, "m": length}[wanted]
        if not unit:
            silent.append(label)
            unit = usual
        # A unit that is stated counts; forces of plates are reactions or actions by the type, not by the unit.
        columns.append(analog.values[:, slot] * factor_to_si(unit, wanted, f"'{parameters.file}', channel '{label}'"))
    notes = [f"no unit stated for {', '.join(silent)}: taken as N and {moment}"] if silent else []
    return np.column_stack(columns), notes


def _baseline(parameters: Parameters, values: Array, samples: int) -> tuple[Array, list[str]]:
    """The mean over the frames that the file says were recorded without load (FORCE_PLATFORM:ZERO)."""
    frames = parameters.numbers(GROUP, "ZERO").reshape(-1)
    if len(frames) < 2 or not 1 <= frames[0] <= frames[1]:
        return np.zeros(values.shape[1]), []
    first, last = int(frames[0]) - 1, int(frames[1])
    if last > samples:
        raise RecordingError(f"'{parameters.file}': {GROUP}:ZERO names sample {last} of {samples}.")
    return values[first:last].mean(axis=0), [f"mean of samples {first} to {last - 1} taken off, as the file asks"]


def require_whole_file(file: C3dFile) -> Claim:
    """Refuses a file that is shorter than its header says; longer ones end with an unfinished block."""
    path, claim, size = file.path, file.claim, len(file.content)
    if claim.frames < 1 or claim.start < 2 * BLOCK:
        raise RecordingError(
            f"'{path}' lies about its size: its header counts {claim.frames} frames from byte {claim.start} on."
        )
    if claim.counted and size < claim.bytes:
        whole = max(size - claim.start, 0) // max(claim.frame_bytes, 1)
        raise RecordingError(
            f"'{path}' lies about its size: its header counts {claim.frames} frames of {claim.points} points and "
            f"{claim.analog} analog values, {claim.bytes} bytes in all, but it has {size} bytes: {whole} whole frames. "
            "It was cut short, or its header is damaged."
        )
    return claim


def with_rates(file: C3dFile) -> Groups:
    """The parameters, with the rates that the header has where they have none."""
    groups, per_frame = file.groups, max(file.header[9], 1)
    point, analog = dict(groups.get("POINT", {})), dict(groups.get("ANALOG", {}))
    if not np.size(point.get("RATE", ())) and np.isfinite(file.rate) and file.rate > 0:
        point["RATE"] = np.array([file.rate])
    if not np.size(analog.get("RATE", ())) and np.size(point.get("RATE", ())):
        analog["RATE"] = np.array([float(np.ravel(point["RATE"])[0]) * per_frame])
    return {**groups, "POINT": point, "ANALOG": analog}


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
    raw = open_c3d(file)
    claim = require_whole_file(raw)
    parameters = Parameters(file, with_rates(raw))
    content = Content(raw.frames(_frame_count(raw, parameters)), raw.first_frame)
    _require_agreement(file, claim, content, parameters)
    length, guessed = _length_unit(content, parameters, unit)
    stated_axes = axes if axes is not None else _stated_axes(parameters)
    analog = _analog(file, content, parameters)
    if analog is not None and not content.frames.points.shape[1]:
        # Plates recorded by themselves: their samples are the frames.
        nothing = np.zeros((len(analog.time), 0, 3))
        markers = Markers(analog.time, (), nothing, stated_axes, file.stem, ("no markers: plates and channels alone",))
    else:
        markers = _markers(file, content, parameters, factor_to_si(length, "m", f"'{file}', points"), stated_axes)
        if not any_size:
            require_plausible(markers.positions, length, unit is not None, file)
    plates, notes = plates_of(parameters, analog, length, stated_axes, least_force)
    return MotionTrial(markers, plates, analog, (*guessed, *notes), _events(parameters), _results(content, parameters),
                       _subject(parameters))  # fmt: skip


def _results(content: Content, parameters: Parameters) -> dict[str, Array]:
    """Points that are results and no markers, without the subject's name, in the file's own units."""
    labels, listed = parameters.labels("POINT"), _listed_results(parameters)
    return {
        label.rpartition(":")[2]: np.where(content.frames.seen[:, k, None], content.frames.points[:, k], np.nan)
        for k, label in enumerate(labels[: content.frames.points.shape[1]]) if label.rpartition(":")[2] in listed
    }  # fmt: skip


# What Plug-in-Gait was told of a person, in kg and mm.
_MEASURED = {"height": ("Height",), "mass": ("Bodymass",), "knee width": ("LKneeWidth", "RKneeWidth"),
             "ankle width": ("LAnkleWidth", "RAnkleWidth"), "elbow width": ("LElbowWidth", "RElbowWidth")}  # fmt: skip


def _subject(parameters: Parameters) -> dict[str, float]:
    """Measures of the person in the group PROCESSING, the mean of both sides; 0 stands for unknown."""
    measures = {}
    for what, names in _MEASURED.items():
        stated = [float(x) for name in names for x in parameters.numbers("PROCESSING", name).reshape(-1)[:1] if x > 0]
        if stated:
            measures[what] = float(np.mean(stated)) * (1.0 if what == "mass" else 1e-3)
    return measures


def _listed_results(parameters: Parameters) -> set[str]:
    # By the groups in which the file lists them, not by their names; a subject's name may stand before either.
    return {label.rpartition(":")[2] for group in _RESULTS for label in parameters.texts("POINT", group)}


def _events(parameters: Parameters) -> tuple[RecordedEvent, ...]:
    """Instants of the group EVENT, in the order of time; TIMES holds minutes and seconds."""
    labels, contexts = parameters.texts("EVENT", "LABELS"), parameters.texts("EVENT", "CONTEXTS")
    times = parameters.numbers("EVENT", "TIMES")
    if times.ndim != 2 or times.shape[0] != 2 or len(labels) != times.shape[1]:
        return ()
    contexts += [""] * (len(labels) - len(contexts))
    instants = (60 * times[0] + times[1]).tolist()
    events = [RecordedEvent(*event) for event in zip(instants, contexts, labels, strict=False)]
    return tuple(sorted(events, key=lambda event: event.time))


@dataclass(frozen=True)
class Content:
    """What was recorded, and the number of the first frame from 0."""

    frames: Frames
    first: int


def _frame_count(file: C3dFile, parameters: Parameters) -> int:
    """How many frames the parameters count; the header's number where they count none."""
    claim = file.claim
    if claim.counted:
        return parameters.whole("POINT", "FRAMES", claim.frames) or claim.frames
    # Beyond 65535 frames the count stands elsewhere: two words, the lower first, or a floating point number.
    first, last = (parameters.numbers("TRIAL", f"ACTUAL_{end}_FIELD").reshape(-1) for end in ("START", "END"))
    if len(first) == 2 and len(last) == 2:
        ends = [int(low) % 65536 + 65536 * (int(high) % 65536) for low, high in (first, last)]
        return ends[1] - ends[0] + 1
    for name in ("LONG_FRAMES", "FRAMES"):
        stated = parameters.numbers("POINT", name).reshape(-1)
        if len(stated) and np.isfinite(stated[0]) and stated[0] > claim.frames:
            return int(stated[0])
    return (len(file.content) - claim.start) // max(claim.frame_bytes, 1)


def _require_agreement(file: Path, claim: Claim, content: Content, parameters: Parameters) -> None:
    """Header, parameters and data must tell the same numbers."""
    frames, points, _ = content.frames.points.shape
    samples, channels = content.frames.analog.shape
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
    if not samples and (not points or not frames):
        raise RecordingError(f"'{file}' holds no markers: {points} points in {frames} frames, and no analog channels.")
    if points and not (rate := parameters.number("POINT", "RATE")) > 0:
        raise RecordingError(f"'{file}': its points have a rate of {rate:g} frames per second.")


def _length_unit(content: Content, parameters: Parameters, given: str | None) -> tuple[str, list[str]]:
    """The unit of points; where nothing states it, what their sizes tell, and a word on it."""
    stated = given or parameters.text("POINT", "UNITS")
    if stated:
        return stated, []
    seen = content.frames.points[content.frames.seen]
    likely = likely_length(seen if len(seen) else parameters.numbers(GROUP, "CORNERS").reshape(-1))
    return likely, [f"the file does not say the unit of its points: taken as {likely}, by their size (--unit)"]


def _stated_axes(parameters: Parameters) -> Axes:
    """The axis that the file draws upwards on a screen is the vertical one."""
    vertical = parameters.text("POINT", "Y_SCREEN").upper()
    if len(vertical) != 2 or vertical[0] not in "+-" or vertical[1] not in "XYZ":
        return NOT_STATED
    return replace(NOT_STATED, **{vertical[1].lower(): "up" if vertical[0] == "+" else "down"})


def _markers(file: Path, content: Content, parameters: Parameters, factor: float, axes: Axes) -> Markers:
    labels, notes = distinct_labels(parameters.labels("POINT"), content.frames.points.shape[1])
    points = content.frames.points.copy()
    # The format marks a point that was not seen by a negative residual; its coordinates are then meaningless.
    points[~content.frames.seen] = np.nan
    notes += _gaps_at_origin(points, labels)
    listed = _listed_results(parameters)
    results = {label for label in labels if label.rpartition(":")[2] in listed}
    kept = [k for k, label in enumerate(labels) if label not in results]
    if len(kept) < len(labels):
        notes.append(f"left out, being results and no markers: {', '.join(x for x in labels if x in results)}")
    rate = parameters.number("POINT", "RATE")
    time = (content.first + np.arange(len(points))) / rate
    return Markers(time, tuple(labels[k] for k in kept), factor * points[:, kept], axes, file.stem, tuple(notes))


def _gaps_at_origin(points: Array, labels: list[str]) -> list[str]:
    """Points exactly at the laboratory's origin were not seen; some systems write them so."""
    empty = np.all(points == 0, axis=2)
    if not empty.any():
        return []
    points[empty] = np.nan
    listing = ", ".join(label for label, column in zip(labels, empty.T, strict=True) if column.any())
    return [f"exactly at the origin in some frames, taken as gaps: {listing}"]


def _analog(file: Path, content: Content, parameters: Parameters) -> Analog | None:
    values = content.frames.analog
    if not values.size:
        return None
    count = values.shape[1]
    labels = (parameters.labels("ANALOG") + [f"channel {k + 1}" for k in range(count)])[:count]
    units = (parameters.texts("ANALOG", "UNITS") + [""] * count)[:count]
    rate = parameters.number("ANALOG", "RATE")
    if not rate > 0:
        raise RecordingError(f"'{file}': its analog channels have a rate of {rate:g} samples per second.")
    frames = parameters.numbers("POINT", "RATE").reshape(-1)
    first = content.first
    start = first / float(frames[0]) if len(frames) and frames[0] > 0 else 0.0
    return Analog(start + np.arange(len(values)) / rate, tuple(labels), values, tuple(units), file.stem)
