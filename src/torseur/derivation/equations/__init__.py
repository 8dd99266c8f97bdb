"""Equations of motion: one form for every formalism."""

from torseur.derivation.equations.equations import Equations
from torseur.derivation.equations.formulation import Formulation
from torseur.derivation.equations.parameter_values import missing_values, motion_values, parameter_values, values_for

__all__ = ["Equations", "Formulation", "missing_values", "motion_values", "parameter_values", "values_for"]
