"""Nodes of formulas, each with its place in the text: numbers, names, brackets, sums, places."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """A piece of syntax between two offsets of the text."""

    start: int
    end: int


@dataclass(frozen=True)
class Expression(Node):
    """A formula; `depth` bounds the work of everything that walks it."""

    depth: int


@dataclass(frozen=True)
class Number(Expression):
    """A number as written, with its unit when one follows."""

    text: str
    unit: str | None


@dataclass(frozen=True)
class Reference(Expression):
    """A dotted name with primes: `theta'`, `arm.mass`, `wheel.rotation.z`."""

    path: tuple[str, ...]
    primes: int

    @property
    def name(self) -> str:
        return ".".join(self.path)


@dataclass(frozen=True)
class Fresh(Expression):
    """`?k`, an undetermined constant, or `?f(x, x')`, an undetermined function."""

    label: str
    arguments: tuple[Expression, ...] | None


@dataclass(frozen=True)
class Call(Expression):
    """A function of arguments; `diag(a, b, c)` with the unit that follows it, `angle(a, b about c)` with its axis."""

    function: Reference
    arguments: tuple[Expression, ...]
    unit: str | None = None
    about: Expression | None = None


@dataclass(frozen=True)
class Sum(Expression):
    """Terms with their signs."""

    terms: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Product(Expression):
    """Factors, each multiplied ("*") or divided by ("/")."""

    factors: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Negative(Expression):
    operand: Expression


@dataclass(frozen=True)
class Power(Expression):
    base: Expression
    exponent: Expression


@dataclass(frozen=True)
class Comparison(Expression):
    sign: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Bracket(Expression):
    """`[a, b, c]` with the unit that follows it."""

    components: tuple[Expression, ...]
    unit: str | None


@dataclass(frozen=True)
class TurnAbout(Expression):
    """`angle || axis`."""

    angle: Expression
    axis: Expression


@dataclass(frozen=True)
class Offset(Expression):
    """`position ++ rotation`."""

    position: Expression
    rotation: Expression


@dataclass(frozen=True)
class FixedIn(Expression):
    """`place @ body`."""

    place: Expression
    body: Reference
