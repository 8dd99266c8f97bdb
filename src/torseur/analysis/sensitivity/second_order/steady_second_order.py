"""Second derivatives of steady states: F_s s'' + (F differentiated twice along s' and p') = 0."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.algebra.graph import Expr, Input, Program, as_expr, matrix, substitute
from torseur.analysis.sensitivity.model.motion_derivatives import MotionDerivatives
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.analysis.sensitivity.second_order.initial_second_order import Twice
from torseur.analysis.sensitivity.steady.steady_states import SteadyState, equilibrium_of
from torseur.computation.simulation.model.single_state import Evaluator
from torseur.computation.simulation.model.system import Vector


def equilibrium_curvature(variation: Variation, replaced: Collection[str]) -> Vector:
    """Of the equilibrium by the parameters (state, parameter, parameter); states replaced there do not vary."""
    second = SteadyCurvature(equilibrium_of(variation)).second
    names = [quantity.name for quantity in variation.system.states]
    second[[names.index(name) for name in replaced]] = 0.0
    return second


@dataclass(frozen=True, eq=False)
class SteadyCurvature:
    """A steady state of a mechanism, differentiated twice: `second` has (state, parameter, parameter)."""

    state: SteadyState

    @property
    def _variation(self) -> Variation:
        return self.state.variation

    @cached_property
    def _formulas(self) -> list[Expr]:
        """Balance of forces without accelerations, the constraints on positions and on velocities, rates of states."""
        programs, layout = self.state.programs, self.state.steady.point.equations.layout
        still = {node: as_expr(0) for node in layout.accelerations}
        balance = substitute(programs.equations_of_motion[: len(layout.speeds)], still)
        phi, slip = programs.levels
        rates = programs.programs.equations.rates[len(layout.joint_coordinates) :]
        return [*balance, *phi[: programs.programs.holonomic], *slip, *rates]

    @property
    def _inputs(self) -> tuple[Input, ...]:
        return (*self._variation.rhs.inputs, self.state.programs.programs.solution[1])

    @cached_property
    def _input_values(self) -> dict[str, list[float]]:
        steady, values = self.state.steady, list(self._variation.system.values)
        all_values = {"t": [0.0], "y": steady.point.y.tolist(), "p": values, "l": steady.multipliers.tolist()}
        return {group.name: all_values[group.name] for group in self._inputs}

    @cached_property
    def _by_states(self) -> Vector:
        rows = matrix("rows", self._variation.by_states(self._formulas))
        return Evaluator(Program("by_states", self._inputs, (rows,)))(self._input_values)["rows"]

    @cached_property
    def _along(self) -> list[Vector]:
        """Tangents of states, constants and multipliers with each parameter."""
        state, constants = self.state, MotionDerivatives(self._variation).directions
        multipliers = state.tangents[state.steady.point.moves + state.steady.point.speeds :]
        return list(np.vstack([state.state_tangents, constants, multipliers]).T)

    @property
    def second(self) -> Vector:
        variation, (by_state, size) = self._variation, self.state.derivatives
        point = self.state.steady.point
        n, speeds, moves = point.numbers.coordinates, point.speeds, point.moves
        twice = Twice(variation, self._formulas, self.state.programs.programs.multipliers, self._inputs)
        # The rows of F_s have their forces in units of `size` (see steady_equations).
        constraints = len(self._formulas) - moves
        scale = np.concatenate([[1.0 / size] * speeds, [1.0] * constraints, self.state.units_of_state_rates])
        total = np.zeros((len(variation.states), variation.columns, variation.columns))
        for j in range(variation.columns):
            for k in range(j + 1):
                # Moves along the speeds cannot lengthen a quaternion, but its second derivative has a part along it;
                # that part is known and goes to the right-hand side.
                own = self._along_quaternions(j, k)
                gap = np.zeros(len(by_state))
                gap[: len(scale)] = scale * (
                    twice.along(self._input_values, self._along[j], self._along[k]) + self._by_states @ own
                )
                s = np.linalg.lstsq(by_state, -gap, rcond=1e-12)[0]
                own[:n] += point.kinematics["reach"] @ s[:moves]
                own[n:] += s[moves : moves + speeds]
                total[:, j, k] = total[:, k, j] = own
        return total

    def _along_quaternions(self, j: int, k: int) -> Vector:
        """What keeps quaternions at length one: q · q'' = -q' · q'."""
        point, tangents = self.state.steady.point, self.state.state_tangents
        own = np.zeros(len(self._variation.states))
        for quaternion in point.programs.quaternions:
            slots = [point.equations.layout.coordinates.index(x) for x in quaternion]
            own[slots] = -(tangents[slots, j] @ tangents[slots, k]) * point.y[slots]
        return own
