"""Factors of the mass matrix from articulated bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.algebra.spatial import Force, Scalar
from torseur.algebra.spatial.articulated_inertia import articulated_inertia, articulated_to_parent, eliminate_screw
from torseur.derivation.dynamics.mass_matrix import composite_inertias, mass_matrix
from torseur.derivation.tree import GROUND, Snapshot, Tree
from torseur.errors import MechanismError


@dataclass(frozen=True)
class MassMatrixFactors:
    """M = Lᵀ D L with ones on the diagonal of L: `lower[k]` maps i < k to L_ki, `inverse[k]` is 1/D_k."""

    lower: tuple[dict[int, Scalar], ...]
    inverse: tuple[Scalar, ...]

    def solve(self, right: Sequence[Scalar]) -> list[Scalar]:
        """x with M x = b: L⁻ᵀ from the last row up, D⁻¹, then L⁻¹ from the first row down."""
        x = list(right)
        for k in range(len(x) - 1, -1, -1):
            for i, entry in self.lower[k].items():
                x[i] = x[i] - entry * x[k]
        for k, inverse in enumerate(self.inverse):
            x[k] = x[k] * inverse
            for i, entry in self.lower[k].items():
                x[k] = x[k] - entry * x[i]
        return x


def mass_matrix_factors(tree: Tree, q: Sequence[Scalar], t: Scalar | None = None) -> MassMatrixFactors:
    """The factors that elimination from the last speed to the first would give (Rodriguez, Jain and Kreutz 1991).

    A pivot is the inertia that a joint feels when those beyond it are free, and an entry of L the part that an
    acceleration nearer to the earth has in it: the gain of the joint, carried there. Elimination in the matrix takes
    the difference of what the joint feels when all beyond it is frozen and what then yields; where light links carry
    heavy ones that cancels, and here it does not.
    """
    if tree.is_coupled:
        return eliminate(tree, mass_matrix(tree, q, t))
    now = tree.at(q, None, t)
    n = len(tree.layout.speeds)
    lower: list[dict[int, Scalar]] = [{} for _ in range(n)]
    inverse: list[Scalar] = [0] * n
    inertias = [articulated_inertia(link.inertia) for link in now.links]
    rotors = wheel_inertias(now)
    #     M = Lᵀ D L      L = | 1           |     row k of L: what joint k's acceleration owes to those before it;
    #                         | L_21  1     |     zero where k does not hang on i, so L has the sparsity of the tree
    #                         | L_31  0   1 |     and elimination fills nothing in (Featherstone 2005).
    for i in tree.inward():
        if i in tree.wheels:
            continue
        inertia, screws = inertias[i], now.links[i].motion.screws
        # From the last screw of a joint to its first, as from the last joint to the first: rows of L know earlier slots
        # only.
        for k, screw in reversed(list(zip(tree.links[i].slots, screws, strict=True))):
            needed = inertia @ screw
            inverse[k] = 1 / moving_inertia(screw.dot(needed) + rotors.get(k, 0), tree, i)
            gain = scale_force(needed, inverse[k])
            lower[k] = _shares(now, i, k, gain)
            inertia = eliminate_screw(inertia, gain, needed)
        if tree.parent(i) != GROUND:
            carried = articulated_to_parent(now.links[i].motion.transform, inertia)
            inertias[tree.parent(i)] = inertias[tree.parent(i)] + carried
    return MassMatrixFactors(tuple(lower), tuple(inverse))


def inertias_of_joints(tree: Tree, q: Sequence[Scalar]) -> list[tuple[Scalar, Scalar]]:
    """For each screw of each joint, the inertia along it with all that it carries frozen, and with that yielding.

    The diagonal entry and the pivot of M = Lᵀ D L in linear time, without the matrix; for trees in which no joint
    follows another.
    """
    now = tree.at(q)
    composite, inertias = composite_inertias(now), [articulated_inertia(link.inertia) for link in now.links]
    pivots = []
    for i in tree.inward():
        inertia, motion = inertias[i], now.links[i].motion
        for screw in reversed(motion.screws):
            needed = inertia @ screw
            pivot = screw.dot(needed)
            pivots.append((screw.dot(composite[i] @ screw), pivot))
            if not _is_zero(pivot):
                inertia = eliminate_screw(inertia, scale_force(needed, 1 / pivot), needed)
        if tree.parent(i) != GROUND:
            inertias[tree.parent(i)] = inertias[tree.parent(i)] + articulated_to_parent(motion.transform, inertia)
    return pivots


def wheel_inertias(now: Snapshot) -> dict[int, Scalar]:
    """S · I S of the wheels that follow a speed, by its slot: nothing but the speed's own pivot feels them."""
    inertias: dict[int, Scalar] = {}
    for i in sorted(now.tree.wheels):
        (k,), (screw,) = now.tree.links[i].slots, now.links[i].motion.screws
        inertias[k] = inertias.get(k, 0) + screw.dot(now.links[i].inertia @ screw)
    return inertias


def eliminate(tree: Tree, matrix: Sequence[Sequence[Scalar]]) -> MassMatrixFactors:
    """The factors of a mass matrix, row by row from the last one; for trees in which a speed moves several joints.

    There no joint can be eliminated on its own, and rows that only the coupling ties fill in.
    """
    left = [list(row) for row in matrix]
    lower: list[dict[int, Scalar]] = [{} for _ in left]
    inverse: list[Scalar] = [0] * len(left)
    for k in range(len(left) - 1, -1, -1):
        inverse[k] = 1 / moving_inertia(left[k][k], tree, tree.moved_by[k][0])
        lower[k] = {i: left[k][i] * inverse[k] for i in range(k) if not _is_zero(left[k][i])}
        for i, entry in lower[k].items():
            for j in lower[k]:
                if j <= i:
                    left[i][j] = left[i][j] - entry * left[k][j]
    return MassMatrixFactors(tuple(lower), tuple(inverse))


def _is_zero(value: Scalar) -> bool:
    """Whether an entry is zero whatever the state: a number that is zero by chance is divided like any other."""
    return getattr(value, "is_zero", False) is True or (isinstance(value, int) and value == 0)


def scale_force(force: Force, factor: Scalar) -> Force:
    """A force times a number."""
    return Force(force.moment * factor, force.force * factor)


def moving_inertia(stiffness: Scalar, tree: Tree, i: int) -> Scalar:
    """The inertia along a joint; refuses one that is always zero."""
    if getattr(stiffness, "is_zero", False) is True:
        link = tree.links[i]
        raise MechanismError(
            f"joint '{link.joint.name}' moves nothing that has mass: body '{link.name}' (and what it carries) has no "
            "inertia along it, so its acceleration is undetermined. Give the body a mass or an inertia."
        )
    return stiffness


def _shares(now: Snapshot, i: int, k: int, gain: Force) -> dict[int, Scalar]:
    """The entries of row k of L: the gain of its joint along the screws before it, up to the earth."""
    tree = now.tree
    row: dict[int, Scalar] = {}
    while True:
        for j, screw in zip(tree.links[i].slots, now.links[i].motion.screws, strict=True):
            if j < k:
                row[j] = screw.dot(gain)
        if tree.parent(i) == GROUND:
            return row
        gain = now.links[i].motion.transform.force_to_parent(gain)
        i = tree.parent(i)
