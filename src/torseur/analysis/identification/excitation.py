"""Excitation design: motions within limits that make the parameters easy to tell apart.

Every independent coordinate follows a Fourier series q = q₀ + Σ (a_k sin kωt - b_k cos kωt) / (kω) (Swevers et al.
1997); where loops tie the others, these follow. Series are scaled to their own limits; what other coordinates and
forces exceed costs extra. Shapes are improved by quasi-Newton steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.identification.data.whole_states import Completion, RecordedStates
from torseur.analysis.identification.estimators.body_family import expected_parameters
from torseur.analysis.identification.model.base_parameters import BaseParameters, base_parameters
from torseur.analysis.identification.model.constraint_projector import Projector, null_space
from torseur.analysis.identification.model.linear_model import LinearModel
from torseur.derivation.loops.mobility.partition import independent_rows
from torseur.errors import IdentificationError, UnsupportedError, unknown_name

# Of the mean that stands for a maximum: a peak counts once in full, half of one by 6e-8.
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
        # v has the amplitudes a and b themselves, q their quotients by kω: harmonics of one size are as hard on the
        # drives.
        rate = 2 * np.pi / self.period * np.arange(1, self.a.shape[1] + 1)
        s, c = np.sin(np.outer(time, rate)), np.cos(np.outer(time, rate))
        q = self.offset + (s / rate) @ self.a.T - (c / rate) @ self.b.T
        return q, c @ self.a.T + s @ self.b.T, -(s * rate) @ self.a.T + (c * rate) @ self.b.T

    def scale(self, part: float) -> FourierMotion:
        """The same motion, smaller by a factor about its offsets."""
        return replace(self, a=part * self.a, b=part * self.b)


def fit_within(
    shape: FourierMotion, limits: tuple[CoordinateLimits, ...], placing: Array, sizes: Array, smooth: bool = False
) -> FourierMotion:
    """A shape as large as its limits allow, times `sizes`; `placing` (any numbers) says where in the room that is left.

    With `smooth` it is a little smaller: peaks are means of high powers, which change smoothly with the shape.
    """
    # 32 samples to the shortest wave: between two of them a peak is missed by half a percent at most.
    count = 32 * shape.a.shape[1]
    q, v, a = shape.at(np.arange(count) * shape.period / count)
    peak = _smooth_peak if smooth else _peak
    low, high = -peak(np.maximum(-q, 0.0)), peak(np.maximum(q, 0.0))
    span = np.array([limit.span for limit in limits])
    speed, acceleration = (np.array([getattr(x, kind) for x in limits]) for kind in ("speed", "acceleration"))
    fullness = np.stack([(high - low) / span, peak(np.abs(v)) / speed, peak(np.abs(a)) / acceleration])
    scale = 0.999 * sizes / np.maximum(peak(fullness), 1e-12)
    # tanh puts the motion somewhere in the room that is left, whatever number the search tries.
    slack = span - scale * (high - low)
    start = np.array([limit.position[0] for limit in limits]) - scale * low
    offset = start + slack * (0.5 + 0.5 * np.tanh(placing))
    return replace(shape, offset=offset, a=scale[:, None] * shape.a, b=scale[:, None] * shape.b)


def _peak(values: Array) -> Array:
    return np.asarray(values.max(axis=0))


def _smooth_peak(values: Array) -> Array:
    """A bound of the largest of non-negative values, above it by a few percent."""
    # A power mean of high order: differentiable where the place of the maximum jumps from one sample to another.
    highest = np.maximum(values.max(axis=0), 1e-300)
    return np.asarray(highest * np.sum((values / highest) ** _POWER, axis=0) ** (1 / _POWER))


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
    recorded = RecordedStates(time, parts[0], parts[1], parts[2], nothing, nothing, slots, slots, ())
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
        return expected_parameters(self.model, None)

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
        # x = [ a (n H) | b (n H) | placing (n) | sizes (n, where other limits count) ]
        a, b = x[: 2 * n * H].reshape(2, n, H)
        placing, sizes = x[2 * n * H : 2 * n * H + n], x[2 * n * H + n :]
        raw = FourierMotion(self.independent, self.shape[0], np.zeros(n), a, b)
        # tanh keeps sizes below one for any x, so that the search needs no bounds; 1 + starts random shapes large.
        parts = 0.5 + 0.5 * np.tanh(1 + sizes) if self.is_bounded else np.ones(n)
        return fit_within(raw, tuple(self.limits[name] for name in self.independent), placing, parts, smooth)

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
        return np.repeat(self.projector.assembled_coordinates[None, :], len(self.time), axis=0) if closes else None

    def judge(self, motion: FourierMotion, near: Array | None, steps: int) -> tuple[float, Array | None]:
        """The criterion of a motion with the cost of exceeded limits, and the places it passes; None out of reach."""
        try:
            states = whole_motion(self.projector, motion, self.time, near, steps)
        except IdentificationError:
            return _UNREACHABLE, None
        Y = self.regressor(states)
        W = Y[:, :, list(self.base.columns)].reshape(-1, len(self.base))
        excess = self.excess(states, Y)
        # D-optimality: the determinant of WᵀW does not depend on the units of parameters, its condition number does.
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

    def gradient(self, x: Array, value: float, near: Array | None) -> Array:
        """The gradient of the criterion by differences; loops are closed from where they were."""
        steps = [self.judge(self.motion(x + _STEP * unit), near, 1)[0] for unit in np.eye(len(x))]
        return (np.array(steps) - value) / _STEP


def mean_condition(W: Array) -> float:
    """The condition number in Frobenius' norm over the number of columns: smooth, unlike the usual one."""
    # κ_F = |W|_F |W⁺|_F / n = √(mean λ · mean 1/λ) of WᵀW: never below 1, and differentiable where eigenvalues cross.
    values = np.maximum(_normalised_eigenvalues(W), 1e-30)
    return float(np.sqrt(np.mean(values) * np.mean(1 / values)))


