"""Expressions of the intrinsic algebra as neutral expressions: vectors bold, × and · between operands."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from torseur.errors import UnsupportedError
from torseur.report.expression import Call, Infix, Name, Node, Number, Over, Power, Product, Sum, product

_AT_A_POINT = re.compile(r"(\w+)\((.+)\)")
TIMES, DOT = "×", "·"


def read_intrinsic(e: Any) -> Node:
    """The neutral tree of an expression of vectors, matrices and scalars, its terms in the order they were made."""
    readers = _readers()
    for kind in type(e).__mro__:
        if kind in readers:
            return readers[kind](e)
    from torseur.report.read_sympy import read_sympy

    return read_sympy(e)


@cache
def _readers() -> dict[type, Callable[[Any], Node]]:
    """How each kind of expression is read."""
    from sympy import Add, Mul
    from sympy.matrices import expressions as m

    from torseur.equations.intrinsic import Cross, Dot, Matrix, Tilde, Vector

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
        m.MatrixExpr: _refused,
    }


def _refused(e: Any) -> Node:
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
    scalars = sorted((p for p in parts if not p.is_Matrix), key=lambda p: (not p.is_number, p.has_free()))
    found: list[Node] = []
    for part in [*scalars, *(p for p in parts if p.is_Matrix)]:
        node = read_intrinsic(part)
        found += node.factors if isinstance(node, Product) else (node,)
    return product(tuple(found))
