"""Rates of recorded rotations against closed forms, exact and with noise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from analysis.biomechanics.motions import turning
from torseur.algebra.spatial.rotation_arrays import (
    axial,
    exponential,
    logarithm,
    right_jacobian,
    skew,
)
from torseur.analysis.biomechanics import kalman_smooth, point_rates, rotation_rates
from torseur.analysis.biomechanics.smoothing import KalmanNoise, savitzky_golay
from torseur.analysis.identification import Derivatives
from torseur.errors import RecordingError

TIME = np.arange(300) * 0.01
INNER = slice(15, -15)


def rms(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.sqrt(np.mean((a - b)[INNER] ** 2)))


def test_group_operations_agree_with_scipy():
    vectors = np.random.default_rng(0).normal(size=(200, 3))
    vectors[:3] *= 1e-9
    vectors[3] = [np.pi - 1e-9, 0, 0]
    R = Rotation.from_rotvec(vectors)
    assert np.allclose(exponential(vectors), R.as_matrix(), atol=1e-14)
    assert np.allclose(logarithm(R.as_matrix()), R.as_rotvec(), atol=1e-8)
    assert np.allclose(axial(skew(vectors)), vectors)


def test_right_jacobian_is_the_rate_of_the_exponential():
    """Oracle: central differences of Rᵀ R'."""
    phi, d, e = np.array([0.4, -0.7, 0.2]), np.array([0.3, 0.1, -0.5]), 1e-6
    rate = (exponential(phi + e * d) - exponential(phi - e * d)) / (2 * e)
    assert np.allclose(axial(exponential(phi).T @ rate), right_jacobian(phi) @ d, atol=1e-9)


@pytest.mark.parametrize(("how", "omega_error", "alpha_error"), [
    ("central", 1e-3, 3e-3),
    ("savitzky_golay", 1e-4, 5e-2),
    (Derivatives("savitzky_golay", window=9, order=4), 1e-5, 1e-4),
    ("spline", 1e-6, 1e-5),
    ("source", 1e-3, 1e-2),
    ("kalman", 1e-3, 1e-2),
], ids=str)  # fmt: skip
def test_exact_rotations_give_exact_rates(how, omega_error, alpha_error):
    R, omega, alpha = turning(TIME)
    found = rotation_rates(TIME, R, how)
    assert rms(found.omega, omega) < omega_error
    assert rms(found.alpha, alpha) < alpha_error
    second = (skew(alpha) + skew(omega) @ skew(omega)) @ R
    assert rms(found.second, second) < 2 * alpha_error


@pytest.fixture(scope="module")
def noisy() -> np.ndarray:
    R, _, _ = turning(TIME)
    return R @ exponential(0.01 * np.random.default_rng(4).normal(size=(len(TIME), 3)))


def test_smoothing_ranks_as_it_should_on_noise(noisy):
    """Plain differences are hopeless, polynomials help, the Kalman smoother is best."""
    _, omega, alpha = turning(TIME)
    found = {how: rotation_rates(TIME, noisy, how) for how in ("central", "savitzky_golay", "kalman")}
    errors = [rms(rates.omega, omega) for rates in found.values()]
    bends = [rms(rates.alpha, alpha) for rates in found.values()]
    assert errors[0] > 4 * errors[1] > 8 * errors[2]
    assert bends[0] > 50 * bends[1] > 100 * bends[2]


def test_kalman_knows_its_noise_and_its_errors(noisy):
    """The most likely noise is the one that was added; errors lie within the deviations it tells."""
    R, omega, _ = turning(TIME)
    found = kalman_smooth(noisy, 0.01)
    assert found.noise.rotation == pytest.approx(0.01, rel=0.1)
    apart = logarithm(np.swapaxes(found.rotation, 1, 2) @ R)
    assert 0.5 < np.sqrt(np.mean((apart / found.deviation[:, 0])[INNER] ** 2)) < 1.5
    assert 0.4 < np.sqrt(np.mean(((found.omega - omega) / found.deviation[:, 1])[INNER] ** 2)) < 1.6
    assert np.abs(found.rotation @ np.swapaxes(found.rotation, 1, 2) - np.eye(3)).max() < 1e-12


def test_kalman_bridges_a_gap():
    R, _, _ = turning(TIME)
    holes = R.copy()
    holes[100:106] = np.nan
    found = kalman_smooth(holes, 0.01, KalmanNoise(1e-3, 100.0))
    assert np.abs(logarithm(np.swapaxes(found.rotation, 1, 2) @ R)).max() < 5e-3
    assert found.deviation[103, 0, 0] > 1.5 * found.deviation[50, 0, 0]


def test_points_and_smoothing_of_a_cubic():
    """Oracle: polynomials of order 3 are reproduced exactly."""
    time = np.arange(40) * 0.1
    cubic = np.stack([time**3, time - time**2, 2 * time], axis=1)
    assert np.allclose(savitzky_golay(cubic), cubic)
    velocity, acceleration = point_rates(time, cubic)
    assert np.allclose(velocity, np.stack([3 * time**2, 1 - 2 * time, 0 * time + 2], axis=1))
    assert np.allclose(acceleration, np.stack([6 * time, 0 * time - 2, 0 * time], axis=1), atol=1e-9)


@pytest.mark.parametrize(("call", "message"), [
    (lambda R: rotation_rates(TIME, R, "magic"), "not 'magic'"),
    (lambda R: rotation_rates(TIME[:5], R[:5]), "window of 15 samples is longer"),
    (lambda R: rotation_rates(TIME[:5], R), "300 frames but 5 times"),
    (lambda R: rotation_rates(TIME, np.where(np.arange(300)[:, None, None] == 7, np.nan, R)), r"frame 7 \(t = 0.07 s\) is a gap"),
    (lambda R: kalman_smooth(np.full((9, 3, 3), np.nan), 0.01), "at least four frames"),
    (lambda R: KalmanNoise(0.0, 1.0), "numbers above zero"),
])  # fmt: skip
def test_refusals(call, message):
    with pytest.raises(RecordingError, match=message):
        call(turning(TIME)[0])


@pytest.mark.parametrize("how", ["central", "savitzky_golay", "spline"])
def test_points_are_differentiated_by_name(how):
    """Oracle: the derivatives of a parabola, which every one of the three has exactly."""
    t = np.linspace(0, 1, 60)
    points = np.stack([t**2, 3 * t, 0 * t], axis=1)
    first, second = point_rates(t, points, how)
    assert np.allclose(first[4:-4], np.stack([2 * t, 3 + 0 * t, 0 * t], axis=1)[4:-4], atol=1e-9)
    assert np.allclose(second[4:-4], [2.0, 0.0, 0.0], atol=1e-6)


def test_rates_of_points_that_do_not_exist_are_named():
    with pytest.raises(RecordingError, match="central, savitzky_golay, spline or a Derivatives, not 'kalman'"):
        point_rates(np.arange(9.0), np.zeros((9, 3)), "kalman")
