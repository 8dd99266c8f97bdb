"""Mechanisms of the reference robots, read from their URDF files (oracles/robots, values by Pinocchio 4.1)."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from torseur.description.mechanism import Mechanism
from torseur.description.readers import read_robot

FOLDER = Path(__file__).parent / "oracles" / "robots"
ROBOTS = ("double_pendulum", "ur5", "solo12")


@lru_cache
def robot(name: str) -> Mechanism:
    """The mechanism; a robot with a floating base gets a free joint with a quaternion and speeds in body axes."""
    base = "floating" if bool(data(name)["free_flyer"]) else "fixed"
    return read_robot(FOLDER / f"{name}_nomesh.urdf", base=base).mechanism


@lru_cache
def data(name: str) -> dict[str, np.ndarray]:
    """Stored states and values."""
    return dict(np.load(FOLDER / f"{name}.npz", allow_pickle=False))


def our_coordinates(name: str, q: np.ndarray) -> list[float]:
    """The stored coordinates in our order: quaternions with the scalar first."""
    if not bool(data(name)["free_flyer"]):
        return list(q)
    return [*q[:3], q[6], *q[3:6], *q[7:]]
