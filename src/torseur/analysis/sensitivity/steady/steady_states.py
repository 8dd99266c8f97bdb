"""Sensitivities of states that do not change: equilibria, steady motions, and static deflections K u = f.

A steady state s solves F(s, p) = 0, so F_s ds = -F_p. Directly, ds is solved for once per parameter and dg = g_s ds +
g_p; by the adjoint, F_sᵀ l = g_sᵀ once per criterion and dg = g_p - lᵀ F_p.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.algebra.graph import Expr, Program, matrix, vector
from torseur.analysis.sensitivity.constrained.constrained_programs import ConstrainedPrograms
from torseur.analysis.sensitivity.criteria.criteria import ReadCriterion, as_criteria, read_criterion
from torseur.analysis.sensitivity.method_routines import constrained_programs
from torseur.analysis.sensitivity.model.initial_derivatives import initial_tangents
from torseur.analysis.sensitivity.model.preparation import Prepared, prepare
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.analysis.sensitivity.model.varied_parameters import Requested, Varied
from torseur.analysis.sensitivity.results.sensitivities import Response, Sensitivities
from torseur.analysis.sensitivity.results.verification import verify as verify_result
from torseur.computation.linearisation import Steady, steady_motion
from torseur.computation.linearisation.equilibrium import moving_speeds, standing_coordinates, steady_equations
from torseur.computation.simulation.model.criterion import Criterion
from torseur.computation.simulation.model.first_order_form import Model
from torseur.computation.simulation.model.single_state import Evaluator
from torseur.computation.simulation.model.system import System, Vector
from torseur.errors import TorseurError, UnsupportedError, unknown_name

METHODS = ("direct", "adjoint")
ITERATIONS = 50
PRECISION = 1e-8  # of steady states, and of what is observed in them


def steady_sensitivity(
    model: Model,
    criteria: str | Criterion | Sequence[str | Criterion],
    parameters: Requested | None = None,
    *,
    at: Mapping[str, float] | None = None,
    moving: Collection[str] = (),
    fixed: Collection[str] = (),
    values: Mapping[str, float] | None = None,
    method: str = "direct",
    verify: bool | None = None,
) -> Sensitivities:
    """How criteria change with parameters in equilibrium, or in a motion whose speeds are constant.

    The state is searched for from the mechanism's initial state with some values replaced by `at`; only the coordinates
    `moving` change in it, and those `fixed`, coordinates or speeds, keep their value there, which may be a formula of
    the parameters. For static deflections give loads and stiffnesses. `verify` as for `sensitivity`, by further states.
    """
    if method not in METHODS:
        raise TorseurError(unknown_name("method", method, METHODS))
    ready = prepare(model, parameters, values or {}, at or {}, {}, 0.0)
    wanted = [read_criterion(criterion, ready.system) for criterion in as_criteria(criteria)]
    for criterion in wanted:
        if criterion.kind != "value":
            raise TorseurError(f"criterion '{criterion.label}': a steady state has values only, no {criterion.kind}.")
    state = steady_state(ready, moving, fixed)
    values_, derivatives = state.criteria(wanted, method)
    responses = [
        Response(c.label, c.unit, "steady", np.zeros(1), values_[[k]], derivatives[[k]], magnitude=size)
        for k, (c, size) in enumerate(zip(wanted, state.magnitudes(wanted), strict=True))
    ]
    reason = "one solution per parameter" if method == "direct" else "one solution per criterion"
    result = Sensitivities(ready.system.name, ready.varied, tuple(responses), method, reason)

    def values_after_shift(parameter: Varied, step: float, tightly: bool) -> list[Vector]:
        shifted = steady_state(ready.with_shift(parameter, step), moving, fixed)
        return [np.array([value]) for value in shifted.criteria(wanted, method)[0]]

    return verify_result(result, values_after_shift, PRECISION, verify)


def steady_state(ready: Prepared, moving: Collection[str], fixed: Collection[str]) -> SteadyState | _Rest:
    """The steady state of a system, with everything that varies in it."""
    system, varied = ready.system, ready.varied
    bare = Variation(system, varied, np.zeros((len(system.states), len(varied))))
    if system.programs is None:
        return _Rest(bare)
    given = dict(zip([q.name for q in system.parameters], system.values, strict=True))
    steady = steady_motion(system.programs.equations, ready.initial, moving=moving, fixed=fixed, parameters=given)
    # The search starts where a motion would: what is fixed keeps its value there.
    variation = replace(bare, start=initial_tangents(bare, ready.initial, 0.0))
    return SteadyState(variation, steady, tuple(moving), tuple(fixed))


@dataclass(frozen=True, eq=False)
class SteadyState:
    """A steady state of a mechanism: s = (moves along the speeds, speeds, multipliers)."""

    variation: Variation
    steady: Steady
    moving: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()

    @cached_property
    def programs(self) -> ConstrainedPrograms:
        return constrained_programs(self.variation)

    @cached_property
    def derivatives(self) -> tuple[Vector, float]:
        """F_s, and the unit in which forces stand in F."""
        return steady_equations(self.steady, self.moving, self.fixed)

    @cached_property
    def equations(self) -> tuple[Vector, Vector]:
        """F_s and F_p."""
        by_state, size = self.derivatives
        point, states = self.steady.point, len(self.variation.states)
        derivatives = point.numbers.of(
            self.programs.equation_derivatives, 0.0, point.y, a=np.zeros(point.speeds), l=self.steady.multipliers
        )["equation_derivatives"].reshape(states + self.variation.columns, -1)
        levels = point.numbers.of(self.programs.level_derivatives, 0.0, point.y)
        phi = levels["phi_derivatives"].reshape(states + self.variation.columns, -1)[states:].T
        slip = levels["slip_derivatives"].reshape(states + self.variation.columns, -1)[states:].T
        # Rows of F, and so of F_p, as steady_equations stacks them:
        #
        #     [ Cᵀ λ - f (in units of size) | Φ (holonomic) | C v + drift | z' | standing q' | s - s_start, fixed ]
        balance = derivatives[states:, : point.speeds].T / size
        gaps = phi[: point.programs.holonomic]
        # How the speeds of a joint give its rates is no matter of parameters.
        standing = np.zeros((len(standing_coordinates(point, self.moving)), self.variation.columns))
        parts = [balance, gaps, slip, self._state_rates, standing]
        kept = by_state[sum(len(part) for part in parts) :]
        return by_state, np.vstack([*parts, -kept @ self.start_tangents])

    @property
    def _state_rates(self) -> Vector:
        """Derivatives by the parameters of the rates of states beyond mechanics, in the units of F."""
        point, states = self.steady.point, len(self.variation.states)
        if point.moves == point.speeds:
            return np.zeros((0, self.variation.columns))
        derivatives = point.numbers.of(
            self.programs.state_rate_derivatives, 0.0, point.y, a=np.zeros(point.speeds), l=self.steady.multipliers
        )["state_rate_derivatives"].reshape(states + self.variation.columns, -1)
        return np.asarray(derivatives[states:].T * self.units_of_state_rates[:, None])

    @property
    def units_of_state_rates(self) -> Vector:
        """What rates of states beyond mechanics are multiplied by in F: 0 for those that may go on changing."""
        point = self.steady.point
        is_held = ~np.isin(np.arange(point.speeds, point.moves), moving_speeds(point, self.moving))
        return np.asarray(is_held / point.move_scales[point.speeds :])

    @cached_property
    def start_tangents(self) -> Vector:
        """Tangents of the state that the search starts from, as those of s: what does not move starts at rest."""
        point, start = self.steady.point, self.variation.start
        moves = np.linalg.lstsq(point.kinematics["reach"], start[: point.numbers.coordinates], rcond=1e-12)[0]
        moving = np.isin(np.arange(point.speeds), moving_speeds(point, self.moving))
        speeds = np.where(moving[:, None], start[point.numbers.coordinates :], 0.0)
        return np.vstack([moves, speeds, np.zeros((len(self.steady.multipliers), self.variation.columns))])

    @cached_property
    def gaps(self) -> Vector:
        """What is left of F along the tangents of the start."""
        by_state, by_parameters = self.equations
        return np.asarray(by_parameters + by_state @ self.start_tangents)

    @cached_property
    def tangents(self) -> Vector:
        """ds, a column per parameter."""
        # The shortest way from the start's tangents: what no equation decides stays with the start, as in the search.
        return np.asarray(self.start_tangents - np.linalg.lstsq(self.equations[0], self.gaps, rcond=1e-12)[0])

    @property
    def state_tangents(self) -> Vector:
        """Tangents of (q, v)."""
        moves, n = self.steady.point.moves, self.steady.point.speeds
        reach = self.steady.point.kinematics["reach"]
        return np.vstack([reach @ self.tangents[:moves], self.tangents[moves : moves + n]])

    def criteria(self, wanted: Sequence[ReadCriterion], method: str) -> tuple[Vector, Vector]:
        """Values and derivatives of the criteria, a row each."""
        values, by_all, by_parameters = self._observe(wanted)
        if method == "direct":
            return values, by_all @ self.tangents + by_parameters
        adjoints = np.linalg.lstsq(self.equations[0].T, by_all.T, rcond=1e-12)[0]
        return values, by_parameters + by_all @ self.start_tangents - adjoints.T @ self.gaps

    def magnitudes(self, wanted: Sequence[ReadCriterion]) -> list[float]:
        """What moves by the size of the mechanism, and speeds of that size per second, make of the criteria."""
        scales = np.concatenate([self.steady.point.move_scales, self.steady.point.numbers.scales])
        by_state = self._observe(wanted)[1][:, : len(scales)]
        return [float(x) for x in np.abs(by_state) @ scales]

    def _observe(self, wanted: Sequence[ReadCriterion]) -> tuple[Vector, Vector, Vector]:
        """Values of criteria, and their derivatives by s and by the parameters, a row each."""
        point, n = self.steady.point, self.steady.point.speeds
        formulas = [criterion.formula for criterion in wanted]
        program = self.programs.formula_derivatives(formulas)
        outputs = point.numbers.of(program, 0.0, point.y, a=np.zeros(n), l=self.steady.multipliers)
        # Criteria are formulas of (q, v, λ), unknowns are s = (δπ, v, λ) with δq = N δπ:
        #
        #     g_s = [ g_q  g_v | g_λ ]  with  [N 0; 0 1]  on the left part
        by_state = outputs["by_states"] @ np.block(
            [
                [point.kinematics["reach"], np.zeros((point.numbers.coordinates, n))],
                [np.zeros((n, point.moves)), np.eye(n)],
            ]
        )
        by_all = np.hstack([by_state, outputs["by_multipliers"].reshape(len(formulas), -1)])
        return outputs["values"], by_all, outputs["by_parameters"]


@dataclass(frozen=True, eq=False)
class _Rest:
    """A state of a plain system in which nothing changes: f(y, p) = 0."""

    variation: Variation

    @cached_property
    def state(self) -> Vector:
        y = np.array(self.variation.system.initial)
        for _ in range(ITERATIONS):
            outputs = self._at(y, ())
            step = np.linalg.lstsq(outputs["rhs_by_states"], -outputs["rhs"], rcond=1e-13)[0]
            y = y + step
            if np.abs(step).max() <= 1e-13 * (1.0 + np.abs(y).max()):
                return np.asarray(y)
        raise TorseurError(f"{self.variation.system.name}: no steady state was found from its initial state.")

    def _at(self, y: Vector, formulas: Sequence[Expr]) -> dict[str, Vector]:
        variation = self.variation
        rhs = list(variation.rhs.outputs[0].entries)
        outputs = (
            vector("rhs", rhs),
            matrix("rhs_by_states", variation.by_states(rhs)),
            matrix("rhs_by_parameters", variation.by_parameters(rhs)),
            vector("values", list(formulas)),
            matrix("by_states", variation.by_states(formulas)),
            matrix("by_parameters", variation.by_parameters(formulas)),
        )
        program = Program("steady", variation.rhs.inputs, outputs)
        given = {"t": [0.0], "y": y.tolist(), "p": list(variation.system.values)}
        return Evaluator(program)({group.name: given[group.name] for group in program.inputs})

    def criteria(self, wanted: Sequence[ReadCriterion], method: str) -> tuple[Vector, Vector]:
        """Values and derivatives of the criteria, a row each."""
        outputs = self._at(self.state, [criterion.formula for criterion in wanted])
        by_states, by_parameters = outputs["rhs_by_states"], outputs["rhs_by_parameters"]
        if np.linalg.matrix_rank(by_states) < len(by_states):
            raise TorseurError(
                f"{self.variation.system.name}: its steady state is not isolated: others lie arbitrarily near it."
            )
        if method == "direct":
            tangents = np.linalg.solve(by_states, -by_parameters)
            return outputs["values"], outputs["by_states"] @ tangents + outputs["by_parameters"]
        adjoints = np.linalg.solve(by_states.T, outputs["by_states"].T)
        return outputs["values"], outputs["by_parameters"] - adjoints.T @ by_parameters

    def magnitudes(self, wanted: Sequence[ReadCriterion]) -> list[float]:
        """What changes of the states by their size make of the criteria."""
        by_states = self._at(self.state, [criterion.formula for criterion in wanted])["by_states"]
        return [float(x) for x in np.abs(by_states) @ self.variation.system.state_scales(self.state)]


def equilibrium_of(variation: Variation) -> SteadyState:
    """The equilibrium of a mechanism nearest to its initial state."""
    system = variation.system
    if system.programs is None:
        raise TorseurError(f"{system.name}: only the motion of a mechanism can start from an equilibrium.")
    if system.programs.contacts or system.programs.friction:
        raise UnsupportedError(
            f"{system.name}: an equilibrium that rests on contacts cannot be computed. Give initial values instead."
        )
    given = dict(zip([q.name for q in system.parameters], system.values, strict=True))
    start = initial_tangents(replace(variation, integrands=()), {}, 0.0)
    return SteadyState(replace(variation, start=start), steady_motion(system.programs.equations, parameters=given))


def equilibrium_start(variation: Variation, initial: Mapping[str, float]) -> tuple[System, Vector]:
    """The system at its equilibrium with some values replaced, and the tangents of that state by the parameters."""
    system, state = variation.system, equilibrium_of(variation)
    y, tangents = state.steady.point.y.copy(), state.state_tangents.copy()
    names = [quantity.name for quantity in system.states]
    if initial and system.constrained is not None:
        raise UnsupportedError(
            f"{system.name} is constrained, so its equilibrium cannot be combined with initial values. Leave them out."
        )
    for name, value in initial.items():
        if name not in names:
            raise TorseurError(unknown_name("state", name, names))
        y[names.index(name)], tangents[names.index(name)] = value, 0.0
    return replace(system, initial=tuple(y.tolist())), tangents
