"""Amounts of the elementary motions as functions of the coordinates, with their derivatives.

Lengths are counted in a unit of the mechanism's own size: a coordinate in metres is that unit times its number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import Expr, evaluate, gradient, substitute, symbols_of
from torseur.derivation.loops.model.dimensions import parameter_values, require_values
from torseur.derivation.loops.model.skeleton import BALL, MOVE, Skeleton
from torseur.description.mechanism import TIME

Numbers = Callable[[Sequence[Expr]], list[float]]


@dataclass(frozen=True)
class Formula:
    """An amount that is not affine in one coordinate: its expression and its gradient by its freedoms."""

    slot: int
    unit: float
    freedoms: tuple[int, ...]
    symbols: tuple[Expr, ...]
    value: Expr
    gradient: tuple[Expr, ...]


@dataclass(frozen=True)
class Amounts:
    """amounts = A x + b + formulas(x), by slot; A also holds a 1 for each axis of a ball."""

    matrix: Array  # A, (slots, n)
    offset: Array  # b, (slots,)
    formulas: tuple[Formula, ...]
    units: Array  # unit of each freedom (n,)

    @property
    def is_affine(self) -> bool:
        return not self.formulas

    @cached_property
    def diagonal(self) -> Array:
        return np.diagonal(self.matrix)

    @cached_property
    def is_diagonal(self) -> bool:
        """Whether slot k is freedom k times a constant, for all k."""
        square = self.matrix.shape[0] == self.matrix.shape[1]
        return square and bool(np.count_nonzero(self.matrix) == np.count_nonzero(self.diagonal))

    def values(self, x: Array) -> Array:
        """(B, slots); the slots of balls are meaningless."""
        result: Array = (x * self.diagonal if self.is_diagonal else x @ self.matrix.T) + self.offset
        for f in self.formulas:
            (value,) = evaluate([f.value], self._values(f, x))
            result[:, f.slot] = value / f.unit
        return result

    def jacobian(self, x: Array) -> Array:
        """d slots / d x, (B, slots, n) or (1, slots, n) when it is constant."""
        if not self.formulas:
            return self.matrix[None]
        result = np.repeat(self.matrix[None], len(x), axis=0)
        for f in self.formulas:
            for i, partial in zip(f.freedoms, evaluate(list(f.gradient), self._values(f, x)), strict=True):
                result[:, f.slot, i] = partial * self.units[i] / f.unit
        return result

    def _values(self, f: Formula, x: Array) -> dict[Expr, Any]:
        pairs = zip(f.symbols, f.freedoms, strict=True)
        return {symbol: x[:, i] * self.units[i] for symbol, i in pairs}


def amounts_of(frame: Skeleton, slot: dict[tuple[int, int], int], count: int, length: float, time: float,
               numbers: Numbers) -> Amounts:  # fmt: skip
    """The amounts of all steps at a time, with lengths in a unit."""
    n = len(frame.freedoms)
    units = _units(frame, length, time, numbers)
    matrix, offset, formulas = np.zeros((count, n)), np.zeros(count), []
    for e, edge in enumerate(frame.edges):
        for k, step in enumerate(edge.steps):
            row, unit = slot[e, k], length if step.kind == MOVE else 1.0
            if step.kind == BALL:
                matrix[[row, row + 1, row + 2], step.freedoms] = 1.0
                continue
            assert step.amount is not None
            formula = _formula(frame, step.amount, step.freedoms, row, unit, time)
            # An amount with a constant gradient is a row of A and an entry of b; other amounts stay formulas.
            if all(not _depends(partial, formula.symbols) for partial in formula.gradient):
                still = substitute([formula.value], {q: 0 for q in formula.symbols})
                offset[row], *partials = numbers([*still, *formula.gradient])
                offset[row] /= unit
                row_entries = zip(partials, step.freedoms, strict=True)
                matrix[row, step.freedoms] = [partial * units[i] / unit for partial, i in row_entries]
            else:
                formulas.append(formula)
    return Amounts(matrix, offset, tuple(_with_numbers(f, frame) for f in formulas), units)


def _units(frame: Skeleton, length: float, time: float, numbers: Numbers) -> Array:
    """A unit for each freedom in which the fastest of its motions is about one radian or one unit of length."""
    # Columns of the Jacobian are then of size one or so, whatever unit the user measures a freedom in: ranks are read
    # from singular values, which a column of another size would spoil.
    units = np.full(len(frame.freedoms), np.inf)
    for edge in frame.edges:
        for step in edge.steps:
            if step.kind != BALL and step.amount is not None and len(step.freedoms) == 1:
                formula = _formula(frame, step.amount, step.freedoms, 0, 1.0, time)
                if not _depends(formula.gradient[0], formula.symbols):
                    speed = abs(numbers(formula.gradient)[0]) / (length if step.kind == MOVE else 1.0)
                    i = step.freedoms[0]
                    units[i] = min(units[i], 1 / speed if speed > 0 else np.inf)
    usual = np.array([length if f.unit == "m" else 1.0 for f in frame.freedoms])
    return np.where(np.isfinite(units), units, usual)


def _formula(frame: Skeleton, amount: Expr, freedoms: tuple[int, ...], slot: int, unit: float, time: float) -> Formula:
    (value,) = substitute([amount], {TIME: time})
    symbols = tuple(s for i in freedoms if (s := frame.freedoms[i].symbol) is not None)
    return Formula(slot, unit, freedoms, symbols, value, tuple(gradient(value, symbols)))


def _depends(partial: Expr, symbols: Sequence[Expr]) -> bool:
    return bool(set(symbols) & set(symbols_of([partial])))


def _with_numbers(formula: Formula, frame: Skeleton) -> Formula:
    """The formula with its parameters replaced by numbers."""
    given = parameter_values(frame.mechanism)
    value, *partials = substitute([formula.value, *formula.gradient], given)
    require_values(frame.mechanism, [value, *partials], {q: 0.0 for q in formula.symbols})
    return replace(formula, value=value, gradient=tuple(partials))
