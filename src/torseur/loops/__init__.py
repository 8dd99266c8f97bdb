"""Closed loops and constraints: closure equations, assembly, rank, mobility, redundancy."""

from torseur.loops.constraint_equations import ConstraintEquation, constraint_equations

__all__ = ["ConstraintEquation", "constraint_equations"]
