"""Sums, differences, products and quotients, folded when built.

Zeros, ones, signs and constants disappear here. A fold never loses digits that the written form keeps:
constants from different places of a sum are added only when that is exact, and factors are multiplied only
within the range of floats.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf
from sys import float_info

from torseur.algebra.graph.expr import ONE, TWO, ZERO, Expr, Number, constant, opposite, pair
from torseur.errors import TorseurError

_CIRCULAR = ("sin", "cos")


def add(x: Expr, y: Expr) -> Expr:
    """x + y with zeros, constants, signs and sin² + cos² folded."""
    if x is ZERO:
        return y
    if y is ZERO:
        return x
    ox, oy = x.op, y.op
    if oy == "neg":
        return sub(x, y.args[0])
    if ox == "neg":
        return sub(y, x.args[0])
    if oy == "constant":
        x, y, ox, oy = y, x, oy, ox
    if ox == "constant":
        return _offset(x, y)
    if x is y:
        return mul(TWO, x)
    # (a - y) + y = a, without the rounding of either.
    if ox == "sub" and x.args[1] is y:
        return x.args[0]
    if oy == "sub" and y.args[1] is x:
        return y.args[0]
    # Only where both squares stand side by side. Looking further is the task of simplification, which has time.
    if ox == "mul" and oy == "mul" and (whole := _pythagoras(x, y)) is not None:
        return whole
    return pair("add", x, y) if x.rank < y.rank else pair("add", y, x)


def _offset(shift: Expr, y: Expr) -> Expr:
    """A constant plus y; the constant stands first."""
    if y.op == "constant":
        # Two constants side by side are added as the user's language would, rounding included; constants from different
        # places (below) only where nothing is rounded, since (x + 1e16) + 1 must not become x + 1e16.
        total = _sum(shift.data, y.data)
        return pair("add", shift, y) if total is None else constant(total)
    if y.op in ("add", "sub") and y.args[0].op == "constant":
        total = _exact_sum(shift.data, y.args[0].data)
        if total is not None:
            return (add if y.op == "add" else sub)(constant(total), y.args[1])
    return pair("add", shift, y)


def sub(x: Expr, y: Expr) -> Expr:
    """x - y with zeros, constants, signs and 1 - sin² folded."""
    if y is ZERO:
        return x
    if x is y:
        return ZERO
    if x is ZERO:
        return neg(y)
    ox, oy = x.op, y.op
    if oy == "constant":
        return add(constant(-y.data), x)
    if oy == "neg":
        return add(x, y.args[0])
    if ox == "neg":
        return neg(add(x.args[0], y))
    if ox == "add":
        if x.args[0] is y:
            return x.args[1]
        if x.args[1] is y:
            return x.args[0]
    if oy == "add":
        if y.args[0] is x:
            return neg(y.args[1])
        if y.args[1] is x:
            return neg(y.args[0])
    if ox == "constant" and (folded := _from_constant(x, y)) is not None:
        return folded
    return pair("sub", x, y)


def _from_constant(x: Expr, y: Expr) -> Expr | None:
    """A constant minus a sum with a constant, or 1 minus a squared sine or cosine."""
    if y.op in ("add", "sub") and y.args[0].op == "constant":
        total = _exact_sum(x.data, -y.args[0].data)
        return None if total is None else (sub if y.op == "add" else add)(constant(total), y.args[1])
    return _complement(y) if x is ONE and y.op == "mul" else None


def neg(x: Expr) -> Expr:
    """-x, the sign moved inward where that costs nothing."""
    op = x.op
    if op == "constant":
        return constant(-x.data)
    if op == "neg":
        return x.args[0]
    if op == "sub":
        return sub(x.args[1], x.args[0])
    return opposite(x)


def mul(x: Expr, y: Expr) -> Expr:
    """x y with zeros, ones, constants and signs folded."""
    ox, oy = x.op, y.op
    if oy == "constant":
        x, y, ox, oy = y, x, oy, ox
    if ox == "constant":
        return _scale(x, y)
    if ox == "neg":
        return neg(mul(x.args[0], y))
    if oy == "neg":
        return neg(mul(x, y.args[0]))
    # (c x)(d y) = (c d)(x y): constants come together in front, where the next one finds them.
    if ox == "mul" and oy == "mul" and x.args[0].op == "constant" and y.args[0].op == "constant":
        return mul(mul(x.args[0], y.args[0]), mul(x.args[1], y.args[1]))
    if oy == "div" and y.args[1] is x:
        return y.args[0]
    if ox == "div" and x.args[1] is y:
        return x.args[0]
    return pair("mul", x, y) if x.rank < y.rank else pair("mul", y, x)


def _scale(factor: Expr, y: Expr) -> Expr:
    """A constant times y; the constant stands first and is positive."""
    c = factor.data
    if factor is ZERO or y is ZERO:
        return ZERO
    if factor is ONE or y is ONE:
        return y if factor is ONE else factor
    op = y.op
    if op == "neg":
        return _scale(constant(-c), y.args[0])
    if op == "constant":
        product = _product(c, y.data)
        return pair("mul", factor, y) if product is None else constant(product)
    if c.numerator < 0 if c.__class__ is Fraction else c < 0:  # fractions compare slowly
        return neg(_scale(constant(-c), y))
    if op == "mul" and y.args[0].op == "constant":
        product = _product(c, y.args[0].data)
        if product is not None:
            return _scale(constant(product), y.args[1])
    return pair("mul", factor, y)


def div(x: Expr, y: Expr) -> Expr:
    """x / y; a constant divisor becomes a factor."""
    if y is ZERO:
        raise TorseurError(f"division of '{x}' by zero.")
    if x is ZERO or y is ONE:
        return x
    if x is y:
        return ONE
    if y.op == "constant":
        # A product takes a quarter of a division's time. 1/y of an integer stays exact as a fraction; the inverse of a
        # float may be an ulp beside, which is less than the float itself was rounded by.
        inverse = _product(Fraction(1, y.data) if isinstance(y.data, int) else 1 / y.data, 1)
        return pair("div", x, y) if inverse is None else mul(constant(inverse), x)
    if y.op == "neg":
        return neg(div(x, y.args[0]))
    if x.op == "neg":
        return neg(div(x.args[0], y))
    if x.op == "mul":
        if x.args[0] is y:
            return x.args[1]
        if x.args[1] is y:
            return x.args[0]
    return pair("div", x, y)


def _sum(a: Number, b: Number) -> Number | None:
    """a + b, or None beyond the largest float."""
    try:
        total = a + b
    except OverflowError:
        return None
    return None if abs(total) == inf else total


def _exact_sum(a: Number, b: Number) -> Number | None:
    """a + b, or None when floats would round it."""
    total = _sum(a, b)
    if isinstance(total, float) and Fraction(a) + Fraction(b) != Fraction(total):
        return None
    return total


def _product(a: Number, b: Number) -> Number | None:
    """a b, or None where a float would overflow or lose digits near zero."""
    try:
        product = a * b
    except OverflowError:
        return None
    # Subnormal products have fewer digits than their factors.
    if isinstance(product, float) and not float_info.min <= abs(product) <= float_info.max:
        return None
    return product


def _squares_of(node: Expr) -> list[tuple[Expr, Expr]]:
    """The ways (k, f) to read a product as k f² with f a sine or a cosine."""
    first, second = node.args
    if first is second:
        return [(ONE, first)] if first.op in _CIRCULAR else []
    readings = []
    if second.op == "mul" and (f := second.args[0]) is second.args[1] and f.op in _CIRCULAR:
        readings.append((first, f))
    if first.op == "mul" and (f := first.args[0]) is first.args[1] and f.op in _CIRCULAR:
        readings.append((second, f))
    return readings


def _pythagoras(x: Expr, y: Expr) -> Expr | None:
    """k when x + y is k sin² a + k cos² a."""
    for k, f in _squares_of(x):
        for other_k, g in _squares_of(y):
            if k is other_k and f.op != g.op and f.args[0] is g.args[0]:
                return k
    return None


def _complement(square: Expr) -> Expr | None:
    """cos² a when the square is sin² a, and the reverse."""
    for k, f in _squares_of(square):
        if k is ONE:
            other = f.apply_operation("cos" if f.op == "sin" else "sin", f.args)
            return mul(other, other)
    return None
