"""A neutral expression tree: what the MathML walker and the readers of expressions agree on."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True)
class Number:
    """An exact fraction or a measured float."""

    value: Fraction | float


@dataclass(frozen=True)
class Name:
    """A named quantity with its number of time derivatives; vectors and matrices are bold.

    Its unit, where it is known, decides its place in a product and nothing else: two names are equal without it.
    """

    text: str
    dots: int = 0
    bold: bool = False
    unit: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class Sum:
    """t1 + t2 + ..., in reading order."""

    terms: tuple[Node, ...]


@dataclass(frozen=True)
class Product:
    """f1 f2 ..., in reading order; negative powers are shown as a fraction."""

    factors: tuple[Node, ...]


@dataclass(frozen=True)
class Power:
    """base ^ exponent."""

    base: Node
    exponent: Node


@dataclass(frozen=True)
class Call:
    """A function of its arguments: sin, sqrt, abs, or one the user left undetermined."""

    function: str
    arguments: tuple[Node, ...]
    bold: bool = False  # a vector at a point, such as the acceleration a(G)


@dataclass(frozen=True)
class Infix:
    """left × right or left · right, products of vectors; left < right or left ≤ right, conditions."""

    sign: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Over:
    """A mark over an expression: the tilde of a vector."""

    mark: str
    inner: Node


Node = Number | Name | Sum | Product | Power | Call | Infix | Over

ONE = Number(Fraction(1))
LESS, AT_MOST = "<", "≤"


def children(node: Node) -> tuple[Node, ...]:
    """What an expression is directly made of."""
    match node:
        case Sum():
            return node.terms
        case Product():
            return node.factors
        case Power():
            return (node.base, node.exponent)
        case Call():
            return node.arguments
        case Infix():
            return (node.left, node.right)
        case Over():
            return (node.inner,)
        case Number() | Name():
            return ()


def names_in(node: Node) -> set[str]:
    """The names an expression is made of, without their dots."""
    own = {node.text} if isinstance(node, Name) else set()
    return own.union(*map(names_in, children(node)))


def is_bold(node: Node) -> bool:
    """Whether an expression is a vector or a matrix."""
    match node:
        case Infix():
            return node.sign != "·"
        case Call(function="transpose" | "integral"):
            return any(map(is_bold, node.arguments))
        case Name() | Call():
            return node.bold
    return any(map(is_bold, children(node)))


def rebuild(node: Node, parts: tuple[Node, ...]) -> Node:
    """The same expression with other parts in the places of its own."""
    match node:
        case Sum():
            return Sum(parts)
        case Product():
            return Product(parts)
        case Power():
            return Power(parts[0], parts[1])
        case Call():
            return Call(node.function, parts, node.bold)
        case Infix():
            return Infix(node.sign, parts[0], parts[1])
        case Over():
            return Over(node.mark, parts[0])
        case Number() | Name():
            return node


def split_sign(node: Node) -> tuple[bool, Node]:
    """Whether a term is negative, and its magnitude: -2 x gives (True, 2 x)."""
    if isinstance(node, Number):
        return (True, Number(-node.value)) if node.value < 0 else (False, node)
    if isinstance(node, Product) and node.factors and isinstance(node.factors[0], Number):
        negative, size = split_sign(node.factors[0])
        rest = node.factors[1:]
        return (negative, product(rest if size == ONE else (size, *rest)))
    return (False, node)


def spread_sign(node: Node) -> Node:
    """-(x + y) as -x - y, where a minus in front of a bracket says nothing: 0 = -x - y."""
    match node:
        case Product(factors=(Number(value=value), Sum(terms=terms))) if value == -1:
            return Sum(tuple(negative(term) for term in terms))
    return node


def negative(node: Node) -> Node:
    """-node, a minus and a minus being none."""
    minus, size = split_sign(node)
    if minus:
        return size
    if isinstance(size, Number):
        return Number(-size.value)
    factors = size.factors if isinstance(size, Product) else (size,)
    first = factors[0]
    if isinstance(first, Number):
        return Product((Number(-first.value), *factors[1:]))
    return Product((Number(Fraction(-1)), *factors))


def product(factors: tuple[Node, ...]) -> Node:
    """A product without needless nesting."""
    if not factors:
        return ONE
    return factors[0] if len(factors) == 1 else Product(factors)


def split_fraction(node: Product) -> tuple[list[Node], list[Node]]:
    """Factors above and below the fraction bar: powers of -1, and the 2 of a 1/2 where there is a bar anyway."""
    above: list[Node] = []
    below: list[Node] = []
    for factor in node.factors:
        inverse = reciprocal(factor)
        if inverse is None:
            above.append(factor)
        else:
            below.append(inverse)
    first = above[0] if above and below else None
    if isinstance(first, Number) and isinstance(first.value, Fraction) and first.value.denominator != 1:
        whole = Number(Fraction(first.value.numerator))
        above = above[1:] if whole == ONE else [whole, *above[1:]]
        below = [Number(Fraction(first.value.denominator)), *below]
    return above, below


def reciprocal(node: Node) -> Node | None:
    """1/node where node is a power with a negative numeric exponent, otherwise nothing."""
    if not (isinstance(node, Power) and isinstance(node.exponent, Number) and node.exponent.value < 0):
        return None
    exponent = Number(-node.exponent.value)
    return node.base if exponent == ONE else Power(node.base, exponent)
