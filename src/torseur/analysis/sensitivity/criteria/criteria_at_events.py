"""Criteria at instants that the motion itself chooses: events and extrema.

At an event w = 0 the time moves by dt = -dw / ẇ, and a value there by dg + ġ dt. At an extremum ġ = 0, so that only
dg at fixed time counts; so it does at the ends of the span.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from torseur.algebra.graph import Expr
from torseur.analysis.sensitivity.criteria.criteria import ReadCriterion
from torseur.analysis.sensitivity.criteria.formula_rates import Rates
from torseur.analysis.sensitivity.criteria.observation import Observation, Settings, observation_of
from torseur.analysis.sensitivity.events.discontinuities import Discontinuities
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.computation.simulation.model.system import Vector
from torseur.errors import TorseurError


@dataclass(frozen=True, eq=False)
class Watch:
    """Event functions of the loop: their externals and the directions of their changes of sign."""

    externals: dict[str, Any]
    directions: tuple[int, ...]
    limits: tuple[int, ...]


NOTHING = Watch({}, (), ())


@dataclass(frozen=True, eq=False)
class Instant:
    """A state (y, with its tangents where they are known) at a time."""

    t: float
    y: Vector
    u: Vector | None = None


@dataclass(frozen=True, eq=False)
class InstantCriteria:
    """Criteria whose time the motion decides."""

    criteria: tuple[ReadCriterion, ...]
    variation: Variation
    backend: str

    @cached_property
    def functions(self) -> list[Expr]:
        """For each criterion the function that changes sign at its instant."""
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
        # Discontinuities have the first numbers: they stop the loop (limit 1), criteria only leave a mark.
        externals = jumps.externals(self.rates.externals(functions))
        limits = (1,) * len(jumps) + (0,) * len(self.functions)
        return Watch(externals, jumps.directions + self.directions, limits)

    @cached_property
    def _observations(self) -> list[Observation]:
        """For each criterion its formula, and its event function."""
        observations = []
        for criterion in self.criteria:
            formulas = (criterion.formula,) if criterion.when is None else (criterion.formula, criterion.when)
            observations.append(observation_of(self.variation, formulas, self.backend))
        return observations

    def choose(self, k: int, marks: Sequence[Instant], ends: Sequence[Instant], settings: Settings) -> Instant:
        """The instant of criterion k, among those that the loop met and the ends of the span."""
        criterion = self.criteria[k]
        if criterion.when is not None:
            if len(marks) < criterion.criterion.occurrence:
                raise TorseurError(self._never(k, len(marks), ends, settings))
            return marks[criterion.criterion.occurrence - 1]
        # An extremum of a motion over a span is where its rate vanishes, or at an end.
        candidates = [*marks, *ends]
        values = self._values(k, candidates, settings)[:, 0]
        best = np.argmax(values) if criterion.kind == "maximum" else np.argmin(values)
        return candidates[int(best)]

    def _values(self, k: int, instants: Sequence[Instant], settings: Settings) -> Vector:
        times, states = np.array([m.t for m in instants]), np.array([m.y for m in instants])
        return self._observations[k].values(times, states, settings)

    def _never(self, k: int, times: int, ends: Sequence[Instant], settings: Settings) -> str:
        criterion = self.criteria[k].criterion
        values = self._values(k, ends, settings)[:, 1]
        often = "never happens" if times == 0 else f"happens only {times} times"
        way = {0: "changes sign", 1: "rises through zero", -1: "falls through zero"}[criterion.direction]
        span = f"between t = {ends[0].t:g} s and t = {ends[-1].t:g} s"
        return (
            f"criterion '{criterion.label}': the event {often} {span}: '{criterion.when}' is {values[0]:.4g} at the "
            f"start and {values[-1]:.4g} at the end, and {way} {times} times. Go on longer, or ask for another event."
        )

    def derivatives(self, k: int, instant: Instant, settings: Settings) -> tuple[float, Vector]:
        """Value and derivatives of criterion k, from the tangents of the state at its instant."""
        assert instant.u is not None
        known = np.array([instant.t]), instant.y[None], instant.u[None]
        values, tangents = self._observations[k].tangents(*known, settings)
        if self.criteria[k].when is None:
            return float(values[0, 0]), tangents[0, 0]
        of_formula, of_event = self._rates(k, instant, settings)
        # dt = -dw / ẇ, and dg + ġ dt.
        later = -tangents[0, 1] / of_event
        if self.criteria[k].kind == "event time":
            return instant.t, later
        return float(values[0, 0]), tangents[0, 0] + of_formula * later

    def adjoints(self, k: int, instant: Instant, settings: Settings) -> tuple[float, Vector, Vector]:
        """Value of criterion k, and its derivatives by the state and the parameters at its instant."""
        value = float(self._values(k, [instant], settings)[0, 0])
        mixed = np.array([1.0])
        if self.criteria[k].when is not None:
            of_formula, of_event = self._rates(k, instant, settings)
            # g + ġ dt with dt = -w / ẇ: a fixed combination of both formulas, which has one pullback.
            mixed = np.array([1.0, -of_formula / of_event])
            if self.criteria[k].kind == "event time":
                value, mixed = instant.t, np.array([0.0, -1.0 / of_event])
        return value, *self._observations[k].adjoints(instant.t, instant.y, mixed, settings)

    def _rates(self, k: int, instant: Instant, settings: Settings) -> tuple[float, float]:
        """Rates of a criterion's formula and of its event function at its instant."""
        criterion = self.criteria[k]
        assert criterion.when is not None
        formulas = [self.rates.rate(criterion.formula), self.rates.rate(criterion.when)]
        of_formula, of_event = self.rates.values(formulas, instant.t, instant.y, settings(instant.t)).tolist()
        if of_event == 0.0:
            raise TorseurError(
                f"criterion '{criterion.label}': the event function touches zero without crossing it, so that its time "
                "has no derivative with respect to the parameters."
            )
        return of_formula, of_event
