"""Rates of the states beyond mechanics, solved for where equations hold several of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from torseur.algebra.graph import Expr, as_expr, dense_jacobian, substitute, symbols_of
from torseur.derivation.tree.definitions import resolve
from torseur.description.mechanism import Mechanism, State
from torseur.errors import MechanismError, UnsupportedError

Matrix = list[list[Expr]]
MINORS = 8
"""Up to this size rates are quotients of determinants, whose minors are shared: n 2^n products, exact under any scaling
of rows and columns. Beyond it columns are made orthogonal. Neither divides by anything that vanishes where the matrix
is regular; elimination would, with pivots that are chosen once for all states."""


@dataclass(frozen=True)
class CoupledStates:
    """A z' = f of the states z that equations share, as these equations stand: A and f in states, t and parameters."""

    states: tuple[State, ...]
    matrix: tuple[tuple[Expr, ...], ...]
    right: tuple[Expr, ...]


def coupled_states(mechanism: Mechanism, definitions: Mapping[Expr, Expr]) -> CoupledStates | None:
    """The states without a formula of their own and the equations between their rates; None where there are none."""
    states = tuple(state for state in _moving(mechanism, definitions) if state.formula is None)
    if not states:
        return None
    own, unknowns = _own_formulas(mechanism, definitions), [state.rate for state in states]
    held = [e for e in mechanism.state_equations if set(unknowns) & set(symbols_of([e]))]
    rows = substitute(resolve(mechanism, definitions, held), own)
    matrix = dense_jacobian(rows, unknowns)
    _require_linear(matrix, rows, unknowns)
    right = [-value for value in substitute(rows, {x: as_expr(0) for x in unknowns})]
    return CoupledStates(states, tuple(tuple(row) for row in matrix), tuple(right))


def state_rates(mechanism: Mechanism, definitions: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
    """The rate of every state by its symbol, in terms of states, coordinates, their rates, sensors and parameters.

    States with a definition are algebraic unknowns that were solved for: they have no rate, nor their equations any.
    """
    formulas = _own_formulas(mechanism, definitions)
    coupled = coupled_states(mechanism, definitions)
    if coupled is not None:
        unknowns = [state.rate for state in coupled.states]
        formulas |= dict(zip(unknowns, _solve(coupled, unknowns), strict=True))
    return {state.rate: formulas[state.rate] for state in _moving(mechanism, definitions)}


def _moving(mechanism: Mechanism, definitions: Mapping[Expr, Expr]) -> list[State]:
    return [state for state in mechanism.states if state.symbol not in definitions]


def _own_formulas(mechanism: Mechanism, definitions: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
    own = {state.rate: state.formula for state in _moving(mechanism, definitions) if state.formula is not None}
    return dict(zip(own, resolve(mechanism, definitions, list(own.values())), strict=True))


def _require_linear(matrix: Sequence[Sequence[Expr]], rows: Sequence[Expr], unknowns: Sequence[Expr]) -> None:
    for row, residual in zip(matrix, rows, strict=True):
        for unknown in unknowns:
            if unknown in symbols_of(list(row)):
                raise UnsupportedError(
                    f"equations of states: {unknown.name} must occur linearly, but 0 = {residual} is not linear in it. "
                    f"Solve it for {unknown.name} by hand, or take the nonlinear part as a state of its own."
                )


def _solve(coupled: CoupledStates, unknowns: Sequence[Expr]) -> list[Expr]:
    """z' = A⁻¹ f; blocks that stand by themselves are solved apart."""
    matrix, right = coupled.matrix, coupled.right
    solution: dict[int, Expr] = {}
    for rows, columns in blocks(matrix, unknowns):
        block = [[matrix[i][j] for j in columns] for i in rows]
        known = [right[i] - sum((matrix[i][j] * x for j, x in solution.items()), as_expr(0)) for i in rows]
        solution |= dict(zip(columns, solve_block(block, known, [unknowns[j] for j in columns]), strict=True))
    return [solution[j] for j in range(len(unknowns))]


def solve_block(matrix: Matrix, right: Sequence[Expr], unknowns: Sequence[Expr]) -> list[Expr]:
    """x with A x = b, A being regular whatever the values."""
    values = by_determinants(matrix, right) if len(unknowns) <= MINORS else _by_orthogonal_columns(matrix, right)
    if values is None:
        names = ", ".join(str(x.name) for x in unknowns)
        raise MechanismError(f"equations of states do not determine {names}: their matrix is singular.")
    return values


def blocks(matrix: Sequence[Sequence[Expr]], unknowns: Sequence[Expr]) -> list[tuple[list[int], list[int]]]:
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
    # Matching and strong components: the block triangular form of Duff and Reid (1978).
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
    """Cramer's rule; None where the determinant is zero whatever the values.

    The n + 1 maximal minors of the rows (A | f), from those of the first rows by Laplace's expansion along the next.
    """
    n = len(right)
    minors: dict[tuple[int, ...], Expr] = {(): as_expr(1)}
    for i, row in enumerate(matrix):
        whole = [*row, right[i]]
        minors = {
            chosen: sum(
                (
                    (-1) ** (i - place) * whole[j] * minors[chosen[:place] + chosen[place + 1 :]]
                    for place, j in enumerate(chosen)
                    if not whole[j].is_zero
                ),
                as_expr(0),
            )
            for chosen in combinations(range(n + 1), i + 1)
        }
    determinant = minors[tuple(range(n))]
    if determinant.is_zero:
        return None
    # The minor without column j has f last; in its place j it would have passed n - 1 - j others.
    return [
        (-1) ** (n - 1 - j) * minors[tuple(k for k in range(n + 1) if k != j)] / determinant for j in range(n)
    ]  # fmt: skip


def _by_orthogonal_columns(matrix: Matrix, right: Sequence[Expr]) -> list[Expr] | None:
    """Gram and Schmidt's way with rows of one size, each column taken out of those after it and of f.

    What is divided by are squares of columns that the matrix, where it is regular, leaves different from zero.
    """
    n = len(right)
    # Equations may be in volts and in newtons: each row is weighed by the inverse of its own square.
    sizes = [1 / sum((entry * entry for entry in row), as_expr(0)) for row in matrix]
    columns = [list(column) for column in zip(*matrix, strict=True)] + [list(right)]
    shares: list[list[Expr]] = []
    for k in range(n):
        weighed = [size * entry for size, entry in zip(sizes, columns[k], strict=True)]
        square = _dot(weighed, columns[k])
        if square.is_zero:
            return None
        shares.append([as_expr(0)] * (k + 1) + [_dot(weighed, columns[j]) / square for j in range(k + 1, n + 1)])
        for j in range(k + 1, n + 1):
            columns[j] = [a - shares[k][j] * b for a, b in zip(columns[j], columns[k], strict=True)]
    x: list[Expr] = [as_expr(0)] * n
    for k in range(n - 1, -1, -1):
        x[k] = shares[k][n] - sum((shares[k][j] * x[j] for j in range(k + 1, n)), as_expr(0))
    return x


def _dot(first: Sequence[Expr], second: Sequence[Expr]) -> Expr:
    return sum((a * b for a, b in zip(first, second, strict=True)), as_expr(0))
