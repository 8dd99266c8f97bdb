"""How many freedoms constraints leave at the configurations of a motion."""

from __future__ import annotations

import numpy as np

from torseur.equations import Equations
from torseur.errors import counted
from torseur.report.compose.terms import Samples
from torseur.report.content import Fact

INDEPENDENT = 1e-8  # singular values below this part of the largest count as zero


def mobility_facts(equations: Equations, samples: Samples) -> list[Fact]:
    """Rank of the constraint matrix and what it leaves, least and most over the samples."""
    n, m = len(equations.layout.speeds), len(equations.constraints)
    rows = [entry for constraint in equations.constraints for entry in constraint.row]
    matrices = np.stack(samples.values(rows), axis=-1).reshape(samples.count, m, n)
    sizes = np.linalg.svd(matrices, compute_uv=False)
    ranks = np.sum(sizes > INDEPENDENT * np.maximum(sizes[:, :1], 1e-300), axis=1)
    low, high = int(ranks.min()), int(ranks.max())
    shown = str(low) if low == high else f"{low} to {high}"
    left = str(n - low) if low == high else f"{n - high} to {n - low}"
    return [
        Fact("independent constraints", shown, f"rank of {counted(m, 'equation')} along the motion"),
        Fact("degree of freedom", left, "at the configurations of the motion"),
    ]
