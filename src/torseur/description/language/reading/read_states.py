"""States beyond mechanics: `state i = 0 A "current", i' = (U - R*i)/L ;`, `equation`s between their rates, updates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torseur.algebra.graph import Expr, as_expr
from torseur.description.language.formulas.dimensions import RATE, TIME, Dim, dimension_of
from torseur.description.language.formulas.name_scope import Context, Known
from torseur.description.language.reading.reading_context import Workshop
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.mechanism import State, Update
from torseur.description.mechanism.units import si_unit_of, unit_of


@dataclass(frozen=True)
class StateReading:
    """What a text says of one state: where it is first named, its initial value and its rate."""

    name: str
    first: x.StateIs
    initial: x.StateIs | None
    rate: x.StateIs | None
    unit: str | None
    dimension: Dim

    @property
    def meaning(self) -> str:
        return "".join(part.meaning for part in (self.initial, self.rate) if part is not None)


def declare_states(statements: Sequence[x.StateIs], shop: Workshop) -> list[StateReading]:
    """Makes every state and its rate known to formulas."""
    grouped: dict[str, dict[int, x.StateIs]] = {}
    for statement in statements:
        name, primes = statement.of.name, statement.of.primes
        parts = grouped.setdefault(name, {})
        if primes > 1:
            hint = f"Make {name}' a state of its own: state {name} = ..., {name}' = w, w = ..., w' = ... ;"
            shop.scope.fault(statement.of, f"a state has a first rate only, not {name}{chr(39) * primes}.", hint)
        elif primes in parts:
            what = "rate" if primes else "initial value"
            shop.scope.fault(statement.of, f"the {what} of state '{name}' is given twice.")
        parts.setdefault(min(primes, 1), statement)
    return [reading for name, parts in grouped.items() if (reading := _declare(name, parts, shop)) is not None]


def _declare(name: str, parts: dict[int, x.StateIs], shop: Workshop) -> StateReading | None:
    first = min(parts.values(), key=lambda part: part.start)
    written = x.Name(first.of.start, first.of.end, name)
    if not shop.define(written, "state", shop.scope.quantities, shop.scope.definitions):
        return None
    unit = _unit(parts.get(0), shop)
    dimension = shop.scope.dimensions.unknown() if unit is None else dimension_of(unit)
    reading = StateReading(name, first, parts.get(0), parts.get(1), unit, dimension)
    rate = Known(dimension.times(RATE), lambda: _state(reading, shop).rate)
    shop.scope.quantities[name] = Known(dimension, lambda: _state(reading, shop).symbol, rate)
    shop.scope.names.taken.add(name)
    shop.states.append(name)
    return reading


def _unit(initial: x.StateIs | None, shop: Workshop) -> str | None:
    """The unit that is written after `in`, or after the number of the initial value."""
    if initial is None:
        return None
    if initial.unit is not None:
        return shop.formulas.unit(initial.unit)
    value = initial.value
    while isinstance(value, x.Negative):
        value = value.operand
    unit = value.unit if isinstance(value, x.Number) else None
    return None if unit is None else shop.attempt(value, lambda: unit if unit_of(unit) else None, None)


def _state(reading: StateReading, shop: Workshop, formula: Expr | None = None) -> State:
    unit = si_unit_of(reading.unit or shop.scope.dimensions.unit(reading.dimension))
    return State(reading.name, unit, reading.meaning, formula)


def read_state(reading: StateReading, held: bool, shop: Workshop) -> Callable[[], State]:
    """The state, ready to build; its formula has the unit of the state per second, and is 0 where it is `held`."""
    if reading.rate is None:
        return lambda: _state(reading, shop, as_expr(0) if held else None)
    context = Context(reading.name, slot="state")
    formula = shop.formulas.read(reading.rate.value, reading.dimension.times(RATE), context)
    return lambda: _state(reading, shop, formula.build())


def read_initial_value(reading: StateReading, shop: Workshop) -> Callable[[], Expr] | None:
    """The value that the state starts from, ready to build; None where none is written."""
    if reading.initial is None:
        return None
    context = Context(f"init.{reading.name}", slot="initial")
    return shop.formulas.read(reading.initial.value, reading.dimension, context).build


def read_state_equation(statement: x.StateEquationIs, shop: Workshop) -> Callable[[], Expr]:
    """left - right, ready to build."""
    context = Context("equation", slot="state equation")
    left, right = (shop.formulas.read(side, None, context) for side in (statement.left, statement.right))
    if not left.literal and not right.literal and not shop.scope.dimensions.equal(left.dimension, right.dimension):
        kinds = [shop.scope.dimensions.in_words(side.dimension) for side in (left, right)]
        shop.scope.fault(statement, f"the two sides differ: {kinds[0]} on the left, {kinds[1]} on the right.")
    return lambda: left.build() - right.build()


# Updates: every 1 ms: u = kp*(goal - q), e = e + (goal - q)*T ; when x > 1 m: u = 0 N ;


def updated_states(statements: Sequence[x.UpdateIs]) -> set[str]:
    """The names of states that some update gives a value."""
    return {value.of.name for statement in statements for value in statement.values}


def read_update(statement: x.UpdateIs, name: str, shop: Workshop) -> Callable[[], tuple[Update, ...]]:
    """The update, ready to build."""
    context = Context(name, slot="update")
    values = []
    for item in statement.values:
        known = shop.scope.quantities.get(item.of.name)
        if known is None or item.of.name not in shop.states or item.of.primes:
            shop.scope.unknown(item.of, "state", f"{item.of.name}{chr(39) * item.of.primes}", shop.states)
            continue
        values.append((known, shop.formulas.read(item.value, known.dimension, context)))
    period = None
    if statement.period is not None:
        period = shop.formulas.read(statement.period, TIME, context.within("period")).build
    condition = None if statement.condition is None else _read_condition(statement, context, shop)

    def build() -> tuple[Update, ...]:
        targets, formulas = tuple(known.build() for known, _ in values), tuple(value.build() for _, value in values)
        clock, event = None if period is None else period(), None if condition is None else condition()
        return (Update(name, targets, formulas, clock, event),)

    return build


def _read_condition(statement: x.UpdateIs, context: Context, shop: Workshop) -> Callable[[], Expr]:
    """The difference of both sides, positive where the condition holds."""
    comparison = statement.condition
    if not isinstance(comparison, x.Comparison):
        shop.scope.fault(statement, "expected a comparison.", "when x > 1 m: u = 0 N ;")
        return lambda: as_expr(1)
    left, right = (shop.formulas.read(side, None, context) for side in (comparison.left, comparison.right))
    if not left.literal and not right.literal and not shop.scope.dimensions.equal(left.dimension, right.dimension):
        kinds = [shop.scope.dimensions.in_words(side.dimension) for side in (left, right)]
        shop.scope.fault(statement, f"the two sides differ: {kinds[0]} on the left, {kinds[1]} on the right.")
    larger, smaller = (left, right) if comparison.sign in (">=", ">") else (right, left)
    return lambda: larger.build() - smaller.build()
