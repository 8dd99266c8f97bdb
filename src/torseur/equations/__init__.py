"""Equations of motion: one form for every formalism."""

from torseur.equations.equations import Equations
from torseur.equations.formulation import Formulation
from torseur.equations.functions import (
    FUNCTIONS,
    compile_equations,
    missing_values,
    motion_values,
    parameter_values,
    program_of,
)

__all__ = [
    "FUNCTIONS",
    "Equations",
    "Formulation",
    "compile_equations",
    "missing_values",
    "motion_values",
    "parameter_values",
    "program_of",
]
