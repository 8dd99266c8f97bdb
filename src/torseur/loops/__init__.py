"""Closed loops and constraints: closure equations, assembly, rank, mobility, redundancy.

The package is its own doctor: `torseur.loops(mechanism)` is `torseur.loops.loops(mechanism)`.
"""

import sys
from types import ModuleType
from typing import Any

from torseur.loops.assembly import Assembly, Configuration, assemble
from torseur.loops.constraint_equations import ConstraintEquation, constraint_equations
from torseur.loops.doctor import loops
from torseur.loops.report import LoopReport
from torseur.loops.singularities import Singularity, singularities_along, singularities_in

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


class _Doctor(ModuleType):
    """A package that can be called."""

    def __call__(self, *arguments: Any, **options: Any) -> LoopReport:
        return loops(*arguments, **options)


sys.modules[__name__].__class__ = _Doctor
