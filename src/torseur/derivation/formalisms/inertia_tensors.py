"""Global inertia tensors: mass matrix and Christoffel symbols as products of tensors, without any derivation.

Elementary motion i turns what it carries (Σ_i) at φ_i and moves its point O_i at t_i per unit of its rate s_i'.
With ρ_i = [O_iM; 1]

    S_i    = [φ̃_i, t_i]                             ∂OM/∂s_i = S_i ρ_i for M in Σ_i
    G_ij   = ∫ ρ_i ρ_jᵀ dm over Σ_i ∩ Σ_j             4x4, zero unless one motion carries the other
    K_ij   = S_i G_ij S_jᵀ                         kinetic tensor, 3x3
    a_ij   = tr K_ij                                mass matrix
    Γ_i,jk = φ̃_j : K_ik                             for j before k: Christoffel symbols of the first kind
    Γ_i,kk = φ̃_k : K_ik + tr(S_i G_ik [δ̃_k, τ_k]ᵀ)   δ, τ: derivatives of φ and t as the moved body sees them
    Q_i    = g · (M_i t_i + φ_i x U_ii)              weight, with U_ii and M_i the last column of G_ii

Everything of motion i is in the axes of what it moves; K_ij, and what it is contracted with, in those of the farther
motion. Tensors of composite bodies follow by G_ii = g_i + Σ_children T G_cc Tᵀ and G_ij = T G_jj, where T = [[R, r],
[0, 1]] is the place of one motion in another. Where the three axes of a quaternion or the six of a free body in its
own axes move together, Schwarz fails and Γ_i,kj = φ̃_j : K_ik holds for every ordered pair of them. A complex joint,
given by formulas or tables of one coordinate, is one screw {φ(q), t(q)}; only these have δ and τ, with S' = φ̃ S +
[δ̃, τ]. Other joints whose coordinates enter several motions, and quasi-velocities, follow by the chain rule s' = F v.
(Sandel 2007 for chains of one-dof joints.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, as_expr, directional_derivative
from torseur.algebra.spatial import NULL, Force, Motion, Transform, Vec3
from torseur.derivation.equations.formulation import Formulation
from torseur.derivation.formalisms.ingredients.applied_loads import applied_loads
from torseur.derivation.formalisms.ingredients.elementary_motions import NONE, Screw, Step, elementary_steps
from torseur.derivation.formalisms.ingredients.matrices import (
    Matrix,
    plus,
    product,
    product_with_transpose,
    transpose,
    zeros,
)
from torseur.derivation.formalisms.ingredients.placements import inertia_tensor


@dataclass(frozen=True)
class InertiaTensors(Formulation):
    """Screws are numbered through all elementary motions; screws of one motion share its point and its tensor."""

    @property
    def name(self) -> str:
        return "inertia_tensors"

    @cached_property
    def steps(self) -> list[Step]:
        """The elementary motions, each after the one that carries it."""
        return elementary_steps(self.tree)

    @cached_property
    def screws(self) -> list[tuple[int, Screw]]:
        """Every screw with the motion it belongs to."""
        return [(a, screw) for a, step in enumerate(self.steps) for screw in step.screws]

    @cached_property
    def composite_tensors(self) -> list[Matrix]:
        """G_ii of every motion: all that it carries."""
        G = [zeros(4, 4) for _ in self.steps]
        for a in reversed(range(len(self.steps))):
            step = self.steps[a]
            if step.link != NONE:
                G[a] = plus(G[a], inertia_tensor(self.tree.links[step.link].inertia))
            # Whole by now: steps stand after those that carry them, so everything beyond was added before.
            if step.before != NONE:
                T = place_matrix(step.place)
                G[step.before] = plus(G[step.before], product_with_transpose(product(T, G[a]), T))
        return G

    @cached_property
    def carrying_screws(self) -> list[dict[int, Motion]]:
        """Per motion: the screws that carry it, and its own, at its origin and in its axes, by numbers."""
        listed: list[dict[int, Motion]] = []
        for a, step in enumerate(self.steps):
            own = {k: screw.motion for k, screw in zip(self._numbers[a], step.screws, strict=True)}
            before = {} if step.before == NONE else listed[step.before]
            listed.append({k: step.place.motion_to_child(motion) for k, motion in before.items()} | own)
        return listed

    @cached_property
    def kinetic_tensors(self) -> dict[tuple[int, int], Matrix]:
        """K_ij by numbers of screws, where one carries the other; K_ji = K_ijᵀ."""
        K: dict[tuple[int, int], Matrix] = {}
        for b in range(len(self.steps)):
            for j in self._numbers[b]:
                weighed = product_with_transpose(self.composite_tensors[b], screw_matrix(self.carrying_screws[b][j]))
                for i, motion in self.carrying_screws[b].items():
                    # Both screws of one motion carry each other; each pair is taken once, its transpose follows.
                    if i <= j:
                        K[i, j] = product(screw_matrix(motion), weighed)
                        K[j, i] = transpose(K[i, j])
        return K

    @cached_property
    def bent_traces(self) -> dict[tuple[int, int], Expr]:
        """tr(S_i G_ik [δ̃_k, τ_k]ᵀ) for complex joints k and all i where one carries the other; δ and τ per second."""
        traces: dict[tuple[int, int], Expr] = {}
        for b, bent in enumerate(self._carrying_bends):
            own = set(self._numbers[b])
            weighed = {k: product_with_transpose(self.composite_tensors[b], screw_matrix(m)) for k, m in bent.items()}
            for i, motion in self.carrying_screws[b].items():
                for k, tensor in weighed.items():
                    # Here, in the axes of the farther one of both.
                    if i in own or k in own:
                        traces[i, k] = trace(product(screw_matrix(motion), tensor))
        return traces

    @cached_property
    def _carrying_bends(self) -> list[dict[int, Motion]]:
        """Per motion: (δ, τ) of the complex joints that carry it, at its origin and in its axes."""
        listed: list[dict[int, Motion]] = []
        for a, step in enumerate(self.steps):
            own = {k: screw.bend for k, screw in zip(self._numbers[a], step.screws, strict=True) if screw.bends}
            before = {} if step.before == NONE else listed[step.before]
            listed.append({k: step.place.motion_to_child(motion) for k, motion in before.items()} | own)
        return listed

    @cached_property
    def _numbers(self) -> list[range]:
        """The numbers of each motion's screws."""
        numbers, start = [], 0
        for step in self.steps:
            numbers.append(range(start, start + len(step.screws)))
            start += len(step.screws)
        return numbers

    def _way_to_earth(self, step: int) -> Iterator[int]:
        while step != NONE:
            yield step
            step = self.steps[step].before

    @cached_property
    def _turning(self) -> list[dict[int, Vec3]]:
        """Per motion a, for the motions k that carry it and itself: 2 Σ_{j before k} φ_j s_j' + Σ_{j in k} φ_j s_j'.

        Its tilde contracted with K_ik is Σ_j Γ_i,jk s_j', each pair of different motions counted in both orders.
        """
        listed = []
        for a in range(len(self.steps)):
            turning, total = dict[int, Vec3](), NULL
            # From the earth outward, `total` being what turns before k.
            for k in reversed([*self._way_to_earth(a)]):
                own = NULL
                for j in self._numbers[k]:
                    own = own + self.carrying_screws[a][j].angular * self.screws[j][1].rate
                turning[k] = total * 2 + own
                total = total + own
            listed.append(turning)
        return listed

    def mass_matrix(self) -> list[list[Expr]]:
        """Fᵀ a F with a_ij = tr K_ij."""
        n = len(self.tree.layout.speeds)
        total = [[as_expr(0)] * n for _ in range(n)]
        for (i, j), tensor in self.kinetic_tensors.items():
            entry = trace(tensor)
            for k, left in self.screws[i][1].partials.items():
                for m, right in self.screws[j][1].partials.items():
                    total[k][m] = total[k][m] + left * entry * right
        return total

    def bias(self) -> list[Expr]:
        """Fᵀ (Σ_k a_ik s_k'' + Σ_jk Γ_i,jk s_j' s_k' - weight), with s'' at constant speeds."""
        along = [-w for w in self._weights()]
        for (i, k), tensor in self.kinetic_tensors.items():
            step, screw = self.screws[k]
            # K_ik is given in the axes of the farther motion: the skew part must be taken with turning vectors seen
            # from there.
            far = max(step, self.screws[i][0])  # steps stand after those that carry them
            quadratic = skew_contraction(self._turning[far][step], tensor) * screw.rate
            along[i] = along[i] + quadratic + trace(tensor) * screw.change
        for (i, k), bent in self.bent_traces.items():
            along[i] = along[i] + bent * self.screws[k][1].rate
        return self._along_speeds(along)

    def _weights(self) -> list[Expr]:
        gravity: list[Vec3] = []
        for step in self.steps:
            before = self.tree.gravity if step.before == NONE else gravity[step.before]
            gravity.append(step.place.rotation.to_child(before))
        weights = []
        for a, screw in self.screws:
            # The last column of G = ∫ (OM, 1)(OM, 1)ᵀ dm: first moment and mass of all that the motion carries.
            *moment, mass = (row[3] for row in self.composite_tensors[a])
            weights.append(as_expr(gravity[a].dot(screw.t * mass + screw.phi.cross(Vec3(*moment)))))
        return weights

    def loads(self) -> list[Expr]:
        applied = applied_loads(self.tree)
        forces = [Force(NULL, NULL)] * len(self.steps)
        for a in reversed(range(len(self.steps))):
            step = self.steps[a]
            if step.link in applied.wrenches:
                forces[a] = forces[a] + applied.wrenches[step.link]
            if step.before != NONE:
                forces[step.before] = forces[step.before] + step.place.force_to_parent(forces[a])
        along = [as_expr(screw.motion.dot(forces[a])) for a, screw in self.screws]
        return [x + y for x, y in zip(applied.generalised, self._along_speeds(along), strict=True)]

    def _along_speeds(self, along: list[Expr]) -> list[Expr]:
        """Fᵀ of components by screw."""
        total = [as_expr(0)] * len(self.tree.layout.speeds)
        for (_, screw), component in zip(self.screws, along, strict=True):
            for k, partial in screw.partials.items():
                total[k] = total[k] + partial * component
        return total

    def inertia_tensor_of(self, i: int, j: int) -> Matrix:
        """G_ij of two screws of which i carries j: by rows in the axes of i, by columns in those of j."""
        a, b = self.screws[i][0], self.screws[j][0]
        tensor = self.composite_tensors[b]
        while b != a:
            tensor = product(place_matrix(self.steps[b].place), tensor)
            b = self.steps[b].before
        return tensor

    def christoffel_symbols(self) -> dict[tuple[str, str, str], Expr]:
        """Γ_i,jk = φ̃_j : K_ik by names of motions, for j before k or moving together with it, where not zero."""
        names = [screw.name for _, screw in self.screws]
        symbols = {}
        for (i, k), tensor in self.kinetic_tensors.items():
            step = self.screws[k][0]
            seen = self.carrying_screws[max(step, self.screws[i][0])]
            for a in self._way_to_earth(step):
                for j in self._numbers[a]:
                    value = skew_contraction(seen[j].angular, tensor)
                    if not value.is_zero:
                        symbols[names[i], names[j], names[k]] = value
        for (i, k), bent in self.bent_traces.items():
            # A complex joint has one coordinate: its δ and τ are those per unit of its rate, times this.
            (per_rate,) = directional_derivative([bent], {self.screws[k][1].rate: 1})
            total = symbols.get((names[i], names[k], names[k]), as_expr(0)) + per_rate
            symbols[names[i], names[k], names[k]] = total
        return {key: value for key, value in symbols.items() if not value.is_zero}

    def _screw_derivative(self, screw: Screw) -> Matrix:
        """S' = φ̃ S + [δ̃, τ] = [δ̃ + φ̃ φ̃, φ x t + τ], per unit of the coordinate's rate."""
        own, bent = screw_matrix(screw.motion), screw_matrix(screw.bend)
        flat = directional_derivative([entry for row in bent for entry in row], {screw.rate: 1})
        tilde = [row[:3] for row in own]
        return plus(product(tilde, own), [flat[4 * k : 4 * k + 4] for k in range(3)])

    def objects(self) -> Mapping[str, Any]:
        names = [screw.name for _, screw in self.screws]
        pairs = [(i, j) for i, j in self.kinetic_tensors if i <= j]
        pairs_of_screws = list(zip(names, (screw for _, screw in self.screws), strict=True))
        bent = {name: self._screw_derivative(screw) for name, screw in pairs_of_screws if screw.bends}
        return {
            "screws S": {name: screw_matrix(screw.motion) for name, screw in pairs_of_screws},
            **({"screw derivatives S'": bent} if bent else {}),
            "inertia tensors G": {(names[i], names[j]): self.inertia_tensor_of(i, j) for i, j in pairs},
            "kinetic tensors K": {(names[i], names[j]): self.kinetic_tensors[i, j] for i, j in pairs},
            "Christoffel symbols": self.christoffel_symbols(),
        }


def screw_matrix(motion: Motion) -> Matrix:
    """S = [φ̃, t]."""
    p, t = motion.angular, motion.linear
    rows = [[0, -p.z, p.y, t.x], [p.z, 0, -p.x, t.y], [-p.y, p.x, 0, t.z]]
    return [[as_expr(entry) for entry in row] for row in rows]


def place_matrix(place: Transform) -> Matrix:
    """T = [[R, r], [0, 1]]."""
    rows = [[*row, r] for row, r in zip(place.rotation.matrix.rows, place.position, strict=True)]
    return [[as_expr(entry) for entry in row] for row in [*rows, [0, 0, 0, 1]]]


def trace(tensor: Matrix) -> Expr:
    return tensor[0][0] + tensor[1][1] + tensor[2][2]


def skew_contraction(v: Vec3, tensor: Matrix) -> Expr:
    """ṽ : K."""
    axial = Vec3(tensor[2][1] - tensor[1][2], tensor[0][2] - tensor[2][0], tensor[1][0] - tensor[0][1])
    return as_expr(v.dot(axial))
