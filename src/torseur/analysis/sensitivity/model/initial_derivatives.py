"""Tangents of the initial state by the parameters: by formula, through assembly, or through equilibrium."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.algebra.graph import Expr, as_expr, dense_jacobian, evaluate
from torseur.analysis.sensitivity.method_routines import constrained_programs
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.analysis.sensitivity.model.varied_parameters import Varied, constants_matrix, starts_matrix
from torseur.analysis.sensitivity.results.verification import WEIGHTS
from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.constrained.start.initial_speeds import (
    free_speeds,
    held_rates,
    moving_state,
)
from torseur.computation.simulation.constrained.start.position_assembly import Mask, assemble, free_directions
from torseur.computation.simulation.constrained.start.start_account import Consistent
from torseur.computation.simulation.model.initial_state import initial_state, quaternion_slots, stated_values
from torseur.computation.simulation.model.motion_programs import MechanismPrograms
from torseur.computation.simulation.model.system import System, Vector
from torseur.derivation.equations import Equations
from torseur.derivation.tree import resolve
from torseur.description.mechanism import TIME
from torseur.errors import TorseurError

DIFFERENCE = 1e-3  # of a parameter, for differences of assembled states
RANK = 1e-11  # part of the largest singular value below which a constraint says nothing new
ALONE = 1e-8  # part of a violated constraint that may be left when given values keep theirs


def initial_tangents(
    variation: Variation, given: Mapping[str, float], t: float, with_constraints: bool = True
) -> Vector:
    """Tangents of the initial state, a column per parameter; `given` are values that replace those of the mechanism."""
    system = variation.system
    if system.programs is None:
        return starts_matrix(variation.varied, len(system.states))
    own = _normalise_quaternions(variation, given, prescribed_tangents(variation, given, t))
    own = _with_rates(variation, system.programs.equations, given, own, t)
    return _assemble(variation, own, given, t) if with_constraints and system.constrained is not None else own


def values_at_start(system: System, equations: Equations, t: float) -> dict[Expr, float]:
    layout = equations.layout
    symbols = (*layout.parameters, *layout.coordinates, *layout.speeds)
    return {**dict(zip(symbols, [*system.values, *system.initial], strict=True)), TIME: t}


def initial_formulas(equations: Equations, given: Collection[str]) -> dict[str, Expr]:
    """Initial values that the mechanism gives by formulas, and nobody replaced."""
    mechanism = equations.mechanism
    kept = [(name, value) for name, value in mechanism.initial if name not in given]
    resolved = resolve(mechanism, equations.tree.definitions, [value for _, value in kept])
    return dict(zip([name for name, _ in kept], resolved, strict=True))


def _by_parameters(variation: Variation, equations: Equations, formulas: Sequence[Expr], t: float) -> Vector:
    """Derivatives of formulas by the parameters of the study, as numbers."""
    layout = equations.layout
    rows = dense_jacobian(list(formulas), layout.parameters)
    flat = evaluate([entry for row in rows for entry in row], values_at_start(variation.system, equations, t))
    numbers = np.array([float(x) for x in flat]).reshape(len(formulas), len(layout.parameters))
    result: Vector = numbers @ constants_matrix(variation.varied, len(layout.parameters))
    return result


def _formula_tangents(variation: Variation, equations: Equations, given: Collection[str], t: float) -> Vector:
    names = [quantity.name for quantity in variation.system.states]
    tangents = np.zeros((len(names), variation.columns))
    formulas = {name: e for name, e in initial_formulas(equations, given).items() if name in names}
    if formulas:
        slots = [names.index(name) for name in formulas]
        tangents[slots] = _by_parameters(variation, equations, list(formulas.values()), t)
    return tangents


def given_rates(variation: Variation, given: Collection[str]) -> tuple[list[Expr], list[int]]:
    """What vanishes because rates of coordinates are given that are no speeds, and the states that follow from it."""
    assert variation.system.programs is not None
    equations = variation.system.programs.equations
    layout = equations.layout
    given_names = {*given, *(name for name, _ in equations.mechanism.initial)}
    rates = [str(rate.name) for rate in layout.rates]
    slots = [k for k, name in enumerate(rates) if name in given_names and name not in layout.speed_names]
    formulas = initial_formulas(equations, given)
    gaps = [equations.rates[k] - formulas.get(rates[k], as_expr(0)) for k in slots]
    return gaps, [len(layout.coordinates) + k for k, name in enumerate(layout.speed_names) if name not in given_names]


def _with_rates(variation: Variation, equations: Equations, given: Collection[str], own: Vector, t: float) -> Vector:
    """Speeds that follow from given rates of coordinates."""
    gaps, free = given_rates(variation, given)
    if not gaps:
        return own
    rows = dense_jacobian(gaps, (*equations.layout.coordinates, *equations.layout.speeds))
    flat = evaluate([e for row in rows for e in row], values_at_start(variation.system, equations, t))
    derivatives = np.array([float(x) for x in flat]).reshape(len(gaps), -1)
    missing = -derivatives @ own - _by_parameters(variation, equations, gaps, t)
    result = own.copy()
    result[free] += np.linalg.lstsq(derivatives[:, free], missing, rcond=None)[0]
    return result


def prescribed_tangents(variation: Variation, given: Collection[str], t: float) -> Vector:
    """Tangents of what is given for the initial state, before anything follows from it."""
    assert variation.system.programs is not None
    of_formulas = _formula_tangents(variation, variation.system.programs.equations, given, t)
    return of_formulas + starts_matrix(variation.varied, len(variation.system.states))


def _normalise_quaternions(variation: Variation, given: Mapping[str, float], own: Vector) -> Vector:
    """Tangents of quaternions that stay of length one: what is exact keeps its own, the rest makes up for it."""
    y, result = np.array(variation.system.initial), own.copy()
    for slots, rest in quaternion_parts(variation, given):
        # |q| = 1 moves by q·dq, which the rest r cancels along itself: dr - r (q·dq) / |r|². Where r is all of q, that
        # is (1 - q qᵀ) dq, the tangent of q / |q|.
        result[rest] -= np.outer(y[rest], y[slots] @ own[slots]) / (y[rest] @ y[rest])
    return result


def quaternion_parts(variation: Variation, given: Mapping[str, float]) -> list[tuple[list[int], list[int]]]:
    """The places of each quaternion, and those of them that bring it to length one: all where all are exact."""
    assert variation.system.programs is not None
    equations, y = variation.system.programs.equations, np.array(variation.system.initial)
    exact = {*stated_values(equations.mechanism, given)[0], *varied_initial_states(variation)}
    names, parts = equations.layout.coordinate_names, []
    for slots in quaternion_slots(equations):
        rest = [slot for slot in slots if names[slot] not in exact]
        parts.append((slots, rest if rest and np.linalg.norm(y[rest]) > 0.0 else slots))
    return parts


@dataclass(frozen=True, eq=False)
class StartProjection:
    """How a start was brought on its constraints: what was free, and the change c of the speeds that were given.

    Speeds v = v0 + c have the least cᵀ M c among those that are free: with multipliers μ

        (M c + Cᵀ μ)_free = 0,    C (v0 + c) + drift = 0

    which is differentiated as it stands: M and C change with positions and parameters.
    """

    variation: Variation
    given: Mapping[str, float]
    t: float

    @cached_property
    def numbers(self) -> StateNumbers:
        constrained = self.variation.system.constrained
        assert constrained is not None and constrained.numbers is not None
        return constrained.numbers

    @property
    def programs(self) -> MechanismPrograms:
        """With contacts, which the start does not know."""
        assert self.variation.system.programs is not None
        return self.variation.system.programs

    @cached_property
    def y(self) -> Vector:
        return np.array(self.variation.system.initial)

    @cached_property
    def given_names(self) -> set[str]:
        assert self.variation.system.constrained is not None
        constrained = self.variation.system.constrained
        exact = {*self.given, *constrained.given} - {*constrained.guesses}
        return exact | varied_initial_states(self.variation)

    @cached_property
    def free_directions(self) -> Vector:
        return free_directions(self.numbers, self.t, self.y, self.given_names)

    @cached_property
    def is_open(self) -> bool:
        """Whether the constraints do not determine all positions that are not given."""
        _, rows = self.numbers.closure(self.t, self.y)
        free = self.free_directions
        return bool(np.linalg.matrix_rank(rows @ free, tol=1e-9) < free.shape[1]) if len(rows) and free.size else False

    @property
    def holds_rates(self) -> bool:
        """Whether rates are given that are no speeds: they say something of several speeds, beside the constraints."""
        return bool(held_rates(self.numbers, self.given_names))

    @cached_property
    def lasting(self) -> list[int]:
        """Numbers of the constraints that are no contacts and no friction."""
        programs = self.programs
        switching = [*programs.contacts, *(row for element in programs.friction for row in element.rows)]
        return [k for k, constraint in enumerate(programs.constraints) if constraint not in switching]

    @cached_property
    def levels(self) -> tuple[Vector, Vector, Vector]:
        """Derivatives of Φ and of C v + drift by states and then parameters, a row per constraint, and N."""
        outputs = self.numbers.of(constrained_programs(self.variation).level_derivatives, self.t, self.y)
        count = len(self.variation.states) + self.variation.columns
        phi, slip = (outputs[f"{name}_derivatives"].reshape(count, -1)[:, self.lasting].T for name in ("phi", "slip"))
        return phi, slip, outputs["reach"]

    @cached_property
    def rows(self) -> Vector:
        """C, by moves in units of the mechanism."""
        numbers = self.numbers
        velocities = numbers.of(numbers.programs.velocities, self.t, self.y)
        return np.asarray(velocities["rows"].reshape(-1, len(numbers.scales)) * numbers.scales)

    @cached_property
    def metric(self) -> Vector:
        return self.numbers.metric(self.t, self.y, self.rows)

    @cached_property
    def change(self) -> Vector:
        """c, in units of the mechanism."""
        system, numbers = self.variation.system, self.numbers
        values = dict(zip([quantity.name for quantity in system.parameters], system.values, strict=True))
        before = np.array(initial_state(numbers.equations, values, self.given))[numbers.coordinates :]
        change = (self.y[numbers.coordinates :] - before) / numbers.scales
        # A speed that is a parameter of the study counts as given where it is.
        varied = [name in varied_initial_states(self.variation) for name in numbers.equations.layout.speed_names]
        return np.where(varied, 0.0, change)

    @cached_property
    def free_speeds(self) -> Mask:
        """Speeds that nobody gives; all, where given ones had to move."""
        free = free_speeds(self.numbers, self.t, self.y, self.given_names)
        moved = np.abs(self.change) > ALONE * max(np.abs(self.y[self.numbers.coordinates :]).max(initial=0.0), 1e-300)
        return np.ones_like(free) if np.any(moved & ~free) else free

    @property
    def has_determined_speeds(self) -> bool:
        """Whether no metric decides the speeds of this start: all follow from constraints, or all are zero."""
        layout, free = self.numbers.equations.layout, free_speeds(self.numbers, self.t, self.y, self.given_names)
        names = {*layout.speed_names, *(str(rate.name) for rate in layout.rates)}
        if names.isdisjoint(self.given_names) and all(c.drift.is_zero for c in self.numbers.programs.constraints):
            return True
        return bool(np.linalg.matrix_rank(self.rows[:, free], tol=1e-9) == int(free.sum()))

    @cached_property
    def multipliers(self) -> Vector:
        """μ of all constraints, 0 of contacts."""
        free, force = self.free_speeds, self.metric @ self.change
        result = np.zeros(len(self.programs.constraints))
        result[self.lasting] = -np.linalg.lstsq(self.rows[:, free].T, force[free], rcond=RANK)[0]
        return result

    @cached_property
    def force_derivatives(self) -> Vector:
        """Derivatives of M c + Cᵀ μ by states and then parameters, at fixed c and μ, a row per speed."""
        numbers, program = self.numbers, constrained_programs(self.variation).equation_derivatives
        count = len(numbers.scales)

        def of(a: Vector, l: Vector) -> Vector:
            outputs = numbers.of(program, self.t, self.y, a=a, l=l)["equation_derivatives"]
            return np.asarray(outputs.reshape(-1, count + len(l))[:, :count].T)

        # r = M a + Cᵀ l - f: what its derivatives have beyond those at a = 0, l = 0 belongs to M and C.
        nothing = of(np.zeros(count), np.zeros_like(self.multipliers))
        derivatives = of(self.change * numbers.scales, self.multipliers) - nothing
        return np.asarray(derivatives * numbers.scales[:, None])

    def moves(self, gap: Vector) -> Vector:
        """Tangents of the coordinates that close gaps of the positions."""
        holonomic, scales = self.numbers.programs.holonomic, self.numbers.scales
        still = np.zeros((len(scales), gap.shape[1]))
        rows, free = self.rows[:holonomic], self.free_directions
        closing = _closing_moves(rows, gap[:holonomic], free, np.eye(len(scales)), still)
        return np.asarray(self.levels[2] @ (closing * scales[:, None]))

    def speed_changes(self, gap: Vector, force: Vector) -> tuple[Vector, Vector]:
        """Tangents of c and of μ, from gaps of the velocities and from what else changes M c + Cᵀ μ."""
        # [ M  Cᵀ ] [δc]     [force]
        # [ C  0  ] [δμ] = - [ gap ]      in the rows and columns of free speeds
        scales, free = self.numbers.scales, self.free_speeds
        changes = _closing_moves(self.rows, gap, np.eye(len(free))[:, free], self.metric, force)
        left = self.metric @ changes + force
        multipliers = np.zeros((len(self.multipliers), gap.shape[1]))
        multipliers[self.lasting] = -np.linalg.lstsq(self.rows[:, free].T, left[free], rcond=RANK)[0]
        return changes * scales[:, None], multipliers


def _assemble(variation: Variation, own: Vector, given: Mapping[str, float], t: float) -> Vector:
    """Tangents with what follows from the constraints: given coordinates and speeds keep theirs."""
    start, n = StartProjection(variation, given, t), len(variation.states)
    phi, slip, _ = start.levels
    result, count = own.copy(), start.numbers.coordinates
    if start.holds_rates:
        return _by_differences(start)
    if start.is_open:
        result[:count] = _by_differences(start)[:count]
    # Assembly keeps what is given and moves the rest until the constraints hold; differentiated:
    #
    #     Φ_q δq + Φ_p = 0                      moves δπ with δq = N δπ, of what is free
    #     (C v + drift)_q δq + C δv + (…)_p = 0  then speeds, which depend on the positions
    result[:count] += start.moves(phi[:, :n] @ result + phi[:, n:])
    of_force = start.force_derivatives
    force = of_force[:, :count] @ result[:count] + of_force[:, n:]
    result[count:] += start.speed_changes(slip[:, :n] @ result + slip[:, n:], force)[0]
    return result


def given_state_tangents(variation: Variation, given: Mapping[str, float], t: float) -> Vector:
    """How much given states change that parameters of the study do not change by themselves (state, parameter)."""
    constrained, states = variation.system.constrained, variation.system.states
    assert constrained is not None
    given_names = {*given, *constrained.given} - {*constrained.guesses}
    own = prescribed_tangents(variation, given, t)
    size = np.abs(variation.start).max(initial=0.0)
    # Below ALONE the difference is rounding of the assembly, not a given value that moved.
    apart = np.where(np.abs(variation.start - own) > ALONE * size, variation.start - own, 0.0)
    return np.array([row if state.name in given_names else 0.0 * row for state, row in zip(states, apart, strict=True)])


def _by_differences(start: StartProjection) -> Vector:
    """Tangents of an assembled state that nearness to a guess completes: what assembly finds, differenced.

    No equation determines what is left open, so that it cannot be differentiated through one. Speeds are differenced
    too where rates are given that are no speeds.
    """
    system, numbers = start.variation.system, start.numbers
    names = [quantity.name for quantity in system.parameters]

    def state_after_shift(parameter: Varied, step: float) -> Vector:
        values = np.array(system.values)
        for slot, weight in parameter.constants:
            values[slot] += weight * step
        guess = np.array(initial_state(numbers.equations, dict(zip(names, values.tolist(), strict=True)), start.given))
        for slot, weight in parameter.starts:
            guess[slot] += weight * step
        shifted = replace(numbers, parameters=values)
        closed = assemble(shifted, start.t, guess, start.given_names)
        if not start.holds_rates:
            return closed.y
        return moving_state(shifted, start.t, Consistent(closed.y), guess, start.given_names).y

    columns = []
    for parameter in start.variation.varied:
        step = DIFFERENCE * parameter.scale
        parts = [
            w * (state_after_shift(parameter, k * step) - state_after_shift(parameter, -k * step)) for k, w in WEIGHTS
        ]
        columns.append(sum(parts, np.zeros(len(system.states))) / (60.0 * step))
    return np.array(columns).T


def varied_initial_states(variation: Variation) -> set[str]:
    """States whose initial value is a parameter of the study."""
    states = variation.system.states
    return {states[slot].name for parameter in variation.varied for slot, _ in parameter.starts}


def _closing_moves(rows: Vector, gap: Vector, free: Vector, metric: Vector, force: Vector) -> Vector:
    """The moves m along the columns of `free` that close the gaps with the least mᵀ M m / 2 + m · force.

    Along all directions, if these cannot.
    """
    total = np.zeros((rows.shape[1], gap.shape[1]))
    if not len(rows):
        return total
    # What is given keeps its value where the rest can close the gaps; where it cannot, everything moves by the least.
    for chosen in (free, np.eye(rows.shape[1])):
        # With M = L Lᵀ, n = Lᵀ m and A = rows L⁻ᵀ, n is the point of A n = -gap nearest to n0 = -L⁻¹ force.
        factor = np.linalg.cholesky(chosen.T @ metric @ chosen)
        part = np.linalg.solve(factor, (rows @ chosen).T).T
        nearest = -np.linalg.solve(factor, chosen.T @ force)
        answer = nearest + np.linalg.lstsq(part, -gap - part @ nearest, rcond=RANK)[0]
        move: Vector = chosen @ np.linalg.solve(factor.T, answer)
        # Gaps are closed to the rounding of what they are the sum of.
        parts = np.abs(np.linalg.solve(factor.T, nearest)).max(initial=0.0)
        size = max(np.abs(gap).max(initial=0.0), np.abs(rows).max() * parts)
        if np.abs(rows @ move + gap).max(initial=0.0) <= ALONE * size:
            return move
    raise TorseurError("the initial state cannot follow its parameters: the constraints contradict each other there.")
