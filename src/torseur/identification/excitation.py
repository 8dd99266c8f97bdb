"""Excitation design: motions within limits that make the parameters easy to tell apart.

Every independent coordinate follows a Fourier series q = q₀ + Σ (a_k sin kωt - b_k cos kωt) / (kω) (Swevers et al.
1997); where loops tie the others, these follow. Series are scaled to their own limits; what other coordinates and
forces exceed costs extra. Shapes are improved by quasi-Newton steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.errors import IdentificationError, UnsupportedError, unknown_name
from torseur.identification.arrays import Array
from torseur.identification.base_parameters import BaseParameters, base_parameters
from torseur.identification.completion import prior_start
from torseur.identification.fourier import CoordinateLimits, FourierMotion, within
from torseur.identification.linear_model import LinearModel
from torseur.identification.projector import Projector, null_space
from torseur.identification.whole_states import Completion, Recorded
from torseur.loops.partition import independent_rows

CRITERIA = ("condition", "information")
_STARTS = 20
_STEP = 1e-6
_UNREACHABLE = 1e30
_FAR, _NEAR = 20, 4  # steps in which loops are led to a motion, from the description's configuration or another motion
_ALLOWED, _COST = 1e-3, 300.0


@dataclass(frozen=True, eq=False)
class Excitation:
    """A designed motion, the condition number it gives the regressor, and the criterion by iteration."""

    motion: FourierMotion
    condition: float
    history: tuple[float, ...]
    model: LinearModel

    def at(self, time: Array) -> tuple[Array, Array, Array]:
        """q, v and v̇ of all coordinates, those that follow from loops and rolling included."""
        return whole_motion(Projector(self.model), self.motion, np.asarray(time, dtype=float))


def whole_motion(
    projector: Projector, motion: FourierMotion, time: Array, near: Array | None = None, steps: int = 1
) -> tuple[Array, Array, Array]:
    """q, v and v̇ of all coordinates while the independent ones follow their series."""
    layout = projector.model.equations.layout
    slots = tuple(layout.coordinate_names.index(name) for name in motion.names)
    parts = [np.zeros((len(time), len(layout.coordinates))) for _ in range(3)]
    for whole, part in zip(parts, motion.at(time), strict=True):
        whole[:, list(slots)] = part
    if not projector.model.is_constrained:
        return parts[0], parts[1], parts[2]
    nothing = np.zeros((len(time), len(layout.speeds)))
    recorded = Recorded(time, parts[0], parts[1], parts[2], nothing, nothing, slots, slots, ())
    return Completion(projector, recorded).states(near, steps)


@dataclass(frozen=True, eq=False)
class _Design:
    model: LinearModel
    base: BaseParameters
    limits: Mapping[str, CoordinateLimits]
    independent: tuple[str, ...]
    shape: tuple[float, int, int]  # period, harmonics, samples
    criterion: str

    @cached_property
    def projector(self) -> Projector:
        return Projector(self.model)

    @cached_property
    def expected(self) -> Array | None:
        return prior_start(self.model, None)

    @property
    def time(self) -> Array:
        period, _, samples = self.shape
        return np.arange(samples) * period / samples

    @cached_property
    def is_bounded(self) -> bool:
        """Whether limits besides those of the series themselves may call for a smaller motion."""
        follow = self.limits.keys() - set(self.independent)
        return bool(follow) or any(limit.force is not None for limit in self.limits.values())

    @property
    def size(self) -> int:
        return len(self.independent) * (2 * self.shape[1] + 1 + self.is_bounded)

    def motion(self, x: Array, smooth: bool = True) -> FourierMotion:
        """The series of a shape: amplitudes, places within the limits, and sizes where other limits count too."""
        n, H = len(self.independent), self.shape[1]
        a, b = x[: 2 * n * H].reshape(2, n, H)
        placing, sizes = x[2 * n * H : 2 * n * H + n], x[2 * n * H + n :]
        raw = FourierMotion(self.independent, self.shape[0], np.zeros(n), a, b)
        parts = 0.5 + 0.5 * np.tanh(1 + sizes) if self.is_bounded else np.ones(n)
        return within(raw, tuple(self.limits[name] for name in self.independent), placing, parts, smooth)

    def regressor(self, states: tuple[Array, Array, Array]) -> Array:
        """Y of the equations that remain, (samples, equations, columns); one per independent coordinate in loops."""
        Y = self.model.matrix(*states, self.time)
        if not self.model.is_constrained:
            return Y
        names = self.model.equations.layout.speed_names
        preferred = tuple(names.index(f"{name}'") for name in self.independent)
        return np.swapaxes(self.projector.basis(self.time, states[0], preferred), 1, 2) @ Y

    @cached_property
    def first_places(self) -> Array | None:
        """Where loops are led from: the description's configuration at every sample; None where nothing is closed."""
        closes = self.model.is_constrained and len(self.projector.holonomic) == len(self.model.equations.constraints)
        return np.repeat(self.projector.assembled[None, :], len(self.time), axis=0) if closes else None

    def judged(self, motion: FourierMotion, near: Array | None, steps: int) -> tuple[float, Array | None]:
        """The criterion of a motion with the cost of exceeded limits, and the places it passes; None out of reach."""
        try:
            states = whole_motion(self.projector, motion, self.time, near, steps)
        except IdentificationError:
            return _UNREACHABLE, None
        Y = self.regressor(states)
        W = Y[:, :, list(self.base.columns)].reshape(-1, len(self.base))
        excess = self.excess(states, Y)
        if self.criterion == "information":
            return float(-np.sum(np.log(np.maximum(np.linalg.eigvalsh(W.T @ W), 1e-24)))) + _COST * excess**2, states[0]
        return float(np.log(mean_condition(W))) + _COST * excess**2, states[0]

    def excess(self, states: tuple[Array, Array, Array], Y: Array) -> float:
        """How far coordinates that follow and expected forces exceed their limits."""
        names, speeds = self.model.equations.layout.coordinate_names, self.model.equations.layout.speed_names
        total = 0.0
        for name in self.limits.keys() - set(self.independent):
            k = speeds.index(f"{name}'")
            total += self.limits[name].excess(states[0][:, names.index(name)], states[1][:, k], states[2][:, k])
        owners = self.independent if self.model.is_constrained else tuple(names)
        bounds = np.array([self.limits[name].force or np.inf for name in owners])
        if self.expected is None or not np.any(np.isfinite(bounds)):
            return total
        forces = np.abs(Y @ self.expected).max(axis=0)
        return total + float(np.sum(np.maximum(forces / bounds - 1, 0.0)))

    def slope(self, x: Array, value: float, near: Array | None) -> Array:
        """The gradient of the criterion by differences; loops are closed from where they were."""
        steps = [self.judged(self.motion(x + _STEP * unit), near, 1)[0] for unit in np.eye(len(x))]
        return (np.array(steps) - value) / _STEP


