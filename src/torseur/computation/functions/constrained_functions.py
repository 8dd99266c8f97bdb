"""Accelerations under constraints, and the way back to them, as straight-line expressions.

M v' + Cᵀ λ = f and C v' = γ give S λ = C M⁻¹ f - γ with S = C M⁻¹ Cᵀ. S is positive definite where the constraints are
independent, so that it is factorize without exchanging rows; a row that the rows before it imply leaves no pivot, and
gets no multiplier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from torseur.algebra.graph import Expr, as_expr, scalar, substitute
from torseur.algebra.graph.solve import SymmetricFactors, factorize
from torseur.derivation import dynamics as td
from torseur.derivation.equations.equations import Equations
from torseur.derivation.equations.formulation import as_expressions

REDUNDANT = 1e-8
"""A pivot below this part of its diagonal entry belongs to a redundant row. Single precision has not so many digits:
there the factors are to be computed in double precision."""


@dataclass(frozen=True)
class ConstrainedSystem:
    """The mass matrix and the constraints of a mechanism, factorize."""

    equations: Equations

    def accelerations(self, forces: Sequence[Expr]) -> tuple[list[Expr], list[Expr]]:
        """v' and λ under the loads and other generalised forces."""
        e = self.equations
        bias = td.bias(e.regrouped_tree, e.layout.coordinates, e.layout.speeds)
        given = [as_expr(a + b - c) for a, b, c in zip(e.loads, forces, bias, strict=True)]
        free = self._mass.solve(given)
        gaps = [_dot(row, free) - c.gamma for row, c in zip(self._rows, e.constraints, strict=True)]
        return self._apply_multipliers(free, gaps)

    def corrections(self) -> tuple[list[Expr], list[Expr]]:
        """Changes of coordinates and speeds that bring both back to the constraints, to second order in the gaps."""
        e = self.equations
        layout = e.layout
        gaps = [c.residual if c.is_holonomic else as_expr(0) for c in e.constraints]
        still = [as_expr(0)] * len(layout.speeds)
        moved, _ = self._apply_multipliers(still, gaps)
        places = substitute(e.rates, dict(zip(layout.speeds, moved, strict=True)))
        errors = [_dot(row, layout.speeds) + c.drift for row, c in zip(self._rows, e.constraints, strict=True)]
        speeds, _ = self._apply_multipliers(still, errors)
        return list(places), speeds

    def _apply_multipliers(self, start: Sequence[Expr], gaps: Sequence[Expr]) -> tuple[list[Expr], list[Expr]]:
        """start - M⁻¹ Cᵀ λ with S λ = gaps, and λ."""
        multipliers = self._constraints.solve(gaps)
        pushed = [
            [entry * m for entry in column] for column, m in zip(self._inverse_mass_columns, multipliers, strict=True)
        ]
        return [a - sum(terms, as_expr(0)) for a, *terms in zip(start, *pushed, strict=True)], multipliers

    @cached_property
    def _rows(self) -> list[list[Expr]]:
        return [as_expressions(c.row) for c in self.equations.constraints]

    @cached_property
    def _mass(self) -> SymmetricFactors:
        layout = self.equations.layout
        matrix = td.mass_matrix(self.equations.regrouped_tree, layout.coordinates)
        return factorize([as_expressions(row) for row in matrix], layout.speed_names)

    @cached_property
    def _inverse_mass_columns(self) -> list[list[Expr]]:
        """M⁻¹ Cᵀ by columns."""
        return [self._mass.solve(row) for row in self._rows]

    @cached_property
    def _constraints(self) -> _Semidefinite:
        return _Semidefinite([[_dot(row, column) for column in self._inverse_mass_columns] for row in self._rows])


class _Semidefinite:
    """L D Lᵀ of a symmetric matrix whose rows may depend on those before them."""

    def __init__(self, matrix: Sequence[Sequence[Expr]]) -> None:
        n = len(matrix)
        rest = [list(row[: i + 1]) for i, row in enumerate(matrix)]
        self.lower: list[list[Expr]] = [[] for _ in range(n)]
        self.inverse: list[Expr] = []
        for k in range(n):
            self.inverse.append(_pivot(rest[k][k], matrix[k][k]))
            for i in range(k + 1, n):
                factor = rest[i][k] * self.inverse[k]
                for j in range(k + 1, i + 1):
                    rest[i][j] = rest[i][j] - factor * rest[j][k]
                self.lower[i].append(factor)

    def solve(self, right: Sequence[Expr]) -> list[Expr]:
        b = [as_expr(entry) for entry in right]
        for i, row in enumerate(self.lower):
            for k, factor in enumerate(row):
                b[i] = b[i] - factor * b[k]
        b = [entry * inverse for entry, inverse in zip(b, self.inverse, strict=True)]
        for i in range(len(b) - 1, -1, -1):
            for k, factor in enumerate(self.lower[i]):
                b[k] = b[k] - factor * b[i]
        return b


def _pivot(left: Expr, whole: Expr) -> Expr:
    """1 / left, or zero where nothing but rounding is left of the diagonal entry."""
    # Without a branch, and without 1 / 0 in either case: code over batches of states computes both.
    keeps = scalar.less(REDUNDANT * whole, left)
    return as_expr(keeps / (keeps * left + (1 - keeps)))


def _dot(a: Sequence[Expr], b: Sequence[Expr]) -> Expr:
    return sum((x * y for x, y in zip(a, b, strict=True)), as_expr(0))
