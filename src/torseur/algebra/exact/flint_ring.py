"""Polynomials over the rational numbers in python-flint, and the way from and to SymPy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import Any

ORDERS = {"grevlex": "degrevlex", "grlex": "deglex", "lex": "lex"}


@dataclass(frozen=True)
class FlintRing:
    """Z[variables] with an order of monomials; rational coefficients are cleared, which changes no ideal.

    `linear` of the variables occur to the first power alone: places of vectors.
    """

    variables: tuple[Any, ...]
    order: str = "grevlex"
    linear: int = 0

    @cached_property
    def context(self) -> Any:
        from flint import Ordering, fmpz_mpoly_ctx

        # Names do not matter to python-flint but must be identifiers: cos(q) is none.
        return fmpz_mpoly_ctx.get([f"x{k}" for k in range(len(self.variables))], getattr(Ordering, ORDERS[self.order]))

    def cleared(self, expression: Any) -> tuple[int, Any]:
        """(n, n · polynomial) with whole coefficients."""
        import sympy as sp

        if not self.variables:
            number = sp.Rational(expression)
            return int(number.q), self.context.from_dict({(): int(number.p)} if number else {})
        number, whole = sp.Poly(expression, *self.variables, domain=sp.QQ).clear_denoms(convert=True)
        return int(number), self.context.from_dict({powers: int(c) for powers, c in whole.terms()})

    def from_sympy(self, expression: Any) -> Any:
        """A multiple of a polynomial with whole coefficients."""
        return self.cleared(expression)[1]

    def to_sympy(self, polynomial: Any) -> Any:
        """A polynomial in SymPy."""
        import sympy as sp

        terms = polynomial.to_dict().items()
        return sp.Add(*(sp.Integer(int(c)) * self.monomial(powers) for powers, c in terms))

    def monomial(self, powers: Sequence[int]) -> Any:
        import sympy as sp

        return sp.Mul(*(v ** int(k) for v, k in zip(self.variables, powers, strict=True)))

    def leading(self, polynomial: Any) -> tuple[int, ...]:
        """Exponents of the leading monomial."""
        return tuple(int(k) for k in polynomial.monomial(0))

    def vector(self, polynomials: Iterable[Any]) -> Any:
        from flint import fmpz_mpoly_vec

        return fmpz_mpoly_vec([p for p in polynomials if p != 0], self.context)

    @property
    def generators(self) -> tuple[Any, ...]:
        return tuple(self.context.gens())


def remainder(polynomial: Any, basis: Sequence[Any]) -> tuple[Fraction, Any]:
    """(f, r) with f · polynomial = r modulo the basis, no term of r divisible by a leading one, in whole numbers."""
    context, rest, factor = polynomial.context(), 0 * polynomial, Fraction(1)
    leading = [(tuple(map(int, p.monomial(0))), int(p.coefficient(0)), p) for p in basis]
    # Kept throughout: factor · given = polynomial + rest modulo the basis. Cross multiplication by d / gcd, c / gcd
    # instead of a division keeps every coefficient whole.
    while polynomial != 0:
        powers, c = tuple(map(int, polynomial.monomial(0))), int(polynomial.coefficient(0))
        for own, d, p in leading:
            if all(a >= b for a, b in zip(powers, own, strict=True)):
                common = gcd(c, d)
                shift = context.from_dict({tuple(a - b for a, b in zip(powers, own, strict=True)): c // common})
                polynomial, rest = d // common * polynomial - shift * p, d // common * rest
                factor *= d // common
                break
        else:
            first = context.from_dict({powers: c})
            polynomial, rest = polynomial - first, rest + first
    return factor, rest


def primitive(polynomial: Any) -> Any:
    """The polynomial without the common factor of its coefficients, the leading one positive."""
    if polynomial == 0:
        return polynomial
    coefficients = [int(c) for c in polynomial.coeffs()]
    common = gcd(*coefficients) * (1 if coefficients[0] > 0 else -1)
    return polynomial.context().from_dict({m: int(c) // common for m, c in polynomial.to_dict().items()})
