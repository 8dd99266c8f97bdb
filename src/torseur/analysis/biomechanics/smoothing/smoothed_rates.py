"""Angular velocities and accelerations from recorded rotations, velocities and accelerations from recorded points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.smoothing.kalman import KalmanNoise, kalman_smooth
from torseur.analysis.biomechanics.smoothing.rotation_group import antisymmetric, axial
from torseur.analysis.biomechanics.smoothing.savitzky_golay import polynomial_rotations, savitzky_golay
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
    w = antisymmetric(omega)
    return RotationRates(time, rotation, omega, alpha, (antisymmetric(alpha) + w @ w) @ rotation, method)


def _as_in_the_source(time: Array, rotation: Array) -> RotationRates:
    """Smoothing of R, cubic splines through it, smoothing of R̈; the smoothed matrices are no longer rotations."""
    from scipy.interpolate import CubicSpline

    smooth = savitzky_golay(rotation)
    spline = CubicSpline(time, smooth)
    second = savitzky_golay(np.asarray(spline(time, 2)))
    rates = _of_coefficients(time, smooth, np.asarray(spline(time, 1)), second, "")
    words = "Savitzky-Golay smoothing (3, 15) of R and of R̈, cubic splines between"
    return RotationRates(time, smooth, rates.omega, rates.alpha, second, words)
