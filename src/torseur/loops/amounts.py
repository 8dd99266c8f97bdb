"""Amounts of the elementary motions as functions of the coordinates, with their slopes.

Lengths are counted in a unit of the mechanism's own size: a coordinate in metres is that unit times its number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from torseur.graph import Expr, evaluate, gradient, substitute, symbols_of
from torseur.loops.numbers import parameter_values, require_values
from torseur.loops.skeleton import BALL, MOVE, Skeleton
from torseur.mechanism import TIME

Floats = np.ndarray[Any, np.dtype[np.float64]]
Numbers = Callable[[Sequence[Expr]], list[float]]


@dataclass(frozen=True)
class Formula:
    """An amount that is not affine in one coordinate: its expression and slopes by its freedoms."""

    slot: int
    unit: float
    freedoms: tuple[int, ...]
    symbols: tuple[Expr, ...]
    value: Expr
    slopes: tuple[Expr, ...]


@dataclass(frozen=True)
class Amounts:
    """amounts = A x + b + formulas(x), by slot; A also holds a 1 for each axis of a ball."""

    slope: Floats  # A, (slots, n)
    offset: Floats  # b, (slots,)
    formulas: tuple[Formula, ...]
    units: Floats  # unit of each freedom (n,)

    @property
    def is_affine(self) -> bool:
        return not self.formulas

    @cached_property
    def diagonal(self) -> Floats:
        return np.diagonal(self.slope)

    @cached_property
    def is_diagonal(self) -> bool:
        """Whether slot k is freedom k times a constant, for all k."""
        square = self.slope.shape[0] == self.slope.shape[1]
        return square and bool(np.count_nonzero(self.slope) == np.count_nonzero(self.diagonal))

    def values(self, x: Floats) -> Floats:
        """(B, slots); the slots of balls are meaningless."""
        result: Floats = (x * self.diagonal if self.is_diagonal else x @ self.slope.T) + self.offset
        for f in self.formulas:
            (value,) = evaluate([f.value], self._bound(f, x))
            result[:, f.slot] = value / f.unit
        return result

    def slopes(self, x: Floats) -> Floats:
        """d slots / d x, (B, slots, n) or (1, slots, n) when it is constant."""
        if not self.formulas:
            return self.slope[None]
        result = np.repeat(self.slope[None], len(x), axis=0)
        for f in self.formulas:
            for i, slope in zip(f.freedoms, evaluate(list(f.slopes), self._bound(f, x)), strict=True):
                result[:, f.slot, i] = slope * self.units[i] / f.unit
        return result

    def _bound(self, f: Formula, x: Floats) -> dict[Expr, Any]:
        pairs = zip(f.symbols, f.freedoms, strict=True)
        return {symbol: x[:, i] * self.units[i] for symbol, i in pairs}


def amounts_of(frame: Skeleton, slot: dict[tuple[int, int], int], count: int, length: float, time: float,
               numbers: Numbers) -> Amounts:  # fmt: skip
    """The amounts of all steps at a time, with lengths in a unit."""
    n = len(frame.freedoms)
    units = _units(frame, length, time, numbers)
    slope, offset, formulas = np.zeros((count, n)), np.zeros(count), []
    for e, edge in enumerate(frame.edges):
        for k, step in enumerate(edge.steps):
            row, unit = slot[e, k], length if step.kind == MOVE else 1.0
            if step.kind == BALL:
                slope[[row, row + 1, row + 2], step.freedoms] = 1.0
                continue
            assert step.amount is not None
            formula = _formula(frame, step.amount, step.freedoms, row, unit, time)
            if all(not _moving(f, formula.symbols) for f in formula.slopes):
                still = substitute([formula.value], {q: 0 for q in formula.symbols})
                offset[row], *slopes = numbers([*still, *formula.slopes])
                offset[row] /= unit
                slope[row, step.freedoms] = [s * units[i] / unit for s, i in zip(slopes, step.freedoms, strict=True)]
            else:
                formulas.append(formula)
    return Amounts(slope, offset, tuple(_with_numbers(f, frame) for f in formulas), units)


def _units(frame: Skeleton, length: float, time: float, numbers: Numbers) -> Floats:
    """A unit for each freedom in which the fastest of its motions is about one radian or one unit of length."""
    units = np.full(len(frame.freedoms), np.inf)
    for edge in frame.edges:
        for step in edge.steps:
            if step.kind != BALL and step.amount is not None and len(step.freedoms) == 1:
                formula = _formula(frame, step.amount, step.freedoms, 0, 1.0, time)
                if not _moving(formula.slopes[0], formula.symbols):
                    speed = abs(numbers(formula.slopes)[0]) / (length if step.kind == MOVE else 1.0)
                    i = step.freedoms[0]
                    units[i] = min(units[i], 1 / speed if speed > 0 else np.inf)
    usual = np.array([length if f.unit == "m" else 1.0 for f in frame.freedoms])
    return np.where(np.isfinite(units), units, usual)


def _formula(frame: Skeleton, amount: Expr, freedoms: tuple[int, ...], slot: int, unit: float, time: float) -> Formula:
    (value,) = substitute([amount], {TIME: time})
    symbols = tuple(s for i in freedoms if (s := frame.freedoms[i].symbol) is not None)
    return Formula(slot, unit, freedoms, symbols, value, tuple(gradient(value, symbols)))


def _moving(slope: Expr, symbols: Sequence[Expr]) -> bool:
    return bool(set(symbols) & set(symbols_of([slope])))


def _with_numbers(formula: Formula, frame: Skeleton) -> Formula:
    """The formula with its parameters replaced by numbers."""
    given = parameter_values(frame.mechanism)
    value, *slopes = substitute([formula.value, *formula.slopes], given)
    require_values(frame.mechanism, [value, *slopes], {q: 0.0 for q in formula.symbols})
    return replace(formula, value=value, slopes=tuple(slopes))
