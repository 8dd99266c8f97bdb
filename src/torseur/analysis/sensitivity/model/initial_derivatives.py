"""Tangents of the initial state by the parameters: by formula, through assembly, or through equilibrium."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from torseur.algebra.graph import Expr, as_expr, dense_jacobian, evaluate
from torseur.analysis.sensitivity.method_routines import constrained_programs
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.analysis.sensitivity.model.varied_parameters import Varied, constants_matrix, starts_matrix
from torseur.analysis.sensitivity.results.verification import WEIGHTS
from torseur.computation.simulation.constrained.start.consistent_state import free_speeds
from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.constrained.start.position_assembly import Mask, assemble, free_moves
from torseur.computation.simulation.model.initial_state import initial_state
from torseur.computation.simulation.model.system import System, Vector
from torseur.derivation.equations import Equations
from torseur.derivation.tree import resolve
from torseur.description.mechanism import TIME
from torseur.errors import TorseurError

DIFFERENCE = 1e-3  # of a parameter, for differences of assembled states
ALONE = 1e-8  # part of a violated constraint that may be left when given values keep theirs


def initial_tangents(variation: Variation, given: Mapping[str, float], t: float) -> Vector:
    """Tangents of the initial state, a column per parameter; `given` are values that replace those of the mechanism."""
    system = variation.system
    if system.programs is None:
        return starts_matrix(variation.varied, len(system.states))
    own = _normalise_quaternions(system, prescribed_tangents(variation, given, t))
    own = _with_rates(variation, system.programs.equations, given, own, t)
    return own if system.constrained is None else _assemble(variation, own, given, t)


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


def _normalise_quaternions(system: System, own: Vector) -> Vector:
    """Tangents of quaternions without their part along the quaternion."""
    assert system.programs is not None
    layout, result = system.programs.equations.layout, own.copy()
    for quaternion in system.programs.quaternions:
        slots = [layout.coordinates.index(x) for x in quaternion]
        unit = np.array(system.initial)[slots]
        # d(q / |q|) = (1 - q qᵀ) dq where |q| = 1.
        result[slots] -= np.outer(unit, unit @ own[slots])
    return result


def _assemble(variation: Variation, own: Vector, given: Mapping[str, float], t: float) -> Vector:
    """Tangents with what follows from the constraints: given coordinates and speeds keep theirs."""
    system = variation.system
    constrained = system.constrained
    assert constrained is not None and constrained.numbers is not None
    numbers, y = constrained.numbers, np.array(system.initial)
    derivatives = numbers.of(constrained_programs(variation).level_derivatives, t, y)
    n, columns = len(variation.states), variation.columns
    lasting = permanent_constraints(variation)
    phi, slip = (
        derivatives[name].reshape(n + columns, -1)[:, lasting] for name in ("phi_derivatives", "slip_derivatives")
    )
    given_names = {*given, *constrained.given, *varied_initial_states(variation)}
    result = own.copy()
    holonomic = numbers.programs.holonomic
    free = free_moves(numbers, t, y, given_names)
    if leaves_open(numbers, t, y, free):
        result[: numbers.coordinates] = _by_differences(variation, given, given_names, t)[: numbers.coordinates]
    # Assembly keeps what is given and moves the rest until the constraints hold; differentiated:
    #
    #     Φ_q δq + Φ_p = 0                      moves δπ with δq = N δπ, of what is free
    #     (C v + drift)_q δq + C δv + (…)_p = 0  then speeds, which depend on the positions
    gap = phi[:n].T @ result + phi[n:].T
    rows = numbers.of(numbers.programs.velocities, t, y)["rows"].reshape(-1, len(numbers.scales)) * numbers.scales
    moves = closing_moves(rows[:holonomic], gap[:holonomic], free, np.eye(len(numbers.scales)))
    result[: numbers.coordinates] += derivatives["reach"] @ (moves * numbers.scales[:, None])
    gap = slip[:n].T @ result + slip[n:].T
    metric = np.asarray(np.linalg.cholesky(numbers.metric(t, y, rows)), dtype=float)
    tangents = closing_moves(rows, gap, free_speeds(numbers, t, y, given_names), metric)
    result[numbers.coordinates :] += tangents * numbers.scales[:, None]
    return result


def given_state_tangents(variation: Variation, given: Mapping[str, float], t: float) -> Vector:
    """How much given states change that parameters of the study do not change by themselves (state, parameter)."""
    constrained, states = variation.system.constrained, variation.system.states
    assert constrained is not None
    given_names = {*given, *constrained.given}
    own = prescribed_tangents(variation, given, t)
    size = np.abs(variation.start).max(initial=0.0)
    # Below ALONE the difference is rounding of the assembly, not a given value that moved.
    apart = np.where(np.abs(variation.start - own) > ALONE * size, variation.start - own, 0.0)
    return np.array([row if state.name in given_names else 0.0 * row for state, row in zip(states, apart, strict=True)])


def permanent_constraints(variation: Variation) -> list[int]:
    """Numbers of the constraints that are no contacts."""
    programs = variation.system.programs
    assert programs is not None
    return [k for k, constraint in enumerate(programs.constraints) if constraint not in programs.contacts]


def leaves_open(numbers: StateNumbers, t: float, y: Vector, free: Mask) -> bool:
    """Whether the constraints do not determine all positions that are not given."""
    _, rows = numbers.closure(t, y)
    return bool(np.linalg.matrix_rank(rows[:, free], tol=1e-9) < int(free.sum())) if len(rows) else False


def _by_differences(variation: Variation, given: Mapping[str, float], given_names: Collection[str], t: float) -> Vector:
    """Tangents of an assembled state that nearness to a guess completes: what assembly finds, differenced.

    No equation determines what is left open, so that it cannot be differentiated through one.
    """
    constrained, system = variation.system.constrained, variation.system
    assert constrained is not None and constrained.numbers is not None
    numbers, names = constrained.numbers, [quantity.name for quantity in system.parameters]

    def state_after_shift(parameter: Varied, step: float) -> Vector:
        values = np.array(system.values)
        for slot, weight in parameter.constants:
            values[slot] += weight * step
        guess = np.array(initial_state(numbers.equations, dict(zip(names, values.tolist(), strict=True)), given))
        for slot, weight in parameter.starts:
            guess[slot] += weight * step
        return assemble(replace(numbers, parameters=values), t, guess, given_names).y

    columns = []
    for parameter in variation.varied:
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


def closing_moves(rows: Vector, gap: Vector, free: Mask, metric: Vector) -> Vector:
    """The smallest moves of what is free that close the gaps; of everything where that is not enough."""
    total = np.zeros((rows.shape[1], gap.shape[1]))
    if not len(rows):
        return total
    size = max(np.abs(gap).max(initial=0.0), 1e-300)
    # What is given keeps its value where the rest can close the gaps; where it cannot, everything moves by the least.
    for chosen in (free, np.ones(rows.shape[1], dtype=bool)):
        # metric is a Cholesky factor L: the least |Lᵀ m| with rows m = -gap is the least-norm solution n of (rows L⁻ᵀ)
        # n = -gap, with m = L⁻ᵀ n.
        part = np.linalg.solve(metric[np.ix_(chosen, chosen)], rows[:, chosen].T).T if chosen.any() else rows[:, chosen]
        answer = np.linalg.lstsq(part, -gap, rcond=1e-11)[0]
        move = np.zeros_like(total)
        move[chosen] = np.linalg.solve(metric[np.ix_(chosen, chosen)].T, answer)
        if np.abs(rows @ move + gap).max(initial=0.0) <= ALONE * size:
            return move
    raise TorseurError("the initial state cannot follow its parameters: the constraints contradict each other there.")
