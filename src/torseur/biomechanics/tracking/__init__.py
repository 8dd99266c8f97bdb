"""Mechanisms that follow recorded markers."""

from torseur.biomechanics.tracking.fitted_motion import FittedMotion
from torseur.biomechanics.tracking.inverse_kinematics import inverse_kinematics
from torseur.biomechanics.tracking.marker_model import MarkerModel

__all__ = ["FittedMotion", "MarkerModel", "inverse_kinematics"]
