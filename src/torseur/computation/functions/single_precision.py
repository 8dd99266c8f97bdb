"""Equations for code in single precision: no digits are lost where masses differ much, and none computed for nothing.

Many robot files hold right angles as single precision has them, 1.5707963705 instead of 1.5707963268. No float32 tells
these apart; but taken at its word the angle's cosine is -4e-8 instead of zero, and every product with it is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from torseur.algebra.graph import Expr, as_expr, constant_value, evaluate
from torseur.derivation import dynamics as td
from torseur.derivation.equations.equations import Equations
from torseur.derivation.equations.formulation import as_expressions
from torseur.derivation.tree import build_tree
from torseur.derivation.tree.transformations.quarter_turns import SINGLE, with_quarter_turns
from torseur.description.mechanism import TIME

STATES = 8
TOLERABLE = 20.0
"""What is left of a diagonal entry, as a pivot, may be so many times smaller: the gradient of an arm with 12 keeps six
digits in single precision, that of a humanoid with 60 keeps four."""


# Why articulated bodies give the factors in single precision: docs/decisions/0024-single-precision-and-small-pivots.md.
def spares_digits(equations: Equations) -> bool:
    """Whether the mass matrix is not to be factored as it stands: in single precision, where pivots cancel."""
    return equations.few_digits and _cancellation(equations) > TOLERABLE


def _cancellation(equations: Equations) -> float:
    """By how much pivots are smaller than diagonal entries, at worst, over some positions; inf where nobody knows."""
    given = {p.name for p in equations.mechanism.parameters if p.value is not None}
    if not given >= set(equations.layout.parameter_names):
        return np.inf
    matrix = np.moveaxis(sampled_mass_matrices(equations), 0, -1)
    n = len(matrix)
    # Lᵀ D L from the last row up, as code does it, at all states at once; only the pivots are looked at.
    left, worst = matrix.copy(), 1.0
    with np.errstate(divide="ignore", invalid="ignore"):  # a pivot of what has no mass vanishes
        for k in range(n - 1, -1, -1):
            worst = np.maximum(worst, np.max(matrix[k, k] / left[k, k]))  # nan stays
            left[:k, :k] -= left[:k, None, k] * left[None, k, :k] / left[k, k]
    return float(worst) if np.isfinite(worst) else np.inf


def sampled_mass_matrices(equations: Equations) -> np.ndarray:
    """M at some positions and the nominal values of the parameters, 1 for those without: an array of matrices."""
    tree, layout = equations.tree, equations.layout
    n = len(layout.speeds)
    rows = [entry for row in td.mass_matrix(tree, layout.coordinates) for entry in as_expressions(row)]
    return np.moveaxis(_sampled(equations, rows).reshape(n, n, STATES), -1, 0)


def sampled_inertias_of_joints(equations: Equations) -> np.ndarray:
    """For each screw the inertia along it, all that it carries frozen and yielding, there: (screws, 2, states)."""
    tree, layout = equations.tree, equations.layout
    pairs = td.inertias_of_joints(tree, layout.coordinates)
    return _sampled(equations, as_expressions([x for pair in pairs for x in pair])).reshape(-1, 2, STATES)


def _sampled(equations: Equations, expressions: Sequence[Expr]) -> np.ndarray:
    """Values at some positions and the nominal values of the parameters: a row for each expression."""
    tree, layout = equations.tree, equations.layout
    given = {p.name: p.value for p in equations.mechanism.parameters if p.value is not None}
    numbers = {node: constant_value(as_expr(given.get(str(node.name), 1.0))) for node in layout.parameters}
    places = np.random.default_rng(0).uniform(-1.5, 1.5, (len(layout.coordinates), STATES))
    for link in tree.links:
        slots = [layout.coordinates.index(x) for x in link.symbols.quaternion or ()]
        places[slots] = np.eye(4)[:1].T if slots else 0.0
    state = dict(zip(layout.coordinates, places, strict=True)) | numbers | {TIME: 0.0}
    with np.errstate(divide="ignore", invalid="ignore"):  # pivots that vanish
        values = evaluate(expressions, state)
    return np.array([np.broadcast_to(np.asarray(x, dtype=float), STATES) for x in values])


# What right angles in single precision save: docs/decisions/0025-right-angles-by-precision.md.
def in_single_precision(equations: Equations) -> Equations:
    """The equations as float32 is best given them; angles within a unit in the last place of a right one are right."""
    mechanism = with_quarter_turns(equations.mechanism, SINGLE)
    formulation = equations.formulation
    if mechanism is not equations.mechanism:
        formulation = replace(formulation, tree=build_tree(mechanism))
    return replace(equations, formulation=formulation, few_digits=True)
