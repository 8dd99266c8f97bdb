"""The generalised Poinsot matrix J of a tree of segments, generated from the mechanism.

J = Σ_i ∫ z zᵀ dm over segment i, with z = (l_n, ..., l_1, 1): l_i is the point in segment i's own axes, l_k the step
from an ancestor's joint to the next one on the way, zero for segments that are not on the way (Monnet 2007, chapter 4).
For one body J = [K, m c; m cᵀ, m] with K = ∫ r rᵀ dm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.algebra.graph import Expr, as_expr, symbols_of
from torseur.algebra.spatial import Inertia, Scalar, Vec3
from torseur.derivation.tree import GROUND, Tree
from torseur.errors import IdentificationError, UnsupportedError


@dataclass(frozen=True)
class SegmentChain:
    """Segments in the order of the tree: their links, their names, and per segment the steps of its ancestors.

    `steps[i]` maps a segment on the way to segment i to the vector, in its own axes, from its joint to the next one.
    """

    order: tuple[int, ...]
    names: tuple[str, ...]
    steps: tuple[dict[int, Vec3], ...]

    @property
    def size(self) -> int:
        return 3 * len(self.order) + 1

    def rows(self, segment: int | str) -> slice:
        """Where a segment stands in J: the last one first."""
        number = self.names.index(segment) if isinstance(segment, str) else segment
        # z = (r_last, …, r_first, 1), J = ∫ z zᵀ dm:
        #
        #            last      first   1
        #     last   K_ll  …   K_lf   h_l
        #      …
        #     first  K_fl  …   K_ff   h_f
        #     1      h_lᵀ  …   h_fᵀ    m
        start = 3 * (len(self.order) - 1 - number)
        return slice(start, start + 3)

    @property
    def row_names(self) -> tuple[str, ...]:
        """What the rows of J are integrals of: the point in each segment's axes, the last first, and 1."""
        return (*(f"{segment}.{axis}" for segment in reversed(self.names) for axis in "xyz"), "1")

    @property
    def units(self) -> list[list[str]]:
        """Units of the entries of J."""
        lengths = [1] * (self.size - 1) + [0]
        return [[("kg", "kg*m", "kg*m^2")[a + b] for b in lengths] for a in lengths]

    @property
    def zero_blocks(self) -> Mask:
        """Entries of J that vanish whatever the masses: segments of which none is on the way to the other."""
        mask = np.zeros((self.size, self.size), dtype=bool)
        for i in range(len(self.order)):
            for j in range(i):
                # ∫ r_i r_jᵀ dm over segment k has both only where i and j are on the way to k.
                if not any({i, j} <= {k, *steps} for k, steps in enumerate(self.steps)):
                    mask[self.rows(i), self.rows(j)] = mask[self.rows(j), self.rows(i)] = True
        return mask


def segment_chain(tree: Tree) -> SegmentChain:
    """The segments of a tree whose joints keep a point of both bodies together.

    Loops and constraints, such as a string to the earth, may tie the motion further: forces between segments cancel in
    the balance of the whole, and those of the earth are part of what was measured.
    """
    roots = [i for i in tree.outward() if tree.parent(i) == GROUND]
    if len(roots) != 1:
        raise UnsupportedError(f"segments hang together in one tree; '{tree.mechanism.name}' has {len(roots)} of them.")
    for i in tree.outward():
        if i not in roots:
            _require_pivot(tree, i)
    steps = [_steps(tree, i) for i in tree.outward()]
    names = tuple(link.name for link in tree.links)
    return SegmentChain(tuple(tree.outward()), names, tuple(steps))


def _require_pivot(tree: Tree, link: int) -> None:
    own = {*tree.links[link].symbols.coordinates}
    if own & set(symbols_of([as_expr(x) for x in tree.links[link].motion.transform.position])):
        raise UnsupportedError(
            f"joint '{tree.links[link].joint.name}' lets its bodies slide: between segments only hinges and balls are "
            "covered by A J B' - B J A' = T. Use the regressor of the mechanism instead."
        )


