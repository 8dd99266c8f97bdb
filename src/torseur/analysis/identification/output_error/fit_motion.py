"""Parameters and initial states that make the simulated motion follow recorded ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.analysis.identification.output_error.output_model import OutputModel
from torseur.analysis.identification.results.fit_checks import FitCheck
from torseur.analysis.identification.results.fits import Fit
from torseur.computation.simulation.model.first_order_form import Model
from torseur.computation.simulation.simulate import simulate
from torseur.errors import IdentificationError, TorseurError, UnsupportedError

METHODS = ("gauss_newton", "adjoint")
_UNFELT, _MIXED, _APART = 1e-9, 1e-7, 1e-4
_TOO_FAR = (TorseurError, ArithmeticError, np.linalg.LinAlgError)  # loops that do not close, masses that vanish


@dataclass(frozen=True, eq=False)
class Recording:
    """Quantities recorded along one motion (SI), with the state it began in and parameters of its own."""

    time: Array
    channels: Mapping[str, Array]
    initial: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)
    name: str = "recording"

    def __post_init__(self) -> None:
        if not self.channels:
            raise IdentificationError(f"recording '{self.name}' has no channels.")
        if len(self.time) < 2 or np.any(np.diff(self.time) <= 0):
            raise IdentificationError(f"recording '{self.name}': time must increase over at least two samples.")
        for channel, values in self.channels.items():
            if len(values) != len(self.time):
                raise IdentificationError(
                    f"recording '{self.name}': '{channel}' has {len(values)} samples, time has {len(self.time)}."
                )
            if not np.all(np.isfinite(values)):
                bad = int(np.argmax(~np.isfinite(values)))
                raise IdentificationError(
                    f"recording '{self.name}': '{channel}' is not a number at t = {self.time[bad]:.6g} s."
                )

    def table(self, names: Sequence[str]) -> Array:
        return np.column_stack([self.channels[name] for name in names])


@dataclass(frozen=True, eq=False)
class MotionEstimate:
    """Unknowns with their covariance, the cost by iteration, and the recordings with what is computed instead.

    Unknowns that the recordings do not tell keep their start value, or one of many, with an infinite deviation.
    """

    names: tuple[str, ...]
    values: Array
    covariance: Array
    history: tuple[float, ...]
    converged: bool
    fits: tuple[Fit, ...]
    method: str
    checks: tuple[FitCheck, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def trusted(self) -> bool:
        """Whether every check of the fit holds."""
        return all(check.ok for check in self.checks)

    @property
    def deviation(self) -> Array:
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def __getitem__(self, name: str) -> float:
        return float(self.values[self.names.index(name)])

    def __str__(self) -> str:
        rows = [f"{n}  {v:.9g} ± {s:.2g}" for n, v, s in zip(self.names, self.values, self.deviation, strict=True)]
        rows += [f"fit of {fit.name}: {100 * fit.relative:.3g} %" for fit in self.fits]
        rows += [f"{'ok ' if check.ok else 'BAD'} {check.title}: {check.detail}" for check in self.checks]
        return "\n".join([*rows, *(f"warning: {text}" for text in self.warnings)])


def fit_motion(
    model: Model,
    recordings: Sequence[Recording],
    unknown: Mapping[str, float],
    *,
    method: str = "gauss_newton",
    rtol: float = 1e-9,
    rounds: int = 50,
    verify: bool = True,
    progress: Callable[[float], None] | None = None,
) -> MotionEstimate:
    """Values of unknown parameters and initial states (given by their start values) that explain the recordings.

    gauss_newton  Levenberg-Marquardt with the exact derivatives of every sample, by the direct method
    adjoint       quasi-Newton with the exact gradient of the whole cost, by the adjoint method: for many unknowns

    `verify` simulates the first recording once more, apart from the fit.
    """
    if method not in METHODS:
        raise IdentificationError(f"method is {' or '.join(METHODS)}, not '{method}'.")
    if not recordings or not unknown:
        raise IdentificationError("an output-error fit needs recordings, and unknowns with a value to start from.")
    outputs = tuple(recordings[0].channels)
    for recording in recordings:
        if set(recording.channels) != set(outputs):
            raise IdentificationError(f"recording '{recording.name}' has other channels than '{recordings[0].name}'.")
    whole = _Task(OutputModel.of(model, tuple(unknown), outputs), tuple(recordings), rtol)
    values = np.array([float(x) for x in unknown.values()])
    felt = whole.felt_unknowns(values)
    task = whole.holding(values, felt)
    solve = _gauss_newton if method == "gauss_newton" else _quasi_newton
    optimum, history, converged = solve(task, values[felt], rounds, progress or (lambda part: None))
    values[felt] = optimum
    part, fits, mixed = task.certainty(optimum)
    covariance = np.diag(np.where(felt, 0.0, np.inf))
    covariance[np.ix_(felt, felt)] = part
    warnings = _warnings([n for n, here in zip(unknown, felt, strict=True) if not here], mixed, converged, rounds)
    checks = [FitCheck(converged, "The fit converged", f"{len(history)} rounds, at most {rounds}")]
    if verify:
        checks.append(_simulate_apart(model, whole, values, fits[0]))
    return MotionEstimate(
        tuple(unknown), values, covariance, tuple(history), converged, fits, method, tuple(checks), warnings
    )


def _simulate_apart(model: Model, task: _Task, values: Array, fit: Fit) -> FitCheck:
    """The first recording by `simulate`, which shares no derivative and no recorded step with the fit."""
    parameters, initial = task.values_for(task.recordings[0], values)
    time = np.asarray(fit.time, dtype=float)
    states = {q.name for q in task.variation.system.states}
    outputs = [name for name in fit.equations if name not in states]
    motion = simulate(
        model, float(time[-1]), start=float(time[0]), samples=time, parameters=parameters, initial=initial,
        outputs=outputs, rtol=task.rtol,
    )  # fmt: skip
    again = np.column_stack([motion[name] for name in fit.equations])
    apart = float(np.max(np.abs(again - fit.predicted) * task.weights))
    # Of the channel's own spread; chaotic motions part by more than the tolerance of a step.
    return FitCheck(
        apart < _APART, "The motion, simulated apart, is the fitted one", f"{apart:.2g} of a channel's spread at most"
    )


def _warnings(unfelt: Sequence[str], mixed: Sequence[str], converged: bool, rounds: int) -> tuple[str, ...]:
    warnings = []
    if unfelt:
        warnings.append(f"what was recorded does not depend on {', '.join(unfelt)}: start values were kept.")
    if mixed:
        warnings.append(f"these recordings do not tell {', '.join(mixed)} apart: one of many values is given.")
    if not converged:
        warnings.append(f"the fit did not settle within {rounds} rounds.")
    return tuple(warnings)


@dataclass(frozen=True, eq=False)
class _Task:
    variation: OutputModel
    recordings: tuple[Recording, ...]
    rtol: float

    @property
    def weights(self) -> Array:
        """One over the size of each channel: channels of different units count alike."""
        together = np.vstack([r.table(self.variation.outputs) for r in self.recordings])
        # Of all recordings together: a recording that hardly moves would otherwise weigh its noise as much as others
        # their motion.
        spread = np.std(together, axis=0)
        return 1 / np.where(spread > 0, spread, 1.0)

    def felt_unknowns(self, values: Array) -> Mask:
        """Which unknowns the recorded quantities depend on at all."""
        jacobian = self.residuals(values)[1]
        sizes = np.linalg.norm(jacobian, axis=0) * _sizes(values)
        is_felt: Mask = sizes > _UNFELT * np.sqrt(len(jacobian))  # parts of the channels' own spread
        if not is_felt.any():
            raise IdentificationError("unexcited motion: what was recorded depends on none of the unknowns.")
        return is_felt

    def holding(self, values: Array, free: Mask) -> _Task:
        """The task of some unknowns, with the others at their values."""
        if free.all():
            return self
        held = {n: float(x) for n, x, is_free in zip(self.variation.unknown, values, free, strict=True) if not is_free}
        states = {q.name for q in self.variation.system.states}
        recordings = tuple(
            replace(
                r,
                parameters={**r.parameters, **{k: x for k, x in held.items() if k not in states}},
                initial={**r.initial, **{k: x for k, x in held.items() if k in states}},
            )
            for r in self.recordings
        )
        left = tuple(name for name in self.variation.unknown if name not in held)
        return _Task(replace(self.variation, unknown=left), recordings, self.rtol)

    def values_for(self, recording: Recording, values: Array) -> tuple[dict[str, float], dict[str, float]]:
        """Parameters and initial state of a recording with the unknowns at their values."""
        states = {q.name for q in self.variation.system.states}
        named = dict(zip(self.variation.unknown, values.tolist(), strict=True))
        parameters = {**recording.parameters, **{k: x for k, x in named.items() if k not in states}}
        return parameters, {**recording.initial, **{k: x for k, x in named.items() if k in states}}

    def residuals(self, values: Array) -> tuple[Array, Array]:
        """Weighted residuals of all samples and their derivatives."""
        parts, jacobian = [], []
        for recording in self.recordings:
            z, dz = self.variation.outputs_with_derivatives(
                np.asarray(recording.time, dtype=float), *self.values_for(recording, values), self.rtol
            )
            parts.append(((z - recording.table(self.variation.outputs)) * self.weights).ravel())
            jacobian.append((dz * self.weights[:, None]).reshape(-1, len(values)))
        return np.concatenate(parts), np.vstack(jacobian)

    def cost(self, values: Array) -> tuple[float, Array]:
        """The cost and its gradient by the adjoint method."""
        total, gradient = 0.0, np.zeros(len(values))
        for recording in self.recordings:
            cost, own_gradient, _ = self.variation.cost_gradient(
                np.asarray(recording.time, dtype=float), recording.table(self.variation.outputs), self.weights,
                *self.values_for(recording, values), self.rtol,
            )  # fmt: skip
            total, gradient = total + cost, gradient + own_gradient
        return total, gradient

    def certainty(self, values: Array) -> tuple[Array, tuple[Fit, ...], list[str]]:
        """Covariance by the residual's variance, recordings beside their simulation, and unknowns not told apart."""
        residual, jacobian = self.residuals(values)
        variance = float(residual @ residual) / max(len(residual) - len(values), 1)
        covariance, mixed = _covariance(jacobian, _sizes(values), variance)
        fits, start, names, units = [], 0, self.variation.outputs, self.variation.units
        for recording in self.recordings:
            measured = recording.table(names)
            part = residual[start : start + measured.size].reshape(measured.shape) / self.weights
            start += measured.size
            fits.append(Fit(recording.name, np.asarray(recording.time), names, units, measured, measured + part))
        return (
            covariance,
            tuple(fits),
            [name for name, is_mixed in zip(self.variation.unknown, mixed, strict=True) if is_mixed],
        )


