"""Inertial parameters of a body or of a tree of segments from recorded motion and external forces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.analysis.identification.segments.conjugate_gradient import Descent, Stopping, descend, smallest_eigenvalue
from torseur.analysis.identification.segments.poinsot_cost import PoinsotCost
from torseur.analysis.identification.segments.segment_trials import SegmentTrial
from torseur.errors import IdentificationError

_NULL = 1e-10


@dataclass(frozen=True, eq=False)
class SegmentEstimate:
    """J with the standard deviation of its entries, what the motion did not excite, and how it was found.

    `unexcited` entries kept their start value; `undetermined` ones belong to combinations that the motion cannot tell
    apart, so that their own value depends on the start.
    """

    J: Array
    deviation: Array
    unexcited: Mask
    undetermined: Mask
    descent: Descent
    warnings: tuple[str, ...]

    def __str__(self) -> str:
        rows = ["  ".join(f"{x:12.6g}" for x in row) for row in self.J]
        done = f"{self.descent.iterations} iterations, {self.descent.projections} projections: {self.descent.reason}"
        return "\n".join(["J =", *rows, done, *(f"warning: {text}" for text in self.warnings)])


def identify_segments(
    trials: Sequence[SegmentTrial],
    start: Array | None = None,
    *,
    known_zero: Mask | None = None,
    positive: bool = True,
    stopping: Stopping | None = None,
    progress: Callable[[float], None] | None = None,
) -> SegmentEstimate:
    """J that explains the trials best, by projected conjugate gradient from `start` (the identity by default).

    `known_zero` marks entries held at zero. Without `positive` the result may be no mass distribution at all; it is
    returned with a warning that says so.
    """
    cost = PoinsotCost.of(trials)
    J = np.eye(cost.size) if start is None else np.array(start, dtype=float)
    free = np.ones(J.shape, dtype=bool) if known_zero is None else ~np.asarray(known_zero, dtype=bool)
    J = np.where(free, J, 0.0)
    if not np.any(cost.excited_entries & free):
        raise IdentificationError("unexcited motion: nothing in these trials depends on any mass.")
    descent = descend(cost, J, free=free, positive=positive, stopping=stopping, progress=progress)
    unexcited = free & ~cost.excited_entries
    undetermined, deviation = _certainty(cost, trials, descent.J, free)
    return SegmentEstimate(
        descent.J, deviation, unexcited, undetermined, descent,
        _warnings(descent, unexcited, undetermined, cost.excited_entries & free),
    )  # fmt: skip


def _warnings(descent: Descent, unexcited: Mask, undetermined: Mask, inside: Mask) -> tuple[str, ...]:
    warnings = []
    smallest = smallest_eigenvalue(descent.J, inside)
    if smallest < -1e-12 * max(1.0, float(np.max(np.abs(descent.J)))):
        warnings.append(
            f"J has the negative eigenvalue {smallest:.3g}: no body has these parameters. "
            "Identify with projection (positive=True), or record a richer motion."
        )
    if unexcited.any():
        warnings.append(f"the motion does not excite {_entry_list(unexcited)}: they keep the value they started with.")
    if undetermined.any():
        warnings.append(
            f"the motion determines {_entry_list(undetermined)} only together: each depends on where it started."
        )
    if not descent.converged:
        warnings.append(f"the descent did not converge: {descent.reason}.")
    return tuple(warnings)


def _entry_list(entries: Mask) -> str:
    return ", ".join(f"J[{i},{j}]" for i, j in np.argwhere(np.triu(entries)))


def _certainty(cost: PoinsotCost, trials: Sequence[SegmentTrial], J: Array, free: Mask) -> tuple[Mask, Array]:
    """Entries with a part in combinations without curvature, and standard deviations by the residual's variance."""
    upper = np.triu_indices(cost.size)
    chosen = np.flatnonzero((free & cost.excited_entries)[upper])
    values, vectors = np.linalg.eigh(cost.hessian[np.ix_(chosen, chosen)])
    # Directions in the space of J without curvature: the data are the same all along them.
    flat = values < _NULL * values[-1]
    loose = np.any(np.abs(vectors[:, flat]) > 1e-6, axis=1)
    square = sum(float(np.sum(trial.residual(J)[:, *np.triu_indices(4, 1)] ** 2)) for trial in trials)
    count = sum(6 * len(trial.A) for trial in trials) - int(np.sum(~flat))
    weight = float(np.mean(np.concatenate([trial.weights for trial in trials])))
    steep = vectors[:, ~flat]
    variance = np.sum(steep**2 / values[~flat], axis=1) * weight * square / max(count, 1)
    undetermined, deviation = np.zeros(J.shape, dtype=bool), np.zeros(J.shape)
    rows, columns = upper[0][chosen], upper[1][chosen]
    undetermined[rows, columns] = undetermined[columns, rows] = loose
    deviation[rows, columns] = deviation[columns, rows] = np.sqrt(variance)
    return undetermined, deviation
