"""Multi-body inverse kinematics: the motion of a whole mechanism from a recording of markers on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import pi

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.analysis.biomechanics.recordings.laboratory_axes import NOT_STATED, Axes
from torseur.analysis.biomechanics.recordings.markers import Markers, runs
from torseur.analysis.biomechanics.tracking.marker_model import NULL, Limits, MarkerModel, TrackedFrames
from torseur.analysis.identification.data.differentiation import Derivatives
from torseur.description.mechanism import Frame, Mechanism
from torseur.errors import RecordingError, unknown_name


@dataclass(frozen=True, eq=False)
class FittedMotion:
    """Coordinates (frames, coordinates) that bring a mechanism's markers nearest to the recorded ones.

    `units` are those of the coordinates. `distances` (frames, markers) in m is what remains, NaN where a marker was not
    seen; `converged` tells for each frame whether the search came to its end, and `rounds` in how many steps.
    Coordinates that the markers seen in a frame do not determine are NaN there, and `notes` say so.
    """

    mechanism: str
    time: Array
    coordinates: tuple[str, ...]
    units: tuple[str, ...]
    q: Array
    labels: tuple[str, ...]
    distances: Array
    converged: Mask
    rounds: Array
    axes: Axes = NOT_STATED
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.time)

    def __str__(self) -> str:
        lines = [
            f"{self.mechanism}: {len(self.coordinates)} coordinates ({', '.join(sorted(set(self.units)))}) in "
            f"{len(self)} frames, {len(self.labels)} markers; {self.axes}",
            f"distance of markers: {1e3 * self.rms:.4g} mm (root mean square), at most {1e3 * self.greatest:.4g} mm",
            *self.notes,
        ]
        return "\n".join(lines)

    @property
    def rms(self) -> float:
        """Root mean square distance of all markers in m."""
        return float(np.sqrt(np.nanmean(self.distances**2)))

    @property
    def greatest(self) -> float:
        """The greatest distance of a marker in m."""
        return float(np.nanmax(self.distances))

    @property
    def rms_by_marker(self) -> dict[str, float]:
        return dict(zip(self.labels, _rms(self.distances).tolist(), strict=True))

    def of(self, coordinate: str) -> Array:
        """One coordinate in every frame."""
        if coordinate not in self.coordinates:
            raise RecordingError(unknown_name("coordinate", coordinate, self.coordinates))
        return self.q[:, self.coordinates.index(coordinate)]

    def rates(self, how: Derivatives | None = None) -> tuple[Array, Array]:
        """First and second derivatives of all coordinates; refused where one is not known throughout."""
        unknown = [name for name, values in zip(self.coordinates, self.q.T, strict=True) if np.isnan(values).any()]
        if unknown:
            raise RecordingError(
                f"coordinate '{unknown[0]}' is not determined in every frame: derivatives need it throughout. Take the "
                "frames in which it is, or record more markers."
            )
        pairs = [(how or Derivatives()).of(self.time, values) for values in self.q.T]
        return np.column_stack([first for first, _ in pairs]), np.column_stack([second for _, second in pairs])

    def channels(self, chosen: Sequence[str] | None = None) -> dict[str, Array]:
        """Coordinates by name, as `make_trial` and the writers of files take them."""
        return {name: self.of(name) for name in chosen or self.coordinates}


def _rms(distances: Array) -> Array:
    count = np.isfinite(distances).sum(axis=0)
    total = np.nansum(distances**2, axis=0)
    return np.sqrt(np.where(count > 0, total / np.maximum(count, 1), np.nan))


TRIES = 24  # orientations of the root from which a frame is sought
_AS_GOOD = 1.01  # cost that counts as no greater


@dataclass(frozen=True, eq=False)
class Following:
    """Recorded points and weights of a model's markers by frame (no NaN), with limits and tolerance of the search."""

    model: MarkerModel
    time: Array
    points: Array
    weights: Array
    limits: Limits
    tolerance: float

    def frames(self, chosen: slice) -> Following:
        return replace(self, time=self.time[chosen], points=self.points[chosen], weights=self.weights[chosen])

    def whole(self, start: Array) -> TrackedFrames:
        """Forward and backward from the first frame in which most markers were seen."""
        # From there both ways, so that every other frame starts from a neighbour.
        first = int(np.argmax((self.weights > 0).sum(axis=1)))
        begin = self.frames(slice(first, first + 1)).best_fit(start)
        ahead = self.frames(slice(first, None))._track(begin)
        before = self.frames(slice(first, None, -1))._track(begin)
        pairs = ((getattr(before, name)[:0:-1], getattr(ahead, name)) for name in vars(ahead))
        return TrackedFrames(*(np.concatenate(pair) for pair in pairs))

    def best_fit(self, start: Array) -> Array:
        """The best fit of one frame, the root being turned many ways at the start.

        Angles have several values for one rotation: among fits as good as the best, the nearest to the start wins.
        """
        fits = np.array([self._track(q).q[0] for q in _turned_starts(self.model, start)])
        gaps = self.model.positions(np.repeat(self.time, len(fits)), fits) - self.points
        costs = np.sum(self.weights * np.sum(gaps**2, axis=2), axis=1)
        good = np.flatnonzero(costs <= _AS_GOOD * costs.min() + 1e-12)
        return np.asarray(fits[min(good, key=lambda k: float(np.linalg.norm(fits[k] - start)))])

    def _track(self, start: Array) -> TrackedFrames:
        return self.model.track(self.time, self.points, self.weights, start, self.limits, self.tolerance)


