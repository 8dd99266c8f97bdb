"""Construction of function nodes with the folds that are exact."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt

from torseur.algebra.graph.construction.arithmetic import add, div, mul, neg, sub
from torseur.algebra.graph.construction.decimals import decimal_where_exact, exactly
from torseur.algebra.graph.expr import ONE, PI, ZERO, Expr, constant, intern
from torseur.algebra.graph.operations import OPERATIONS
from torseur.errors import TorseurError

_ARITHMETIC: dict[str, Callable[..., Expr]] = {"add": add, "sub": sub, "mul": mul, "div": div, "neg": neg}
_ODD = {"sin", "tan", "asin", "atan", "sinh", "tanh", "sign"}
_EVEN = {"cos", "cosh", "abs"}
_ZERO_AT_ZERO = {"sin", "tan", "asin", "atan", "sinh", "tanh", "sign", "abs", "sqrt"}
_ONE_AT_ZERO = {"cos", "cosh", "exp"}
_SYMMETRIC = {"min", "max", "both"}
_EXACT_ON_RATIONALS = {"lt", "le", "sign", "abs", "min", "max", "floor", "both", "invert"}
_SINE_OF_TWELFTHS = {0: Fraction(0), 2: Fraction(1, 2), 6: Fraction(1)}


def build(name: str, args: tuple[Expr, ...]) -> Expr:
    """The node for an operation, folded where the result is exact."""
    arithmetic = _ARITHMETIC.get(name)
    if arithmetic is not None:
        return arithmetic(*args)
    if name == "pow":
        return _power(*args)
    if name == "where":
        return _where(*args)
    if name in _SYMMETRIC:
        return _symmetric(name, *args)
    folded = _fold_unary(name, args[0]) if len(args) == 1 else None
    return _finish(name, args) if folded is None else folded


def _finish(name: str, args: tuple[Expr, ...]) -> Expr:
    """A number when the arguments are numbers and the result is exact or already rounded, else a node."""
    for arg in args:
        if arg.op != "constant" and arg is not PI:
            return intern(name, args)
    # A float is rounded already. Exact numbers wait, as sqrt(2) does, for the precision of whoever evaluates:
    # docs/decisions/0020-constants-are-rounded-once.md.
    exact = name in _EXACT_ON_RATIONALS and PI not in args
    return _compute(name, args) if exact or any(isinstance(arg.data, float) for arg in args) else intern(name, args)


def _compute(name: str, args: tuple[Expr, ...]) -> Expr:
    numbers = [float(arg) if arg.op == "pi" else arg.data for arg in args]
    try:
        return constant(OPERATIONS[name].value(*numbers))
    except (ArithmeticError, ValueError):
        text = ", ".join(str(number) for number in numbers)
        raise TorseurError(f"{name}({text}) has no finite real value.") from None


def _fold_unary(name: str, a: Expr) -> Expr | None:
    """Values at zero, signs drawn out, perfect squares, sine and cosine at multiples of pi/6."""
    if a is ZERO and name in _ZERO_AT_ZERO:
        return ZERO
    if a is ZERO and name in _ONE_AT_ZERO:
        return ONE
    # Signs are drawn out so that sin(-q) and sin(q) share their only costly node.
    if a.op == "neg" or (a.op == "constant" and a.data < 0):
        if name in _ODD:
            return neg(build(name, (neg(a),)))
        if name in _EVEN:
            return build(name, (neg(a),))
    if name == "sqrt" and a.op == "constant" and (exact := exactly(a)).data.__class__ is not float:
        # sqrt(1.06) stays a root, of 53/50: its digits would hide from exact methods what was written.
        root = _rational_root(Fraction(exact.data))
        return intern(name, (exact,)) if root is None else root if exact is a else decimal_where_exact(root)
    if name == "log" and a is ONE:
        return ZERO
    if name in ("sin", "cos") and (turn := _multiple_of_pi(a)) is not None:
        return _sine_at(turn if name == "sin" else turn + Fraction(1, 2))
    return None


def _rational_root(value: Fraction) -> Expr | None:
    if value < 0:
        raise TorseurError(f"sqrt({value}) has no real value.")
    top, bottom = isqrt(value.numerator), isqrt(value.denominator)
    exact = top * top == value.numerator and bottom * bottom == value.denominator
    return constant(Fraction(top, bottom)) if exact else None


def _multiple_of_pi(a: Expr) -> Fraction | None:
    if a is PI:
        return Fraction(1)
    if a.op == "mul" and a.args[1] is PI and a.args[0].is_constant and not isinstance(a.args[0].data, float):
        return Fraction(a.args[0].data)
    return None


def _sine_at(turn: Fraction) -> Expr | None:
    """sin(turn pi) when it is rational."""
    # At rational parts of a turn the sine is rational only as 0, ±1/2 and ±1 (Niven's theorem).
    twelfths = turn * 12 % 24
    if twelfths.denominator != 1:
        return None
    k = int(twelfths)
    sign = -1 if k > 12 else 1
    k %= 12
    value = _SINE_OF_TWELFTHS.get(min(k, 12 - k))
    return None if value is None else constant(sign * value)


def _power(base: Expr, exponent: Expr) -> Expr:
    """Integer powers as products, halves as square roots, the rest as a power node."""
    n = exponent.data if exponent.op == "constant" else None
    if n is None or abs(n) > 64 or n * 2 != int(n * 2):
        return _finish("pow", (base, exponent))
    if n < 0:
        return div(ONE, _power(base, constant(-n)))
    whole = int(n)
    if whole == n:
        return _integer_power(base, whole)
    return mul(_integer_power(base, whole), build("sqrt", (base,)))


def _integer_power(base: Expr, n: int) -> Expr:
    if n == 0:
        return ONE
    if n == 1:
        return base
    half = _integer_power(base, n // 2)
    square = mul(half, half)
    return mul(square, base) if n % 2 else square


def _symmetric(name: str, a: Expr, b: Expr) -> Expr:
    if a is b:
        return a
    if name == "both" and (a.is_constant or b.is_constant):
        condition, other = (a, b) if a.is_constant else (b, a)
        return other if condition.data else ZERO
    # min(a, b) and min(b, a) are one node, in an order that is the same in every process.
    return _finish(name, (a, b) if a.rank < b.rank else (b, a))


def _where(condition: Expr, a: Expr, b: Expr) -> Expr:
    if a is b:
        return a
    if condition.is_constant:
        return a if condition.data else b
    return intern("where", (condition, a, b))
