"""Expressions of the intrinsic algebra as neutral expressions: vectors bold, × and · between operands."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from torseur.errors import UnsupportedError
from torseur.report.expression import Call, Infix, Name, Node, Number, Over, Power, Product, Sum, product

_AT_A_POINT = re.compile(r"(\w+)\((.+)\)")
TIMES, DOT = "×", "·"


def read_intrinsic(e: Any) -> Node:
    """The neutral tree of an expression of vectors, matrices and scalars, its terms in the order they were made."""
    from sympy import Add, Mul
    from sympy.matrices import expressions as m

    from torseur.equations.intrinsic import Cross, Dot, Matrix, Tilde, Vector

    match e:
        case Vector() | Matrix():
            return vector_name(e.name, e.dots)
        case Cross():
            return Infix(TIMES, *map(read_intrinsic, e.args))
        case Dot():
            return Infix(DOT, *map(read_intrinsic, e.args))
        case Tilde():
            return Over("~", read_intrinsic(e.args[0]))
        case m.MatAdd() | Add():
            return Sum(tuple(read_intrinsic(a) for a in e.args))
        case m.MatMul() | Mul():
            return _product(e)
        case m.Transpose():
            return Power(read_intrinsic(e.args[0]), Name("T"))
        case m.Inverse():
            return Power(read_intrinsic(e.args[0]), Name("-1"))
        case m.Trace():
            return Call("tr", (read_intrinsic(e.args[0]),))
        case m.ZeroMatrix():
            return Number(Fraction(0))
        case m.Identity():
            return Number(Fraction(1))
    if isinstance(e, m.MatPow):
        return Power(read_intrinsic(e.args[0]), read_intrinsic(e.args[1]))
    if isinstance(e, m.MatrixExpr):
        raise UnsupportedError(f"cannot typeset a SymPy {type(e).__name__}; expected sums and products of vectors.")
    from torseur.report.read_sympy import read_sympy

    return read_sympy(e)


def vector_name(text: str, dots: int = 0) -> Node:
    """A bold name; a(G) is a vector at a point."""
    at = _AT_A_POINT.fullmatch(text)
    return Call(at[1], (Name(at[2]),), bold=True) if at else Name(text, dots, bold=True)


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
