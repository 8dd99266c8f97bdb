"""Pulses that the steps of a rollout must not pass over.

Steps on the CPU end where the equations switch at a known time. Threads of a GPU would then wait for each other at
every switch, so here the times are looked at beforehand, on the host: own steps are kept shorter than the shortest
interval between two switches, and fixed steps that are longer are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from torseur.algebra.graph import Expr, Program, evaluate, symbols_of
from torseur.computation.simulation.events.time_switches import NEVER
from torseur.description.mechanism import TIME

# Of the shortest interval: two steps end within each pulse, so that its stages cannot all lie outside.
PART = 0.5
MOST_VALUES = 10_000_000  # times that are computed in all; a pulse train shows its shortest interval well before
MOST_SWITCHES = 10_000  # that are looked at along one motion


def shortest_interval(program: Program | None, parameters: Mapping[Expr, Any], start: float, end: float) -> float:
    """The shortest time between two known switches of the equations, over all motions; infinite without two.

    `program` gives the time to the next switch (`time_switches`), `parameters` numbers or one number for each motion.
    """
    if program is None:
        return np.inf
    t, end = min(start, end), max(start, end)
    (ahead,) = program.outputs[0].entries
    direction = program.inputs[1].nodes[0]
    used = set(symbols_of([ahead]))
    values = {node: np.atleast_1d(value).astype(float) for node, value in parameters.items() if node in used}
    shape = np.broadcast_shapes((1,), *(value.shape for value in values.values()))
    resolution = 4 * np.finfo(float).eps * max(abs(t), abs(end))
    times, shortest = np.full(shape, t - 2 * resolution), np.inf
    last = np.full(shape, -np.inf)
    with np.errstate(all="ignore"):
        for _ in range(min(MOST_SWITCHES, MOST_VALUES // times.size)):
            left = evaluate([ahead], {TIME: times, direction: np.ones(1), **values})[0]
            times = times + np.broadcast_to(left, shape)
            is_within = (left < NEVER) & (times <= end + resolution)
            if not is_within.any():
                break
            # Two conditions with one time switch together, and rounding may have them a little apart.
            apart = np.where(is_within & (times - last > 4 * resolution), times - last, np.inf)
            shortest = min(shortest, float(apart.min()))
            last = np.where(is_within, times, last)
            times = np.where(is_within, times + resolution, np.inf)
    return shortest
