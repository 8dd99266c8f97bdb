"""Expressions as they would be typed in the description language: m2*l2^2*q1'' + g/2."""

from __future__ import annotations

from fractions import Fraction

from torseur.presentation.typesetting.formula_tree import (
    AT_MOST,
    Call,
    Infix,
    Name,
    Node,
    Number,
    Over,
    Power,
    Product,
    Sum,
    split_fraction,
    split_sign,
)

# How tightly an expression binds; one stands in brackets where its place asks for more than it has.
_SUM, _VECTORS, _PRODUCT, _POWER, _ATOM = range(5)


def plain_text(node: Node) -> str:
    """One line of text."""
    match node:
        case Number():
            return digits(node.value)
        case Name():
            return node.text + "'" * node.dots
        case Sum():
            return "".join(_term(term, index == 0) for index, term in enumerate(node.terms))
        case Product():
            return _product(node)
        case Power():
            return _power(node)
        case Call(function="transpose", arguments=(matrix,)):
            return f"{_within(matrix, _ATOM)}^T"
        case Call():
            return f"{node.function}({', '.join(map(plain_text, node.arguments))})"
        case Infix():
            sign = "<=" if node.sign == AT_MOST else node.sign
            return f"{_within(node.left, _VECTORS + 1)} {sign} {_within(node.right, _VECTORS + 1)}"
        case Over():
            return f"tilde({plain_text(node.inner)})"


def digits(value: Fraction | float) -> str:
    """A number: whole, a quotient, or a decimal of twelve digits."""
    return str(value) if isinstance(value, Fraction) else f"{value:.12g}"


def _term(term: Node, leading: bool) -> str:
    negative, size = split_sign(term)
    text = f"({plain_text(size)})" if negative and isinstance(size, Sum) else plain_text(size)
    if leading:
        return f"-{text}" if negative else text
    return f" {'-' if negative else '+'} {text}"


def _product(node: Product) -> str:
    negative, size = split_sign(node)
    if negative:
        return f"-{_within(size, _PRODUCT)}"
    above, below = split_fraction(node)
    text = "*".join(_factor(factor, index) for index, factor in enumerate(above)) or "1"
    if len(below) < 2:
        return text + "".join(f"/{_within(factor, _POWER)}" for factor in below)
    return f"{text}/({'*'.join(_within(factor, _POWER) for factor in below)})"


def _factor(factor: Node, index: int) -> str:
    """A factor; a quotient may lead, but stands in brackets after another factor."""
    return _within(factor, _PRODUCT if index == 0 and not isinstance(factor, Product) else _POWER)


def _power(node: Power) -> str:
    if isinstance(node.exponent, Number) and node.exponent.value < 0:
        return _product(Product((Number(Fraction(1)), node)))
    exponent = _within(node.exponent, _ATOM)
    return f"{_within(node.base, _ATOM)}^{exponent}"


def _within(node: Node, level: int) -> str:
    """The text, in brackets where it binds less than its place asks."""
    text = plain_text(node)
    return f"({text})" if _binding(node) < level else text


def _binding(node: Node) -> int:
    match node:
        case Number():
            if node.value < 0:
                return _SUM
            return _ATOM if not isinstance(node.value, Fraction) or node.value.denominator == 1 else _PRODUCT
        case Sum():
            return _SUM
        case Infix():
            return _VECTORS
        case Product():
            return _PRODUCT
        case Power():
            return _PRODUCT if isinstance(node.exponent, Number) and node.exponent.value < 0 else _POWER
        case _:
            return _ATOM
