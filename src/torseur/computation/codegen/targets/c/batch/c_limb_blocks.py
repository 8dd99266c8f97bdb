"""A symmetric system cut along its tree: limbs of few rows, each with those that carry it, and columns to solve.

A = Lᵀ D L of a mechanism has entries only between rows of which one carries the other (Featherstone 2005). With limbs
as blocks, eliminated from the tips, A⁻¹ B takes products of small full matrices only. For a limb s and the rows a that
carry it: H = A_ss⁻¹, P = H A_sa, A_aa <- A_aa - A_saᵀ P; then b_a <- b_a - Pᵀ b_s inward, x_s = H b_s - P x_a outward.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from torseur.algebra.graph.expr import Expr, as_expr
from torseur.algebra.graph.program import Column, Program, Solved
from torseur.computation.codegen.targets.c.batch.c_tiles import WIDEST, parts

LONGEST = 8
"""Rows of a limb at most: a longer one is cut, because its inverse is computed in registers."""

_ZERO = as_expr(0)


# Why limb by limb, with the time of each part: docs/decisions/0016-batch-columns-as-small-matrix-products.md.
@dataclass(frozen=True)
class Limb:
    """Neighbouring rows, and the limbs that carry them, from the root outward, with `depth` rows altogether."""

    rows: range
    carriers: tuple[int, ...]
    depth: int

    @property
    def size(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        """Columns of the limb's part of A: of the rows that carry it, then its own."""
        return self.depth + self.size


@dataclass(frozen=True)
class Group:
    """Neighbouring columns of an output that are zero in the same limbs; `start` is where their right sides begin."""

    output: int
    columns: range
    limbs: tuple[int, ...]
    start: int

    @property
    def width(self) -> int:
        return len(self.columns)


@dataclass(frozen=True)
class Limbs:
    """A system by limbs, parents before children and every limb followed by what it carries.

    `inverses` are outputs that are A⁻¹ itself, by columns of A's rows; `right` holds the right sides of the groups.
    """

    limbs: tuple[Limb, ...]
    groups: tuple[Group, ...]
    inverses: tuple[int, ...]
    right: tuple[Expr, ...]
    matrix: tuple[Expr, ...]

    @cached_property
    def carrying(self) -> frozenset[int]:
        """The limbs that carry others."""
        return frozenset(c for limb in self.limbs for c in limb.carriers)

    @cached_property
    def matrix_places(self) -> tuple[int, ...]:
        """Where each limb's rows of A begin."""
        return _starts(limb.size * limb.width for limb in self.limbs)

    @cached_property
    def follow_places(self) -> tuple[int, ...]:
        """Where each limb's P begins."""
        return _starts(limb.size * limb.depth for limb in self.limbs)

    @cached_property
    def inverse_places(self) -> tuple[int, ...]:
        """Where each limb's inverse begins."""
        return _starts(limb.size**2 for limb in self.limbs)

    @property
    def size(self) -> int:
        return sum(limb.size for limb in self.limbs)

    @property
    def deepest(self) -> int:
        return max(self.limbs[k].width for k in self.carrying) if self.carrying else 0

    def places(self, limbs: Iterable[int]) -> dict[int, int]:
        """Where each of some limbs stands when only their rows are kept."""
        chosen = list(limbs)
        return dict(zip(chosen, _starts(self.limbs[k].size for k in chosen), strict=False))

    def coupling(self, limbs: Iterable[int]) -> list[int]:
        """The limbs that are not at rest when some have a right side: all that share a root with them."""
        roots = {self.root(k) for k in limbs}
        return [k for k in range(len(self.limbs)) if self.root(k) in roots]

    def root(self, k: int) -> int:
        return (*self.limbs[k].carriers, k)[0]


def _starts(sizes: Iterable[int]) -> tuple[int, ...]:
    """Where things begin that stand behind one another; last, where they end."""
    places = [0]
    for size in sizes:
        places.append(places[-1] + size)
    return tuple(places)


def limbs_of(solved: Solved, program: Program) -> Limbs:
    """The limbs of a system whose solution is part of a program's outputs."""
    n = len(solved.rest)
    limbs = _cut_into_limbs(_carriers(solved.pattern, n))
    inverses = _inverses(list(solved.columns), n, program)
    columns = [column for column in solved.columns if column.output not in inverses]
    groups, right = _group_columns(columns, limbs)
    return Limbs(limbs, groups, inverses, right, _matrix_by_limbs(solved, limbs))


