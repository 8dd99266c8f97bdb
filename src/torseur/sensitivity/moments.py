"""Criteria at moments that the motion itself chooses: events and extrema.

At an event w = 0 the time moves by dt = -dw / ẇ, and a value there by dg + ġ dt. At an extremum ġ = 0, so that only
dg at fixed time counts; so it does at the ends of the span.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from torseur.errors import TorseurError
from torseur.graph import Expr
from torseur.sensitivity.criteria import ReadCriterion
from torseur.sensitivity.discontinuities import Discontinuities
from torseur.sensitivity.observation import Observation, Settings, observation_of
from torseur.sensitivity.rates import Rates
from torseur.sensitivity.variation import Variation
from torseur.simulation.system import Vector


@dataclass(frozen=True, eq=False)
class Watch:
    """Event functions of the loop: their externals and the directions of their changes of sign."""

    externals: dict[str, Any]
    directions: tuple[int, ...]
    limits: tuple[int, ...]


NOTHING = Watch({}, (), ())


@dataclass(frozen=True, eq=False)
class Moment:
    """A state (y, with its changes where they are known) at a time."""

    t: float
    y: Vector
    u: Vector | None = None


@dataclass(frozen=True, eq=False)
class MomentCriteria:
    """Criteria whose time is found along the motion."""

    criteria: tuple[ReadCriterion, ...]
    variation: Variation
    backend: str

    @cached_property
    def functions(self) -> list[Expr]:
        """For each criterion the function that changes sign at its moment."""
        return [self.rates.rate(c.formula) if c.when is None else c.when for c in self.criteria]

    @property
    def directions(self) -> tuple[int, ...]:
        fixed = {"maximum": -1, "minimum": 1}
        return tuple(fixed.get(c.kind, c.criterion.direction) for c in self.criteria)

    @cached_property
    def rates(self) -> Rates:
        return Rates(self.variation)

    def watch(self, jumps: Discontinuities) -> Watch:
        """What the loop looks for: what makes the motion jump first, which stops it."""
        functions = [*jumps.functions, *self.functions]
        if not functions and not len(jumps):
            return NOTHING
        externals = jumps.externals(self.rates.externals(functions))
        limits = (1,) * len(jumps) + (0,) * len(self.functions)
        return Watch(externals, jumps.directions + self.directions, limits)

    @cached_property
    def _observations(self) -> list[Observation]:
        """For each criterion its formula, and its event function."""
        found = []
        for criterion in self.criteria:
            formulas = (criterion.formula,) if criterion.when is None else (criterion.formula, criterion.when)
            found.append(observation_of(self.variation, formulas, self.backend))
        return found

    def chosen(self, k: int, marks: Sequence[Moment], ends: Sequence[Moment], settings: Settings) -> Moment:
        """The moment of criterion k, among those that the loop met and the ends of the span."""
        criterion = self.criteria[k]
        if criterion.when is not None:
            if len(marks) < criterion.criterion.occurrence:
                raise TorseurError(self._never(k, len(marks), ends, settings))
            return marks[criterion.criterion.occurrence - 1]
        candidates = [*marks, *ends]
        values = self._values(k, candidates, settings)[:, 0]
        best = np.argmax(values) if criterion.kind == "maximum" else np.argmin(values)
        return candidates[int(best)]

    def _values(self, k: int, moments: Sequence[Moment], settings: Settings) -> Vector:
        times, states = np.array([m.t for m in moments]), np.array([m.y for m in moments])
        return self._observations[k].values(times, states, settings)

    def _never(self, k: int, times: int, ends: Sequence[Moment], settings: Settings) -> str:
        criterion = self.criteria[k].criterion
        values = self._values(k, ends, settings)[:, 1]
        found = "never happens" if times == 0 else f"happens only {times} times"
        way = {0: "changes sign", 1: "rises through zero", -1: "falls through zero"}[criterion.direction]
        span = f"between t = {ends[0].t:g} s and t = {ends[-1].t:g} s"
        return (
            f"criterion '{criterion.label}': the event {found} {span}: '{criterion.when}' is {values[0]:.4g} at the "
            f"start and {values[-1]:.4g} at the end, and {way} {times} times. Go on longer, or ask for another event."
        )

    def slopes(self, k: int, moment: Moment, settings: Settings) -> tuple[float, Vector]:
        """Value and slopes of criterion k, from the changes of the state at its moment."""
        assert moment.u is not None
        known = np.array([moment.t]), moment.y[None], moment.u[None]
        values, changes = self._observations[k].changes(*known, settings)
        if self.criteria[k].when is None:
            return float(values[0, 0]), changes[0, 0]
        of_formula, of_event = self._rates(k, moment, settings)
        later = -changes[0, 1] / of_event
        if self.criteria[k].kind == "event time":
            return moment.t, later
        return float(values[0, 0]), changes[0, 0] + of_formula * later

    def weights(self, k: int, moment: Moment, settings: Settings) -> tuple[float, Vector, Vector]:
        """Value of criterion k, and its slopes by the state and the parameters at its moment."""
        value = float(self._values(k, [moment], settings)[0, 0])
        mixed = np.array([1.0])
        if self.criteria[k].when is not None:
            of_formula, of_event = self._rates(k, moment, settings)
            mixed = np.array([1.0, -of_formula / of_event])
            if self.criteria[k].kind == "event time":
                value, mixed = moment.t, np.array([0.0, -1.0 / of_event])
        return value, *self._observations[k].weights(moment.t, moment.y, mixed, settings)

    def _rates(self, k: int, moment: Moment, settings: Settings) -> tuple[float, float]:
        """Rates of a criterion's formula and of its event function at its moment."""
        criterion = self.criteria[k]
        assert criterion.when is not None
        formulas = [self.rates.rate(criterion.formula), self.rates.rate(criterion.when)]
        of_formula, of_event = self.rates.values(formulas, moment.t, moment.y, settings(moment.t)).tolist()
        if of_event == 0.0:
            raise TorseurError(
                f"criterion '{criterion.label}': the event function touches zero without crossing it, so that its time "
                "has no slope by the parameters."
            )
        return of_formula, of_event
