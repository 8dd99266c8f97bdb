"""Lie group: twists of bodies in SE(3), adjoint matrices and brackets.

The joint of link i moves it at the twist V_J = S v (+ what time drives), so with Ad_i the 6x6 matrix that takes
twists of the parent to the link

    V_i  = Ad_i V_p + V_J                      twist of the link, in its own axes
    V_i' = Ad_i V_p' - ad(V_J) Ad_i V_p + V_J'     because Ad_i' = -ad(V_J) Ad_i

and every link obeys Euler-Poincaré, I V' - ad(V)ᵀ I V = F. Jacobians J_i collect the columns ∂V_i/∂v; Σ
J_iᵀ(...) = 0 gives the equations (Park, Bobrow and Ploen 1995, for chains and one-dof joints). Twists are (ω,
v), wrenches (m, f).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.dynamics import link_poses
from torseur.equations.formulation import Formulation
from torseur.formalisms.applied import applied_loads
from torseur.formalisms.matrices import Matrix, apply, dot, product, transposed
from torseur.formalisms.placements import now
from torseur.formalisms.rates import Rates
from torseur.graph import Expr, as_expr
from torseur.spatial import Force, Inertia, Motion, Transform, Vec3, skew
from torseur.tree import GROUND

Column = list[Expr]


@dataclass(frozen=True)
class LieGroup(Formulation):
    """Everything as 6x6 matrices and columns."""

    @property
    def name(self) -> str:
        return "lie_group"

    @cached_property
    def adjoints(self) -> list[Matrix]:
        """Ad of every joint: twists of the parent seen by the link."""
        return [adjoint(link.motion.transform) for link in self.tree.links]

    @cached_property
    def inertias(self) -> list[Matrix]:
        """I of every link, 6x6."""
        return [inertia_matrix(link.inertia) for link in self.tree.links]

    @cached_property
    def jacobians(self) -> list[dict[int, Column]]:
        """Per link, the columns ∂V/∂v_k that are not zero: the joint's screws, carried outward by Ad."""
        found: list[dict[int, Column]] = []
        for link, carry in zip(self.tree.links, self.adjoints, strict=True):
            columns = {} if link.parent == GROUND else {k: apply(carry, c) for k, c in found[link.parent].items()}
            slots = range(*link.v.indices(len(self.tree.layout.speeds)))
            found.append(columns | {k: column_of(s) for k, s in zip(slots, link.motion.screws, strict=True)})
        return found

    @cached_property
    def _motions(self) -> list[tuple[Column, Column]]:
        """(V, V' at constant speeds) of every link."""
        rates, found = Rates(self.tree), []
        for link, carry in zip(self.tree.links, self.adjoints, strict=True):
            own = column_of(link.motion.velocity)
            change = rates.change(own)
            if link.parent == GROUND:
                found.append((own, change))
                continue
            twist, rate = (apply(carry, part) for part in found[link.parent])
            turned = apply(bracket(own), twist)
            found.append((_sum(twist, own), _sum(_sum(rate, change), [-x for x in turned])))
        return found

    @property
    def twists(self) -> list[Column]:
        """V of every link."""
        return [twist for twist, _ in self._motions]

    def mass_matrix(self) -> list[list[Expr]]:
        """Σ Jᵀ I J."""
        n = len(self.tree.layout.speeds)
        total = [[as_expr(0)] * n for _ in range(n)]
        for columns, inertia in zip(self.jacobians, self.inertias, strict=True):
            for k, column in columns.items():
                momentum = apply(inertia, column)
                for j in columns:
                    if j <= k:
                        total[j][k] = total[k][j] = total[j][k] + dot(columns[j], momentum)
        return total

    def bias(self) -> list[Expr]:
        """Σ Jᵀ (I (V' - g) - ad(V)ᵀ I V), g the twist of free fall."""
        wrenches = {}
        for i, (inertia, pose) in enumerate(zip(self.inertias, link_poses(now(self.tree)), strict=True)):
            twist, rate = self._motions[i]
            fall = [as_expr(0)] * 3 + [as_expr(x) for x in pose.rotation.to_child(self.tree.gravity)]
            inertial = apply(inertia, [a - b for a, b in zip(rate, fall, strict=True)])
            coadjoint = apply(transposed(bracket(twist)), apply(inertia, twist))
            wrenches[i] = [a - b for a, b in zip(inertial, coadjoint, strict=True)]
        return self._generalised(wrenches)

    def loads(self) -> list[Expr]:
        applied = applied_loads(self.tree)
        along = self._generalised({i: column_of(wrench) for i, wrench in applied.wrenches.items()})
        return [a + b for a, b in zip(applied.generalised, along, strict=True)]

    def _generalised(self, wrenches: Mapping[int, Column]) -> list[Expr]:
        """Σ Jᵀ F."""
        total = [as_expr(0)] * len(self.tree.layout.speeds)
        for i, wrench in wrenches.items():
            for k, column in self.jacobians[i].items():
                total[k] = total[k] + dot(column, wrench)
        return total

    def objects(self) -> Mapping[str, Any]:
        names, links = self.tree.layout.speed_names, [link.name for link in self.tree.links]
        jacobians = {
            (link, names[k]): column
            for link, columns in zip(links, self.jacobians, strict=True)
            for k, column in columns.items()
        }
        return {
            "adjoints": dict(zip(links, self.adjoints, strict=True)),
            "twists": dict(zip(links, self.twists, strict=True)),
            "jacobians": jacobians,
            "inertias": dict(zip(links, self.inertias, strict=True)),
        }


def column_of(thing: Motion | Force) -> Column:
    """(angular, linear) of a motion, (moment, force) of a wrench."""
    parts = (thing.angular, thing.linear) if isinstance(thing, Motion) else (thing.moment, thing.force)
    return [as_expr(x) for part in parts for x in part]


def adjoint(transform: Transform) -> Matrix:
    """Ad: a twist given at the parent's origin and axes, at the child's: [[Rᵀ, 0], [-Rᵀ p̃, Rᵀ]]."""
    turn = [list(row) for row in transform.rotation.matrix.transposed.rows]
    lever = product(turn, [list(row) for row in skew(-transform.position).rows])
    return _blocks(turn, _NONE, lever, turn)


def bracket(twist: Column) -> Matrix:
    """ad(V) = [[ω̃, 0], [ṽ, ω̃]]: ad(V) U is the bracket of the twists V and U."""
    turning, moving = _tilde(twist[:3]), _tilde(twist[3:])
    return _blocks(turning, _NONE, moving, turning)


def inertia_matrix(inertia: Inertia) -> Matrix:
    """[[I, h̃], [-h̃, m 1]]."""
    matrix = [list(row) for row in inertia.matrix.rows]
    mass = [[inertia.mass if i == j else 0 for j in range(3)] for i in range(3)]
    return _blocks(matrix, _tilde([*inertia.moment]), _tilde([*-inertia.moment]), mass)


_NONE = [[0] * 3] * 3


def _tilde(v: list[Any]) -> list[list[Any]]:
    return [list(row) for row in skew(Vec3(*v)).rows]


def _blocks(a: list[list[Any]], b: list[list[Any]], c: list[list[Any]], d: list[list[Any]]) -> Matrix:
    rows = [x + y for x, y in zip(a, b, strict=True)] + [x + y for x, y in zip(c, d, strict=True)]
    return [[as_expr(entry) for entry in row] for row in rows]


def _sum(a: Column, b: Column) -> Column:
    return [x + y for x, y in zip(a, b, strict=True)]
