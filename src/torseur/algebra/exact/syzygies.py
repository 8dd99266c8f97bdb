"""Syzygies: all relations N among the columns of a matrix of polynomials, M N = 0, free or modulo an ideal.

A vector (f_1 ... f_r) is the polynomial f_1 e_1 + ... + f_r e_r with e_i e_j = 0. Column j of M carries a mark t_j; of
a standard basis in an order that eliminates the e_i, the members without e_i are the relations, read off their marks
(Cox, Little, O'Shea: Using Algebraic Geometry, chapter 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from torseur.algebra.exact.engines import TooLarge, basis_of, limited_basis
from torseur.algebra.exact.flint_ring import FlintRing, remainder
from torseur.algebra.exact.ring import Ring, fractions_of, matrix_entries, read
from torseur.algebra.exact.standard_bases import ideal_basis
from torseur.errors import UnsupportedError


@dataclass(frozen=True)
class Syzygies:
    """N, whose columns generate all relations among the columns of M; `modulo` are the equations that hold besides."""

    matrix: Any
    ring: Ring = field(repr=False)
    modulo: tuple[Any, ...] = ()

    @property
    def count(self) -> int:
        return int(self.matrix.cols)

    def __str__(self) -> str:
        if not self.count:
            return "the columns have no relation but 0"
        rows = [[str(self.matrix[i, j]).replace("**", "^") for j in range(self.count)] for i in range(self.matrix.rows)]
        widths = [max(len(row[j]) for row in rows) for j in range(self.count)]
        return "\n".join("| " + "  ".join(x.rjust(w) for x, w in zip(row, widths, strict=True)) + " |" for row in rows)


def syzygies(matrix: Any, modulo: Sequence[Any] = ()) -> Syzygies:
    """N with M N = 0, its columns generating all such vectors of polynomials; modulo equations where they are given.

    Entries are rational functions of symbols, cosines and sines; c² + s² = 1 always holds. Rows are multiplied by their
    denominators, which must not vanish.
    """
    m, n, entries, places = matrix_entries(matrix)
    if isinstance(modulo, str) or not isinstance(modulo, Sequence):
        raise UnsupportedError("syzygies: `modulo` is a list of polynomials that vanish.")
    made = read([*entries, *modulo], [*places, *(f"equation {k + 1}" for k in range(len(modulo)))])
    made.ring.require_algebraic("syzygies")
    rows = [_whole_row(made.values[i * n : (i + 1) * n]) for i in range(m)]
    equations = [above for above, _ in fractions_of(made.values[m * n :])]
    if equations and ideal_basis(equations, made.ring).is_everything:
        raise UnsupportedError("syzygies: the equations `modulo` have no common solution, not even a complex one.")
    relations = relations_among_columns(rows, equations, made.ring)
    return Syzygies(made.ring.expression(relations), made.ring, tuple(made.ring.expression(e) for e in equations))


def _whole_row(row: Sequence[Any]) -> list[Any]:
    """A row times the least common multiple of its denominators."""
    import sympy as sp

    pairs = fractions_of(row)
    common = sp.lcm_list([below for _, below in pairs])
    return [sp.expand(sp.cancel(above * common / below)) for above, below in pairs]


def relations_among_columns(rows: Sequence[Sequence[Any]], equations: Sequence[Any], ring: Ring) -> Any:
    """N as a SymPy matrix: a reduced set of generators, shortest first."""
    import sympy as sp

    module = _Module(ring, len(rows), len(rows[0]))
    columns = [[rows[i][j] for i in range(len(rows))] for j in range(len(rows[0]))]
    ideal = [*equations, *ring.relations]
    given = [
        # Column j as (its entries at the places e_i) + t_j, then everything that is zero: the ideal times each unit,
        # and products of units, which keep the members linear in them.
        *(module.marked(j, column) for j, column in enumerate(columns)),
        *module.multiples(ideal),
        *module.products,
    ]
    _, members = basis_of(given, module.flint, None)
    relations = [p for p in members if module.is_relation(p)]
    kept = module.generators(relations, ideal)
    basis = ideal_basis(equations, ring) if ideal else None
    # Modulo the ideal a relation has many writings; the reduced one is unique.
    vectors = [[basis.reduced(x) if basis is not None else x for x in module.vector(p)] for p in kept]
    return sp.Matrix(len(columns), len(vectors), lambda i, j: vectors[j][i])


class _Module:
    """Vectors of polynomials as polynomials in e_1 ... e_r (places of a column) and t_1 ... t_n (marks of columns)."""

    def __init__(self, ring: Ring, rows: int, columns: int) -> None:
        import sympy as sp

        self.rows, self.columns, self.own = rows, columns, ring.variables
        # Dummies: an entry may have a symbol t_0 of its own.
        self.marks = tuple(sp.Dummy(f"t_{j}") for j in range(columns))
        self.places = tuple(sp.Dummy(f"e_{i}") for i in range(rows))
        # lex with the places first: what has no place in its leading term has none at all.
        self.flint = FlintRing((*self.places, *self.marks, *ring.variables), "lex", rows + columns)
        units = self.flint.generators[: rows + columns]
        self.units = units
        self.products = [a * b for k, a in enumerate(units) for b in units[k:]]

    def marked(self, j: int, column: Sequence[Any]) -> Any:
        import sympy as sp

        return self.flint.from_sympy(
            sp.expand(sum((f * e for f, e in zip(column, self.places, strict=True)), self.marks[j]))
        )

    def multiples(self, ideal: Sequence[Any]) -> list[Any]:
        return [self.flint.from_sympy(p) * unit for p in ideal for unit in self.units]

    def is_relation(self, polynomial: Any) -> bool:
        r, n = self.rows, self.columns
        return all(sum(m[:r]) == 0 and sum(m[r : r + n]) == 1 for m in polynomial.to_dict())

    def generators(self, relations: Sequence[Any], ideal: Sequence[Any]) -> list[Any]:
        """Those that the shorter ones do not generate modulo the ideal."""
        kept: list[Any] = []
        always = [*self.multiples(ideal), *self.products]
        for candidate in sorted(relations, key=lambda p: (p.total_degree(), len(p.to_dict()), str(p))):
            try:
                members = limited_basis([*kept, *always], self.flint)
            except TooLarge:
                kept.append(candidate)  # one generator too many does no harm
                continue
            if remainder(candidate, members)[1] != 0:
                kept.append(candidate)
        return kept

    def vector(self, polynomial: Any) -> list[Any]:
        """The components of a relation, one per column."""
        import sympy as sp

        parts: list[Any] = [sp.Integer(0)] * self.columns
        for powers, c in polynomial.to_dict().items():
            j = [*powers[self.rows : self.rows + self.columns]].index(1)
            own = powers[self.rows + self.columns :]
            parts[j] += sp.Integer(int(c)) * sp.Mul(*(v ** int(k) for v, k in zip(self.own, own, strict=True)))
        return parts
