"""Mobility by count: freedoms minus what each loop could forbid at most.

A loop whose joints all move in a plane (or about a point) forbids three motions, a spatial one six: the dimension
of the smallest set of motions closed under composition that contains the joints' own (the order of the loop).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torseur.loops.so3 import cross
from torseur.loops.system import LoopSystem, State

Floats = np.ndarray[Any, np.dtype[np.float64]]

_SAME = 1e-7


def spatial_count(system: LoopSystem) -> int:
    """n - 6 per loop - 1 per constraint (Kutzbach)."""
    return system.n - system.rows


def loop_orders(system: LoopSystem, state: State) -> list[int]:
    """The order of each loop at a closed configuration."""
    rows = system.screw_rows(state)[0]
    return [_closure_dimension(rows[6 * c : 6 * c + 6].T) for c in range(len(system.cycles))]


def ordered_count(system: LoopSystem, state: State) -> int:
    """n - the order of each loop - 1 per constraint."""
    return system.n - sum(loop_orders(system, state)) - sum(len(r.parts) for r in system.relations)


def _closure_dimension(screws: Floats) -> int:
    """Dimension of the Lie algebra that screws generate."""
    basis = _basis(screws)
    while 1 < len(basis) < 6:
        first, second = np.triu_indices(len(basis), 1)
        larger = _basis(np.vstack([basis, _brackets(basis[first], basis[second])]))
        if len(larger) == len(basis):
            break
        basis = larger
    return len(basis)


def _basis(vectors: Floats) -> Floats:
    _, values, right = np.linalg.svd(vectors, full_matrices=False)
    return right[values > _SAME * max(float(np.max(values, initial=0.0)), 1e-300)]


def _brackets(a: Floats, b: Floats) -> Floats:
    linear = cross(a[:, :3], b[:, 3:]) + cross(a[:, 3:], b[:, :3])
    return np.concatenate([cross(a[:, :3], b[:, :3]), linear], axis=1)
