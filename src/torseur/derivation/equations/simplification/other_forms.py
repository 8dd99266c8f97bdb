"""Other writings of an expression: Horner's, factored, for small motions to an order, linear about a point."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from math import factorial

from torseur.algebra.graph import Expr, ExprLike, as_expr, from_sympy, jacobian, substitute, symbols_of, to_sympy
from torseur.derivation.equations.terms.polynomial import (
    ONE,
    Monomial,
    Polynomial,
    expand,
    expression_of,
    plus,
    times,
)
from torseur.derivation.equations.terms.trigonometry import shorten_by_trigonometry
from torseur.errors import TorseurError


def horner(expression: Expr, variable: Expr) -> Expr:
    """a0 + x (a1 + x (a2 + ...)) in one variable (a symbol, or a function such as cos q)."""
    by_power: dict[int, Expr] = {}
    for term, coefficient in shorten_by_trigonometry(expand(expression)).items():
        degree = next((e for f, e in term if f is variable), 0)
        if degree < 0:
            raise TorseurError(f"Horner's form: '{variable}' stands in a denominator.")
        rest = tuple(pair for pair in term if pair[0] is not variable)
        by_power[degree] = by_power.get(degree, as_expr(0)) + expression_of({rest: coefficient})
    total = as_expr(0)
    for degree in range(max(by_power, default=0), -1, -1):
        total = total * variable + by_power.get(degree, as_expr(0))
    return total


def factor(expression: Expr) -> Expr:
    """The product of irreducible factors, by SymPy."""
    import sympy

    names = {str(x.name): x for x in symbols_of([expression])}
    return as_expr(from_sympy(sympy.factor(to_sympy([expression])[0]), names))


def linear_form(rows: Sequence[Expr], about: Mapping[Expr, ExprLike]) -> tuple[list[Expr], list[list[Expr]]]:
    """f(x0) and ∂f/∂x at x0: f(x) = f(x0) + J (x - x0) to first order, the columns in the order of `about`."""
    variables = list(about)
    entries = jacobian(list(rows), variables)
    dense = [[entries.get((i, k), as_expr(0)) for k in range(len(variables))] for i in range(len(rows))]
    flat = substitute([*rows, *(entry for row in dense for entry in row)], about)
    n, m = len(rows), len(variables)
    return flat[:n], [flat[n + i * m : n + (i + 1) * m] for i in range(n)]


def small_motion_form(expression: Expr, small: Collection[Expr], order: int = 1) -> Expr:
    """The expression to an order in small quantities: sin a = a - a³/6, cos a = 1 - a²/2, higher products left out.

    `small` are the angles, displacements, speeds and accelerations that are small together.
    """
    if order < 0:
        raise TorseurError(f"small motions: the order is 0, 1, 2, ..., not {order}.")
    chosen = set(small)
    total: Polynomial = {}
    for term, coefficient in expand(expression, 6000).items():
        series: Polynomial = {ONE: coefficient}
        for f, exponent in term:
            single = _series(f, chosen, order)
            for _ in range(abs(exponent)):
                # A denominator stays as it is: 1 / sin q has no series about zero.
                series = _truncate(times(series, single if exponent > 0 else {((f, -1),): 1}), chosen, order)
        total = plus([*total.items(), *series.items()])
    return expression_of(total)


def _series(f: Expr, small: set[Expr], order: int) -> Polynomial:
    """A factor as a polynomial in the small quantities."""
    if f.op in ("sin", "cos"):
        angle = expand(f.args[0])
        # sin(q1 + q2), but not sin(q1 + alpha) of a given angle alpha, whose series would begin with sin alpha.
        if angle and all(_degree(term, small) > 0 for term in angle):
            return _truncate(_sum_of_series(f.op, angle, order), small, order)
    return {((f, 1),): 1}


def _sum_of_series(name: str, angle: Polynomial, order: int) -> Polynomial:
    total: Polynomial = {}
    powers: Polynomial = {ONE: 1}
    for n in range(order + 1):
        if n % 2 == (1 if name == "sin" else 0):
            sign = -1 if (n // 2) % 2 else 1
            scaled = {term: c * Fraction(sign, factorial(n)) for term, c in powers.items()}
            total = plus([*total.items(), *scaled.items()])
        powers = times(powers, angle)
    return total


def _truncate(polynomial: Polynomial, small: set[Expr], order: int) -> Polynomial:
    return {term: c for term, c in polynomial.items() if _degree(term, small) <= order}


def _degree(term: Monomial, small: set[Expr]) -> int:
    return sum(e for f, e in term if f in small)
