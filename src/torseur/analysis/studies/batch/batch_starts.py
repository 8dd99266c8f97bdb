"""Where the motions of many points start: states, parameters and tolerances, a row each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.algebra.graph import dense_jacobian, evaluate, symbols_of
from torseur.analysis.sensitivity.model.initial_derivatives import initial_formulas, initial_tangents
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.analysis.sensitivity.model.varied_parameters import constants_matrix, starts_matrix
from torseur.analysis.studies.batch.batch_closing import Closing
from torseur.analysis.studies.definition.axes import Axis
from torseur.analysis.studies.definition.study import Integration
from torseur.computation.simulation.model.initial_state import initial_state
from torseur.computation.simulation.model.system import System, Vector
from torseur.computation.simulation.problem import SMALLEST_ATOL
from torseur.derivation.equations import Equations, motion_values
from torseur.description.mechanism import TIME
from torseur.errors import TorseurError

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
        """States with integrals and tangents, parameters, and tolerances."""
        given = self.parameters(points)
        states = self.states(points, given)
        own, rtol = self.tolerances(states), self.integration.rtol
        integrals = np.full((len(points), len(self.variation.integrands)), rtol * self.span)
        atol = np.hstack([own, integrals])
        x = np.hstack([states, np.zeros_like(integrals)])
        if self.variation.columns:
            # A tangent is compared with its state over the size of the parameter: atol of ∂y/∂p is atol of y by |p|.
            by_parameters = 1.0 / self._sizes(given, states)
            atol = np.hstack([atol, (atol[:, :, None] * by_parameters[:, None, :]).reshape(len(points), -1)])
            x = np.hstack([x, self.tangents(points, given, states)])
        return x, given, np.maximum(atol, SMALLEST_ATOL)

    def parameters(self, points: Vector) -> Vector:
        given = np.tile(np.array(self._system.values, dtype=float), (len(points), 1))
        names = [quantity.name for quantity in self._system.parameters]
        for column, axis in enumerate(self.axes):
            if not axis.name.endswith(INITIAL):
                given[:, names.index(axis.name)] = points[:, column]
        return given

    def states(self, points: Vector, given: Vector) -> Vector:
        """Initial states: the same for all, by formulas, or one after the other where rates determine speeds.

        Those of a mechanism with constraints satisfy them, and are nan where that cannot be.
        """
        stated = self._stated_states(points, given)
        return stated if self._system.constrained is None else self.closing.states(given, stated)

    def _stated_states(self, points: Vector, given: Vector) -> Vector:
        """States as they are told, before constraints complete them."""
        moved = {a.name.removesuffix(INITIAL): points[:, k] for k, a in enumerate(self.axes) if _is_start(a)}
        if not moved and not self.depends_on_parameters:
            return np.tile(self._stated_first, (len(points), 1))
        if self._equations is None or self._is_direct:
            return self._by_formulas(moved, given)
        return np.array([self._one_by_one(moved, given, row) for row in range(len(points))])

    @cached_property
    def are_the_same(self) -> bool:
        """Whether all points start in one state, with the same tangents."""
        if self._system.constrained is not None or self.depends_on_parameters or any(map(_is_start, self.axes)):
            return False
        return not self.variation.columns or self._equations is None or self._is_plain

    @cached_property
    def _stated_first(self) -> Vector:
        """The state as it is told for the point at which the system was made ready."""
        if self._system.constrained is None:
            return np.array(self._system.initial)
        assert self._equations is not None
        names = [quantity.name for quantity in self._system.parameters]
        values = dict(zip(names, self._system.values, strict=True))
        return np.array(initial_state(self._equations, values, self.initial))

    @cached_property
    def closing(self) -> Closing:
        """The way to states on constraints."""
        return Closing(self.variation)

    def problem(self, point: Vector) -> str:
        """Why there is no state to start from at a point on constraints; nothing where there is one."""
        given = self.parameters(point[None])
        try:
            self.closing.single(given[0], self._stated_states(point[None], given)[0])
        except TorseurError as problem:
            return str(problem)
        return ""

    def _by_formulas(self, moved: dict[str, Vector], given: Vector) -> Vector:
        states = np.tile(self._stated_first, (len(given), 1))
        names = [quantity.name for quantity in self._system.states]
        if self._equations is not None and self.depends_on_parameters:
            formulas = initial_formulas(self._equations, self.initial)
            bound = dict(zip(self._equations.layout.parameters, given.T, strict=True))
            numbers = evaluate(list(formulas.values()), {**bound, TIME: 0.0})
            for name, value in zip(formulas, numbers, strict=True):
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
        stated = {name for name, _ in self._equations.mechanism.initial} | {*self.initial}
        stated |= {axis.name.removesuffix(INITIAL) for axis in self.axes if _is_start(axis)}
        return stated <= {q.name for q in self._system.states} and not self._system.programs.quaternions

    def tolerances(self, states: Vector) -> Vector:
        """Absolute tolerances of the states: those given, and for the rest the relative one of their sizes."""
        atol = self.integration.atol
        tolerances = self._scales(states) * self.integration.rtol
        if isinstance(atol, Mapping):
            names = [quantity.name for quantity in self._system.states]
            for name, value in atol.items():
                tolerances[:, names.index(name)] = value
        elif atol is not None:
            tolerances[:] = atol
        return tolerances

    def _scales(self, states: Vector) -> Vector:
        """Sizes of the states of each row: the largest magnitude among those of the same unit."""
        if self._system.scales is not None:
            return np.tile(np.array(self._system.scales, dtype=float), (len(states), 1))
        scales, units = np.empty_like(states), [quantity.unit for quantity in self._system.states]
        for unit in dict.fromkeys(units):
            slots = [k for k, other in enumerate(units) if other == unit]
            largest = np.abs(states[:, slots]).max(axis=1)
            scales[:, slots] = np.where(largest > NEARLY_ZERO, largest, 1.0)[:, None]
        return scales

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

    def tangents(self, points: Vector, given: Vector, states: Vector) -> Vector:
        """Tangents of the initial states and integrals by parameters, flat."""
        if self._equations is None or self._is_plain:
            return np.tile(self.variation.initial_tangents.ravel(), (len(points), 1))
        if self._system.constrained is not None and self._is_direct and self.closing.can_differentiate:
            return self._closed_tangents(given, states)
        return np.array([self._tangents_of(g, y) for g, y in zip(given, states, strict=True)])

    @property
    def _is_plain(self) -> bool:
        """Whether initial states change as told, the same at all points."""
        return self._is_direct and self._system.constrained is None and not self.depends_on_parameters

    def _closed_tangents(self, given: Vector, states: Vector) -> Vector:
        own = np.tile(starts_matrix(self.variation.varied, states.shape[1]), (len(given), 1, 1))
        assert self._equations is not None
        names = [quantity.name for quantity in self._system.states]
        formulas = initial_formulas(self._equations, self._stated_values)
        layout = self._equations.layout
        bound = {**dict(zip(layout.parameters, given.T, strict=True)), TIME: 0.0}
        weights = constants_matrix(self.variation.varied, len(layout.parameters))
        for name, row in zip(formulas, dense_jacobian(list(formulas.values()), layout.parameters), strict=True):
            numbers = [np.broadcast_to(factor, len(given)) for factor in evaluate(list(row), bound)]
            own[:, names.index(name)] += np.column_stack(numbers) @ weights
        tangents = self.closing.tangents(given, states, own)
        integrals = np.zeros((len(given), len(self.variation.integrands), self.variation.columns))
        return np.concatenate([tangents, integrals], axis=1).reshape(len(given), -1)

    def _tangents_of(self, given: Vector, state: Vector) -> Vector:
        if not np.isfinite(state).all():
            return np.full(self.variation.size * self.variation.columns, np.nan)
        if self._system.constrained is not None:
            variation = self.closing.at_point(given, state)
        else:
            system = replace(self._system, values=tuple(given.tolist()), initial=tuple(state.tolist()))
            variation = replace(self.variation, system=system)
        start = initial_tangents(replace(variation, integrands=()), self._stated_values, 0.0)
        return replace(variation, start=start).initial_tangents.ravel()

    @property
    def _stated_values(self) -> dict[str, float]:
        """Initial values that replace those of the mechanism, by name; numbers of axes do not matter here."""
        return {**self.initial, **{a.name.removesuffix(INITIAL): 0.0 for a in self.axes if _is_start(a)}}


def _is_start(axis: Axis) -> bool:
    return axis.name.endswith(INITIAL)
