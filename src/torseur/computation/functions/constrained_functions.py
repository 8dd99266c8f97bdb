"""Accelerations under constraints, and the way back to them, as straight-line expressions.

M v' + Cᵀ λ = f and C v' = γ give S λ = C M⁻¹ f - γ with S = C M⁻¹ Cᵀ, which is positive semidefinite: rows of C may
follow from others (a linkage in space that moves in a plane), or be nothing but rounding (the same linkage, tilted).
Which ones do is seen in the numbers, by limits that leave a gap: what falls into it gives NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import groupby

import numpy as np

from torseur.algebra.graph import Expr, as_expr, scalar, substitute
from torseur.algebra.graph.semidefinite import Limits, SemidefiniteFactors, or_nan, safe_inverse
from torseur.algebra.graph.solve import SymmetricFactors, factorize
from torseur.computation.functions.row_units import is_length, rounded_parts, row_units
from torseur.computation.functions.single_precision import sampled_mass_matrices
from torseur.computation.functions.usual_rank import usual_rank
from torseur.derivation import dynamics as td
from torseur.derivation.equations.equations import Equations
from torseur.derivation.equations.formulation import as_expressions
from torseur.derivation.loops.closure.dimension_conditions import characteristic_length, known_values

WITHOUT_INERTIA = 1e-12  # smallest eigenvalue of the mass matrix, its diagonal scaled to one, that counts as none


@dataclass(frozen=True)
class Digits:
    """What rounding and inexact states leave of numbers that should be zero.

    `rows`: square of a row of C in units of what its geometry allows, so 1e-9 to 1e-8 of that: axes from a file with
    nine digits are parallel. `pivots`: square of the sine of the angle to the rows before, so 3e-5 to 1e-4 rad: special
    dimensions make rows follow from others on the constraints only, and states of an integration are beside them.
    `inertia`: part of a diagonal entry of M left over as its pivot.
    """

    rows: Limits
    pivots: Limits
    inertia: float


DOUBLE = Digits(Limits(1e-18, 1e-16), Limits(1e-9, 1e-8), 1e-13)
SINGLE = Digits(Limits(1e-10, 1e-8), Limits(1e-5, 1e-4), 1e-5)
CONTRADICTION = 1e-3  # of the accelerations in a constraint, what it may contradict those that it follows from by
UNDETERMINED = 1e-6  # share of a multiplier in a combination of constraints that vanishes


# The limits, what was tried and what it costs: docs/decisions/0065-rank-of-constraints-in-generated-code.md.
@dataclass(frozen=True)
class ConstrainedSystem:
    """The mass matrix and the constraints of a mechanism, in factors."""

    equations: Equations

    def accelerations(self, forces: Sequence[Expr]) -> tuple[list[Expr], list[Expr]]:
        """v' and λ under the loads and other generalised forces.

        NaN where the rank of the constraints is unclear or they contradict each other, and for multipliers of
        constraints that follow from each other: the motion does not determine how they share the load.
        """
        e = self.equations
        bias = td.bias(e.regrouped_tree, e.layout.coordinates, e.layout.speeds)
        given = [as_expr(a + b - c) for a, b, c in zip(e.loads, forces, bias, strict=True)]
        if self.is_massless:
            # M v' and (M + Σ w c cᵀ) v' differ by Σ w c γ wherever the constraints hold.
            for row, weight, c in zip(self._rows, self._row_inertias, e.constraints, strict=True):
                given = [f + weight * c.gamma * entry for f, entry in zip(given, row, strict=True)]
        free = self._mass.solve(given)
        gaps = [_dot(row, free) - c.gamma for row, c in zip(self._rows, e.constraints, strict=True)]
        forward = self._constraints.forward(self._scale(gaps))
        known = or_nan(as_expr(scalar.both(self._is_clear, self._is_consistent(forward, free))))
        multipliers = self._scale(self._constraints.backward(forward))
        return [known * a for a in self._without(free, multipliers)], [
            known * m for m in self._or_nan_if_open(multipliers)
        ]

    def _or_nan_if_open(self, multipliers: Sequence[Expr]) -> list[Expr]:
        """Multipliers, NaN where a constraint takes part in a combination of constraints that vanishes."""
        shares = [scalar.less(scalar.absolute(x), UNDETERMINED) for x in self._null_combination()]
        # A row without any entry has nothing to be multiplied with, and no constant is NaN.
        speed = self.equations.layout.speeds[0]
        nothing = as_expr(scalar.sqrt(-1 - speed * speed))
        return [
            nothing if m.is_zero else or_nan(as_expr(share)) * m for share, m in zip(shares, multipliers, strict=True)
        ]

    def _null_combination(self) -> list[Expr]:
        """A combination of all multipliers that move nothing; not zero where one could be anything."""
        return self._constraints.null_combination()

    def corrections(self) -> tuple[list[Expr], list[Expr]]:
        """Changes of coordinates and speeds that bring both back to the constraints, to second order in the gaps.

        Rows that all but follow from others are left to these: beside the constraints the rank is never clear.
        """
        e = self.equations
        layout = e.layout
        gaps = [c.residual if c.is_holonomic else as_expr(0) for c in e.constraints]
        places = substitute(e.rates, dict(zip(layout.speeds, self._closing(gaps), strict=True)))
        errors = [_dot(row, layout.speeds) + c.drift for row, c in zip(self._rows, e.constraints, strict=True)]
        return list(places), self._closing(errors)

    def _closing(self, gaps: Sequence[Expr]) -> list[Expr]:
        """The smallest move, in the metric of the masses, with C move = -gaps."""
        multipliers = self._scale(self._constraints.backward(self._constraints.forward(self._scale(gaps))))
        still = [as_expr(0)] * len(self.equations.layout.speeds)
        return self._without(still, multipliers)

    def _without(self, start: Sequence[Expr], multipliers: Sequence[Expr]) -> list[Expr]:
        """start - M⁻¹ Cᵀ λ."""
        pushed = [[x * m for x in column] for column, m in zip(self._inverse_mass_columns, multipliers, strict=True)]
        return [a - sum(terms, as_expr(0)) for a, *terms in zip(start, *pushed, strict=True)]

    def _scale(self, entries: Sequence[Expr]) -> list[Expr]:
        return [entry * size for entry, size in zip(entries, self._inverse_sizes, strict=True)]

    def _is_consistent(self, forward: Sequence[Expr], free: Sequence[Expr]) -> Expr:
        """Whether rows that follow from others ask for nothing else than these do; 1 or 0."""
        # Beside a dead centre a row is lost and its γ is not: the motion is then no longer what these equations say.
        sizes = [
            size * sum((scalar.absolute(a * b) for a, b in zip(row, free, strict=True)), scalar.absolute(c.gamma))
            for row, c, size in zip(self._rows, self.equations.constraints, self._inverse_sizes, strict=True)
        ]
        largest = sizes[0]
        for size in sizes[1:]:
            largest = scalar.maximum(largest, size)
        consistent = as_expr(1)
        for left, kept in zip(forward, self._constraints.kept, strict=True):
            rest = scalar.absolute(left) * (1 - kept)
            consistent = as_expr(scalar.both(consistent, scalar.less_equal(rest, CONTRADICTION * largest)))
        return consistent

    @property
    def _digits(self) -> Digits:
        return SINGLE if self.equations.few_digits else DOUBLE

    @cached_property
    def _rows(self) -> list[list[Expr]]:
        return [as_expressions(c.row) for c in self.equations.constraints]

    @cached_property
    def _mass_matrix(self) -> list[list[Expr]]:
        """M, completed by the constraints where bodies leave some motion without inertia: these must forbid it."""
        layout = self.equations.layout
        matrix = [as_expressions(row) for row in td.mass_matrix(self.equations.regrouped_tree, layout.coordinates)]
        if self.is_massless:
            for row, weight in zip(self._rows, self._row_inertias, strict=True):
                for i, a in enumerate(row):
                    matrix[i] = [m + weight * a * b for m, b in zip(matrix[i], row, strict=True)]
        return matrix

    @cached_property
    def is_massless(self) -> bool:
        """Whether bodies leave some motion of the tree without inertia, by the nominal values."""
        for matrix in sampled_mass_matrices(self.equations):
            diagonal = np.diag(matrix)
            if diagonal.min() <= 0.0:
                return True
            scale = 1.0 / np.sqrt(diagonal)
            if np.linalg.eigvalsh(matrix * np.outer(scale, scale))[0] < WITHOUT_INERTIA:
                return True
        return False

    @cached_property
    def _row_inertias(self) -> list[Expr]:
        """What each c cᵀ is multiplied by, so that a row adds as much as the bodies do on average."""
        layout, tree = self.equations.layout, self.equations.regrouped_tree
        length = characteristic_length(tree.mechanism, known_values(self.equations.tree))
        squares = [length * length if is_length(v.data.unit) else 1.0 for v in layout.speeds]
        matrix = td.mass_matrix(tree, layout.coordinates)
        inertia = sum((as_expr(matrix[i][i]) * s for i, s in enumerate(squares)), as_expr(0)) / len(squares)
        sizes = [sum((u * u * s for u, s in zip(units, squares, strict=True)), as_expr(0)) for units in self._units]
        return [as_expr(0) if size.is_zero else as_expr(inertia / size) for size in sizes]

    @cached_property
    def _mass(self) -> SymmetricFactors:
        return factorize(self._mass_matrix, self.equations.layout.speed_names)

    @cached_property
    def _inverse_mass_columns(self) -> list[list[Expr]]:
        """M⁻¹ Cᵀ by columns."""
        return [self._mass.solve(row) for row in self._rows]

    @cached_property
    def _units(self) -> list[list[Expr]]:
        return row_units(self.equations)

    @cached_property
    def _present(self) -> list[tuple[Expr, Expr]]:
        """Whether each row is more than rounding, and whether that is clear."""
        return [
            (as_expr(0), as_expr(1)) if size.is_zero else self._digits.rows.raised(part * part).judge(size, allowed)
            for (size, allowed), part in zip(self._squares_and_units, self._rounded_parts, strict=True)
        ]

    @cached_property
    def _rounded_parts(self) -> list[float]:
        return rounded_parts(self.equations)

    @cached_property
    def _squares_and_units(self) -> list[tuple[Expr, Expr]]:
        """For each row, the sum of the squares of its entries and what it can be; zeros for an empty row."""
        squares = []
        for row, units in zip(self._rows, self._units, strict=True):
            pairs = [(x, u) for x, u in zip(row, units, strict=True) if not x.is_zero]
            if not pairs:
                squares.append((as_expr(0), as_expr(0)))
            elif all(u.is_constant for _, u in pairs):
                measure = pairs[0][1]
                size = sum((x * x * ((measure / u) * (measure / u)) for x, u in pairs), as_expr(0))
                squares.append((size, as_expr(len(pairs) * measure * measure)))
            else:
                squares.append((_squares([x for x, _ in pairs]), _squares([u for _, u in pairs])))
        return squares

    @cached_property
    def _pivot_units(self) -> list[Expr]:
        """What the limits of pivots are multiplied by: a short row is turned the further by rounded dimensions."""
        limits, units = self._digits.pivots, []
        for (size, allowed), part, (kept, _) in zip(
            self._squares_and_units, self._rounded_parts, self._present, strict=True
        ):
            if part == 0.0 or size.is_zero:
                units.append(as_expr(1))
            else:
                turned = (part * part / limits.low) * allowed * safe_inverse(kept, size)
                units.append(as_expr(scalar.maximum(1, turned)))
        return units

    @cached_property
    def _inverse_sizes(self) -> list[Expr]:
        """What brings the rows to unit length in the metric of the masses; 0 for a row that is nothing."""
        lengths = [_dot(row, column) for row, column in zip(self._rows, self._inverse_mass_columns, strict=True)]
        roots = [scalar.sqrt(kept * x + (1 - kept)) for x, (kept, _) in zip(lengths, self._present, strict=True)]
        return [as_expr(kept / root) for root, (kept, _) in zip(roots, self._present, strict=True)]

    @cached_property
    def _constraints(self) -> SemidefiniteFactors:
        columns, sizes = self._inverse_mass_columns, self._inverse_sizes
        matrix = [
            [*(_dot(row, columns[j]) * (sizes[i] * sizes[j]) for j in range(i)), self._present[i][0]]
            for i, row in enumerate(self._rows)
        ]
        owners = [c.owner for c in self.equations.constraints]
        groups = [len(list(run)) for _, run in groupby(owners)]
        return SemidefiniteFactors(matrix, groups, self._digits.pivots, self._pivot_units)

    @cached_property
    def _is_clear(self) -> Expr:
        """Whether the rank of the constraints and the inertia of every motion are beyond doubt; 1 or 0."""
        flags = [*self._pivots_are_clear, *(clear for _, clear in self._present)]
        usual = self._usual_rank
        if usual is not None:
            # In a singular configuration a row is lost that the motion needs: accelerations are then another question.
            rank = sum(self._rows_in_force, as_expr(0))
            flags.append(as_expr(scalar.less(usual - 0.5, rank)))
        flags += self._inertia_is_clear
        return reduce(lambda a, b: as_expr(scalar.both(a, b)), flags)

    @property
    def _usual_rank(self) -> int | None:
        """How many rows the motion needs where nothing is singular."""
        return usual_rank(self.equations)

    @property
    def _rows_in_force(self) -> list[Expr]:
        """1 for rows that the motion needs, 0 for those that follow from others."""
        return self._constraints.kept

    @property
    def _pivots_are_clear(self) -> list[Expr]:
        return [self._constraints.is_clear]

    @property
    def _inertia_is_clear(self) -> list[Expr]:
        flags = []
        for k, inverse in enumerate(self._mass.inverse):
            entry, pivot = self._mass_matrix[k][k], as_expr(1 / inverse)
            if entry is not pivot and not pivot.is_constant:
                flags.append(as_expr(scalar.less(self._digits.inertia * entry, pivot)))
        return flags


def _squares(entries: Sequence[Expr]) -> Expr:
    return _dot(entries, entries)


def _dot(a: Sequence[Expr], b: Sequence[Expr]) -> Expr:
    return sum((x * y for x, y in zip(a, b, strict=True)), as_expr(0))
