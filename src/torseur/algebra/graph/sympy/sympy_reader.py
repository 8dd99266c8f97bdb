"""SymPy expressions as nodes of the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

from torseur.algebra.graph.construction.arithmetic import add, div, mul
from torseur.algebra.graph.construction.folding import build
from torseur.algebra.graph.derivatives import gradient
from torseur.algebra.graph.evaluation import substitute
from torseur.algebra.graph.expr import ONE, PI, ZERO, Expr, Number, constant, intern, pair, symbol
from torseur.algebra.graph.functions import UndeterminedFunction
from torseur.errors import TorseurError, UnsupportedError, unknown_name

Functions = Mapping[str, UndeterminedFunction]
_SAME_NAME = {
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "sign",
    "floor",
}


def read_sympy(expression: Any, symbols: Mapping[str, Expr], functions: Functions) -> Expr:
    """The node of a SymPy expression; symbols are found by name."""
    import sympy

    order = _children_first(sympy.sympify(expression))
    reader = _Reader(symbols, functions, order)
    results: dict[int, Expr] = {}
    for part in order:
        results[id(part)] = reader.node(part, [results[id(child)] for child in _children(part)])
    return results[id(order[-1])]


def _children(part: Any) -> Sequence[Any]:
    import sympy

    if isinstance(part, sympy.Derivative):
        return (part.expr, *part.variables)
    if isinstance(part, sympy.Subs):
        return (part.expr, *part.variables, *part.point)
    if isinstance(part, sympy.Piecewise):
        return [half for case in part.args for half in case.args]
    return part.args


def _children_first(expression: Any) -> list[Any]:
    """Every part of the expression once, each after its parts; without recursion."""
    order, seen = [], set()
    stack = [(expression, False)]
    while stack:
        part, expanded = stack.pop()
        if expanded:
            order.append(part)
        elif id(part) not in seen:
            seen.add(id(part))
            stack.append((part, True))
            stack.extend((child, False) for child in _children(part))
    return order


class _Reader:
    """Reads one part of an expression from the nodes of its parts."""

    def __init__(self, symbols: Mapping[str, Expr], functions: Functions, order: Sequence[Any]) -> None:
        self.symbols, self.functions = symbols, functions
        self.bound = {v: symbol(f"bound {i}") for i, v in enumerate(_bound_variables(order, symbols))}

    def node(self, part: Any, parts: list[Expr]) -> Expr:
        from sympy.core.function import AppliedUndef

        if part.is_Symbol:
            return self._symbol(part)
        if part.is_Number:
            return constant(_exact(part))
        if isinstance(part, AppliedUndef):
            return self._application(part, parts)
        name = type(part).__name__
        if name in _SAME_NAME:
            return build(name, tuple(parts))
        if name not in _READINGS:
            raise UnsupportedError(f"SymPy's '{name}' is not an operation of the graph. {_REWRITE}")
        return _READINGS[name](*parts)

    def _symbol(self, part: Any) -> Expr:
        if part in self.bound:
            return self.bound[part]
        if part.name not in self.symbols:
            raise TorseurError(unknown_name("symbol", part.name, self.symbols))
        return self.symbols[part.name]

    def _application(self, part: Any, parts: list[Expr]) -> Expr:
        lookup = getattr(part.func, "lookup", None)
        if lookup is not None:
            return intern("table", tuple(parts), lookup)
        name = part.func.__name__
        return (self.functions.get(name) or UndeterminedFunction(name, len(parts)))(*parts)


_REWRITE = "Rewrite it first, e.g. with expr.rewrite(exp) or expr.doit()."


def _bound_variables(order: Sequence[Any], symbols: Mapping[str, Expr]) -> Iterator[Any]:
    """The variables of Subs that are not symbols of the user's."""
    import sympy

    for part in order:
        if isinstance(part, sympy.Subs):
            yield from (v for v in part.variables if isinstance(v, sympy.Dummy) or v.name not in symbols)


