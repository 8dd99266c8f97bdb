"""Derivatives of motions by parameters, and small motions, by complex steps through the oracle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import torseur as ts
from truth.case import SPAN, Unclear, oracle_motion
from truth.oracle import (
    Model,
    assembled,
    measured,
    second_rates,
    with_speeds,
)
from truth.oracle.constraints import linear_rows, residuals, rows
from truth.oracle.dynamics import SingularState, independent_rows
from truth.oracle.start import displaced, tangent

AT_ONCE = 1e-9
"""Seconds after which a motion is still at its start, to the digits that derivatives are compared to."""


def derivatives(case, method, second=False):
    """Of the last coordinate by the parameters, against complex steps through the oracle's start and motion."""
    criterion = case.speeds[-1] if case.speeds else None
    if criterion is None:
        raise Unclear("nothing moves")
    if second and case.mechanism.contacts:
        raise Unclear("times of switches are known to first order only")
    if second and case.way.quick and _start_depends(case):
        raise Unclear("starts that constraints complete are left to the whole matrix")
    parameters = [p.name for p in case.mechanism.parameters if p.name.rpartition(".")[2] in ("a", "k", "m")]
    result = ts.sensitivity(
        case.equations, criterion, parameters, until=SPAN, method=method, second_order=second, rtol=1e-10
    )
    begin = TaylorStart(case, parameters, second) if _start_depends(case) else OwnStart(case)
    # One direction in which every parameter counts for as much: each of them alone would take three times as long.
    direction = np.array([1.0, -0.7, 0.45]) * [case.model.constants[p] for p in parameters]
    ours = _oracle_derivative(case, criterion, begin, dict(zip(parameters, direction, strict=True)))
    slopes = np.array([float(np.ravel(result.derivative(criterion, p))[-1]) for p in parameters])
    size = np.max(np.abs(slopes * direction))
    case.compare(f"derivative of {criterion} along a, k, m", slopes @ direction, ours, 1e-5, size)
    if second:
        h = 1e-4
        sides = [
            _oracle_derivative(case, criterion, begin, dict(zip(parameters, direction, strict=True)), s * h)
            for s in (1, -1)
        ]
        expected = (sides[0] - sides[1]) / (2 * h)
        hessian = np.squeeze(np.asarray(result[criterion].hessian))
        size = np.max(np.abs(hessian * np.outer(direction, direction)))
        case.compare(f"second derivative of {criterion}", direction @ hessian @ direction, expected, 1e-4, size)


def _start_depends(case):
    """Whether the start is another function of parameters for the product than for the oracle.

    The oracle keeps what is given exactly, completes positions by constraints and leaves free speeds at zero. With constraints that is the
    product's rule only if as much is given as there are freedoms, and nothing more.
    """
    if not case.is_constrained:
        return False
    exact = {name for name, _ in case.mechanism.initial if name not in getattr(case.mechanism, "guesses", ())}
    matrix, *_ = linear_rows(case.model, case.state)
    freedoms = case.model.size - len(independent_rows(matrix))
    velocity_rows = sum(row.of_velocity for row in rows(case.model.curves(case.state)))
    quaternions = sum(all(name in exact for name in four) for four in case.model.quaternions.values() if four)
    places = sum(name in exact and name not in case.model.states for name in case.coordinates) - quaternions
    speeds = sum(name in exact for name in case.speeds)
    return velocity_rows > 0 or places != freedoms or speeds != freedoms


class OwnStart:
    """The start as a function of parameters by the oracle's own rule: what is given stays, the rest follows."""

    def __init__(self, case):
        guesses = getattr(case.mechanism, "guesses", ())
        self.exact = {name: value for name, value in case.mechanism.initial if name not in guesses}
        # Loops are closed from where the unchanged mechanism is.
        places = {c: float(np.real(x)) for c, x in case.state.coordinates.items()}
        self.given = places if case.is_constrained else dict(zip(case.names, case.initial, strict=True))
        self.constrained = case.is_constrained

    def at(self, model):
        start = self.given | {name: model.constant(value) for name, value in self.exact.items()}
        free = tuple(name for name in start if name not in self.exact) if self.constrained else ()
        state = assembled(model, start, guessed=free)
        return with_speeds(model, state, {n: x for n, x in start.items() if n not in free})


