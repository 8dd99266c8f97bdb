"""Singular configurations in a box of coordinates: of the closures, and of inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.assembly import closed_state
from torseur.derivation.loops.assembly.held_coordinates import hold_coordinates
from torseur.derivation.loops.assembly.projection import CLOSED, project, random_states
from torseur.derivation.loops.model.angle_joints import is_of_the_mechanism
from torseur.derivation.loops.model.loop_model import loop_system
from torseur.derivation.loops.model.loop_parts import related_freedoms
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.rank.numerical_rank import ranks
from torseur.derivation.loops.singularities.rank_drop import RankDrop, rank_drop
from torseur.derivation.loops.singularities.singularities import (
    Singularity,
    coordinates_of,
    different,
    singularity,
    slot_of,
)
from torseur.description.mechanism import Mechanism
from torseur.errors import MechanismError


def singularities_in(mechanism: Mechanism, box: Mapping[str, tuple[float, float]], *, starts: int = 40,
                     at: Mapping[str, float] | None = None, locked: Sequence[str] = (), inputs: Sequence[str] = (),
                     outputs: Sequence[str] = (), seed: int = 0) -> list[Singularity]:  # fmt: skip
    """Singular configurations whose coordinates lie in a box (SI), found from random starts in it.

    Where they form curves or surfaces, points of them, with the dimension as `family`. Angles count modulo a turn. With
    `locked` coordinates or joints held where the pose `at` has them, these count as constraints. With `inputs` and
    `outputs` named, singularities of type 2 and 1 are among them. Parts with none of these coordinates stay where the
    pose has them.
    """
    if both := set(box) & set(coordinates_of(mechanism, locked)):
        raise MechanismError(f"box: {', '.join(sorted(both))} is locked, so that it has one value and no range.")
    if locked:
        mechanism, _ = hold_coordinates(mechanism, at, locked, 0.0, seed)
    system = loop_system(mechanism, named=[*box, *inputs, *outputs])
    slots = {slot_of(system, name): limits for name, limits in box.items()}
    resting = {"type 2": [slot_of(system, n) for n in inputs], "type 1": [slot_of(system, n) for n in outputs]}
    part = related_freedoms(system, [*slots, *(k for rows in resting.values() for k in rows)] or range(system.n))
    states = _closed_states(system, slots, starts, np.random.default_rng(seed))
    if len(part) < system.n:
        states = _elsewhere_at(system, states, part, closed_state(system, at, seed))
    if not len(states):
        return []
    rank = int(np.max(ranks(system.linearise(states)[1])))
    kinds = {"closure": np.zeros((0, system.n)), **{k: np.eye(system.n)[rows] for k, rows in resting.items() if rows}}
    first = next(iter(slots), 0)
    met = [
        (_into_box(system, singularity(system, first, drop.state, kind), box), drop)
        for kind, rows in kinds.items()
        for drop in _drops(system, states, rank, rows)
        if is_of_the_mechanism(system, drop.state, resting.get(kind, ()))
    ]
    inside = [(item, drop) for item, drop in met if item is not None]
    kept = different([item for item, _ in inside], "")
    return [replace(item, family=drop.family(part)) for item, drop in inside if any(item is one for one in kept)]


def _closed_states(
    system: LoopSystem, slots: Mapping[int, tuple[float, float]], count: int, rng: np.random.Generator
) -> State:
    """Closed states near random ones in a box."""
    states = random_states(system, count, rng)
    for slot, (low, high) in slots.items():
        states.x[:, slot] = rng.uniform(low, high, count) / system.amounts.units[slot]
    closed = project(system, states, steps=150)
    return closed.state.lanes(closed.gap < system.open_limit(CLOSED))


def _elsewhere_at(system: LoopSystem, states: State, part: Sequence[int], pose: State) -> State:
    """The states with the freedoms outside a part as in a pose."""
    outside = [k for k in range(system.n) if k not in part]
    x, balls = states.x.copy(), states.balls.copy()
    x[:, outside] = pose.x[:, outside]
    for b, k in enumerate(system.ball_freedoms):
        if k in outside:
            balls[:, b] = pose.balls[:, b]
    return State(x, balls)


def _drops(system: LoopSystem, states: State, rank: int, resting: Array) -> list[RankDrop]:
    """States where a motion more than usual is possible; with rows that rest, one that leaves them at rest."""
    usual = rank
    if len(resting):
        usual = int(np.max(ranks(np.stack([np.vstack([rows, resting]) for rows in system.linearise(states)[1]]))))
        # More inputs than motions may be dependent without anything moving; fewer leave motions free everywhere.
        if usual < min(rank + len(resting), system.n):
            return []
    drops = [rank_drop(system, states.lane(k), usual, resting) for k in range(len(states))]
    drops_of_rank = [RankDrop(system, state, usual, resting) for state in drops if state is not None]
    if not len(resting):
        return drops_of_rank
    # Where the closures themselves leave more motions, it is their singularity and told as such.
    return [drop for drop in drops_of_rank if int(ranks(system.linearise(drop.state)[1])[0]) == rank]


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
