"""A slice of the configurations over two coordinates: states closed at its places, and what is singular there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.actuation.actuation import TYPE_1, TYPE_2
from torseur.derivation.loops.assembly.projection import CLOSED, project
from torseur.derivation.loops.model.angle_joints import angle_joints
from torseur.derivation.loops.model.loop_system import LoopSystem, State

_LARGEST_STEP = 0.8  # rad or units of length: a neighbour further away lies on another branch


@dataclass(frozen=True)
class Slice:
    """The slice in numbers: freedoms drawn, held, driven and looked at, and those of the parts that they belong to;
    all in the units of the system."""

    system: LoopSystem
    part: list[int]
    drawn: tuple[int, int]
    held: list[int]
    inputs: list[int]
    outputs: list[int]

    @property
    def given_coordinates(self) -> list[int]:
        return [*self.drawn, *self.held]

    def closed(self, states: State, places: Array) -> tuple[State, Array]:
        """States near others with the drawn coordinates at places (B, 2), and which of them close there."""
        free = np.ones(self.system.n)
        free[self.given_coordinates] = 0.0
        x = states.x.copy()
        x[:, list(self.drawn)] = places
        start = State(x, states.balls)
        closed = project(self.system, start, free=free, steps=60)
        jumped = np.max(np.abs(self.system.difference(states, closed.state)), axis=1)
        return closed.state, (closed.gap < self.system.open_limit(CLOSED)) & (jumped < _LARGEST_STEP)

    def indicators(self, states: State) -> dict[str, Array]:
        """Determinants of inputs and outputs per given coordinate: they vanish at singularities of type 2 and 1."""
        for joint in angle_joints(self.system):
            states = joint.off_alignment(self.system, states)
        motions = self._motions(states)
        sign = np.sign(np.linalg.det(motions[:, self.given_coordinates]))
        return {kind: np.linalg.det(motions[:, rows]) * sign * self._without_angles(states, rows)
                for kind, rows in self.kinds.items()}  # fmt: skip

    def _without_angles(self, states: State, rows: list[int]) -> Array:
        """Factors that take out of determinants what angles of joints alone bring into them."""
        factor = np.ones(len(states))
        for joint in angle_joints(self.system):
            # N = inv(E) N_ω: minors of inv(E) of every order are minors of E divided by det E.
            volume, own = joint.volume(self.system, states.x), set(joint.freedoms)
            turns = bool(own & set(rows)) + bool(own & set(self.given_coordinates))
            factor = factor * np.sign(volume) ** turns / (1.0 if own & set(rows) else np.abs(volume))
        return factor

    @property
    def kinds(self) -> dict[str, list[int]]:
        """Freedoms by the kind of singularity at which they do not determine the motion."""
        whole = {TYPE_2: self.inputs, TYPE_1: self.outputs}
        return {kind: rows for kind, rows in whole.items() if len(rows) == len(self.given_coordinates)}

    def determinants(self, states: State, rows: list[int]) -> Array:
        """Sizes of the determinants of some freedoms in orthonormal bases of motions."""
        return np.abs(np.linalg.det(self._motions(states)[:, rows]))

    def _motions(self, states: State) -> Array:
        own = self.system.linearise(states)[1][:, :, self.part]
        basis = np.linalg.svd(own)[2][:, -len(self.given_coordinates) :].transpose(0, 2, 1)
        motions = np.zeros((len(states), self.system.n, len(self.given_coordinates)))
        motions[:, self.part] = basis
        return motions
