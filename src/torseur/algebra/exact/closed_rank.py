"""The rank of a matrix where equations hold: the largest minors that do not vanish on all their solutions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from torseur.algebra.exact.flint_ring import FlintRing
from torseur.algebra.exact.ring import Ring, fractions_of, matrix_entries, read
from torseur.algebra.exact.standard_bases import no_common_zero
from torseur.errors import UnsupportedError


def rank_where(matrix: Any, equations: Sequence[Any]) -> int:
    """The largest rank of a matrix on the solutions of equations, complex ones included; exact, by standard bases."""
    m, n, entries, places = matrix_entries(matrix)
    if isinstance(equations, str) or not isinstance(equations, Sequence):
        raise UnsupportedError(
            "rank_where: `equations` is a list of polynomials that vanish, such as closure equations."
        )
    made = read([*entries, *equations], [*places, *(f"equation {k + 1}" for k in range(len(equations)))])
    made.ring.require_algebraic("rank_where")
    pairs = fractions_of(made.values)
    if below := next((b for _, b in pairs if b.free_symbols), None):
        raise UnsupportedError(f"rank_where: multiply the rows by their denominators first; one is {below}.")
    values = [a / b for a, b in pairs]
    rows = [values[i * n : (i + 1) * n] for i in range(m)]
    closed = values[m * n :]
    if no_common_zero((*closed, *made.ring.relations), (), made.ring.variables):
        raise UnsupportedError("rank_where: the equations have no common solution, not even a complex one.")
    return largest_rank(rows, closed, made.ring)


def largest_rank(rows: Sequence[Sequence[Any]], equations: Sequence[Any], ring: Ring) -> int:
    """The same for entries that are read already."""
    ideal = (*equations, *ring.relations)
    # From the largest minors down: the first size with one that does not vanish on all solutions.
    # "Rank below k" is an algebraic condition, all minors of size k vanish; the rank itself is none.
    for size in range(min(len(rows), len(rows[0])), 0, -1):
        if any(not no_common_zero(ideal, (minor,), ring.variables) for _, _, minor in minors(rows, size, ring)):
            return size
    return 0


def minors(
    rows: Sequence[Sequence[Any]], size: int, ring: Ring
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], Any]]:
    """(rows, columns, minor) of all minors of a size that are not identically zero, short ones first."""
    flint = FlintRing(ring.variables)
    table = [_whole_row(row, flint) for row in rows]
    every = []
    for chosen in combinations(range(len(rows)), size):
        for columns, value in _expansion([table[i] for i in chosen]).items():
            if value != 0:
                every.append((chosen, columns, value))
    # One minor that does not vanish settles it: short ones are asked first, whose standard bases cost least. Their
    # places last, so that the order is the same on every run.
    every.sort(key=lambda one: (len(one[2].to_dict()), one[2].total_degree(), one[0], one[1]))
    seen = set()
    for chosen, columns, value in every:
        text = str(value)
        if text not in seen:
            seen.add(text)
            yield chosen, columns, flint.to_sympy(value)


def _whole_row(row: Sequence[Any], flint: FlintRing) -> list[Any]:
    """A row times a whole number that clears its fractions."""
    import sympy as sp

    pairs = [flint.cleared(sp.expand(x)) for x in row]
    common = sp.ilcm(1, *(number for number, _ in pairs))
    return [polynomial * int(common // number) for number, polynomial in pairs]


def _expansion(rows: Sequence[Sequence[Any]]) -> dict[tuple[int, ...], Any]:
    """All minors of some rows by their columns: Laplace's expansion by the last row, each smaller minor once."""
    n = len(rows[0])
    # known holds all minors of the first k rows by their columns: 2ⁿ products at most instead of n!.
    known: dict[tuple[int, ...], Any] = {(j,): rows[0][j] for j in range(n)}
    for k in range(1, len(rows)):
        larger = {}
        for columns in combinations(range(n), k + 1):
            total = 0 * rows[0][0]
            for place, j in enumerate(columns):
                rest = known[columns[:place] + columns[place + 1 :]]
                if rows[k][j] != 0 and rest != 0:
                    total += (-1) ** (k + place) * rows[k][j] * rest
            larger[columns] = total
        known = larger
    return known
