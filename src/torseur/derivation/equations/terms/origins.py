"""Where the terms of the equations come from: the share of every body and of every load, derived separately.

M(q) v' + b(q, v) is linear in the inertias, so the share of a body is what the same recursion gives when every other
body has none. Q is the sum over the loads; constraints add Cᵀ λ on the left. Nothing is guessed from names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.spatial import NO_INERTIA, Inertia, Vec3
from torseur.derivation.dynamics import bias, generalised_loads, gravity_forces, mass_matrix
from torseur.derivation.equations import Equations
from torseur.derivation.tree import GROUND, Tree
from torseur.derivation.tree.body_constants import body_inertia
from torseur.derivation.tree.definitions import resolve_structure
from torseur.description.mechanism import (
    AppliedWrench,
    Body,
    Bushing,
    CoordinateForce,
    CoordinateSpring,
    JointWrench,
    Load,
    PointSpring,
)

INERTIA, TURNING, WEIGHT, LOAD, CONSTRAINT = "inertia", "centrifugal", "weight", "load", "constraint"
_WORDS = {
    INERTIA: "Inertia of {}",
    TURNING: "Centrifugal and Coriolis force of {}",
    WEIGHT: "Weight of {}",
    LOAD: "{}",
    CONSTRAINT: "Constraint force of {}",
}
_NO_GRAVITY = Vec3(0, 0, 0)


# Why terms stand here and their looks above: docs/decisions/0050-terms-below-typesetting-above.md.
@dataclass(frozen=True)
class Share:
    """What one body or load puts on the left side of M v' + b - Q = 0, row by row."""

    kind: str
    owner: str
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    rows: tuple[Expr, ...]

    @property
    def sentence(self) -> str:
        return _WORDS[self.kind].format(self.owner)


@dataclass(frozen=True)
class Shares:
    """The equations of a tree taken apart."""

    equations: Equations

    @cached_property
    def all(self) -> tuple[Share, ...]:
        """Every share that is not zero, bodies in their order, then loads."""
        shares = [*self._of_bodies(), *self._of_loads(), *self._of_constraints()]
        return tuple(share for share in shares if not all(row.is_zero for row in share.rows))

    def mass_matrix(self, body: str) -> list[list[Expr]]:
        """The part of M that one body brings."""
        tree = self._with_only(self.equations.mechanism.body(body))
        return [[as_expr(entry) for entry in row] for row in mass_matrix(tree, tree.layout.coordinates)]

    def _of_bodies(self) -> Iterator[Share]:
        layout = self.equations.layout
        for body in self.equations.mechanism.bodies:
            if self.equations.tree.places[body.name][0] == GROUND:
                continue
            tree = self._with_only(body)
            # Linear in the inertias: the shares of all bodies add up to the whole, term by term.
            inertia = [_product(row, layout.accelerations) for row in mass_matrix(tree, layout.coordinates)]
            # b(q, v) = turning + weight; without gravity only the first is left.
            weightless = replace(tree, gravity=_NO_GRAVITY)
            turning = bias(weightless, layout.coordinates, layout.speeds)
            weight = gravity_forces(tree, layout.coordinates)
            for kind, rows in ((INERTIA, inertia), (TURNING, turning), (WEIGHT, weight)):
                yield Share(kind, body.name, (body.name,), (), tuple(as_expr(row) for row in rows))

    def _of_loads(self) -> Iterator[Share]:
        tree, layout = self.equations.tree, self.equations.layout
        for load in self.equations.mechanism.loads:
            alone = replace(tree, mechanism=replace(tree.mechanism, loads=(load,)))
            rows = generalised_loads(alone, layout.coordinates, layout.speeds)
            bodies, joints, words = acting(load)
            yield Share(LOAD, f"{words} '{load.name}'", bodies, joints, tuple(-as_expr(row) for row in rows))

    def _of_constraints(self) -> Iterator[Share]:
        """Cᵀ λ, by the joint that closes a loop or by the constraint of the user."""
        equations = self.equations
        pairs = list(zip(equations.constraints, equations.multipliers, strict=True))
        joints = {f"joint '{joint.name}'": joint.name for joint in equations.tree.loops}
        for owner in dict.fromkeys(constraint.owner for constraint, _ in pairs):
            own = [(constraint.row, multiplier) for constraint, multiplier in pairs if constraint.owner == owner]
            columns = zip(*(row for row, _ in own), strict=True)
            rows = [_product(column, [multiplier for _, multiplier in own]) for column in columns]
            yield Share(CONSTRAINT, owner, (), (joints[owner],) if owner in joints else (), tuple(rows))

    def _with_only(self, body: Body) -> Tree:
        """The tree in which nothing but this body has mass."""
        tree = self.equations.tree
        link, (own, _) = tree.places[body.name][0], body_inertia_in_link(tree, body)
        links = [replace(other, inertia=own if i == link else NO_INERTIA) for i, other in enumerate(tree.links)]
        return replace(tree, links=tuple(links))


def body_inertia_in_link(tree: Tree, body: Body) -> tuple[Inertia, Vec3]:
    """The inertia of a body at the origin of its link, and the place of its mass centre there.

    A body described by numbers or by solids has its mass centre in its inertial frame; one described by both has it
    where the first moment says.
    """
    _, place, frame = tree.places[body.name]
    inertia: Inertia = resolve_structure(tree.mechanism, tree.definitions, place.inertia_to_parent(body_inertia(body)))
    if body.solids and (body.mass is not None or body.inertia is not None):
        return inertia, inertia.moment * (1 / inertia.mass)
    return inertia, frame.position


def _product(row: Sequence[Expr], column: Sequence[Expr]) -> Expr:
    return sum((as_expr(a) * b for a, b in zip(row, column, strict=True)), as_expr(0))


def acting(load: Load) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Bodies and joints a load acts on, and what it is called."""
    match load:
        case CoordinateForce():
            return (), (load.joint,), "Force along a coordinate,"
        case CoordinateSpring():
            return (), (load.joint,), "Spring and damper"
        case JointWrench():
            return (), (load.joint,), "Force in a joint,"
        case PointSpring() | Bushing():
            ends = tuple(dict.fromkeys(f.body for f in (load.first, load.second)))
            return ends, (), "Bushing" if isinstance(load, Bushing) else "Spring and damper"
        case AppliedWrench():
            return (load.on.body,), (), "Applied load"
