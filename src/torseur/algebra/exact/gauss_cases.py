"""Gauss elimination with cases: "if x ≠ 0 ... otherwise ...", nested, and pruned by what is known to vanish or not.

A case is a list of equations and inequations. Whether one is possible is decided over the complex numbers by standard
bases, and a sum of positive terms is known not to vanish on the real ones; a case that is empty on other grounds, or
whose basis takes too long, is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import times
from typing import Any

from torseur.algebra.exact.engines import TooLarge
from torseur.algebra.exact.prime_ideals import is_prime, is_space, is_zero_only_beside
from torseur.algebra.exact.ring import Ring, fractions_of, matrix_entries, read, symbol_of_pi
from torseur.algebra.exact.standard_bases import StandardBasis, ideal_basis, no_common_zero
from torseur.errors import UnsupportedError, counted, unknown_name

MOST_CASES = 200
SECONDS = 30  # of the processor, so that a busy machine answers like a quiet one
# Of them for one standard basis: a question that it leaves open costs a case too many, which is kept and true.
BASIS_SECONDS = 3
# Pairs of terms of one entry of the next row.
MOST_PRODUCTS = 600
PIVOTS = ("first", "sure")
_HELP = (
    "give symbols values, equations as `constraints` or what does not vanish as `nonzero`, or use pivots='sure'. "
    "For the rank alone there is ts.algebra.rank, for free variables."
)


@dataclass(frozen=True)
class Condition:
    """expression ≠ 0, or = 0."""

    expression: Any
    vanishes: bool

    def __str__(self) -> str:
        return f"{_text(self.expression)} {'=' if self.vanishes else '!='} 0"


@dataclass(frozen=True)
class Case:
    """A row echelon form, with the conditions under which it holds; `pivots` are its columns with a pivot."""

    conditions: tuple[Condition, ...]
    matrix: Any
    pivots: tuple[int, ...]

    @property
    def rank(self) -> int:
        return len(self.pivots)

    def __str__(self) -> str:
        said = " and ".join(str(c) for c in self.conditions) or "always"
        return f"{said}: rank {self.rank}\n{_matrix_text(self.matrix, '  ')}"


@dataclass(frozen=True)
class Fork:
    """A question, and the elimination under both answers."""

    condition: Condition
    nonzero: Fork | Case
    zero: Fork | Case


@dataclass(frozen=True)
class Elimination:
    """The echelon forms of a matrix as a tree of questions.

    In all cases `constraints` hold, and `denominators` of the entries, and what else was said not to, do not vanish.
    """

    root: Fork | Case
    constraints: tuple[Any, ...]
    denominators: tuple[Any, ...] = ()

    @property
    def cases(self) -> tuple[Case, ...]:
        """All cases, in the order of writing; together they cover everything, and no two have a point in common."""
        return tuple(_leaves(self.root))

    @property
    def rank(self) -> int:
        """The largest rank of a case."""
        return max(case.rank for case in self.cases)

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that occur, the largest first."""
        return tuple(sorted({case.rank for case in self.cases}, reverse=True))

    def __str__(self) -> str:
        where = [f"{_text(below)} != 0" for below in self.denominators]
        return "\n".join([*([f"where {' and '.join(where)}:"] if where else []), *_lines(self.root, "")])


def _leaves(node: Fork | Case) -> Iterator[Case]:
    if isinstance(node, Case):
        yield node
    else:
        yield from _leaves(node.nonzero)
        yield from _leaves(node.zero)


def _lines(node: Fork | Case, indent: str) -> Iterator[str]:
    if isinstance(node, Case):
        yield _matrix_text(node.matrix, indent)
        return
    yield f"{indent}if {node.condition}"
    yield from _lines(node.nonzero, indent + "  ")
    yield f"{indent}otherwise"
    yield from _lines(node.zero, indent + "  ")


def _text(expression: Any) -> str:
    return str(expression).replace("**", "^")


