"""The line that a joint of one coordinate leads a point along: a rail, the wire of a bead, the ground of a wheel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from torseur.algebra.graph import Expr, evaluate, symbols_of
from torseur.algebra.spatial import Transform
from torseur.derivation.tree import resolve
from torseur.description.mechanism import TIME, Joint
from torseur.presentation.scene.bodies.body_poses import point, quaternion_of, rotation_matrix
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.scene.orientation import rotation
from torseur.presentation.scene.scene import Array
from torseur.presentation.scene.shapes import Box, Line

SAMPLES, MOST_SAMPLES = 97, 3073
BEND = 0.3  # of a track between two of its points (rad)
TRIED = 12  # values of coordinates where an arm is looked for
STRAIGHT = 1e-6
STEP = 1e-4  # of a coordinate (m or rad), to see how fast it moves and turns what it carries
BEYOND = 0.15  # of its range, how far a curved track goes on at both ends
Ranges = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Rail:
    """The straight line a sliding joint runs along, as far as the motion goes and a little beyond."""

    start: Array
    end: Array

    @property
    def line(self) -> Line:
        return Line((point(self.start), point(self.end)), shade=0.7)

    @property
    def axis(self) -> Array:
        return np.asarray((self.end - self.start) / np.linalg.norm(self.end - self.start))

    def wall(self, edge: float) -> Box:
        """A plate across the start of the rail."""
        return Box(point(self.start), (edge, edge, 0.12 * edge), quaternion_of(frame_about(self.axis)), shade=0.9)

    def joined(self, other: Rail) -> Rail | None:
        """Both as one, where they lie on one line and meet; None where they do not."""
        off = other.start - self.start
        length = float(np.linalg.norm(self.end - self.start))
        near = STRAIGHT * length
        if (
            np.linalg.norm(np.cross(self.axis, other.axis)) > STRAIGHT
            or np.linalg.norm(np.cross(self.axis, off)) > near
        ):
            return None
        ends = sorted(float((end - self.start) @ self.axis) for end in (other.start, other.end))
        if ends[0] > length + near or ends[1] < -near:
            return None
        return Rail(self.start + min(0.0, ends[0]) * self.axis, self.start + max(length, ends[1]) * self.axis)


@dataclass(frozen=True, eq=False)
class Track:
    """Where a joint's child frame goes in the parent's body as its coordinate goes through its range.

    `turns` (N, 3, 3) are its axes there. A track is closed where the coordinate is an angle that comes round.
    """

    values: Array
    points: Array
    turns: Array
    is_closed: bool = False

    @property
    def is_straight(self) -> bool:
        way = self.points[-1] - self.points[0]
        length = float(np.linalg.norm(way))
        off = self.points - self.points[0]
        return length > 0 and float(np.abs(np.cross(off, way / length)).max()) <= STRAIGHT * length

    def rail(self, margin: float) -> Rail:
        way = self.points[-1] - self.points[0]
        ends = way / np.linalg.norm(way) * margin
        return Rail(self.points[0] - ends, self.points[-1] + ends)

    @property
    def line(self) -> Line:
        return Line(tuple(point(p) for p in self.points), shade=0.7)


@dataclass(frozen=True)
class RollingWay:
    """A wheel that turns in proportion to its way: radius, axis, way to where it touches, in the parent's body."""

    radius: float
    axis: Array
    down: Array  # unit vector


