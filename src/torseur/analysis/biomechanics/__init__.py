"""Markers and force plates to motions, joint moments and a person's own inertias."""

from torseur.analysis.biomechanics.files import (
    PlateSetup,
    plate_record,
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
from torseur.analysis.biomechanics.forces.floor_contact import (
    floor_motion,
    floor_outputs,
    floor_reactions,
    with_feet,
)
from torseur.analysis.biomechanics.forces.foot_loads import human_footing
from torseur.analysis.biomechanics.forces.ground_reaction import Reaction, ground_reaction, share_between_feet, vertical
from torseur.analysis.biomechanics.forces.trial_dynamics import TrialDynamics, trial_dynamics
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.motion.joint_centres import JointCentre, mean_helical_axis, score
from torseur.analysis.biomechanics.motion.joint_motion import JointMotion, joint_motion
from torseur.analysis.biomechanics.motion.segment_motion import SegmentMotion, segment_motion
from torseur.analysis.biomechanics.person import Calibration, Protocol, analyse_person, calibrate
from torseur.analysis.biomechanics.person.group_tests import GroupTest, paired_test, variance_analysis
from torseur.analysis.biomechanics.person.session import (
    CycleCurve,
    Stride,
    cycle_curve,
    cycle_curves,
    strides_of,
    symmetry_of,
)
from torseur.analysis.biomechanics.person_model.anthropometry import Anthropometry, anthropometry
from torseur.analysis.biomechanics.person_model.human36 import SegmentInertia, human36
from torseur.analysis.biomechanics.person_model.marker_sets import MarkerSet, fitting_sets, marker_set
from torseur.analysis.biomechanics.recordings.filtering import Conditioning
from torseur.analysis.biomechanics.recordings.force_plates import PlateRecord
from torseur.analysis.biomechanics.recordings.label_check import exchange_labels, label_faults, require_labels
from torseur.analysis.biomechanics.recordings.laboratory_axes import NOT_STATED, OPENSIM_AXES, Z_UP, Axes
from torseur.analysis.biomechanics.recordings.markers import Gap, Markers, fill_gaps
from torseur.analysis.biomechanics.recordings.motion_trial import Analog, MotionTrial
from torseur.analysis.biomechanics.simulated_trials import simulated_trial, walking
from torseur.analysis.biomechanics.smoothing import kalman_smooth, point_rates, rotation_rates
from torseur.analysis.biomechanics.tracking import FittedMotion, MarkerModel, inverse_kinematics
from torseur.edges.arguments import explain_names

__all__ = [
    "NOT_STATED", "OPENSIM_AXES", "Z_UP", "Analog", "Anthropometry", "Axes", "BodyInMotion", "Calibration",
    "Conditioning", "CycleCurve", "FittedMotion", "Gap", "GroupTest", "JointCentre", "JointMotion", "MarkerModel",
    "MarkerSet", "Markers", "MotionTrial", "PlateRecord", "PlateSetup", "Protocol", "Reaction", "SegmentInertia",
    "SegmentMotion", "Stride", "TrialDynamics", "analyse_person", "anthropometry", "calibrate", "cycle_curve",
    "cycle_curves", "exchange_labels", "fill_gaps", "fitting_sets", "floor_motion", "floor_outputs", "floor_reactions",
    "ground_reaction", "human36", "human_footing", "inverse_kinematics", "joint_motion", "kalman_smooth",
    "label_faults", "marker_set", "mean_helical_axis", "paired_test", "plate_record", "point_rates", "read_c3d",
    "read_csv", "read_mot", "read_motion", "read_trc", "require_labels", "rotation_rates", "score", "segment_motion",
    "share_between_feet", "simulated_trial", "strides_of", "symmetry_of", "trial_dynamics", "variance_analysis",
    "vertical", "walking", "with_feet", "write_c3d", "write_csv", "write_mot", "write_trc",
]  # fmt: skip

explain_names(globals())
