"""Rotations with known rates, and recordings made of them."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from torseur.analysis.biomechanics import Z_UP, Markers


def turning(time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """R = Rz(a) Rx(b) with a = 1.2 sin 2t, b = 0.8 cos 3t, its ω and α in fixed axes: closed forms.

    ω = a' z + b' x1 with x1 = Rz(a) x, so α = a'' z + b'' x1 + a' b' z x x1.
    """
    a, da, dda = 1.2 * np.sin(2 * time), 2.4 * np.cos(2 * time), -4.8 * np.sin(2 * time)
    b, db, ddb = 0.8 * np.cos(3 * time), -2.4 * np.sin(3 * time), -7.2 * np.cos(3 * time)
    R = (Rotation.from_euler("z", a[:, None]) * Rotation.from_euler("x", b[:, None])).as_matrix()
    zero = np.zeros_like(time)
    z = np.stack([zero, zero, zero + 1], axis=1)
    x1 = np.stack([np.cos(a), np.sin(a), zero], axis=1)
    omega = da[:, None] * z + db[:, None] * x1
    alpha = dda[:, None] * z + ddb[:, None] * x1 + (da * db)[:, None] * np.cross(z, x1)
    return R, omega, alpha


def rigid(labels: str, seed: int, frames: int = 200, spread: float = 0.15) -> Markers:
    """Markers a, b, c, ... on a body that moves."""
    rng = np.random.default_rng(seed)
    time = np.arange(frames) / 100
    R = Rotation.from_rotvec(np.outer(np.sin(time), rng.normal(size=3))).as_matrix()
    places = spread * rng.normal(size=(len(labels), 3))
    origin = rng.normal(size=3) + np.outer(time, rng.normal(size=3))
    return Markers(time, tuple(labels), origin[:, None] + np.einsum("tij,kj->tki", R, places), Z_UP)


def together(*recordings: Markers) -> Markers:
    labels = tuple(label for one in recordings for label in one.labels)
    return Markers(recordings[0].time, labels, np.concatenate([one.positions for one in recordings], axis=1), Z_UP)
