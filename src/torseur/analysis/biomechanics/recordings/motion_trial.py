"""A trial of motion capture: markers, force plates and other channels recorded together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.recordings.force_plates import PlateRecord
from torseur.analysis.biomechanics.recordings.markers import Markers, check_time
from torseur.errors import RecordingError, unknown_name


@dataclass(frozen=True, eq=False)
class Analog:
    """Analog channels: time (samples) in s and values (samples, channels), each channel in its own unit."""

    time: Array
    labels: tuple[str, ...]
    values: Array
    units: tuple[str, ...]
    name: str = "analog"

    def __post_init__(self) -> None:
        check_time(self.time, self.name)
        if np.shape(self.values) != (len(self.time), len(self.labels)) or len(self.units) != len(self.labels):
            raise RecordingError(
                f"'{self.name}': {len(self.labels)} labels, {len(self.units)} units and {len(self.time)} times do not "
                f"fit values of the shape {np.shape(self.values)}."
            )

    def of(self, label: str) -> Array:
        """One channel."""
        if label not in self.labels:
            raise RecordingError(unknown_name("channel", label, self.labels, f"'{self.name}': "))
        return self.values[:, self.labels.index(label)]


@dataclass(frozen=True)
class RecordedEvent:
    """An instant (s) that somebody marked in a recording: whose or which side's (Left, Right), and what it is."""

    time: float
    context: str
    label: str


@dataclass(frozen=True, eq=False)
class MotionTrial:
    """Markers, plates, analog channels and events of one recording, with one clock; all in SI along the same axes.

    `results` are what the laboratory's software computed and wrote among the points, (frames, 3) in the file's units;
    `subject` what the file says of the person: "height" (m), "mass" (kg), "knee width" and others (m).
    """

    markers: Markers
    plates: tuple[PlateRecord, ...] = ()
    analog: Analog | None = None
    notes: tuple[str, ...] = ()
    events: tuple[RecordedEvent, ...] = ()
    results: Mapping[str, Array] = field(default_factory=dict)
    subject: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for plate in self.plates:
            if plate.axes != self.markers.axes:
                raise RecordingError(
                    f"plate '{plate.name}' has {plate.axes}, the markers have {self.markers.axes}. Turn one of them."
                )

    @property
    def name(self) -> str:
        return self.markers.name

    def __str__(self) -> str:
        channels = f"{len(self.analog.labels)} analog channels" if self.analog else "no analog channels"
        marked = [f"{e.time:.3f} s: {e.context} {e.label}".replace("  ", " ") for e in self.events]
        return "\n".join([str(self.markers), *map(str, self.plates), channels, *marked, *self.notes])
