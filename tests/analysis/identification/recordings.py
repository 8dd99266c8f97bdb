"""Recordings of arms made by the equations of motion: inverse dynamics along sums of sines, with noise on request."""

from __future__ import annotations

import numpy as np

import torseur.derivation.dynamics as td
from torseur.analysis.identification import LinearModel, Trial, make_trial
from torseur.derivation.tree import build_tree
from torseur.description.mechanism import Mechanism


def sines(n: int, count: int = 400, seed: int = 0, period: float = 10.0):
    """Time, coordinates, speeds and accelerations."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0, period, count, endpoint=False)
    q, v, a = (np.zeros((count, n)) for _ in range(3))
    for k in range(1, 6):
        w, size, phase = 4 * np.pi * k / period, 0.4 * rng.normal(size=n), rng.uniform(0, 6, n)
        angle = w * t[:, None] + phase
        q, v, a = q + size * np.sin(angle), v + size * w * np.cos(angle), a - size * w**2 * np.sin(angle)
    return t, q, v, a


def forces(mechanism: Mechanism, q, v, a) -> np.ndarray:
    """Joint forces by the Newton-Euler recursion, which knows nothing of regressors."""
    found = td.inverse_dynamics(build_tree(mechanism), list(q.T), list(v.T), list(a.T))
    return np.stack([np.broadcast_to(x, len(q)) for x in found], axis=1)


def channels(q, v, a) -> dict[str, np.ndarray]:
    named = {f"q{k + 1}": q[:, k] for k in range(q.shape[1])}
    return (
        named | {f"q{k + 1}'": v[:, k] for k in range(q.shape[1])} | {f"q{k + 1}''": a[:, k] for k in range(q.shape[1])}
    )


def recorded(
    model: LinearModel,
    noise: float = 0.0,
    seed: int = 0,
    count: int = 400,
    extra=None,
    mechanism=None,
    name="trial",
    **more,
) -> Trial:
    """A trial of a model's own mechanism (or another); noise is relative to each force, `extra` adds to the forces."""
    arm = mechanism or model.equations.mechanism
    n = len(model.equations.layout.speeds)
    t, q, v, a = sines(n, count, seed)
    tau = forces(arm, q, v, a)
    tau = tau + (0 if extra is None else extra(q, v, a))
    tau = tau + noise * tau.std(axis=0) * np.random.default_rng(seed + 100).normal(size=tau.shape)
    return make_trial(model, t, channels(q, v, a), {f"q{k + 1}": tau[:, k] for k in range(n)}, name=name, **more)
