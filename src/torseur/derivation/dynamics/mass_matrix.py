"""Mass matrix: composite rigid bodies."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.algebra.spatial import Inertia, Scalar
from torseur.derivation.tree import GROUND, Moving, Snapshot, Tree
from torseur.derivation.tree.transformations.limb_batching import sum_over_copies


def mass_matrix(tree: Tree, q: Sequence[Scalar], t: Scalar | None = None) -> list[list[Scalar]]:
    """M(q), symmetric: ½ vᵀ M v is the kinetic energy of the speeds v.

    Entry (j, k) is the force along screw j that a unit rate of screw k takes, everything the joint of k carries
    moving as one body (Walker and Orin 1982).
    """
    now = tree.at(q, None, t)
    links, composite = now.links, composite_inertias(now)
    n = len(tree.layout.speeds)
    entries: list[list[Scalar]] = [[0] * n for _ in range(n)]
    # Entries of joints on different limbs stay zero: neither carries the other.
    for i in tree.inward():
        screws = list(zip(tree.links[i].slots, links[i].motion.screws, strict=True))
        for number, (k, screw) in enumerate(screws):
            force = composite[i] @ screw
            _add(entries, k, k, screw.dot(force))
            for j, other in screws[:number]:
                _add_both(entries, j, k, other.dot(force))
            _couple_with_ancestors(tree, links, i, k, force, entries)
    return entries


def _add(entries: list[list[Scalar]], j: int, k: int, value: Scalar) -> None:
    entries[j][k] = entries[j][k] + value


def _add_both(entries: list[list[Scalar]], j: int, k: int, value: Scalar) -> None:
    """Adds the product of two screws at both of its places; the diagonal has it twice where one speed moves both."""
    _add(entries, j, k, value)
    _add(entries, k, j, value)


def _couple_with_ancestors(
    tree: Tree, links: Sequence[Moving], i: int, k: int, force: Scalar, entries: list[list[Scalar]]
) -> None:
    """Adds to row and column k what the force takes, carried toward the earth."""
    while tree.parent(i) != GROUND:
        force = links[i].motion.transform.force_to_parent(force)
        i = tree.parent(i)
        for j, screw in zip(tree.links[i].slots, links[i].motion.screws, strict=True):
            _add_both(entries, j, k, screw.dot(force))


def composite_inertias(now: Snapshot) -> list[Inertia]:
    """For each link, the inertia of all it carries as if frozen, in its frame."""
    tree, links = now.tree, now.links
    composite = [link.inertia for link in links]
    for i in tree.inward():
        if tree.parent(i) != GROUND:
            carried = links[i].motion.transform.inertia_to_parent(composite[i])
            composite[tree.parent(i)] = composite[tree.parent(i)] + sum_over_copies(tree.links[i].copies, carried)
    return composite
