"""The rate x' of a motion at a single state, and its derivatives by state, parameters and time, as numbers.

With x' = f(y, a, l, t, p) and equations R(y, a, l, t, p) = 0 of accelerations a and multipliers l, both linear in
these, (a, l) has the derivative -R_s⁻¹ R_v by every variable v, and f then f_v + f_s (a, l)_v.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from torseur.algebra.graph import Expr, Input, Program, dense_jacobian, matrix, substitute, vector
from torseur.analysis.sensitivity.method_routines import constrained_programs
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.analysis.sensitivity.model.varied_parameters import constants_matrix
from torseur.computation.simulation.constrained.solver.constrained_sizes import Settings
from torseur.computation.simulation.model.single_state import Evaluator
from torseur.computation.simulation.model.system import Vector
from torseur.description.mechanism import TIME

ITERATIONS = 20
SOLVED = 1e-14  # part of the solution by which Newton's method for friction moves it when it has arrived


@dataclass(frozen=True, eq=False)
class Parts:
    """Derivatives of some formulas: by the solution (a, l), the states, the parameters of the study, and time."""

    by_solution: Vector
    by_state: Vector
    by_parameters: Vector
    by_time: Vector

    def eliminate_solution(self, solution: Parts | None) -> Parts:
        """The same with accelerations and multipliers following the other variables."""
        if solution is None:
            return self
        own = self.by_solution
        return Parts(
            np.zeros((len(own), 0)),
            self.by_state + own @ solution.by_state,
            self.by_parameters + own @ solution.by_parameters,
            self.by_time + own @ solution.by_time,
        )


@dataclass(frozen=True, eq=False)
class StateDerivative:
    """x' at a state, its derivatives, and the accelerations and multipliers there with theirs."""

    value: Vector
    parts: Parts
    solution: Vector
    of_solution: Parts | None

    def along(self, u: Vector) -> Vector:
        """Tangents of x', from those of the states."""
        return np.asarray(self.parts.by_state @ u[: self.parts.by_state.shape[1]] + self.parts.by_parameters)

    @property
    def time_derivative(self) -> Vector:
        """x'' along the motion."""
        states = self.parts.by_state.shape[1]
        return np.asarray(self.parts.by_time + self.parts.by_state @ self.value[:states])


