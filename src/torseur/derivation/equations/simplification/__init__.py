"""Simplifications that serve mechanics: neglecting with a certificate, grouping of parameters, small motions, forms."""

from torseur.derivation.equations.simplification.neglected_terms import (
    Certificate,
    Change,
    Piece,
    SimplifiedEquations,
    simplify,
)
from torseur.derivation.equations.simplification.other_forms import factor, horner, linear_form, small_motion_form
from torseur.derivation.equations.simplification.parameter_grouping import GroupedParameters, group_parameters
from torseur.derivation.equations.simplification.state_box import Box, box_of
from torseur.derivation.equations.simplification.symbolic_solution import solve_accelerations, solve_motion

__all__ = [
    "Box",
    "Certificate",
    "Change",
    "GroupedParameters",
    "Piece",
    "SimplifiedEquations",
    "box_of",
    "factor",
    "group_parameters",
    "horner",
    "linear_form",
    "simplify",
    "small_motion_form",
    "solve_accelerations",
    "solve_motion",
]
