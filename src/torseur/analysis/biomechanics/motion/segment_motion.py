"""Motions of segments, each from the markers it carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.analysis.biomechanics.motion.rotation_from_markers import (
    FLAT,
    centre_points,
    determined_frames,
    flatness,
    frame_of_three,
    rotations,
)
from torseur.analysis.biomechanics.recordings.laboratory_axes import NOT_STATED, Axes
from torseur.analysis.biomechanics.recordings.markers import Markers
from torseur.errors import RecordingError

Shape = Mapping[str, Sequence[float] | Array]
_ROUNDS = 3


@dataclass(frozen=True, eq=False)
class SegmentMotion:
    """Where a segment is in every frame: rotation (frames, 3, 3) to laboratory axes, origin (frames, 3) in m.

    `shape` gives the places of its markers in the segment, in m; `residual` (frames) is the root mean square distance
    in m of the markers seen from those places. Frames that do not determine the segment are NaN.
    """

    name: str
    time: Array
    rotation: Array
    origin: Array
    shape: Mapping[str, Array]
    residual: Array
    axes: Axes = NOT_STATED

    def __str__(self) -> str:
        rms = float(np.sqrt(np.nanmean(self.residual**2))) if self.known_frames.any() else float("nan")
        return (
            f"{self.name}: known in {int(self.known_frames.sum())} of {len(self.time)} frames, {len(self.shape)} "
            f"markers within {1e3 * rms:.3g} mm of a rigid shape (root mean square); origin in m, rotation to the "
            f"laboratory, {self.axes}"
        )

    @property
    def known_frames(self) -> Mask:
        """Frames in which the segment's place is determined."""
        return np.asarray(np.isfinite(self.origin).all(axis=1))

    def at(self, place: Sequence[float] | Array) -> Array:
        """Positions (frames, 3) of a point fixed in the segment."""
        return self.origin + self.rotation @ np.asarray(place, dtype=float)

    def seen_from(self, other: SegmentMotion) -> SegmentMotion:
        """The motion relative to another segment, along that segment's axes."""
        back = np.swapaxes(other.rotation, 1, 2)
        origin = np.einsum("tij,tj->ti", back, self.origin - other.origin)
        return replace(self, name=f"{self.name} from {other.name}", rotation=back @ self.rotation, origin=origin)


def segment_motion(
    markers: Markers,
    labels: Sequence[str],
    shape: Shape | None = None,
    *,
    method: str = "eigenvector",
    weights: Mapping[str, float] | None = None,
    name: str = "segment",
) -> SegmentMotion:
    """The motion of the segment that carries these markers.

    `shape` gives the markers' places in the segment. Without it the segment's frame is that of its first three markers
    (first marker, towards the second, in the plane of the third), with the places found from the recording itself.
    """
    points = markers.of(labels)
    places = own_shape(markers, labels, name) if shape is None else _given_shape(shape, labels, name)
    require_rotation(places, labels, name)
    given = None if weights is None else np.array([float(weights.get(label, 1.0)) for label in labels])
    rotation = rotations(points, places, method, given)
    counted = np.where(np.isfinite(points).all(axis=2), 1.0 if given is None else given, 0.0)
    origin = _origins(points, places, rotation, counted, method)
    fitted = origin[:, None] + np.einsum("tij,kj->tki", rotation, places)
    return SegmentMotion(
        name, markers.time, rotation, origin, dict(zip(labels, places, strict=True)), _distance(points, fitted),
        markers.axes,
    )  # fmt: skip


def _origins(points: Array, places: Array, rotation: Array, weights: Array, method: str) -> Array:
    """Origin of the segment: under the mean of its markers, or by the first marker where nothing is minimised."""
    if method == "algebraic":
        return points[:, 0] - rotation @ places[0]
    middle = centre_points(points, weights)[1]
    local = centre_points(np.broadcast_to(places, points.shape), weights)[1]
    return middle - np.einsum("tij,tj->ti", rotation, local)


def _distance(points: Array, fitted: Array) -> Array:
    """Root mean square distance of the markers seen in every frame."""
    square = np.sum((points - fitted) ** 2, axis=2)
    count = np.isfinite(square).sum(axis=1)
    return np.sqrt(np.where(count > 0, np.nansum(square, axis=1) / np.maximum(count, 1), np.nan))


def _given_shape(shape: Shape, labels: Sequence[str], name: str) -> Array:
    absent = [label for label in labels if label not in shape]
    if absent:
        raise RecordingError(f"segment '{name}': no place is given for marker '{absent[0]}'.")
    return np.array([shape[label] for label in labels], dtype=float)


def require_rotation(places: Array, labels: Sequence[str], name: str) -> None:
    """Refuses fewer than three markers, and markers on a line."""
    if len(labels) < 3:
        listing = ", ".join(labels) or "none"
        raise RecordingError(f"segment '{name}' carries {len(labels)} markers ({listing}): a rotation needs three.")
    if flatness(places) <= FLAT:
        raise RecordingError(
            f"segment '{name}': markers {', '.join(labels)} lie on a line, so that the rotation about it is not "
            "determined. Add a marker beside the line."
        )


def own_shape(markers: Markers, labels: Sequence[str], name: str = "segment") -> Array:
    """Places of markers in the frame of the first three, from all frames in which every one of them was seen.

    The median over the frames, each laid over the others: a few frames with errors do not count.
    """
    if len(labels) < 3:
        require_rotation(np.zeros((len(labels), 3)), labels, name)
    points = markers.of(labels)
    whole = points[np.isfinite(points).all(axis=(1, 2))]
    if not len(whole):
        raise RecordingError(
            f"segment '{name}': there is no frame with all of {', '.join(labels)}. Give their places as `shape`."
        )
    places = whole[0] - whole[0].mean(axis=0)
    require_rotation(places, labels, name)
    # Lay every frame over the present shape, take the median as the next one; three rounds suffice for rigid segments.
    for _ in range(_ROUNDS):
        R = rotations(whole, places)[determined_frames(whole, places)]
        laid = np.einsum("tji,tkj->tki", R, whole - whole.mean(axis=1, keepdims=True))
        places = np.median(laid, axis=0)
    axes = frame_of_three(places[None, :3])[0]
    return (places - places[0]) @ axes
