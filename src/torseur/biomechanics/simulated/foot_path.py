"""The path of a foot that rolls from heel to toes while it stands and swings to its next place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.identification.arrays import Array

# Parts of a cycle that begins when the heel strikes.
FLAT, RISE, OFF = 0.12, 0.36, 0.60
STRIKE_ANGLE, OFF_ANGLE = np.radians(16.0), np.radians(-38.0)  # of the foot to the floor, toes up
_STRIKE_RATE, _OFF_RATE = 1.5 * -STRIKE_ANGLE / FLAT, 1.5 * OFF_ANGLE / (OFF - RISE)
CLEARANCE = 0.035  # m: by which the ankle is lifted in the middle of the swing
Jet = tuple[Array, Array, Array]  # value, slope and curvature


@dataclass(frozen=True)
class FootSize:
    """Ankle height, and how far heel and toes lie behind and before the ankle (m)."""

    height: float
    heel: float
    toe: float


def foot_path(phase: Array, place: Array, stride: float, size: FootSize) -> tuple[Array, Array, Array]:
    """Forward place and height of the ankle, and the foot's angle to the floor, by the phase of its cycle.

    `place` is where the ankle stands, flat, in the cycle of each sample; the next place is a `stride` farther. Twice
    differentiable throughout.
    """
    angle = _angle(phase)[0]
    standing = phase < OFF
    x, y = _standing(np.where(standing, phase, 0.0), size)
    swing_x, swing_y = _swinging(np.where(standing, OFF, phase), stride, size)
    return place + np.where(standing, x, swing_x), np.where(standing, y, swing_y), angle


def _angle(phase: Array) -> Jet:
    """The foot's angle, its slope and its curvature by the phase."""
    pieces = (
        (phase < FLAT, _quintic(phase, 0.0, FLAT, (STRIKE_ANGLE, _STRIKE_RATE, 0.0), (0.0, 0.0, 0.0))),
        ((phase >= RISE) & (phase < OFF), _quintic(phase, RISE, OFF, (0.0, 0.0, 0.0), (OFF_ANGLE, _OFF_RATE, 0.0))),
        (phase >= OFF, _quintic(phase, OFF, 1.0, (OFF_ANGLE, _OFF_RATE, 0.0), (STRIKE_ANGLE, _STRIKE_RATE, 0.0))),
    )
    total = tuple(sum(np.where(where, jet[k], 0.0) for where, jet in pieces) for k in range(3))
    return np.asarray(total[0]), np.asarray(total[1]), np.asarray(total[2])


def _standing(phase: Array, size: FootSize) -> tuple[Array, Array]:
    """The ankle turns about the heel while the toes are up, about the toes while the heel is."""
    angle = _angle(phase)[0]
    x, y = _turned(angle, size)
    return x, y


def _turned(angle: Array, size: FootSize) -> tuple[Array, Array]:
    pivot = np.where(angle > 0, -size.heel, size.toe)
    c, s = np.cos(angle), np.sin(angle)
    return pivot - pivot * c - size.height * s, -pivot * s + size.height * c


def _swinging(phase: Array, stride: float, size: FootSize) -> tuple[Array, Array]:
    """A quintic from toe-off to the next strike, lifted in the middle."""
    ends = [_jet_at(angle, rate, size) for angle, rate in ((OFF_ANGLE, _OFF_RATE), (STRIKE_ANGLE, _STRIKE_RATE))]
    (x0, y0), (x1, y1) = ends
    x = _quintic(phase, OFF, 1.0, x0, (x1[0] + stride, x1[1], x1[2]))[0]
    s = (phase - OFF) / (1 - OFF)
    return x, _quintic(phase, OFF, 1.0, y0, y1)[0] + 64 * CLEARANCE * (s * (1 - s)) ** 3


def _jet_at(angle: float, rate: float, size: FootSize) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Place, slope and curvature of the ankle where the foot has an angle that changes at a constant rate."""
    pivot = -size.heel if angle > 0 else size.toe
    c, s = float(np.cos(angle)), float(np.sin(angle))
    x, y = -pivot * c - size.height * s, -pivot * s + size.height * c  # from the pivot
    return (pivot + x, -rate * y, -(rate**2) * x), (y, rate * x, -(rate**2) * y)


def _quintic(
    t: Array, start: float, end: float, first: tuple[float, float, float], last: tuple[float, float, float]
) -> Jet:
    """The polynomial of fifth degree with given values, slopes and curvatures at both ends."""
    h = end - start
    powers = np.array([[x**k for k in range(6)] for x in (0.0, 1.0)])
    slopes = np.array([[k * x ** max(k - 1, 0) for k in range(6)] for x in (0.0, 1.0)])
    bends = np.array([[k * (k - 1) * x ** max(k - 2, 0) for k in range(6)] for x in (0.0, 1.0)])
    rows = np.concatenate([powers, slopes, bends])
    wanted = [first[0], last[0], h * first[1], h * last[1], h * h * first[2], h * h * last[2]]
    c = np.polynomial.Polynomial(np.linalg.solve(rows, wanted))
    s = (t - start) / h
    return c(s), c.deriv(1)(s) / h, c.deriv(2)(s) / h**2
