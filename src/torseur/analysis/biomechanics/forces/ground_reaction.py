"""The ground's reaction: from motion alone, and shared between two feet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.recordings.markers import runs
from torseur.errors import RecordingError

FEET = ("r_foot", "l_foot")
LOADED = 20.0  # N: below, a centre of pressure means nothing
_BELT = 0.3  # m/s: slower, soles near the ground stand on a floor
_GAP, _STILL = 0.03, 0.6  # m above the floor and m/s on it, below which a point of a sole touches it
_ON_FLOOR = 25.0  # percent of frames at least, in which a foot stands
_LIFTED = 0.01  # m: height at which a point of a sole bears half


@dataclass(frozen=True, eq=False)
class Reaction:
    """What the ground exerts through time (frames, 3): force (N) and moment about the laboratory's origin (N m)."""

    force: Array
    moment: Array

    def __add__(self, other: Reaction) -> Reaction:
        return Reaction(self.force + other.force, self.moment + other.moment)

    def share(self, part: Array) -> Reaction:
        """A part of it in every frame."""
        return Reaction(part[:, None] * self.force, part[:, None] * self.moment)

    def about(self, point: Array) -> Array:
        """Moment about a point (3) or a moving point (frames, 3)."""
        return self.moment - np.cross(point, self.force)

    def centre_of_pressure(self, up: Array, height: float = 0.0) -> Array:
        """Where the reaction pierces the floor with a moment along `up` only; NaN where the ground hardly pushes."""
        push = self.force @ up
        loaded = push > LOADED
        # M = c × F about the foot of the vertical, and up × (c × F) = c (up · F) - F (up · c): c lies in the floor.
        across = np.cross(up, self.about(height * up)) / np.where(loaded, push, 1.0)[:, None]
        return np.where(loaded[:, None], across + height * up, np.nan)

    def free_moment(self, up: Array, height: float = 0.0) -> Array:
        """Moment about the vertical through the centre of pressure (N m)."""
        return self.about(self.centre_of_pressure(up, height)) @ up


def ground_reaction(body: BodyInMotion) -> Reaction:
    """The whole reaction of the ground from the motion alone: F = m (a - g), M = dH/dt less the moment of weight.

    It is all that the outside exerts besides weight: right where nothing but the ground touches the person.
    """
    return Reaction(*body.external_wrench)


def vertical(body: BodyInMotion) -> Array:
    """The unit vector against gravity."""
    strength = float(np.linalg.norm(body.gravity))
    if strength == 0:
        raise RecordingError("the model has no gravity: what is up is not defined.")
    return -body.gravity / strength


@dataclass(frozen=True, eq=False)
class Footing:
    """Where each foot stands and when it touches the ground: soles (frames, points, 3), contact (frames).

    `belt` is the velocity of the ground (m/s): that of a treadmill, zero on a floor.
    """

    soles: Mapping[str, Array]
    contact: Mapping[str, Mask]
    floor: float
    up: Array
    belt: Array = field(default_factory=lambda: np.zeros(3))

    def belt_travel(self, time: Array) -> Array:
        """How far a treadmill's belt has carried what stands on it (frames, 3); zero on a floor."""
        return np.outer(time - time[0], self.belt)

    def at_height(self, floor: float, time: Array) -> Footing:
        """The same feet on ground at another height (m)."""
        return replace(self, floor=floor, contact=_contact(self.soles, time, self.up, floor, self.belt))

    def middle(self, foot: str) -> Array:
        """The middle of a sole (frames, 3)."""
        return self.soles[foot].mean(axis=1)

    def bearing(self, foot: str) -> Array:
        """The middle of what touches the floor: points of the sole count the less the higher they are."""
        points = self.soles[foot]
        # Half at _LIFTED, falling with the square of the height: smooth, so that the point of support does not jump.
        weight = 1 / (1 + ((points @ self.up - self.floor) / _LIFTED) ** 2)
        return np.asarray(np.sum(weight[:, :, None] * points, axis=1) / weight.sum(axis=1)[:, None])


