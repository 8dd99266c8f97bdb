"""SymPy expressions as neutral expressions: scalars in the order an engineer writes them, vectors and matrices bold."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from torseur.errors import UnsupportedError
from torseur.presentation.typesetting.formula_tree import (
    Call,
    Infix,
    Name,
    Node,
    Number,
    Over,
    Power,
    Product,
    Sum,
    product,
)
from torseur.presentation.typesetting.reading_order import factor_key, term_key

_AT_A_POINT = re.compile(r"(\w+)\((.+)\)")
TIMES, DOT = "×", "·"


def read_sympy(expression: Any) -> Node:
    """The neutral tree of a SymPy expression; functions of time are names, their derivatives have dots."""
    import sympy

    return _read_scalar(sympy.sympify(expression))


def _read_scalar(e: Any) -> Node:
    import sympy
    from sympy.core.function import AppliedUndef

    if isinstance(e, sympy.Derivative):
        return _derivative(e)
    if isinstance(e, AppliedUndef):
        return _undetermined_function(e)
    if e.is_Symbol:
        return _name(e.name)
    if e.is_Rational:
        return Number(Fraction(int(e.p), int(e.q)))
    if e.is_Float:
        return Number(float(e))
    if e.is_NumberSymbol:
        return Name(str(e).lower())
    if e.is_Add:
        return Sum(tuple(sorted(map(_read_scalar, e.args), key=term_key)))
    if e.is_Mul:
        return Product(tuple(sorted(map(_read_scalar, e.args), key=factor_key)))
    if e.is_Pow:
        return Power(_read_scalar(e.base), _read_scalar(e.exp))
    if isinstance(e, sympy.Function):
        return Call(_function_name(e), tuple(map(_read_scalar, e.args)))
    raise UnsupportedError(
        f"report: cannot typeset a SymPy {type(e).__name__}; expected scalars, functions and derivatives."
    )


def _name(text: str) -> Name:
    """A name whose primes are time derivatives: `q1'` is q1 with a dot."""
    plain = text.rstrip("'")
    return Name(plain, len(text) - len(plain)) if plain else Name(text)


def _function_name(e: Any) -> str:
    name = str(e.func.__name__)
    return {"Abs": "abs"}.get(name, name)


def _undetermined_function(e: Any) -> Node:
    """q(t) is the name q; any other undetermined function keeps its arguments."""
    if len(e.args) == 1 and e.args[0].is_Symbol and e.args[0].name in ("t", "_t"):
        return Name(e.func.__name__)
    return Call(e.func.__name__, tuple(map(_read_scalar, e.args)))


def _derivative(e: Any) -> Node:
    inner = _read_scalar(e.expr)
    if isinstance(inner, Name) and len(e.variable_count) == 1:
        return Name(inner.text, inner.dots + int(e.variable_count[0][1]))
    raise UnsupportedError(f"report: cannot typeset the derivative {e}; expected a time derivative of a coordinate.")


def read_intrinsic(e: Any) -> Node:
    """The neutral tree of an expression of vectors, matrices and scalars, its terms in the order they were made."""
    readers = _readers()
    # By class and its bases, the nearest first: Cross and Dot are MatrixExpr as well, which is refused.
    for kind in type(e).__mro__:
        if kind in readers:
            return readers[kind](e)
    return read_sympy(e)


@cache
def _readers() -> dict[type, Callable[[Any], Node]]:
    """How each kind of expression is read."""
    from sympy import Add, Mul
    from sympy.matrices import expressions as m

    from torseur.algebra.intrinsic import Cross, Dot, Matrix, Tilde, Vector

    return {
        Vector: lambda e: vector_name(e.name, e.dots),
        Matrix: lambda e: vector_name(e.name, e.dots),
        Cross: lambda e: Infix(TIMES, *map(read_intrinsic, e.args)),
        Dot: lambda e: Infix(DOT, *map(read_intrinsic, e.args)),
        Tilde: lambda e: Over("~", read_intrinsic(e.args[0])),
        m.MatAdd: _sum,
        Add: _sum,
        m.MatMul: _product,
        Mul: _product,
        m.Transpose: lambda e: Power(read_intrinsic(e.args[0]), Name("T")),
        m.Inverse: lambda e: Power(read_intrinsic(e.args[0]), Name("-1")),
        m.MatPow: lambda e: Power(*map(read_intrinsic, e.args)),
        m.Trace: lambda e: Call("tr", (read_intrinsic(e.args[0]),)),
        m.ZeroMatrix: lambda e: Number(Fraction(0)),
        m.Identity: lambda e: Number(Fraction(1)),
        m.MatrixExpr: _refuse,
    }


def _refuse(e: Any) -> Node:
    raise UnsupportedError(f"cannot typeset a SymPy {type(e).__name__}; expected sums and products of vectors.")


def vector_name(text: str, dots: int = 0) -> Node:
    """A bold name; a(G) is a vector at a point."""
    at = _AT_A_POINT.fullmatch(text)
    return Call(at[1], (Name(at[2]),), bold=True) if at else Name(text, dots, bold=True)


def _sum(e: Any) -> Node:
    return Sum(tuple(read_intrinsic(a) for a in e.args))


def _product(e: Any) -> Node:
    """Numbers and scalars first, matrices and vectors in their order."""
    from sympy import Mul

    parts = [part for a in e.args for part in (a.args if isinstance(a, Mul) else (a,))]
    # SymPy keeps the order of matrices and vectors, which matters, and hides scalars anywhere among them.
    scalars = sorted((p for p in parts if not p.is_Matrix), key=lambda p: (not p.is_number, p.has_free()))
    factors: list[Node] = []
    for part in [*scalars, *(p for p in parts if p.is_Matrix)]:
        node = read_intrinsic(part)
        factors += node.factors if isinstance(node, Product) else (node,)
    return product(tuple(factors))
