"""Constraints besides joints, as the loop analysis sees them: residuals and rows over the slots or freedoms.

Each relation answers with holonomic residuals and rows, and with rows that restrict velocities only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.graph import Expr, evaluate
from torseur.loops.chains import Chains, walk
from torseur.loops.so3 import cross_rows

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Rows:
    """Residuals (B, k), rows over the slots (B, k, slots) and over the freedoms (B, k, n), or None."""

    residual: Floats
    by_slot: Floats | None
    by_freedom: Floats | None


@dataclass(frozen=True)
class Relation(ABC):
    """A named constraint; `parts` names its holonomic residuals, `slips` its velocity rows."""

    name: str
    parts: tuple[str, ...]
    slips: tuple[str, ...]

    @abstractmethod
    def position(self, x: Floats, amounts: Floats, balls: Floats) -> Rows:
        """Holonomic residuals and rows."""

    def velocity(self, x: Floats, amounts: Floats, balls: Floats) -> Rows:
        """Rows on velocities only; none unless said otherwise."""
        return Rows(np.zeros((len(x), 0)), None, None)


def spread(chains: Chains, screws: Floats, slots: int) -> Floats:
    """Screws by slot: (B, C, 6, slots)."""
    states, count = screws.shape[:2]
    rows = np.zeros((states, count, slots + 1, 6))
    c = np.broadcast_to(np.arange(count)[:, None], chains.slot.shape)
    rows[:, c, chains.slot] = screws
    return np.swapaxes(rows[:, :, :slots], -1, -2)


@dataclass(frozen=True)
class FixedDistance(Relation):
    """(p·p - d²) / (2 d) = 0 for the vector p along a chain."""

    chains: Chains
    distance: float
    slots: int

    def position(self, x: Floats, amounts: Floats, balls: Floats) -> Rows:
        _, p, screws = walk(self.chains, amounts, balls)
        moved = point_rows(spread(self.chains, screws, self.slots), p)
        rows = np.einsum("bci,bcis->bcs", p, moved) / self.distance
        return Rows((np.sum(p * p, axis=-1) - self.distance**2) / (2 * self.distance), rows, None)


def point_rows(by_slot: Floats, p: Floats) -> Floats:
    """Velocity of the chain's end per slot, v + w x p: (B, C, 3, slots)."""
    w, v = by_slot[:, :, :3], by_slot[:, :, 3:]
    return v + cross_rows(w, p)


@dataclass(frozen=True)
class RollingContact(Relation):
    """A wheel on a plane: one height, two slips (see loops/rolling.py)."""

    chains: Chains
    radius: float
    tyre: float
    normal: Floats
    tangents: Floats
    slots: int

    def _contact(self, amounts: Floats, balls: Floats) -> tuple[Floats, ...]:
        turned, p, screws = walk(self.chains, amounts, balls)
        axle, by_slot = turned[:, 0, :, 2], spread(self.chains, screws, self.slots)[:, 0]
        lean = axle @ self.normal
        rise = np.sqrt(np.maximum(1 - lean * lean, 1e-300))
        return axle, lean, rise, p[:, 0], by_slot

    def position(self, x: Floats, amounts: Floats, balls: Floats) -> Rows:
        axle, lean, rise, p, by_slot = self._contact(amounts, balls)
        centre = point_rows(by_slot[:, None], p[:, None])[:, 0]
        # n·(w x a) is the rate of the lean; the rim's height falls with it by R lean / rise.
        turning = np.einsum("bis,bi->bs", by_slot[:, :3], np.cross(axle, self.normal))
        rows = np.einsum("i,bis->bs", self.normal, centre) + (self.radius * lean / rise)[:, None] * turning
        height = p @ self.normal - self.radius * rise - self.tyre
        return Rows(height[:, None], rows[:, None], None)

    def velocity(self, x: Floats, amounts: Floats, balls: Floats) -> Rows:
        axle, lean, rise, p, by_slot = self._contact(amounts, balls)
        down = (axle * lean[:, None] - self.normal) / rise[:, None]
        point = p + self.radius * down - self.tyre * self.normal
        slip = point_rows(by_slot[:, None], point[:, None])[:, 0]
        rows = np.einsum("ti,bis->bts", self.tangents, slip)
        return Rows(np.zeros((len(p), len(self.tangents))), rows, None)


@dataclass(frozen=True)
class Measured:
    """A component of a frame's position as a variable of an equation: symbol, chain, direction, unit of length."""

    symbol: Expr
    chains: Chains
    direction: Floats
    unit: float


@dataclass(frozen=True)
class UserEquation(Relation):
    """0 = g(coordinates, measured positions); `slopes` by coordinate, then by measurement.

    `rates` are its slopes by the rates of the coordinates when it restricts velocities. `unit` is "rad" or "m" where
    all its variables are of that kind, and empty otherwise.
    """

    value: Expr
    slopes: tuple[Expr, ...]
    rates: tuple[Expr, ...]
    freedoms: tuple[int, ...]
    symbols: tuple[Expr, ...]
    units: Floats
    measured: tuple[Measured, ...]
    unit: str
    scale: float
    slots: int

    def position(self, x: Floats, amounts: Floats, balls: Floats) -> Rows:
        if self.rates:
            return Rows(np.zeros((len(x), 0)), None, None)
        bound, moved = self._bound(x, amounts, balls)
        value, *slopes = self._numbers([self.value, *self.slopes], bound, len(x))
        direct, indirect = slopes[: len(self.freedoms)], slopes[len(self.freedoms) :]
        by_slot = sum((s[:, None] * m.unit * row for s, m, row in zip(indirect, self.measured, moved, strict=True)),
                      np.zeros((len(x), self.slots)))  # fmt: skip
        rows = self._by_freedom(direct, x.shape[1])
        return Rows(value[:, None] / self.scale, by_slot[:, None] / self.scale, rows[:, None] / self.scale)

    def velocity(self, x: Floats, amounts: Floats, balls: Floats) -> Rows:
        if not self.rates:
            return super().velocity(x, amounts, balls)
        bound, _ = self._bound(x, amounts, balls)
        rows = self._by_freedom(self._numbers(list(self.rates), bound, len(x)), x.shape[1])
        return Rows(np.zeros((len(x), 1)), None, rows[:, None] / self.scale)

    def _by_freedom(self, slopes: Sequence[Floats], n: int) -> Floats:
        rows = np.zeros((len(slopes[0]) if slopes else 1, n))
        for i, slope in zip(self.freedoms, slopes, strict=True):
            rows[:, i] = slope * self.units[i]
        return rows

    def _numbers(self, expressions: list[Expr], bound: dict[Expr, Any], states: int) -> list[Floats]:
        # A formula may have no value at some of the states tried: these are then never taken for closed.
        with np.errstate(all="ignore"):
            return [np.broadcast_to(np.asarray(v, float), (states,)) for v in evaluate(expressions, bound)]

    def _bound(self, x: Floats, amounts: Floats, balls: Floats) -> tuple[dict[Expr, Any], list[Floats]]:
        bound: dict[Expr, Any] = {q: x[:, i] * self.units[i] for q, i in zip(self.symbols, self.freedoms, strict=True)}
        moved = []
        for m in self.measured:
            _, p, screws = walk(m.chains, amounts, balls)
            bound[m.symbol] = (p[:, 0] @ m.direction) * m.unit
            moved.append(np.einsum("i,bis->bs", m.direction, point_rows(spread(m.chains, screws, self.slots), p)[:, 0]))
        return bound, moved
