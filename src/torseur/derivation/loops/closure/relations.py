"""Constraints besides joints, as the loop analysis sees them: residuals and rows over the slots or freedoms.

Each relation answers with holonomic residuals and rows, and with rows that restrict velocities only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import Expr, evaluate
from torseur.algebra.spatial.rotation_arrays import cross_rows
from torseur.derivation.loops.model.joint_chains import Chains, walk


@dataclass(frozen=True)
class Rows:
    """Residuals (B, k), rows over the slots (B, k, slots) and over the freedoms (B, k, n), or None."""

    residual: Array
    by_slot: Array | None
    by_freedom: Array | None


@dataclass(frozen=True)
class Relation(ABC):
    """A named constraint; `parts` names its holonomic residuals, `slips` its velocity rows."""

    name: str
    parts: tuple[str, ...]
    slips: tuple[str, ...]

    @abstractmethod
    def position(self, x: Array, amounts: Array, balls: Array) -> Rows:
        """Holonomic residuals and rows."""

    def velocity(self, x: Array, amounts: Array, balls: Array) -> Rows:
        """Rows on velocities only; none unless said otherwise."""
        return Rows(np.zeros((len(x), 0)), None, None)


def screws_by_slot(chains: Chains, screws: Array, slots: int) -> Array:
    """Screws by slot: (B, C, 6, slots)."""
    states, count = screws.shape[:2]
    # One slot more than there are takes what padding and balls' own rotations write (slot -1).
    rows = np.zeros((states, count, slots + 1, 6))
    c = np.broadcast_to(np.arange(count)[:, None], chains.slot.shape)
    rows[:, c, chains.slot] = screws
    return np.swapaxes(rows[:, :, :slots], -1, -2)


@dataclass(frozen=True)
class FixedDistance(Relation):
    """(p·p - d²) / (2 d) = 0 for the vector p along a chain.

    No root, so it is smooth at p = 0 too, and where it vanishes its gradient is the unit vector p / d.
    """

    chains: Chains
    distance: float
    slots: int

    def position(self, x: Array, amounts: Array, balls: Array) -> Rows:
        _, p, screws = walk(self.chains, amounts, balls)
        moved = point_rows(screws_by_slot(self.chains, screws, self.slots), p)
        rows = np.einsum("bci,bcis->bcs", p, moved) / self.distance
        return Rows((np.sum(p * p, axis=-1) - self.distance**2) / (2 * self.distance), rows, None)


def point_rows(by_slot: Array, p: Array) -> Array:
    """Velocity of the chain's end per slot, v + w x p: (B, C, 3, slots)."""
    w, v = by_slot[:, :, :3], by_slot[:, :, 3:]
    return v + cross_rows(w, p)


@dataclass(frozen=True)
class RollingContact(Relation):
    """A wheel on a plane: one height, two slips (see derivation/loops/closure/rolling.py)."""

    chains: Chains
    radius: float
    tyre: float
    normal: Array
    tangents: Array
    slots: int

    def _contact(self, amounts: Array, balls: Array) -> tuple[Array, ...]:
        turned, p, screws = walk(self.chains, amounts, balls)
        axle, by_slot = turned[:, 0, :, 2], screws_by_slot(self.chains, screws, self.slots)[:, 0]
        lean = axle @ self.normal
        # Zero where the wheel lies flat: there is no lowest point, and the guard only keeps the division from failing.
        rise = np.sqrt(np.maximum(1 - lean * lean, 1e-300))
        return axle, lean, rise, p[:, 0], by_slot

    def position(self, x: Array, amounts: Array, balls: Array) -> Rows:
        axle, lean, rise, p, by_slot = self._contact(amounts, balls)
        centre = point_rows(by_slot[:, None], p[:, None])[:, 0]
        # n·(w x a) is the rate of the lean; the rim's height falls with it by R lean / rise.
        turning = np.einsum("bis,bi->bs", by_slot[:, :3], np.cross(axle, self.normal))
        rows = np.einsum("i,bis->bs", self.normal, centre) + (self.radius * lean / rise)[:, None] * turning
        height = p @ self.normal - self.radius * rise - self.tyre
        return Rows(height[:, None], rows[:, None], None)

    def velocity(self, x: Array, amounts: Array, balls: Array) -> Rows:
        axle, lean, rise, p, by_slot = self._contact(amounts, balls)
        # The lowest point of the rim is against the normal's part across the axle; the tyre hangs below it.
        down = (axle * lean[:, None] - self.normal) / rise[:, None]
        point = p + self.radius * down - self.tyre * self.normal
        slip = point_rows(by_slot[:, None], point[:, None])[:, 0]
        rows = np.einsum("ti,bis->bts", self.tangents, slip)
        return Rows(np.zeros((len(p), len(self.tangents))), rows, None)


