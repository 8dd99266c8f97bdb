"""Bases of the motions and the dual bases of the forces: d_i · e_j is 1 for i = j and 0 otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from torseur.algebra.graph import Expr, from_sympy, symbols_of
from torseur.algebra.graph.construction.decimals import as_written
from torseur.algebra.spatial.components import in_sympy
from torseur.algebra.spatial.screws import Force, Motion, require_kind
from torseur.edges.arguments import ArgumentError


@overload
def dual_basis(basis: Sequence[Motion]) -> list[Force]: ...
@overload
def dual_basis(basis: Sequence[Force]) -> list[Motion]: ...
def dual_basis(basis: Sequence[Motion] | Sequence[Force]) -> list[Force] | list[Motion]:
    """The forces e_1 ... e_6 with d_i · e_j = δ_ij for six independent motions d_1 ... d_6; motions for forces.

    Coordinates in a basis and its dual multiply as in m · f = mᵀ f.
    """
    if len(basis) != 6:
        raise ArgumentError(f"dual_basis: a basis of motions or of forces has six vectors, got {len(basis)}.")
    kind = Force if isinstance(basis[0], Force) else Motion
    for vector in basis:
        require_kind(vector, kind, "dual_basis of", "")
    rows = [vector.vector for vector in basis]
    numeric = all(row.dtype == float for row in rows)
    columns = _numeric(rows) if numeric else _symbolic(rows, f"{kind.__name__.lower()}s")
    if kind is Force:
        return [Motion(column[:3], column[3:]) for column in columns]
    return [Force(column[:3], column[3:]) for column in columns]


def coordinates_in(basis: Sequence[Motion] | Sequence[Force], vector: Motion | Force) -> list[Any]:
    """The coordinates of a motion or a force in a basis, m = Σ m_i d_i: its powers with the dual basis."""
    kind = Force if len(basis) and isinstance(basis[0], Force) else Motion
    require_kind(vector, kind, "coordinates of", "")
    return [vector.dot(other) for other in dual_basis(basis)]  # type: ignore[arg-type]


# d_i · e_j = δ_ij says D E = 1 for the rows d_i of D and the columns e_j of E.
def _numeric(rows: Sequence[Any]) -> list[list[Any]]:
    matrix = np.array(rows)
    # Rows at unit length: whether vectors are independent must not depend on the units of each.
    values = np.linalg.svd(matrix / np.linalg.norm(matrix, axis=1, keepdims=True).clip(1e-300), compute_uv=False)
    if values[-1] < 1e-12 * values[0]:
        raise _dependent("vectors")
    return [[*column] for column in np.linalg.inv(matrix).T.tolist()]


def _symbolic(rows: Sequence[Any], kind: str) -> list[list[Any]]:
    import sympy as sp

    # Exact: SymPy's elimination takes 0.0 for a pivot, and finds determinants zero that are not.
    matrix = sp.Matrix([[_exact(x) for x in in_sympy(row)] for row in rows])
    determinant = sp.simplify(matrix.det(method="berkowitz"))
    if determinant == 0:
        raise _dependent(kind)
    inverse = (matrix.adjugate(method="berkowitz") / determinant).applyfunc(sp.simplify)
    ours = {str(node.name): node for node in symbols_of([x for row in rows for x in row if isinstance(x, Expr)])}
    # Expressions of ours come back as such: SymPy's and ours do not multiply.
    entries = [from_sympy(x, ours) for x in inverse] if ours else [*inverse]
    return [entries[j::6] for j in range(6)]


def _exact(value: Any) -> Any:
    import sympy as sp

    written = {x: as_written(float(x)) for x in value.atoms(sp.Float)}
    return value.xreplace({x: sp.Rational(f.numerator, f.denominator) for x, f in written.items()})


def _dependent(kind: str) -> ArgumentError:
    return ArgumentError(f"dual_basis: the six {kind} are dependent and do not form a basis.")
