"""Expressions to SymPy and back, exactly.

Symbols become real SymPy symbols of the same name, whatever its characters. Numbers keep every digit: integers and
fractions stay exact, floats keep their bits. Functions are built without evaluation, which would ask SymPy
questions that walk through the whole expression; `expr.doit()` evaluates. Shared parts stay shared, and neither
direction recurses.

    Expr -> SymPy -> Expr    the same function, and the same node where SymPy keeps the order of terms
    SymPy -> Expr -> SymPy   equal, except that whole floats become integers, `a > b` becomes `b < a`, powers
                             3/2, 5/2, ... of products are split, and what folds is folded (sin² + cos²)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from torseur.errors import TorseurError
from torseur.graph.expr import Expr, Number
from torseur.graph.functions import Application, TableLookup, UndeterminedFunction
from torseur.graph.sympy_algebra import negative_of, power_of, product_of, sum_of
from torseur.graph.sympy_reader import read

_SAME_NAME = {"sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "log", "sign", "floor"}
_CONDITIONS = {"lt", "le", "both", "invert"}


def to_sympy(expressions: Sequence[Expr], functions: Mapping[str, Any] | None = None) -> list[Any]:
    """The expressions as SymPy expressions with real symbols.

    Undetermined functions become SymPy functions of the same name, or those given in `functions`; their partial
    derivatives become Derivative, or Subs of it where an argument is not a variable. Comparisons become
    relations, `where` becomes Piecewise.
    """
    writer = _Writer(functions or {})
    for node in _needed(expressions):
        writer.results[node] = writer.written(node)
    return [writer.results[expression] for expression in expressions]


def from_sympy(
    expression: Any,
    symbols: Mapping[str, Expr],
    functions: Mapping[str, UndeterminedFunction] | None = None,
) -> Expr:
    """A SymPy expression as an expression of the given symbols, found by name.

    Undetermined functions are those given in `functions`, or new ones of the same name.
    """
    return read(expression, symbols, functions or {})