def _turned_starts(model: MarkerModel, start: Array) -> list[Array]:
    """The start, and others with random angles in the joint at the root (a fixed sequence)."""
    link = model.equations.tree.links[0]
    symbols = model.layout.coordinates[link.q]
    turning = [link.q.start + k for k, x in enumerate(symbols) if x.data.unit == "rad" or x in link.symbols.quaternion]
    # Levenberg and Marquardt's method finds the nearest minimum: a person who faces the other way has another one.
    # Normal components make quaternions evenly spread over rotations.
    rng, starts = np.random.default_rng(0), [start]
    for _ in range(TRIES if turning else 0):
        q = start.copy()
        q[turning] = rng.normal(size=len(turning)) if link.symbols.quaternion else rng.uniform(-pi, pi, len(turning))
        quaternion = [link.q.start + symbols.index(x) for x in link.symbols.quaternion]
        q[quaternion] /= np.linalg.norm(q[quaternion]) if quaternion else 1.0
        starts.append(q)
    return starts


TOLERANCE = 1e-9  # rad or m: the last step of a frame that counts as converged
FAR = 0.05  # m: distance of a marker that is noted


def inverse_kinematics(
    mechanism: Mechanism | MarkerModel,
    markers: Markers,
    *,
    places: Mapping[str, Frame] | None = None,
    weights: Mapping[str, float] | None = None,
    limits: Limits | None = None,
    held: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
    start: Mapping[str, float] | None = None,
    tolerance: float = TOLERANCE,
) -> FittedMotion:
    """The coordinates in every frame that minimise Σ w |m - x(q)|², m recorded and x on the mechanism.

    Levenberg and Marquardt's method, compiled, each frame starting from its neighbour's result. Markers are the frames
    of the mechanism that bear the recording's labels, or `places`. `limits` bound coordinates, `held` fixes them;
    `start` says where the search begins. Markers not seen in a frame are left out there. For many recordings of one
    person a MarkerModel, with its own places and parameters, saves preparing the mechanism again.
    """
    model = _model(mechanism, markers, places, parameters)
    labels = list(model.equations.places)
    recorded, notes = _recorded_points(markers, labels)
    weight = _weights(recorded, labels, weights or {})
    bounds = {**(limits or {}), **{name: (value, value) for name, value in (held or {}).items()}}
    following = Following(model, markers.time, np.nan_to_num(recorded), weight, bounds, tolerance)
    tracked = following.whole(model.start({**(start or {}), **(held or {})}))
    q, more = _without_undetermined(following, tracked)
    return _result(model, markers, recorded, tracked, q, (*notes, *more))


def _model(
    mechanism: Mechanism | MarkerModel,
    markers: Markers,
    places: Mapping[str, Frame] | None,
    parameters: Mapping[str, float] | None,
) -> MarkerModel:
    if not isinstance(mechanism, MarkerModel):
        return MarkerModel(mechanism, _places(mechanism, markers, places), parameters or {})
    if places is not None or parameters is not None:
        raise RecordingError("a MarkerModel has its own places and parameters: give them when it is made.")
    if not set(markers.labels) & set(mechanism.equations.places):
        raise _no_common_label(mechanism.mechanism, markers, list(mechanism.equations.places))
    return mechanism


def _places(mechanism: Mechanism, markers: Markers, places: Mapping[str, Frame] | None) -> dict[str, Frame]:
    """Places of the recorded markers."""
    known = dict(mechanism.frames) if places is None else dict(places)
    if places is not None:
        for label in places:
            markers.slot(label)
    used = {label: known[label] for label in markers.labels if label in known}
    if not used:
        raise _no_common_label(mechanism, markers, list(known))
    return used


