"""Values of expressions in any scalar; with expressions as values this is substitution."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from torseur.algebra.graph.expr import PI, Expr, ExprLike, as_expr, intern
from torseur.algebra.graph.operations import OPERATIONS
from torseur.errors import TorseurError

if TYPE_CHECKING:
    from torseur.algebra.graph.functions import Application, TableLookup

Laws = Mapping[str, Callable[..., Any]]


def live_nodes(outputs: Iterable[Expr], leaves: Iterable[Expr] = ()) -> list[Expr]:
    """Every node the outputs depend on, in an order of evaluation; the walk stops at the given leaves.

    What the first output needs comes first, and of that what its first argument needs: depth first, which depends on
    the outputs and their order alone.
    """
    stops = leaves if isinstance(leaves, (set, frozenset, dict)) else set(leaves)
    # A stack, not recursion: chains of a hundred thousand nodes are usual. A dict keeps the order and tells what is
    # done.
    order: dict[Expr, None] = {}
    stack = [*outputs][::-1]
    while stack:
        node = stack.pop()
        if node in order:
            continue
        for argument in () if node in stops else node.args:
            if argument not in order:  # then the node waits below its arguments and is looked at once more
                stack.append(node)
                stack.extend(node.args[::-1])
                break
        else:
            order[node] = None
    return list(order)


def symbols_of(outputs: Iterable[Expr]) -> list[Expr]:
    """The symbols the outputs depend on, as they meet a reader who goes from left to right."""
    return [node for node in live_nodes(outputs) if node.op == "symbol"]


def evaluate(outputs: Sequence[Expr], values: Mapping[Expr, Any], laws: Laws | None = None) -> list[Any]:
    """The outputs with each node in `values` replaced by its value.

    Values may be floats, fractions, arrays, SymPy or mpmath numbers, or expressions; where they are mixed,
    the most general kind decides. `laws` gives undetermined functions by name, and with them their
    derivatives; a function without a law stays formal when values are expressions. What a `where` does not
    choose may be undefined.
    """
    lift, pi = _arithmetic(values.values())
    results: dict[Expr, Any] = {}
    for node in live_nodes(outputs, values):
        if node in values:
            results[node] = lift(values[node])
        elif node.args:
            arguments = tuple([results[a] for a in node.args])
            # Built again, an unchanged node would go through all folds to become itself; undetermined functions may
            # have a law.
            unchanged = lift is as_expr and node.op != "apply" and arguments == node.args
            results[node] = node if unchanged else _operate(node, arguments, laws or {})
        elif lift is as_expr:
            results[node] = node
        # Lifted at the leaves: 1/3 must become mpmath's before it meets anything, or it would be rounded to a float.
        elif node.op == "constant":
            results[node] = lift(node.data)
        elif node.op == "pi":
            results[node] = pi
        else:
            raise TorseurError(f"'{node.name}' has no value.")
    return [_require_value(results[output]) for output in outputs]


def substitute(outputs: Sequence[Expr], values: Mapping[Expr, ExprLike]) -> list[Expr]:
    """The outputs with nodes replaced by expressions or numbers."""
    if not values:
        return list(outputs)
    return evaluate(outputs, {node: as_expr(value) for node, value in values.items()})


def with_arguments(node: Expr, arguments: Sequence[Expr]) -> Expr:
    """The same operation on other arguments."""
    return as_expr(_require_value(_operate(node, arguments, {})))


def constant_value(node: Expr) -> float:
    """The number of an expression without symbols."""
    free = [leaf for leaf in live_nodes([node]) if leaf.op in ("symbol", "apply")]
    if free:
        raise TorseurError(f"'{node}' has no number yet: '{free[0]}' is not given.")
    return float(evaluate([node], {})[0])


@dataclass(frozen=True)
class Undefined:
    """Stands for a value that does not exist, such as 1/0, until it is known whether it is needed."""

    node: Expr
    error: Exception


def _require_value(value: Any) -> Any:
    if not isinstance(value, Undefined):
        return value
    if isinstance(value.error, TorseurError):
        raise value.error
    raise TorseurError(f"'{value.node}' has no value: {value.error}.") from value.error


def _operate(node: Expr, arguments: Sequence[Any], laws: Laws) -> Any:
    for argument in arguments:
        if argument.__class__ is Undefined:
            return _choose(*arguments) if node.op == "where" else argument
    try:
        if node.op == "apply":
            return _apply(node.data, arguments, laws)
        if node.op == "table":
            return _look_up(node.data, arguments[0])
        return OPERATIONS[node.op].value(*arguments)
    except (ArithmeticError, ValueError, TorseurError) as error:
        return Undefined(node, error)


def _choose(condition: Any, a: Any, b: Any) -> Any:
    """The chosen one of two branches of which one is undefined."""
    try:
        return condition if condition.__class__ is Undefined else a if condition else b
    except (TypeError, ValueError, TorseurError):  # a formula or an array: the choice is still open
        return a if a.__class__ is Undefined else b


def _apply(application: Application, arguments: Sequence[Any], laws: Laws) -> Any:
    law = laws.get(application.name)
    if law is None and application.function.name in laws:
        from torseur.algebra.graph.derivatives import derivative_of_law

        law = derivative_of_law(laws[application.function.name], application)
    if law is not None:
        return law(*arguments)
    if all(isinstance(a, Expr) for a in arguments):
        return intern("apply", tuple(arguments), application)
    if any(_kind(a) == "sympy" for a in arguments):
        from torseur.algebra.graph.sympy.sympy_bridge import applied_function

        return applied_function(application, arguments)
    name = application.name
    raise TorseurError(f"function '{name}' has no law. Give one, e.g. laws={{'{name}': ...}}.")


def _look_up(lookup: TableLookup, argument: Any) -> Any:
    if isinstance(argument, Expr):
        return intern("table", (argument,), lookup)
    if _kind(argument) == "sympy":
        from torseur.algebra.graph.sympy.sympy_bridge import table_function

        return table_function(lookup)(argument)
    return lookup.table.value(argument, lookup.order)


def _kind(value: Any) -> str:
    """Which library computes with the value."""
    symbolic = isinstance(value, Expr) or hasattr(value, "__expr__")
    return "graph" if symbolic else type(value).__module__.partition(".")[0]


def _arithmetic(values: Iterable[Any]) -> tuple[Callable[[Any], Any], Any]:
    """How numbers enter arithmetic with the given values, and its π."""
    kinds = {_kind(value) for value in values if not isinstance(value, int)}
    if "graph" in kinds:
        return as_expr, PI
    if "sympy" in kinds:
        import sympy

        return sympy.sympify, sympy.pi
    if "mpmath" in kinds:
        import mpmath

        return mpmath.mpmathify, mpmath.pi
    if kinds == {"fractions"}:
        return (lambda value: Fraction(value) if isinstance(value, int) else value), math.pi
    return _floating, math.pi


def _floating(value: Any) -> Any:
    """The value ready for floating-point arithmetic: exact fractions would not mix with arrays, and the
    integers of NumPy would wrap around."""
    if isinstance(value, Fraction):
        return _float_of(value)
    if hasattr(value, "dtype") and value.dtype.kind in "iub":
        return value.astype(float)
    return value


def _float_of(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        raise TorseurError(f"the constant {value} exceeds the range of floats.") from None
