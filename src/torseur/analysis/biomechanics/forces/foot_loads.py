"""Which foot stands on which force plate, and what each plate exerts on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.algebra.graph import Expr
from torseur.analysis.biomechanics.forces.ground_reaction import (
    FEET,
    LOADED,
    Footing,
    Reaction,
    footing,
    share_between_feet,
    vertical,
)
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.person_model.human36 import dimensions
from torseur.analysis.biomechanics.person_model.human36_text import HEEL
from torseur.analysis.biomechanics.recordings.force_plates import PlateRecord
from torseur.analysis.biomechanics.recordings.markers import runs
from torseur.description.mechanism import Mechanism
from torseur.errors import RecordingError

MARGIN = 0.03  # m: by which a foot may stand over the edge of a plate
BRIEF = 0.03  # s: no step is as short, one frame of a noisy channel is
AROUND = 0.04  # s
STEP = 0.05  # m: a plate whose surface is higher than the lowest place that soles reach is a step
REACH = 0.35  # m: a foot whose sole's middle is farther from a centre of pressure does not stand there

Number = TypeVar("Number", float, Expr)


def soles(mechanism: Mechanism) -> dict[str, list[list[float]]]:
    """Heel, both balls and toe of each foot of Human36, on the floor below it, in the foot's frame."""
    size = dimensions(mechanism)
    return {foot: [list(point) for point in sole_points(foot, size)] for foot in FEET}


def sole_points(foot: str, size: Mapping[str, Number]) -> list[tuple[Number, Number, Number]]:
    """Heel, lateral ball, medial ball and toe of one foot, of the values or the symbols of the person's parameters."""
    length, down = size[f"{foot}_length"], -size["ankle_height"]
    wide = (0.025 if foot == "r_foot" else -0.025) * size["height"]  # z points to the person's right
    back, ball, front = -HEEL * length, 0.42 * length, (1 - HEEL) * length
    middle = 0.0 * length
    return [(back, down, middle), (ball, down, wide), (ball, down, -wide), (front, down, middle)]


def human_footing(body: BodyInMotion, feet: Sequence[str] = FEET) -> Footing:
    """Where and when the feet of a Human36 touch the ground."""
    known = soles(body.mechanism)
    return footing(body, {foot: known[foot] for foot in feet})


def plate_reactions(
    body: BodyInMotion, plates: Sequence[PlateRecord], feet: Footing
) -> tuple[dict[str, Reaction], tuple[str, ...]]:
    """The reaction on each foot by the plates it stands on, and what is to be said about it.

    Every load of a plate goes to the foot nearest to its centre of pressure; one that both feet stand on is shared by
    the law of the lever.
    """
    count = len(body.motion)
    total = {foot: Reaction(np.zeros((count, 3)), np.zeros((count, 3))) for foot in feet.soles}
    notes: list[str] = []
    for plate in plates:
        record = plate.at(body.motion.time)
        _require_numbers(record)
        here = _standing_on(record, feet, vertical(body))
        for foot, part in _by_foot(record, here, vertical(body), notes).items():
            total[foot] = total[foot] + part
        notes += _saturation(record)
    return total, tuple(notes)


def _standing_on(plate: PlateRecord, feet: Footing, up: Array) -> Footing:
    """The feet on a plate's own surface, which is where soles over it reach lowest: plates may be steps of a stair."""
    loaded = plate.force @ up > LOADED
    over = {foot: loaded & _over(plate, feet.middle(foot), up) for foot in feet.soles}
    lowest = np.concatenate([(feet.soles[foot][mask] @ up).ravel() for foot, mask in over.items()])
    if not len(lowest) or np.min(lowest) < feet.floor + STEP:
        return feet
    return feet.at_height(float(np.min(lowest)), plate.time)


def beside_plates(plates: Sequence[PlateRecord], feet: Footing, time: Array, up: Array) -> dict[str, Mask]:
    """Frames in which each foot stands where no plate is: what the ground exerts there was not measured."""
    masks = {}
    edge = max(1, round(AROUND / float(np.median(np.diff(time))))) if len(time) > 1 else 1
    for foot, contact in feet.contact.items():
        away = contact.copy()
        for plate in plates:
            for k in range(feet.soles[foot].shape[1]):
                away &= ~_over(plate, feet.soles[foot][:, k], up)
        # A foot lands and leaves a little before and after what the height of its markers shows.
        masks[foot] = np.convolve(away, np.ones(2 * edge + 1), mode="same") > 0
    return masks


