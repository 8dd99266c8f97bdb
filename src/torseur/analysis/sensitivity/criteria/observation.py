"""Formulas and their tangents at single states of a motion.

Formulas of the state alone are differentiated by themselves. Those of accelerations and multipliers that have no
formulas stand as integrands of the motion that is not integrated, so that its routines give their tangents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from torseur.algebra.graph import Expr, Program, live_nodes, matrix, vector
from torseur.analysis.sensitivity.adjoint.backward_routines import pullback
from torseur.analysis.sensitivity.extended_loop import routine_of
from torseur.analysis.sensitivity.method_routines import Routines, routines_of
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.computation.codegen.kernels.compiled_routine import CompiledRoutine
from torseur.computation.codegen.routine import Array, External, Routine, routine, zeros
from torseur.computation.simulation.constrained.solver.constrained_sizes import NQ
from torseur.computation.simulation.explicit.runge_kutta import N
from torseur.computation.simulation.model.single_state import Evaluator
from torseur.computation.simulation.model.system import Vector

FEW = 16  # states that are evaluated sooner by interpreted code than code is compiled

Settings = Callable[[float], Vector]
"""The parameters as the loop takes them at a time: with contacts, some constraints come and go."""

state_rhs = External("rhs", "t: float, y: Array, p: Array, dy: Array")


@routine
def rhs_along(rows: int, times: Array, states: Array, p: Array, out: Array) -> None:
    """x' in each state, one row each."""
    for row in range(rows):
        state_rhs(times[row], states[row * N :], p, out[row * N :])


@routine
def observed_back(t: float, y: Array, p: Array, w: Array, ybar: Array, pbar: Array) -> None:
    """Adjoints of derivatives in a state pulled back to adjoints of states and parameters."""
    dy = zeros(N)
    state_rhs(t, y, p, dy)
    pullback(t, y, p, dy[NQ:], w, ybar, pbar)


class Observation(Protocol):
    """Formulas observed along a motion."""

    def values(self, times: Vector, states: Vector, settings: Settings) -> Vector:
        """Values (time, formula)."""

    def tangents(self, times: Vector, states: Vector, tangents: Vector, settings: Settings) -> tuple[Vector, Vector]:
        """Values (time, formula) and their tangents (time, formula, parameter), from those of the states."""

    def adjoints(self, t: float, state: Vector, of_formulas: Vector, settings: Settings) -> tuple[Vector, Vector]:
        """Adjoints of the states and of the parameters, for a weighted sum of the formulas in one state."""


def observation_of(variation: Variation, formulas: Sequence[Expr], backend: str) -> Observation:
    """The means to observe formulas."""
    if is_plain(variation, formulas):
        return PlainObservation(variation, tuple(formulas))
    return SolvedObservation(routines_of(replace(variation, integrands=tuple(formulas))), backend)


def is_plain(variation: Variation, formulas: Sequence[Expr]) -> bool:
    """Whether formulas depend on the state, time and parameters alone."""
    solution = {node for group in variation.system.solution for node in group.nodes}
    return not solution & set(live_nodes(formulas))


@dataclass(frozen=True, eq=False)
class PlainObservation:
    """Formulas of the state alone."""

    variation: Variation
    formulas: tuple[Expr, ...]

    @cached_property
    def _values(self) -> Program:
        return Program("observed", self.variation.rhs.inputs, (vector("values", self.formulas),))

    @cached_property
    def _derivatives(self) -> Program:
        by_states = matrix("by_states", self.variation.by_states(self.formulas))
        by_parameters = matrix("by_parameters", self.variation.by_parameters(self.formulas))
        return Program(
            "observed", self.variation.rhs.inputs, (vector("values", self.formulas), by_states, by_parameters)
        )

    def _along(self, program: Program, times: Vector, states: Vector) -> dict[str, Vector]:
        """The outputs of a program in all states at once, time first."""
        given = {"t": [times], "y": list(states.T), "p": list(self.variation.system.values)}
        with np.errstate(all="ignore"):
            outputs = program.evaluate({group.name: given[group.name] for group in program.inputs})
        return {
            output.name: np.array(
                [np.broadcast_to(np.asarray(x, dtype=float), times.shape) for x in outputs[output.name]]
            )
            .reshape(len(output.entries), len(times))
            .T.reshape(len(times), *output.shape)
            for output in program.outputs
        }

    def values(self, times: Vector, states: Vector, settings: Settings) -> Vector:
        return self._along(self._values, times, states)["values"]

    def tangents(self, times: Vector, states: Vector, tangents: Vector, settings: Settings) -> tuple[Vector, Vector]:
        outputs = self._along(self._derivatives, times, states)
        return outputs["values"], np.asarray(outputs["by_states"] @ tangents + outputs["by_parameters"])

    @cached_property
    def _evaluator(self) -> Evaluator:
        return Evaluator(self._derivatives)

    def adjoints(self, t: float, state: Vector, of_formulas: Vector, settings: Settings) -> tuple[Vector, Vector]:
        given = {"t": [t], "y": state.tolist(), "p": list(self.variation.system.values)}
        outputs = self._evaluator({group.name: given[group.name] for group in self._derivatives.inputs})
        return of_formulas @ outputs["by_states"], of_formulas @ outputs["by_parameters"]


