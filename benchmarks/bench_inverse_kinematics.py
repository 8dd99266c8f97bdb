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
from importlib.metadata import distribution
from importlib.util import find_spec
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
    package = distribution("example-robot-data")
    files = [Path(str(package.locate_file(file))) for file in package.files or ()]
    return {file: frame for name, frame in ARMS.items() for file in files if file.as_posix().endswith(name)}


def pinocchio_rate(path: Path, frame: str, poses: np.ndarray, seconds: float = 10.0) -> tuple[float, float]:
    """Share of poses reached and seconds for each with Pinocchio's bindings: damped least squares as its example has
    it, cut at the limits, from the neutral and then from 20 random configurations; for at most so many seconds."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(path), mimic=True)
    data, number = model.createData(), model.getFrameId(frame)
    rng, reached, tried, begin = np.random.default_rng(1), 0, 0, time.perf_counter()
    low = np.where(np.abs(model.lowerPositionLimit) < 1e3, model.lowerPositionLimit, -np.pi)
    high = np.where(np.abs(model.upperPositionLimit) < 1e3, model.upperPositionLimit, np.pi)

    def descend(q: np.ndarray, wanted: pin.SE3) -> bool:
        for _ in range(60):
            pin.framesForwardKinematics(model, data, q)
            error = pin.log6(data.oMf[number].actInv(wanted)).vector
            if np.abs(error).max() < 1e-8:
                return bool(((q >= low - 1e-9) & (q <= high + 1e-9)).all())
            jacobian = pin.computeFrameJacobian(model, data, q, number, pin.LOCAL)
            square = jacobian @ jacobian.T + 1e-6 * np.eye(6)
            q = np.clip(pin.integrate(model, q, jacobian.T @ np.linalg.solve(square, error)), low, high)
        return False

    for pose in poses:
        wanted = pin.SE3(pose[:3, :3], pose[:3, 3])
        starts = [np.clip(pin.neutral(model), low, high), *rng.uniform(low, high, (20, model.nq))]
        reached += any(descend(start, wanted) for start in starts)
        tried += 1
        if time.perf_counter() - begin > seconds:
            break
    return reached / tried, (time.perf_counter() - begin) / tried


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
        line = f"{path.stem}: {good.mean():.4%} of {count} poses, {spent / count * 1e6:.0f} µs each"
        if find_spec("pinocchio") is not None:
            share, each = pinocchio_rate(path, frame, poses)
            line += f"; Pinocchio in Python {share:.2%}, {each * 1e6:.0f} µs, ratio {each * count / spent:.1f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
