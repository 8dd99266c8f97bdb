"""Markers and force plates to motions, joint moments and a person's own inertias."""

from torseur.analysis.biomechanics.files import (
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
from torseur.analysis.biomechanics.forces.ground_reaction import Reaction, ground_reaction
from torseur.analysis.biomechanics.forces.trial_dynamics import TrialDynamics, trial_dynamics
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.motion.joint_centres import JointCentre, mean_helical_axis, score
from torseur.analysis.biomechanics.motion.joint_motion import JointMotion, joint_motion
from torseur.analysis.biomechanics.motion.segment_motion import SegmentMotion, segment_motion
from torseur.analysis.biomechanics.person_model.anthropometry import Anthropometry, anthropometry
from torseur.analysis.biomechanics.person_model.human36 import SegmentInertia, human36
from torseur.analysis.biomechanics.recordings.force_plates import PlateRecord
from torseur.analysis.biomechanics.recordings.label_check import label_faults, require_labels
from torseur.analysis.biomechanics.recordings.laboratory_axes import NOT_STATED, OPENSIM_AXES, Z_UP, Axes
from torseur.analysis.biomechanics.recordings.markers import Gap, Markers, fill_gaps
from torseur.analysis.biomechanics.recordings.motion_trial import Analog, MotionTrial
from torseur.analysis.biomechanics.smoothing import kalman_smooth, point_rates, rotation_rates
from torseur.analysis.biomechanics.tracking import FittedMotion, MarkerModel, inverse_kinematics

__all__ = [
    "NOT_STATED", "OPENSIM_AXES", "Z_UP", "Analog", "Anthropometry", "Axes", "BodyInMotion", "FittedMotion", "Gap",
    "JointCentre", "JointMotion", "MarkerModel", "Markers", "MotionTrial", "PlateRecord", "Reaction",
    "SegmentInertia", "SegmentMotion", "TrialDynamics", "anthropometry", "fill_gaps", "ground_reaction", "human36",
    "inverse_kinematics", "joint_motion", "kalman_smooth", "label_faults", "mean_helical_axis", "point_rates",
    "read_c3d", "read_csv", "read_mot", "read_motion", "read_trc", "require_labels", "rotation_rates", "score",
    "segment_motion", "trial_dynamics", "write_c3d", "write_csv", "write_mot", "write_trc",
]  # fmt: skip
