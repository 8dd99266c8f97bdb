"""Switches in the equations of motion: where a condition of theirs changes, x' jumps while the state goes on.

`where` and `sign` of the state or of time make a load begin, end or turn round. The moment moves with the parameters by
ds, and with it the changes of the state by (f₋ - f₊) ds, where f₋ and f₊ are x' with the condition as it is on either
side: which of them a state at the very moment of switching has is a matter of rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.errors import UnsupportedError
from torseur.graph import Expr, live_nodes, symbols_of
from torseur.mechanism import TIME
from torseur.sensitivity.crossing import Crossing, explicit
from torseur.sensitivity.landing import Landing
from torseur.sensitivity.motion_slopes import MotionSlope, MotionSlopes
from torseur.simulation.evaluation import Evaluator
from torseur.simulation.system import Vector

SAME = 1e-12  # difference of x' on both sides, in units of its size, below which it does not jump
NUDGES = 20  # doublings of the resolution of time


@dataclass(frozen=True, eq=False)
class SwitchRules:
    """A formula whose sign conditions ask for, and x' with these as they are below and above zero."""

    when: Expr
    below: MotionSlopes
    above: MotionSlopes
    direction: int = 0

    @property
    def label(self) -> str:
        return f"switch where {self.when} = 0"

    def land(self, t: float, x: Vector, u: Vector, settings: Vector) -> Landing | None:
        """What the switch makes of the changes; None where nothing jumps."""
        below, above = (slopes.at(t, x, settings) for slopes in (self.below, self.above))
        rates = self._rate(t, x, below), self._rate(t, x, above)
        if min(rates) > 0.0:
            return self._landing(self._rising, above, t, x, u, settings)
        if max(rates) < 0.0:
            return self._landing(self._falling, below, t, x, u, settings)
        if np.abs(below.value - above.value).max() <= SAME * np.abs(below.value).max():
            return None
        raise UnsupportedError(
            f"{self.label}: at t = {t:.6g} s the motion comes to rest there, pushed back from both sides, as by dry "
            "friction that sticks. Slopes need a law that is smooth there, such as tanh in place of sign."
        )

    def beyond(self, landing: Landing, way: float) -> tuple[float, Vector]:
        """The least later time, and x there, at which rounding has the formula on the side that the motion came to.

        On the other side the loop would begin with the wrong slope, and meet the switch again.
        """
        met, step = landing.met, way * np.spacing(max(abs(landing.met.t), 1e-300))
        for _ in range(NUDGES):
            t, x = met.t + step, landing.x + step * landing.after.value
            bound = self.below.bound(t, x[: landing.crossing.kept], met.before.solution)
            if self._formula(bound)["values"][0] * met.rate * way > 0.0:
                return t, x
            step *= 2.0
        return met.t, landing.x

    def _rate(self, t: float, x: Vector, slope: MotionSlope) -> float:
        """Of the formula, along the motion on one side."""
        y = x[: len(self.below.variation.states)]
        _, parts = self.below.split(self._formula(self.below.bound(t, y, slope.solution))["slopes"])
        return float(parts.by_state[0] @ slope.value[: len(y)] + parts.by_time[0])

    @cached_property
    def _formula(self) -> Evaluator:
        return Evaluator(self.below.program("switch", [self.when]))

    @cached_property
    def _rising(self) -> Crossing:
        return explicit(self.below, self.label, self.when, self.below.variation.states)

    @cached_property
    def _falling(self) -> Crossing:
        return explicit(self.above, self.label, self.when, self.above.variation.states)

    @staticmethod
    def _landing(crossing: Crossing, after: MotionSlope, t: float, x: Vector, u: Vector, settings: Vector) -> Landing:
        met = crossing.met(t, x, settings, x[: crossing.kept])
        return Landing(crossing, met, u, after, settings.copy())


def switches_of(slopes: MotionSlopes) -> tuple[SwitchRules, ...]:
    """The switches that a motion may meet: conditions that depend on its state or on time."""
    variation = slopes.variation
    moving = {*variation.states, TIME}
    return tuple(
        SwitchRules(when, replace(slopes, conditions=below), replace(slopes, conditions=above))
        for when, (below, above) in conditions_of(slopes.formulas).items()
        if moving.intersection(symbols_of([when])) and not set(slopes.solution).intersection(symbols_of([when]))
    )


def conditions_of(formulas: Sequence[Expr]) -> dict[Expr, tuple[dict[Expr, int], dict[Expr, int]]]:
    """Conditions by the formula whose sign they ask for, with their values where it is negative and positive."""
    found: dict[Expr, tuple[dict[Expr, int], dict[Expr, int]]] = {}
    for node in live_nodes(formulas):
        if node.op not in ("lt", "le", "sign"):
            continue
        is_sign = node.op == "sign"
        when = node.args[0] if is_sign else node.args[0] - node.args[1]
        values = (-1, 1) if is_sign else (1, 0)
        if -when in found:  # x < 0 and x > 0 change at the same moment
            when, values = -when, values[::-1]
        below, above = found.setdefault(when, ({}, {}))
        below[node], above[node] = values
    return found
