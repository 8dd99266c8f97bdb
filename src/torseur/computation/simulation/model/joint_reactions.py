"""Reactions in joints: the force and moment that the parent side exerts on the child side, at the joint.

The joint is released (see torseur.derivation.formalisms.ingredients.released_joint), so that all loads, bodies,
constraints, contacts and friction are accounted for, whatever their kind. What drives the joint's own freedoms is part
of its reaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from torseur.algebra.graph import Expr
from torseur.computation.simulation.constrained.contacts.contact_gaps import contact_equations, switching_elements
from torseur.computation.simulation.constrained.contacts.friction_rows import FrictionRows, friction_rows
from torseur.computation.simulation.model.motion_programs import MechanismPrograms
from torseur.computation.simulation.model.outputs_and_events import Impact
from torseur.derivation.dynamics.loads.sensor_values import in_states
from torseur.derivation.equations import Equations
from torseur.derivation.formalisms.ingredients.released_joint import ReleasedJoint
from torseur.derivation.formalisms.joint_reactions import COMPONENTS as COMPONENTS
from torseur.derivation.formalisms.joint_reactions import efforts_along
from torseur.derivation.formalisms.newton_euler import NewtonEuler
from torseur.derivation.loops import ConstraintEquation
from torseur.description.mechanism import Bound, DryFriction

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
    if programs.contacts or programs.friction:
        switching = _switching_efforts(released, programs)
        for name in (name for name in switching if name in multipliers):
            efforts = [e + multipliers[name] * c for e, c in zip(efforts, switching[name], strict=True)]
        undetermined |= _shared_by_twins(switching, multipliers)
    return Reaction(tuple(efforts), undetermined)


def _switching_efforts(released: ReleasedJoint, programs: MechanismPrograms) -> dict[str, list[Expr]]:
    """What unit multipliers of stops, contacts and friction ask of the joint, by the names of their rows."""
    equations = Equations(NewtonEuler(released.tree))
    elements = switching_elements(equations)
    own = [Impact(bound.name, bound.gap) for bound in elements if isinstance(bound, Bound)]
    named = {impact.name for impact in own}
    impacts = [*own, *(impact for impact in programs.impacts if impact.name not in named)]
    resolve = partial(in_states, released.tree)
    rubbing = friction_rows(equations, [e for e in elements if isinstance(e, DryFriction)], resolve)
    rows = {row.name: row for row in contact_equations(equations, impacts, resolve)}
    for element in rubbing:
        rows |= _rows_of_motion(released, element, programs)
    return {name: released.at_rest(row.row[released.link.v]) for name, row in rows.items()}


def _rows_of_motion(
    released: ReleasedJoint, element: FrictionRows, programs: MechanismPrograms
) -> dict[str, ConstraintEquation]:
    """Sliding speeds that the mechanism itself has, by its own names: what moves virtually may slide sideways, too."""
    own = [row.name for known in programs.friction if known.name == element.name for row in known.rows]
    slides = [not rest.is_zero for rest in released.at_rest([row.residual for row in element.rows])]
    moving = [row for row, does in zip(element.rows, slides, strict=True) if does]
    if len(moving) != len(own):  # nothing tells which of them are the mechanism's: without a name they stay open
        return {row.name: row for row in element.rows}
    return dict(zip(own, moving, strict=True))


def _shared_by_twins(switching: Mapping[str, list[Expr]], known: Mapping[str, Expr]) -> dict[int, str]:
    """Components that depend on how corners behind each other in a plane share what one of them carries for all."""
    kept = [rows for name, rows in switching.items() if name in known]
    return {
        k: name
        for name, rows in switching.items()
        if name not in known
        for k, entry in enumerate(rows)
        if not any((entry - other[k]).is_zero for other in kept)
    }
