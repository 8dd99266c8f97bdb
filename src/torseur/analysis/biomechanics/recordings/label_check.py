"""Markers under a wrong label, noticed because the segments they belong to do not change their shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.motion.segment_motion import Shape, segment_motion
from torseur.analysis.biomechanics.recordings.markers import Markers, runs
from torseur.errors import RecordingError

TOLERANCE = 0.02  # m: skin moves less on most segments, and markers of one segment stand farther apart
Groups = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class LabelFault:
    """Frames, first to last, in which a segment is deformed by `error` (m).

    `swapped` names two labels whose exchange brings it down to `after`; it is empty where no exchange explains it.
    """

    segment: str
    first: int
    last: int
    error: float
    swapped: tuple[str, ...] = ()
    after: float = float("nan")

    def __str__(self) -> str:
        where = f"frames {self.first} to {self.last}: segment '{self.segment}' is deformed by {self.error * 1e3:.3g} mm"
        if not self.swapped:
            return f"{where}: a marker has moved, or bears another's label."
        a, b = self.swapped
        return f"{where}; with labels '{a}' and '{b}' exchanged by {self.after * 1e3:.3g} mm: they look swapped."


def label_faults(
    markers: Markers, segments: Groups, shapes: Mapping[str, Shape] | None = None, tolerance: float = TOLERANCE
) -> tuple[LabelFault, ...]:
    """Where segments lose their shape by more than `tolerance` (m), and which two labels explain it when exchanged.

    `segments` gives the labels on each segment, `shapes` their places where they are known.
    """
    fits = {name: segment_motion(markers, labels, (shapes or {}).get(name), name=name)
            for name, labels in segments.items()}  # fmt: skip
    known = {name: fit.shape for name, fit in fits.items()}
    faults = []
    for name, fit in fits.items():
        for first, last in runs(np.nan_to_num(fit.residual) > tolerance):
            part = markers.frames(slice(first, last + 1))
            worst = float(np.nanmax(fit.residual[first : last + 1]))
            fault = LabelFault(name, first, last, worst)
            faults.append(_explain(fault, part, segments, known, tolerance))
    return tuple(_without_repetition(faults))


def all_label_faults(markers: Markers, segments: Groups, tolerance: float = TOLERANCE) -> tuple[LabelFault, ...]:
    """The faults of all segments whose markers show their shape: three at least, off a line, seen together."""
    judged = {}
    for name, labels in segments.items():
        try:
            segment_motion(markers, labels, name=name)
        except RecordingError:
            continue
        judged[name] = labels
    return label_faults(markers, judged, tolerance=tolerance) if judged else ()


def require_labels(markers: Markers, segments: Groups, tolerance: float = TOLERANCE) -> None:
    """Refuses a recording in which a segment loses its shape; the first faults are named."""
    faults = label_faults(markers, segments, tolerance=tolerance)
    if faults:
        more = f" ({len(faults)} faults in all)" if len(faults) > 1 else ""
        raise RecordingError(f"trial '{markers.name}', {faults[0]}{more}")


def exchange_labels(markers: Markers, first: str, second: str, frames: slice) -> Markers:
    """The recording with two labels exchanged in some frames, noted."""
    a, b = markers.slot(first), markers.slot(second)
    positions = markers.positions.copy()
    positions[frames, a], positions[frames, b] = markers.positions[frames, b], markers.positions[frames, a]
    start, stop, _ = frames.indices(len(markers))
    note = f"labels '{first}' and '{second}' exchanged in frames {start} to {stop - 1}"
    return replace(markers, positions=positions, notes=(*markers.notes, note))


def _explain(
    fault: LabelFault, part: Markers, segments: Groups, shapes: Mapping[str, Shape], tolerance: float
) -> LabelFault:
    """The exchange of two labels, one of them of this segment, that restores every segment best."""
    everyone = [label for labels in segments.values() for label in labels]
    mine = set(segments[fault.segment])
    best, pair = np.inf, ("", "")
    for a, b in combinations(everyone, 2):
        if a in mine or b in mine:
            error = _worst(exchange_labels(part, a, b, slice(None)), _segments_with(segments, a, b), shapes)
            best, pair = (error, (a, b)) if error < best else (best, pair)
    if best > tolerance:
        return fault
    return replace(fault, swapped=pair, after=float(best))


def _segments_with(segments: Groups, a: str, b: str) -> Groups:
    return {name: labels for name, labels in segments.items() if a in labels or b in labels}


def _worst(markers: Markers, segments: Groups, shapes: Mapping[str, Shape]) -> float:
    residuals: list[Array] = [
        segment_motion(markers, labels, shapes[name], name=name).residual for name, labels in segments.items()
    ]
    return float(np.nanmax(np.concatenate(residuals))) if residuals else np.inf


def _without_repetition(faults: Sequence[LabelFault]) -> list[LabelFault]:
    """A swap between two segments deforms both and is told once."""
    reported: set[tuple[tuple[str, ...], int, int]] = set()
    kept = []
    for fault in faults:
        key = (fault.swapped, fault.first, fault.last)
        if not fault.swapped or key not in reported:
            kept.append(fault)
        reported.add(key)
    return kept