def _carriers(pattern: Iterable[tuple[int, int]], n: int) -> list[int]:
    """For each row the nearest that carries it; -1 for none."""
    nearest = [-1] * n
    # pattern: the (row, column) below the diagonal where L is not zero. The largest column of a row is its parent row.
    for k, i in pattern:
        nearest[k] = max(nearest[k], i)
    return nearest


def _cut_into_limbs(nearest: Sequence[int]) -> tuple[Limb, ...]:
    """Rows in limbs: a new one begins at a fork, where rows are not neighbours, and where a limb is long."""
    children: dict[int, list[int]] = {}
    for k, i in enumerate(nearest):
        children.setdefault(i, []).append(k)
    limbs: list[Limb] = []
    waiting: list[tuple[int, tuple[int, ...]]] = [(k, ()) for k in reversed(children.get(-1, []))]
    while waiting:
        first, carriers = waiting.pop()
        last = first
        while children.get(last) == [last + 1] and last - first + 1 < LONGEST:
            last += 1
        depth = sum(limbs[c].size for c in carriers)
        limbs.append(Limb(range(first, last + 1), carriers, depth))
        waiting += [(k, (*carriers, len(limbs) - 1)) for k in reversed(children.get(last, []))]
    return tuple(limbs)


def _inverses(columns: Sequence[Column], n: int, program: Program) -> tuple[int, ...]:
    """The outputs whose right sides are all columns of -1."""
    inverses = []
    for k, output in enumerate(program.outputs):
        own = [column for column in columns if column.output == k]
        if output.shape == (n, n) and len(own) == n and all(_is_unit(column) for column in own):
            inverses.append(k)
    return tuple(inverses)


def _is_unit(column: Column) -> bool:
    return {k: e.data for k, e in column.entries.items() if not e.is_zero} == {column.number: -1}


def _group_columns(columns: Sequence[Column], limbs: Sequence[Limb]) -> tuple[tuple[Group, ...], tuple[Expr, ...]]:
    runs: list[tuple[tuple[int, ...], list[Column]]] = []
    for column in columns:
        nonzero = _nonzero_limbs(column, limbs)
        if runs and runs[-1][0] == nonzero and _follows(column, runs[-1][1][-1]):
            runs[-1][1].append(column)
        else:
            runs.append((nonzero, [column]))
    groups: list[Group] = []
    right: list[Expr] = []
    for nonzero, run in runs:
        for part in parts(len(run), WIDEST):
            own = run[part.start : part.stop]
            groups.append(Group(own[0].output, range(own[0].number, own[-1].number + 1), nonzero, len(right)))
            right += [c.entries.get(row, _ZERO) for k in nonzero for row in limbs[k].rows for c in own]
    return tuple(groups), tuple(right)


def _follows(column: Column, before: Column) -> bool:
    return (column.output, column.number) == (before.output, before.number + 1)


def _nonzero_limbs(column: Column, limbs: Sequence[Limb]) -> tuple[int, ...]:
    """The limbs in which a column is not zero, or does not stay so."""
    rows = {row for row, entry in column.entries.items() if not entry.is_zero}
    own = {k for k, limb in enumerate(limbs) if not rows.isdisjoint(limb.rows)}
    return tuple(sorted(own | {c for k in own for c in limbs[k].carriers}))


def _matrix_by_limbs(solved: Solved, limbs: Sequence[Limb]) -> tuple[Expr, ...]:
    """A by limbs: for each of its rows the entries of the rows that carry it, then its own up to the diagonal."""
    # Per limb s, carried by the limbs a:   | A_s,a1  A_s,a2 ...  A_ss (lower) |, row by row; zero between other limbs.
    entries = {(k, i): entry for k, i, entry in solved.matrix}
    ordered: list[Expr] = []
    for limb in limbs:
        across = [row for c in limb.carriers for row in limbs[c].rows] + list(limb.rows)
        ordered += [entries.get((row, i), _ZERO) for row in limb.rows for i in across]
    return tuple(ordered)
