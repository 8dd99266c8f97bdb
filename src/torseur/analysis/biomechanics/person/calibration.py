"""A model fitted to a standing person: lengths between joints, and the places of the markers on the segments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.motion.joint_motion import JointMotion
from torseur.analysis.biomechanics.person_model.human36 import SIDES
from torseur.analysis.biomechanics.recordings.markers import Markers
from torseur.analysis.biomechanics.tracking import inverse_kinematics
from torseur.analysis.biomechanics.tracking.marker_model import Limits
from torseur.description.mechanism import Frame, Mechanism, placement
from torseur.errors import RecordingError

# Segment: the pairs of markers on either side of its two joints.
_ENDS = {"shank": (("KNE", "KNM"), ("ANK", "ANM")), "forearm": (("ELB", "ELM"), ("WRA", "WRB"))}


def calibrate(
    mechanism: Mechanism, standing: Markers, limits: Limits | None = None
) -> tuple[Mechanism, tuple[str, ...]]:
    """The model with the person's own lengths and markers, from a trial of standing still, and what was changed.

    Shanks and forearms are as long as the middles of the markers on both sides of their joints are apart. Then the
    model is fitted to the mean posture, and every marker moves to where it was seen on its segment.
    """
    still = _mean_posture(standing)
    lengths = measured_lengths(still)
    sized = mechanism.with_values(**lengths)
    fit = inverse_kinematics(sized, still, limits=limits)
    nothing = np.zeros_like(fit.q)
    body = BodyInMotion(sized, JointMotion(fit.time, fit.coordinates, fit.q, nothing, nothing))
    # The posture comes from all markers together; only then does each move to where it was seen on its segment.
    frames = {name: _marker_frame(body, frame, still, name) for name, frame in sized.frames}
    moved = [float(d) for d in fit.distances[0] if np.isfinite(d)]
    notes = [f"{name.replace('_', ' ')} {value:.3f} m" for name, value in lengths.items()]
    notes.append(f"{len(moved)} markers placed anew, by {1e3 * max(moved):.0f} mm at most")
    return replace(sized, frames=tuple(frames.items())), tuple(notes)


def measured_lengths(markers: Markers) -> dict[str, float]:
    """Lengths (m) of the segments that have markers on both sides of both joints, as parameters of Human36."""
    lengths = {}
    for side in SIDES:
        for segment, ends in _ENDS.items():
            labels = [[side.upper() + label for label in pair] for pair in ends]
            if all(label in markers.labels for pair in labels for label in pair):
                a, b = (markers.of(pair).mean(axis=1) for pair in labels)
                length = float(np.nanmedian(np.linalg.norm(a - b, axis=1)))
                if np.isfinite(length):
                    lengths[f"{side}_{segment}_length"] = length
    return lengths


def _mean_posture(standing: Markers) -> Markers:
    """One frame, the mean of all; refused where the person moved."""
    spread = np.nanmax(np.nanstd(standing.positions, axis=0), initial=0.0)
    if spread > 0.02:
        raise RecordingError(
            f"trial '{standing.name}': markers move by {1e3 * spread:.0f} mm (standard deviation); for the places of "
            "markers the person stands still."
        )
    with np.errstate(all="ignore"):
        mean = np.nanmean(standing.positions, axis=0)
    return Markers(standing.time[:1], standing.labels, mean[None], standing.axes, standing.name, standing.notes)


def _marker_frame(body: BodyInMotion, frame: Frame, still: Markers, name: str) -> Frame:
    """A marker's frame where it was seen; as it was where it was not."""
    if name not in still.labels or not still.present[0, still.slot(name)]:
        return frame
    origin, rotation = body.place(body.mechanism.body(frame.body).frame)
    local: Array = rotation[0].T @ (still.of(name)[0] - origin[0])
    return Frame(frame.body, placement([float(x) for x in local]))
