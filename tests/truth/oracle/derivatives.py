"""Derivatives of a motion by parameters: complex steps through start, constraints and every step of the motion.

f(p + i h) = f(p) + i h f'(p) + O(h²): with h = 1e-30 nothing is subtracted and nothing is lost.
"""

from __future__ import annotations

import numpy as np

from truth.oracle.motion import motion
from truth.oracle.start import start_state
from truth.oracle.state import Model

STEP = 1e-30


def motion_derivatives(mechanism, parameter, outputs, times, step=0.02):
    """d outputs / d parameter at each time; `outputs` are names that formulas know (coordinates, rates, speeds, sensors)."""
    value = Model(mechanism).constants[parameter]
    model = Model(mechanism, {parameter: value + 1j * STEP})
    moved = motion(model, start_state(model), times, step)
    return np.array([[np.imag(measured(model, state, name)) / STEP for name in outputs] for state in moved.states])


def measured(model, state, name):
    """A quantity by the name that formulas know."""
    if name in state.coordinates:
        return state.coordinates[name]
    return np.ravel(np.broadcast_to(model.curves(state)[name].value, (1,)))[0]
