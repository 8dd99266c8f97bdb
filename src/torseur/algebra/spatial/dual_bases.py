"""Bases of the motions and the dual bases of the forces: d_i · e_j is 1 for i = j and 0 otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torseur.algebra.graph import Expr, from_sympy, symbols_of
from torseur.algebra.spatial.components import in_sympy
from torseur.algebra.spatial.screws import Force, Motion, require_kind
from torseur.edges.arguments import ArgumentError


def dual_basis(motions: Sequence[Motion]) -> list[Force]:
    """The forces e_1 ... e_6 with d_i · e_j = δ_ij for six independent motions d_1 ... d_6.

    Coordinates in a basis and its dual multiply as in m · f = mᵀ f.
    """
    if len(motions) != 6:
        raise ArgumentError(f"dual_basis: a basis of motions has six vectors, got {len(motions)}.")
    for motion in motions:
        require_kind(motion, Motion, "dual_basis of", "")
    rows = [motion.vector for motion in motions]
    columns = _numeric(rows) if all(row.dtype == float for row in rows) else _symbolic(rows)
    return [Force(column[:3], column[3:]) for column in columns]


def coordinates_in(basis: Sequence[Motion], motion: Motion) -> list[Any]:
    """The coordinates m_i of a motion in a basis, m = Σ m_i d_i: its powers with the dual basis."""
    require_kind(motion, Motion, "coordinates of", "")
    return [motion.dot(force) for force in dual_basis(basis)]


# d_i · e_j = δ_ij says D E = 1 for the rows d_i of D and the columns e_j of E.
def _numeric(rows: Sequence[Any]) -> list[list[Any]]:
    matrix = np.array(rows)
    values = np.linalg.svd(matrix / np.linalg.norm(matrix, axis=1, keepdims=True).clip(1e-300), compute_uv=False)
    if values[-1] < 1e-12 * values[0]:
        raise _dependent()
    return [[*column] for column in np.linalg.inv(matrix).T.tolist()]


def _symbolic(rows: Sequence[Any]) -> list[list[Any]]:
    import sympy as sp

    matrix = sp.Matrix([in_sympy(row) for row in rows])
    if sp.simplify(matrix.det()) == 0:
        raise _dependent()
    inverse = matrix.inv().applyfunc(sp.simplify)
    ours = {str(node.name): node for node in symbols_of([x for row in rows for x in row if isinstance(x, Expr)])}
    # Expressions of ours come back as such: SymPy's and ours do not multiply.
    entries = [from_sympy(x, ours) for x in inverse] if ours else [*inverse]
    return [entries[j::6] for j in range(6)]


def _dependent() -> ArgumentError:
    return ArgumentError("dual_basis: the six motions are dependent, so that they are no basis.")