def _no_common_label(mechanism: Mechanism, markers: Markers, known: list[str]) -> RecordingError:
    return RecordingError(
        f"none of the recorded markers is a frame of '{mechanism.name}'. Recorded: {', '.join(markers.labels)}. "
        f"Frames: {', '.join(known) or 'none'}. Give places={{label: frame}}."
    )


def _recorded_points(markers: Markers, labels: list[str]) -> tuple[Array, list[str]]:
    """Recorded points (frames, labels, 3), NaN for labels without a record, and which markers play no part."""
    points = np.full((len(markers), len(labels), 3), np.nan)
    for k, label in enumerate(labels):
        if label in markers.labels:
            points[:, k] = markers.of(label)
    left = [label for label in markers.labels if label not in labels]
    absent = [label for label in labels if label not in markers.labels]
    notes = [f"markers without a place on the mechanism, not used: {', '.join(left)}"] if left else []
    return points, notes + ([f"markers of the mechanism that were not recorded: {', '.join(absent)}"] if absent else [])


def _weights(points: Array, labels: list[str], given: Mapping[str, float]) -> Array:
    """Weight of every marker in every frame, zero where it was not seen."""
    for label, value in given.items():
        if label not in labels:
            raise RecordingError(unknown_name("marker", label, labels, "weights: "))
        if not 0 <= value < np.inf:
            raise RecordingError(f"weights: that of '{label}' is a number from zero up, not {value}.")
    seen = np.isfinite(points).all(axis=2)
    return np.where(seen, [float(given.get(label, 1.0)) for label in labels], 0.0)


def _without_undetermined(following: Following, tracked: TrackedFrames) -> tuple[Array, list[str]]:
    """The coordinates with NaN where the markers seen do not determine them, and the words for it."""
    model, weights = following.model, following.weights
    q, loose = tracked.q.copy(), np.zeros(tracked.q.shape, dtype=bool)
    for f in np.flatnonzero((tracked.weakest < NULL) | ~(weights > 0).any(axis=1)):
        t, points = float(following.time[f]), following.points[f]
        loose[f, model.undetermined_coordinates(t, q[f], points, weights[f], following.limits)] = True
    _require_known_once(model, loose)
    q[loose] = np.nan
    return q, _loose_notes(model.layout.coordinate_names, loose)


def _require_known_once(model: MarkerModel, loose: Mask) -> None:
    never = [name for name, flags in zip(model.layout.coordinate_names, loose.T, strict=True) if flags.all()]
    if never:
        raise RecordingError(
            f"the markers do not determine {', '.join(never)} of '{model.mechanism.name}' in any frame: too few "
            f"markers, or markers on a line. Record more, or hold a coordinate: --hold '{never[-1]}=0', "
            f"held={{'{never[-1]}': 0.0}} in Python."
        )


def _loose_notes(names: list[str], loose: Mask) -> list[str]:
    """One note for all coordinates that are not determined in the same frames."""
    together: dict[bytes, list[int]] = {}
    for k, flags in enumerate(loose.T):
        if flags.any():
            together.setdefault(flags.tobytes(), []).append(k)
    return [
        f"not determined by the markers seen in frames {frame_list(loose[:, slots[0]])}: "
        + (", ".join(names[k] for k in slots) if len(slots) < len(names) else "all coordinates")
        for slots in together.values()
    ]


def frame_list(frames: Mask) -> str:
    """Frames in words: 3, 10 to 14."""
    return ", ".join(f"{a} to {b}" if b > a else f"{a}" for a, b in runs(frames))


def _result(
    model: MarkerModel, markers: Markers, points: Array, tracked: TrackedFrames, q: Array, notes: tuple[str, ...]
) -> FittedMotion:
    gaps = np.linalg.norm(model.positions(markers.time, tracked.q) - points, axis=2)
    motion = FittedMotion(
        model.mechanism.name, markers.time, tuple(model.layout.coordinate_names),
        tuple(x.data.unit for x in model.layout.coordinates), q, tuple(model.equations.places), gaps,
        tracked.converged, tracked.rounds, markers.axes, notes,
    )  # fmt: skip
    return replace(motion, notes=(*notes, *_quality_notes(motion)))


def _quality_notes(motion: FittedMotion) -> list[str]:
    notes, far = [], np.nan_to_num(motion.distances) > FAR
    if far.any():
        labels = ", ".join(label for label, column in zip(motion.labels, far.T, strict=True) if column.any())
        where = frame_list(np.asarray(far.any(axis=1)))
        notes.append(
            f"more than {1e3 * FAR:g} mm from the mechanism in frames {where}: {labels}. Swapped labels, a moved "
            "marker, a mechanism of another size, or the wrong one of several fits"
        )
    if not motion.converged.all():
        notes.append(f"not converged in frames {frame_list(~motion.converged)}")
    return notes
