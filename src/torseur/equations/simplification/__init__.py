"""Simplifications that serve mechanics: neglecting with a certificate, grouping of parameters, small motions, forms."""

from torseur.equations.simplification.box import Box, box_of
from torseur.equations.simplification.forms import factor, horner, linear_form, small_motion_form
from torseur.equations.simplification.grouping import Grouped, grouped
from torseur.equations.simplification.neglecting import Certificate, Change, Piece, Simplified, simplify
from torseur.equations.simplification.solution import solved_accelerations, solved_motion

__all__ = [
    "Box",
    "Certificate",
    "Change",
    "Grouped",
    "Piece",
    "Simplified",
    "box_of",
    "factor",
    "grouped",
    "horner",
    "linear_form",
    "simplify",
    "small_motion_form",
    "solved_accelerations",
    "solved_motion",
]
