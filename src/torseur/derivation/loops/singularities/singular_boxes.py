"""Singular configurations in a box of coordinates: of the closures, and of inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.held_coordinates import hold_coordinates
from torseur.derivation.loops.assembly.projection import CLOSED, project, random_states
from torseur.derivation.loops.model.loop_model import loop_system
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.rank.numerical_rank import ranks
from torseur.derivation.loops.singularities.rank_drop import rank_drop
from torseur.derivation.loops.singularities.singularities import Singularity, different, singularity, slot_of
from torseur.description.mechanism import Mechanism


def singularities_in(mechanism: Mechanism, box: Mapping[str, tuple[float, float]], *, starts: int = 40,
                     at: Mapping[str, float] | None = None, locked: Sequence[str] = (), inputs: Sequence[str] = (),
                     outputs: Sequence[str] = (), seed: int = 0) -> list[Singularity]:  # fmt: skip
    """Singular configurations whose coordinates lie in a box (SI), found from random starts in it.

    Where they form curves or surfaces, points of them. Angles count modulo a turn. With `locked` coordinates or joints
    held where the pose `at` has them, these count as constraints. With `inputs` and `outputs` named, singularities of
    type 2 and 1 are among them.
    """
    if locked:
        mechanism, _ = hold_coordinates(mechanism, at, locked, 0.0, seed)
    system = loop_system(mechanism, named=[*box, *inputs, *outputs])
    slots = {slot_of(system, name): limits for name, limits in box.items()}
    resting = {"type 2": [slot_of(system, n) for n in inputs], "type 1": [slot_of(system, n) for n in outputs]}
    states = _closed_states(system, slots, starts, np.random.default_rng(seed))
    if not len(states):
        return []
    rank = int(np.max(ranks(system.linearise(states)[1])))
    kinds = {"closure": np.zeros((0, system.n)), **{k: np.eye(system.n)[rows] for k, rows in resting.items() if rows}}
    first = next(iter(slots), 0)
    met = [
        singularity(system, first, state, kind)
        for kind, rows in kinds.items()
        for state in _drops(system, states, rank, rows)
    ]
    inside = [_into_box(system, item, box) for item in met]
    return different([item for item in inside if item is not None], "")


def _closed_states(
    system: LoopSystem, slots: Mapping[int, tuple[float, float]], count: int, rng: np.random.Generator
) -> State:
    """Closed states near random ones in a box."""
    states = random_states(system, count, rng)
    for slot, (low, high) in slots.items():
        states.x[:, slot] = rng.uniform(low, high, count) / system.amounts.units[slot]
    closed = project(system, states, steps=150)
    return closed.state.lanes(closed.gap < system.open_limit(CLOSED))


def _drops(system: LoopSystem, states: State, rank: int, resting: Array) -> list[State]:
    """States where a motion more than usual is possible; with rows that rest, one that leaves them at rest."""
    usual = rank
    if len(resting):
        usual = int(np.max(ranks(np.stack([np.vstack([rows, resting]) for rows in system.linearise(states)[1]]))))
        # More inputs than motions may be dependent without anything moving; fewer leave motions free everywhere.
        if usual < min(rank + len(resting), system.n):
            return []
    drops = [rank_drop(system, states.lane(k), usual, resting) for k in range(len(states))]
    found = [drop for drop in drops if drop is not None]
    if not len(resting):
        return found
    # Where the closures themselves leave more motions, it is their singularity and told as such.
    return [state for state in found if int(ranks(system.linearise(state)[1])[0]) == rank]


def _into_box(system: LoopSystem, item: Singularity, box: Mapping[str, tuple[float, float]]) -> Singularity | None:
    """The configuration with its angles turned into the box; None where it lies outside."""
    values = dict(item.coordinates)
    for name, (low, high) in box.items():
        is_angle = system.frame.freedoms[slot_of(system, name)].unit == "rad"
        turns = np.ceil((low - values[name] - 1e-9) / (2 * np.pi)) if is_angle else 0
        values[name] += 2 * np.pi * float(turns)
        if not low - 1e-9 <= values[name] <= high + 1e-9:
            return None
    return replace(item, coordinates=values)
