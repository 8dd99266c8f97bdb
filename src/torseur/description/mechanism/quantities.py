"""Parameters, coordinates, states beyond mechanics, vectors, guesses and laws: what a description is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torseur.algebra.graph import (
    Expr,
    ExprLike,
    UndeterminedFunction,
    as_expr,
    constant_value,
    evaluate,
    live_nodes,
    symbol,
    symbols_of,
)
from torseur.algebra.graph.expr import Symbolic
from torseur.errors import MechanismError

Vector = tuple[Expr, Expr, Expr]

TIME = symbol("t", "s", "time")


@dataclass(frozen=True)
class Parameter(Symbolic):
    """A named constant of the mechanism: its symbol, and its value in SI (None while undetermined).

    The value may be an expression of other parameters, which then vary together. `unit` is the unit it was given in;
    the symbol carries the SI unit.
    """

    symbol: Expr
    value: Expr | None
    unit: str

    @property
    def name(self) -> str:
        return str(self.symbol.data.name)

    def __expr__(self) -> Expr:
        return self.symbol

    @property
    def si_unit(self) -> str:
        return str(self.symbol.data.unit)

    @property
    def meaning(self) -> str:
        return str(self.symbol.data.meaning)


@dataclass(frozen=True)
class Coordinate(Symbolic):
    """A coordinate of a joint: the symbol of its value and of its rate (a prime is d/dt)."""

    name: str
    unit: str = "rad"
    meaning: str = ""

    @property
    def symbol(self) -> Expr:
        return symbol(self.name, self.unit, self.meaning)

    def __expr__(self) -> Expr:
        return self.symbol

    @property
    def rate(self) -> Expr:
        return symbol(f"{self.name}'", per_second(self.unit), f"rate of {self.name}")


@dataclass(frozen=True)
class State(Symbolic):
    """A quantity that no joint moves; `formula` is its rate, None where equations of states determine it.

    Use it in formulas like a coordinate: `current = State("current", "A")`, then `current` and `current.rate`.
    """

    name: str
    unit: str = "1"
    meaning: str = ""
    formula: Expr | None = None

    @property
    def symbol(self) -> Expr:
        return symbol(self.name, self.unit, self.meaning)

    def __expr__(self) -> Expr:
        return self.symbol

    @property
    def rate(self) -> Expr:
        return symbol(f"{self.name}'", per_second(self.unit), f"rate of {self.name}")


def per_second(unit: str) -> str:
    """The unit of a rate: m -> m/s, m/s -> m/s^2."""
    if unit == "1":
        return "1/s"
    return f"{unit[:-2]}/s^2" if unit.endswith("/s") else f"{unit}/s"


def as_states(given: Mapping[State, ExprLike] | Iterable[State]) -> tuple[State, ...]:
    """States with their formulas, from a list of them or from a dictionary of formulas by state."""
    pairs = given.items() if isinstance(given, Mapping) else ((state, None) for state in given)
    states = []
    for state, formula in pairs:
        if not isinstance(state, State):
            raise MechanismError(f"states: expected a State, got {state!r}. State('i', 'A') makes one.")
        states.append(state if formula is None else replace(state, formula=as_expr(formula)))
    return tuple(states)


def as_vector(value: Sequence[Any], what: str) -> Vector:
    """Three components, given as numbers or expressions."""
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 3:
        raise MechanismError(f"{what}: expected three components, got {value!r}.")
    x, y, z = (as_expr(component) for component in value)
    return x, y, z


ORIGIN: Vector = as_vector((0, 0, 0), "origin")


# Guesses among the values of an initial state: constraints may move them, exact values never.
class Guess(float):
    """A number near which the initial state is looked for."""

    def __repr__(self) -> str:
        return f"about({float(self)!r})"


def about(value: ExprLike) -> Guess:
    """A guess of an initial coordinate or speed (SI): `initial={"phi": ts.about(0.3)}`."""
    formula = as_expr(value)
    if symbols_of([formula]):
        raise MechanismError(
            f"about({formula}): expected a number. For a formula name its coordinate in Mechanism(..., guesses=[...])."
        )
    return Guess(constant_value(formula))


@dataclass(frozen=True)
class Law:
    """The definition of a function: name(arguments) = formula. A function without a law stays undetermined."""

    function: UndeterminedFunction
    arguments: tuple[Expr, ...]
    formula: Expr

    @property
    def name(self) -> str:
        return self.function.name


def law(name: str, arguments: Sequence[str], formula: Callable[..., Expr] | Expr, unit: str = "1") -> Law:
    """A law from a formula: an expression of symbols of those names, or a Python function building it."""
    symbols = tuple(symbol(argument) for argument in arguments)
    body = formula if isinstance(formula, Expr) else as_expr(formula(*symbols))
    return Law(UndeterminedFunction(name, len(symbols), unit), symbols, body)


def apply_laws(expressions: Sequence[Expr], laws: Sequence[Law]) -> list[Expr]:
    """The expressions with every function that has a law replaced by its formula."""
    known = {law.name: law for law in laws}
    current = list(expressions)
    for _ in range(len(known) + 1):
        calls = [n for n in live_nodes(current) if n.op == "apply" and n.data.function.name in known]
        if not calls:
            return current
        table = {name: _as_function(law) for name, law in known.items()}
        identity = {n: n for n in live_nodes(current) if n.op == "symbol"}
        current = evaluate(current, identity or {as_expr(0): as_expr(0)}, table)
    raise MechanismError(f"law '{calls[0].data.function.name}' refers to itself.")


def _as_function(definition: Law) -> Callable[..., Expr]:
    def value(*arguments: Expr) -> Expr:
        if len(arguments) != len(definition.arguments):
            raise MechanismError(
                f"law '{definition.name}' takes {len(definition.arguments)} arguments, got {len(arguments)}."
            )
        bindings = dict(zip(definition.arguments, arguments, strict=True))
        (result,) = evaluate([definition.formula], bindings or {as_expr(0): as_expr(0)})
        return as_expr(result)

    return value
