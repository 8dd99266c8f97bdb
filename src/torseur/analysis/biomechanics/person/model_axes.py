"""Trials turned to the axes of the model: x the way a person faces, y up, z right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.person_model.marker_sets import OWN, MarkerSet
from torseur.analysis.biomechanics.person_model.marker_sets import marker_set as ready_set
from torseur.analysis.biomechanics.recordings.force_plates import PlateRecord
from torseur.analysis.biomechanics.recordings.laboratory_axes import OPENSIM_AXES
from torseur.analysis.biomechanics.recordings.markers import Markers
from torseur.analysis.biomechanics.recordings.motion_trial import MotionTrial
from torseur.errors import RecordingError

# Landmarks in front of and behind the middle of a segment, the pelvis first.
FACING = (
    (("r_asis", "l_asis"), ("sacrum",)),
    (("r_asis", "l_asis"), ("r_psis", "l_psis")),
    (("jugular_notch", "xiphoid_process"), ("c7", "t8")),
    (("jugular_notch", "xiphoid_process"), ("c7", "t10")),
)
_SMALL = np.radians(2.0)


def turn_to_model_axes(trial: MotionTrial, marker_set: MarkerSet | None = None) -> tuple[MotionTrial, tuple[str, ...]]:
    """The trial along the model's axes, and what was done.

    Up is what the recording says. Forward is where the pelvis faces on the whole, by its markers, or else the trunk;
    without them, what the recording says, or else any direction along the floor.
    """
    up = trial.markers.axes.upward
    upright = _shortest_turn(up, np.array([0.0, 1.0, 0.0]))
    notes = []
    forward = _forward(trial.markers, marker_set or ready_set(OWN))
    if forward is not None:
        level = upright @ forward
        angle = float(np.arctan2(level[2], level[0]))
        about = _about_y(angle) if abs(angle) > _SMALL else np.eye(3)
        R = about @ upright
    else:
        R = trial.markers.axes.rotation_to(OPENSIM_AXES) if all(trial.markers.axes.words) else upright
        notes.append("no markers before and behind pelvis or trunk: where the person faces is not known from them")
    if not np.allclose(R, np.eye(3)):
        turn = np.degrees(np.arccos(np.clip((np.trace(R) - 1) / 2, -1.0, 1.0)))
        notes.append(f"turned by {turn:.1f}° to the axes {OPENSIM_AXES} (recorded: {trial.markers.axes})")
    return _rotate_trial(trial, R), tuple(notes)


def _forward(markers: Markers, marker_set: MarkerSet) -> Array | None:
    """The mean way from back to front of the pelvis or the trunk; None where their markers are not all there."""
    for front, back in FACING:
        labels = [[marker_set.label_of(name, markers.labels) for name in side] for side in (front, back)]
        if any(label is None for side in labels for label in side):
            continue
        ends = [markers.of([label for label in side if label]).mean(axis=1) for side in labels]
        if not np.isfinite(ends[0] - ends[1]).all(axis=1).any():
            continue
        way = np.nanmean(ends[0] - ends[1], axis=0)
        if float(np.linalg.norm(way)) < 1e-3:
            raise RecordingError("the markers of the pelvis do not tell front from back: are their labels swapped?")
        return np.asarray(way)
    return None


def _shortest_turn(a: Array, b: Array) -> Array:
    """The rotation that takes one unit vector to another by the shortest way."""
    v, c = np.cross(a, b), float(a @ b)
    if c < -1 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    # R = 1 + ṽ + ṽ² / (1 + c), v = a × b and c = a · b: Rodrigues' formula without angles, singular at half a turn.
    skew = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return np.asarray(np.eye(3) + skew + skew @ skew / (1 + c))


def _about_y(angle: float) -> Array:
    """The rotation about y that takes (cos angle, 0, sin angle) to x."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def _rotate_trial(trial: MotionTrial, R: Array) -> MotionTrial:
    markers = replace(trial.markers, positions=trial.markers.positions @ R.T, axes=OPENSIM_AXES)
    return replace(trial, markers=markers, plates=tuple(_plate(plate, R) for plate in trial.plates))


def _plate(plate: PlateRecord, R: Array) -> PlateRecord:
    return replace(
        plate,
        force=plate.force @ R.T,
        moment_about_origin=plate.moment_about_origin @ R.T,
        centre_of_pressure=plate.centre_of_pressure @ R.T,
        corners=plate.corners @ R.T,
        axes=OPENSIM_AXES,
    )
