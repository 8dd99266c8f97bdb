"""Where and in which order constraints are eliminated, and what that costs, from the places of zeros alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from heapq import heapify, heappop, heappush

from torseur.algebra.graph import Expr
from torseur.derivation.tree import GROUND, Tree

FEWEST_ROWS = 16  # constraints from which on elimination along the tree may be the shorter way
MOST_PRODUCTS = 60_000  # of nets; beyond, straight-line code takes longer to compile than it saves in a motion
FEW_PRODUCTS = 200  # per constraint: of chains and trees of loops, whose code grows as they do, however long they are
BODY_PRODUCTS = 150  # of an articulated body with its joint

Rows = Sequence[Sequence[Expr]]
Groups = Sequence[Sequence[int]]


def by_degree(groups: Groups, degree: Callable[[Sequence[int]], int]) -> Iterator[Sequence[int]]:
    """Groups of rows, those with few neighbours first: each elimination couples the neighbours with each other.

    `degree` is asked again before a group is given out; one that has grown puts the group back.
    """
    queue = [(degree(group), k) for k, group in enumerate(groups)]
    heapify(queue)
    while queue:
        # Degrees of waiting groups are not kept up to date: one that has shrunk is taken a little late, which may cost
        # fill-in and nothing else.
        before, k = heappop(queue)
        now = degree(groups[k])
        if now > before:
            heappush(queue, (now, k))
        else:
            yield groups[k]


def complete_at(tree: Tree, rows: Rows, groups: Groups) -> dict[int, list[Sequence[int]]]:
    """The groups of rows by the link that carries all joints they tie."""
    links = _links_of_speeds(tree)
    complete: dict[int, list[Sequence[int]]] = {}
    for group in groups:
        tied = sorted({links[k] for c in group for k, entry in enumerate(rows[c]) if not entry.is_zero})
        carriers = [tree.parent(i) for i in tied] or [GROUND]
        complete.setdefault(reduce(lambda a, b: _common(tree, a, b), carriers), []).append(group)
    return complete


def _links_of_speeds(tree: Tree) -> list[int]:
    return [i for i, link in enumerate(tree.links) for _ in range(*link.v.indices(len(tree.layout.speeds)))]


def _common(tree: Tree, a: int, b: int) -> int:
    """The outermost link that carries both; links are numbered with parents before children, the earth below all."""
    # Of two different links the one with the larger number cannot carry the other.
    while a != b:
        if a > b:
            a = tree.parent(a)
        else:
            b = tree.parent(b)
    return a


# Why these numbers: docs/decisions/0084-loops-eliminated-with-their-bodies.md.
def is_sparse(tree: Tree, rows: Rows, groups: Groups) -> bool:
    """Whether elimination along the tree takes less than half the products of M and C as full matrices."""
    speeds, constraints = len(tree.layout.speeds), len(rows)
    # A joint that follows another cannot be eliminated when its turn comes.
    if constraints < FEWEST_ROWS or any(link.followed for link in tree.links):
        return False
    # Cholesky of M, L⁻¹ Cᵀ, and C M⁻¹ Cᵀ.
    full = speeds**3 / 6 + constraints * speeds**2 / 2 + constraints**2 * speeds
    return 2 * (elimination_work(tree, rows, groups) + BODY_PRODUCTS * len(tree)) <= full


def is_long(tree: Tree, rows: Rows, groups: Groups) -> bool:
    """Whether the elimination is too long for straight-line code where full matrices need none: in a motion."""
    return elimination_work(tree, rows, groups) > max(MOST_PRODUCTS, FEW_PRODUCTS * len(rows))


def elimination_work(tree: Tree, rows: Rows, groups: Groups) -> int:
    """Products that the elimination takes beside those of the bodies, counted without making them."""
    complete, links = complete_at(tree, rows, groups), _links_of_speeds(tree)
    tied: list[set[int]] = [set() for _ in tree.links]
    for c, row in enumerate(rows):
        for k, entry in enumerate(row):
            if not entry.is_zero:
                tied[links[k]].add(c)
    coupled: dict[int, set[int]] = {c: {c} for c in range(len(rows))}
    opened: list[set[int]] = [set() for _ in tree.links]
    work = 0

    def eliminate(at: int) -> set[int]:
        nonlocal work
        done: set[int] = set()
        groups_here = complete.get(at, [])
        for group in by_degree(groups_here, lambda g: len(set().union(*(coupled[c] for c in g)) - set(g))):
            around = set().union(*(coupled[c] for c in group)) - set(group)
            work += len(group) * (len(around) + len(group)) * (len(around) + len(group) + 13) // 2
            for d in around:
                coupled[d] = (coupled[d] | around) - set(group)
            done |= set(group)
        return done

    for i in tree.inward():
        own = (opened[i] - eliminate(i)) | tied[i]
        # Each screw of the joint: a product for every pair of open rows, twelve for what carries them on.
        work += len(tree.links[i].motion.screws) * len(own) * (len(own) + 25) // 2
        for c in own:
            coupled[c] |= own
        if tree.parent(i) != GROUND:
            opened[tree.parent(i)] |= own
    eliminate(GROUND)
    return work
