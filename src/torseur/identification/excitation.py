"""Excitation design: motions within limits that make the parameters easy to tell apart.

Every coordinate follows a Fourier series q = q₀ + Σ (a_k sin kωt - b_k cos kωt) / (kω) (Swevers et al. 1997). Series
are scaled to their limits, so that every candidate is allowed, and their shapes are improved by quasi-Newton steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from torseur.errors import IdentificationError, UnsupportedError, unknown_name
from torseur.identification.arrays import Array
from torseur.identification.base_parameters import BaseParameters, base_parameters
from torseur.identification.completion import prior_start
from torseur.identification.linear_model import LinearModel

CRITERIA = ("condition", "information")


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


@dataclass(frozen=True, eq=False)
class Excitation:
    """A designed motion, the condition number it gives the regressor, and the criterion by iteration."""

    motion: FourierMotion
    condition: float
    history: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class _Design:
    model: LinearModel
    base: BaseParameters
    limits: tuple[CoordinateLimits, ...]
    period: float
    harmonics: int
    samples: int
    criterion: str
    expected: Array | None = field(default=None)

    @property
    def time(self) -> Array:
        return np.arange(self.samples) * self.period / self.samples

    def motion(self, x: Array) -> FourierMotion:
        """The series of a shape, as large as its limits allow."""
        n, H = len(self.limits), self.harmonics
        shape = x[: 2 * n * H].reshape(2, n, H)
        names = tuple(self.model.equations.layout.coordinate_names)
        raw = FourierMotion(names, self.period, np.zeros(n), shape[0], shape[1])
        count = 32 * self.harmonics
        fine = np.arange(count) * self.period / count
        q, v, a = raw.at(fine)
        low, high = q.min(axis=0), q.max(axis=0)
        span = np.array([limit.position[1] - limit.position[0] for limit in self.limits])
        scale = np.minimum.reduce([
            span / np.maximum(high - low, 1e-12),
            np.array([limit.speed for limit in self.limits]) / np.maximum(np.abs(v).max(axis=0), 1e-12),
            np.array([limit.acceleration for limit in self.limits]) / np.maximum(np.abs(a).max(axis=0), 1e-12),
        ])  # fmt: skip
        scale *= 0.999
        slack = span - scale * (high - low)
        start = np.array([limit.position[0] for limit in self.limits]) - scale * low
        offset = start + slack * (0.5 + 0.5 * np.tanh(x[2 * n * H :]))
        return FourierMotion(names, self.period, offset, scale[:, None] * shape[0], scale[:, None] * shape[1])

    def regressor(self, motion: FourierMotion) -> Array:
        Y = self.model.matrix(*motion.at(self.time))
        return Y[:, :, list(self.base.columns)].reshape(-1, len(self.base))

    def value(self, x: Array) -> float:
        """log of the condition number, or minus the log of the information's determinant; overloads cost extra."""
        motion = self.motion(x)
        W = self.regressor(motion)
        penalty = self.overload(motion)
        if self.criterion == "information":
            return float(-np.sum(np.log(np.maximum(np.linalg.eigvalsh(W.T @ W), 1e-24)))) + 100 * penalty
        return float(np.log(condition_of(W))) + 10 * penalty

    def overload(self, motion: FourierMotion) -> float:
        """How far expected forces exceed their limits."""
        bounds = np.array([np.inf if limit.force is None else limit.force for limit in self.limits])
        if self.expected is None or not np.any(np.isfinite(bounds)):
            return 0.0
        forces = np.abs(self.model.matrix(*motion.at(self.time)) @ self.expected).max(axis=0)
        return float(np.sum(np.maximum(forces / bounds - 1, 0.0)))


def condition_of(W: Array) -> float:
    """The condition number of a regressor with columns of equal length."""
    scale = np.linalg.norm(W, axis=0)
    even = W / np.where(scale > 0, scale, 1.0)
    values = np.linalg.eigvalsh(even.T @ even)
    return float(np.sqrt(values[-1] / max(values[0], 1e-30)))


def design_excitation(
    model: LinearModel,
    limits: Mapping[str, CoordinateLimits],
    *,
    period: float = 10.0,
    harmonics: int = 5,
    samples: int = 64,
    criterion: str = "condition",
    rounds: int = 30,
    seed: int = 0,
    base: BaseParameters | None = None,
    progress: Callable[[float], None] | None = None,
) -> Excitation:
    """A periodic motion within limits whose regressor is well conditioned, or carries much information.

    Expected forces are kept within their limits where the description has values to expect them from.
    """
    design = _design(model, limits, period, harmonics, samples, criterion, base)
    rng = np.random.default_rng(seed)
    size = len(design.limits) * (2 * harmonics + 1)
    starts = [rng.normal(size=size) for _ in range(20)]
    x = min(starts, key=design.value)
    follow = progress or (lambda part: None)
    history = [design.value(x)]

    def step(now: Array) -> None:
        history.append(design.value(now))
        follow(min(1.0, len(history) / (rounds + 1)))

    from scipy.optimize import minimize

    search: dict[str, Any] = {"callback": step, "options": {"maxiter": rounds, "maxfun": 10**6}}
    found = minimize(design.value, x, method="L-BFGS-B", **search)
    motion = design.motion(np.asarray(found.x))
    if design.overload(motion) > 0:
        raise IdentificationError("no motion keeps the expected forces within their limits. Widen them, or slow down.")
    return Excitation(motion, condition_of(design.regressor(motion)), tuple(history))


def _design(
    model: LinearModel,
    limits: Mapping[str, CoordinateLimits],
    period: float,
    harmonics: int,
    samples: int,
    criterion: str,
    base: BaseParameters | None,
) -> _Design:
    if model.is_constrained:
        raise UnsupportedError("excitation is designed for mechanisms without loops.")
    if criterion not in CRITERIA:
        raise IdentificationError(unknown_name("criterion", criterion, CRITERIA))
    names = model.equations.layout.coordinate_names
    for name in limits:
        if name not in names:
            raise IdentificationError(unknown_name("coordinate", name, names, "limits: "))
    missing = [name for name in names if name not in limits]
    if missing:
        raise IdentificationError(f"limits of {', '.join(missing)} are missing.")
    if len(names) != len(model.equations.layout.speeds):
        raise UnsupportedError("excitation is designed for coordinates whose rates are the speeds (no quaternions).")
    ordered = tuple(limits[name] for name in names)
    structure = base or base_parameters(model)
    return _Design(model, structure, ordered, period, harmonics, samples, criterion, prior_start(model, None))
