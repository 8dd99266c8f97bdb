"""Lie group: twists of bodies in SE(3), adjoint matrices and brackets.

Principle (Poincaré): on a group, Lagrange's equations of the body velocity V are I V' - ad(V)ᵀ I V = F. Recursion by
adjoints: Park, Bobrow and Ploen 1995, for chains and one-dof joints.

    V, F      twist (ω, v) and wrench (m, f), at the link's origin in its axes  `twists`
    Ad_i      6x6, takes twists of the parent to link i               `adjoints`
    ad(V)     6x6, ad(V) U is the bracket [V, U]                      `bracket`
    I         inertia, 6x6                                            `inertias`
    V_J       S v (+ what time drives), the twist of the joint        `link.motion`
    J_i       columns ∂V_i/∂v                                         `jacobians`

    V_i  = Ad_i V_p + V_J
    V_i' = Ad_i V_p' - ad(V_J) Ad_i V_p + V_J'     because Ad_i' = -ad(V_J) Ad_i

Σ J_iᵀ (I V' - ad(V)ᵀ I V - F) = 0 gives M = Σ Jᵀ I J, b the rest at constant speeds with V' less free fall, Q = Σ Jᵀ
F of the loads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.spatial import Force, Inertia, Motion, Transform, Vec3, skew
from torseur.derivation.dynamics import link_poses
from torseur.derivation.equations.formulation import Formulation
from torseur.derivation.formalisms.ingredients.applied_loads import applied_loads
from torseur.derivation.formalisms.ingredients.coordinate_rates import Rates
from torseur.derivation.formalisms.ingredients.matrices import Matrix, apply, dot, product, transpose
from torseur.derivation.formalisms.ingredients.placements import now
from torseur.derivation.tree import GROUND

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
        jacobians: list[dict[int, Column]] = []
        for link, carry in zip(self.tree.links, self.adjoints, strict=True):
            columns = {} if link.parent == GROUND else {k: apply(carry, c) for k, c in jacobians[link.parent].items()}
            for k, screw in zip(link.slots, link.motion.screws, strict=True):
                own = column_of(screw)
                columns[k] = _sum(columns[k], own) if k in columns else own
            jacobians.append(columns)
        return jacobians

    @cached_property
    def _motions(self) -> list[tuple[Column, Column]]:
        """(V, V' at constant speeds) of every link."""
        rates, motions = Rates(self.tree), []
        for link, carry in zip(self.tree.links, self.adjoints, strict=True):
            own = column_of(link.motion.velocity)
            change = rates.change(own)
            if link.parent == GROUND:
                motions.append((own, change))
                continue
            twist, rate = (apply(carry, part) for part in motions[link.parent])
            # V = Ad V_p + V_J. Ad turns with the joint, Ad' = -ad(V_J) Ad, so that V' = Ad V_p' + V_J' - ad(V_J) Ad
            # V_p.
            turned = apply(bracket(own), twist)  # -Ad' V_p
            motions.append((_sum(twist, own), _sum(_sum(rate, change), [-x for x in turned])))
        return motions

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
                    # M is symmetric, and columns that are zero for a link are not in its dictionary.
                    if j <= k:
                        total[j][k] = total[k][j] = total[j][k] + dot(columns[j], momentum)
        return total

    def bias(self) -> list[Expr]:
        """Σ Jᵀ (I (V' - g) - ad(V)ᵀ I V), g the twist of free fall."""
        wrenches = {}
        for i, (inertia, pose) in enumerate(zip(self.inertias, link_poses(now(self.tree)), strict=True)):
            twist, rate = self._motions[i]
            # Weight is -I g for every link: the acceleration is counted from free fall, and gravity needs no wrench.
            fall = [as_expr(0)] * 3 + [as_expr(x) for x in pose.rotation.to_child(self.tree.gravity)]
            inertial = apply(inertia, [a - b for a, b in zip(rate, fall, strict=True)])
            # -ad(V)ᵀ P is V x* P for the momentum P = I V.
            coadjoint = apply(transpose(bracket(twist)), apply(inertia, twist))
            wrenches[i] = [a - b for a, b in zip(inertial, coadjoint, strict=True)]
        return self._generalised_forces(wrenches)

    def loads(self) -> list[Expr]:
        applied = applied_loads(self.tree)
        along = self._generalised_forces({i: column_of(wrench) for i, wrench in applied.wrenches.items()})
        return [a + b for a, b in zip(applied.generalised, along, strict=True)]

    def _generalised_forces(self, wrenches: Mapping[int, Column]) -> list[Expr]:
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
    turn = [list(row) for row in transform.rotation.matrix.transpose.rows]
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
