"""Factors of the mass matrix from articulated bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.algebra.spatial import Force, Scalar
from torseur.algebra.spatial.bodies import articulated_inertia, articulated_to_parent, eliminate_screw
from torseur.derivation.dynamics.forward_dynamics import moving_inertia, scale_force
from torseur.derivation.tree import GROUND, Snapshot, Tree


@dataclass(frozen=True)
class MassMatrixFactors:
    """M = Lᵀ D L with ones on the diagonal of L: `lower[k]` maps i < k to L_ki, `inverse[k]` is 1/D_k."""

    lower: tuple[dict[int, Scalar], ...]
    inverse: tuple[Scalar, ...]


def mass_matrix_factors(tree: Tree, q: Sequence[Scalar], t: Scalar | None = None) -> MassMatrixFactors:
    """The factors that elimination from the last speed to the first would give (Rodriguez, Jain and Kreutz 1991).

    A pivot is the inertia that a joint feels when those beyond it are free, and an entry of L the part that an
    acceleration nearer to the earth has in it: the gain of the joint, carried there. Elimination in the matrix takes
    the difference of what the joint feels when all beyond it is frozen and what then yields; where light links carry
    heavy ones that cancels, and here it does not.
    """
    now = tree.at(q, None, t)
    n = len(tree.layout.speeds)
    lower: list[dict[int, Scalar]] = [{} for _ in range(n)]
    inverse: list[Scalar] = [0] * n
    inertias = [articulated_inertia(link.inertia) for link in now.links]
    #     M = Lᵀ D L      L = | 1           |     row k of L: what joint k's acceleration owes to those before it;
    #                         | L_21  1     |     zero where k does not hang on i, so L has the sparsity of the tree
    #                         | L_31  0   1 |     and elimination fills nothing in (Featherstone 2005).
    for i in tree.inward():
        inertia, screws = inertias[i], now.links[i].motion.screws
        slots = range(*tree.links[i].v.indices(n))
        for k, screw in reversed(list(zip(slots, screws, strict=True))):
            needed = inertia @ screw
            inverse[k] = 1 / moving_inertia(screw.dot(needed), tree, i)
            gain = scale_force(needed, inverse[k])
            lower[k] = _shares(now, i, k, gain)
            inertia = eliminate_screw(inertia, gain, needed)
        if tree.parent(i) != GROUND:
            carried = articulated_to_parent(now.links[i].motion.transform, inertia)
            inertias[tree.parent(i)] = inertias[tree.parent(i)] + carried
    return MassMatrixFactors(tuple(lower), tuple(inverse))


def _shares(now: Snapshot, i: int, k: int, gain: Force) -> dict[int, Scalar]:
    """The entries of row k of L: the gain of its joint along the screws before it, up to the earth."""
    tree, n = now.tree, len(now.tree.layout.speeds)
    row: dict[int, Scalar] = {}
    while True:
        for j, screw in zip(range(*tree.links[i].v.indices(n)), now.links[i].motion.screws, strict=True):
            if j < k:
                row[j] = screw.dot(gain)
        if tree.parent(i) == GROUND:
            return row
        gain = now.links[i].motion.transform.force_to_parent(gain)
        i = tree.parent(i)
