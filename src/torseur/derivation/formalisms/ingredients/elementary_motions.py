"""A tree as a sequence of elementary motions, each with its screws in the axes of what it moves.

A joint is a chain of turns and moves; each is one screw (φ, t) at a point O: per unit of its rate the bodies it
carries turn at φ and the point of them at O moves at t. Its rate s' follows from the speeds v. A quaternion is
one motion of three screws, a free joint with speeds in body axes one motion of six, and a joint of one coordinate, of
whatever formulas or tables its motions are, one screw (φ(q), t(q)) at the origin of the body that it moves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from torseur.algebra.graph import Expr, as_expr, jacobian, substitute, symbols_of
from torseur.algebra.spatial import NULL, REST, SAME, UNIT, Motion, Transform, Vec3, unit
from torseur.derivation.formalisms.ingredients.coordinate_rates import Rates, components, moves_in_own_axes
from torseur.derivation.tree import GROUND, Link, Tree
from torseur.derivation.tree.definitions import resolve_structure
from torseur.derivation.tree.joints.joint_kinematics import displacement, reversed_motions
from torseur.description.mechanism import ElementaryMotion

NONE = -1


@dataclass(frozen=True)
class Screw:
    """φ and t, with the rate s' it is driven at, ∂s'/∂v by speed slot, and s'' at constant speeds.

    `motion` holds them at the origin and in the axes of its step. `bend` is how they change along the motion as the
    moved body sees them, per second: zero for turns and moves.
    """

    name: str
    motion: Motion
    rate: Expr
    partials: dict[int, Expr]
    change: Expr
    bend: Motion = REST

    @property
    def phi(self) -> Vec3:
        return self.motion.angular

    @property
    def t(self) -> Vec3:
        return self.motion.linear

    @property
    def bends(self) -> bool:
        return not all(component.is_zero for component in components(self.bend))


@dataclass(frozen=True)
class Step:
    """One elementary motion: its frame in that of the step before it, its screws, and the link it ends in.

    The link is NONE in mid-joint; the frame of a step that ends in a link is the link's.
    """

    place: Transform
    screws: tuple[Screw, ...]
    before: int
    link: int


def elementary_steps(tree: Tree) -> list[Step]:
    """The elementary motions of all joints, each after the one that carries it."""
    walk = _Walk(tree)
    for i, link in enumerate(tree.links):
        walk.follow(i, link)
    return walk.steps


class _Walk:
    """Collects the steps link by link, from the earth outward."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.rates = Rates(tree)
        self.steps: list[Step] = []
        self.last: dict[int, int] = {GROUND: NONE}

    def follow(self, i: int, link: Link) -> None:
        before = self.last[link.parent]
        if moves_in_own_axes(link) or _is_complex(link):
            self.steps.append(Step(link.motion.transform, self.body_axes(link), before, i))
        else:
            for place, screws in self.chain(link):
                self.steps.append(Step(place, screws, before, NONE))
                before = len(self.steps) - 1
            self.steps[-1] = replace(self.steps[-1], link=i)
        self.last[i] = len(self.steps) - 1

    def chain(self, link: Link) -> list[tuple[Transform, tuple[Screw, ...]]]:
        """For each motion of the joint, its frame in the one before, and its screws.

        Motions at constant amounts only place what follows: they belong to the frame of the motion before them. A joint
        of nothing else still has a frame.
        """
        near = link.joint.child if link.reverse else link.joint.parent
        # The joint's own frame in the link that carries it, whichever side the description calls parent.
        head = self.resolved(self.tree.place(near)[1])
        steps: list[tuple[Transform, tuple[Screw, ...]]] = []
        motions = reversed_motions(link.joint.motions) if link.reverse else link.joint.motions
        for number, motion in enumerate(self.resolved(tuple(motions))):
            moved = displacement(motion, link.symbols.quaternion)
            if screws := self.screws(link, moved, motion, number):
                steps.append((head.then(moved), screws))
                head = SAME
            elif steps:
                place, own = steps[-1]
                seen = tuple(replace(screw, motion=moved.motion_to_child(screw.motion)) for screw in own)
                steps[-1] = (place.then(moved), seen)
            else:
                head = head.then(moved)
        return steps or [(head, ())]

    def screws(self, link: Link, moved: Transform, motion: ElementaryMotion, number: int) -> tuple[Screw, ...]:
        """The screws of one motion in the frame that it leads to: an axis has the same components before and after."""
        if motion.kind in ("rotation", "translation"):
            (rate,) = self.rates.change([motion.amount])
            axis = unit(Vec3(*motion.axis))
            screw = Motion(axis, NULL) if motion.kind == "rotation" else Motion(NULL, axis)
            name = str(motion.amount.name or f"{link.joint.name}.{number + 1}")
            return () if rate.is_zero else (self.screw(name, screw, rate, link),)
        # From the child's side, the speeds of a quaternion turn the body that is carried here backwards, in axes that
        # do not turn with it.
        axes = UNIT if motion.kind == "quaternion" else [-moved.rotation.to_child(axis) for axis in UNIT]
        rates = self.rates.natural_speeds(link)[-3:]
        names = [str(symbol.name) for symbol in link.symbols.natural[-3:]]
        parts = zip(names, axes, rates, strict=True)
        return tuple(self.screw(name, Motion(axis, NULL), rate, link) for name, axis, rate in parts)

    def body_axes(self, link: Link) -> tuple[Screw, ...]:
        parts = zip(link.motion.screws, link.motion.screw_rates, link.symbols.speeds, strict=True)
        return tuple(
            replace(self.screw(str(u.name).rstrip("'"), screw, u, link), bend=rate) for screw, rate, u in parts
        )

    def screw(self, name: str, motion: Motion, rate: Expr, link: Link) -> Screw:
        partials = {k: entry for (_, k), entry in jacobian([rate], self.tree.layout.speeds).items()}
        (change,) = self.rates.change([rate])
        return Screw(name, motion, rate, partials, change)

    def resolved(self, thing: Any) -> Any:
        """A structure with laws and dependent parameters replaced by their formulas."""
        return resolve_structure(self.tree.mechanism, self.tree.definitions, thing)


def _is_complex(link: Link) -> bool:
    """Whether one coordinate moves the body otherwise than by one turn or move of its amount, at no other's rate."""
    symbols = link.symbols
    if len(symbols.coordinates) != 1 or symbols.followed:
        return False
    moving = [m.amount for m in link.joint.motions if symbols.coordinates[0] in set(symbols_of([m.amount]))]
    if len(moving) == 1 and (moving[0] is symbols.coordinates[0] or moving[0] is -symbols.coordinates[0]):
        return False
    # What time moves has no screw of its own: such a joint is taken apart into its motions.
    drift = substitute(components(link.motion.velocity), {symbols.speeds[0]: as_expr(0)})
    return all(component.is_zero for component in drift)
