"""Derivatives of the equations by the state without any derivation, from global inertia tensors.

With v_i = ∂OM/∂q_i for the points M that motion i carries, a second motion l turns or moves v_i as it does every vector
it carries: ∂v_i/∂q_l = φ_a x v_b, where a is the one of i and l nearer to the earth and b the other. So

    ∂K_ij/∂q_l   = φ̃_a K_bj - K_ib' φ̃_a'          a, b of i and l;  a', b' of j and l
    ∂a_ij/∂q_l   = tr ∂K_ij/∂q_l
    ∂φ_j/∂q_l    = φ_l x φ_j                        where l carries j, else 0
    ∂Γ_i,jk/∂q_l = (∂φ_j/∂q_l)~ : K_ik + φ̃_j : ∂K_ik/∂q_l
    ∂Q_i/∂q_l    = g · (φ_a x (M_b t_b + φ_b x U_bb))

for mechanisms whose coordinates each drive one elementary motion. (Sandel 2007, part 3, in earth axes and for trees.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from torseur.algebra.graph import Expr, as_expr, symbols_of
from torseur.algebra.spatial import Rotation, Vec3
from torseur.derivation.dynamics import coordinate_rates
from torseur.derivation.formalisms.inertia_tensors import InertiaTensors, skew_contraction, trace
from torseur.derivation.formalisms.ingredients.elementary_motions import NONE
from torseur.derivation.formalisms.ingredients.matrices import Matrix, plus, product, product_with_transpose, zeros
from torseur.derivation.tree.flatten import flatten
from torseur.description.mechanism import TIME


@dataclass(frozen=True, eq=False)
class TensorDerivatives:
    """∂/∂q and ∂/∂v of M a + b, from the tensors of a mechanism; `screws` are in the order of the speeds."""

    tensors: InertiaTensors

    @property
    def is_possible(self) -> bool:
        """Whether each coordinate drives exactly one motion, at its own rate, of a mechanism of constants."""
        tree, layout = self.tensors.tree, self.tensors.tree.layout
        driven = tuple(screw.rate for _, screw in self.tensors.screws)
        rates = tuple(coordinate_rates(tree))
        # Screws of a body that moves in its own axes are driven at the speeds, too; but these are quasi-velocities, of
        # which no coordinate is the integral: ∂/∂q_l would not turn what motion l carries.
        if driven != layout.speeds or rates != layout.speeds:
            return False
        # ∂/∂q_l of a complex joint's screw would be its second derivative.
        if any(screw.bends for _, screw in self.tensors.screws):
            return False
        axes = [[motion.axis for motion in link.joint.motions] for link in tree.links]
        constants = flatten([tree.gravity, axes, [(link.base, link.inertia) for link in tree.links]])
        moving = {*layout.coordinates, *layout.speeds, TIME}
        return moving.isdisjoint(symbols_of([leaf for leaf in constants if isinstance(leaf, Expr)]))

    @cached_property
    def _ways(self) -> list[set[int]]:
        """For each screw those that carry it, itself included."""
        steps, ways = self.tensors.steps, []
        for step, _ in self.tensors.screws:
            way = set()
            while step != NONE:
                way |= {k for k, (other, _) in enumerate(self.tensors.screws) if other == step}
                step = steps[step].before
            ways.append(way)
        return ways

    def _order(self, i: int, j: int) -> tuple[int, int] | None:
        """(nearer to the earth, the other), None when neither carries the other."""
        if i in self._ways[j]:
            return i, j
        return (j, i) if j in self._ways[i] else None

    @cached_property
    def _axes(self) -> list[Rotation]:
        """The axes of every motion in those of the earth, in which what turns together is added."""
        listed: list[Rotation] = []
        for step in self.tensors.steps:
            own = step.place.rotation
            listed.append(own if step.before == NONE else listed[step.before].then(own))
        return listed

    @cached_property
    def _phis(self) -> list[Vec3]:
        return [self._axes[step].to_parent(screw.phi) for step, screw in self.tensors.screws]

    def _phi(self, i: int) -> Vec3:
        return self._phis[i]

    @cached_property
    def _kinetics(self) -> dict[tuple[int, int], Matrix]:
        """R K Rᵀ, K being in the axes of the farther motion."""
        turned = {}
        for (i, j), tensor in self.tensors.kinetic_tensors.items():
            rows = [list(row) for row in self._axes[max(self.tensors.screws[n][0] for n in (i, j))].matrix.rows]
            turned[i, j] = product_with_transpose(product(rows, tensor), rows)
        return turned

    def _kinetic(self, i: int, j: int) -> Matrix:
        return self._kinetics.get((i, j), zeros(3, 3))

    def kinetic_derivative(self, i: int, j: int, l: int) -> Matrix:
        """∂K_ij/∂q_l."""
        total = zeros(3, 3)
        # Both vectors of K_ij turn with q_l: the first from the left, the second, transposed, from the right.
        first, second = self._order(i, l), self._order(j, l)
        if first is not None:
            total = plus(total, product(_tilde(self._phi(first[0])), self._kinetic(first[1], j)))
        if second is not None:
            total = plus(total, product(self._kinetic(i, second[1]), _tilde(-self._phi(second[0]))))
        return total

    def mass_derivative(self, i: int, j: int, l: int) -> Expr:
        """∂a_ij/∂q_l."""
        return trace(self.kinetic_derivative(i, j, l))

    def christoffel(self, i: int, j: int, k: int) -> Expr:
        """Γ_i,jk for j carrying k or equal to it; 0 otherwise."""
        return skew_contraction(self._phi(j), self._kinetic(i, k)) if j in self._ways[k] else as_expr(0)

    def christoffel_derivative(self, i: int, j: int, k: int, l: int) -> Expr:
        """∂Γ_i,jk/∂q_l for j carrying k or equal to it; 0 otherwise."""
        if j not in self._ways[k]:
            return as_expr(0)
        total = skew_contraction(self._phi(j), self.kinetic_derivative(i, k, l))
        if l in self._ways[j] and l != j:
            total = total + skew_contraction(self._phi(l).cross(self._phi(j)), self._kinetic(i, k))
        return total

    def weight_derivative(self, i: int, l: int) -> Expr:
        """∂Q_i/∂q_l of the weight."""
        pair = self._order(i, l)
        if pair is None:
            return as_expr(0)
        near, far = pair
        step, screw = self.tensors.screws[far]
        # The last column of the composite tensor: first moment and mass of everything that this motion carries.
        *moment, mass = (row[3] for row in self.tensors.composite_tensors[step])
        velocity = self._axes[step].to_parent(screw.t * mass + screw.phi.cross(Vec3(*moment)))
        return as_expr(self.tensors.tree.gravity.dot(self._phi(near).cross(velocity)))

    def by_coordinate(self, i: int, l: int) -> Expr:
        """∂(M a + b)_i/∂q_l at given speeds and accelerations."""
        layout = self.tensors.tree.layout
        total = -self.weight_derivative(i, l)
        for j, acceleration in enumerate(layout.accelerations):
            total = total + self.mass_derivative(i, j, l) * acceleration
        for j, k, twice in self._pairs:
            derivative = self.christoffel_derivative(i, j, k, l)
            total = total + twice * derivative * layout.speeds[j] * layout.speeds[k]
        return total

    def by_speed(self, i: int, l: int) -> Expr:
        """∂(M a + b)_i/∂v_l."""
        speeds, total = self.tensors.tree.layout.speeds, as_expr(0)
        for j, k, twice in self._pairs:
            symbol = self.christoffel(i, j, k)
            total = total + twice * symbol * ((speeds[k] if l == j else 0) + (speeds[j] if l == k else 0))
        return total

    @cached_property
    def _pairs(self) -> list[tuple[int, int, int]]:
        """Pairs of motions of which the first carries the second, and how often their product of rates counts."""
        count = range(len(self.tensors.screws))
        # Γ_i,jk v_j v_k and Γ_i,kj v_k v_j are one term counted twice; only the order in which j carries k is kept.
        return [(j, k, 1 if j == k else 2) for k in count for j in sorted(self._ways[k])]

    def residual_derivatives(self) -> list[list[Expr]]:
        """Derivatives of M a + b by coordinates, then by speeds: a row per equation."""
        count = range(len(self.tensors.screws))
        return [[*(self.by_coordinate(i, l) for l in count), *(self.by_speed(i, l) for l in count)] for i in count]


def _tilde(v: Vec3) -> Matrix:
    rows = [[0, -v.z, v.y], [v.z, 0, -v.x], [-v.y, v.x, 0]]
    return [[as_expr(entry) for entry in row] for row in rows]