def footing(body: BodyInMotion, sole: Mapping[str, Sequence[Sequence[float]]]) -> Footing:
    """Which foot touches the ground when: a point of its sole within 3 cm of the floor and slower than 0.6 m/s.

    `sole` gives points of each foot in its own frame. The floor lies where the lowest of them mostly is.
    """
    up = vertical(body)
    soles = {foot: _points(body, foot, points) for foot, points in sole.items()}
    # Every frame has its lowest point; in most of them that one is on the floor, and toes that the model lets reach
    # below it, or a step down, are in few.
    floor = float(np.percentile(np.min([np.min(points @ up, axis=1) for points in soles.values()], axis=0), _ON_FLOOR))
    rates = {foot: np.gradient(points, body.motion.time, axis=0) for foot, points in soles.items()}
    belt = _belt(soles, rates, up, floor + _GAP)
    return Footing(soles, _contact(soles, body.motion.time, up, floor, belt), floor, up, belt)


def _contact(soles: Mapping[str, Array], time: Array, up: Array, floor: float, belt: Array) -> dict[str, Mask]:
    """Frames in which a point of each sole is near the floor and slow on it."""
    contact = {}
    for foot, points in soles.items():
        rate = np.linalg.norm(np.gradient(points, time, axis=0) - belt, axis=2)
        contact[foot] = ((points @ up < floor + _GAP) & (rate < _STILL)).any(axis=1)
    return contact


def _belt(soles: Mapping[str, Array], rates: Mapping[str, Array], up: Array, height: float) -> Array:
    """Velocity along the ground that soles near it have on the whole: zero unless they all move, as on a belt."""
    low = np.concatenate([rates[foot][points @ up < height] for foot, points in soles.items()])
    if not len(low):
        return np.zeros(3)
    drift = np.median(low, axis=0)
    drift = drift - (drift @ up) * up
    return drift if float(np.linalg.norm(drift)) > _BELT else np.zeros(3)


def _points(body: BodyInMotion, foot: str, places: Sequence[Sequence[float]]) -> Array:
    origin, rotation = body.place(body.mechanism.body(foot).frame)
    return origin[:, None] + np.einsum("tij,kj->tki", rotation, np.asarray(places, dtype=float))


def share_between_feet(total: Reaction, feet: Footing, up: Array) -> dict[str, Reaction]:
    """The reaction under each of two feet: one of many shares that motion alone cannot tell apart.

    A foot alone on the ground takes everything. Two feet take forces where they bear, whose resultant passes nearest to
    the whole reaction's centre of pressure (the law of the lever), led smoothly to what comes before and after. The
    moment left over goes to both in the same parts.
    """
    first, second = feet.soles
    # Six equations for twelve unknowns while both feet stand: how two feet share is an assumption, whatever the method.
    part = _parts(_lever(total, feet, up), feet.contact[first], feet.contact[second])
    weights = {first: part, second: 1 - part}
    own = {}
    for foot, weight in weights.items():
        force = weight[:, None] * total.force
        own[foot] = Reaction(force, np.cross(feet.bearing(foot), force))
    left = total.moment - own[first].moment - own[second].moment
    return {foot: Reaction(own[foot].force, own[foot].moment + weights[foot][:, None] * left) for foot in own}


def _parts(lever: Array, first: Mask, second: Mask) -> Array:
    """The first foot's part in every frame: by the lever where both stand, led smoothly to what is before and after."""
    part = np.where(first & ~second, 1.0, np.where(second & ~first, 0.0, lever))
    for begin, end in runs(first & second):
        # The lever's part jumps where a foot lands or leaves: its gap to the part before (1 or 0) fades out along the
        # double stance, and likewise backwards from its end, with zero rates at both ends.
        s = np.arange(1, end - begin + 2) / (end - begin + 2)
        passed = s * s * (3 - 2 * s)
        before = part[begin - 1] - lever[begin] if begin > 0 else 0.0
        after = part[end + 1] - lever[end] if end + 1 < len(part) else 0.0
        part[begin : end + 1] += (1 - passed) ** 2 * before + passed**2 * after
    return np.asarray(np.clip(part, 0.0, 1.0))


def _lever(total: Reaction, feet: Footing, up: Array) -> Array:
    """The first foot's part by the law of the lever along the line between the feet."""
    first, second = feet.soles
    way = feet.bearing(first) - feet.bearing(second)
    way = way - np.outer(way @ up, up)
    centre = np.nan_to_num(total.centre_of_pressure(up, feet.floor) - feet.bearing(second))
    # The foot of the perpendicular from the centre of pressure on the line between both feet.
    lever = np.sum(centre * way, axis=1) / np.maximum(np.sum(way * way, axis=1), 1e-9)
    return np.asarray(np.clip(lever, 0.0, 1.0))
