"""A recorded trial of a person from end to end: posture, motion, forces, and what they say."""

from torseur.analysis.biomechanics.person.calibration import Calibration, calibrate
from torseur.analysis.biomechanics.person.model_axes import turn_to_model_axes
from torseur.analysis.biomechanics.person.motion_cycles import Cycle, cycles_of
from torseur.analysis.biomechanics.person.person_analysis import PersonTrial, analyse_person
from torseur.analysis.biomechanics.person.protocol import Protocol

__all__ = [
    "Calibration",
    "Cycle",
    "PersonTrial",
    "Protocol",
    "analyse_person",
    "calibrate",
    "cycles_of",
    "turn_to_model_axes",
]
