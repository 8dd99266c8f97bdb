"""Rates of the states beyond mechanics, solved for where equations hold several of them."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.algebra.graph import Expr, as_expr, dense_jacobian, substitute, symbols_of
from torseur.derivation.tree.definitions import resolve
from torseur.description.mechanism import Mechanism
from torseur.errors import MechanismError, UnsupportedError

Matrix = list[list[Expr]]
MANY = 3
"""Up to this size rates are quotients of determinants, right wherever the matrix is regular; beyond it pivots are
chosen by their place alone, and must not vanish along a motion."""


def state_rates(mechanism: Mechanism, definitions: dict[Expr, Expr]) -> dict[Expr, Expr]:
    """The rate of every state by its symbol, in terms of states, coordinates, their rates, sensors and parameters.

    States with a definition are algebraic unknowns that were solved for: they have no rate, nor their equations any.
    """
    moving = [state for state in mechanism.states if state.symbol not in definitions]
    own = {state.rate: state.formula for state in moving if state.formula is not None}
    formulas = dict(zip(own, resolve(mechanism, definitions, list(own.values())), strict=True))
    unknowns = [state.rate for state in moving if state.formula is None]
    if unknowns:
        held = [e for e in mechanism.state_equations if set(unknowns) & set(symbols_of([e]))]
        rows = substitute(resolve(mechanism, definitions, held), formulas)
        formulas |= dict(zip(unknowns, _solve_linear(rows, unknowns), strict=True))
    return {state.rate: formulas[state.rate] for state in moving}


def _solve_linear(residuals: Sequence[Expr], unknowns: Sequence[Expr]) -> list[Expr]:
    """x with A x + r(0) = 0, the residuals being linear in x; blocks that stand by themselves are solved apart."""
    matrix = dense_jacobian(list(residuals), unknowns)
    for row, residual in zip(matrix, residuals, strict=True):
        for unknown in unknowns:
            if any(unknown in symbols_of([entry]) for entry in row):
                raise UnsupportedError(
                    f"equations of states: {unknown.name} must occur linearly, but 0 = {residual} is not linear in it. "
                    f"Solve it for {unknown.name} by hand, or take the nonlinear part as a state of its own."
                )
    right = [-value for value in substitute(list(residuals), {x: as_expr(0) for x in unknowns})]
    solution: dict[int, Expr] = {}
    for rows, columns in blocks(matrix, unknowns):
        block = [[matrix[i][j] for j in columns] for i in rows]
        known = [right[i] - sum((matrix[i][j] * x for j, x in solution.items()), as_expr(0)) for i in rows]
        solution |= dict(zip(columns, solve_block(block, known, [unknowns[j] for j in columns]), strict=True))
    return [solution[j] for j in range(len(unknowns))]


def solve_block(matrix: Matrix, right: Sequence[Expr], unknowns: Sequence[Expr]) -> list[Expr]:
    """x with A x = b, A being regular whatever the values."""
    values = by_determinants(matrix, right) if len(unknowns) <= MANY else _by_elimination(matrix, right)
    if values is None:
        names = ", ".join(str(x.name) for x in unknowns)
        raise MechanismError(f"equations of states do not determine {names}: their matrix is singular.")
    return values


def blocks(matrix: Matrix, unknowns: Sequence[Expr]) -> list[tuple[list[int], list[int]]]:
    """Rows and columns of the blocks of the matrix in block triangular form, in the order of their solution."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

    # An equation is matched with each unknown; what then depends on each other in circles is one block.
    pattern = np.array([[0 if entry.is_zero else 1 for entry in row] for row in matrix])
    matched = maximum_bipartite_matching(csr_matrix(pattern), perm_type="row")  # for each unknown its equation
    if (matched < 0).any():
        names = ", ".join(str(unknowns[int(j)].name) for j in np.flatnonzero(matched < 0))
        raise MechanismError(f"equations of states do not determine {names}: no equation is left for it.")
    count, labels = connected_components(csr_matrix(pattern[matched]), directed=True, connection="strong")
    columns = [[int(j) for j in np.flatnonzero(labels == label)] for label in range(count)]
    blocks = [([int(matched[j]) for j in group], group) for group in columns]
    ordered: list[tuple[list[int], list[int]]] = []
    solved: set[int] = set()
    while blocks:
        ready = next(b for b in blocks if all(set(np.flatnonzero(pattern[i])) <= solved | set(b[1]) for i in b[0]))
        ordered.append(ready)
        solved |= set(ready[1])
        blocks.remove(ready)
    return ordered


def by_determinants(matrix: Matrix, right: Sequence[Expr]) -> list[Expr] | None:
    """Cramer's rule; None where the determinant is zero whatever the values."""
    whole = _determinant(matrix)
    if whole.is_zero:
        return None
    values = []
    for j in range(len(right)):
        exchanged = [[right[i] if k == j else entry for k, entry in enumerate(row)] for i, row in enumerate(matrix)]
        values.append(_determinant(exchanged) / whole)
    return values


def _determinant(matrix: Matrix) -> Expr:
    if len(matrix) == 1:
        return matrix[0][0]
    total = as_expr(0)
    for j, entry in enumerate(matrix[0]):
        if not entry.is_zero:
            minor = [[x for k, x in enumerate(row) if k != j] for row in matrix[1:]]
            total = total + (-1) ** j * entry * _determinant(minor)
    return total


def _by_elimination(matrix: Matrix, right: Sequence[Expr]) -> list[Expr] | None:
    """Gauss elimination with the matched diagonal as pivots; None where one is zero whatever the values."""
    n = len(right)
    rows = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if not rows[i][k].is_zero), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, n):
            if not rows[i][k].is_zero:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    x = [as_expr(0)] * n
    for k in range(n - 1, -1, -1):
        x[k] = (rows[k][n] - sum((rows[k][j] * x[j] for j in range(k + 1, n)), as_expr(0))) / rows[k][k]
    return x
