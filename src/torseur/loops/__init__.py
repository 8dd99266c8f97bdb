"""Closed loops and constraints: closure equations, assembly, rank, mobility, redundancy."""

from torseur.loops.assembly import Assembly, Configuration, assemble
from torseur.loops.constraint_equations import ConstraintEquation, constraint_equations
from torseur.loops.doctor import loops
from torseur.loops.report import LoopReport

__all__ = [
    "Assembly",
    "Configuration",
    "ConstraintEquation",
    "LoopReport",
    "assemble",
    "constraint_equations",
    "loops",
]