@dataclass(frozen=True, eq=False)
class SolvedObservation:
    """Formulas that need accelerations or multipliers: they stand as the integrands of `routines.variation`."""

    routines: Routines
    backend: str

    @property
    def count(self) -> int:
        return len(self.routines.variation.integrands)

    @property
    def _states(self) -> int:
        return len(self.routines.variation.states)

    @cached_property
    def _size(self) -> int:
        return self.routines.variation.size * (1 + self.routines.variation.columns)

    def _routine(
        self, entry: Routine, size: int, statics: Mapping[str, int], externals: Mapping[str, Any], rows: int
    ) -> CompiledRoutine:
        """The routine, compiled where it runs often enough to pay for it."""
        return routine_of(entry, size, statics, externals, self.backend if rows > FEW else "python")

    def _along(self, along: CompiledRoutine, times: Vector, rows: Vector, settings: Settings) -> Vector:
        """x' in all states, run by run of times with the same settings."""
        # Contacts that open or close change the settings: one call per run of times that share them.
        out, known = np.zeros_like(rows), [settings(float(t)) for t in times]
        first = 0
        for last in range(1, len(times) + 1):
            if last < len(times) and np.array_equal(known[last], known[first]):
                continue
            part = slice(first, last)
            along(
                last - first,
                np.ascontiguousarray(times[part]),
                rows[part].reshape(-1),
                known[first],
                out[part].reshape(-1),
            )
            first = last
        return out

    def tangents(self, times: Vector, states: Vector, tangents: Vector, settings: Settings) -> tuple[Vector, Vector]:
        columns, n, m = self.routines.variation.columns, self._states, self.count
        rows = np.zeros((len(times), self._size))
        rows[:, :n] = states
        # A row is a state of the direct method, [ y | z | u of y | u of z ], of which z and its u do not matter.
        rows[:, n + m : n + m + n * columns] = tangents.reshape(len(times), -1)
        statics = self.routines.direct_statics
        along = self._routine(rhs_along, self._size, statics, self.routines.direct, len(times))
        out = self._along(along, times, rows, settings)
        values, of_all = out[:, n : n + m], out[:, n + m :].reshape(len(times), n + m, columns)
        return values.copy(), of_all[:, n:].copy()

    def values(self, times: Vector, states: Vector, settings: Settings) -> Vector:
        size = self.routines.variation.size
        rows = np.zeros((len(times), size))
        rows[:, : self._states] = states
        along = self._routine(rhs_along, size, self.routines.statics, self.routines.forward, len(times))
        return self._along(along, times, rows, settings)[:, self._states :].copy()

    def adjoints(self, t: float, state: Vector, of_formulas: Vector, settings: Settings) -> tuple[Vector, Vector]:
        size = self.routines.variation.size
        back = self._routine(observed_back, size, self.routines.statics, self.routines.backward, 1)
        # The formulas stand where integrals would: their adjoints are those of z in x = (y, z).
        y, w = np.concatenate([state, np.zeros(self.count)]), np.concatenate([np.zeros(self._states), of_formulas])
        ybar, pbar = np.zeros(size), np.zeros(max(self.routines.variation.columns, 1))
        back(float(t), y, settings(float(t)), w, ybar, pbar)
        return ybar[: self._states], pbar