def mean_condition(W: Array) -> float:
    """The condition number in Frobenius' norm over the number of columns: smooth, unlike the usual one."""
    values = np.maximum(_evened(W), 1e-30)
    return float(np.sqrt(np.mean(values) * np.mean(1 / values)))


def condition_of(W: Array) -> float:
    """The condition number of a regressor with columns of equal length."""
    values = _evened(W)
    return float(np.sqrt(values[-1] / max(values[0], 1e-30)))


def _evened(W: Array) -> Array:
    """Eigenvalues of WᵀW with columns of equal length."""
    scale = np.linalg.norm(W, axis=0)
    even = W / np.where(scale > 0, scale, 1.0)
    return np.asarray(np.linalg.eigvalsh(even.T @ even), dtype=np.float64)


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

    In loops and with rolling, coordinates become independent in the order of `limits`; the others follow, and may have
    limits too. Expected forces are kept within their limits where the description has values to expect them from.
    """
    if criterion not in CRITERIA:
        raise IdentificationError(unknown_name("criterion", criterion, CRITERIA))
    chosen = _independent(model, limits)
    design = _Design(model, base or base_parameters(model), limits, chosen, (period, harmonics, samples), criterion)
    rng = np.random.default_rng(seed)
    starts = [rng.normal(size=design.size) for _ in range(_STARTS)]
    values = [design.judged(design.motion(x), design.first_places, _FAR)[0] for x in starts]
    if not np.any(np.array(values) < _UNREACHABLE):
        raise IdentificationError(f"no motion within the limits of {', '.join(chosen)} closes the loops. Narrow them.")
    x, history = _improved(design, starts[int(np.argmin(values))], rounds, progress or (lambda part: None))
    motion = _allowed(design, x)
    W = design.regressor(whole_motion(design.projector, motion, design.time))[:, :, list(design.base.columns)]
    return Excitation(motion, condition_of(W.reshape(-1, len(design.base))), tuple(history), model)


def _improved(design: _Design, x: Array, rounds: int, progress: Callable[[float], None]) -> tuple[Array, list[float]]:
    """The shape after quasi-Newton steps, and the criterion after each."""
    from scipy.optimize import OptimizeResult, minimize

    value, places = design.judged(design.motion(x), design.first_places, _FAR)
    history = [value]

    def follow(intermediate_result: OptimizeResult) -> None:
        history.append(float(intermediate_result.fun))
        progress(min(1.0, len(history) / (rounds + 1)))

    def value_and_slope(x: Array) -> tuple[float, Array]:
        nonlocal places
        near = None if design.first_places is None else places
        value, here = design.judged(design.motion(x), near, _NEAR)
        if here is None:
            return value, np.zeros(len(x))
        places = here
        return value, design.slope(x, value, None if near is None else here)

    found = minimize(
        value_and_slope, x, jac=True, method="L-BFGS-B", callback=follow, options={"maxiter": rounds, "maxls": 8}
    )
    return np.asarray(found.x), history


def _allowed(design: _Design, x: Array) -> FourierMotion:
    """The motion of a shape, made smaller until coordinates that follow and expected forces keep their limits."""
    for motion in (design.motion(x, smooth=False), *(design.motion(x).scaled(k / 20) for k in range(20, 0, -1))):
        states = whole_motion(design.projector, motion, design.time)
        if design.excess(states, design.regressor(states)) <= _ALLOWED:
            return motion
    kinds = "the coordinates that follow and the expected forces" if design.model.is_constrained else "expected forces"
    raise IdentificationError(f"no motion keeps {kinds} within their limits. Widen them, or slow down.")


def _independent(model: LinearModel, limits: Mapping[str, CoordinateLimits]) -> tuple[str, ...]:
    """The coordinates that get series: all, or as many as constraints leave free, in the order of the limits."""
    layout = model.equations.layout
    names, speeds = layout.coordinate_names, layout.speed_names
    for name in limits:
        if name not in names:
            raise IdentificationError(unknown_name("coordinate", name, names, "limits: "))
        if f"{name}'" not in speeds:
            raise UnsupportedError(
                f"limits: '{name}' has no speed of its own. Excitation is designed for coordinates whose rates are "
                "speeds (no quaternions)."
            )
    if not model.is_constrained:
        chosen = speeds if len(names) == len(speeds) else names
    else:
        projector = Projector(model)
        free = null_space(projector.at(np.zeros(1), projector.assembled[None, :]).matrix)[0]
        others = [k for k, speed in enumerate(speeds) if speed.removesuffix("'") not in names]
        chosen = [speeds[k] for k in independent_rows(free, [speeds.index(f"{n}'") for n in limits], others)]
    wanted = [name.removesuffix("'") for name in chosen]
    missing = [name for name in wanted if name not in limits]
    if missing:
        raise IdentificationError(f"limits of {', '.join(missing)} are missing.")
    return tuple(wanted)
