"""Motions by extrapolation: Gragg's modified midpoint rule with 2, 4, 6, ... substeps, extrapolated to none (Bulirsch and Stoer).

Steps have a fixed length, so that a motion is an analytic function of parameters and initial values: complex steps pass
through it. The last two columns of the extrapolation table tell the error. Nothing is projected: how far the constraints
are violated in the end is another measure of it, and tests look at both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from truth.oracle.constraints import residuals
from truth.oracle.dynamics import dynamics

SUBSTEPS = (2, 4, 6, 8, 10, 12)


@dataclass(frozen=True)
class Motion:
    """States at the wanted times, with an estimate of the error and the largest violation of constraints.

    Of a motion in complex numbers, the error of the imaginary part counts relative to the largest one.
    """

    states: list
    error: float
    violation: float


def motion(model, state, times, step=0.02):
    """The motion through a state, at increasing times from its own on; errors are those of this step length."""
    states, error = [], 0.0
    for time in times:
        span = time - state.time
        count = int(np.ceil(abs(span) / step - 1e-9))
        for k in range(count):
            state, off = _step(model, state, span / count, count - 1 == k, time)
            error += off
        states.append(state)
    position, velocity = residuals(model, state)
    return Motion(states, error, float(np.max(np.abs(np.concatenate([position, velocity])), initial=0)))


def _step(model, state, length, last, time):
    y = _packed(state)
    table = []
    for row, count in enumerate(SUBSTEPS):
        column = [_midpoint(model, state, y, length, count)]
        for k in range(row):
            # The error of Gragg's rule is a series in squares of the substep.
            ratio = (count / SUBSTEPS[row - k - 1]) ** 2
            column.append(column[k] + (column[k] - table[-1][k]) / (ratio - 1))
        table.append(column)
    best, second = table[-1][-1], table[-1][-2]
    moved = _unpacked(state, best, state.time + length)
    return (replace(moved, time=time) if last else moved), _size(best, best - second)


def _size(y, difference):
    size = float(np.max(np.abs(np.real(difference))))
    if np.iscomplexobj(y) and np.any(np.imag(y)):
        size = max(size, float(np.max(np.abs(np.imag(difference))) / np.max(np.abs(np.imag(y)))))
    return size


def _midpoint(model, state, y, length, count):
    h = length / count
    before, now = y, y + h * _rates(model, state, y, state.time)
    for k in range(1, count):
        before, now = now, before + 2 * h * _rates(model, state, now, state.time + k * h)
    return (before + now + h * _rates(model, state, now, state.time + length)) / 2


def _packed(state):
    return np.concatenate(
        [state.centres.ravel(), state.rotations.ravel(), np.array(list(state.coordinates.values())), state.velocities]
    )


def _unpacked(state, y, time):
    n, m = len(state.centres), len(state.coordinates)
    centres, rotations, coordinates, u = np.split(y, np.cumsum([3 * n, 9 * n, m]))
    return replace(
        state,
        time=time,
        centres=centres.reshape(n, 3),
        rotations=rotations.reshape(n, 3, 3),
        coordinates=dict(zip(state.coordinates, coordinates, strict=True)),
        velocities=u,
    )


def _rates(model, state, y, time):
    now = _unpacked(state, y, time)
    curves = model.curves(now)
    turning = [curves.body_place(name).rotation.rate[0] for name in model.bodies]
    centres = [now.velocities[6 * k : 6 * k + 3] for k in range(len(now.centres))]
    coordinates = [_rate(model, curves, name) for name in now.coordinates]
    parts = [np.ravel(centres), np.ravel(turning), np.array(coordinates), dynamics(model, now).accelerations]
    return np.concatenate(parts)


def _rate(model, curves, name):
    """The rate of a joint's coordinate, or what the formula of a state says."""
    return np.ravel(curves[f"{name}'"].value if name in model.states else curves[name].rate)[0]
