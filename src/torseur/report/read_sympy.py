"""SymPy expressions as neutral expressions, in the order an engineer writes them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from torseur.errors import UnsupportedError
from torseur.report.expression import Call, Name, Node, Number, Power, Product, Sum
from torseur.report.formula import Formula, formula
from torseur.report.reading_order import factor_key, term_key


def from_sympy(expression: Any) -> Formula:
    """A SymPy expression made ready for the page."""
    return formula(read_sympy(expression))


def read_sympy(expression: Any) -> Node:
    """The neutral tree of a SymPy expression; functions of time are names, their derivatives have dots."""
    import sympy

    return _read(sympy.sympify(expression))


def _read(e: Any) -> Node:
    import sympy
    from sympy.core.function import AppliedUndef

    if isinstance(e, sympy.Derivative):
        return _derivative(e)
    if isinstance(e, AppliedUndef):
        return _undetermined(e)
    if e.is_Symbol:
        return name_of(e.name)
    if e.is_Rational:
        return Number(Fraction(int(e.p), int(e.q)))
    if e.is_Float:
        return Number(float(e))
    if e.is_NumberSymbol:
        return Name(str(e).lower())
    if e.is_Add:
        return Sum(tuple(sorted(map(_read, e.args), key=term_key)))
    if e.is_Mul:
        return Product(tuple(sorted(map(_read, e.args), key=factor_key)))
    if e.is_Pow:
        return Power(_read(e.base), _read(e.exp))
    if isinstance(e, sympy.Function):
        return Call(_function_name(e), tuple(map(_read, e.args)))
    raise UnsupportedError(
        f"report: cannot typeset a SymPy {type(e).__name__}; expected scalars, functions and derivatives."
    )


def name_of(text: str) -> Name:
    """A name whose primes are time derivatives: `q1'` is q1 with a dot."""
    plain = text.rstrip("'")
    return Name(plain, len(text) - len(plain)) if plain else Name(text)


def _function_name(e: Any) -> str:
    name = str(e.func.__name__)
    return {"Abs": "abs"}.get(name, name)


def _undetermined(e: Any) -> Node:
    """q(t) is the name q; any other undetermined function keeps its arguments."""
    if len(e.args) == 1 and e.args[0].is_Symbol and e.args[0].name in ("t", "_t"):
        return Name(e.func.__name__)
    return Call(e.func.__name__, tuple(map(_read, e.args)))


def _derivative(e: Any) -> Node:
    inner = _read(e.expr)
    if isinstance(inner, Name) and len(e.variable_count) == 1:
        return Name(inner.text, inner.dots + int(e.variable_count[0][1]))
    raise UnsupportedError(f"report: cannot typeset the derivative {e}; expected a time derivative of a coordinate.")
