"""A tree as a sequence of elementary motions, each with its screws in earth axes.

A joint is a chain of turns and moves; each is one screw (φ, t) at a point O: per unit of its rate the bodies it
carries turn at φ and the point of them at O moves at t. Its rate s' follows from the speeds v. A quaternion is
one motion of three screws, a free joint with speeds in body axes one motion of six, and a joint of one coordinate, of
whatever formulas or tables its motions are, one screw (φ(q), t(q)) at the origin of the body that it moves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from torseur.algebra.graph import Expr, as_expr, jacobian, substitute, symbols_of
from torseur.algebra.spatial import NULL, REST, UNIT, Motion, Transform, Vec3, from_quaternion, unit
from torseur.derivation.dynamics import link_poses
from torseur.derivation.formalisms.ingredients.coordinate_rates import Rates, components, moves_in_own_axes
from torseur.derivation.formalisms.ingredients.placements import now
from torseur.derivation.tree import GROUND, Link, Tree
from torseur.derivation.tree.definitions import resolve_structure
from torseur.derivation.tree.joints.joint_kinematics import displacement, reversed_motions
from torseur.description.mechanism import ElementaryMotion

NONE = -1


@dataclass(frozen=True)
class Screw:
    """φ and t in earth axes, with the rate s' it is driven at, ∂s'/∂v by speed slot, and s'' at constant speeds.

    `bend` is how φ and t change along the motion as the moved body sees them, in earth axes: zero for turns and moves.
    """

    name: str
    phi: Vec3
    t: Vec3
    rate: Expr
    partials: dict[int, Expr]
    change: Expr
    bend: Motion = REST

    @property
    def bends(self) -> bool:
        return not all(component.is_zero for component in components(self.bend))


@dataclass(frozen=True)
class Step:
    """One elementary motion: its screws at a point, the step before it, and the link it ends in (NONE in mid-joint)."""

    origin: Vec3
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
        self.poses = link_poses(now(tree))
        self.steps: list[Step] = []
        self.last: dict[int, int] = {GROUND: NONE}

    def follow(self, i: int, link: Link) -> None:
        before = self.last[link.parent]
        if moves_in_own_axes(link) or _is_complex(link):
            self.steps.append(Step(self.poses[i].position, self.body_axes(i, link), before, i))
        else:
            frames = enumerate(self.frames(link))
            walked = [(place, self.screws(link, place, motion, k)) for k, (place, motion) in frames]
            # Motions at constant amounts only place what follows; a joint of nothing else still needs a step for its
            # link.
            moving = [(place, screws) for place, screws in walked if screws] or walked[:1]
            for place, screws in moving:
                self.steps.append(Step(place.position, screws, before, NONE))
                before = len(self.steps) - 1
            self.steps[-1] = replace(self.steps[-1], link=i)
        self.last[i] = len(self.steps) - 1

    def frames(self, link: Link) -> list[tuple[Transform, ElementaryMotion]]:
        """For each motion of the joint, the frame it acts in: turned before a turn, already moved for a move."""
        near = link.joint.child if link.reverse else link.joint.parent
        parent, base = self.tree.place(near)
        place = self.resolved(base)
        if parent != GROUND:
            place = self.poses[parent].then(place)
        frames = []
        for motion in reversed_motions(link.joint.motions) if link.reverse else link.joint.motions:
            motion = self.resolved(motion)
            moved = place.then(displacement(motion, link.symbols.quaternion))
            # A move has no point of its own. At the place it has moved to, levers to what it carries do not contain it;
            # the axis of a turn goes through the place before it.
            frames.append((moved if motion.kind == "translation" else place, motion))
            place = moved
        return frames

    def screws(self, link: Link, place: Transform, motion: ElementaryMotion, number: int) -> tuple[Screw, ...]:
        turned = place.rotation.to_parent
        if motion.kind in ("rotation", "translation"):
            (rate,) = self.rates.change([motion.amount])
            axis = turned(unit(Vec3(*motion.axis)))
            phi, t = (axis, NULL) if motion.kind == "rotation" else (NULL, axis)
            name = str(motion.amount.name or f"{link.joint.name}.{number + 1}")
            return () if rate.is_zero else (self.screw(name, phi, t, rate, link),)
        if motion.kind == "quaternion":
            body = place.rotation.then(from_quaternion(*link.symbols.quaternion))
            axes = [body.to_parent(axis) for axis in UNIT]
        else:
            # From the child's side: its speeds turn the body that is carried here backwards, in axes that do not turn
            # with it.
            axes = [-turned(axis) for axis in UNIT]
        rates = self.rates.natural_speeds(link)[-3:]
        names = [str(symbol.name) for symbol in link.symbols.natural[-3:]]
        return tuple(self.screw(n, axis, NULL, rate, link) for n, axis, rate in zip(names, axes, rates, strict=True))

    def body_axes(self, i: int, link: Link) -> tuple[Screw, ...]:
        turned = self.poses[i].rotation.to_parent
        parts = zip(link.motion.screws, link.motion.screw_rates, link.symbols.speeds, strict=True)
        return tuple(
            replace(
                self.screw(str(u.name).rstrip("'"), turned(s.angular), turned(s.linear), u, link),
                bend=Motion(turned(rate.angular), turned(rate.linear)),
            )
            for s, rate, u in parts
        )

    def screw(self, name: str, phi: Vec3, t: Vec3, rate: Expr, link: Link) -> Screw:
        partials = {k: entry for (_, k), entry in jacobian([rate], self.tree.layout.speeds).items()}
        (change,) = self.rates.change([rate])
        return Screw(name, phi, t, rate, partials, change)

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
    drift = substitute(components(link.motion.velocity), {symbols.speeds[0]: as_expr(0)})
    return all(component.is_zero for component in drift)
