"""Whether the numbers mean something: how much small errors grow along the motion."""

from __future__ import annotations

import numpy as np

from torseur.sensitivity.variation import Variation
from torseur.simulation.system import Vector

SUSPECT = 1e-3  # growth times tolerance from which digits are lost
MEANINGLESS = 1.0


def growth_of_changes(variation: Variation, u: Vector) -> Vector:
    """Largest relative change of a state per relative change of a parameter, at each sample."""
    scales = variation.system.state_scales(np.array(variation.system.initial))
    values = np.array([parameter.scale for parameter in variation.varied])
    states = len(variation.states)
    relative = np.abs(u[:, :states]) * values / scales[:, None]
    return np.asarray(relative.max(axis=(1, 2), initial=0.0))


def growth_of_weights(variation: Variation, at_start: Vector, at_end: Vector, values: Vector) -> Vector:
    """Largest change of a criterion by one of the initial state, in units of that by one at the end, or of itself."""
    scales = variation.system.state_scales(np.array(variation.system.initial))
    states = len(variation.states)
    first, last = ((np.abs(w[:, :states]) * scales).max(axis=1, initial=0.0) for w in (at_start, at_end))
    sizes = np.maximum(np.maximum(np.abs(values), last), 1e-300)
    return np.asarray(first / sizes)


def remarks(growth: Vector, times: Vector, rtol: float) -> tuple[tuple[str, ...], bool]:
    """What is said about such growth, and whether the numbers can be trusted."""
    bad = np.flatnonzero(~(growth * rtol < SUSPECT))
    if not bad.size:
        return (), True
    worst = float(growth.max()) if np.all(np.isfinite(growth)) else float("inf")
    since = f"from t = {times[bad[0]]:.4g} s on "
    grown = f"small changes grow {worst:.1e} times along this motion"
    if worst * rtol < MEANINGLESS:
        return (f"{since}{grown}: about {-np.log10(worst * rtol):.0f} digits are left at rtol = {rtol:g}.",), True
    advice = "The motion is chaotic or unstable; study a shorter span, or a criterion that averages over time."
    return (f"Not to be trusted {since}: {grown}, so that errors of rtol = {rtol:g} swamp them. {advice}",), False
