"""Expressions as plain text (to copy) and as words (for screen readers)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from torseur.report.expression import Call, Infix, Name, Node, Number, Over, Power, Product, Sum, split_sign
from torseur.report.symbols import symbol

SIGNS_IN_WORDS = {"×": "cross", "·": "dot", "<": "is less than", "≤": "is at most"}
DERIVATIVES = {0: "", 1: " dot", 2: " double dot", 3: " triple dot"}


def plain(node: Node) -> str:
    """The expression as it would be typed: m2*l2^2*q1''."""
    match node:
        case Number():
            return _digits(node.value)
        case Name():
            return node.text + "'" * node.dots
        case Sum():
            return _sum(node, plain, " + ", " - ")
        case Product():
            return "*".join(_grouped(factor) for factor in node.factors)
        case Power():
            base = f"({plain(node.base)})" if isinstance(node.base, Power) else _grouped(node.base)
            return f"{base}^{_grouped(node.exponent)}"
        case Call():
            return f"{node.function}({', '.join(map(plain, node.arguments))})"
        case Infix():
            return f"{_operand(node.left)} {node.sign} {_operand(node.right)}"
        case Over():
            return f"tilde({plain(node.inner)})"


def spoken(node: Node) -> str:
    """The expression in words: m 2 l 2 squared q 1 double dot."""
    match node:
        case Number():
            return _digits(node.value).replace("/", " over ")
        case Name():
            parts = symbol(node.text)
            return " ".join((parts.base, *parts.subscripts)) + DERIVATIVES.get(node.dots, f" derivative {node.dots}")
        case Sum():
            return _sum(node, spoken, " plus ", " minus ")
        case Product():
            return " ".join(_in_words(factor) for factor in node.factors)
        case Power():
            return _power_words(node)
        case Call():
            return f"{node.function} of {' and '.join(map(_in_words, node.arguments))}"
        case Infix():
            return f"{_in_words(node.left)} {SIGNS_IN_WORDS[node.sign]} {_in_words(node.right)}"
        case Over():
            return f"{spoken(node.inner)} tilde"


def _operand(node: Node) -> str:
    return f"({plain(node)})" if isinstance(node, Sum | Infix) else plain(node)


def _power_words(node: Power) -> str:
    exponent = f"to the power {spoken(node.exponent)}"
    if isinstance(node.exponent, Number):
        exponent = {"2": "squared", "3": "cubed"}.get(_digits(node.exponent.value), exponent)
    if isinstance(node.base, Call):
        return f"{node.base.function} {exponent} of {' and '.join(map(_in_words, node.base.arguments))}"
    return f"{_in_words(node.base)} {exponent}"


def _in_words(node: Node) -> str:
    return f"open {spoken(node)} close" if isinstance(node, Sum | Infix) else spoken(node)


def _sum(node: Sum, spell: Callable[[Node], str], plus: str, minus: str) -> str:
    text = ""
    for index, term in enumerate(node.terms):
        negative, size = split_sign(term)
        joint = minus if negative else plus
        text += (joint if index else joint.strip() + " " if negative else "") + spell(size)
    return text


def _grouped(node: Node) -> str:
    text = plain(node)
    compound = isinstance(node, Sum | Product | Power | Infix) or (isinstance(node, Number) and not text.isdigit())
    return f"({text})" if compound and not isinstance(node, Power) else text


def _digits(value: Fraction | float) -> str:
    return str(value) if isinstance(value, Fraction) else f"{value:.6g}"
