"""Reactions in joints: the force and moment that the parent side exerts on the child side, at the joint.

Two ways to them. Newton-Euler: the joint passes on what everything beyond it needs, free bodies summed up.
Multipliers: the efforts along six virtual motions of the released joint are the multipliers that hold these motions
at zero. Both take the multipliers λ of loops and constraints as unknowns, as `Equations` does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from torseur.algebra.graph import Expr, as_expr
from torseur.derivation.dynamics import generalised_loads, inverse_dynamics
from torseur.derivation.equations import Equations
from torseur.derivation.equations.multipliers import multiplier_of
from torseur.derivation.formalisms.ingredients.released_joint import ReleasedJoint
from torseur.derivation.formalisms.newton_euler import NewtonEuler
from torseur.derivation.tree import build_tree
from torseur.description.mechanism import Mechanism
from torseur.errors import TorseurError, unknown_name

COMPONENTS = tuple(f"{kind}.{axis}" for kind in ("force", "moment") for axis in "xyz")


@dataclass(frozen=True)
class Reaction:
    """Six components in the axes of the child's joint frame, at its origin: force x y z, then moment x y z.

    Expressions of the state, the accelerations v' and the multipliers λ. `undetermined` gives, for a component that
    the equations of motion leave open, the constraint whose multiplier no motion tells: of a planar loop, say.
    """

    joint: str
    components: tuple[Expr, ...]
    undetermined: dict[str, str]

    @property
    def force(self) -> tuple[Expr, ...]:
        return self.components[:3]

    @property
    def moment(self) -> tuple[Expr, ...]:
        return self.components[3:]

    def __getitem__(self, component: str) -> Expr:
        """A component by name: force.x, moment.z."""
        if component not in COMPONENTS:
            raise TorseurError(unknown_name("component", component, COMPONENTS))
        return self.components[COMPONENTS.index(component)]


def reactions(
    mechanism: Mechanism | Equations, joints: Sequence[str] | None = None, method: str = "newton_euler"
) -> dict[str, Reaction]:
    """The reactions in the named joints (all without names), as formulas, while no stop, contact or dry friction acts.

    method  newton_euler (free bodies) or multipliers (six constraints that hold the joint together)
    """
    if method not in _METHODS:
        raise TorseurError(unknown_name("method", method, _METHODS))
    tree = mechanism.tree if isinstance(mechanism, Equations) else build_tree(mechanism)
    names = [joint.name for joint in tree.mechanism.joints] if joints is None else joints
    known = {constraint.name for constraint in Equations(NewtonEuler(tree)).constraints}
    return {name: _reaction(ReleasedJoint(tree, name), method, known) for name in names}


def _reaction(released: ReleasedJoint, method: str, known: Collection[str]) -> Reaction:
    """The reaction in a released joint; `known` are the constraints whose multipliers the motion tells."""
    efforts = _METHODS[method](released)
    undetermined: dict[str, str] = {}
    for constraint, rows in released.constraint_efforts():
        multiplier = multiplier_of(constraint)
        efforts = [effort + multiplier * row for effort, row in zip(efforts, rows, strict=True)]
        if constraint.name not in known:
            acting = [name for name, row in zip(COMPONENTS, rows, strict=True) if not row.is_zero]
            undetermined |= dict.fromkeys(acting, constraint.name)
    return Reaction(released.joint, tuple(efforts), undetermined)


def _from_free_bodies(released: ReleasedJoint) -> list[Expr]:
    reaction = NewtonEuler(released.tree).passed_on()[released.virtual_joint]
    # A tree that reaches the joint from its child has the force on the parent's side.
    # `passed_on` speaks of what the link beyond takes from the one before it.
    reaction = -reaction if released.link.reverse else reaction
    return released.at_rest([as_expr(c) for c in (*reaction.force, *reaction.moment)])


def efforts_along(released: ReleasedJoint) -> list[Expr]:
    """M v' + b - Q along the virtual motions: the multipliers that hold them at zero, without loops and constraints."""
    layout, virtual = released.tree.layout, released.virtual
    q, v, vdot = (
        [as_expr(0) if x in virtual else x for x in part]
        for part in (layout.coordinates, layout.speeds, layout.accelerations)
    )
    needed, given = inverse_dynamics(released.tree, q, v, vdot), generalised_loads(released.tree, q, v)
    along = [as_expr(a) - as_expr(b) for a, b in zip(needed, given, strict=True)]
    return along[released.link.v]


_METHODS = {"newton_euler": _from_free_bodies, "multipliers": efforts_along}
