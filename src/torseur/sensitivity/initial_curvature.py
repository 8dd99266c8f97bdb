"""Second derivatives of the initial state by the parameters: of its formulas, and through the assembly of loops."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from torseur.errors import UnsupportedError
from torseur.graph import Expr, Input, Program, dense_jacobian, directional_derivative, evaluate, symbol, vector
from torseur.sensitivity.initial import (
    closing_moves,
    initial_formulas,
    leaves_open,
    started_states,
    values_at_start,
)
from torseur.sensitivity.parameters import constants_matrix
from torseur.sensitivity.routines import constrained_programs
from torseur.sensitivity.variation import Variation
from torseur.simulation.constrained.assembly import free_moves
from torseur.simulation.constrained.consistent import free_speeds
from torseur.simulation.system import Vector


def initial_curvature(variation: Variation, given: Collection[str], t: float, weights: Vector) -> Vector:
    """Second derivatives of the weighted initial state, a row and a column per parameter."""
    states = len(variation.states)
    if variation.system.programs is None:
        return np.zeros((variation.columns, variation.columns))
    second = _of_formulas(variation, given, t)
    if variation.system.constrained is not None:
        second = _assembled(variation, second, given, t)
    return np.asarray(np.tensordot(weights[:states], second, axes=1))


def _of_formulas(variation: Variation, given: Collection[str], t: float) -> Vector:
    """Second derivatives of what the mechanism gives by formulas (state, parameter, parameter)."""
    assert variation.system.programs is not None
    equations = variation.system.programs.equations
    names = [quantity.name for quantity in variation.system.states]
    directions = constants_matrix(variation.varied, len(equations.layout.parameters))
    total = np.zeros((len(names), variation.columns, variation.columns))
    for name, formula in initial_formulas(equations, given).items():
        first = dense_jacobian([formula], equations.layout.parameters)[0]
        rows = dense_jacobian(first, equations.layout.parameters)
        flat = evaluate([e for row in rows for e in row], values_at_start(variation.system, equations, t))
        bent = directions.T @ np.array([float(x) for x in flat]).reshape(len(first), len(first)) @ directions
        if name in names:
            total[names.index(name)] = bent
        elif np.any(bent) or np.any(variation.start):
            raise UnsupportedError(f"second order: '{name}' at the start is a rate, not a speed; give speeds instead.")
    return total


def _assembled(variation: Variation, own: Vector, given: Collection[str], t: float) -> Vector:
    """The same with what follows from the constraints, differentiated twice."""
    system = variation.system
    constrained = system.constrained
    assert constrained is not None and constrained.numbers is not None
    numbers, y, n = constrained.numbers, np.array(system.initial), len(variation.states)
    if not numbers.programs.is_plain:
        raise UnsupportedError(f"{system.name}: second order with closed loops needs speeds that are rates.")
    slopes = numbers.of(constrained_programs(variation).level_slopes, t, y)
    phi, slip = (slopes[name].reshape(n + variation.columns, -1)[:n].T for name in ("phi_slopes", "slip_slopes"))
    rows = numbers.of(numbers.programs.velocities, t, y)["rows"].reshape(-1, len(numbers.scales)) * numbers.scales
    metric = np.asarray(np.linalg.cholesky(numbers.metric(t, y, rows)), dtype=float)
    told = {*given, *constrained.given, *started_states(variation)}
    free, loose = free_moves(numbers, t, y, told), free_speeds(numbers, t, y, told)
    if leaves_open(numbers, t, y, free) and np.any(variation.start):
        raise UnsupportedError(f"{system.name}: second order needs a start that is determined; give more coordinates.")
    bent, result, holonomic = _second_levels(variation), own.copy(), numbers.programs.holonomic
    directions = _directions(variation)
    for j in range(variation.columns):
        for k in range(j + 1):
            along = {"d1": variation.start[:, j], "d2": variation.start[:, k]}
            along |= {"e1": directions[:, j], "e2": directions[:, k]}
            found = numbers.of(bent, t, y, **{name: along[name] for name in along if len(along[name])})
            gap = (phi @ result[:, j, k] + found["phi"])[:holonomic, None]
            moves = closing_moves(rows[:holonomic], gap, free, np.eye(len(numbers.scales)))[:, 0] * numbers.scales
            result[: numbers.coordinates, j, k] += moves
            gap = (slip @ result[:, j, k] + found["slip"])[:, None]
            result[numbers.coordinates :, j, k] += closing_moves(rows, gap, loose, metric)[:, 0] * numbers.scales
            result[:, k, j] = result[:, j, k]
    return result


def _directions(variation: Variation) -> Vector:
    """Changes of the constants that vary, a row each."""
    everything = constants_matrix(variation.varied, len(variation.constants))
    return everything[[variation.constants.index(node) for node in variation.moving]]


def _second_levels(variation: Variation) -> Program:
    """Second derivatives of the constraints on positions and velocities along two directions."""
    variables = (*variation.states, *variation.moving)
    states = len(variation.states)
    marks = {k: tuple(symbol(f"direction {k}, {i}") for i in range(len(variables))) for k in (1, 2)}
    phi, slip = constrained_programs(variation).levels

    def twice(formulas: list[Expr]) -> list[Expr]:
        for k in (1, 2):
            formulas = directional_derivative(formulas, dict(zip(variables, marks[k], strict=True)))
        return formulas

    inputs = [Input(f"{kind}{k}", part) for k in (1, 2)
              for kind, part in (("d", marks[k][:states]), ("e", marks[k][states:])) if part]  # fmt: skip
    outputs = (vector("phi", twice(phi)), vector("slip", twice(slip)))
    return Program("second_levels", (*variation.rhs.inputs, *inputs), outputs)
