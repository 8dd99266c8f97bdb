"""Decimals as the rational numbers they were written as: 1.06 is 53/50, not the float nearest to it."""

from __future__ import annotations

from fractions import Fraction

from torseur.algebra.graph.expr import Expr, constant

# People type at most a dozen digits; what arithmetic has rounded shows 15 to 17.
MOST_DIGITS = 12
LEAST, LARGEST = 1e-30, 1e30  # beyond, exact integers would grow without use


def is_decimal(value: float) -> bool:
    """Whether a float shows so few digits that it stands for the decimal it is printed as."""
    if not LEAST < abs(value) < LARGEST:
        return value == 0
    digits = repr(value).split("e")[0].replace(".", "").lstrip("-0").rstrip("0")
    return len(digits) <= MOST_DIGITS


def as_written(value: float) -> Fraction:
    """The rational number that a float stands for: its decimal, or one over the decimal that it is the inverse of."""
    # x / 0.3 is kept as 3.3333333333333335 x, so that the inverse shows what was written.
    if not is_decimal(value) and value and is_decimal(1 / value) and 1 / float(repr(1 / value)) == value:
        return 1 / Fraction(repr(1 / value))
    return Fraction(repr(value))


def exactly(node: Expr) -> Expr:
    """A constant that is a decimal as a fraction; any other expression as it is."""
    if node.op == "constant" and isinstance(node.data, float) and is_decimal(node.data):
        return constant(Fraction(repr(node.data)))
    return node


def decimal_where_exact(node: Expr) -> Expr:
    """A fraction that a short decimal equals as that decimal, which reads better; any other expression as it is."""
    if node.op != "constant" or not isinstance(node.data, Fraction):
        return node
    value = float(node.data)
    return constant(value) if is_decimal(value) and Fraction(repr(value)) == node.data else node
