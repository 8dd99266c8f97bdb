"""Inverse kinematics of arms: how many of 10,000 reachable poses are reached, and the time for each, beside others.

    python benchmarks/bench_inverse_kinematics.py [--poses N] [--out RESULTS.md] [FILE.urdf:FRAME ...]

Poses are those of random configurations within the limits, so that a solution exists. They are solved from the neutral
configuration, not from one nearby. An answer counts when it puts the frame within 1e-6 (m, or in an entry of the
rotation matrix) of its pose and every coordinate is within its limits. Without files: arms of the package
example-robot-data. The others are timed in the same run, each for at most six seconds an arm: Pinocchio's bindings with
damped least squares in Python, pink with quadprog, TRAC-IK (pytracik) with 20 ms a pose; the first two start again from
20 random configurations where they fail. What this does not prove: that a given start leads to the nearest solution.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

import torseur as ts

ARMS = {
    "ur_description/urdf/ur5_robot.urdf": "tool0",
    "ur_description/urdf/ur10_robot.urdf": "tool0",
    "panda_description/urdf/panda.urdf": "panda_hand",
    "kinova_description/robots/kinova.urdf": "j2s6s200_end_effector",
    "xarm_description/urdf/xarm7.urdf": "link_eef",
}


SECONDS = 6.0
CLOSE = 1e-6


def arms(files: list[str]) -> dict[Path, str]:
    """The files asked for, or those of the package."""
    if files:
        return {Path(text.rpartition(":")[0]): text.rpartition(":")[2] for text in files}
    package = distribution("example-robot-data")
    found = [Path(str(package.locate_file(file))) for file in package.files or ()]
    return {file: frame for name, frame in ARMS.items() for file in found if file.as_posix().endswith(name)}


def rate(solve: Callable[[np.ndarray], bool], poses: np.ndarray) -> tuple[float, float]:
    """Share of poses that are reached, and seconds for each, for at most so many seconds."""
    reached, tried, begin = 0, 0, time.perf_counter()
    for pose in poses:
        reached += solve(pose)
        tried += 1
        if time.perf_counter() - begin > SECONDS:
            break
    return reached / tried, (time.perf_counter() - begin) / tried


class Bindings:
    """Pinocchio's model of an arm, and random starts within its limits."""

    def __init__(self, path: Path, frame: str) -> None:
        import pinocchio as pin

        self.pin, self.frame = pin, frame
        self.model = pin.buildModelFromUrdf(str(path), mimic=True)
        self.data, self.number = self.model.createData(), self.model.getFrameId(frame)
        wide = (self.model.lowerPositionLimit, self.model.upperPositionLimit)
        self.low, self.high = (np.where(np.abs(x) < 1e3, x, s * np.pi) for x, s in zip(wide, (-1, 1), strict=True))
        self.rng = np.random.default_rng(1)

    def by(self, descend: Callable[[np.ndarray, Any], bool]) -> Callable[[np.ndarray], bool]:
        def solve(pose: np.ndarray) -> bool:
            wanted = self.pin.SE3(pose[:3, :3], pose[:3, 3])
            begin = np.clip(self.pin.neutral(self.model), self.low, self.high)
            starts = [begin, *self.rng.uniform(self.low, self.high, (20, self.model.nq))]
            return any(descend(start, wanted) for start in starts)

        return solve

    def least_squares(self, q: np.ndarray, wanted: Any) -> bool:
        """Damped least squares as Pinocchio's example has it, cut at the limits."""
        pin, model, data = self.pin, self.model, self.data
        for _ in range(60):
            pin.framesForwardKinematics(model, data, q)
            error = pin.log6(data.oMf[self.number].actInv(wanted)).vector
            if np.abs(error).max() < 1e-8:
                return bool(((q >= self.low - 1e-9) & (q <= self.high + 1e-9)).all())
            jacobian = pin.computeFrameJacobian(model, data, q, self.number, pin.LOCAL)
            square = jacobian @ jacobian.T + 1e-6 * np.eye(6)
            step = jacobian.T @ np.linalg.solve(square, error)
            q = np.clip(pin.integrate(model, q, step), self.low, self.high)
        return False

    def quadratic_programs(self, q: np.ndarray, wanted: Any) -> bool:
        """pink: the steps of a quadratic program within the limits of positions."""
        import pink

        task = pink.FrameTask(self.frame, position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)
        task.set_target(wanted)
        configuration = pink.Configuration(self.model, self.data, np.clip(q, self.low + 1e-9, self.high - 1e-9))
        for _ in range(60):
            if np.abs(task.compute_error(configuration)).max() < 1e-7:
                return True
            limits = [configuration.model.configuration_limit]
            try:
                step = pink.solve_ik(configuration, [task], 1.0, solver="quadprog", limits=limits, safety_break=False)
            except pink.exceptions.PinkError:
                return False
            configuration.integrate_inplace(step, 1.0)
        return False