@dataclass(frozen=True)
class MeasuredPosition:
    """A component of a frame's position as a variable of an equation: symbol, chain, direction, unit of length."""

    symbol: Expr
    chains: Chains
    direction: Array
    unit: float


@dataclass(frozen=True)
class UserEquation(Relation):
    """0 = g(coordinates, measured positions); `gradient` by coordinate, then by measurement.

    `rates` is its gradient by the rates of the coordinates when it restricts velocities. `unit` is "rad" or "m" where
    all its variables are of that kind, and empty otherwise.
    """

    value: Expr
    gradient: tuple[Expr, ...]
    rates: tuple[Expr, ...]
    freedoms: tuple[int, ...]
    symbols: tuple[Expr, ...]
    units: Array
    measured: tuple[MeasuredPosition, ...]
    unit: str
    scale: float
    slots: int

    def position(self, x: Array, amounts: Array, balls: Array) -> Rows:
        if self.rates:
            return Rows(np.zeros((len(x), 0)), None, None)
        values, moved = self._values(x, amounts, balls)
        value, *partials = self._numbers([self.value, *self.gradient], values, len(x))
        # Through coordinates directly, and through measured positions, which move with the slots of their chains.
        direct, indirect = partials[: len(self.freedoms)], partials[len(self.freedoms) :]
        by_slot = sum((s[:, None] * m.unit * row for s, m, row in zip(indirect, self.measured, moved, strict=True)),
                      np.zeros((len(x), self.slots)))  # fmt: skip
        rows = self._by_freedom(direct, x.shape[1])
        return Rows(value[:, None] / self.scale, by_slot[:, None] / self.scale, rows[:, None] / self.scale)

    def velocity(self, x: Array, amounts: Array, balls: Array) -> Rows:
        if not self.rates:
            return super().velocity(x, amounts, balls)
        values, _ = self._values(x, amounts, balls)
        rows = self._by_freedom(self._numbers(list(self.rates), values, len(x)), x.shape[1])
        return Rows(np.zeros((len(x), 1)), None, rows[:, None] / self.scale)

    def _by_freedom(self, partials: Sequence[Array], n: int) -> Array:
        rows = np.zeros((len(partials[0]) if partials else 1, n))
        for i, partial in zip(self.freedoms, partials, strict=True):
            rows[:, i] = partial * self.units[i]
        return rows

    def _numbers(self, expressions: list[Expr], values: dict[Expr, Any], states: int) -> list[Array]:
        # A formula may have no value at some of the states tried: these are then never taken for closed.
        with np.errstate(all="ignore"):
            return [np.broadcast_to(np.asarray(v, float), (states,)) for v in evaluate(expressions, values)]

    def _values(self, x: Array, amounts: Array, balls: Array) -> tuple[dict[Expr, Any], list[Array]]:
        values: dict[Expr, Any] = {q: x[:, i] * self.units[i] for q, i in zip(self.symbols, self.freedoms, strict=True)}
        moved = []
        for m in self.measured:
            _, p, screws = walk(m.chains, amounts, balls)
            values[m.symbol] = (p[:, 0] @ m.direction) * m.unit
            moved.append(
                np.einsum("i,bis->bs", m.direction, point_rows(screws_by_slot(m.chains, screws, self.slots), p)[:, 0])
            )
        return values, moved
