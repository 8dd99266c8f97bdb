"""Limits of coordinates from the limits of joints."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import Expr, as_expr, gradient, substitute, symbols_of
from torseur.derivation.equations import Equations
from torseur.description.mechanism import Mechanism
from torseur.description.readers import Limit


def coordinate_limits(equations: Equations, limits: Iterable[Limit]) -> tuple[Array, Array]:
    """(lower, upper) of every coordinate, infinite where there is none; followers limit what they follow."""
    slots = {x: k for k, x in enumerate(equations.layout.coordinates)}
    low, high = np.full(len(slots), -np.inf), np.full(len(slots), np.inf)
    for limit in limits:
        motions = equations.mechanism.joint(limit.joint).motions
        line = _line(motions[0].amount, slots) if len(motions) == 1 and motions[0].kind != "quaternion" else None
        if line is None:
            continue
        leader, ratio, start = line
        ends = (-np.inf if limit.lower is None else limit.lower, np.inf if limit.upper is None else limit.upper)
        bounds = sorted((end - start) / ratio for end in ends)
        k = slots[leader]
        low[k], high[k] = max(low[k], bounds[0]), min(high[k], bounds[1])
    return low, high


def _line(amount: Expr, slots: dict[Expr, int]) -> tuple[Expr, float, float] | None:
    """(q, r, c) of an amount r q + c with numbers r and c; None where it is another one."""
    leaders = [x for x in symbols_of([amount]) if x in slots]
    if len(leaders) != 1:
        return None
    (ratio,), (start,) = gradient(amount, leaders), substitute([amount], {leaders[0]: as_expr(0)})
    if not (ratio.is_constant and start.is_constant) or float(ratio) == 0.0:
        return None
    return leaders[0], float(ratio), float(start)


def largest_forces(mechanism: Mechanism, limits: Iterable[Limit]) -> dict[str, float]:
    """The largest force of a joint's actuators, by its coordinate, of joints with one for which there is a limit."""
    forces = {limit.joint: limit.force for limit in limits if limit.force is not None}
    single = [(j.coordinates[0].name, j.name) for j in mechanism.joints if len(j.coordinates) == 1]
    return {coordinate: forces[joint] for coordinate, joint in single if joint in forces}
