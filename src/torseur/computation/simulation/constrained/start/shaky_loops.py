"""Loops that some motions leave closed to first order only, wherever the loops are closed.

There the constraints lose rank although nothing moves that way: of y² / 2 = 0 the derivative y vanishes. With a
play, y² / 2 = e² / 2, it does not, and the mechanism moves as it should, a tiny step beside. Nothing else is known to
first order about such a mechanism, and real ones have more play than that.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.constrained.start.regularity import neighbours, selected_by, whitened
from torseur.computation.simulation.constrained.start.start_account import Consistent
from torseur.computation.simulation.model.system import Vector

FIRST_ORDER = 1e-5  # part of the largest constraint that any other adds somewhere if it counts to first order
PLAY = 3e-6  # step beside the closed state, in units of the mechanism; its square is what the loops stay open
TRIES = 4


def with_play(numbers: StateNumbers, t: float, closed: Consistent) -> tuple[StateNumbers, Consistent]:
    """The mechanism and its closed state with a play where its loops are shaky, else as they are."""
    if not _is_shaky(numbers, t, closed.y):
        return numbers, closed
    beside = max(_beside(numbers, t, closed.y), key=lambda y: len(selected_by(numbers, whitened(numbers, t, y))))
    velocities = numbers.of(numbers.programs.velocities, t, beside)
    play = np.where(np.arange(len(velocities["phi"])) < numbers.programs.holonomic, velocities["phi"], 0.0)
    note = (
        "The loops are shaky: to first order they allow motions that they stop to second order. They were left open by "
        f"{np.abs(play).max():.0e} so that this shows."
    )
    return replace(numbers, play=play), Consistent(beside, (*closed.notes, note), closed.account)


def _is_shaky(numbers: StateNumbers, t: float, y: Vector) -> bool:
    """Whether constraints count wherever the loops are nearly closed, and hardly so."""
    rows = [whitened(numbers, t, state) for state in (y, *neighbours(numbers, t, y))]
    clear = max(len(selected_by(numbers, each, FIRST_ORDER)) for each in rows)
    return max(len(selected_by(numbers, each)) for each in rows) > clear


def _beside(numbers: StateNumbers, t: float, y: Vector) -> list[Vector]:
    """States a tiny step away along motions that the constraints allow to first order."""
    _, derivatives = numbers.closure(t, y)
    _, sizes, directions = np.linalg.svd(derivatives)
    allowed = directions[int(np.sum(sizes > FIRST_ORDER * sizes.max(initial=0.0))) :]
    random = np.random.default_rng(0)
    moves = random.standard_normal((TRIES, len(allowed))) @ allowed
    return [numbers.moved(t, y, PLAY * move / np.abs(move).max()) for move in moves]
