"""Inverse kinematics of arms: how many of 10,000 reachable poses are reached, and the time for each.

    python benchmarks/bench_inverse_kinematics.py [POSES] [FILE.urdf:FRAME ...]

Poses are those of random configurations within the limits, so that a solution exists. They are solved from the neutral
configuration, not from one nearby. An answer counts when it puts the frame within 1e-6 (m, or in an entry of the
rotation matrix) of its pose and every coordinate is within its limits. Without files: arms of the package
example-robot-data. What this does not prove: that a given start leads to the nearest solution.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np

import torseur as ts

ARMS = {
    "ur_description/urdf/ur5_robot.urdf": "tool0",
    "ur_description/urdf/ur10_robot.urdf": "tool0",
    "panda_description/urdf/panda.urdf": "panda_hand",
    "kinova_description/robots/kinova.urdf": "j2s6s200_end_effector",
    "xarm_description/urdf/xarm7.urdf": "link_eef",
}


def arms() -> dict[Path, str]:
    """The files asked for, or those of the package."""
    if len(sys.argv) > 2:
        return {Path(text.rpartition(":")[0]): text.rpartition(":")[2] for text in sys.argv[2:]}
    import example_robot_data

    folder = Path(example_robot_data.getModelPath(next(iter(ARMS))))
    return {folder / name: frame for name, frame in ARMS.items()}


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    warnings.simplefilter("ignore")
    for path, frame in arms().items():
        robot = ts.Robot(path)
        low, high = (np.where(np.isfinite(x), x, s * np.pi) for x, s in zip(robot.limits, (-1, 1), strict=True))
        poses = robot.fk(frame, np.random.default_rng(0).uniform(low, high, (count, robot.nq)))
        robot.ik({frame: poses[:2]})  # compiled
        begin = time.perf_counter()
        found = robot.ik({frame: poses})
        spent = time.perf_counter() - begin
        away = np.abs(robot.fk(frame, found.q) - poses).max(axis=(1, 2))
        inside = ((found.q >= robot.limits[0]) & (found.q <= robot.limits[1])).all(axis=1)
        good = (away < 1e-6) & inside
        print(f"{path.stem}: {good.mean():.4%} of {count} poses, {spent / count * 1e6:.0f} µs each")


if __name__ == "__main__":
    main()
