"""Independent parts of a mechanism: loops and constraints that share freedoms, each a system of its own.

What is said of a part does not depend on the others: it has its own unit of length, equations and freedoms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.projection import random_states
from torseur.derivation.loops.model.loop_model import length_unit, loop_system
from torseur.derivation.loops.model.loop_system import LoopSystem, State


@dataclass(frozen=True)
class LoopPart(LoopSystem):
    """Some of the loops and constraints, over the freedoms (`columns`) that they move; states are those of the whole.

    `equations` has the same loops over all freedoms, `scale` what numbers of the whole mechanism are multiplied with.
    """

    equations: LoopSystem = field(kw_only=True)
    columns: tuple[int, ...] = field(kw_only=True)
    scale: Array = field(kw_only=True, compare=False)

    @property
    def n(self) -> int:
        return len(self.columns)

    def linearise(self, state: State) -> tuple[Array, Array]:
        residual, jacobian = self.equations.linearise(state)
        return residual, jacobian[:, :, self.columns]

    def residual(self, state: State) -> Array:
        return self.equations.residual(state)

    def move(self, state: State, step: Array) -> State:
        return self.equations.move(state, self.widen(step))

    def difference(self, first: State, second: State) -> Array:
        step: Array = self.equations.difference(first, second)[:, self.columns]
        return step

    def widen(self, steps: Array) -> Array:
        """Steps (B, n) over all freedoms, those of other parts staying."""
        wide = np.zeros((len(steps), self.equations.n))
        wide[:, self.columns] = steps
        return wide

    def enter(self, state: State) -> State:
        """A state of the whole in the units of this part."""
        return State(state.x * self.scale, state.balls)

    def leave(self, state: State) -> State:
        """A state of this part in the units of the whole."""
        return State(state.x / self.scale, state.balls)


def loop_parts(system: LoopSystem) -> tuple[list[LoopPart], list[int]]:
    """(parts, free): the independent parts in the order of their first freedoms, and the freedoms in no equation."""
    groups = _groups(system)
    used = {column for _, columns in groups for column in columns}
    return [_part(system, rows, columns) for rows, columns in groups], [k for k in range(system.n) if k not in used]


def related_freedoms(system: LoopSystem, freedoms: Sequence[int]) -> list[int]:
    """The freedoms of the parts that some freedoms belong to; one that is in no equation is a part of its own."""
    given = set(freedoms)
    return sorted(given.union(*(columns for _, columns in _groups(system) if given & set(columns))))


def in_own_unit(system: LoopSystem, freedoms: Sequence[int]) -> LoopSystem:
    """The system with a unit of length of the size of these freedoms' joints, so that other parts do not change it."""
    length = _own_length(system, freedoms)
    return system if length == system.length else _in_unit(system, length)


def _own_length(system: LoopSystem, freedoms: Sequence[int]) -> float:
    joints = {system.frame.freedoms[k].joint for k in freedoms}
    return length_unit([edge for edge in system.edges if edge.joint in joints])


def _groups(system: LoopSystem) -> list[tuple[list[int], list[int]]]:
    """Numbers of closures and relations, and of the freedoms that they share."""
    groups: list[tuple[set[int], set[int]]] = []
    for equation, columns in enumerate(_patterns(system)):
        merged = ({equation}, set(columns))
        # Equations that share a freedom are one part; a new one may join several that were apart.
        for known in [known for known in groups if known[1] & merged[1]]:
            groups.remove(known)
            merged = (known[0] | merged[0], known[1] | merged[1])
        if merged[1]:
            groups.append(merged)
    return sorted(((sorted(e), sorted(c)) for e, c in groups), key=lambda group: group[1][0])


def _patterns(system: LoopSystem) -> list[list[int]]:
    """Per closure, then per relation: the freedoms it depends on, seen at a few random open states."""
    # Open states at random: on closed ones entries may vanish that depend on a freedom all the same.
    jacobian = system.linearise(random_states(system, 3, np.random.default_rng(7)))[1]
    depends = np.any(np.nan_to_num(np.abs(jacobian), nan=1.0) > 1e-12, axis=0)
    # Three freedoms of a ball move together.
    for k in system.ball_freedoms:
        depends[:, k : k + 3] = np.any(depends[:, k : k + 3], axis=1, keepdims=True)
    sizes = [6] * len(system.cycles) + [len(r.parts) for r in system.relations]
    ends = np.cumsum([0, *sizes])
    return [[int(k) for k in np.flatnonzero(np.any(depends[a:b], axis=0))] for a, b in pairwise(ends)]


def _in_unit(system: LoopSystem, length: float) -> LoopSystem:
    return loop_system(system.frame.mechanism, system.time, length, system.frame.named)


def _part(system: LoopSystem, numbers: list[int], columns: list[int]) -> LoopPart:
    own = in_own_unit(system, columns)
    loops = [c for c in numbers if c < len(system.cycles)]
    chains = replace(own.chains, **{f.name: getattr(own.chains, f.name)[loops] for f in fields(own.chains)})
    relations = tuple(own.relations[c - len(own.cycles)] for c in numbers if c >= len(own.cycles))
    few = replace(own, cycles=tuple(own.cycles[c] for c in loops), chains=chains, relations=relations)
    values = {f.name: getattr(few, f.name) for f in fields(LoopSystem)}
    return LoopPart(**values, equations=few, columns=tuple(columns), scale=system.amounts.units / own.amounts.units)
