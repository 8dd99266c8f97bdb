"""The box of states in which a simplification is to hold: a range for every coordinate, speed and acceleration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.algebra.graph import Expr, symbols_of
from torseur.derivation.equations.equations import Equations
from torseur.derivation.equations.multipliers import multiplier_display_name
from torseur.derivation.equations.parameter_values import parameter_values
from torseur.derivation.equations.simplification.intervals import Interval
from torseur.description.mechanism import TIME
from torseur.errors import TorseurError, unknown_name

Range = tuple[float, float]
Array = NDArray[np.float64]

# Words that stand for all states of a kind, by unit.
KINDS = {
    "angles": "rad",
    "angular_speeds": "rad/s",
    "angular_accelerations": "rad/s^2",
    "lengths": "m",
    "velocities": "m/s",
    "accelerations": "m/s^2",
}
MULTIPLIERS = "multipliers"


@dataclass(frozen=True)
class Box:
    """Ranges by symbol; a parameter's range is its value unless a range was given."""

    ranges: Mapping[Expr, Interval]

    def samples(self, count: int, seed: int = 0) -> dict[Expr, Array]:
        """Random states, evenly spread, the corners of every range among them."""
        chance = np.random.default_rng(seed)
        states = {}
        for x, r in self.ranges.items():
            values = chance.uniform(r.low, r.high, count)
            # Terms are largest at corners, which even sampling of many dimensions never meets.
            values[: count // 4] = chance.choice([r.low, r.high], count // 4)
            states[x] = values
        return states

    def varying(self) -> list[Expr]:
        """The symbols that have more than one value."""
        return [x for x, r in self.ranges.items() if r.low < r.high]


def box_of(equations: Equations, ranges: Mapping[str, Range], parameters: Mapping[str, float] | None = None) -> Box:
    """The box of states by ranges: of a name ("q1", "q1'", "q1''", "m1", "t") or a kind ("angles", "lengths", ...)."""
    layout = equations.layout
    states = [*layout.coordinates, *layout.speeds, *layout.accelerations, *equations.multipliers, TIME]
    values = parameter_values(equations, dict(parameters or {}))
    symbols = {_display_name(x): x for x in (*states, *layout.parameters)}
    _require_known(ranges, symbols)
    fixed = {x: Interval(values[str(x.name)], values[str(x.name)]) for x in layout.parameters}
    named = {symbols[name]: _interval(name, given) for name, given in ranges.items() if name in symbols}
    kinds = {
        x: _interval(k, ranges[k]) for x in states for k, unit in KINDS.items() if k in ranges and _unit(x) == unit
    }
    if MULTIPLIERS in ranges:
        kinds |= {x: _interval(MULTIPLIERS, ranges[MULTIPLIERS]) for x in equations.multipliers}
    intervals = {**fixed, **kinds, **named}
    _require_all([x for x in symbols_of(equations.residual) if x not in intervals])
    return Box(intervals)


def _display_name(x: Expr) -> str:
    """A symbol as equations show it: the multiplier of constraint 'hoist' is lambda_hoist."""
    name = str(x.name)
    return multiplier_display_name(name) or name


def _unit(x: Expr) -> str:
    return str(x.data.unit)


def _interval(name: str, given: Range) -> Interval:
    low, high = map(float, given)
    if not low <= high:
        raise TorseurError(f"box: the range of '{name}' is empty ({low:g} to {high:g}); give the lower end first.")
    return Interval(low, high)


def _require_known(ranges: Mapping[str, Range], symbols: Mapping[str, Expr]) -> None:
    for name in ranges:
        if name not in symbols and name not in (*KINDS, MULTIPLIERS):
            known = [*symbols, *KINDS, MULTIPLIERS]
            raise TorseurError(unknown_name("state or parameter", name, known, "box: "))


def _require_all(missing: Sequence[Expr]) -> None:
    if missing:
        names = ", ".join(f"'{_display_name(x)}' ({_unit(x)})" for x in missing)
        raise TorseurError(
            f'box: no range is given for {names}. Give one by name, such as "q1": (-0.1, 0.1), or for all states of a '
            f"kind: {', '.join((*KINDS, MULTIPLIERS))}."
        )