def trac_ik(path: Path, frame: str, robot: ts.Robot) -> Callable[[np.ndarray], bool]:
    """TRAC-IK from the neutral configuration; what it finds is placed by our kinematics."""
    import pytracik
    from scipy.spatial.transform import Rotation

    root = ElementTree.parse(path).getroot()
    children = {joint.find("child").get("link") for joint in root.iter("joint") if joint.find("child") is not None}
    base = next(link.get("name") for link in root.findall("link") if link.get("name") not in children)
    solver = pytracik.TRAC_IK(base, frame, path.read_text(), 0.02, 1e-7, pytracik.SolveType.Speed)
    count = pytracik.get_num_joints(solver)
    # Its own reading of the limits fails on some files, so that they are handed over.
    low, high = (np.where(np.isfinite(x), x, s * np.pi)[:count] for x, s in zip(robot.limits, (-1, 1), strict=True))
    pytracik.set_joint_limits(solver, low.tolist(), high.tolist())
    start = np.clip(np.zeros(count), low, high)  # it does not begin outside the limits

    def solve(pose: np.ndarray) -> bool:
        turn = Rotation.from_matrix(pose[:3, :3]).as_quat()
        found = np.asarray(pytracik.ik(solver, start, *pose[:3, 3], *turn))
        if len(found) != count + 1 or found[0] < 0:
            return False
        q = np.zeros(robot.nq)
        q[:count] = found[1:]
        return bool(np.abs(robot.fk(frame, q) - pose).max() < CLOSE)

    return solve


def peers(path: Path, frame: str, robot: ts.Robot) -> dict[str, Callable[[np.ndarray], bool]]:
    """How others solve one pose, of those that are installed."""
    found: dict[str, Callable[[np.ndarray], bool]] = {}
    if find_spec("pinocchio") is not None:
        bindings = Bindings(path, frame)
        found["Pinocchio"] = bindings.by(bindings.least_squares)
        if find_spec("pink") is not None:
            found["pink"] = bindings.by(bindings.quadratic_programs)
    if find_spec("pytracik") is not None:
        found["TRAC-IK"] = trac_ik(path, frame, robot)
    return found


def ours(robot: ts.Robot, frame: str, poses: np.ndarray) -> tuple[float, float]:
    robot.ik({frame: poses[:2]})  # compiled
    begin = time.perf_counter()
    found = robot.ik({frame: poses})
    spent = time.perf_counter() - begin
    away = np.abs(robot.fk(frame, found.q) - poses).max(axis=(1, 2))
    inside = ((found.q >= robot.limits[0]) & (found.q <= robot.limits[1])).all(axis=1)
    return float(((away < CLOSE) & inside).mean()), spent / len(poses)


def one_by_one(robot: ts.Robot, frame: str) -> Callable[[np.ndarray], bool]:
    """A call for each pose, as a loop of control makes it."""
    low, high = robot.limits

    def solve(pose: np.ndarray) -> bool:
        q = robot.ik({frame: pose}).q
        return bool(np.abs(robot.fk(frame, q) - pose).max() < CLOSE and ((q >= low) & (q <= high)).all())

    return solve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--poses", type=int, default=10_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("files", nargs="*")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = ["| arm | method | reached | time for each (µs) | ratio |", "| --- | --- | --- | --- | --- |"]
    for path, frame in arms(given.files).items():
        robot = ts.Robot(path)
        low, high = (np.where(np.isfinite(x), x, s * np.pi) for x, s in zip(robot.limits, (-1, 1), strict=True))
        poses = robot.fk(frame, np.random.default_rng(0).uniform(low, high, (given.poses, robot.nq)))
        share, each = ours(robot, frame, poses)
        single, alone = rate(one_by_one(robot, frame), poses)
        lines.append(f"| {path.stem} | torseur, all in one call | {share:.2%} | {each * 1e6:.0f} | |")
        lines.append(f"| | torseur, one by one | {single:.2%} | {alone * 1e6:.0f} | 1 |")
        others = peers(path, frame, robot)
        for name, solve in others.items():
            theirs, spent = rate(solve, poses)
            lines.append(f"| | {name} | {theirs:.2%} | {spent * 1e6:.0f} | {spent / alone:.1f} |")
        print("\n".join(lines[-2 - len(others) :]), flush=True)
    if given.out:
        heading = f"# Inverse kinematics of arms: {given.poses} reachable poses each\n\n"
        note = (
            "The ratio is the time of the other over ours, poses one by one, in one run; how: "
            "`bench_inverse_kinematics.py`. TRAC-IK ends after 20 ms a pose.\n\n"
        )
        given.out.write_text(heading + note + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
