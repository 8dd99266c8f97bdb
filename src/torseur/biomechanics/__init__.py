"""Markers and force plates to motions, joint moments and a person's own inertias."""

from torseur.biomechanics.anthropometry import Anthropometry, anthropometry
from torseur.biomechanics.axes import NOT_STATED, OPENSIM_AXES, Z_UP, Axes
from torseur.biomechanics.body_in_motion import BodyInMotion
from torseur.biomechanics.files import (
    read_c3d,
    read_csv,
    read_mot,
    read_motion,
    read_trc,
    write_c3d,
    write_csv,
    write_mot,
    write_trc,
)
from torseur.biomechanics.force_plates import PlateRecord
from torseur.biomechanics.gaps import filled
from torseur.biomechanics.ground_reaction import Reaction, ground_reaction
from torseur.biomechanics.human36 import SegmentInertia, human36
from torseur.biomechanics.joint_centres import JointCentre, mean_helical_axis, score
from torseur.biomechanics.joint_motion import JointMotion, joint_motion
from torseur.biomechanics.label_check import label_faults, require_labels
from torseur.biomechanics.markers import Gap, Markers
from torseur.biomechanics.motion_trial import Analog, MotionTrial
from torseur.biomechanics.segment_motion import SegmentMotion, segment_motion
from torseur.biomechanics.smoothing import kalman_smoothed, point_rates, rotation_rates
from torseur.biomechanics.tracking import FittedMotion, MarkerModel, inverse_kinematics
from torseur.biomechanics.trial_dynamics import TrialDynamics, trial_dynamics

__all__ = [
    "NOT_STATED", "OPENSIM_AXES", "Z_UP", "Analog", "Anthropometry", "Axes", "BodyInMotion", "FittedMotion", "Gap",
    "JointCentre", "JointMotion", "MarkerModel", "Markers", "MotionTrial", "PlateRecord", "Reaction",
    "SegmentInertia", "SegmentMotion", "TrialDynamics", "anthropometry", "filled", "ground_reaction", "human36",
    "inverse_kinematics", "joint_motion", "kalman_smoothed", "label_faults", "mean_helical_axis", "point_rates",
    "read_c3d", "read_csv", "read_mot", "read_motion", "read_trc", "require_labels", "rotation_rates", "score",
    "segment_motion", "trial_dynamics", "write_c3d", "write_csv", "write_mot", "write_trc",
]  # fmt: skip
