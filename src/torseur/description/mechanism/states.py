"""States beyond mechanics: a current, a pressure, the memory of a controller, each with its own equation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from torseur.algebra.graph import Expr, ExprLike, as_expr, symbol
from torseur.algebra.graph.expr import Symbolic
from torseur.description.mechanism.quantities import per_second
from torseur.errors import MechanismError


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


def as_states(given: Mapping[State, ExprLike] | Iterable[State]) -> tuple[State, ...]:
    """States with their formulas, from a list of them or from a dictionary of formulas by state."""
    pairs = given.items() if isinstance(given, Mapping) else ((state, None) for state in given)
    states = []
    for state, formula in pairs:
        if not isinstance(state, State):
            raise MechanismError(f"states: expected a State, got {state!r}. State('i', 'A') makes one.")
        states.append(state if formula is None else replace(state, formula=as_expr(formula)))
    return tuple(states)
