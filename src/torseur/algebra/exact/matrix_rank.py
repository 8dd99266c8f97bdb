"""The rank of a matrix of rational functions and trigonometric polynomials: for free variables, by four methods.

    gauss                    elimination over the field of rational functions: certain
    probabilistic            elimination at a random rational point
    modular                  the same, by ranks modulo primes whose product exceeds Hadamard's bound
    probabilistic-modular    elimination at a random point modulo a random prime

At a point the rank is never larger; it is smaller where all minors that matter vanish there. By Schwartz and Zippel a
polynomial of degree D vanishes at a point of random whole numbers below S with a probability of at most D / S.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log2, prod
from typing import Any

from torseur.algebra.exact.entry_sizes import Sizes
from torseur.algebra.exact.flint_fractions import Blocks, Budget, Fractions
from torseur.algebra.exact.flint_ring import FlintRing
from torseur.algebra.exact.ring import Ring, as_sympy, matrix_entries, read
from torseur.errors import UnsupportedError, unknown_name

METHODS = ("gauss", "probabilistic", "modular", "probabilistic-modular")
_SIZE = 10**9  # random whole numbers lie between 1 and this
_BITS = 61  # of random primes: the largest that python-flint computes with at full speed
_LARGEST_GAP = 1550  # between primes below 2^64 (Oliveira e Silva, Herzog, Pardi 2014)
_DRAWS = 50
MOST_BITS = 10**6  # of minors at a point: some seconds modulo as many primes as they need


@dataclass(frozen=True)
class MatrixRank:
    """The rank, by which method, and a bound on the probability that it is larger; None where the point was given.

    `point` and `prime` are those that were drawn, `values` the matrix there.
    """

    rank: int
    method: str
    error_probability: float | None
    point: Mapping[str, Any] = field(default_factory=dict)
    prime: int | None = None
    values: Any = field(default=None, repr=False)

    def __str__(self) -> str:
        if self.error_probability == 0:
            return f"rank {self.rank} ({self.method}: certain)"
        where = ", ".join(f"{name} = {value}" for name, value in self.point.items())
        modulo = f" modulo {self.prime}" if self.prime else ""
        doubt = (
            "a given point"
            if self.error_probability is None
            else f"larger with probability below {self.error_probability:.1g}"
        )
        return f"rank {self.rank} ({self.method}{modulo}{f' at {where}' if where else ''}: {doubt})"


def rank(
    matrix: Any,
    method: str = "gauss",
    *,
    points: int = 1,
    seed: int = 0,
    at: Mapping[Any, Any] | None = None,
    prime: int | None = None,
) -> MatrixRank:
    """The rank of a matrix for free variables, with a bound on the probability of error.

    `points` random points (and primes) are tried; `at` and `prime` give the point and the prime instead. A cosine and
    sine are those of a free angle, whose half-angle tangent is drawn.
    """
    if method not in METHODS:
        raise UnsupportedError(unknown_name("method", method, METHODS))
    if not isinstance(points, int) or points < 1:
        raise UnsupportedError(f"rank: points = {points!r}; expected a whole number of at least 1.")
    m, n, entries, places = matrix_entries(matrix)
    made = read(entries, places)
    rows = [made.values[i * n : (i + 1) * n] for i in range(m)]
    if method == "gauss":
        _refuse_choice(at, prime, method)
        return MatrixRank(gauss_rank(rows, made.ring), method, 0.0)
    if method != "probabilistic" and made.ring.root is not None:
        raise UnsupportedError(
            f"rank: {made.ring.root[1]} has no value modulo most primes; use method 'gauss' or 'probabilistic'."
        )
    search = _Search(rows, made.ring, random.Random(seed), at, prime)
    # A rank at a point is a lower bound, so the largest that was seen is the best answer; of full rank nothing is left
    # to doubt, whatever the method.
    best = max((search.try_point(method) for _ in range(points)), key=lambda result: result.rank)
    if best.rank == min(m, n):
        return MatrixRank(best.rank, method, 0.0, best.point, best.prime, best.values)
    # The points are independent: all of them must miss.
    doubt = None if at is not None or prime is not None else search.doubt(method) ** points
    return MatrixRank(best.rank, method, doubt, best.point, best.prime, best.values)


def _refuse_choice(at: Any, prime: Any, method: str) -> None:
    if at is not None or prime is not None:
        raise UnsupportedError(
            f"rank: method '{method}' takes no point and no prime; they belong to the other methods."
        )


def gauss_rank(rows: Sequence[Sequence[Any]], ring: Ring) -> int:
    """Elimination over the rational functions; angles by half-angle tangents, for which c² + s² = 1 always holds.

    A rank at a point is never too large, so that a full one there needs no elimination.
    """
    import sympy as sp

    size = min(len(rows), len(rows[0]))
    search = _Search(rows, ring, random.Random(0), None, None)
    if search.try_point("probabilistic" if ring.root else "probabilistic-modular").rank == size:
        return size
    # The name of a pair is cos(q): what stands between the brackets is the angle.
    tangents = [sp.Symbol(f"tan({c.name[4:-1]}/2)") for c, _ in ring.pairs]
    table = half_angles(ring, tangents)
    free = (*search.free, *tangents)
    rows = [[x.xreplace(table) for x in row] for row in rows]
    if ring.root is not None:
        return _rank_in_blocks(rows, ring.root[0], ring.relations[-1], free)
    budget = _budget(rows, "probabilistic-modular")
    fractions = Fractions(FlintRing(free), budget)
    return _fraction_free_rank([fractions.cleared(row) for row in rows], budget)


def _rank_in_blocks(rows: Sequence[Sequence[Any]], root: Any, minimal: Any, free: Sequence[Any] = ()) -> int:
    """The rank of entries that hold a root, of which its minimal polynomial is known."""
    import sympy as sp

    flint, budget = FlintRing((*free, root)), _budget(rows, "probabilistic")
    fractions = Fractions(flint, budget)
    polynomials = [fractions.cleared(row) for row in rows]
    blocks = Blocks(sp.Poly(minimal, root), flint)
    if any(blocks.is_zero(p) for p in fractions.factors.values()):
        raise ZeroDivisionError
    return _fraction_free_rank(blocks.of(polynomials), budget) // blocks.degree


def _budget(rows: Sequence[Sequence[Any]], other: str) -> Budget:
    where = f"rank: reading this {len(rows)} x {len(rows[0])} matrix"
    return Budget(where, f"Method '{other}' answers at once, with a bound on the probability of error")


def _fraction_free_rank(rows: list[list[Any]], budget: Budget) -> int:
    """Elimination of polynomials without fractions (Bareiss 1968): the pivot before divides what a step makes."""
    rank, before, size = 0, None, f"{len(rows)} x {len(rows[0])}"
    while found := [(len(x), i, j) for i, row in enumerate(rows) for j, x in enumerate(row) if x != 0]:
        _, i, j = min(found)  # the shortest entry grows least
        pivot, top = rows[i][j], rows[i]
        budget.step = f"rank: step {rank + 1} of the elimination of this {size} matrix"
        rest = [row for k, row in enumerate(rows) if k != i]
        # Twice, for the division of what is made by the pivot before.
        budget.spend(2 * sum(len(pivot) * len(x) + len(row[j]) * len(p)
                             for row in rest for x, p in zip(row, top, strict=True)))  # fmt: skip
        # Pivot row and column go; what is left is, up to sign, a matrix of minors of the given one (Sylvester's
        # identity), and so the division below leaves no remainder.
        step = [[pivot * x - row[j] * p for k, (x, p) in enumerate(zip(row, top, strict=True)) if k != j]
                for row in rest]  # fmt: skip
        rows = [[x if before is None else x // before for x in row] for row in step]
        rank, before = rank + 1, pivot
    return rank


def half_angles(ring: Ring, tangents: Sequence[Any]) -> dict[Any, Any]:
    """cos = (1 - t²)/(1 + t²), sin = 2 t/(1 + t²)."""
    table: dict[Any, Any] = {}
    for (c, s), t in zip(ring.pairs, tangents, strict=True):
        table |= {c: (1 - t**2) / (1 + t**2), s: 2 * t / (1 + t**2)}
    return table


class _Search:
    """Random points and primes for one matrix, and what they may miss."""

    def __init__(self, rows: Any, ring: Ring, rng: random.Random, at: Any, prime: int | None) -> None:
        import sympy as sp

        self.rows, self.ring, self.rng, self.prime = rows, ring, rng, prime
        if prime is not None and (not isinstance(prime, int) or not sp.isprime(prime)):
            raise UnsupportedError(f"rank: {prime!r} is no prime number.")
        self.at = None if at is None else self._values_at(at)
        circular = {v for pair in ring.pairs for v in pair}
        self.free = [v for v in ring.variables if v not in circular and (ring.root is None or v != ring.root[0])]

    def _values_at(self, at: Mapping[Any, Any]) -> dict[str, Any]:
        if not isinstance(at, Mapping):
            raise UnsupportedError("rank: `at` maps every symbol to a number, such as {x: 71, y: 98}.")
        return {str(name): as_sympy(value, f"value of '{name}'") for name, value in at.items()}

    def try_point(self, method: str) -> MatrixRank:
        for _ in range(_DRAWS):
            point = self._point()
            try:
                return self._rank_at(point, method)
            except ZeroDivisionError:
                if self.at is not None:
                    raise UnsupportedError("rank: a denominator vanishes at the given point.") from None
        raise UnsupportedError("rank: denominators vanish wherever the matrix was tried; are they zero?")

    def _point(self) -> dict[str, Any]:
        """Values of symbols, and half-angle tangents of angles."""
        import sympy as sp

        # Half-angle tangents, not cosines: every rational t is a rational point of the circle, and any polynomial in it
        # has a degree, which the bound on errors needs.
        names = [v.name for v in self.free] + [f"tan({c.name[4:-1]}/2)" for c, _ in self.ring.pairs]
        if self.at is None:
            return {name: sp.Integer(self.rng.randint(1, _SIZE)) for name in names}
        for name in names:
            if name not in self.at:
                how = ", the half-angle tangent by which the angle is given" if name.startswith("tan(") else ""
                raise UnsupportedError(f"rank: the point has no value of '{name}'{how}.")
        return {name: self.at[name] for name in names}

    def _rank_at(self, point: Mapping[str, Any], method: str) -> MatrixRank:
        import sympy as sp

        tangents = [point[f"tan({c.name[4:-1]}/2)"] for c, _ in self.ring.pairs]
        table = {v: point[v.name] for v in self.free} | half_angles(self.ring, tangents)
        if method == "probabilistic-modular":
            return self._modulo(point, table)
        self._require_short()
        values = sp.Matrix([[x.xreplace(table) for x in row] for row in self.rows])
        if values.has(sp.zoo, sp.nan, sp.oo):
            raise ZeroDivisionError
        if self.ring.root is not None:
            root, number = self.ring.root
            found = _rank_in_blocks(values.tolist(), root, self.ring.relations[-1])
            return MatrixRank(found, method, None, point, None, values.xreplace({root: number}))
        if method == "probabilistic":
            import flint

            return MatrixRank(int(flint.fmpz_mat(_whole(values)).rank()), method, None, point, None, values)
        return self._by_primes(point, values)

    def _require_short(self) -> None:
        """Values at a point may be numbers of millions of digits, which no computer eliminates."""
        degree, _, bits = self._size()
        if (much := bits + degree * log2(_SIZE)) > MOST_BITS:
            raise UnsupportedError(
                f"rank: at a point the minors of this matrix have up to {much:.1g} bits; at most {MOST_BITS:.1g} are "
                "computed. Method 'probabilistic-modular' has no such limit."
            )

    def _by_primes(self, point: Mapping[str, Any], values: Any) -> MatrixRank:
        """Ranks modulo primes until their product exceeds every minor: the largest is that of the rational matrix."""
        import flint

        # A minor that is not zero cannot be divisible by primes whose product exceeds it. Hadamard bounds every minor
        # by the product of the lengths of its rows; here squares of both are compared, so that no root is taken.
        whole = _whole(values)
        lengths = sorted((sum(x * x for x in row) for row in whole), reverse=True)[: min(values.shape)]
        bound = prod(max(length, 1) for length in lengths)  # the square of Hadamard's
        best, product, last = 0, 1, 0
        while product * product <= bound:
            last = self.prime or self._random_prime()
            best = max(best, int(flint.nmod_mat([[x % last for x in row] for row in whole], last).rank()))
            product *= last
            if self.prime:
                break
        return MatrixRank(best, "modular", None, point, last or None, whole)

    def _modulo(self, point: Mapping[str, Any], table: Mapping[Any, Any]) -> MatrixRank:
        import flint

        p = self.prime or self._random_prime()
        # Entries are computed modulo the prime as they are written: numbers of one machine word instead of fractions of
        # hundreds of digits, and nothing is expanded.
        residues: dict[Any, int] = {v: residue(x, p) for v, x in table.items()}
        values = [[_value(entry, residues, p) for entry in row] for row in self.rows]
        return MatrixRank(int(flint.nmod_mat(values, p).rank()), "probabilistic-modular", None, point, p, values)

    def _random_prime(self) -> int:
        import sympy as sp

        return int(sp.nextprime(self.rng.randint(2 ** (_BITS - 1), 2**_BITS - 2 * _LARGEST_GAP)))

    def doubt(self, method: str) -> float:
        """Bound on the probability that one point, and one prime, show too small a rank."""
        # The chance that the minor vanishes, given that no denominator does: points where one does were drawn again.
        degree, below, bits = self._size()
        here = min(1.0, (degree / _SIZE) / max(1 - below / _SIZE, 1e-9))
        if method != "probabilistic-modular":
            return here
        # Points are whole numbers below _SIZE, less than p, so that they are as random modulo p. Besides, p may divide
        # every coefficient of the minor: at most bits / 60 primes do, each drawn as often as the gap before it is long.
        return min(1.0, here + bits / (_BITS - 1) * _LARGEST_GAP / 2 ** (_BITS - 1))

    def _size(self) -> tuple[int, int, float]:
        """Degree of the largest minors in what is drawn, of all denominators, and bits of their coefficients."""
        circular = {v for pair in self.ring.pairs for v in pair}
        # A cosine or sine counts twice, by its half-angle tangent.
        sizes = Sizes({v: 2 if v in circular else 1 for v in self.ring.variables})
        degrees, belows, bits = [], 0, 0.0
        for row in self.rows:
            degree, below, length = sizes.row(row)
            degrees.append(degree)
            belows += below + 2 * len(self.ring.pairs) * degree
            bits += (length + 2) * 2 + 2 * degree
        return (
            sum(sorted(degrees, reverse=True)[: len(self.rows[0])]),
            belows,
            bits + log2(len(self.rows) + 1) * len(self.rows),
        )


def _whole(matrix: Any) -> list[list[int]]:
    """A matrix of fractions times their common denominator."""
    import sympy as sp

    common = sp.ilcm(1, *(sp.Rational(x).q for x in matrix))
    return [[int(x * common) for x in matrix.row(i)] for i in range(matrix.rows)]


def residue(number: Any, prime: int) -> int:
    """A rational number modulo a prime."""
    return int(number.p) * pow(_unit(int(number.q) % prime), -1, prime) % prime


def _unit(number: int) -> int:
    if number == 0:
        raise ZeroDivisionError
    return number


def _value(expression: Any, known: dict[Any, int], prime: int) -> int:
    """A rational function at a point modulo a prime; `known` are values of its parts, and takes more."""
    if expression in known:
        return known[expression]
    if expression.is_Rational:
        return residue(expression, prime)
    if expression.is_Pow:
        base, exponent = _value(expression.base, known, prime), int(expression.exp)
        value = pow(base if exponent >= 0 else _unit(base), exponent, prime)
    else:
        parts = [_value(x, known, prime) for x in expression.args]
        value = (sum(parts) if expression.is_Add else prod(parts)) % prime
    known[expression] = value
    return value
