"""Where the motions of many points start: states, parameters and tolerances, a row each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.equations import Equations, motion_values
from torseur.graph import evaluate, symbols_of
from torseur.mechanism import TIME
from torseur.sensitivity.initial import initial_changes, initial_formulas
from torseur.sensitivity.variation import Variation
from torseur.simulation.initial import initial_state
from torseur.simulation.problem import SMALLEST_ATOL
from torseur.simulation.system import System, Vector
from torseur.studies.axes import Axis
from torseur.studies.study import Integration

INITIAL = "(0)"
NEARLY_ZERO = 1e-6  # sizes of states that do not count as scales of their unit


@dataclass(frozen=True, eq=False)
class Starts:
    """The rows of a batch, from the points of the axes; `initial` are values that replace those of the mechanism."""

    variation: Variation
    axes: tuple[Axis, ...]
    initial: dict[str, float]
    integration: Integration
    span: float

    @property
    def _system(self) -> System:
        return self.variation.system

    @property
    def _equations(self) -> Equations | None:
        return self._system.programs.equations if self._system.programs is not None else None

    def rows(self, points: Vector) -> tuple[Vector, Vector, Vector]:
        """States with integrals and changes, parameters, and tolerances."""
        given = self.parameters(points)
        states = self.states(points, given)
        own, rtol = self._tolerances(states), self.integration.rtol
        integrals = np.full((len(points), len(self.variation.integrands)), rtol * self.span)
        atol = np.hstack([own, integrals])
        x = np.hstack([states, np.zeros_like(integrals)])
        if self.variation.columns:
            by_parameters = 1.0 / self._sizes(given, states)
            atol = np.hstack([atol, (atol[:, :, None] * by_parameters[:, None, :]).reshape(len(points), -1)])
            x = np.hstack([x, self._changes(points, given, states)])
        return x, given, np.maximum(atol, SMALLEST_ATOL)

    def parameters(self, points: Vector) -> Vector:
        given = np.tile(np.array(self._system.values, dtype=float), (len(points), 1))
        names = [quantity.name for quantity in self._system.parameters]
        for column, axis in enumerate(self.axes):
            if not axis.name.endswith(INITIAL):
                given[:, names.index(axis.name)] = points[:, column]
        return given

    def states(self, points: Vector, given: Vector) -> Vector:
        """Initial states: the same for all, by formulas, or one after the other where rates determine speeds."""
        moved = {a.name.removesuffix(INITIAL): points[:, k] for k, a in enumerate(self.axes) if _is_start(a)}
        if not moved and not self.depends_on_parameters:
            return np.tile(np.array(self._system.initial), (len(points), 1))
        if self._equations is None or self._is_direct:
            return self._by_formulas(moved, given)
        return np.array([self._one_by_one(moved, given, row) for row in range(len(points))])

    def _by_formulas(self, moved: dict[str, Vector], given: Vector) -> Vector:
        states = np.tile(np.array(self._system.initial), (len(given), 1))
        names = [quantity.name for quantity in self._system.states]
        if self._equations is not None and self.depends_on_parameters:
            formulas = initial_formulas(self._equations, self.initial)
            bound = dict(zip(self._equations.layout.parameters, given.T, strict=True))
            found = evaluate(list(formulas.values()), {**bound, TIME: 0.0})
            for name, value in zip(formulas, found, strict=True):
                states[:, names.index(name)] = value
        for name, column in moved.items():
            states[:, names.index(name)] = column
        return states

    def _one_by_one(self, moved: dict[str, Vector], given: Vector, row: int) -> tuple[float, ...]:
        assert self._equations is not None
        names = [quantity.name for quantity in self._system.parameters]
        values = motion_values(self._equations, {})
        values |= dict(zip(names, given[row].tolist(), strict=True))
        changes = {**self.initial, **{name: float(column[row]) for name, column in moved.items()}}
        return initial_state(self._equations, values, changes)

    @cached_property
    def depends_on_parameters(self) -> bool:
        """Whether initial values are formulas of parameters."""
        if self._equations is None:
            return False
        return bool(symbols_of(list(initial_formulas(self._equations, self.initial).values())))

    @cached_property
    def _is_direct(self) -> bool:
        """Whether every initial value that is told is a state itself, and no quaternion has to be normalised."""
        assert self._equations is not None and self._system.programs is not None
        told = {name for name, _ in self._equations.mechanism.initial} | {*self.initial}
        told |= {axis.name.removesuffix(INITIAL) for axis in self.axes if _is_start(axis)}
        return told <= {q.name for q in self._system.states} and not self._system.programs.quaternions

    def _tolerances(self, states: Vector) -> Vector:
        """Absolute tolerances of the states: those given, and for the rest the relative one of their sizes."""
        atol = self.integration.atol
        found = self._scales(states) * self.integration.rtol
        if isinstance(atol, Mapping):
            names = [quantity.name for quantity in self._system.states]
            for name, value in atol.items():
                found[:, names.index(name)] = value
        elif atol is not None:
            found[:] = atol
        return found

    def _scales(self, states: Vector) -> Vector:
        """Sizes of the states of each row: the largest magnitude among those of the same unit."""
        if self._system.scales is not None:
            return np.tile(np.array(self._system.scales, dtype=float), (len(states), 1))
        found, units = np.empty_like(states), [quantity.unit for quantity in self._system.states]
        for unit in dict.fromkeys(units):
            slots = [k for k, other in enumerate(units) if other == unit]
            largest = np.abs(states[:, slots]).max(axis=1)
            found[:, slots] = np.where(largest > NEARLY_ZERO, largest, 1.0)[:, None]
        return found

    def _sizes(self, given: Vector, states: Vector) -> Vector:
        """The sizes that changes of the study's parameters are compared with, a column each."""
        names = [quantity.name for quantity in self._system.parameters]
        starts = [f"{quantity.name}{INITIAL}" for quantity in self._system.states]
        columns = []
        for parameter in self.variation.varied:
            if parameter.name in names:
                columns.append(given[:, names.index(parameter.name)])
            elif parameter.name in starts:
                columns.append(states[:, starts.index(parameter.name)])
            else:
                columns.append(np.full(len(given), parameter.value))
        sizes = np.abs(np.column_stack(columns))
        return np.where(sizes == 0.0, 1.0, sizes)

    def _changes(self, points: Vector, given: Vector, states: Vector) -> Vector:
        """Changes of the initial states, flat."""
        if self._equations is None or (self._is_direct and not self.depends_on_parameters):
            return np.tile(self.variation.initial_changes.ravel(), (len(points), 1))
        return np.array([self._changes_of(g, y) for g, y in zip(given, states, strict=True)])

    def _changes_of(self, given: Vector, state: Vector) -> Vector:
        system = replace(self._system, values=tuple(given.tolist()), initial=tuple(state.tolist()))
        moved = {a.name.removesuffix(INITIAL): 0.0 for a in self.axes if _is_start(a)}
        variation = replace(self.variation, system=system)
        start = initial_changes(replace(variation, integrands=()), {**self.initial, **moved}, 0.0)
        return replace(variation, start=start).initial_changes.ravel()


def _is_start(axis: Axis) -> bool:
    return axis.name.endswith(INITIAL)
