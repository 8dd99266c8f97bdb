"""Projection of states of the loop analysis on the closed configurations."""

from __future__ import annotations

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.levenberg_marquardt import TOLERANCE, Descent, descend
from torseur.derivation.loops.model.loop_system import LoopSystem, State

CLOSED = 1e-9


def project(system: LoopSystem, state: State, *, free: Array | None = None, steps: int = 100,
            tolerance: float = TOLERANCE) -> Descent[State]:  # fmt: skip
    """The closed states near the given ones; freedoms where `free` is 0 stay as they are."""
    return descend(system.linearise, system.move, state, free=free, steps=steps, tolerance=tolerance,
                   negligible=system.negligible)  # fmt: skip


def random_states(system: LoopSystem, count: int, rng: np.random.Generator, spread: float = np.pi) -> State:
    """Coordinates drawn uniformly (angles in ±spread, lengths in ± one unit), rotations of any kind for balls."""
    angles = np.array([f.unit != "m" for f in system.frame.freedoms])
    step = rng.uniform(-1, 1, (count, system.n)) * np.where(angles, spread, min(1.0, spread))
    return system.move(system.start(count), step)