def condition_of(W: Array) -> float:
    """The condition number of a regressor with columns of equal length."""
    values = _normalised_eigenvalues(W)
    return float(np.sqrt(values[-1] / max(values[0], 1e-30)))


def _normalised_eigenvalues(W: Array) -> Array:
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
    # The criterion has many local minima: quasi-Newton steps from the best of some random shapes.
    starts = [rng.normal(size=design.size) for _ in range(_STARTS)]
    values = [design.judge(design.motion(x), design.first_places, _FAR)[0] for x in starts]
    if not np.any(np.array(values) < _UNREACHABLE):
        raise IdentificationError(f"no motion within the limits of {', '.join(chosen)} closes the loops. Narrow them.")
    x, history = _improve(design, starts[int(np.argmin(values))], rounds, progress or (lambda part: None))
    motion = _greatest_scale(design, x)
    W = design.regressor(whole_motion(design.projector, motion, design.time))[:, :, list(design.base.columns)]
    return Excitation(motion, condition_of(W.reshape(-1, len(design.base))), tuple(history), model)


def _improve(design: _Design, x: Array, rounds: int, progress: Callable[[float], None]) -> tuple[Array, list[float]]:
    """The shape after quasi-Newton steps, and the criterion after each."""
    from scipy.optimize import OptimizeResult, minimize

    value, places = design.judge(design.motion(x), design.first_places, _FAR)
    history = [value]

    def follow(intermediate_result: OptimizeResult) -> None:
        history.append(float(intermediate_result.fun))
        progress(min(1.0, len(history) / (rounds + 1)))

    def value_and_gradient(x: Array) -> tuple[float, Array]:
        nonlocal places
        near = None if design.first_places is None else places
        # Loops are closed from the configurations of the last motion judged: near, and on the same branch.
        value, here = design.judge(design.motion(x), near, _NEAR)
        if here is None:
            return value, np.zeros(len(x))
        places = here
        return value, design.gradient(x, value, None if near is None else here)

    optimum = minimize(
        value_and_gradient, x, jac=True, method="L-BFGS-B", callback=follow, options={"maxiter": rounds, "maxls": 8}
    )
    return np.asarray(optimum.x), history


def _greatest_scale(design: _Design, x: Array) -> FourierMotion:
    """The motion of a shape, made smaller until coordinates that follow and expected forces keep their limits."""
    for motion in (design.motion(x, smooth=False), *(design.motion(x).scale(k / 20) for k in range(20, 0, -1))):
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
        free = null_space(projector.at(np.zeros(1), projector.assembled_coordinates[None, :]).matrix)[0]
        others = [k for k, speed in enumerate(speeds) if speed.removesuffix("'") not in names]
        chosen = [speeds[k] for k in independent_rows(free, [speeds.index(f"{n}'") for n in limits], others)]
    wanted = [name.removesuffix("'") for name in chosen]
    missing = [name for name in wanted if name not in limits]
    if missing:
        raise IdentificationError(f"limits of {', '.join(missing)} are missing.")
    return tuple(wanted)
