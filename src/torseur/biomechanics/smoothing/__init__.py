"""Smooth motions and their derivatives from noisy recordings."""

from torseur.biomechanics.smoothing.kalman import KalmanNoise, Smoothed, kalman_smoothed, most_likely_noise
from torseur.biomechanics.smoothing.rates import RotationRates, point_rates, rotation_rates
from torseur.biomechanics.smoothing.savitzky_golay import savitzky_golay

__all__ = [
    "KalmanNoise",
    "RotationRates",
    "Smoothed",
    "kalman_smoothed",
    "most_likely_noise",
    "point_rates",
    "rotation_rates",
    "savitzky_golay",
]
