"""Closed loops and constraints: closure equations, assembly, rank, mobility, redundancy."""

from torseur.derivation.loops.assembly.assembly import Assembly, Configuration, assemble
from torseur.derivation.loops.closure.constraint_equations import ConstraintEquation, constraint_equations
from torseur.derivation.loops.loop_doctor import loops
from torseur.derivation.loops.loop_report import LoopReport
from torseur.derivation.loops.singularities.singularities import Singularity, singularities_along, singularities_in

__all__ = [
    "Assembly",
    "Configuration",
    "ConstraintEquation",
    "LoopReport",
    "Singularity",
    "assemble",
    "constraint_equations",
    "loops",
    "singularities_along",
    "singularities_in",
]