def _steps(tree: Tree, link: int) -> dict[int, Vec3]:
    """Per ancestor, the vector to the joint that comes next on the way to a link."""
    way = [i for i in tree.path(link) if tree.parent(i) != GROUND]
    return {tree.parent(i): tree.links[i].motion.transform.position for i in way}


def poinsot_matrix(tree: Tree) -> list[list[Expr]]:
    """J of a tree of segments as expressions of its parameters."""
    chain = segment_chain(tree)
    total: list[list[Scalar]] = [[as_expr(0)] * chain.size for _ in range(chain.size)]
    for number, link in enumerate(chain.order):
        # z = L (1, r) with the point r in the segment: J = Σ L [∫ (1, r)(1, r)ᵀ dm] Lᵀ, L by its non-zero entries.
        own = [chain.size - 1, *range(chain.rows(number).start, chain.rows(number).stop)]
        spread = _z_entries(chain, number)
        block = _own_moments(tree.links[link].inertia)
        for a, left in enumerate(spread):
            for b, right in enumerate(spread):
                if left and right:
                    total[a][b] = total[a][b] + sum(
                        (x * y * block[own.index(i)][own.index(j)] for i, x in left.items() for j, y in right.items()),
                        as_expr(0),
                    )
    return total


def _z_entries(chain: SegmentChain, number: int) -> list[dict[int, Scalar]]:
    """Each entry of z as a combination of the point's own coordinates and 1, by their slots."""
    entries: list[dict[int, Scalar]] = [{} for _ in range(chain.size)]
    entries[-1] = {chain.size - 1: 1}
    for ancestor, step in chain.steps[number].items():
        for slot, value in zip(range(chain.rows(ancestor).start, chain.rows(ancestor).stop), step, strict=True):
            # In the axes of an ancestor the point is the next joint on the way, for every point of the segment the
            # same.
            entries[slot] = {chain.size - 1: value}
    for slot in range(chain.rows(number).start, chain.rows(number).stop):
        entries[slot] = {slot: 1}
    return entries


def _own_moments(inertia: Inertia) -> list[list[Scalar]]:
    """∫ (1, r) (1, r)ᵀ dm of one body."""
    h = list(inertia.moment)
    K = _poinsot(inertia)
    return [[inertia.mass, *h], *([h[i], *K[i]] for i in range(3))]


def _poinsot(inertia: Inertia) -> list[list[Scalar]]:
    """K = ½ tr(I) 1 - I."""
    rows = [list(row) for row in inertia.matrix.rows]
    # I = ∫ (r² 1 - r rᵀ) dm and K = ∫ r rᵀ dm: tr I = 2 ∫ r² dm.
    half = (rows[0][0] + rows[1][1] + rows[2][2]) / 2
    return [[half - rows[i][j] if i == j else -rows[i][j] for j in range(3)] for i in range(3)]


def inertia_from_poinsot(J: Array) -> tuple[float, Array, Array]:
    """Mass, first moment and inertia matrix I = tr(K) 1 - K of one body's J."""
    K = J[:3, :3]
    return float(J[3, 3]), J[:3, 3].copy(), np.trace(K) * np.eye(3) - K


def joint_centre(J: Array, chain: SegmentChain, segment: str) -> Array:
    """The place of a segment's joint in the axes of its parent, from J alone: d = K₊ᵀ (m c) / |m c|².

    K₊ = m c ⊗ d stands beside the segment's first moment m c, so the last segments of a tree tell it.
    """
    number = chain.names.index(segment)
    parents = [k for k in chain.steps[number] if len(chain.steps[number]) == 1 + len(chain.steps[k])]
    if not parents:
        raise IdentificationError(f"segment '{segment}' is the first of the chain: it has no joint centre in a parent.")
    rows, columns = chain.rows(number), chain.rows(parents[0])
    moment = J[rows, -1]
    size = float(moment @ moment)
    if size < 1e-24:
        raise IdentificationError(f"the first moment of segment '{segment}' vanishes: J does not tell its joint.")
    return J[rows, columns].T @ moment / size
