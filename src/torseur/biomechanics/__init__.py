"""Markers and force plates to motions, joint moments and a person's own inertias."""

from torseur.biomechanics.axes import NOT_STATED, OPENSIM_AXES, Z_UP, Axes
from torseur.biomechanics.force_plates import PlateRecord
from torseur.biomechanics.markers import Gap, Markers
from torseur.biomechanics.motion_trial import Analog, MotionTrial

__all__ = ["NOT_STATED", "OPENSIM_AXES", "Z_UP", "Analog", "Axes", "Gap", "Markers", "MotionTrial", "PlateRecord"]