def _matrix_text(matrix: Any, indent: str) -> str:
    rows = [[_text(matrix[i, j]) for j in range(matrix.cols)] for i in range(matrix.rows)]
    widths = [max(len(row[j]) for row in rows) for j in range(matrix.cols)]
    return "\n".join(f"{indent}[ {'  '.join(x.rjust(w) for x, w in zip(row, widths, strict=True))} ]" for row in rows)


def eliminate(
    matrix: Any, constraints: Sequence[Any] = (), nonzero: Sequence[Any] = (), pivots: str = "first"
) -> Elimination:
    """Row echelon forms of a matrix of rational functions and trigonometric polynomials, in all cases.

    `constraints` are equations, or expressions that vanish, such as closures, `nonzero` some that do not; nor do
    denominators of the entries and symbols that SymPy knows to be positive or nonzero. `pivots` "first" takes the first
    entry of a column that may differ from zero, as by hand, "sure" one that always does where there is one, which asks
    fewer questions.
    """
    m, n, entries, places = matrix_entries(matrix)
    if pivots not in PIVOTS:
        raise UnsupportedError(unknown_name("choice of pivots", pivots, PIVOTS))
    for name, given in (("constraints", constraints), ("nonzero", nonzero)):
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise UnsupportedError(f"eliminate: `{name}` is a list of expressions, such as [x*y - 1].")
    named = [f"constraint {k + 1}" for k in range(len(constraints))] + [f"nonzero {k + 1}" for k in range(len(nonzero))]
    made = read([*entries, *constraints, *nonzero], [*places, *named])
    pairs = fractions_of(made.values)
    vanish = [above for above, _ in pairs[m * n : m * n + len(constraints)]]
    ring = made.ring
    below = tuple(dict.fromkeys(f for _, b in pairs for f, _ in _factors(b) if f.is_zero is not False))
    apart = [above for above, _ in pairs[m * n + len(constraints) :]] + [*below]
    apart += [v for v in made.ring.variables if v.is_zero is False]
    known = _Known(ring, tuple(vanish), tuple(dict.fromkeys(apart)))
    if known.is_impossible:
        raise UnsupportedError("eliminate: the constraints have no common zero, so that there is no case at all.")
    rows = [list(made.values[i * n : (i + 1) * n]) for i in range(m)]
    root = _Gauss(pivots, len(ring.variables)).tree(rows, 0, 0, known, ())
    return Elimination(root, tuple(ring.expression(v) for v in vanish), tuple(ring.expression(b) for b in below))


def _factors(polynomial: Any) -> list[tuple[Any, int]]:
    import sympy as sp

    return list(sp.factor_list(polynomial)[1])


