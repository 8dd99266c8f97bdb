"""Reactions in joints: the force and moment that the parent side exerts on the child side, at the joint.

A joint is released: six virtual motions are put between it and the child's frame. Along them, the equations of motion
of the released mechanism, taken where the virtual motions are zero, say which efforts hold the child in place. All
loads, bodies and constraints are thereby accounted for, whatever their kind. What drives the joint's own freedoms is
part of its reaction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from torseur.dynamics import generalised_loads, inverse_dynamics
from torseur.graph import Expr, as_expr, substitute
from torseur.loops import constraint_equations
from torseur.mechanism import Joint, Mechanism, body, free
from torseur.simulation.programs import MechanismPrograms
from torseur.tree import Tree, build_tree

COMPONENTS = tuple(f"{kind}.{axis}" for kind in ("force", "moment") for axis in "xyz")
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
    tree = build_tree(_released(programs.equations.tree, joint))
    virtual = next(link for link in tree.links if link.joint.name == _virtual_name(joint)).v
    efforts = _needed(tree)[virtual]
    undetermined: dict[int, str] = {}
    multipliers = dict(zip([c.name for c in programs.constraints], programs.multipliers, strict=True))
    constraints = constraint_equations(tree) if tree.loops or tree.mechanism.constraints else ()
    for constraint in constraints:
        rows = _at_zero(tree, list(constraint.row[virtual]))
        if constraint.name in multipliers:
            efforts = [e + multipliers[constraint.name] * c for e, c in zip(efforts, rows, strict=True)]
        else:
            undetermined |= {k: constraint.name for k, c in enumerate(rows) if not c.is_zero}
    return Reaction(tuple(efforts), undetermined)


def _virtual_name(joint: str) -> str:
    return f"release of {joint}"


def _released(tree: Tree, name: str) -> Mechanism:
    """The mechanism with a massless body and six virtual motions between a joint and its child."""
    mechanism = tree.mechanism
    side = body(f"side of {name}", mass=0, inertia=0)
    carried = {link.joint.name for link in tree.links} - {joint.name for joint in tree.loops}
    fixed = {joint.name for joint in mechanism.joints if not joint.motions} - {joint.name for joint in tree.loops}
    joints: list[Joint] = []
    for joint in mechanism.joints:
        same = replace(joint, role="tree" if joint.name in carried | fixed else "loop")
        joints.append(replace(same, child=side.frame) if joint.name == name else same)
        if joint.name == name:
            names = [f"{_virtual_name(name)} {motion}" for motion in ("x", "y", "z", "a", "b", "c")]
            joints.append(replace(free(_virtual_name(name), side, joint.child, *names, angles="xyz"), role="tree"))
    return replace(mechanism, bodies=(*mechanism.bodies, side), joints=tuple(joints))


def _virtual(tree: Tree) -> set[Expr]:
    link = next(link for link in tree.links if link.joint.name.startswith("release of "))
    return {*link.symbols.coordinates, *link.symbols.speeds}


def _at_zero(tree: Tree, formulas: list[Expr]) -> list[Expr]:
    return substitute(formulas, {x: as_expr(0) for x in _virtual(tree)})


def _needed(tree: Tree) -> list[Expr]:
    """Efforts along all speeds that bodies and loads need, where the virtual motions are zero."""
    virtual, layout = _virtual(tree), tree.layout
    q = [as_expr(0) if x in virtual else x for x in layout.coordinates]
    v = [as_expr(0) if x in virtual else x for x in layout.speeds]
    vdot = [as_expr(0) if x in virtual else a for x, a in zip(layout.speeds, layout.accelerations, strict=True)]
    needed = inverse_dynamics(tree, q, v, vdot)
    loads = generalised_loads(tree, q, v)
    return [as_expr(a) - as_expr(b) for a, b in zip(needed, loads, strict=True)]
