"""Singular configurations: where the rank drops or a driven coordinate stops, along a motion or in a box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.assembly import closed_state, free_mask
from torseur.derivation.loops.assembly.projection import CLOSED, project, random_states
from torseur.derivation.loops.model.loop_model import loop_system
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.model.named_coordinates import coordinates_at, wrap_angles
from torseur.derivation.loops.rank.numerical_rank import numerical_rank, ranks
from torseur.derivation.loops.singularities.rank_drop import rank_drop
from torseur.description.mechanism import Mechanism
from torseur.errors import MechanismError, unknown_name

_SAME = 1e-3
_PER_RADIAN = 30  # steps of a drive: two singular configurations nearer than 2 degrees may be taken for one


@dataclass(frozen=True)
class Singularity:
    """A configuration where something changes: coordinates (SI), rank and mobility there.

    kind "closure": the rank of the closures drops, so motions branch or stop. kind "limit": the driven coordinate
    can go no further (a dead centre of another drive).
    """

    kind: str
    coordinates: Mapping[str, float]
    rank: int
    infinitesimal: int

    def __str__(self) -> str:
        shown = ", ".join(f"{name} = {value:.6g}" for name, value in list(self.coordinates.items())[:8])
        what = "limit of the drive" if self.kind == "limit" else f"rank drops to {self.rank}"
        return f"{what} (infinitesimal mobility {self.infinitesimal}) at {shown}"


def singularities_along(mechanism: Mechanism, coordinate: str, start: float, stop: float, *,
                        at: Mapping[str, float] | None = None, seed: int = 0) -> list[Singularity]:  # fmt: skip
    """Singular configurations met when a coordinate is driven from one value to another (SI), the others following.

    The drive stops at a limit, where the coordinate cannot go further.
    """
    system = loop_system(mechanism)
    slot = _slot(system, coordinate)
    state = closed_state(system, {**(at or {}), coordinate: start}, seed)
    free = free_mask(system, [coordinate])
    unit = float(system.amounts.units[slot])
    count = max(8, int(abs(stop - start) / unit * _PER_RADIAN))
    limits, values, states = [], [], []
    for target in np.linspace(start, stop, count + 1):
        moved = _drive(system, state, slot, target / unit, free)
        if moved is None:
            limits.append(_singularity(system, _limit(system, state, slot, target / unit, free), "limit"))
            break
        state = moved
        states.append(state)
        values.append(_singular_values(system, state))
    return [*_drops(system, states, np.array(values)), *limits]


def _slot(system: LoopSystem, coordinate: str) -> int:
    names = [f.name for f in system.frame.freedoms]
    if coordinate not in names:
        raise MechanismError(unknown_name("coordinate", coordinate, names))
    return names.index(coordinate)


def _drive(system: LoopSystem, state: State, slot: int, value: float, free: Array) -> State | None:
    """The closed state with the driven coordinate at a value; None when it cannot be reached without a jump."""
    motions = numerical_rank(system.linearise(state)[1][0]).motions
    # The predictor follows the first-order motion that moves the driven coordinate by what is asked with least |dq|.
    change = value - float(state.x[0, slot])
    row = motions[slot]
    size = float(row @ row)
    step = motions @ row * (change / size) if size > 1e-12 else np.zeros(system.n)
    step = step * min(1.0, 0.5 / max(float(np.max(np.abs(step), initial=0.0)), 1e-300))
    guess = system.move(state, step[None])
    guess.x[0, slot] = value
    closed = project(system, guess, free=free, steps=60)
    if closed.gap[0] > system.open_limit(CLOSED) or np.max(np.abs(system.difference(state, closed.state))) > 1.0:
        return None
    return closed.state


def _limit(system: LoopSystem, state: State, slot: int, value: float, free: Array) -> State:
    """The last state that can be reached on the way to a value, by bisection."""
    for _ in range(40):
        middle = (float(state.x[0, slot]) + value) / 2
        moved = _drive(system, state, slot, middle, free)
        if moved is None:
            value = middle
        else:
            state = moved
    return state


def _singular_values(system: LoopSystem, state: State) -> Array:
    values: Array = np.linalg.svd(system.linearise(state)[1][0], compute_uv=False)
    return values


def _drops(system: LoopSystem, states: list[State], values: Array) -> list[Singularity]:
    """Rank drops near the states where the last singular value that counts is least."""
    if len(states) < 3:
        return []
    # The rank along the drive: the median is not misled by the few states near a singular one.
    rank = int(np.median(np.sum(values > 1e-5 * np.maximum(values[:, :1], 1.0), axis=1)))
    last = values[:, rank - 1]
    dips = [k for k in range(len(last)) if last[k] == np.min(last[max(0, k - 1) : k + 2])]
    drops = [rank_drop(system, states[k], rank) for k in dips]
    near = [
        state for k, state in zip(dips, drops, strict=True) if state is not None and _close(system, states[k], state)
    ]
    return _unique([_singularity(system, state, "closure") for state in near])


def _close(system: LoopSystem, first: State, second: State) -> bool:
    return bool(np.max(np.abs(system.difference(first, second))) < 0.2)


def _singularity(system: LoopSystem, state: State, kind: str) -> Singularity:
    rank = int(ranks(system.linearise(state)[1])[0])
    return Singularity(kind, wrap_angles(system, coordinates_at(system, state)), rank, system.n - rank)


def _unique(listed: list[Singularity]) -> list[Singularity]:
    kept: list[Singularity] = []
    for item in listed:
        if all(_apart(item, other) for other in kept):
            kept.append(item)
    return kept


def _apart(first: Singularity, second: Singularity) -> bool:
    """Whether two configurations differ by more than Newton's method leaves; half a turn is the same both ways."""
    pairs = zip(first.coordinates.values(), second.coordinates.values(), strict=True)
    gaps = [abs(a - b) for a, b in pairs]
    return max(min(gap, abs(gap - 2 * np.pi)) for gap in gaps) > _SAME


def singularities_in(mechanism: Mechanism, box: Mapping[str, tuple[float, float]], *, starts: int = 40,
                     seed: int = 0) -> list[Singularity]:  # fmt: skip
    """Singular configurations whose coordinates lie in a box (SI), found from random starts in it.

    Where they form curves or surfaces, points of them.
    """
    system = loop_system(mechanism)
    rng = np.random.default_rng(seed)
    slots = {_slot(system, name): limits for name, limits in box.items()}
    states = random_states(system, starts, rng)
    for slot, (low, high) in slots.items():
        states.x[:, slot] = rng.uniform(low, high, starts) / system.amounts.units[slot]
    closed = project(system, states, steps=150)
    good = [closed.state.lane(int(k)) for k in np.flatnonzero(closed.gap < system.open_limit(CLOSED))]
    if not good:
        return []
    rank = int(np.max(ranks(system.linearise(closed.state.lanes(closed.gap < system.open_limit(CLOSED)))[1])))
    drops = [drop for state in good if (drop := rank_drop(system, state, rank)) is not None]
    singular = [_singularity(system, drop, "closure") for drop in drops]
    inside = [f for f in singular if all(lo <= f.coordinates[name] <= hi for name, (lo, hi) in box.items())]
    return _unique(inside)
