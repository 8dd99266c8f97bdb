"""Where the terms of the equations come from: the share of every body and of every load, derived separately.

M(q) v' + b(q, v) is linear in the inertias, so the share of a body is what the same recursion gives when every other
body has none. Q is the sum over the loads; constraints add Cᵀ λ on the left. Nothing is guessed from names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from torseur.dynamics import bias, generalised_loads, gravity_forces, mass_matrix
from torseur.equations import Equations
from torseur.graph import Expr, as_expr
from torseur.mechanism import (
    AppliedWrench,
    Body,
    Bushing,
    CoordinateForce,
    CoordinateSpring,
    JointWrench,
    Load,
    PointSpring,
)
from torseur.spatial import NO_INERTIA, Inertia, Vec3
from torseur.tree import GROUND, Tree, resolve
from torseur.tree.constants import body_inertia
from torseur.tree.flatten import flatten, rebuild

INERTIA, TURNING, WEIGHT, LOAD, CONSTRAINT = "inertia", "centrifugal", "weight", "load", "constraint"
_WORDS = {
    INERTIA: "Inertia of {}",
    TURNING: "Centrifugal and Coriolis force of {}",
    WEIGHT: "Weight of {}",
    LOAD: "{}",
    CONSTRAINT: "Constraint force of {}",
}
_NO_GRAVITY = Vec3(0, 0, 0)


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
        found = [*self._of_bodies(), *self._of_loads(), *self._of_constraints()]
        return tuple(share for share in found if not all(row.is_zero for row in share.rows))

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
            inertia = [_product(row, layout.accelerations) for row in mass_matrix(tree, layout.coordinates)]
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
        link, place, _ = tree.places[body.name]
        own = _resolved(tree, place.inertia_to_parent(body_inertia(body)))
        links = [replace(other, inertia=own if i == link else NO_INERTIA) for i, other in enumerate(tree.links)]
        return replace(tree, links=tuple(links))


def _resolved(tree: Tree, inertia: Inertia) -> Inertia:
    """The inertia with dependent parameters and laws expanded."""
    leaves = flatten(inertia)
    expressions = [leaf for leaf in leaves if isinstance(leaf, Expr)]
    results = iter(resolve(tree.mechanism, tree.definitions, expressions))
    complete: Inertia = rebuild(inertia, iter([next(results) if isinstance(x, Expr) else x for x in leaves]))
    return complete


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
