"""Mechanisms that follow recorded markers."""

from torseur.analysis.biomechanics.tracking.fitted_motion import FittedMotion
from torseur.analysis.biomechanics.tracking.inverse_kinematics import inverse_kinematics
from torseur.analysis.biomechanics.tracking.marker_model import MarkerModel

__all__ = ["FittedMotion", "MarkerModel", "inverse_kinematics"]
