"""The closure of all loops as functions of the joints' freedoms: residual, Jacobian, steps on the state.

Per cycle the residual is the rotation vector and the displacement left after walking around it, lengths counted in
a unit of the mechanism's own size, so that no result depends on the unit the user chose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.spatial.rotation_arrays import cross_rows, exponential, logarithm, logarithm_derivative
from torseur.derivation.loops.closure.closure_tolerance import LEAST, ROUNDED_ROWS
from torseur.derivation.loops.closure.relations import Relation, Rows, screws_by_slot
from torseur.derivation.loops.model.cycles import Cycle
from torseur.derivation.loops.model.joint_chains import Chains, walk
from torseur.derivation.loops.model.motion_amounts import Amounts
from torseur.derivation.loops.model.skeleton import Edge, Skeleton


@dataclass(frozen=True)
class State:
    """Lanes of states: coordinates (B, n) in the mechanism's units, and rotations of the balls (B, balls, 3, 3)."""

    x: Array
    balls: Array

    def __len__(self) -> int:
        return len(self.x)

    def lane(self, k: int) -> State:
        return State(self.x[k : k + 1], self.balls[k : k + 1])

    def lanes(self, chosen: Any) -> State:
        return State(self.x[chosen], self.balls[chosen])

    def with_lanes(self, chosen: Any, new: State) -> State:
        x, balls = self.x.copy(), self.balls.copy()
        x[chosen], balls[chosen] = new.x, new.balls
        return State(x, balls)

    def repeat(self, times: int) -> State:
        return State(np.repeat(self.x, times, axis=0), np.repeat(self.balls, times, axis=0))


@dataclass(frozen=True)
class LoopSystem:
    """Cycles and relations of a skeleton at one time; `ball_freedoms` are the first freedoms of the balls.

    `edges` are those of the skeleton with numbers for their constants. `tolerance` is by how much loops may stay open
    where rounded dimensions forbid closing them, in units of length and rad.
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
    tolerance: float = LEAST

    def open_limit(self, usual: float) -> float:
        """The gap up to which a state counts as closed: what is usual, or what the dimensions' rounding leaves."""
        return usual if self.tolerance <= LEAST else max(usual, self.tolerance)

    @property
    def negligible(self) -> float:
        """The part of the closure equations that is rounding of dimensions; 0 where these have all their digits."""
        return 0.0 if self.tolerance <= LEAST else ROUNDED_ROWS * self.tolerance

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

    def residual(self, state: State) -> Array:
        """(B, rows): what is left of each closure; rotations in rad, displacements in units of length."""
        values = self.amounts.values(state.x)
        turned, moved, _ = walk(self.chains, values, state.balls)
        around = np.concatenate([logarithm(turned), moved], axis=-1).reshape(len(state), 6 * len(self.cycles))
        others = [r.position(state.x, values, state.balls).residual for r in self.relations]
        return np.concatenate([around, *others], axis=1)

    def linearise(self, state: State) -> tuple[Array, Array]:
        """(residual, Jacobian): (B, rows) and (B, rows, n)."""
        # Rows of the Jacobian, columns the freedoms:
        #     per cycle    rotation      d log(R) = D w          3 rows
        #                  displacement  v + w x p               3 rows, at the end p of the walk
        #     per relation its parts                             after all cycles
        values = self.amounts.values(state.x)
        turned, moved, screws = walk(self.chains, values, state.balls)
        vector = logarithm(turned)
        by_slot = screws_by_slot(self.chains, screws, self.slots)
        angular = logarithm_derivative(vector) @ by_slot[:, :, :3]
        linear = by_slot[:, :, 3:] + cross_rows(by_slot[:, :, :3], moved)
        closures = 6 * len(self.cycles)
        rows = np.concatenate([angular, linear], axis=2).reshape(len(state), closures, self.slots)
        around = np.concatenate([vector, moved], axis=-1).reshape(len(state), closures)
        parts = [(around, self._by_freedom(rows, state))]
        for relation in self.relations:
            part = relation.position(state.x, values, state.balls)
            parts.append((part.residual, self.relation_rows(part, state)))
        return np.concatenate([r for r, _ in parts], axis=1), np.concatenate([j for _, j in parts], axis=1)

    def rows_by_freedom(self, chains: Chains, screws: Array, state: State) -> Array:
        """Screws of any chains as rows over the freedoms, (B, C, 6, n)."""
        by_slot = screws_by_slot(chains, screws, self.slots)
        rows = by_slot.reshape(len(state), 6 * len(chains), self.slots)
        return self._by_freedom(rows, state).reshape(*by_slot.shape[:3], self.n)

    def screw_rows(self, state: State) -> Array:
        """(B, rows, n): the joints' screws around each cycle, which equal the Jacobian where the loops are closed."""
        values = self.amounts.values(state.x)
        screws = screws_by_slot(self.chains, walk(self.chains, values, state.balls)[2], self.slots)
        blocks = [self._by_freedom(screws.reshape(len(state), 6 * len(self.cycles), self.slots), state)]
        blocks += [self.relation_rows(r.position(state.x, values, state.balls), state) for r in self.relations]
        return np.concatenate(blocks, axis=1)

    def velocity_rows(self, state: State) -> Array:
        """(B, k, n): rows that restrict velocities only."""
        values = self.amounts.values(state.x)
        parts = [r.velocity(state.x, values, state.balls) for r in self.relations]
        rows = [self.relation_rows(part, state) for part in parts if part.residual.shape[1]]
        return np.concatenate(rows, axis=1) if rows else np.zeros((len(state), 0, self.n))

    def relation_rows(self, part: Rows, state: State) -> Array:
        """Rows of a relation over the freedoms, (B, k, n)."""
        total = np.zeros((len(state), part.residual.shape[1], self.n))
        if part.by_slot is not None:
            total = total + self._by_freedom(part.by_slot, state)
        return total if part.by_freedom is None else total + part.by_freedom

    def _by_freedom(self, rows: Array, state: State) -> Array:
        if self.amounts.is_affine and self.amounts.is_diagonal:
            return rows * self.amounts.diagonal
        # By slot J_slot, by freedom J_slot dA/dx; where every joint has one coordinate that is a scaling of columns.
        product: Array = rows @ self.amounts.jacobian(state.x)
        return product

    def move(self, state: State, step: Array) -> State:
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

    def difference(self, first: State, second: State) -> Array:
        """The step (B, n) from one state to another."""
        step = second.x - first.x
        if self.ball_freedoms:
            turned = logarithm(second.balls @ np.swapaxes(first.balls, -1, -2))
            for b, k in enumerate(self.ball_freedoms):
                step[:, k : k + 3] = turned[:, b]
        return step

    def _ball_steps(self, step: Array) -> Array:
        return np.stack([step[:, k : k + 3] for k in self.ball_freedoms], axis=1)
