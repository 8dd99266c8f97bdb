"""Arrows of velocities, forces and reactions along a motion, all of a kind to one scale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.computation.simulation import Trajectory
from torseur.description.mechanism import EARTH_NAME, AppliedWrench, Frame, Mechanism, PointSpring
from torseur.errors import TorseurError, list_names
from torseur.presentation.scene.bodies.body_places import Places
from torseur.presentation.scene.overlays import Arrows
from torseur.presentation.scene.palette import FORCE, REACTION, VELOCITY
from torseur.presentation.scene.scene import Array

KINDS = {"velocity": ("m/s", VELOCITY), "force": ("N", FORCE), "reaction": ("N", REACTION)}
LONGEST = 0.6  # of the whole, a long arrow at most; single ones in a shock may be longer
USUAL = 0.98  # the part of all arrows that is shorter than a long one
THICK = 0.012  # radius of an arrow, as a part of the typical length


@dataclass(frozen=True)
class ArrowKind:
    """A kind of arrows, and how many metres stand for one of its unit; None: as large as can be seen well."""

    kind: str
    scale: float | None = None


@dataclass(frozen=True, eq=False)
class _Arrow:
    """An arrow at a point of a body: its name, the columns of its components, and whether these are in body axes."""

    name: str
    frame: Frame
    columns: tuple[str, str, str]
    in_frame: bool = False


def arrow_kinds(texts: Iterable[str | ArrowKind]) -> tuple[ArrowKind, ...]:
    """What texts such as `velocity` or `force=0.002` (m per N) ask for."""
    return tuple(text if isinstance(text, ArrowKind) else _read(text) for text in texts)


def _read(text: str) -> ArrowKind:
    kind, _, scale = (part.strip() for part in text.partition("="))
    if kind not in KINDS:
        raise TorseurError(
            f"arrows '{text}': known are {list_names(list(KINDS))}, each also with a scale: force=0.002."
        )
    try:
        size = float(scale) if scale else None
    except ValueError:
        size = -1.0
    if size is not None and not 0 < size < np.inf:
        raise TorseurError(f"arrows '{text}': the scale is a positive number of metres per {KINDS[kind][0]}.")
    return ArrowKind(kind, size)


def quantities_for(mechanism: Mechanism, kinds: Sequence[ArrowKind]) -> list[str]:
    """The quantities of a motion that arrows are made of, for `simulate(outputs=...)`."""
    names: dict[str, None] = {}
    for one in kinds:
        for arrow in _arrows(mechanism, one.kind):
            names |= dict.fromkeys(arrow.columns)
        if one.kind == "force":
            names |= dict.fromkeys(f"{load.name}.tension" for load in _springs(mechanism))
    return list(names)


def _arrows(mechanism: Mechanism, kind: str) -> Iterator[_Arrow]:
    def of(name: str, quantity: str) -> tuple[str, str, str]:
        return f"{name}.{quantity}.x", f"{name}.{quantity}.y", f"{name}.{quantity}.z"

    if kind == "velocity":
        for body in mechanism.bodies:
            yield _Arrow(body.name, body.centre_frame, of(f"{body.name}.centre", "velocity"))
    elif kind == "reaction":
        for joint in mechanism.joints:
            yield _Arrow(joint.name, joint.child, of(joint.name, "force"), in_frame=True)
    else:
        for load in mechanism.loads:
            if isinstance(load, AppliedWrench) and any(not c.is_zero for c in load.force):
                yield _Arrow(load.name, load.on, of(load.name, "force"))


def _springs(mechanism: Mechanism) -> list[PointSpring]:
    return [load for load in mechanism.loads if isinstance(load, PointSpring)]


def arrows_along(places: Places, trajectory: Trajectory, kinds: Sequence[ArrowKind]) -> Iterator[Arrows]:
    """The arrows of some kinds along a trajectory that holds the quantities for them."""
    mechanism, motion = places.numbers.tree.mechanism, places.motion
    if motion is None:
        return
    held = {column.name for column in trajectory.columns}
    lacking = [name for name in quantities_for(mechanism, kinds) if name not in held]
    if lacking:
        raise TorseurError(
            f"arrows: the motion holds no '{lacking[0]}'. Leave the motion out, or make it with "
            "simulate(..., outputs=ts.arrow_quantities(mechanism, [...]))."
        )
    for one in kinds:
        drawn = [*_single(places, trajectory, one.kind), *(_pulls(places, trajectory) if one.kind == "force" else ())]
        if drawn:
            yield _to_scale(places, one, drawn)


Drawn = tuple[str, Array, Array]  # name, where it starts and its components in earth axes by sample


def _single(places: Places, trajectory: Trajectory, kind: str) -> Iterator[Drawn]:
    for arrow in _arrows(places.numbers.tree.mechanism, kind):
        path = places.path(arrow.frame)
        if path is not None:
            start, turns = path
            values = np.stack([np.asarray(trajectory[name], dtype=float) for name in arrow.columns], axis=1)
            # What redundancy leaves open, such as forces across the plane of a planar loop, is left out of the arrow.
            known = np.isfinite(values)
            values = np.where(known, values, 0.0)
            values[~known.any(axis=1)] = np.nan
            yield arrow.name, start, np.einsum("tij,tj->ti", turns, values) if arrow.in_frame else values


def _pulls(places: Places, trajectory: Trajectory) -> Iterator[Drawn]:
    """What springs exert on their ends: along their line, towards the other end where they pull."""
    for load in _springs(places.numbers.tree.mechanism):
        ends = [places.path(frame) for frame in (load.first, load.second)]
        if ends[0] is None or ends[1] is None:
            continue
        one, other = ends[0][0], ends[1][0]
        way = other - one
        length = np.linalg.norm(way, axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            pull = np.asarray(trajectory[f"{load.name}.tension"], dtype=float)[:, None] * way / length
        for frame, start, sense in ((load.first, one, 1.0), (load.second, other, -1.0)):
            if frame.body != EARTH_NAME:
                yield load.name, start, sense * pull


def _to_scale(places: Places, one: ArrowKind, drawn: list[Drawn]) -> Arrows:
    unit, colour = KINDS[one.kind]
    starts = np.stack([start for _, start, _ in drawn], axis=1)
    values = np.stack([components for _, _, components in drawn], axis=1)
    sizes = np.linalg.norm(values, axis=2)
    known = sizes[np.isfinite(sizes) & (sizes > 0)]
    whole = places.whole or places.size
    scale = one.scale
    if scale is None:
        usual = float(np.quantile(known, USUAL)) if len(known) else 1.0
        scale = _round_down(LONGEST * whole / usual)
    label = f"{one.kind}, 1 m for {1 / scale:.4g} {unit}"
    return Arrows(label, starts, scale * values, tuple(name for name, _, _ in drawn), THICK * places.size, colour)


def _round_down(value: float) -> float:
    """The next smaller of 1, 2, 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * max(step for step in (1, 2, 5) if step * power <= value * (1 + 1e-9)))
