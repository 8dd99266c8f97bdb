"""Closed loops and constraints: closure equations, assembly, rank, mobility, redundancy."""

from torseur.derivation.loops.actuation.actuation import ActuationReport, actuation
from torseur.derivation.loops.actuation.coupler_curve import coupler_curve
from torseur.derivation.loops.actuation.singular_map import SingularMap, singular_map
from torseur.derivation.loops.actuation.transmission_angle import Transmission, transmission_angle
from torseur.derivation.loops.assembly.assembly import Assembly, Configuration, assemble
from torseur.derivation.loops.closure.constraint_equations import ConstraintEquation, constraint_equations
from torseur.derivation.loops.loop_doctor import loops
from torseur.derivation.loops.loop_report import LoopReport
from torseur.derivation.loops.singularities.singular_boxes import singularities_in
from torseur.derivation.loops.singularities.singularities import Drive, Singularity, drive, singularities_along

__all__ = [
    "ActuationReport",
    "Assembly",
    "Configuration",
    "ConstraintEquation",
    "Drive",
    "LoopReport",
    "SingularMap",
    "Singularity",
    "Transmission",
    "actuation",
    "assemble",
    "constraint_equations",
    "coupler_curve",
    "drive",
    "loops",
    "singular_map",
    "singularities_along",
    "singularities_in",
    "transmission_angle",
]
