"""Sums, products, transposes and integrals of matrices that are not written out, as formula trees and statements."""

from __future__ import annotations

from fractions import Fraction

from torseur.presentation.levels.statement import Remark, Statement
from torseur.presentation.typesetting.formula_tree import (
    ONE,
    Call,
    Name,
    Node,
    Number,
    Power,
    Product,
    Sum,
    is_bold,
    negative,
)

ZERO = Number(Fraction(0))
NOTHING = Remark()


def add(*terms: Node) -> Node:
    """t1 + t2 + ..., sums in it opened."""
    flat = [part for term in terms for part in (term.terms if isinstance(term, Sum) else (term,)) if part != ZERO]
    return ZERO if not flat else flat[0] if len(flat) == 1 else Sum(tuple(flat))


def minus(node: Node) -> Node:
    """-node; a sum term by term."""
    return Sum(tuple(map(negative, node.terms))) if isinstance(node, Sum) else negative(node)


def times(*factors: Node) -> Node:
    """f1 f2 ..., in this order."""
    flat = [part for factor in factors for part in (factor.factors if isinstance(factor, Product) else (factor,))]
    kept = [part for part in flat if part != ONE]
    return ONE if not kept else kept[0] if len(kept) == 1 else Product(tuple(kept))


def transpose(node: Node) -> Node:
    return Sum(tuple(map(_transposed_term, node.terms))) if isinstance(node, Sum) else _transposed_term(node)


def _transposed_term(node: Node) -> Node:
    """(X y)ᵀ = yᵀ Xᵀ; numbers and plain names stay in front."""
    if isinstance(node, Product):
        numbers = [factor for factor in node.factors if not is_bold(factor)]
        matrices = [factor for factor in node.factors if is_bold(factor)]
        return Product((*numbers, *(_transposed_term(factor) for factor in reversed(matrices))))
    if isinstance(node, Call) and node.function == "transpose":
        return node.arguments[0]
    if isinstance(node, Sum):
        return transpose(node)
    return Call("transpose", (node,)) if isinstance(node, Name | Call) and node.bold else node


def integral(inner: Node, variable: Node, low: Node, high: Node) -> Node:
    return Call("integral", (inner, variable, low, high))


def quotient(above: Node, below: Node) -> Node:
    factors = below.factors if isinstance(below, Product) else (below,)
    return Product((above, *(Power(factor, Number(Fraction(-1))) for factor in factors)))


def at_start(node: Name) -> Name:
    """The quantity where the motion starts."""
    return Name(f"{node.text}_0", node.dots, node.bold)


def equal(name: str, left: Node, right: Node, remark: Remark = NOTHING) -> Statement:
    """left = right, of numbers or of matrices."""
    return Statement(name, left, ((right,),), "scalar", remark=remark)
