"""Bodies as 3x4 placements and 4x4 inertias: mechanics of positions alone, without angular velocities.

A point with coordinates ξ in a link is at r = H [ξ; 1], H = [R, p] the link's rotation and origin in the earth
frame. With the link's tensor g = ∫ [ξ; 1][ξ; 1]ᵀ dm, sums over the mass are traces: the kinetic energy is ½
tr(H' g H'ᵀ).
"""

from __future__ import annotations

from collections.abc import Sequence

from torseur.algebra.graph import Expr, as_expr, jacobian
from torseur.algebra.spatial import Force, Inertia, Transform
from torseur.derivation.dynamics import link_poses
from torseur.derivation.formalisms.ingredients.matrices import Matrix, dot, flat, product, rows_of, zeros
from torseur.derivation.tree import Snapshot, Tree


def now(tree: Tree) -> Snapshot:
    """The tree at the state of its own symbols."""
    return tree.at(tree.layout.coordinates, tree.layout.speeds)


def placement_of(transform: Transform) -> Matrix:
    """[R, p] of a transform."""
    rows, position = transform.rotation.matrix.rows, list(transform.position)
    return [[as_expr(x) for x in (*row, p)] for row, p in zip(rows, position, strict=True)]


def link_placements(tree: Tree) -> list[Matrix]:
    """H of every link as expressions of q and t."""
    return [placement_of(pose) for pose in link_poses(now(tree))]


def inertia_tensor(inertia: Inertia) -> Matrix:
    """g = [[π, h], [hᵀ, m]] with π = tr(I)/2 - I, the second moments of the mass (Poinsot)."""
    i, h = inertia.matrix, list(inertia.moment)
    half = (i.xx + i.yy + i.zz) / 2
    pi = [[half - i.xx, -i.xy, -i.xz], [-i.xy, half - i.yy, -i.yz], [-i.xz, -i.yz, half - i.zz]]
    rows = [[*row, moment] for row, moment in zip(pi, h, strict=True)] + [[*h, inertia.mass]]
    return [[as_expr(x) for x in row] for row in rows]


def force_on_placement(placement: Matrix, wrench: Force) -> Matrix:
    """The 3x4 force whose power is its contraction with H': R [½ m̃, f] for a wrench (m, f) in the link's axes.

    The columns of R turn at ω x, so ½ Σ (m x column) · column' is m · ω.
    """
    # ½ m̃ : ω̃ = m · ω: a skew matrix holds each component twice.
    m, f = wrench.moment, wrench.force
    local = [[0, -m.z / 2, m.y / 2, f.x], [m.z / 2, 0, -m.x / 2, f.y], [-m.y / 2, m.x / 2, 0, f.z]]
    return product([row[:3] for row in placement], local)


def weight_on_placement(tree: Tree, tensor: Matrix) -> Matrix:
    """The 3x4 force of gravity on a link: g_s times the first moment and the mass, whatever its placement."""
    return [[as_expr(component) * moment for moment in tensor[3]] for component in tree.gravity]


def partial_placements(entries: Sequence[Expr], symbols: Sequence[Expr]) -> dict[int, list[Expr]]:
    """The derivatives of a placement (or of its rate), entry by entry, by each symbol it depends on."""
    columns: dict[int, list[Expr]] = {}
    for (row, k), entry in jacobian(entries, symbols).items():
        columns.setdefault(k, [as_expr(0)] * len(entries))[row] = entry
    return dict(sorted(columns.items()))


def products_of_inertia(partials: Sequence[dict[int, list[Expr]]], tensors: Sequence[Matrix], size: int) -> Matrix:
    """The symmetric matrix Σ tr(∂_j H g ∂_k Hᵀ) over the links."""
    total = zeros(size, size)
    for columns, tensor in zip(partials, tensors, strict=True):
        for k, column in columns.items():
            weighed = flat(product(rows_of(column, 4), tensor))
            for j in columns:
                if j <= k:
                    total[j][k] = total[k][j] = total[j][k] + dot(columns[j], weighed)
    return total


def gravity_potential(tree: Tree, placements: list[Matrix], tensors: list[Matrix]) -> Expr:
    """-Σ m g · r(G)."""
    total = as_expr(0)
    for placement, tensor in zip(placements, tensors, strict=True):
        for row, component in zip(placement, tree.gravity, strict=True):
            for entry, moment in zip(row, tensor[3], strict=True):
                total = total - component * entry * moment
    return total
