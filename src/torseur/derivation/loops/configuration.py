"""What can be said about the motions through a closed configuration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.rank.numerical_rank import NumericalRank, numerical_rank

# Beyond this many first-order motions not every direction is tried.
MANY_MOTIONS = 40


@dataclass(frozen=True)
class ClosedConfiguration:
    """A closed configuration (one lane) under examination: its rank, and where random directions come from."""

    system: LoopSystem
    state: State
    rank: NumericalRank
    rng: np.random.Generator

    @property
    def count(self) -> int:
        """Number of first-order motions."""
        return int(self.rank.motions.shape[1])

    def move(self, directions: Array, distance: float) -> State:
        """States at a distance along first-order motions (lanes of coefficients)."""
        here = self.state.repeat(len(directions))
        return self.system.move(here, distance * directions @ self.rank.motions.T)

    def steps_to(self, states: State) -> Array:
        """Steps from here to other states (lanes, n)."""
        return self.system.difference(self.state.repeat(len(states)), states)


def closed_configuration(system: LoopSystem, state: State, rng: np.random.Generator) -> ClosedConfiguration:
    """A closed configuration with its rank."""
    return ClosedConfiguration(system, state, numerical_rank(system.linearise(state)[1][0]), rng)


@dataclass(frozen=True)
class Branch:
    """Configurations through a singular one: their dimension, the directions they leave in (n, k), a point on them."""

    dimension: int
    tangent: Array
    point: State


@dataclass(frozen=True)
class Mobility:
    """Rank and mobilities at a closed configuration; `finite` is None when undecided.

    `nearby_rank` is the rank of configurations reached by finite motions, larger than `rank` at a singular
    configuration. `tangent` spans the directions that continue (n, finite). `proof` says why there are no more
    branches than those listed, and is empty where that is not known.
    """

    rank: int
    infinitesimal: int
    finite: int | None
    nearby_rank: int
    reason: str
    tangent: Array
    branches: tuple[Branch, ...] = ()
    proof: str = ""

    @property
    def is_singular(self) -> bool:
        return self.nearby_rank > self.rank
