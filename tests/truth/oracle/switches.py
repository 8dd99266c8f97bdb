"""Motions whose equations switch: a bound that is hit and rested on, a joint that sticks and slides.

Between two switches a closed bound and a sticking speed are one more constraint each, and sliding friction is a given force.
A switch is found where its function of the state changes sign. A hit changes velocities at once, under all constraints:

    W (u+ - u-) = Cᵀ Λ + nᵀ p        C (u+ - u-) = 0        gap'+ = -e gap'-

After each switch that one mode is taken, of all that are possible at zero gap or zero speed, which agrees with the forces and
accelerations it leads to.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import brentq

from truth.oracle.constraints import element_jet, linear_rows
from truth.oracle.dynamics import SingularState, dynamics, independent_rows, mass_matrix, solve
from truth.oracle.motion import Motion, motion

NEAR = 1e-9
"""A gap or a speed that is smaller counts as zero at a switch."""
MOST = 8
"""Switches in one motion; more of them are a bounce that comes to rest, which this does not follow."""


def switching_motion(model, state, times, step=0.03):
    """States at the wanted times; `model.modes` are those of the last one afterwards."""
    state = _settled(model, state, [])
    states, error, switches = [], 0.0, 0
    for time in times:
        while time - state.time > 1e-12:
            moved = motion(model, state, [min(time, state.time + step)], step)
            error += moved.error
            crossed = _crossed(model, state, moved.states[0])
            if not crossed:
                state = moved.states[0]
                continue
            switches += 1
            if switches > MOST:
                raise SingularState("more switches than are followed")
            state = _settled(model, motion(model, state, [min(crossed)[0]], step).states[0], [min(crossed)[1]])
        states.append(state)
    return Motion(states, error, 0.0)


def _crossed(model, before, after):
    """(time, element) of what changes within a step."""
    found = []
    for name in model.modes:
        if _margin(model, after, name) < -1e-13:
            if _margin(model, before, name) <= 0:
                found.append((before.time, name))
                continue

            def at(time, name=name):
                return _margin(model, motion(model, before, [time], 1.0).states[0], name) if time > before.time else 1.0

            found.append((brentq(at, before.time, after.time, xtol=1e-14, rtol=1e-14), name))
    return found


def _margin(model, state, name):
    """Positive while the mode of an element may last."""
    element, mode = model.switching[name], model.modes[name]
    jet = element_jet(model.curves(state), element)
    if mode == "open":
        return _first(jet.value)
    if mode in (-1, 1):
        return mode * _first(jet.value)
    if name in model.held:
        return 1.0
    force = _force(model, state, name)
    return force if mode == "closed" else _limit(model, state, element) - abs(force)


def _settled(model, state, hit):
    """The state after a switch, with modes that agree with what follows from them."""
    if not model.modes:
        model.modes = {name: "open" if _is_gap(e) else _sign(model, state, e) for name, e in model.switching.items()}
    touching = []
    for name, element in model.switching.items():
        jet = element_jet(model.curves(state), element)
        value = _first(jet.value)
        if name not in hit and abs(value) > NEAR:
            continue
        if _is_gap(element):
            if _first(jet.rate) < -NEAR:
                state = _rebounded(model, state, element)
            rate = _first(element_jet(model.curves(state), element).rate)
            if rate > NEAR:
                model.modes[name] = "open"
                continue
        touching.append(name)
    # What the constraints hold already sticks, and bears nobody knows how much.
    model.held = {name for name in touching if not _is_gap(model.switching[name]) and _is_implied(model, state, name)}
    model.modes |= dict.fromkeys(model.held, "stick")
    touching = [name for name in touching if name not in model.held]
    for choice in product(*[("open", "closed") if _is_gap(model.switching[n]) else ("stick", 1, -1) for n in touching]):
        model.modes |= dict(zip(touching, choice, strict=True))
        if all(_agrees(model, state, name) for name in touching):
            return state
    raise SingularState("no modes agree with the forces that follow from them")


def _is_implied(model, state, name):
    """Whether the constraints and what is closed beside leave an element no motion."""
    mode, model.modes[name] = model.modes[name], 0
    matrix, *_ = linear_rows(model, state, [model.switching[name]])
    model.modes[name] = mode
    return len(independent_rows(matrix)) == len(independent_rows(matrix[:-1]))


def _agrees(model, state, name):
    element, mode = model.switching[name], model.modes[name]
    if mode in ("closed", "stick"):
        return _margin(model, state, name) >= 0
    later = _later(model, state, element)
    return later > 0 if mode == "open" else mode * later > 0


def _later(model, state, element):
    """gap'' or the rate of a sliding speed, in the motion through a state."""
    matrix, _, gamma, _ = linear_rows(model, state, [element])
    return float(np.real((matrix @ dynamics(model, state).accelerations - gamma)[-1]))


def _rebounded(model, state, element):
    """Velocities after a hit: the gap opens with its restitution times the speed that it closed with."""
    matrix, *_ = linear_rows(model, state, [element])
    C, normal = matrix[:-1], matrix[-1:]
    rows = np.vstack([C[independent_rows(C)], normal]) if len(C) else normal
    closing = _first(element_jet(model.curves(state), element).rate)
    n, m = model.size, len(rows)
    system = np.zeros((n + m, n + m))
    system[:n, :n], system[:n, n:], system[n:, :n] = mass_matrix(model), -rows.T, rows
    right = np.zeros(n + m)
    right[-1] = -(1 + model.constant(element.restitution)) * closing
    return state.moving(state.velocities + solve(system, right)[:n])


def _force(model, state, name):
    result = dynamics(model, state)
    row = result.owners.index(name)
    if row not in result.independent:
        raise SingularState("a switching element follows from constraints")
    return float(np.real(result.multipliers[row]))


def _limit(model, state, element):
    formula = element.force if element.breakaway is None else element.breakaway
    return float(_first(model.curves(state).value(formula)))


def _sign(model, state, element):
    return 1 if _first(element_jet(model.curves(state), element).value) >= 0 else -1


def _is_gap(element):
    return type(element).__name__ != "DryFriction"


def _first(x):
    return float(np.real(np.ravel(getattr(x, "value", x))[0]))