def track(joint: Joint, numbers: Numbers, place: Transform, ranges: Ranges, least: float) -> Track | None:
    """The track of a joint whose first motion by its one coordinate is a displacement; None for any other.

    `place` is the joint's place on its parent. It is shown over the coordinate's range, a straight one `least` long
    where that is less; all of a curve that closes.
    """
    moving = [
        motion for motion in joint.motions if {c.symbol for c in joint.coordinates} & set(symbols_of([motion.amount]))
    ]
    if len(joint.coordinates) != 1 or joint.coordinates[0].name not in ranges or not moving:
        return None
    if moving[0].kind != "translation":
        return None
    low, high = ranges[joint.coordinates[0].name]
    middle, half = (low + high) / 2, max(high - low, least) / 2
    if not np.isfinite(half):
        return None
    shown = _along(joint, numbers, place, np.linspace(low, high, SAMPLES) if high > low else middle + half * _SPAN)
    if shown is None or not np.all(np.isfinite(shown.points)) or not np.ptp(shown.points, axis=0).any():
        return None
    if shown.is_straight:
        return shown
    shown = _finely(joint, numbers, place, shown)
    whole = _along(joint, numbers, place, middle + np.pi * np.linspace(-1.0, 1.0, SAMPLES))
    if whole is not None and np.linalg.norm(whole.points[-1] - whole.points[0]) <= 1e-9 * np.abs(whole.points).max():
        return Track(whole.values, whole.points, whole.turns, True)
    reach = (high - low) / 2 or 0.5 * half
    wider = _along(joint, numbers, place, middle + (1 + 2 * BEYOND) * reach * _SPAN)
    return _finely(joint, numbers, place, wider) if wider is not None and np.all(np.isfinite(wider.points)) else shown


def _finely(joint: Joint, numbers: Numbers, place: Transform, coarse: Track) -> Track:
    """The same track with so many points that it bends little between two of them, as far as points go."""
    count, fine = len(coarse.values), coarse
    while count < MOST_SAMPLES and _sharpest(fine.points) > BEND:
        count = 2 * count - 1
        next_one = _along(joint, numbers, place, np.linspace(coarse.values[0], coarse.values[-1], count))
        if next_one is None or not np.all(np.isfinite(next_one.points)):
            return fine
        fine = next_one
    return fine


def _sharpest(points: Array) -> float:
    """The bend (rad) that few corners of a polyline pass: corners of the track itself stay what they are."""
    ways = np.diff(points, axis=0)
    ways = ways[np.linalg.norm(ways, axis=1) > 0]
    units = ways / np.linalg.norm(ways, axis=1)[:, None]
    cosines = np.clip(np.sum(units[1:] * units[:-1], axis=1), -1.0, 1.0)
    return float(np.quantile(np.arccos(cosines), 0.9)) if len(cosines) else 0.0


_SPAN = np.linspace(-1.0, 1.0, SAMPLES)


def arm_of(joint: Joint, numbers: Numbers, place: Transform) -> Array | None:
    """The centre of the circle or sphere on which displacements alone lead a point, as a thin rod would; else None."""
    own = {c.symbol for c in joint.coordinates}
    moving = [motion for motion in joint.motions if own & set(symbols_of([motion.amount]))]
    if not 1 <= len(joint.coordinates) <= 2 or len(moving) < 2 or any(m.kind != "translation" for m in moving):
        return None
    values = np.array([[np.sin(1.7 * k), np.cos(2.3 * k)] for k in range(TRIED)])[:, : len(joint.coordinates)]
    shown = _along(joint, numbers, place, 2 * values)
    if shown is None or not np.all(np.isfinite(shown.points)):
        return None
    # |p|² = 2 c·p + d about the mean; of points in a plane the least solution is the centre in that plane.
    off = shown.points - shown.points.mean(axis=0)
    scale = float(np.abs(off).max())
    if not scale > 0:
        return None
    rows = np.column_stack([2 * off, np.full(TRIED, scale)])
    solution = np.linalg.lstsq(rows, np.sum(off * off, axis=1), rcond=1e-9)[0]
    distances = np.linalg.norm(off - solution[:3], axis=1)
    even = float(np.ptp(distances)) <= 1e-9 * scale and float(distances.max()) < 1e3 * scale
    return shown.points.mean(axis=0) + solution[:3] if even else None


