"""Second derivatives of the initial state by the parameters: of its formulas, and through what follows from them.

Wherever h(y, p) = 0 determines a part of the initial state, h_y y'' + (h differentiated twice along y' and p') = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.algebra.graph import (
    Expr,
    Input,
    Program,
    as_expr,
    directional_derivative,
    matrix,
    substitute,
    symbol,
    vector,
)
from torseur.analysis.sensitivity.method_routines import constrained_programs
from torseur.analysis.sensitivity.model.initial_derivatives import (
    StartProjection,
    given_rates,
    given_state_tangents,
    initial_formulas,
    initial_tangents,
    prescribed_tangents,
    quaternion_parts,
)
from torseur.analysis.sensitivity.model.motion_derivatives import MotionDerivatives
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.computation.simulation.model.single_state import Evaluator
from torseur.computation.simulation.model.system import Vector
from torseur.errors import UnsupportedError


@dataclass(frozen=True, eq=False)
class Twice:
    """Formulas differentiated twice, along tangents of the states, of the constants that vary, and of others."""

    variation: Variation
    formulas: Sequence[Expr]
    others: tuple[Expr, ...] = ()
    inputs: tuple[Input, ...] = ()

    @cached_property
    def _evaluator(self) -> Evaluator:
        variables = (*self.variation.states, *self.variation.moving, *self.others)
        marks = [tuple(symbol(f"direction {k}, {i}") for i in range(len(variables))) for k in (1, 2)]
        second = list(self.formulas)
        for mark in marks:
            second = directional_derivative(second, dict(zip(variables, mark, strict=True)))
        along = (Input("d1", marks[0]), Input("d2", marks[1]))
        inputs = (*(self.inputs or self.variation.rhs.inputs), *along)
        return Evaluator(Program("twice", inputs, (vector("second", second),)))

    def along(self, bound: dict[str, list[float]], first: Vector, second: Vector) -> Vector:
        """The second derivatives along two directions."""
        return self._evaluator({**bound, "d1": first.tolist(), "d2": second.tolist()})["second"]


@dataclass(frozen=True, eq=False)
class InitialCurvature:
    """The initial state of a mechanism, differentiated twice: `second` has (state, parameter, parameter)."""

    variation: Variation
    given: Mapping[str, float]
    t: float

    @cached_property
    def second(self) -> Vector:
        total = self._with_rates(self._normalise_quaternions(self._of_formulas()))
        return total if self.variation.system.constrained is None else self._assemble(total)

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return [(j, k) for j in range(self.variation.columns) for k in range(j + 1)]

    def _along(self, j: int, k: int) -> tuple[Vector, Vector]:
        return self._directions[j], self._directions[k]

    @cached_property
    def _directions(self) -> list[Vector]:
        """Tangents of the states and of the constants that vary, one vector per parameter."""
        constants, start = MotionDerivatives(self.variation).directions, self.variation.start
        return [np.concatenate([start[:, k], constants[:, k]]) for k in range(self.variation.columns)]

    @cached_property
    def _input_values(self) -> dict[str, list[float]]:
        system = self.variation.system
        values = {"t": [self.t], "y": list(system.initial), "p": list(system.values)}
        return {group.name: values[group.name] for group in self.variation.rhs.inputs}

    def _of_formulas(self) -> Vector:
        """Second derivatives of the states that the mechanism gives by formulas."""
        assert self.variation.system.programs is not None
        equations, columns = self.variation.system.programs.equations, self.variation.columns
        names = [quantity.name for quantity in self.variation.system.states]
        formulas = {n: e for n, e in initial_formulas(equations, self.given).items() if n in names}
        total = np.zeros((len(names), columns, columns))
        twice = Twice(self.variation, list(formulas.values()))
        slots = [names.index(name) for name in formulas]
        for j, k in self._pairs if slots else ():
            total[slots, j, k] = total[slots, k, j] = twice.along(self._input_values, *self._along(j, k))
        return total

    def _normalise_quaternions(self, total: Vector) -> Vector:
        """The same with quaternions brought to length one."""
        result, y = total.copy(), np.array(self.variation.system.initial)
        raw = prescribed_tangents(self.variation, self.given, self.t)
        settled = initial_tangents(self.variation, self.given, self.t, with_constraints=False)
        for slots, rest in quaternion_parts(self.variation, self.given):
            if rest == slots:
                result[slots] = _of_unit(y[slots], raw[slots], total[slots])
            else:
                _keep_unit(result, slots, rest, y, settled)
        return result

    def _with_rates(self, total: Vector) -> Vector:
        """The same with speeds that follow from given rates of coordinates."""
        formulas, free = given_rates(self.variation, self.given)
        if not formulas:
            return total
        twice, result = Twice(self.variation, formulas), total.copy()
        derivatives = self._derivatives(formulas)
        for j, k in self._pairs:
            gap = derivatives @ result[:, j, k] + twice.along(self._input_values, *self._along(j, k))
            result[free, j, k] -= np.linalg.lstsq(derivatives[:, free], gap, rcond=None)[0]
            result[free, k, j] = result[free, j, k]
        return result

    def _derivatives(self, formulas: Sequence[Expr]) -> Vector:
        program = Program("by_states", self.variation.rhs.inputs, (matrix("rows", self.variation.by_states(formulas)),))
        return Evaluator(program)(self._input_values)["rows"]

    def _assemble(self, total: Vector) -> Vector:
        """The same with what follows from the constraints."""
        variation, start = self.variation, StartProjection(self.variation, self.given, self.t)
        if start.is_open and np.any(variation.start):
            raise UnsupportedError(
                f"{variation.system.name}: second order needs a start that its constraints determine; nearness to a "
                "guess, which completes this one, has no second derivative. Give more coordinates."
            )
        if start.holds_rates:
            raise UnsupportedError(
                f"{variation.system.name}: second order under constraints needs a start by speeds, and rates are given "
                "that are none. Give the declared speeds."
            )
        moved = np.flatnonzero(np.any(given_state_tangents(variation, self.given, self.t), axis=1))
        if len(moved):
            raise UnsupportedError(
                f"{variation.system.name}: second order needs initial values that may stay as parameters change, and "
                f"'{variation.system.states[moved[0]].name}' cannot. Give fewer of them, or formulas."
            )
        n, (phi, slip, _) = len(variation.states), start.levels
        levels = [[formulas[k] for k in start.lasting] for formulas in constrained_programs(variation).levels]
        of_phi, of_slip = (Twice(variation, formulas) for formulas in levels)
        result, count = total.copy(), start.numbers.coordinates
        # Moves that close the constraints are along the tangents of unit quaternions, which bend away from them.
        for slots, rest in quaternion_parts(variation, self.given):
            _keep_unit(result, slots, rest, start.y, variation.start)
        of_force, directions = self._forces(start), self._force_directions(start)
        values = {**self._input_values, "a": (start.change * start.numbers.scales).tolist()}
        values = {group.name: values.get(group.name, start.multipliers.tolist()) for group in of_force.inputs}
        for j, k in self._pairs:
            # h_y y'' + (h twice along y' and p') = 0 for positions, then for speeds, as the first derivatives were
            # found (initial_derivatives.py), or y'' would belong to another start than y'.
            gap = phi[:, :n] @ result[:, j, k] + of_phi.along(self._input_values, *self._along(j, k))
            result[:count, j, k] += start.moves(gap[:, None])[:, 0]
            gap = slip[:, :n] @ result[:, j, k] + of_slip.along(self._input_values, *self._along(j, k))
            force = of_force.along(values, directions[j], directions[k]) * start.numbers.scales
            force = force + start.force_derivatives[:, :count] @ result[:count, j, k]
            result[count:, j, k] += start.speed_changes(gap[:, None], force[:, None])[0][:, 0]
            result[:, k, j] = result[:, j, k]
        return result

    def _forces(self, start: StartProjection) -> Twice:
        """M c + Cᵀ μ, with symbols of accelerations for c and of multipliers for μ."""
        programs = start.programs
        solution = tuple(node for group in programs.solution for node in group.nodes)
        residual = programs.residuals[: len(start.numbers.scales)]
        still = substitute(residual, dict.fromkeys(solution, as_expr(0)))
        formulas = [a - b for a, b in zip(residual, still, strict=True)]
        return Twice(self.variation, formulas, solution, (*self.variation.rhs.inputs, *programs.solution))

    def _force_directions(self, start: StartProjection) -> list[Vector]:
        """Tangents of the states, of the constants that vary, of c and of μ, one vector per parameter."""
        variation, n, count = self.variation, len(self.variation.states), start.numbers.coordinates
        _, slip, _ = start.levels
        # Speeds as they were given: c is what the start adds to them.
        given = initial_tangents(variation, self.given, self.t, with_constraints=False)
        before = np.vstack([variation.start[:count], given[count:]])
        of_force = start.force_derivatives
        force = of_force[:, :count] @ before[:count] + of_force[:, n:]
        changes, multipliers = start.speed_changes(slip[:, :n] @ before + slip[:, n:], force)
        own = np.array(self._directions).T
        return list(np.vstack([own, changes, multipliers]).T)


def _keep_unit(second: Vector, slots: list[int], rest: list[int], y: Vector, first: Vector) -> None:
    """Brings the second derivatives of a unit quaternion to q·q'' + q'·q' = 0, which the rest r meets along itself."""
    gap = np.einsum("i,ijk->jk", y[slots], second[slots]) + first[slots].T @ first[slots]
    second[rest] -= np.multiply.outer(y[rest] / (y[rest] @ y[rest]), gap)


def _of_unit(unit: Vector, first: Vector, second: Vector) -> Vector:
    """Second derivatives of q / |q| where |q| = 1, from those of q."""
    # For n = q / |q| at |q| = 1, with q' (first) and q'' (second):
    #
    #     |q|' = q · q',   |q|'' = q' · q' + q · q'' - (q · q')²
    #     n'' = q'' - q' |q|' - |q|' q' + q (2 |q|' |q|' - |q|'')
    along = unit @ first
    length = first.T @ first + np.tensordot(unit, second, axes=1) - np.outer(along, along)
    mixed = np.einsum("ij,k->ijk", first, along)
    turned = np.tensordot(unit, 2.0 * np.outer(along, along) - length, axes=0)
    return np.asarray(second - mixed - mixed.transpose(0, 2, 1) + turned)
