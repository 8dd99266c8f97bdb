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

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, overload

from torseur.algebra.graph.expr import Expr, ExprLike, Number, as_expr, operand
from torseur.algebra.graph.functions import Application, TableLookup, UndeterminedFunction
from torseur.algebra.graph.sympy.sympy_algebra import (
    lattice_of,
    negative_of,
    piecewise_of,
    power_of,
    product_of,
    sum_of,
)
from torseur.algebra.graph.sympy.sympy_reader import read_sympy
from torseur.errors import TorseurError

_SAME_NAME = {"sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "log", "sign", "floor"}
_CONDITIONS = {"lt", "le", "both", "invert"}
_LARGE = 300
"""Leaves, each counted as often as it is used, beyond which SymPy is not asked to count them."""


@overload
def to_sympy(expressions: ExprLike, functions: Mapping[str, Any] | None = None) -> Any: ...


@overload
def to_sympy(expressions: Sequence[ExprLike], functions: Mapping[str, Any] | None = None) -> list[Any]: ...


def to_sympy(expressions: ExprLike | Sequence[ExprLike], functions: Mapping[str, Any] | None = None) -> Any:
    """An expression, or a list of some, as SymPy has them, with real symbols.

    Undetermined functions become SymPy functions of the same name, or those given in `functions`; their partial
    derivatives become Derivative, or Subs of it where an argument is not a variable. Comparisons become
    relations, `where` becomes Piecewise.
    """
    if (single := operand(expressions)) is not None:
        return to_sympy([single], functions)[0]
    if not isinstance(expressions, Iterable):
        raise TorseurError(f"to_sympy takes an expression or a list of them, got {type(expressions).__name__}.")
    nodes = [as_expr(expression) for expression in expressions]
    writer = _Writer(functions or {})
    # Parts first, each once: SymPy gets objects that it already knows, and shared parts stay shared.
    for node in _needed_nodes(nodes):
        writer.write(node)
    return [writer.results[node] for node in nodes]


def from_sympy(
    expression: Any,
    symbols: Mapping[str, Expr],
    functions: Mapping[str, UndeterminedFunction] | None = None,
) -> Expr:
    """A SymPy expression as an expression of the given symbols, found by name.

    Undetermined functions are those given in `functions`, or new ones of the same name.
    """
    return read_sympy(expression, symbols, functions or {})


def applied_function(application: Application, arguments: Sequence[Any], function: Any = None) -> Any:
    """An undetermined function of SymPy expressions, or its partial derivative."""
    import sympy

    function = function or sympy.Function(application.function.name, real=True)
    places, points, variables = list(arguments), [], []
    for i, order in enumerate(application.orders):
        if order and not _is_variable(i, arguments):
            # SymPy differentiates by variables only: f_1(sin q) is Subs(d f(ξ)/dξ, ξ, sin q). The index makes equal
            # derivatives have the same dummy, without which they would not be equal.
            places[i] = sympy.Dummy(f"xi_{i + 1}", dummy_index=hash(arguments[i]))
            points.append(arguments[i])
            variables.append(places[i])
    value = function(*places)
    if not any(application.orders):
        return value
    orders = [(place, order) for place, order in zip(places, application.orders, strict=True) if order]
    derivative = sympy.Derivative(value, *orders)
    return sympy.Subs(derivative, variables, points) if variables else derivative


def table_function(lookup: TableLookup) -> Any:
    """A SymPy function that stands for a table or its derivative and remembers it."""
    import sympy

    return sympy.Function(lookup.name, real=True, lookup=lookup)


def _is_variable(i: int, arguments: Sequence[Any]) -> bool:
    """Whether SymPy may differentiate by argument i as it stands: no other argument may depend on it."""
    argument = arguments[i]
    if not argument.is_Symbol:
        return bool(argument._diff_wrt)
    return all(argument not in other.free_symbols for k, other in enumerate(arguments) if k != i)


def _needed_nodes(expressions: Sequence[Expr]) -> list[Expr]:
    """The nodes to write, in order; a `where` in the else branch of another is part of that one's Piecewise."""
    order: dict[Expr, None] = {}
    stack = list(expressions)[::-1]
    while stack:
        node = stack.pop()
        if node in order:
            continue
        parts = node.args if node.op != "where" else [part for case in _cases(node) for part in case]
        missing = [part for part in parts if part not in order]
        if missing:
            stack.append(node)
            stack += missing[::-1]
        else:
            order[node] = None
    return list(order)


def _cases(node: Expr) -> list[tuple[Expr, ...]]:
    """(condition, value) of a chain of `where`, and last (value,)."""
    cases: list[tuple[Expr, ...]] = []
    while node.op == "where":
        condition, value, node = node.args
        cases.append((condition, value))
    return [*cases, (node,)]


def _number(value: Number) -> Any:
    import sympy

    if isinstance(value, Fraction):
        return sympy.Rational(value.numerator, value.denominator)
    return sympy.Integer(value) if isinstance(value, int) else sympy.Float(value)


class _Writer:
    """The SymPy results of the nodes written so far."""

    def __init__(self, functions: Mapping[str, Any]) -> None:
        self.functions = functions
        self.results: dict[Expr, Any] = {}
        self._named: dict[str, Expr] = {}
        self._sizes: dict[Expr, int] = {}

    def write(self, node: Expr) -> None:
        self.results[node] = result = self._convert(node)
        self._sizes[node] = min(1 + sum(self._sizes.get(a, _LARGE) for a in node.args), _LARGE)
        # SymPy remembers these answers; asked from the bottom up, the questions never go deep.
        hash(result), getattr(result, "is_commutative", None)

    def _small(self, node: Expr) -> bool:
        return sum(self._sizes.get(a, _LARGE) for a in node.args) < _LARGE

    def _convert(self, node: Expr) -> Any:
        import sympy

        op = node.op
        if not node.args:
            return self._leaf(node)
        if op in _CONDITIONS:
            return self._condition(node)
        if op == "where":
            return self._piecewise(node)
        values = [self.number(a) for a in node.args]
        if op in ("min", "max"):
            return lattice_of(sympy.Min if op == "min" else sympy.Max, values, self._small(node))
        if op == "apply":
            return applied_function(node.data, values, self.functions.get(node.data.function.name))
        return table_function(node.data)(*values) if op == "table" else _OPERATIONS[op](*values)

    def number(self, node: Expr) -> Any:
        """The result where a number is needed: a condition counts 1 or 0."""
        import sympy

        result = self.results[node]
        if node.op not in _CONDITIONS:
            return result
        return piecewise_of([(sympy.Integer(1), result), (sympy.Integer(0), sympy.true)])

    def truth(self, node: Expr) -> Any:
        """The result where a condition is needed: a number holds unless it is 0."""
        import sympy

        result = self.results[node]
        if node.is_constant:
            return sympy.true if node.data else sympy.false
        return result if node.op in _CONDITIONS else sympy.Ne(result, 0, evaluate=False)

    def _leaf(self, node: Expr) -> Any:
        import sympy

        if node.op == "symbol":
            name = node.data.name
            if self._named.setdefault(name, node) is not node:
                raise TorseurError(f"two symbols are named '{name}' (different unit or meaning); rename one.")
            return sympy.Symbol(name, real=True)
        return sympy.pi if node.op == "pi" else _number(node.data)

    def _condition(self, node: Expr) -> Any:
        import sympy

        if node.op == "invert":
            return sympy.Not(self.truth(node.args[0]), evaluate=False)
        if node.op == "both":
            return lattice_of(sympy.And, [self.truth(a) for a in node.args], self._small(node))
        a, b = (self.number(argument) for argument in node.args)
        less, more = (sympy.Lt, sympy.Gt) if node.op == "lt" else (sympy.Le, sympy.Ge)
        # SymPy writes numbers on the right.
        return more(b, a, evaluate=False) if a.is_Number else less(a, b, evaluate=False)

    def _piecewise(self, node: Expr) -> Any:
        import sympy

        *cases, (otherwise,) = _cases(node)
        pairs = [(self.number(value), self.truth(condition)) for condition, value in cases]
        return piecewise_of([*pairs, (self.number(otherwise), sympy.true)])


def _function(name: str) -> Callable[..., Any]:
    def write(*values: Any) -> Any:
        import sympy

        return getattr(sympy, name)(*values, evaluate=False)

    return write


def _root(value: Any) -> Any:
    import sympy

    return power_of(value, sympy.Rational(1, 2))


def _quotient(a: Any, b: Any) -> Any:
    import sympy

    return product_of([a, power_of(b, sympy.Integer(-1))])


def _exponential(value: Any) -> Any:
    import sympy

    return sympy.E if value == 1 else sympy.exp(value, evaluate=False)


_OPERATIONS: dict[str, Callable[..., Any]] = {name: _function(name) for name in _SAME_NAME} | {
    "add": lambda a, b: sum_of([a, b]),
    "sub": lambda a, b: sum_of([a, negative_of(b)]),
    "mul": lambda a, b: product_of([a, b]),
    "div": _quotient,
    "neg": negative_of,
    "sqrt": _root,
    "pow": power_of,
    "exp": _exponential,
    "abs": _function("Abs"),
}