def _along(joint: Joint, numbers: Numbers, place: Transform, values: Array) -> Track | None:
    """Where the child frame is for values of the coordinates (N,) or (N, n); None where something else moves it too."""
    tree, columns = numbers.tree, values.reshape(len(values), -1).T
    own = {q.symbol: column for q, column in zip(joint.coordinates, columns, strict=True)}
    amounts: list[Expr] = list(resolve(tree.mechanism, tree.definitions, [m.amount for m in joint.motions]))
    known = {**numbers.by_symbol, TIME: 0.0}
    axes = [numbers.of(motion.axis) for motion in joint.motions]
    if any(symbol not in known and symbol not in own for symbol in symbols_of(amounts)) or None in axes:
        return None
    with np.errstate(all="ignore"):
        results = [np.broadcast_to(x, len(values)) for x in evaluate(amounts, {**known, **own})]
    spots = np.tile(np.array(point(place.position)), (len(values), 1))
    turns = np.tile(rotation_matrix(place.rotation, 1)[0], (len(values), 1, 1))
    for motion, axis, amount in zip(joint.motions, axes, results, strict=True):
        direction = np.array([float(c) for c in axis]) / np.linalg.norm([float(c) for c in axis])
        if motion.kind == "translation":
            spots = spots + (turns @ direction) * np.asarray(amount, dtype=float)[:, None]
        else:
            turns = turns @ np.array([_turn(direction, float(angle)) for angle in amount])
    return Track(values, spots, turns)


def _turn(axis: Array, angle: float) -> Array:
    return rotation(np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)]))


def rolling_of(joint: Joint, numbers: Numbers, place: Transform, ranges: Ranges) -> RollingWay | None:
    """The wheel of a joint that turns its body in proportion to a straight way across the axis; None for any other."""
    own = joint.coordinates[0].symbol if len(joint.coordinates) == 1 else None
    turning = [m for m in joint.motions if m.kind == "rotation" and own is not None and own in symbols_of([m.amount])]
    if own is None or len(turning) != 1 or turning[0] is not joint.motions[-1] or str(own.name) not in ranges:
        return None
    low, high = ranges[str(own.name)]
    values = np.repeat(np.linspace(low, high, 5), 2)
    values[1::2] += STEP
    way = _along(joint, numbers, place, values)
    if way is None or not np.all(np.isfinite(way.points)):
        return None
    steps = (way.points[1::2] - way.points[::2]) / STEP
    spins = np.array([_spin(one.T @ other, one) for one, other in zip(way.turns[::2], way.turns[1::2], strict=True)])
    velocity, spin = steps.mean(axis=0), spins.mean(axis=0) / STEP
    uneven = max(float(np.abs(steps - velocity).max()), float(np.abs(spins / STEP - spin).max()))
    speed, rate = float(np.linalg.norm(velocity)), float(np.linalg.norm(spin))
    if not speed * rate > 0 or uneven > STRAIGHT * (speed + rate):
        return None
    if abs(float(velocity @ spin)) > STRAIGHT * speed * rate:
        return None
    # Where the wheel touches it stands still: v + ω × d = 0, so that d = ω × v / ω².
    return RollingWay(speed / rate, spin / rate, np.cross(spin, velocity) / (speed * rate))


def _spin(step: Array, turn: Array) -> Array:
    """The rotation vector of a small turn, in the parent's axes."""
    sine = 0.5 * np.array([step[2, 1] - step[1, 2], step[0, 2] - step[2, 0], step[1, 0] - step[0, 1]])
    size = float(np.linalg.norm(sine))
    angle = float(np.arctan2(size, (np.trace(step) - 1) / 2))
    return np.asarray(turn @ sine * (angle / size if size > 0 else 1.0))


def frame_about(axis: Array) -> Array:
    """A rotation matrix whose third column is a unit axis."""
    # Any direction across the axis; the singular vectors of a single row give one without a special case.
    across = np.linalg.svd(axis[None])[2][1]
    return np.stack([across, np.cross(axis, across), axis], axis=1)
