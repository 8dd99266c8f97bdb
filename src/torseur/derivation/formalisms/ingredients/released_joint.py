"""A joint released: six virtual motions between the joint and its child.

Along them the released mechanism, taken where they are zero, says what the joint passes on. What drives the joint's own
freedoms is part of it. Works for joints of the tree, welds and joints that close loops alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from torseur.algebra.graph import Expr, as_expr, substitute
from torseur.derivation.loops import ConstraintEquation, constraint_equations
from torseur.derivation.tree import Link, Tree, build_tree
from torseur.description.mechanism import Joint, Mechanism, body, free
from torseur.errors import MechanismError, unknown_name


@dataclass(frozen=True)
class ReleasedJoint:
    """The tree with the virtual motions of one joint, x y z along and a b c about the axes of its child frame."""

    original: Tree
    joint: str

    @property
    def virtual_joint(self) -> str:
        return f"release of {self.joint}"

    @cached_property
    def tree(self) -> Tree:
        return build_tree(_release(self.original, self.joint, self.virtual_joint))

    @cached_property
    def link(self) -> Link:
        """The link that the virtual motions carry."""
        return next(link for link in self.tree.links if link.joint.name == self.virtual_joint)

    @cached_property
    def virtual(self) -> set[Expr]:
        """Symbols of the virtual motions, their speeds and accelerations."""
        layout, slots = self.tree.layout, self.link.v
        return {*self.link.symbols.coordinates, *layout.speeds[slots], *layout.accelerations[slots]}

    def at_rest(self, formulas: Sequence[Expr]) -> list[Expr]:
        """The formulas where nothing moves virtually."""
        return substitute(list(formulas), {x: as_expr(0) for x in self.virtual})

    def constraint_efforts(self) -> list[tuple[ConstraintEquation, list[Expr]]]:
        """Each constraint with what its unit multiplier asks of the joint: force x y z, moment x y z."""
        if not (self.tree.loops or self.tree.mechanism.constraints):
            return []
        return [(c, self.at_rest(c.row[self.link.v])) for c in constraint_equations(self.tree)]


def _release(tree: Tree, name: str, virtual: str) -> Mechanism:
    """The mechanism with a massless body and six virtual motions between a joint and its child."""
    mechanism = tree.mechanism
    if name not in [joint.name for joint in mechanism.joints]:
        raise MechanismError(unknown_name("joint", name, [joint.name for joint in mechanism.joints]))
    # Between joint and child, so that the joint keeps its own motions and drivers, and only its reaction is opened.
    side = body(f"side of {name}", mass=0, inertia=0)
    loops = {joint.name for joint in tree.loops}
    joints: list[Joint] = []
    for joint in mechanism.joints:
        same = replace(joint, role="loop" if joint.name in loops else "tree")
        joints.append(replace(same, child=side.frame) if joint.name == name else same)
        if joint.name == name:
            names = [f"{virtual} {motion}" for motion in ("x", "y", "z", "a", "b", "c")]
            joints.append(replace(free(virtual, side, joint.child, *names, angles="xyz"), role="tree"))
    return replace(mechanism, bodies=(*mechanism.bodies, side), joints=tuple(joints))
