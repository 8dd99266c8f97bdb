"""The closure of all loops as functions of the joints' freedoms: residual, Jacobian, steps on the state.

Per cycle the residual is the rotation vector and the displacement left after walking around it, lengths counted in
a unit of the mechanism's own size, so that no result depends on the unit the user chose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.loops.amounts import Amounts
from torseur.loops.chains import Chains, walk
from torseur.loops.cycles import Cycle
from torseur.loops.relations import Relation, Rows, spread
from torseur.loops.skeleton import Edge, Skeleton
from torseur.loops.so3 import cross_rows, exponential, logarithm, logarithm_slope

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class State:
    """Lanes of states: coordinates (B, n) in the mechanism's units, and rotations of the balls (B, balls, 3, 3)."""

    x: Floats
    balls: Floats

    def __len__(self) -> int:
        return len(self.x)

    def lane(self, k: int) -> State:
        return State(self.x[k : k + 1], self.balls[k : k + 1])

    def lanes(self, chosen: Any) -> State:
        return State(self.x[chosen], self.balls[chosen])

    def repeated(self, times: int) -> State:
        return State(np.repeat(self.x, times, axis=0), np.repeat(self.balls, times, axis=0))


@dataclass(frozen=True)
class LoopSystem:
    """Cycles and relations of a skeleton at one time; `ball_freedoms` are the first freedoms of the balls.

    `edges` are those of the skeleton with numbers for their constants.
    """

    frame: Skeleton
    edges: tuple[Edge, ...]
    cycles: tuple[Cycle, ...]
    chains: Chains
    amounts: Amounts
    relations: tuple[Relation, ...]
    ball_freedoms: tuple[int, ...]
    slots: int
    length: float
    time: float

    @property
    def n(self) -> int:
        """Number of freedoms."""
        return len(self.frame.freedoms)

    @property
    def rows(self) -> int:
        """Number of holonomic equations."""
        return 6 * len(self.cycles) + sum(len(r.parts) for r in self.relations)

    def start(self, states: int = 1) -> State:
        """All coordinates zero, all balls unturned."""
        balls = np.broadcast_to(np.eye(3), (states, len(self.ball_freedoms), 3, 3)).copy()
        return State(np.zeros((states, self.n)), balls)

    def residual(self, state: State) -> Floats:
        """(B, rows): what is left of each closure; rotations in rad, displacements in units of length."""
        values = self.amounts.values(state.x)
        turned, moved, _ = walk(self.chains, values, state.balls)
        around = np.concatenate([logarithm(turned), moved], axis=-1).reshape(len(state), 6 * len(self.cycles))
        others = [r.position(state.x, values, state.balls).residual for r in self.relations]
        return np.concatenate([around, *others], axis=1)

    def linearised(self, state: State) -> tuple[Floats, Floats]:
        """(residual, Jacobian): (B, rows) and (B, rows, n)."""
        values = self.amounts.values(state.x)
        turned, moved, screws = walk(self.chains, values, state.balls)
        vector = logarithm(turned)
        by_slot = spread(self.chains, screws, self.slots)
        angular = logarithm_slope(vector) @ by_slot[:, :, :3]
        linear = by_slot[:, :, 3:] + cross_rows(by_slot[:, :, :3], moved)
        closures = 6 * len(self.cycles)
        rows = np.concatenate([angular, linear], axis=2).reshape(len(state), closures, self.slots)
        around = np.concatenate([vector, moved], axis=-1).reshape(len(state), closures)
        found = [(around, self._by_freedom(rows, state))]
        for relation in self.relations:
            part = relation.position(state.x, values, state.balls)
            found.append((part.residual, self.relation_rows(part, state)))
        return np.concatenate([r for r, _ in found], axis=1), np.concatenate([j for _, j in found], axis=1)

    def rows_by_freedom(self, chains: Chains, screws: Floats, state: State) -> Floats:
        """Screws of any chains as rows over the freedoms, (B, C, 6, n)."""
        by_slot = spread(chains, screws, self.slots)
        rows = by_slot.reshape(len(state), 6 * len(chains), self.slots)
        return self._by_freedom(rows, state).reshape(*by_slot.shape[:3], self.n)

    def screw_rows(self, state: State) -> Floats:
        """(B, rows, n): the joints' screws around each cycle, which equal the Jacobian where the loops are closed."""
        values = self.amounts.values(state.x)
        screws = spread(self.chains, walk(self.chains, values, state.balls)[2], self.slots)
        found = [self._by_freedom(screws.reshape(len(state), 6 * len(self.cycles), self.slots), state)]
        found += [self.relation_rows(r.position(state.x, values, state.balls), state) for r in self.relations]
        return np.concatenate(found, axis=1)

    def velocity_rows(self, state: State) -> Floats:
        """(B, k, n): rows that restrict velocities only."""
        values = self.amounts.values(state.x)
        parts = [r.velocity(state.x, values, state.balls) for r in self.relations]
        rows = [self.relation_rows(part, state) for part in parts if part.residual.shape[1]]
        return np.concatenate(rows, axis=1) if rows else np.zeros((len(state), 0, self.n))

    def relation_rows(self, part: Rows, state: State) -> Floats:
        """Rows of a relation over the freedoms, (B, k, n)."""
        total = np.zeros((len(state), part.residual.shape[1], self.n))
        if part.by_slot is not None:
            total = total + self._by_freedom(part.by_slot, state)
        return total if part.by_freedom is None else total + part.by_freedom

    def _by_freedom(self, rows: Floats, state: State) -> Floats:
        if self.amounts.is_affine and self.amounts.is_diagonal:
            return rows * self.amounts.diagonal
        product: Floats = rows @ self.amounts.slopes(state.x)
        return product

    def moved(self, state: State, step: Floats) -> State:
        """The state after a step (B, n); balls turn on their near side."""
        x = state.x + step
        if not self.ball_freedoms:
            return State(x, state.balls)
        turned = exponential(self._ball_steps(step)) @ state.balls
        for k in self.ball_freedoms:
            x[:, k : k + 3] = 0.0
        # One Newton step towards the nearest rotation keeps rounding from growing.
        square = np.swapaxes(turned, -1, -2) @ turned
        return State(x, turned @ (1.5 * np.eye(3) - 0.5 * square))

    def difference(self, first: State, second: State) -> Floats:
        """The step (B, n) from one state to another."""
        step = second.x - first.x
        if self.ball_freedoms:
            turned = logarithm(second.balls @ np.swapaxes(first.balls, -1, -2))
            for b, k in enumerate(self.ball_freedoms):
                step[:, k : k + 3] = turned[:, b]
        return step

    def _ball_steps(self, step: Floats) -> Floats:
        return np.stack([step[:, k : k + 3] for k in self.ball_freedoms], axis=1)