@dataclass(frozen=True)
class _Known:
    """What vanishes and what does not in a case."""

    ring: Ring
    vanish: tuple[Any, ...]
    apart: tuple[Any, ...]

    @cached_property
    def basis(self) -> StandardBasis:
        return ideal_basis(self.vanish, self.ring, seconds=BASIS_SECONDS)

    @property
    def equations(self) -> tuple[Any, ...]:
        return (*self.vanish, *self.ring.relations)

    @cached_property
    def is_impossible(self) -> bool:
        return self._is_empty()

    def _is_empty(self, equations: tuple[Any, ...] = (), apart: tuple[Any, ...] = ()) -> bool:
        """Whether the case has no point where more expressions vanish, or do not; False too where that is not found."""
        given, others = (*self.equations, *equations), (*self.apart, *apart)
        with suppress(TooLarge):
            return no_common_zero(given, others, self.ring.variables, BASIS_SECONDS)
        return False

    def reduced(self, value: Any) -> Any:
        """An entry with its numerator reduced by what vanishes; 0 where it vanishes in the whole case."""
        import sympy as sp

        above, below = fractions_of([value])[0]
        short = self.basis.reduced(above)
        if short == 0:
            return sp.Integer(0)
        # Ideal membership is not vanishing: x is not in the ideal of x², yet is zero wherever x² is.
        if self.vanish and self.vanishes(short):
            return sp.Integer(0)
        return _with_its_sign_above(sp.factor(short / below)) if below != 1 else short

    def beside(self, question: Any) -> _Known:
        """The same where one more expression does not vanish."""
        more = replace(self, apart=(*self.apart, question))
        more.__dict__["basis"] = self.basis  # what vanishes is the same, and so is its basis
        return more

    @cached_property
    def is_prime(self) -> bool:
        return is_prime(self.basis)

    def vanishes(self, remainder: Any) -> bool:
        """Whether a remainder other than zero vanishes in the whole case."""
        # On an irreducible variety a polynomial vanishes everywhere or reduces to something else: no further basis is
        # needed.
        if self.is_prime:
            return False
        return self._is_empty(apart=(remainder,))

    def never_vanishes(self, polynomial: Any) -> bool:
        # From cheap to dear: constants, signs, divisions, one basis, and one with Rabinowitsch's variable.
        if not polynomial.free_symbols - {symbol_of_pi()}:
            return bool(polynomial != 0)
        if is_positive(polynomial, self.ring):
            return True
        if is_space(self.basis):
            return is_zero_only_beside(polynomial, self.apart, self.basis)
        try:
            zeros = ideal_basis((*self.vanish, polynomial), self.ring, seconds=BASIS_SECONDS)
        except TooLarge:
            return False
        if zeros.is_everything:
            return True
        if is_prime(zeros):  # what is apart from zero leaves a part of an irreducible variety, or nothing
            return any(zeros.reduced(other) == 0 for other in self.apart)
        return self._is_empty(equations=(polynomial,))

    def question(self, polynomial: Any) -> Any:
        """The part of a polynomial that may vanish: its factors that may, each once."""
        import sympy as sp

        return sp.Mul(*(f for f, _ in _factors(polynomial) if not self.never_vanishes(f)))


def _with_its_sign_above(quotient: Any) -> Any:
    """-(a - b)/c as (b - a)/c."""
    import sympy as sp

    sign, rest = quotient.as_coeff_Mul()
    parts = sp.Mul.make_args(rest)
    if sign == -1 and (total := next((part for part in parts if part.is_Add), None)) is not None:
        return sp.Mul(*(-part if part is total else part for part in parts))
    return quotient


def is_positive(polynomial: Any, ring: Ring) -> bool:
    """Whether a polynomial is a sum of positive terms, one of which cannot vanish, or less that.

    Even powers are not negative, nor any of symbols that SymPy knows to be positive.
    """
    import sympy as sp

    if ring.root is not None and ring.root[0] in polynomial.free_symbols:
        return False
    terms = sp.Poly(polynomial, *ring.variables).terms()
    signs = {c > 0 for _, c in terms}
    even = all(k % 2 == 0 or v.is_positive for m, _ in terms for v, k in zip(ring.variables, m, strict=True))
    sure = any(all(not k or v.is_zero is False for v, k in zip(ring.variables, m, strict=True)) for m, _ in terms)
    return len(signs) == 1 and even and sure


def _processor_seconds() -> float:
    """Processor seconds of this process and of those that computed bases for it."""
    return sum(times()[:4])


