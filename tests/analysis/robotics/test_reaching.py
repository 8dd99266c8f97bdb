"""Inverse kinematics: the place of what is found is computed apart, from the tree in floats, and limits hold."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
import torseur.derivation.dynamics as td
from robots import FOLDER

ARM = """<robot name="arm"><link name="base"/>{}</robot>"""
LINK = """<link name="l{k}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j{k}" type="revolute"><parent link="{p}"/><child link="l{k}"/><origin xyz="{x} 0 0"/><axis xyz="0 0 1"/>
<limit lower="{low}" upper="{high}" effort="1" velocity="1"/></joint>"""


@pytest.fixture(scope="module")
def arm():
    return ts.Robot(FOLDER / "ur5_nomesh.urdf")


def planar(tmp_path, limits, joints=3):
    """Links of 1 m in a plane; the hand is at the end of the last."""
    parts = [LINK.format(k=k, p="base" if k == 1 else f"l{k - 1}", x=0 if k == 1 else 1, low=limits[0], high=limits[1])
             for k in range(1, joints + 1)]  # fmt: skip
    hand = f'<link name="hand"/><joint name="end" type="fixed"><parent link="l{joints}"/><child link="hand"/><origin xyz="1 0 0"/></joint>'
    path = tmp_path / "planar.urdf"
    path.write_text(ARM.format("".join(parts) + hand), encoding="utf-8")
    return ts.Robot(path)


def place(robot, frame, q) -> np.ndarray:
    pose = td.pose(robot.equations.tree, ts.Frame(frame), list(q))
    rows = [
        [float(x) for x in row] + [float(p)] for row, p in zip(pose.rotation.matrix.rows, pose.position, strict=True)
    ]
    return np.array([*rows, [0, 0, 0, 1]])


def test_reachable_poses_are_reached(arm):
    """Poses of random configurations within the limits, where a solution is known to exist."""
    low, high = arm.limits
    q = np.random.default_rng(2).uniform(low, high, (200, 6))
    poses = np.array([place(arm, "tool0", row) for row in q])
    found = arm.ik({"tool0": poses})
    assert found.converged.all() and (found.q >= low).all() and (found.q <= high).all()
    for k in range(0, 200, 20):
        np.testing.assert_allclose(place(arm, "tool0", found.q[k]), poses[k], atol=3e-8)


def test_two_links_have_the_angles_of_the_cosine_rule(tmp_path):
    """Oracle: cos q2 = (d² - 2)/2 for links of 1 m; the limits leave one of the two elbows."""
    robot = planar(tmp_path, (0.0, 3.0), joints=2)
    found = robot.ik({"hand": [0.9, 1.1, 0.0]})
    q2 = np.arccos((0.9**2 + 1.1**2 - 2) / 2)
    q1 = np.arctan2(1.1, 0.9) - np.arctan2(np.sin(q2), 1 + np.cos(q2))
    assert found.converged
    np.testing.assert_allclose(found.q, [q1, q2], atol=1e-7)


def test_what_is_out_of_reach_is_said(tmp_path):
    """The nearest point of an arm of 3 m to a target at 5 m is straight towards it, 2 m short."""
    robot = planar(tmp_path, (-3.0, 3.0))
    found = robot.ik({"hand": [3.0, 4.0, 0.0]}, starts=20)
    assert not found.converged
    np.testing.assert_allclose(robot.fk("hand", found.q)[:2, 3], [1.8, 2.4], atol=1e-3)


def test_several_frames_and_weights(tmp_path):
    robot = planar(tmp_path, (-3.0, 3.0))
    q = np.array([0.4, 0.7, -0.5])
    both = {"hand": place(robot, "hand", q)[:3, 3], "l3": place(robot, "l3", q)[:3, 3]}
    found = robot.ik(both)
    assert found.converged
    for name, wanted in both.items():
        np.testing.assert_allclose(place(robot, name, found.q)[:3, 3], wanted, atol=3e-8)
    # Targets that exclude each other: the one with the weight is met better.
    apart = {"hand": [1.0, 1.0, 0.0], "l3": [-1.5, 0.0, 0.0]}
    heavy = robot.ik(apart, weights={"hand": 100.0}, starts=30)
    assert np.linalg.norm(robot.fk("hand", heavy.q)[:3, 3] - [1, 1, 0]) < 1e-2


def test_a_rotation_alone_and_a_posture(tmp_path):
    """Three angles with a given sum, nearest to a posture: each differs from it by the same amount."""
    robot = planar(tmp_path, (-3.0, 3.0))
    turned = place(robot, "hand", [0.5, 0.4, 0.3])[:3, :3]
    posture = np.array([1.0, -0.5, 0.2])
    found = robot.ik({"hand": turned}, posture=posture)
    assert found.converged
    np.testing.assert_allclose(found.q, posture + (1.2 - posture.sum()) / 3, atol=1e-5)


def test_paths_are_continuous(arm):
    """Along a line of the hand no coordinate jumps; a path that leaves the reach says where."""
    q = np.array([0.3, -1.2, 1.5, -0.4, 0.8, 0.2])
    pose = place(arm, "tool0", q)
    line = np.repeat(pose[None], 30, axis=0)
    line[:, :3, 3] += np.linspace(0, 0.15, 30)[:, None] * [0.0, 1.0, 0.0]
    found = arm.ik_path({"tool0": line}, q)
    assert found.converged.all() and np.abs(np.diff(found.q, axis=0)).max() < 0.1
    np.testing.assert_allclose(place(arm, "tool0", found.q[-1]), line[-1], atol=3e-8)
    line[:, :3, 3] += np.linspace(0, 3, 30)[:, None] * [0.0, 0.0, 1.0]
    left = arm.ik_path({"tool0": line}, q).converged
    assert left[0] and not left[-1] and (np.diff(left.astype(int)) <= 0).all()


def test_the_same_twice(arm):
    pose = place(arm, "tool0", [0.3, -1.2, 1.5, -0.4, 0.8, 0.2])
    one, other = (arm.ik({"tool0": pose}) for _ in range(2))
    np.testing.assert_array_equal(one.q, other.q)


def test_mistakes(arm):
    pose = np.eye(4)
    for call, words in (
        (lambda: arm.ik({}), "no target"),
        (lambda: arm.ik({"tool": pose}), "unknown frame or body 'tool'"),
        (lambda: arm.ik({"tool0": [1, 2]}), r"shape \(2,\); expected \(3,\)"),
        (lambda: arm.ik({"tool0": 2 * pose}), "no rotation"),
        (lambda: arm.ik({"tool0": pose}, weights={"hand": 2.0}), "unknown target 'hand'"),
        (lambda: arm.ik({"tool0": np.zeros((2, 3)), "ee_link": np.zeros((3, 3, 3)) + np.eye(3)}), "different numbers"),
        (lambda: ts.Robot(FOLDER / "solo12_nomesh.urdf", base="floating").ik({"FL_FOOT": [0, 0, 0]}), "quaternions"),
    ):
        with pytest.raises(ts.TorseurError, match=words):
            call()


def test_priorities_are_strict(tmp_path):
    """A plane arm of three links: the hand has its place exactly, and the elbow is the nearest that leaves it there.

    Oracle: with the hand at p the arm has one freedom; the elbow's distance to its target is scanned over it.
    """
    robot = planar(tmp_path, (-2.9, 2.9))
    hand, elbow = np.array([1.2, 1.5, 0.0]), np.array([0.1, -2.0, 0.0])
    found = robot.ik({"hand": hand, "l3": elbow}, start=[0.4, 0.5, 0.6], priorities={"l3": 1})
    assert found.converged
    np.testing.assert_allclose(place(robot, "hand", found.q)[:3, 3], hand, atol=3e-8)
    # The last joint is on a circle of radius 1 about the hand, and at most 2 from the base: all such points.
    angle = np.linspace(-np.pi, np.pi, 2_000_001)
    points = hand[:2] + np.column_stack([np.cos(angle), np.sin(angle)])
    within = np.hypot(*points.T) <= 2.0
    nearest = np.hypot(*(points[within] - elbow[:2]).T).min()
    reached = np.linalg.norm(place(robot, "l3", found.q)[:3, 3] - elbow)
    assert reached == pytest.approx(nearest, abs=1e-5)
    swapped = robot.ik({"hand": hand, "l3": elbow}, priorities={"hand": 1})
    np.testing.assert_allclose(place(robot, "l3", swapped.q)[:3, 3], elbow * 2 / np.linalg.norm(elbow), atol=0.02)


def test_lower_priorities_are_met_where_there_is_room(arm):
    """The position of the tool first, the direction of one link second: both can be met, for many problems at once."""
    low, high = arm.limits
    q = np.random.default_rng(4).uniform(low / 3, high / 3, (20, 6))
    places = np.array([place(arm, "tool0", row) for row in q])
    start = q + 0.1
    found = arm.ik({"tool0": places[:, :3, 3], "ee_link": np.array([place(arm, "ee_link", row)[:3, :3] for row in q])},
                   start, priorities={"ee_link": 1})  # fmt: skip
    assert found.converged.all() and found.lower_errors.shape == (20, 1)
    assert (found.lower_errors < 1e-6).mean() >= 0.9
    for k in range(20):
        np.testing.assert_allclose(place(arm, "tool0", found.q[k])[:3, 3], places[k, :3, 3], atol=3e-8)
