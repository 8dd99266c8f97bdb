"""Coordinates as Fourier series, and the limits they keep."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from torseur.errors import IdentificationError
from torseur.identification.arrays import Array

_POWER = 24


@dataclass(frozen=True)
class CoordinateLimits:
    """How far, how fast and how hard a coordinate may move: rad or m, per second, per second squared, N m or N."""

    position: tuple[float, float] = (-1.0, 1.0)
    speed: float = 2.0
    acceleration: float = 10.0
    force: float | None = None

    def __post_init__(self) -> None:
        if self.position[0] >= self.position[1] or min(self.speed, self.acceleration) <= 0:
            raise IdentificationError("limits of a coordinate: least position first, positive speed and acceleration.")

    @property
    def span(self) -> float:
        return self.position[1] - self.position[0]

    def excess(self, q: Array, v: Array, vdot: Array) -> float:
        """How far a motion exceeds the limits, as parts of them; zero within."""
        outside = max(float(np.max(q)) - self.position[1], self.position[0] - float(np.min(q)), 0.0) / self.span
        fast = max(float(np.max(np.abs(v))) / self.speed - 1, 0.0)
        return outside + fast + max(float(np.max(np.abs(vdot))) / self.acceleration - 1, 0.0)


@dataclass(frozen=True, eq=False)
class FourierMotion:
    """Coordinates as Fourier series with one period: offsets (n,), and a and b (n, harmonics)."""

    names: tuple[str, ...]
    period: float
    offset: Array
    a: Array
    b: Array

    def at(self, time: Array) -> tuple[Array, Array, Array]:
        """q, v and v̇ at every time."""
        rate = 2 * np.pi / self.period * np.arange(1, self.a.shape[1] + 1)
        s, c = np.sin(np.outer(time, rate)), np.cos(np.outer(time, rate))
        q = self.offset + (s / rate) @ self.a.T - (c / rate) @ self.b.T
        return q, c @ self.a.T + s @ self.b.T, -(s * rate) @ self.a.T + (c * rate) @ self.b.T

    def scaled(self, part: float) -> FourierMotion:
        """The same motion, smaller by a factor about its offsets."""
        return replace(self, a=part * self.a, b=part * self.b)


def within(
    shape: FourierMotion, limits: tuple[CoordinateLimits, ...], placing: Array, sizes: Array, smooth: bool = False
) -> FourierMotion:
    """A shape as large as its limits allow, times `sizes`; `placing` (any numbers) says where in the room that is left.

    With `smooth` it is a little smaller: peaks are means of high powers, which change smoothly with the shape.
    """
    count = 32 * shape.a.shape[1]
    q, v, a = shape.at(np.arange(count) * shape.period / count)
    peak = _smooth_peak if smooth else _peak
    low, high = -peak(np.maximum(-q, 0.0)), peak(np.maximum(q, 0.0))
    span = np.array([limit.span for limit in limits])
    speed, acceleration = (np.array([getattr(x, kind) for x in limits]) for kind in ("speed", "acceleration"))
    fullness = np.stack([(high - low) / span, peak(np.abs(v)) / speed, peak(np.abs(a)) / acceleration])
    scale = 0.999 * sizes / np.maximum(peak(fullness), 1e-12)
    slack = span - scale * (high - low)
    start = np.array([limit.position[0] for limit in limits]) - scale * low
    offset = start + slack * (0.5 + 0.5 * np.tanh(placing))
    return replace(shape, offset=offset, a=scale[:, None] * shape.a, b=scale[:, None] * shape.b)


def _peak(values: Array) -> Array:
    return np.asarray(values.max(axis=0))


def _smooth_peak(values: Array) -> Array:
    """A bound of the largest of non-negative values, above it by a few percent."""
    highest = np.maximum(values.max(axis=0), 1e-300)
    return np.asarray(highest * np.sum((values / highest) ** _POWER, axis=0) ** (1 / _POWER))
