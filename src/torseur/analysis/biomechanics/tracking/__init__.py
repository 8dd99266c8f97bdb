"""Mechanisms that follow recorded markers."""

from torseur.analysis.biomechanics.tracking.inverse_kinematics import FittedMotion, inverse_kinematics
from torseur.analysis.biomechanics.tracking.marker_model import MarkerModel

__all__ = ["FittedMotion", "MarkerModel", "inverse_kinematics"]
