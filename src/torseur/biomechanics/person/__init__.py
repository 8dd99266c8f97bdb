"""A recorded trial of a person from end to end: posture, motion, forces, and what they say."""

from torseur.biomechanics.person.analysis import PersonTrial, analysed_person
from torseur.biomechanics.person.calibration import calibrated
from torseur.biomechanics.person.cycles import Cycle, cycles_of, over_cycles
from torseur.biomechanics.person.facing import facing

__all__ = ["Cycle", "PersonTrial", "analysed_person", "calibrated", "cycles_of", "facing", "over_cycles"]
