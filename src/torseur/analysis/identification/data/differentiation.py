"""Speeds and accelerations from recorded coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.errors import IdentificationError

METHODS = ("cross_validated", "central", "savitzky_golay", "spline", "fourier")
_SMOOTHEST, _LEAST = 14.0, -4.0  # powers of ten of λ: a parabola, and the samples themselves
_SEARCHED = 10  # steps of the search within a power of ten


@dataclass(frozen=True)
class Derivatives:
    """How a coordinate is differentiated twice.

    cross_validated a quintic spline, as smooth as predicts samples that are left out best (Woltring 1986)
    central         second-order differences of neighbours
    savitzky_golay  a polynomial of `order` over `window` samples around each (3 and 15 as in Monnet 2007)
    spline          a smoothing quintic spline; `smoothing` is the standard deviation of the coordinate's noise
    fourier         a Fourier series with `harmonics` of the recording's own period, for periodic motions
    """

    method: str = "savitzky_golay"
    window: int = 15
    order: int = 3
    smoothing: float = 0.0
    harmonics: int = 5

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise IdentificationError(f"derivatives are by {', '.join(METHODS)}, not '{self.method}'.")
        if self.window % 2 == 0 or self.order >= self.window or self.order < 2:
            raise IdentificationError("a Savitzky-Golay window is odd and longer than its order, which is at least 2.")
        if self.harmonics < 1 or not self.smoothing >= 0:
            raise IdentificationError("a Fourier series has at least one harmonic, and smoothing is not negative.")

    @property
    def words(self) -> str:
        return {
            "cross_validated": "quintic splines smoothed by cross-validation",
            "central": "central differences",
            "savitzky_golay": f"Savitzky-Golay polynomials of order {self.order} over {self.window} samples",
            "spline": "smoothing quintic splines",
            "fourier": f"Fourier series with {self.harmonics} harmonics",
        }[self.method]

    @property
    def least_samples(self) -> int:
        """How many consecutive samples it takes."""
        return {
            "cross_validated": 12,
            "central": 5,
            "savitzky_golay": self.window,
            "spline": 6,
            "fourier": 2 * self.harmonics + 2,
        }[self.method]

    @property
    def margin(self) -> int:
        """Samples at either end whose derivatives are extrapolated from those inside."""
        return {"cross_validated": 10, "central": 1, "savitzky_golay": self.window // 2, "spline": 3, "fourier": 0}[
            self.method
        ]

    def of(self, time: Array, values: Array) -> tuple[Array, Array]:
        """First and second derivative at every sample."""
        if self.method == "spline":
            return _spline(time, values, self.smoothing)
        step = even_step(time)
        if self.method == "cross_validated":
            return _spline(time, cross_validated(values), 0.0)
        if self.method == "central":
            return _central(values, step)
        if self.method == "fourier":
            return _fourier(time, values, step, self.harmonics)
        from scipy.signal import savgol_filter

        if len(time) < self.window:
            raise IdentificationError(f"a window of {self.window} samples is longer than the recording ({len(time)}).")
        first, second = (
            savgol_filter(values, self.window, self.order, deriv=k, delta=step, mode="interp") for k in (1, 2)
        )
        return first, second


def even_step(time: Array) -> float:
    """The time between samples, which must be the same throughout."""
    steps = np.diff(time)
    step = float(np.median(steps))
    worst = int(np.argmax(np.abs(steps - step)))
    if abs(steps[worst] - step) > 1e-3 * step:
        raise IdentificationError(
            f"samples are not evenly spaced: {steps[worst]:.6g} s after t = {time[worst]:.6g} s, not {step:.6g} s. "
            "A gap? Ask for gaps to be left out, or use splines for the derivatives."
        )
    return step


def _central(values: Array, step: float) -> tuple[Array, Array]:
    # Second order inside and at the ends.
    first = np.gradient(values, step, edge_order=2)
    second = np.empty_like(values)
    second[1:-1] = (values[2:] - 2 * values[1:-1] + values[:-2]) / step**2
    # No neighbour beyond the ends: extrapolated, and left out where the recording is long enough (`margin`).
    second[0], second[-1] = 2 * second[1] - second[2], 2 * second[-2] - second[-3]
    return first, second


def _spline(time: Array, values: Array, noise: float) -> tuple[Array, Array]:
    from scipy.interpolate import UnivariateSpline

    # s is the sum of squared residuals that may be left: n times the variance of the noise (Reinsch 1967).
    fitted = UnivariateSpline(time, values, k=5, s=len(time) * noise**2)
    return np.asarray(fitted.derivative(1)(time)), np.asarray(fitted.derivative(2)(time))


def cross_validated(values: Array) -> Array:
    """Evenly spaced values z as smooth as predicts left-out samples best: |y - z|² + λ |Δ³ z|² is least.

    Generalised cross-validation: (1 + λ Δ³ᵀΔ³) z = y, and λ for which n |y - z|² / (n - tr H)² is least. The noise of
    encoders is white, so that samples beside one that is left out tell nothing of its error.
    """
    from scipy.linalg import solveh_banded

    count, bands = len(values), _third_differences(len(values))
    # Eigenvalues of Δ³ᵀΔ³ away from the ends; parabolas are left as they are.
    eigenvalues = (2 - 2 * np.cos(np.pi * np.arange(3, count) / count)) ** 3

    def smooth(power: float) -> tuple[float, Array]:
        system = 10.0**power * bands
        system[-1] += 1.0
        z = np.asarray(solveh_banded(system, values), dtype=float)
        free = count - 3 - float(np.sum(1 / (1 + 10.0**power * eigenvalues)))
        return float(np.sum((values - z) ** 2)) / free**2, z

    powers = np.arange(_LEAST, _SMOOTHEST + 1)
    best = float(powers[np.argmin([smooth(power)[0] for power in powers])])
    fine = best + np.linspace(-1, 1, 2 * _SEARCHED + 1)
    return min((smooth(float(power)) for power in fine), key=lambda found: found[0])[1]


def _third_differences(count: int) -> Array:
    """Δ³ᵀΔ³ by its upper diagonals, the main one last, as banded solvers take it."""
    row, bands = np.array([-1.0, 3.0, -3.0, 1.0]), np.zeros((4, count))
    for i in range(4):
        for j in range(i, 4):
            bands[3 - (j - i), j : j + count - 3] += row[i] * row[j]
    return bands


def _fourier(time: Array, values: Array, step: float, harmonics: int) -> tuple[Array, Array]:
    omega = 2 * np.pi / (step * len(time)) * np.arange(1, harmonics + 1)
    phase = np.outer(time - time[0], omega)
    basis = np.hstack([np.ones((len(time), 1)), np.cos(phase), np.sin(phase)])
    _, *amplitudes = np.linalg.lstsq(basis, values, rcond=None)[0]
    a, b = np.array(amplitudes[:harmonics]), np.array(amplitudes[harmonics:])
    first = np.cos(phase) @ (omega * b) - np.sin(phase) @ (omega * a)
    return first, -(np.cos(phase) @ (omega**2 * a) + np.sin(phase) @ (omega**2 * b))
