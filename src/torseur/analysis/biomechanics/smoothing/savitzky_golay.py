"""Savitzky and Golay's moving polynomials, of numbers and of rotations."""

from __future__ import annotations

import numpy as np

from torseur.algebra.arrays import Array, Slots
from torseur.analysis.biomechanics.smoothing.rotation_group import exponential, logarithm, right_jacobian
from torseur.analysis.identification.data.differentiation import Derivatives
from torseur.errors import RecordingError


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
