"""Markers: labelled points followed through time, their gaps, and gaps filled on request only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.analysis.biomechanics.recordings.laboratory_axes import NOT_STATED, Axes
from torseur.errors import RecordingError, unknown_name


@dataclass(frozen=True)
class Gap:
    """Frames, first to last, in which a marker was not seen."""

    label: str
    first: int
    last: int

    @property
    def length(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True, eq=False)
class Markers:
    """Positions of labelled markers: time (frames) in s, positions (frames, markers, 3) in m along `axes`.

    Where a marker was not seen its position is NaN. `notes` tell what was done to the recording.
    """

    time: Array
    labels: tuple[str, ...]
    positions: Array
    axes: Axes = NOT_STATED
    name: str = "trial"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("time", "positions"):
            view = np.asarray(getattr(self, name), dtype=float).view()
            view.setflags(write=False)
            object.__setattr__(self, name, view)
        object.__setattr__(self, "labels", tuple(self.labels))
        self._check_shapes()
        _check_labels(self.labels, self.name)
        check_time(self.time, self.name)
        if np.isinf(self.positions).any():
            frame, marker, _ = np.argwhere(np.isinf(self.positions))[0]
            raise RecordingError(
                f"trial '{self.name}': marker '{self.labels[marker]}' is infinitely far away in frame {frame}. "
                "A gap is written as NaN."
            )

    def _check_shapes(self) -> None:
        wanted = (len(self.time), len(self.labels), 3)
        if self.positions.shape != wanted:
            raise RecordingError(
                f"trial '{self.name}': positions have the shape {self.positions.shape}, "
                f"not (frames, markers, 3) = {wanted}."
            )

    def __len__(self) -> int:
        return len(self.time)

    def __str__(self) -> str:
        seen = 100.0 * float(np.mean(self.present)) if self.present.size else 0.0
        lines = [
            f"{self.name}: {len(self.labels)} markers, {len(self)} frames at {self.rate:.6g} Hz, {seen:.4g} % seen; "
            f"positions in m, {self.axes}",
            *self.notes,
        ]
        return "\n".join(lines)

    @property
    def rate(self) -> float:
        """Frames per second."""
        return (len(self.time) - 1) / float(self.time[-1] - self.time[0]) if len(self.time) > 1 else 0.0

    @property
    def present(self) -> Mask:
        """Which marker was seen in which frame."""
        return np.asarray(np.isfinite(self.positions).all(axis=2))

    def of(self, labels: str | Iterable[str]) -> Array:
        """Positions of one marker (frames, 3), or of several in that order (frames, count, 3)."""
        if isinstance(labels, str):
            return self.positions[:, self.slot(labels)]
        return self.positions[:, [self.slot(label) for label in labels]]

    def slot(self, label: str) -> int:
        if label not in self.labels:
            raise RecordingError(unknown_name("marker", label, self.labels, f"trial '{self.name}': "))
        return self.labels.index(label)

    def only(self, labels: Sequence[str]) -> Markers:
        """These markers, in this order."""
        return replace(self, labels=tuple(labels), positions=self.of(labels))

    def frames(self, chosen: slice | Mask | Array) -> Markers:
        """Some of the frames."""
        return replace(self, time=self.time[chosen], positions=self.positions[chosen])

    def gaps(self) -> tuple[Gap, ...]:
        """Every run of frames in which a marker was not seen."""
        return tuple(
            Gap(label, int(first), int(last))
            for k, label in enumerate(self.labels)
            for first, last in runs(~self.present[:, k])
        )

    def without(self, label: str, frames: slice) -> Markers:
        """As if a marker had not been seen in some frames, for simulated recordings."""
        positions = self.positions.copy()
        positions[frames, self.slot(label)] = np.nan
        start, stop, _ = frames.indices(len(self))
        return replace(
            self, positions=positions, notes=(*self.notes, f"'{label}' hidden in frames {start} to {stop - 1}")
        )

    def with_noise(self, amplitude: float, rng: np.random.Generator) -> Markers:
        """Uniform white noise of at most ±amplitude (m) on every coordinate, for simulated recordings."""
        noisy = self.positions + rng.uniform(-amplitude, amplitude, self.positions.shape)
        note = f"white noise of at most {1e3 * amplitude:g} mm added"
        return replace(self, positions=noisy, notes=(*self.notes, note))

    def along(self, axes: Axes) -> Markers:
        """The same points along other axes with the same origin."""
        R = self.axes.rotation_to(axes)
        note = f"turned from {self.axes} to {axes}"
        return replace(self, positions=self.positions @ R.T, axes=axes, notes=(*self.notes, note))


def runs(flags: Mask) -> list[tuple[int, int]]:
    """First and last place of every run of true flags."""
    edges = np.diff(np.concatenate([[0], flags.astype(int), [0]]))
    return [(int(a), int(b) - 1) for a, b in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True)]


def _check_labels(labels: tuple[str, ...], name: str) -> None:
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise RecordingError(f"trial '{name}': label '{twice[0]}' stands for {labels.count(twice[0])} markers.")


def check_time(time: Array, name: str) -> None:
    """Refuses times that are not numbers or do not increase."""
    if time.ndim != 1 or not len(time) or not np.isfinite(time).all():
        raise RecordingError(f"trial '{name}': times must be a row of at least one number.")
    late = np.flatnonzero(np.diff(time) <= 0)
    if len(late):
        raise RecordingError(
            f"trial '{name}': time does not increase after frame {late[0]} (t = {time[late[0]]:.6g} s)."
        )


_NEIGHBOURS = 4


def fill_gaps(markers: Markers, longest: int) -> Markers:
    """The recording with gaps of up to `longest` frames bridged by cubic splines; every filled gap is noted.

    Gaps at the beginning and at the end stay, and so do longer ones.
    """
    if longest < 1:
        raise RecordingError(f"gaps of at least one frame are filled, not of {longest}.")
    positions, notes = markers.positions.copy(), []
    for gap in markers.gaps():
        if gap.length <= longest and gap.first > 0 and gap.last < len(markers) - 1:
            slot = markers.slot(gap.label)
            positions[gap.first : gap.last + 1, slot] = _bridge(markers.time, markers.positions[:, slot], gap)
            notes.append(f"gap of '{gap.label}' in frames {gap.first} to {gap.last} filled by a cubic spline")
    return replace(markers, positions=positions, notes=(*markers.notes, *notes))


def _bridge(time: Array, points: Array, gap: Gap) -> Array:
    """Points in a gap, from up to four frames seen on either side."""
    from scipy.interpolate import CubicSpline

    seen = np.flatnonzero(np.isfinite(points).all(axis=1))
    # Four frames on either side carry the curvature across; more would only let far frames bend the bridge.
    near = np.concatenate([seen[seen < gap.first][-_NEIGHBOURS:], seen[seen > gap.last][:_NEIGHBOURS]])
    inside = slice(gap.first, gap.last + 1)
    return np.asarray(CubicSpline(time[near], points[near])(time[inside]))
