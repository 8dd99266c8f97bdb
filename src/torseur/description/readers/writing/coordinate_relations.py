"""Constraints between two coordinates that robot files can say: one is a polynomial of the other."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.algebra.graph import Expr, as_expr, evaluate, gradient, substitute, symbols_of
from torseur.description.mechanism import Equation
from torseur.description.readers.writing.numeric_values import Values

HIGHEST = 4


@dataclass(frozen=True)
class Relation:
    """first = Σ coefficients[k] second^k; without a second coordinate, first = coefficients[0]."""

    first: str
    second: str | None
    coefficients: tuple[float, ...]


def relation_of(equation: Equation, values: Values) -> Relation | None:
    """The relation that an equation amounts to; None when it is another one."""
    names = {c.symbol: c.name for c in values.coordinates}
    used = [x for x in symbols_of([equation.residual]) if x in names]
    if any(x not in names and x not in values.parameters for x in symbols_of([equation.residual])):
        return None
    # An equation is written for the coordinate that follows, which stands alone in it.
    alone = [x for x in used if gradient(equation.residual, [x])[0] == as_expr(1)]
    for first in (*alone, *used):
        others = [x for x in used if x is not first]
        if len(others) <= 1 and (coefficients := _solve_for(equation.residual, first, others, values)) is not None:
            return Relation(names[first], names[others[0]] if others else None, coefficients)
    return None


def _solve_for(residual: Expr, y: Expr, others: list[Expr], values: Values) -> tuple[float, ...] | None:
    """Coefficients of the polynomial that y is, when the residual is linear in y."""
    (partial,) = gradient(residual, [y])
    if any(x not in values.parameters for x in symbols_of([partial])):
        return None
    factor = values.number(partial, "a constraint")
    if factor == 0.0:
        return None
    (rest,) = substitute([residual], {y: as_expr(0)})
    return polynomial_coefficients(rest * (-1 / factor), others, values)


def polynomial_coefficients(polynomial: Expr, others: list[Expr], values: Values) -> tuple[float, ...] | None:
    """Taylor coefficients at zero of a polynomial of one coordinate or none; None when it is something else."""
    known = {*values.parameters, *others}
    if len(others) > 1 or any(x not in known for x in symbols_of([polynomial])):
        return None
    coefficients, factorial = [], 1.0
    for order in range(HIGHEST + 2):
        at = {**values.parameters, **{x: 0.0 for x in others}}
        coefficients.append(float(evaluate([polynomial], at)[0]) / factorial)
        if not others:
            return (coefficients[0],)
        (polynomial,) = gradient(polynomial, others)
        factorial *= order + 1
        if polynomial.is_zero:
            return tuple(coefficients)
    return None