class TaylorStart:
    """The product's own start, as a Taylor series in the parameters: how it completes what is not given is its rule.

    Of the rule, it is asked here that the series stays on the constraints, and that values given exactly have no derivative
    where they do not contradict each other.
    """

    def __init__(self, case, parameters, second):
        self.case, self.parameters = case, parameters
        found = ts.sensitivity(
            case.equations, case.names, parameters, until=AT_ONCE, method="direct", second_order=second, rtol=1e-10, verify=False,
        )  # fmt: skip
        self.middle = np.array([case.model.constants[p] for p in parameters])
        self.first = np.array([[np.ravel(found.derivative(name, p))[-1] for p in parameters] for name in case.names])
        count = len(parameters)
        self.second = np.array(
            [
                np.reshape(found[name].hessian, (count, count)) if second else np.zeros((count, count))
                for name in case.names
            ]
        )
        self.hidden = tuple(name for name in case.state.coordinates if name not in case.names)

    def at(self, model):
        d = np.array([model.constants[p] for p in self.parameters]) - self.middle
        values = self.case.initial + self.first @ d + (self.second @ d) @ d / 2
        start = dict(zip(self.case.names, values, strict=True))
        state = assembled(model, {c: self.case.state.coordinates[c] for c in self.hidden} | start, guessed=self.hidden)
        state = with_speeds(model, state, start)
        self._require_tangent(model, state)
        return state

    def _require_tangent(self, model, state):
        """The constraints hold along the series, to the order that it has."""
        size = max(1.0, float(np.max(np.abs(self.first), initial=0)))
        off = [np.max(np.abs(np.imag(part)), initial=0) / 1e-30 for part in residuals(model, state)]
        self.case.compare("derivatives of the start on the constraints", max(off), 0, 1e-5, size)
        for name in self.case.speeds:
            ours = np.imag(measured(model, state, name)) / 1e-30
            k = self.case.names.index(name)
            d = np.array([np.imag(model.constants[p]) for p in self.parameters]) / 1e-30
            theirs = self.first[k] @ d + np.real(
                (self.second[k] @ (np.array([np.real(model.constants[p]) for p in self.parameters]) - self.middle)) @ d
            )
            self.case.compare(f"derivative of the start of {name}", theirs, ours, 1e-5, size)


def _oracle_derivative(case, criterion, begin, direction, moved=0.0):
    """Of the criterion along a direction of the parameters, `moved` along it from where they are."""
    middle = {p: case.model.constants[p] + moved * d for p, d in direction.items()}

    def at(step):
        return _later_value(case, begin, {p: middle[p] + step * d for p, d in direction.items()}, criterion)

    if case.mechanism.contacts:
        # Times of switches are found in real numbers: differences, with an error of 1e-8 of their own.
        return float(np.real(at(1e-4) - at(-1e-4))) / 2e-4
    return float(np.imag(at(1e-30j)) / 1e-30)


def _later_value(case, begin, numbers, criterion):
    """The criterion at the end of the motion with other values of parameters."""
    model = Model(case.mechanism, numbers)
    try:
        state = begin.at(model)
        moved = oracle_motion(model, state, [SPAN])
    except (SingularState, OverflowError) as error:
        raise Unclear(str(error)) from None
    return measured(model, moved.states[0], criterion)


def linearisation(case):
    """Rates of z' and v' along small moves of positions π, states z and independent speeds v, by complex steps.

    A move of a position runs along the constraints at rest; the dependent speeds follow from all constraints after it.
    """
    point = ts.linearise(case.equations)
    n, states = len(case.speeds), list(case.model.states)
    positions, speeds = [k for k in point.positions if k < n], [case.speeds[k] for k in point.speeds]
    mass = next(p.name for p in case.mechanism.parameters if p.name.rpartition(".")[2] == "m")
    model = Model(case.mechanism, {mass: case.model.constants[mass] + 0j})
    state = _as_complex(case.state)
    _require_freedoms(case, len(positions), len(speeds))
    values = {s: case.initial[len(case.coordinates) + case.speeds.index(s)] for s in speeds}
    columns = []
    for k in positions:
        along = tangent(model, state, {case.speeds[j]: float(j == k) for j in positions})
        columns.append(displaced(model, state, list(range(model.size)), 1e-30j * along))
    for name in states:
        columns.append(replace(state, coordinates=state.coordinates | {name: state.coordinates[name] + 1e-30j}))
    moved = [with_speeds(model, x, values) for x in columns]
    moved += [with_speeds(model, state, values | {s: values[s] + 1e-30j}) for s in speeds]
    ours = np.array([_imaginary_rates(case, model, x, speeds) for x in moved]).T
    theirs = np.asarray(point.state_matrix)[len(positions) :]
    case.compare("linearised accelerations", theirs, ours, 1e-6, np.max(np.abs(ours), initial=0))


def _as_complex(state):
    parts = {name: getattr(state, name) + 0j for name in ("centres", "rotations", "velocities")}
    return replace(state, coordinates={name: x + 0j for name, x in state.coordinates.items()}, **parts)


def _require_freedoms(case, positions, speeds):
    """As many small motions as the constraints leave."""
    matrix, *_ = linear_rows(case.model, case.state)
    holonomic = [k for k, row in enumerate(rows(case.model.curves(case.state))) if not row.of_velocity]
    for what, count, part in (("positions", positions, matrix[holonomic]), ("speeds", speeds, matrix)):
        case.compare(f"independent {what}", count, case.model.size - len(independent_rows(part)), 0.1)


def _imaginary_rates(case, model, state, speeds):
    """Imaginary parts of the rates of states and speeds, in units of the complex step."""
    curves, accelerations = model.curves(state), second_rates(model, state, speeds)
    rates = [np.ravel(curves[f"{name}'"].value)[0] for name in model.states]
    return [float(np.imag(x)) / 1e-30 for x in (*rates, *(accelerations[s] for s in speeds))]
