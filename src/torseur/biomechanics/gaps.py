"""Gaps of markers filled, on request only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torseur.biomechanics.markers import Gap, Markers
from torseur.errors import RecordingError
from torseur.identification.arrays import Array

_NEIGHBOURS = 4


def filled(markers: Markers, longest: int) -> Markers:
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
    near = np.concatenate([seen[seen < gap.first][-_NEIGHBOURS:], seen[seen > gap.last][:_NEIGHBOURS]])
    inside = slice(gap.first, gap.last + 1)
    return np.asarray(CubicSpline(time[near], points[near])(time[inside]))