@dataclass(frozen=True, eq=False)
class MotionDerivatives:
    """x' of a system as numbers, wherever it is asked for; `conditions` in its formulas have these values."""

    variation: Variation
    conditions: Mapping[Expr, int] | Mapping[Expr, Expr] = field(default_factory=dict)

    @cached_property
    def solution(self) -> tuple[Expr, ...]:
        """Symbols of the accelerations and multipliers of a mechanism."""
        programs = self.variation.system.programs
        return tuple(node for group in programs.solution for node in group.nodes) if programs is not None else ()

    @cached_property
    def directions(self) -> Vector:
        """Tangents of the constants that vary, a row each, a column per parameter."""
        variation = self.variation
        everything = constants_matrix(variation.varied, len(variation.constants))
        return everything[[variation.constants.index(node) for node in variation.moving]]

    @property
    def formulas(self) -> list[Expr]:
        """Everything that the motion follows."""
        return [*self._formulas[0], *self._formulas[1]]

    @cached_property
    def _formulas(self) -> tuple[list[Expr], list[Expr]]:
        """x', and what vanishes."""
        motion, residual = self._formulas_with_conditions
        return substitute(motion, self.conditions), substitute(residual, self.conditions)

    @cached_property
    def _formulas_with_conditions(self) -> tuple[list[Expr], list[Expr]]:
        """The same with conditions as they are."""
        programs, integrands = self.variation.system.programs, self.variation.integrands
        if programs is None:
            # A plain system has formulas for all of x'; a mechanism has them for its rates, and residuals for the rest.
            return [*self.variation.rhs.outputs[0].entries, *integrands], []
        equations = programs.equations
        derivatives = [*equations.rates, *equations.layout.accelerations, *integrands]
        return derivatives, constrained_programs(self.variation).equations_of_motion

    def program(
        self, name: str, formulas: list[Expr], more: tuple[Input, ...] = (), given: tuple[Input, ...] = ()
    ) -> Program:
        """Formulas with their derivatives by everything that they may depend on, a row each; `given` is constant."""
        unknown = tuple(node for group in more for node in group.nodes)
        variables = (*unknown, *self.solution, *self.variation.states, *self.variation.moving, TIME)
        return Program(
            name,
            (*self.inputs, *more, *given),
            (vector("values", formulas), matrix("derivatives", dense_jacobian(formulas, variables))),
        )

    @property
    def inputs(self) -> tuple[Input, ...]:
        programs = self.variation.system.programs
        return (*self.variation.rhs.inputs, *(programs.solution if programs is not None else ()))

    def input_values(self, t: float, y: Vector, solution: Vector) -> dict[str, list[float]]:
        """Values of the inputs."""
        speeds = len(self.variation.states) - self.variation.system.coordinates
        values = {"t": [t], "y": y.tolist(), "p": list(self.variation.system.values)}
        values |= {"a": solution[:speeds].tolist(), "l": solution[speeds:].tolist()}
        return {group.name: values[group.name] for group in self.inputs}

    def split(self, rows: Vector, unknowns: int = 0) -> tuple[Vector, Parts]:
        """Derivatives by the unknowns, and the others."""
        # Columns: [ unknowns | a, l | states | constants that vary | t ], constants then by the parameters of the
        # study.
        ends = np.cumsum([unknowns, len(self.solution), len(self.variation.states), len(self.variation.moving)])
        own, of_solution, by_state, by_constants, by_time = np.split(rows, ends, axis=1)
        return own, Parts(of_solution, by_state, by_constants @ self.directions, by_time[:, 0])

    @cached_property
    def _of_motion(self) -> Evaluator:
        return Evaluator(self.program("motion", self._formulas[0]))

    @cached_property
    def _of_equations(self) -> Evaluator:
        if not self._friction_count:
            return Evaluator(self.program("residual", self._formulas[1]))
        own = constrained_programs(self.variation)
        multipliers = own.programs.multipliers[-self._friction_count :]
        laws = [a - b for a, b in zip(multipliers, own.friction_laws, strict=True)]
        laws = substitute(laws, self.conditions)
        return Evaluator(self.program("residual", [*self._formulas[1], *laws], given=own.friction_inputs))

    @property
    def _friction_count(self) -> int:
        programs = self.variation.system.programs
        return programs.statics["NT"] if programs is not None else 0

    def at(self, t: float, x: Vector, settings: Vector) -> StateDerivative:
        """x' at a state; `settings` are the parameters as the loop takes them, which say what constraints are on."""
        y = x[: len(self.variation.states)]
        solution, of_solution = np.zeros(len(self.solution)), None
        if len(solution):
            equations, unknowns = self._active(settings)
            inputs = self._of_settings(settings)
            for _ in range(ITERATIONS if self._friction_count else 1):
                outputs = self._of_equations({**self.input_values(t, y, solution), **inputs})
                # R = K (a, l) - [f; γ] is linear: its value at (0, 0) and its derivative K = [M Cᵀ; C 0] give the
                # solution at once. Rows and columns of constraints that are off (open contacts, redundant ones) are
                # left out. Only laws of friction may bend, by forces that press to either side.
                stiffness = outputs["derivatives"][np.ix_(equations, unknowns)]
                step = np.linalg.lstsq(stiffness, -outputs["values"][equations], rcond=1e-13)[0]
                solution[unknowns] += step
                if np.abs(step).max(initial=0.0) <= SOLVED * np.abs(solution).max(initial=0.0):
                    break
            rows = self._of_equations({**self.input_values(t, y, solution), **inputs})["derivatives"]
            stiffness = rows[np.ix_(equations, unknowns)]
            _, parts = self.split(rows[equations])
            of_solution = self._solution_derivatives(stiffness, unknowns, parts)
        outputs = self._of_motion(self.input_values(t, y, solution))
        _, parts = self.split(outputs["derivatives"])
        return StateDerivative(outputs["values"], parts.eliminate_solution(of_solution), solution, of_solution)

    def _solution_derivatives(self, stiffness: Vector, unknowns: NDArray[np.int_], parts: Parts) -> Parts:
        """Derivatives of accelerations and multipliers; multipliers of constraints that are off stay zero."""
        # One factorisation for all variables: K (a, l)_v = -R_v.
        wanted = np.column_stack([parts.by_state, parts.by_parameters, parts.by_time])
        full = np.zeros((len(self.solution), wanted.shape[1]))
        full[unknowns] = np.linalg.lstsq(stiffness, -wanted, rcond=1e-13)[0]
        states, columns = parts.by_state.shape[1], parts.by_parameters.shape[1]
        nothing = np.zeros((len(full), 0))
        return Parts(nothing, full[:, :states], full[:, states : states + columns], full[:, -1])

    def _of_settings(self, settings: Vector) -> dict[str, list[float]]:
        """What laws of friction take of the settings."""
        if not self._friction_count:
            return {}
        own = settings_of(self.variation, settings)
        return {"sliding": own.sliding.tolist(), "creep": own.creep.tolist()}

    def _active(self, settings: Vector) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
        """Equations that hold: all of motion, the constraints in force and laws of what slides; and their unknowns."""
        #     unknowns   [ a | multipliers of constraints in force | those of friction that slides ]
        #     equations  [ M a + Cᵀ l = f | C a = γ                | l = law                       ]
        speeds = len(self.variation.states) - self.variation.system.coordinates
        held = np.concatenate([np.arange(speeds), speeds + constraints_in_force(self.variation, settings)])
        if not self._friction_count:
            return held, held
        rows = sliding_rows(self.variation, settings)
        first = len(self.solution)
        return np.concatenate([held, first + rows]), np.concatenate([held, first - self._friction_count + rows])


def settings_of(variation: Variation, settings: Vector) -> Settings:
    """The settings of the solver by their names, from the parameters as the loop takes them."""
    constrained = variation.system.constrained
    assert constrained is not None
    return Settings.bound(constrained.statics).view(settings[len(variation.system.values) :])


def sliding_rows(variation: Variation, settings: Vector) -> NDArray[np.int_]:
    """Numbers, among the rows of friction, of those whose element slides."""
    programs, directions = variation.system.programs, settings_of(variation, settings).sliding
    assert programs is not None
    rows, first = [], 0
    for element in programs.friction:
        own = range(first, first + len(element.rows))
        first += len(element.rows)
        rows += list(own) if any(directions[i] != 0.0 for i in own) else []
    return np.array(rows, dtype=int)


def constraints_in_force(variation: Variation, settings: Vector) -> NDArray[np.int_]:
    """Numbers of the constraints that are neither redundant nor contacts that are open."""
    if variation.system.constrained is None:
        return np.zeros(0, dtype=int)
    return np.flatnonzero(settings_of(variation, settings).sizes > 0.0)