def _exact(number: Any) -> Number:
    """The value of a SymPy number, bit for bit: a float where it is one, else a fraction."""
    if not number.is_finite:
        raise UnsupportedError(f"a constant must be a finite number, got SymPy's '{number}'.")
    if number.is_Rational:
        return Fraction(int(number.p), int(number.q))
    # mpmath's binary digits: going through a decimal text would round a second time.
    sign, mantissa, exponent, _ = number._mpf_
    value = Fraction(-int(mantissa) if sign else int(mantissa)) * Fraction(2) ** int(exponent)
    try:
        return float(value) if Fraction(float(value)) == value else value
    except OverflowError:
        return value


def _product(*factors: Expr) -> Expr:
    """A number times the factors over the divisors: one division, whatever their number."""
    numbers: list[Expr] = []
    top = bottom = ONE
    for factor in factors:
        if factor.op == "constant":
            numbers.append(factor)
        elif factor.op == "div" and factor.args[0] is ONE:
            bottom = mul(bottom, factor.args[1])
        else:
            top = mul(top, factor)
    return _scale(numbers, div(top, bottom))


def _scale(numbers: list[Expr], node: Expr) -> Expr:
    """The numbers times a node; several numbers of which one is a float stay apart, as SymPy has them."""
    if not any(isinstance(number.data, float) for number in numbers):
        return reduce(mul, numbers, node)
    return reduce(lambda product, number: pair("mul", number, product), numbers[1:], mul(numbers[0], node))


def _sum(*terms: Expr) -> Expr:
    """The terms, numbers last: next to each other, two floats would be rounded to one."""
    return reduce(add, sorted(terms, key=lambda term: term.is_constant))


def _derivative(expression: Expr, *variables: Expr) -> Expr:
    for variable in variables:
        (expression,) = gradient(expression, [variable])
    return expression


def _subs(expression: Expr, *both: Expr) -> Expr:
    half = len(both) // 2
    return substitute([expression], dict(zip(both[:half], both[half:], strict=True)))[0]


def _piecewise(*halves: Expr) -> Expr:
    *cases, (result, last) = zip(halves[::2], halves[1::2], strict=True)
    if last is not ONE:
        raise UnsupportedError("a Piecewise without a last case (value, True) is undefined elsewhere. Add one.")
    for value, condition in reversed(cases):
        result = build("where", (condition, value, result))
    return result


def _both(*conditions: Expr) -> Expr:
    return reduce(lambda a, b: build("both", (a, b)), conditions)


def _not(condition: Expr) -> Expr:
    return build("invert", (condition,))


def _equal(a: Expr, b: Expr) -> Expr:
    return _both(build("le", (a, b)), build("le", (b, a)))


_READINGS: dict[str, Callable[..., Expr]] = {
    "Pi": lambda: PI,
    "Exp1": lambda: build("exp", (ONE,)),
    "Add": _sum,
    "Mul": _product,
    "Pow": lambda base, exponent: build("pow", (base, exponent)),
    "Abs": lambda a: build("abs", (a,)),
    "Min": lambda *parts: reduce(lambda a, b: build("min", (a, b)), parts),
    "Max": lambda *parts: reduce(lambda a, b: build("max", (a, b)), parts),
    "StrictLessThan": lambda a, b: build("lt", (a, b)),
    "LessThan": lambda a, b: build("le", (a, b)),
    "StrictGreaterThan": lambda a, b: build("lt", (b, a)),
    "GreaterThan": lambda a, b: build("le", (b, a)),
    "Equality": _equal,
    "Unequality": lambda a, b: _not(_equal(a, b)),
    "And": _both,
    "Or": lambda *conditions: _not(_both(*[_not(c) for c in conditions])),
    "Not": _not,
    "ITE": lambda condition, a, b: build("where", (condition, a, b)),
    "BooleanTrue": lambda: ONE,
    "BooleanFalse": lambda: ZERO,
    "Piecewise": _piecewise,
    "Derivative": _derivative,
    "Subs": _subs,
}
