"""The generation algorithm of Papegay's slides: independent bodies first, then joints as a change of parameters.

Every body i has its velocity q_i = (v(O_i), ω_i), both in earth axes at the origin O_i of its frame. Independent, the
bodies obey M q' = S + F with

    M_i = | μ 1    -μ r̃ |      S_i = | -μ ω̃ ω̃ r  |      F_i = | μ g + f       |
          | μ r̃     I_O |            | -ω̃ I_O ω |            | μ r̃ g + m_O |

where r goes from O_i to the mass centre. The joint that carries body j on body i gives q_j = Ψ_i q_i + Ψ_j v_j + d_j:

    Ψ_i = | 1  -(O_iO_j)~ |      Ψ_j = | t |  one column per speed of the joint
          | 0       1     |            | φ |

and d_j is the velocity that a joint has which time drives. Breadth first, the product of these is q = Ψ v + d, and
Ψᵀ M Ψ v' = Ψᵀ (S + F - M (Ψ' v + d')) are the equations of the tree.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property

from torseur.algebra.graph import Expr, as_expr, substitute
from torseur.algebra.spatial import Transform, Vec3
from torseur.derivation.dynamics.kinematics import link_poses
from torseur.derivation.equations import Equations
from torseur.derivation.equations.terms.trigonometry import vanishes
from torseur.derivation.formalisms.ingredients.placements import now
from torseur.derivation.tree import GROUND

Rows = list[list[Expr]]


@dataclass(frozen=True, eq=False)
class GenerationSteps:
    """The matrices of the algorithm for the spanning tree of a mechanism, bodies in the tree's order."""

    equations: Equations

    @property
    def count(self) -> int:
        """N, the number of bodies that move."""
        return len(self.equations.tree.links)

    @cached_property
    def poses(self) -> list[Transform]:
        return link_poses(now(self.equations.tree))

    def rotation(self, i: int) -> Rows:
        """R from the axes of body i to those of the earth."""
        return [[as_expr(x) for x in row] for row in self.poses[i].rotation.matrix.rows]

    @cached_property
    def breadth_first(self) -> list[int]:
        """The bodies in the order in which a breadth-first search from the earth meets them."""
        children: dict[int, list[int]] = {}
        for i in range(self.count):
            children.setdefault(self.equations.tree.parent(i), []).append(i)
        order, waiting = [], deque(children.get(GROUND, []))
        while waiting:
            i = waiting.popleft()
            order.append(i)
            waiting.extend(children.get(i, []))
        return order

    def mass_block(self, i: int) -> Rows:
        """M_i, 6 x 6."""
        inertia, turn = self.equations.tree.links[i].inertia, self.poses[i].rotation.matrix
        first = _tilde(turn @ inertia.moment)
        tensor = self._inertia_in_earth_axes(i)
        upper = [[_unit(a, b) * inertia.mass for b in range(3)] + [-x for x in first[a]] for a in range(3)]
        return [*upper, *([*first[a], *tensor[a]] for a in range(3))]

    def _inertia_in_earth_axes(self, i: int) -> Rows:
        """R I_O Rᵀ, column by column."""
        turn, matrix = self.poses[i].rotation.matrix, self.equations.tree.links[i].inertia.matrix
        columns = [list(turn @ (matrix @ Vec3(*row))) for row in self.rotation(i)]
        return [[as_expr(columns[b][a]) for b in range(3)] for a in range(3)]

    def lever(self, j: int) -> list[Expr]:
        """O_iO_j from the body that carries body j, in earth axes; from the earth's origin for the first bodies."""
        parent = self.equations.tree.parent(j)
        own = self.poses[j].position
        return [as_expr(x) for x in (own if parent == GROUND else own - self.poses[parent].position)]

    def own_columns(self, j: int) -> Rows:
        """Ψ_j, 6 rows and a column per speed that moves the joint."""
        turn = self.poses[j].rotation.matrix
        moving = now(self.equations.tree).links[j].motion
        columns = [[*(turn @ screw.linear), *(turn @ screw.angular)] for screw in moving.screws]
        return [[as_expr(column[row]) for column in columns] for row in range(6)]

    @cached_property
    def product(self) -> list[Rows]:
        """Ψ of every body, 6 rows and a column per speed of the mechanism: Ψ_i Ψ(parent), and the joint's own."""
        n = len(self.equations.layout.speeds)
        blocks: dict[int, Rows] = {}
        for j in self.breadth_first:
            parent = self.equations.tree.parent(j)
            carried = [[as_expr(0)] * n for _ in range(6)] if parent == GROUND else self._velocities(j, blocks[parent])
            for row, own in zip(carried, self.own_columns(j), strict=True):
                for slot, entry in zip(self.equations.tree.links[j].slots, own, strict=True):
                    row[slot] = row[slot] + entry
            blocks[j] = carried
        return [blocks[i] for i in range(self.count)]

    def _velocities(self, j: int, of_parent: Rows) -> Rows:
        """Ψ_i Ψ(parent): v(O_j) = v(O_i) + ω_i x O_iO_j."""
        lever = _tilde(Vec3(*self.lever(j)))
        linear = [
            # v - r̃ ω row by row, r = O_iO_j.
            [v - sum((lever[a][b] * of_parent[3 + b][k] for b in range(3)), as_expr(0)) for k, v in enumerate(row)]
            for a, row in enumerate(of_parent[:3])
        ]
        return [*linear, *(list(row) for row in of_parent[3:])]

    def reduced_mass_matrix(self) -> Rows:
        """Ψᵀ M Ψ."""
        n = len(self.equations.layout.speeds)
        total = [[as_expr(0)] * n for _ in range(n)]
        for i, psi in enumerate(self.product):
            block = self.mass_block(i)
            weighed = [[_dot(row, [psi[b][k] for b in range(6)]) for k in range(n)] for row in block]
            for j in range(n):
                for k in range(n):
                    total[j][k] = total[j][k] + _dot([psi[a][j] for a in range(6)], [weighed[a][k] for a in range(6)])
        return total

    def velocities(self) -> Rows:
        """q_i of every body: Ψ v + d."""
        tree = self.equations.tree
        rows: list[list[Expr]] = [[] for _ in range(self.count)]
        for j in self.breadth_first:
            parent = tree.parent(j)
            turn = self.poses[j].rotation.matrix
            motion = now(tree).links[j].motion.velocity
            own = [as_expr(x) for x in (*(turn @ motion.linear), *(turn @ motion.angular))]
            if parent != GROUND:
                before, lever = rows[parent], Vec3(*self.lever(j))
                swept = Vec3(*before[3:]).cross(lever)
                own = [a + b for a, b in zip(own, (*(Vec3(*before[:3]) + swept), *before[3:]), strict=True)]
            rows[j] = [as_expr(x) for x in own]
        return rows

    @cached_property
    def is_driven(self) -> bool:
        """Whether joints move with time, so that d is not zero."""
        still: dict[Expr, Expr] = {v: as_expr(0) for v in self.equations.layout.speeds}
        return any(not vanishes(x) for row in self.velocities() for x in substitute(row, still))


def _tilde(r: Vec3) -> Rows:
    x, y, z = (as_expr(e) for e in r)
    zero = as_expr(0)
    return [[zero, -z, y], [z, zero, -x], [-y, x, zero]]


def _unit(a: int, b: int) -> Expr:
    return as_expr(int(a == b))


def _dot(first: list[Expr], second: list[Expr]) -> Expr:
    return sum((a * b for a, b in zip(first, second, strict=True)), as_expr(0))