@dataclass
class _Gauss:
    """One elimination; counts its cases and the time that it takes."""

    pivots: str
    variables: int
    count: int = field(default=0)
    start: float = field(default_factory=_processor_seconds)

    def tree(self, rows: list[list[Any]], r: int, c: int, known: _Known, said: tuple[Condition, ...]) -> Fork | Case:
        """Elimination from row r and column c on; earlier columns are done."""
        # Deep recursion is no danger: a branch adds an equation that the ideal did not have, and ascending chains of
        # ideals of polynomials end (Noether); what may grow is the number of branches, which is limited.
        self._require_small()
        if said == () or said[-1].vanishes or not known.is_prime:  # else the rows are reduced already
            rows = [[known.reduced(x) for x in row] for row in rows]
        done = self._pivot_columns(rows, r)
        while r < len(rows) and c < len(rows[0]):
            chosen = self._choose(rows, r, c, known)
            if chosen is None:
                c += 1
                continue
            # Factors that never vanish are no questions; what is left of the pivot is asked once, not once per power.
            question = known.question(fractions_of([rows[chosen][c]])[0][0])
            if question != 1:
                return self._fork(rows, r, c, known, said, question)
            rows = self._step(rows, r, c, chosen, known)
            done, r, c = (*done, c), r + 1, c + 1
        self.count += 1
        return Case(said, known.ring.expression(_sympy_matrix(rows)), done)

    def _require_small(self) -> None:
        if self.count >= MOST_CASES or _processor_seconds() - self.start > SECONDS:
            much = counted(MOST_CASES, "case") if self.count >= MOST_CASES else f"{SECONDS} s of computing"
            raise UnsupportedError(
                f"eliminate: more than {much} in {counted(self.variables, 'variable')}, cosines and sines counted; "
                + _HELP
            )

    def _fork(self, rows: Any, r: int, c: int, known: _Known, said: tuple[Condition, ...], question: Any) -> Fork:
        # From the basis that is there, not from what made it: the next one is a short way from it.
        zero = replace(known, vanish=(*known.basis.equations, question))
        asked = known.ring.expression(question)
        no, yes = Condition(asked, False), Condition(asked, True)
        return Fork(
            no,
            self.tree(rows, r, c, known.beside(question), (*said, no)),
            self.tree(rows, r, c, zero, (*said, yes)),
        )

    def _choose(self, rows: Any, r: int, c: int, known: _Known) -> int | None:
        candidates = [i for i in range(r, len(rows)) if rows[i][c] != 0]
        if self.pivots == "sure":
            sure = [i for i in candidates if known.never_vanishes(fractions_of([rows[i][c]])[0][0])]
            candidates = sure or candidates
        return candidates[0] if candidates else None

    def _step(self, rows: list[list[Any]], r: int, c: int, chosen: int, known: _Known) -> list[list[Any]]:
        """The chosen row as the r-th, and column c cleared below it."""
        rows = [*rows]
        rows[r], rows[chosen] = rows[chosen], rows[r]
        pivot = rows[r]
        for i in range(r + 1, len(rows)):
            if rows[i][c] == 0:
                continue
            # Quotients, not cross products as in matrix_rank.py: the rows are those that people write by hand, and
            # each entry is reduced by the equations of its case at once.
            factor = rows[i][c] / pivot[c]
            cleared = [0 * x for x in rows[i][: c + 1]]
            for x, p in zip(rows[i][c + 1 :], pivot[c + 1 :], strict=True):
                self._require_small()
                self._require_short(x, rows[i][c], pivot[c], p)
                cleared.append(known.reduced(x - factor * p))
            rows[i] = cleared
        return rows

    def _require_short(self, x: Any, first: Any, pivot: Any, p: Any) -> None:
        # SymPy cannot be interrupted where it cancels and factors: what would take minutes is refused before.
        if _terms(x) * _terms(pivot) + _terms(first) * _terms(p) > MOST_PRODUCTS:
            raise UnsupportedError(f"eliminate: its entries grow beyond what SymPy factors in a moment; {_HELP}")

    @staticmethod
    def _pivot_columns(rows: Any, r: int) -> tuple[int, ...]:
        return tuple(next(j for j, x in enumerate(row) if x != 0) for row in rows[:r])


def _terms(value: Any) -> int:
    """How many terms a quotient has when its factors are multiplied out, at most."""
    import sympy as sp

    count = 1
    for part in sp.Mul.make_args(value):
        base, exponent = part.as_base_exp()
        whole = int(abs(exponent)) if exponent.is_Integer else 1
        count *= len(sp.Add.make_args(base)) ** whole
    return count


def _sympy_matrix(rows: list[list[Any]]) -> Any:
    import sympy as sp

    return sp.Matrix(rows)
