"""Smooth motions and their derivatives from noisy recordings."""

from torseur.analysis.biomechanics.smoothing.kalman import (
    KalmanNoise,
    SmoothedRotation,
    kalman_smooth,
    most_likely_noise,
)
from torseur.analysis.biomechanics.smoothing.smoothed_rates import (
    RotationRates,
    point_rates,
    rotation_rates,
    savitzky_golay,
)

__all__ = [
    "KalmanNoise",
    "RotationRates",
    "SmoothedRotation",
    "kalman_smooth",
    "most_likely_noise",
    "point_rates",
    "rotation_rates",
    "savitzky_golay",
]
