"""Motions of Human36 for tests: smooth functions of time with exact derivatives."""

from __future__ import annotations

import numpy as np

from torseur.analysis.biomechanics.motion.joint_motion import JointMotion, coordinate_names


def waving(mechanism, count: int = 120, step: float = 0.005, seed: int = 0, size: float = 0.3) -> JointMotion:
    """Every coordinate a cosine of its own size, rate and phase."""
    names = coordinate_names(mechanism)
    rng = np.random.default_rng(seed)
    a, w, phase = (rng.uniform(low, high, len(names)) for low, high in ((0.05, size), (1, 6), (0, 6)))
    time = np.arange(count) * step
    angle = np.outer(time, w) + phase
    return JointMotion(time, names, a * np.cos(angle), -a * w * np.sin(angle), -a * w**2 * np.cos(angle))
