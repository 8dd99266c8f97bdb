"""Cycles of a motion, from one strike of a foot to its next, and quantities over them in percent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.forces.ground_reaction import Footing
from torseur.analysis.biomechanics.recordings.markers import runs
from torseur.analysis.biomechanics.recordings.motion_trial import RecordedEvent

POINTS = 101
_STRIKES, _LEAVES = ("foot strike", "heel strike", "initial contact", "foot contact"), ("foot off", "toe off")
_SHORTEST = 3  # frames: contacts and pauses below are flicker
PERCENT = np.linspace(0.0, 100.0, POINTS)


@dataclass(frozen=True)
class Cycle:
    """Frames of one cycle of a foot: its strike, when it leaves the floor, its next strike; and its times (s)."""

    foot: str
    first: int
    off: int
    last: int
    start: float
    end: float

    @property
    def stance(self) -> float:
        """The part of the cycle in which the foot stands."""
        return (self.off - self.first) / (self.last - self.first)


def cycles_of(feet: Footing, time: Array, foot: str) -> tuple[Cycle, ...]:
    """Whole cycles of a foot within a trial."""
    contact = feet.contact[foot].copy()
    # A foot that lifts for less than _SHORTEST frames has not left the floor: noise of the markers.
    for first, last in runs(~contact):
        if last - first < _SHORTEST and first > 0 and last < len(contact) - 1:
            contact[first : last + 1] = True
    steps = [run for run in runs(contact) if run[1] - run[0] >= _SHORTEST]
    begun = [(first, last) for first, last in steps if first > 0]
    cycles = []
    for (first, off), (second, _) in pairwise(begun):
        cycles.append(Cycle(foot, first, off, second, float(time[first]), float(time[second])))
    return tuple(cycles)


def marked_cycles(events: Sequence[RecordedEvent], time: Array, foot: str) -> tuple[Cycle, ...]:
    """Whole cycles of a foot between strikes that somebody marked; none where there are no two."""
    side = {"r_foot": "right", "l_foot": "left"}[foot]
    own = [event for event in events if event.context.lower() == side and time[0] <= event.time <= time[-1]]
    strikes = [event.time for event in own if event.label.lower() in _STRIKES]
    leaves = [event.time for event in own if event.label.lower() in _LEAVES]
    cycles = []
    for start, end in pairwise(sorted(strikes)):
        off = next((instant for instant in sorted(leaves) if start < instant < end), None)
        if off is not None:
            first, leave, last = (int(np.argmin(np.abs(time - instant))) for instant in (start, off, end))
            cycles.append(Cycle(foot, first, leave, last, start, end))
    return tuple(cycles)


def over_trial(values: Array, time: Array) -> Array:
    """A quantity at 0, 1, ..., 100 percent of the trial."""
    return np.asarray(np.interp(time[0] + PERCENT / 100 * (time[-1] - time[0]), time, values))
