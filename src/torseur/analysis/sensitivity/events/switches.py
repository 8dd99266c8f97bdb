"""Switches in the equations of motion: where a condition of theirs changes, x' jumps while the state goes on.

`where`, `sign` and `floor` of the state or of time make a load begin, end or turn round. The instant moves by ds with
the parameters, and with it the tangents of the state by (f₋ - f₊) ds, where f₋ and f₊ are x' with the condition as it
is on either side: which of them a state at the very instant of switching has is a matter of rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from torseur.algebra.graph import PI, Expr, Program, as_expr, live_nodes, substitute, symbols_of, vector
from torseur.algebra.graph.scalar import floor, sin
from torseur.analysis.sensitivity.events.event_crossing import Crossing, Landing, explicit_crossing
from torseur.analysis.sensitivity.model.motion_derivatives import MotionDerivatives, StateDerivative
from torseur.computation.simulation.events.time_switches import conditions_of
from torseur.computation.simulation.model.single_state import Evaluator
from torseur.computation.simulation.model.system import Vector
from torseur.description.mechanism import TIME
from torseur.errors import UnsupportedError

_Conditions = Mapping[Expr, int] | Mapping[Expr, Expr]
SAME = 1e-12  # difference of x' on both sides, in units of its size, below which it does not jump
WHOLE = 1e-9  # distance of what a floor is taken of from a whole number at which it jumps
NUDGES = 20  # doublings of the resolution of time


@dataclass(frozen=True, eq=False)
class SwitchRules:
    """A formula whose sign conditions ask for, and x' with these as they are below and above zero."""

    when: Expr
    below: MotionDerivatives
    above: MotionDerivatives
    direction: int = 0
    floors: tuple[Expr, ...] = ()
    """What jumps where it is whole, and `when` with it: such a sign change is the floor's own switch."""

    @property
    def label(self) -> str:
        return f"switch where {self.when} = 0"

    def land(self, t: float, x: Vector, u: Vector, settings: Vector) -> Landing | None:
        """What the switch makes of the tangents; None where nothing jumps."""
        below, above = (derivatives.at(t, x, settings) for derivatives in (self.below, self.above))
        if self._is_at_a_step(t, x, below):
            return None
        # Which way the formula goes is asked of both sides: the motion passes where they agree. Where each drives it
        # back to the other, it stays on the switch, and there is no derivative.
        rates = self._rate(t, x, below), self._rate(t, x, above)
        if min(rates) > 0.0:
            return self._landing(self._rising, above, t, x, u, settings)
        if max(rates) < 0.0:
            return self._landing(self._falling, below, t, x, u, settings)
        if np.abs(below.value - above.value).max() <= SAME * np.abs(below.value).max():
            return None
        raise UnsupportedError(
            f"{self.label}: at t = {t:.6g} s the motion comes to rest there, pushed back from both sides, as by dry "
            "friction that sticks. Derivatives need a law that is smooth there, such as tanh in place of sign."
        )

    def beyond(self, landing: Landing, way: float) -> tuple[float, Vector]:
        """The least later time, and x there, at which rounding has the formula on the side that the motion came to.

        On the other side the loop would begin with the wrong derivative, and meet the switch again.
        """
        # From the resolution of time upwards, doubled until rounding agrees.
        met, step = landing.met, way * np.spacing(max(abs(landing.met.t), 1e-300))
        for _ in range(NUDGES):
            t, x = met.t + step, landing.x + step * landing.after.value
            bound = self.below.input_values(t, x[: landing.crossing.kept], met.before.solution)
            if self._formula(bound)["values"][0] * met.rate * way > 0.0:
                return t, x
            step *= 2.0
        return met.t, landing.x

    def _is_at_a_step(self, t: float, x: Vector, derivative: StateDerivative) -> bool:
        """Whether `when` changed its sign as a floor in it jumped."""
        if not self.floors:
            return False
        inputs = self.below.input_values(t, x[: len(self.below.variation.states)], derivative.solution)
        steps = self._steps(inputs)["steps"]
        return bool(np.any(np.abs(steps - np.round(steps)) <= WHOLE * np.maximum(1.0, np.abs(steps))))

    @cached_property
    def _steps(self) -> Evaluator:
        return Evaluator(Program("steps", self.below.inputs, (vector("steps", list(self.floors)),)))

    def _rate(self, t: float, x: Vector, derivative: StateDerivative) -> float:
        """Of the formula, along the motion on one side."""
        y = x[: len(self.below.variation.states)]
        _, parts = self.below.split(self._formula(self.below.input_values(t, y, derivative.solution))["derivatives"])
        return float(parts.by_state[0] @ derivative.value[: len(y)] + parts.by_time[0])

    @cached_property
    def _formula(self) -> Evaluator:
        return Evaluator(self.below.program("switch", [self.when]))

    @cached_property
    def _rising(self) -> Crossing:
        return explicit_crossing(self.below, self.label, self.when, self.below.variation.states)

    @cached_property
    def _falling(self) -> Crossing:
        return explicit_crossing(self.above, self.label, self.when, self.above.variation.states)

    @staticmethod
    def _landing(
        crossing: Crossing, after: StateDerivative, t: float, x: Vector, u: Vector, settings: Vector
    ) -> Landing:
        met = crossing.crossing_at(t, x, settings, x[: crossing.kept])
        return Landing(crossing, met, u, after, settings.copy())


def switches_of(derivatives: MotionDerivatives) -> tuple[SwitchRules, ...]:
    """The switches that a motion may meet: conditions and steps that depend on its state or on time."""
    variation = derivatives.variation
    moving = {*variation.states, TIME}
    formulas = derivatives.formulas
    rules = []
    switches: list[tuple[Expr, tuple[_Conditions, _Conditions]]] = [*conditions_of(formulas).items()]
    for when, (below, above) in (*switches, *_steps_of(formulas).items()):
        floors = [node for node in live_nodes([when]) if node.op == "floor" and moving.intersection(symbols_of([node]))]
        # What moves in steps only changes its sign with them.
        (between,) = substitute([when], dict.fromkeys(floors, as_expr(0)))
        if moving.intersection(symbols_of([between])) and not set(derivatives.solution) & set(symbols_of([when])):
            rules.append(
                SwitchRules(
                    when,
                    replace(derivatives, conditions=below),
                    replace(derivatives, conditions=above),
                    floors=tuple(node.args[0] for node in floors),
                )
            )
    return tuple(rules)


def _steps_of(formulas: Sequence[Expr]) -> dict[Expr, tuple[dict[Expr, Expr], dict[Expr, Expr]]]:
    """floor(a) by the formula sin(π a), which vanishes where it jumps, with its values on both sides of a whole n.

    It is n - 1 before n and n behind it; the sine grows through even n and falls through odd ones.
    """
    steps: dict[Expr, tuple[dict[Expr, Expr], dict[Expr, Expr]]] = {}
    for node in live_nodes(formulas):
        if node.op == "floor":
            next_whole = floor(node.args[0] + Fraction(1, 2))
            odd = next_whole - 2 * floor(next_whole / 2)
            below, above = steps.setdefault(sin(PI * node.args[0]), ({}, {}))
            below[node], above[node] = next_whole - 1 + odd, next_whole - odd
    return steps
