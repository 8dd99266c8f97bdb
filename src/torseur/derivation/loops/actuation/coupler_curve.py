"""The path of a point of a body while a coordinate is driven."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.model.poses import body_poses
from torseur.derivation.loops.singularities.singularities import driven_states
from torseur.description.mechanism import Mechanism


def coupler_curve(mechanism: Mechanism, body: str, point: Sequence[float], coordinate: str, start: float, stop: float,
                  *, at: Mapping[str, float] | None = None, locked: Sequence[str] = ()) -> Array:  # fmt: skip
    """Places (steps, 3) in the earth's axes (m) of a point given in a body's frame, while a coordinate is driven."""
    mechanism.body(body)
    system, states = driven_states(mechanism, coordinate, start, stop, at=at, locked=locked)
    local = np.asarray(point, float)
    places = []
    for state in states:
        poses = body_poses(system, state)
        places.append(poses.position[body] * system.length + poses.rotation[body] @ local)
    return np.array(places).reshape(-1, 3)
