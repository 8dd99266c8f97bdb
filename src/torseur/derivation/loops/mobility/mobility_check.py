"""An independent check of first-order mobility: the loops themselves, moved a little to either side.

The rank comes from screws along the joints; differences of what is left open have no derivative in common with them.
Along random moves both must agree, along the motions that were found nothing may open.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.derivation.loops.configuration import ClosedConfiguration
from torseur.derivation.loops.rank.numerical_rank import THRESHOLD

STEP = 1e-5  # to either side, in rad and units of the mechanism: its square and rounding over it are errors of 1e-10
LIMIT = 1e-6  # far above both, far below what counts in a rank
DIRECTIONS = 6


@dataclass(frozen=True)
class MobilityCheck:
    """By how much differences of the closures and the rates by which the rank was decided disagree."""

    error: float

    @property
    def agrees(self) -> bool:
        return bool(self.error <= LIMIT)

    def __str__(self) -> str:
        by = "checked by differences of the loops along motions and random moves"
        if self.agrees:
            return f"{by}: agrees to {self.error:.1e}"
        return f"{by}: DISAGREES by {self.error:.1e}, expected {LIMIT:.0e} at most"

    def to_dict(self) -> dict[str, object]:
        return {"by": "differences of the loops", "error": self.error, "limit": LIMIT, "agrees": self.agrees}


def check_mobility(here: ClosedConfiguration) -> MobilityCheck:
    """The check of the first-order motions at a configuration."""
    system, rng = here.system, np.random.default_rng(0)
    motions = here.rank.motions
    weights = rng.standard_normal((DIRECTIONS if motions.shape[1] else 0, motions.shape[1]))
    moves = np.concatenate([weights @ motions.T, rng.standard_normal((DIRECTIONS, system.n))])
    moves /= np.maximum(np.linalg.norm(moves, axis=1, keepdims=True), 1e-300)
    ahead, behind = (system.residual(system.move(here.state.repeat(len(moves)), s * STEP * moves)) for s in (1, -1))
    differences = (ahead - behind) / (2 * STEP)
    size = max(1.0, float(np.abs(here.rank.jacobian).max(initial=0.0)))
    errors = np.abs(differences - moves @ here.rank.jacobian.T)
    # What was called a motion opens nothing, whatever the Jacobian says of it; but by what the rank takes for rounding.
    opened = np.abs(differences[: len(weights)])
    errors[: len(weights)] += np.where(opened > 2 * THRESHOLD * size, opened, 0.0)
    return MobilityCheck(float(errors.max(initial=0.0)) / size)
