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
from torseur.analysis.sensitivity.model.preparation import prepare
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.analysis.sensitivity.model.varied_parameters import Requested, Varied
from torseur.analysis.sensitivity.results.sensitivities import Response, Sensitivities
from torseur.analysis.sensitivity.results.verification import agreements
from torseur.computation.linearisation import Steady, steady_motion
from torseur.computation.linearisation.equilibrium import steady_equations
from torseur.computation.simulation.model.criterion import Criterion
from torseur.computation.simulation.model.first_order_form import Model
from torseur.computation.simulation.model.single_state import Evaluator
from torseur.computation.simulation.model.system import System, Vector
from torseur.errors import TorseurError, UnsupportedError, unknown_name

METHODS = ("direct", "adjoint")
ITERATIONS = 50


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
    verify: bool = False,
) -> Sensitivities:
    """How criteria change with parameters in equilibrium, or in a motion whose speeds are constant.

    The state is searched for from the mechanism's initial state with some values replaced by `at`; only the coordinates
    `moving` change in it, and those `fixed` keep their value. For static deflections give loads and stiffnesses.
    """
    if method not in METHODS:
        raise TorseurError(unknown_name("method", method, METHODS))
    ready = prepare(model, parameters, values or {}, at or {}, {}, 0.0)
    bare = Variation(ready.system, ready.varied, np.zeros((len(ready.system.states), len(ready.varied))))
    wanted = [read_criterion(criterion, ready.system) for criterion in as_criteria(criteria)]
    for criterion in wanted:
        if criterion.kind != "value":
            raise TorseurError(f"criterion '{criterion.label}': a steady state has values only, no {criterion.kind}.")
    options = {"moving": moving, "fixed": fixed}
    values_, derivatives = _steady_state(bare, at, **options).criteria(wanted, method)
    responses = [
        Response(c.label, c.unit, "steady", np.zeros(1), values_[k : k + 1], derivatives[k : k + 1])
        for k, c in enumerate(wanted)
    ]
    reason = "one solution per parameter" if method == "direct" else "one solution per criterion"
    if not verify:
        return Sensitivities(ready.system.name, ready.varied, tuple(responses), method, reason)

    def values_after_shift(parameter: Varied, step: float) -> list[Vector]:
        other = replace(bare, system=ready.with_shift(parameter, step).system)
        return [np.array([value]) for value in _steady_state(other, at, **options).criteria(wanted, method)[0]]

    agreement = agreements(ready.varied, responses, values_after_shift)
    return Sensitivities(ready.system.name, ready.varied, tuple(responses), method, reason, agreement=agreement)


def _steady_state(
    bare: Variation, at: Mapping[str, float] | None, moving: Collection[str], fixed: Collection[str]
) -> SteadyState | _Rest:
    """The steady state of a system."""
    system = bare.system
    if system.programs is None:
        return _Rest(bare)
    given = dict(zip([q.name for q in system.parameters], system.values, strict=True))
    steady = steady_motion(system.programs.equations, at, moving=moving, fixed=fixed, parameters=given)
    return SteadyState(bare, steady, tuple(moving), tuple(fixed))


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
        #     [ Cᵀ λ - f (in units of size) | Φ of holonomic constraints | C v + drift | what is fixed: 0 ]
        balance = derivatives[states:, : point.speeds].T / size
        gaps = phi[: point.programs.holonomic]
        parts = [balance, gaps, slip]
        rest = len(by_state) - sum(len(part) for part in parts)
        return by_state, np.vstack([*parts, np.zeros((rest, self.variation.columns))])

    @cached_property
    def tangents(self) -> Vector:
        """ds, a column per parameter."""
        by_state, by_parameters = self.equations
        return np.asarray(np.linalg.lstsq(by_state, -by_parameters, rcond=1e-12)[0])

    @property
    def state_tangents(self) -> Vector:
        """Tangents of (q, v)."""
        n = self.steady.point.speeds
        reach = self.steady.point.kinematics["reach"]
        return np.vstack([reach @ self.tangents[:n], self.tangents[n : 2 * n]])

    def criteria(self, wanted: Sequence[ReadCriterion], method: str) -> tuple[Vector, Vector]:
        """Values and derivatives of the criteria, a row each."""
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
                [np.zeros((n, n)), np.eye(n)],
            ]
        )
        by_all = np.hstack([by_state, outputs["by_multipliers"].reshape(len(formulas), -1)])
        if method == "direct":
            return outputs["values"], by_all @ self.tangents + outputs["by_parameters"]
        derivatives, by_parameters = self.equations
        adjoints = np.linalg.lstsq(derivatives.T, by_all.T, rcond=1e-12)[0]
        return outputs["values"], outputs["by_parameters"] - adjoints.T @ by_parameters


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
        if method == "direct":
            tangents = np.linalg.solve(by_states, -by_parameters)
            return outputs["values"], outputs["by_states"] @ tangents + outputs["by_parameters"]
        adjoints = np.linalg.solve(by_states.T, outputs["by_states"].T)
        return outputs["values"], outputs["by_parameters"] - adjoints.T @ by_parameters


def equilibrium_of(variation: Variation) -> SteadyState:
    """The equilibrium of a mechanism nearest to its initial state."""
    system = variation.system
    if system.programs is None:
        raise TorseurError(f"{system.name}: only mechanisms start from equilibrium.")
    if system.programs.contacts:
        raise UnsupportedError(
            f"{system.name}: contacts may carry an equilibrium, which is not looked for; give initial values."
        )
    given = dict(zip([q.name for q in system.parameters], system.values, strict=True))
    return SteadyState(variation, steady_motion(system.programs.equations, parameters=given))


def equilibrium_start(variation: Variation, initial: Mapping[str, float]) -> tuple[System, Vector]:
    """The system at its equilibrium with some values replaced, and the tangents of that state by the parameters."""
    system, state = variation.system, equilibrium_of(variation)
    y, tangents = state.steady.point.y.copy(), state.state_tangents.copy()
    names = [quantity.name for quantity in system.states]
    if initial and system.constrained is not None:
        raise UnsupportedError(
            f"{system.name} is constrained: start from its equilibrium as it is, without initial values."
        )
    for name, value in initial.items():
        if name not in names:
            raise TorseurError(unknown_name("state", name, names))
        y[names.index(name)], tangents[names.index(name)] = value, 0.0
    return replace(system, initial=tuple(y.tolist())), tangents
