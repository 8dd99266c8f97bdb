"""Equations of motion: one form for every formalism."""

from torseur.equations.equations import Equations
from torseur.equations.formulation import Formulation

__all__ = ["Equations", "Formulation"]
