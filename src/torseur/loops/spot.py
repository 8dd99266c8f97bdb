"""What can be said about the motions through a closed configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.loops.rank import NumericalRank, numerical_rank
from torseur.loops.system import LoopSystem, State

Floats = np.ndarray[Any, np.dtype[np.float64]]

MANY_MOTIONS = 40


@dataclass(frozen=True)
class Spot:
    """A closed configuration (one lane) under examination: its rank, and where random directions come from."""

    system: LoopSystem
    state: State
    rank: NumericalRank
    rng: np.random.Generator

    @property
    def count(self) -> int:
        """Number of first-order motions."""
        return int(self.rank.motions.shape[1])

    def moved(self, directions: Floats, distance: float) -> State:
        """States at a distance along first-order motions (lanes of coefficients)."""
        here = self.state.repeated(len(directions))
        return self.system.moved(here, distance * directions @ self.rank.motions.T)

    def steps_to(self, states: State) -> Floats:
        """Steps from here to other states (lanes, n)."""
        return self.system.difference(self.state.repeated(len(states)), states)


def spot(system: LoopSystem, state: State, rng: np.random.Generator) -> Spot:
    """A closed configuration with its rank."""
    return Spot(system, state, numerical_rank(system.linearised(state)[1][0]), rng)


@dataclass(frozen=True)
class Branch:
    """Configurations through a singular one: their dimension, the directions they leave in (n, k), a point on them."""

    dimension: int
    tangent: Floats
    point: State


@dataclass(frozen=True)
class Mobility:
    """Rank and mobilities at a closed configuration; `finite` is None when undecided.

    `nearby_rank` is the rank of configurations reached by finite motions, larger than `rank` at a singular
    configuration. `tangent` spans the directions that continue (n, finite).
    """

    rank: int
    infinitesimal: int
    finite: int | None
    nearby_rank: int
    reason: str
    tangent: Floats
    branches: tuple[Branch, ...] = ()

    @property
    def is_singular(self) -> bool:
        return self.nearby_rank > self.rank
