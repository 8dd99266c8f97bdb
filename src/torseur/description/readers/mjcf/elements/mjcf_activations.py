"""Actuators with an activation, a state between control and force, and the curves of MuJoCo's muscles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.graph.scalar import maximum, minimum, where

TINY = 1e-15  # MuJoCo's mjMINVAL


@dataclass(frozen=True)
class Activation:
    """How the activation follows the control u: a' = u, (u - a)/T, or as muscles do; kept in a range, if any."""

    kind: str
    times: Sequence[float]
    bounds: tuple[float, float] | None = None

    def rate(self, u: Expr, a: Expr) -> Expr:
        """a' as MuJoCo has it; the exact filter is the same equation, integrated exactly."""
        rate = u if self.kind == "integrator" else (u - a) / max(self.times[0], TINY)
        if self.kind == "muscle":
            rate = self._muscle_rate(u, a)
        if self.bounds is None:
            return as_expr(rate)
        low, high = self.bounds
        # At the end of its range an activation stays, until its rate points back.
        return as_expr(where(a >= high, minimum(rate, 0), where(a <= low, maximum(rate, 0), rate)))

    def _muscle_rate(self, u: Expr, a: Expr) -> Expr:
        """(u - a)/τ, τ growing with the activation while it rises and shrinking while it falls (Millard 2013)."""
        rising, falling, width = self.times
        excess = clipped(u, 0, 1) - a
        level = 0.5 + 1.5 * clipped(a, 0, 1)
        up, down = rising * level, falling / level
        share = where(excess > 0, 1, 0) if width < TINY else _smooth_step(excess / width + 0.5)
        return as_expr(excess / maximum(down + (up - down) * share, TINY))

    def value(self, a: Expr) -> Expr:
        """What the force takes: the activation within its range."""
        return a if self.bounds is None else clipped(a, *self.bounds)


@dataclass(frozen=True)
class MuscleCurves:
    """Force of a muscle of MuJoCo: -F (a FL(L) FV(V) + FP(L)), lengths in units of the optimal one."""

    lengths: tuple[float, float]
    span: tuple[float, float]
    force: float
    lowest: float
    highest: float
    speed: float
    passive: float
    eccentric: float

    def tension(self, a: Expr, length: Expr, rate: Expr) -> Expr:
        optimal = (self.lengths[1] - self.lengths[0]) / max(self.span[1] - self.span[0], TINY)
        x = self.span[0] + (length - self.lengths[0]) / max(optimal, TINY)
        v = rate / max(optimal * self.speed, TINY)
        return as_expr(-self.force * (a * self._at_length(x) * self._at_speed(v) + self._passive(x)))

    def _at_length(self, x: Expr) -> Expr:
        """A bell of four parabolas between the shortest and the longest length."""
        low, high = self.lowest, self.highest
        a, b = (low + 1) / 2, (1 + high) / 2
        left = where(x <= a, _half_square((x - low) / max(a - low, TINY)), 1 - _half_square((1 - x) / max(1 - a, TINY)))
        right = where(
            x <= b, 1 - _half_square((x - 1) / max(b - 1, TINY)), _half_square((high - x) / max(high - b, TINY))
        )
        return as_expr(where(x < low, 0, where(x > high, 0, where(x <= 1, left, right))))

    def _at_speed(self, v: Expr) -> Expr:
        y = self.eccentric - 1
        longer = self.eccentric - (y - v) * (y - v) / max(y, TINY)
        return as_expr(where(v <= -1, 0, where(v <= 0, (v + 1) * (v + 1), where(v <= y, longer, self.eccentric))))

    def _passive(self, x: Expr) -> Expr:
        b = (1 + self.highest) / 2
        z = (x - 1) / max(b - 1, TINY)
        beyond = self.passive * (0.5 + (x - b) / max(b - 1, TINY))
        return as_expr(where(x <= 1, 0, where(x <= b, self.passive * _half_square(z), beyond)))


def clipped(x: Expr, low: float, high: float) -> Expr:
    """x within bounds."""
    return as_expr(minimum(maximum(x, low), high))


def _half_square(x: Expr) -> Expr:
    return 0.5 * x * x


def _smooth_step(x: Expr) -> Expr:
    """0 below 0, 1 above 1, with two continuous derivatives."""
    inside = x * x * x * (3 * x * (2 * x - 5) + 10)
    return as_expr(where(x <= 0, 0, where(x >= 1, 1, inside)))