def _by_foot(plate: PlateRecord, feet: Footing, up: Array, notes: list[str]) -> dict[str, Reaction]:
    """One plate's reaction on each foot."""
    whole = Reaction(plate.force, plate.moment_about_origin)
    parts = {foot: np.zeros(len(plate)) for foot in feet.soles}
    both = np.zeros(len(plate), dtype=bool)
    over = {foot: _over(plate, feet.middle(foot), up) & feet.contact[foot] for foot in feet.soles}
    for first, last in runs(plate.force @ up > LOADED):
        frames = slice(first, last + 1)
        # A foot that only swings over the plate while the other one loads it does not stand there.
        standing = [foot for foot in feet.soles if over[foot][frames].mean() > 0.2]
        brief = float(plate.time[last] - plate.time[first]) < BRIEF
        if brief and not standing and _distance(plate, feet, up, frames, _closest(plate, feet, up, frames)) > REACH:
            peak = float(np.max(plate.force[frames] @ up))
            notes.append(f"{plate.name}: {peak:.0f} N at {plate.time[first]:.3f} s with no foot near, taken as noise")
            continue
        if len(feet.soles) == 1 and _distance(plate, feet, up, frames, next(iter(feet.soles))) > REACH:
            start = float(plate.time[first])
            notes.append(f"{plate.name}: its load from {start:.3f} s on is that of the foot that is not followed")
            continue
        near = _nearest(plate, feet, up, frames)
        if len(standing) == 2:
            # Frames are not split where one foot lands on a plate that the other has not left: the whole load is
            # shared.
            both[frames] = True
        else:
            parts[standing[0] if standing else near][frames] = 1.0
    reactions = {foot: whole.share(part) for foot, part in parts.items()}
    if both.any():
        notes.append(f"{plate.name}: both feet stand on it; how it shares its load between them is an assumption")
        halves = share_between_feet(whole.share(both.astype(float)), feet, up)
        reactions = {foot: one + halves[foot] for foot, one in reactions.items()}
    return reactions


def _nearest(plate: PlateRecord, feet: Footing, up: Array, frames: slice) -> str:
    foot = _closest(plate, feet, up, frames)
    away = _distance(plate, feet, up, frames, foot)
    if away > REACH:
        start, end = plate.time[frames][[0, -1]]
        raise RecordingError(
            f"plate '{plate.name}' is loaded from {start:.6g} to {end:.6g} s with no foot nearer than {REACH:g} m "
            f"({away:.3g} m): is it the plate of another person, or are its axes not those of the markers?"
        )
    return foot


def _closest(plate: PlateRecord, feet: Footing, up: Array, frames: slice) -> str:
    return min(feet.soles, key=lambda foot: _distance(plate, feet, up, frames, foot))


def _distance(plate: PlateRecord, feet: Footing, up: Array, frames: slice, foot: str) -> float:
    """From a foot to the centre of pressure, along the floor (m)."""
    centre = Reaction(plate.force, plate.moment_about_origin).centre_of_pressure(up, feet.floor)[frames]
    gap = feet.middle(foot)[frames] - centre
    return float(np.nanmedian(np.linalg.norm(gap - np.outer(gap @ up, up), axis=1)))


def _over(plate: PlateRecord, point: Array, up: Array) -> Mask:
    """Frames in which a point stands over a plate: on the inner side of all its edges."""
    corners, middle = plate.corners, plate.corners.mean(axis=0)
    inside = np.ones(len(point), dtype=bool)
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        normal = np.cross(up, b - a)
        normal = normal / max(float(np.linalg.norm(normal)), 1e-12)
        normal = normal * np.sign(normal @ (middle - a) or 1.0)
        # Corners go round in either sense: each edge's normal is turned towards the middle.
        inside &= (point - a) @ normal > -MARGIN
    return inside


def _require_numbers(plate: PlateRecord) -> None:
    bad = np.flatnonzero(~np.isfinite(plate.force).all(axis=1))
    if len(bad):
        raise RecordingError(f"plate '{plate.name}': its force is not a number at t = {plate.time[bad[0]]:.6g} s.")


def _saturation(plate: PlateRecord) -> list[str]:
    assert plate.saturated is not None
    count = int(plate.saturated.sum())
    return [f"{plate.name}: saturated in {count} frames; its forces are too small there"] if count else []
