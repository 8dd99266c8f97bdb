"""How many digits a mass matrix loses when it is factored, and whether single precision can spare them."""

from __future__ import annotations

import numpy as np

from torseur import dynamics as td
from torseur.equations.equations import Equations
from torseur.equations.formulation import as_expressions
from torseur.graph import as_expr, constant_value, evaluate
from torseur.mechanism import TIME

STATES = 8
TOLERABLE = 20.0
"""What is left of a diagonal entry, as a pivot, may be so many times smaller: the gradient of an arm with 12 keeps six
digits in single precision, that of a humanoid with 60 keeps four."""


def spares_digits(equations: Equations) -> bool:
    """Whether the mass matrix is not to be factored as it stands: in single precision, where pivots cancel."""
    return equations.few_digits and _cancellation(equations) > TOLERABLE


def _cancellation(equations: Equations) -> float:
    """By how much pivots are smaller than diagonal entries, at worst, over some positions; inf where nobody knows."""
    tree, layout = equations.tree, equations.layout
    given = {p.name: p.value for p in equations.mechanism.parameters if p.value is not None}
    if not given.keys() >= set(layout.parameter_names):
        return np.inf
    numbers = {node: constant_value(as_expr(given[str(node.name)])) for node in layout.parameters}
    places = np.random.default_rng(0).uniform(-1.5, 1.5, (len(layout.coordinates), STATES))
    for link in tree.links:
        slots = [layout.coordinates.index(x) for x in link.symbols.quaternion or ()]
        places[slots] = np.eye(4)[:1].T if slots else 0.0
    state = dict(zip(layout.coordinates, places, strict=True)) | numbers | {TIME: 0.0}
    n = len(layout.speeds)
    rows = [entry for row in td.mass_matrix(tree, layout.coordinates) for entry in as_expressions(row)]
    matrix = np.array([np.broadcast_to(x, STATES) for x in evaluate(rows, state)], dtype=float).reshape(n, n, STATES)
    left, worst = matrix.copy(), 1.0
    for k in range(n - 1, -1, -1):
        worst = max(worst, float(np.max(matrix[k, k] / left[k, k])))
        left[:k, :k] -= left[:k, None, k] * left[None, k, :k] / left[k, k]
    return worst if np.isfinite(worst) else np.inf
