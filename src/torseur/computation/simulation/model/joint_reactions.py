"""Reactions in joints: the force and moment that the parent side exerts on the child side, at the joint.

The joint is released (see torseur.derivation.formalisms.ingredients.released_joint), so that all loads, bodies
and constraints are accounted for, whatever their kind. What drives the joint's own freedoms is part of its reaction.
"""

from __future__ import annotations

from dataclasses import dataclass

from torseur.algebra.graph import Expr
from torseur.computation.simulation.model.motion_programs import MechanismPrograms
from torseur.derivation.formalisms.ingredients.released_joint import ReleasedJoint
from torseur.derivation.formalisms.joint_reactions import COMPONENTS as COMPONENTS
from torseur.derivation.formalisms.joint_reactions import efforts_along

UNITS = {"force": "N", "moment": "N*m"}


@dataclass(frozen=True)
class Reaction:
    """Six components in the axes of the child's joint frame, at its origin: force, then moment.

    `undetermined` gives, for a component that the equations leave open, the constraint that no motion tells apart.
    """

    components: tuple[Expr, ...]
    undetermined: dict[int, str]


def reaction(programs: MechanismPrograms, joint: str) -> Reaction:
    """The reaction in a joint, in terms of state, accelerations and multipliers."""
    released = ReleasedJoint(programs.equations.tree, joint)
    efforts = efforts_along(released)
    undetermined: dict[int, str] = {}
    multipliers = dict(zip([c.name for c in programs.constraints], programs.multipliers, strict=True))
    for constraint, rows in released.constraint_efforts():
        if constraint.name in multipliers:
            efforts = [e + multipliers[constraint.name] * c for e, c in zip(efforts, rows, strict=True)]
        else:
            undetermined |= {k: constraint.name for k, c in enumerate(rows) if not c.is_zero}
    return Reaction(tuple(efforts), undetermined)