def _sizes(values: Array) -> Array:
    """What counts as a large change of each unknown: its own size, one where it is zero."""
    return np.where(values != 0, np.abs(values), 1.0)


def _covariance(jacobian: Array, sizes: Array, variance: float) -> tuple[Array, Mask]:
    """(SᵀS)⁻¹ times the variance, and the unknowns that only occur together; theirs is infinite."""
    # Relative changes of the unknowns; small singular values are combinations that no sample feels.
    _, values, right = np.linalg.svd(jacobian * sizes, full_matrices=False)
    determined = values > _MIXED * values[0]
    mixed: Mask = np.any(np.abs(right[~determined]) > 0.1, axis=0)
    whitened = right[determined].T / values[determined]
    covariance = variance * (whitened @ whitened.T) * np.outer(sizes, sizes)
    covariance[mixed, mixed] = np.inf
    return covariance, mixed


Iterations = tuple[Array, list[float], bool]


def _gauss_newton(task: _Task, start: Array, rounds: int, progress: Callable[[float], None]) -> Iterations:
    """Levenberg-Marquardt; a motion that fails counts as a step too far."""
    values, damping = start, 1e-3
    residual, jacobian = task.residuals(values)
    history, converged = [0.5 * float(residual @ residual)], False
    for turn in range(rounds):
        # Damping relative to the columns (Marquardt 1963), so that units of the unknowns do not matter.
        scale = np.maximum(np.linalg.norm(jacobian, axis=0), 1e-300)
        stacked = np.vstack([jacobian / scale, np.sqrt(damping) * np.eye(len(values))])
        right = np.concatenate([-residual, np.zeros(len(values))])
        step = np.linalg.lstsq(stacked, right, rcond=None)[0] / scale
        try:
            new, new_jacobian = task.residuals(values + step)
            cost = 0.5 * float(new @ new)
        except _TOO_FAR:
            cost = np.inf
        if cost < history[-1]:
            small = float(np.max(np.abs(step) / np.maximum(np.abs(values), 1e-12))) < 1e-10
            converged = small or history[-1] - cost <= 1e-12 * history[-1]
            values, residual, jacobian = values + step, new, new_jacobian
            history.append(cost)
            # Towards Gauss-Newton after a step that helped, towards the gradient after one that did not.
            damping = max(damping * 0.1, 1e-14)
        else:
            damping *= 10
            converged = damping > 1e6
        progress((turn + 1) / rounds)
        if converged:
            break
    return values, history, converged


def _quasi_newton(task: _Task, start: Array, rounds: int, progress: Callable[[float], None]) -> Iterations:
    """L-BFGS on values relative to their start."""
    from scipy.optimize import minimize

    scale = np.where(start != 0, np.abs(start), 1.0)
    history: list[float] = []

    def relative(x: Array) -> tuple[float, Array]:
        try:
            cost, gradient = task.cost(x * scale)
        except UnsupportedError:  # what the adjoint does not go back through is no matter of the values
            raise
        except _TOO_FAR:
            return 1e30, np.zeros(len(x))
        history.append(cost)
        progress(min(1.0, len(history) / (2 * rounds)))
        return cost, gradient * scale

    optimum = minimize(
        relative, start / scale, jac=True, method="L-BFGS-B", options={"maxiter": rounds, "ftol": 1e-15, "gtol": 1e-10}
    )
    return np.asarray(optimum.x) * scale, [float(x) for x in np.minimum.accumulate(history)], bool(optimum.success)
