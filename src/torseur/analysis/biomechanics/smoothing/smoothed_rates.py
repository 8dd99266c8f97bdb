"""Angular velocities and accelerations from recorded rotations, velocities and accelerations from recorded points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array, Slots
from torseur.algebra.spatial.rotation_arrays import (
    axial,
    exponential,
    logarithm,
    right_jacobian,
    skew,
)
from torseur.analysis.biomechanics.smoothing.kalman import KalmanNoise, kalman_smooth
from torseur.analysis.identification.data.differentiation import Derivatives, even_step
from torseur.errors import RecordingError

_OF_NUMBERS = ("central", "savitzky_golay", "spline")
METHODS = (*_OF_NUMBERS, "source", "kalman")


@dataclass(frozen=True, eq=False)
class RotationRates:
    """A rotation R (frames, 3, 3), its angular velocity ω and angular acceleration α (frames, 3) in laboratory axes.

    rad/s and rad/s². `second` is R̈ (frames, 3, 3); with exact data it is (α̃ + ω̃ ω̃) R.
    """

    time: Array
    rotation: Array
    omega: Array
    alpha: Array
    second: Array
    method: str

    def __str__(self) -> str:
        fastest, hardest = (float(np.max(np.linalg.norm(x, axis=1))) for x in (self.omega, self.alpha))
        return (
            f"{len(self.time)} frames, laboratory axes, by {self.method}: at most {fastest:.4g} rad/s and "
            f"{hardest:.4g} rad/s²"
        )


def rotation_rates(
    time: Array, rotation: Array, how: str | Derivatives = "savitzky_golay", noise: KalmanNoise | None = None
) -> RotationRates:
    """Angular velocity and acceleration of a recorded rotation, without gaps.

    central         differences of the nine coefficients, of second order, nothing smoothed
    savitzky_golay  polynomials of rotation vectors about each frame: stays a rotation
    spline          quintic splines of the nine coefficients (smoothing ones with Derivatives("spline", smoothing=σ))
    source          coefficients smoothed by Savitzky-Golay (3, 15), cubic splines, R̈ smoothed again (Monnet 2007)
    kalman          smoothing on the rotation group, with `noise` or the most likely one

    A `Derivatives` gives window and order, and the noise of splines.
    """
    chosen = Derivatives(how) if isinstance(how, str) and how in _OF_NUMBERS else how
    _require_whole(time, rotation)
    if isinstance(chosen, Derivatives):
        if chosen.method == "savitzky_golay":
            return _of_turning(time, *polynomial_rotations(rotation, even_step(time), chosen), chosen.words)
        return _of_coefficients(time, rotation, *_each(time, rotation, chosen), chosen.words)
    if chosen == "source":
        return _as_in_the_source(time, rotation)
    if chosen == "kalman":
        smoothed = kalman_smooth(rotation, even_step(time), noise)
        return _of_turning(time, smoothed.rotation, smoothed.omega, smoothed.alpha, smoothed.words)
    raise RecordingError(f"rates are found by {', '.join(METHODS)} or a Derivatives, not '{how}'.")


def point_rates(time: Array, points: Array, how: str | Derivatives = "savitzky_golay") -> tuple[Array, Array]:
    """Velocities and accelerations of points (frames, ..., 3), without gaps: central, savitzky_golay or spline."""
    _require_whole(time, points)
    if isinstance(how, str) and how not in _OF_NUMBERS:
        raise RecordingError(f"rates of points are found by {', '.join(_OF_NUMBERS)} or a Derivatives, not '{how}'.")
    return _each(time, points, Derivatives(how) if isinstance(how, str) else how)


def _require_whole(time: Array, values: Array) -> None:
    """Derivatives need every frame."""
    if len(values) != len(time):
        raise RecordingError(f"{len(values)} frames but {len(time)} times.")
    missing = np.flatnonzero(~np.isfinite(values.reshape(len(values), -1)).all(axis=1))
    if len(missing):
        raise RecordingError(
            f"frame {missing[0]} (t = {time[missing[0]]:.6g} s) is a gap, {len(missing)} frames in all: derivatives "
            "need every frame. Take the frames between gaps, or bridge gaps of markers first "
            "(--fill FRAMES, `fill_gaps` in Python)."
        )


def _each(time: Array, values: Array, how: Derivatives) -> tuple[Array, Array]:
    """First and second derivative of every column."""
    columns = values.reshape(len(values), -1).T
    pairs = [how.of(time, column) for column in columns]
    first, second = (np.column_stack([pair[k] for pair in pairs]).reshape(values.shape) for k in (0, 1))
    return first, second


def _of_coefficients(time: Array, rotation: Array, first: Array, second: Array, method: str) -> RotationRates:
    """ω̃ = Ṙ Rᵀ, and α from the antisymmetric part of R̈ Rᵀ."""
    back = np.swapaxes(rotation, 1, 2)
    return RotationRates(time, rotation, axial(first @ back), axial(second @ back), second, method)


def _of_turning(time: Array, rotation: Array, omega: Array, alpha: Array, method: str) -> RotationRates:
    w = skew(omega)
    return RotationRates(time, rotation, omega, alpha, (skew(alpha) + w @ w) @ rotation, method)


def _as_in_the_source(time: Array, rotation: Array) -> RotationRates:
    """Smoothing of R, cubic splines through it, smoothing of R̈; the smoothed matrices are no longer rotations."""
    from scipy.interpolate import CubicSpline

    smooth = savitzky_golay(rotation)
    spline = CubicSpline(time, smooth)
    second = savitzky_golay(np.asarray(spline(time, 2)))
    rates = _of_coefficients(time, smooth, np.asarray(spline(time, 1)), second, "")
    words = "Savitzky-Golay smoothing (3, 15) of R and of R̈, cubic splines between"
    return RotationRates(time, smooth, rates.omega, rates.alpha, second, words)


def savitzky_golay(values: Array, window: int = 15, order: int = 3) -> Array:
    """Values smoothed along the first axis; order 3 over 15 samples as in the source."""
    from scipy.signal import savgol_filter

    _require_length(len(values), window)
    return np.asarray(savgol_filter(values, window, order, axis=0, mode="interp"))


def polynomial_rotations(rotation: Array, step: float, how: Derivatives) -> tuple[Array, Array, Array]:
    """R, ω and α in laboratory axes, by polynomials of rotation vectors about each frame.

    Beside frame k the neighbours are R_k exp(φ(t)); the polynomial φ fitted to them gives the rotation R_k exp(φ), the
    angular velocity J(φ) φ' and its rate.
    """
    _require_length(len(rotation), how.window)
    half = how.window // 2
    count = len(rotation)
    # At the ends the window stays inside and the frame moves within it, as SciPy's mode "interp" does.
    first = np.clip(np.arange(count) - half, 0, count - how.window)
    places = first[:, None] + np.arange(how.window)
    about = np.swapaxes(rotation, 1, 2)[:, None] @ rotation[places]
    vectors = logarithm(about)
    weights = window_weights(np.arange(count) - first, how.window, how.order, step)
    phi, rate, second = (np.einsum("tw,twi->ti", weights[k], vectors) for k in range(3))
    smooth = rotation @ exponential(phi)
    omega, alpha = _rates_in_body_axes(phi, rate, second)
    return smooth, np.einsum("tij,tj->ti", smooth, omega), np.einsum("tij,tj->ti", smooth, alpha)


def window_weights(places: Slots, window: int, order: int, step: float) -> tuple[Array, Array, Array]:
    """Weights of the window's samples in value, first and second derivative at each place in it."""
    inverse = np.linalg.pinv(np.vander(np.arange(window) - window // 2, order + 1, increasing=True))
    s = places.astype(float)[:, None] - window // 2
    k = np.arange(order + 1)
    value = s**k
    first = np.where(k > 0, k * s ** np.maximum(k - 1, 0), 0.0)
    second = np.where(k > 1, k * (k - 1) * s ** np.maximum(k - 2, 0), 0.0)
    return value @ inverse, first @ inverse / step, second @ inverse / step**2


def _rates_in_body_axes(phi: Array, rate: Array, second: Array) -> tuple[Array, Array]:
    """ω and α in turned axes: ω = J(φ) φ', α its rate, with φ small (it is what smoothing moves a frame by)."""
    J = right_jacobian(phi)
    omega = np.einsum("tij,tj->ti", J, rate)
    # d/dt J(φ) φ' with J = 1 - φ̃/2 + φ̃²/6: the terms in φ' beside J φ''.
    bend = np.cross(rate, np.cross(phi, rate)) / 6
    return omega, np.einsum("tij,tj->ti", J, second) + bend


def _require_length(count: int, window: int) -> None:
    if count < window:
        raise RecordingError(f"a window of {window} samples is longer than the recording ({count}).")
