"""Inverse kinematics: the place of what is found is computed apart, from the tree in floats, and limits hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import torseur as ts
import torseur.derivation.dynamics as td
from robots import FOLDER
from torseur import library
from torseur.analysis.robotics import pose_search
from torseur.computation.codegen import compile_routine

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


def test_an_answer_does_not_depend_on_other_problems(arm):
    """Alone, among others, in another order, in another thread: the same digits."""
    low, high = arm.limits
    poses = arm.fk("tool0", np.random.default_rng(6).uniform(low, high, (150, 6)))
    found = arm.ik({"tool0": poses})
    assert found.starts > 2  # some need random starts
    np.testing.assert_array_equal(arm.ik({"tool0": poses[::-1]}).q[::-1], found.q)
    for k in range(0, 150, 15):
        np.testing.assert_array_equal(arm.ik({"tool0": poses[k]}).q, found.q[k])


def test_the_search_as_python_finds_the_same(tmp_path):
    """What is compiled is what the routine says: it runs as the Python it is written in, too."""
    robot = planar(tmp_path, (-3.0, 3.0))
    goals = robot.fk("hand", np.random.default_rng(3).uniform(-3, 3, (6, 3)))
    compiled = robot.ik({"hand": goals}, starts=5)
    search = robot._searches[("hand",)]
    search.__dict__["_search"] = compile_routine(pose_search.search, search.statics, search.programs, "python")
    plain = robot.ik({"hand": goals}, starts=5)
    np.testing.assert_allclose(plain.q, compiled.q, atol=1e-9)
    np.testing.assert_array_equal(plain.converged, compiled.converged)


def test_rotation_vectors_up_to_a_half_turn():
    """Oracle: SciPy's; at a half turn the axis has two directions, and the vector turns one into the other."""
    rng = np.random.default_rng(1)
    angles = [0.0, 1e-12, 1e-5, 1.0, 3.0, np.pi - 1e-7, np.pi]
    for axis in (*np.eye(3), *-np.eye(3), *rng.normal(size=(6, 3))):
        for angle in angles:
            wanted = angle * axis / np.linalg.norm(axis)
            first = Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
            last = Rotation.from_rotvec(wanted).as_matrix() @ first
            vector = np.zeros(3)
            pose_search.rotation_between(first.reshape(-1), last.reshape(-1), vector)
            np.testing.assert_allclose(Rotation.from_rotvec(vector).as_matrix() @ first, last, atol=2e-15)
            assert np.linalg.norm(vector) == pytest.approx(angle, rel=1e-9, abs=1e-15)


def test_targets_that_are_a_half_turn_away(arm):
    """The error's derivative jumps where a rotation is a half turn off: it is passed from the start all the same."""
    q = np.array([0.3, -1.2, 1.5, -0.4, 0.8, 0.2])
    turned = place(arm, "tool0", q)
    turned[:3, :3] = turned[:3, :3] @ np.diag([1.0, -1.0, -1.0])
    found = arm.ik({"tool0": turned}, q)
    assert found.converged
    np.testing.assert_allclose(place(arm, "tool0", found.q), turned, atol=3e-8)


def test_mistakes(arm):
    pose = np.eye(4)
    for call, words in (
        (lambda: arm.ik({}), "no target"),
        (lambda: arm.ik({"tool": pose}), "unknown frame or body 'tool'"),
        (lambda: arm.ik({"tool0": [1, 2]}), r"shape \(2,\); expected \(3,\)"),
        (lambda: arm.ik({"tool0": 2 * pose}), "no rotation"),
        (lambda: arm.ik({"tool0": [1.0, np.nan, 0.0]}), "the target of 'tool0' holds values that are not finite"),
        (lambda: arm.ik({"tool0": pose}, start=np.full(6, np.inf)), "start holds values that are not finite"),
        (lambda: arm.ik({"tool0": pose}, weights={"tool0": -1.0}), "that of 'tool0' is -1; expected a number of 0 or"),
        (lambda: arm.ik({"tool0": pose}, starts=0), "starts is 0; expected 1 or more"),
        (lambda: arm.ik({"tool0": pose}, weights={"hand": 2.0}), "unknown target 'hand'"),
        (lambda: arm.ik({"tool0": np.zeros((2, 3)), "ee_link": np.zeros((3, 3, 3)) + np.eye(3)}), "different numbers"),
        (lambda: arm.ik({"tool0": pose}, start=[0.0, 1.0]), r"start has shape \(2,\); expected \(6,\)"),
        (lambda: arm.ik({"tool0": pose}, start=np.zeros((5, 6))), "start has 5 rows and the targets are of 1"),
        (lambda: arm.ik({"tool0": pose}, tolerance=float("nan")), "tolerance is nan; expected a positive number"),
        (lambda: arm.ik({"tool0": "up"}), "the target of 'tool0' must be an array of numbers, got 'up'"),
        (lambda: arm.ik(pose), "targets"),
        (lambda: arm.ik({"tool0": pose}, weights=2.0), "weights"),
        (lambda: arm.ik({"tool0": pose}, seed=-1), "seed"),
        (lambda: arm.ik({"tool0": pose}, starts="3"), "starts"),
        (lambda: arm.fk("tool0", 1j * np.zeros(6)), "q must be real numbers"),
        (lambda: arm.ik({"tool0": pose}, posture={"elbow": 1.0}), "posture: unknown coordinate 'elbow'"),
        (lambda: ts.Robot(library.load("ball_on_turntable")).ik({"ball": [0, 0, 0]}), "ties velocities, not places"),
    ):
        with pytest.raises(ts.TorseurError, match=words):
            call()


@pytest.mark.slow
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


def test_a_floating_robot_stands_where_it_is_put():
    """Trunk and feet of a quadruped at the places of a random configuration: its own, for the knees keep their side."""
    dog = ts.Robot(FOLDER / "solo12_nomesh.urdf", base="floating")
    rng = np.random.default_rng(3)
    turn = rng.normal(size=4)
    q = np.concatenate([rng.normal(size=3), turn / np.linalg.norm(turn), rng.uniform(-1, 1, 12)])
    feet = [name for name in dog.frame_names if name.endswith("FOOT")]
    targets = {foot: place(dog, foot, q)[:3, 3] for foot in feet} | {"base_link": place(dog, "base_link", q)}
    found = dog.ik(targets)
    assert found.converged and np.linalg.norm(found.q[3:7]) == pytest.approx(1.0, abs=1e-14)
    for foot in feet:
        np.testing.assert_allclose(place(dog, foot, found.q)[:3, 3], targets[foot], atol=3e-8)
    np.testing.assert_allclose(place(dog, "base_link", found.q), targets["base_link"], atol=3e-8)
    # One foot alone leaves everything else free: the posture is met, in the opposite quaternion as well.
    opposite = q * np.where(np.isin(np.arange(19), range(3, 7)), -1, 1)
    free = dog.ik({feet[0]: targets[feet[0]]}, posture=opposite)
    np.testing.assert_allclose(place(dog, "base_link", free.q), targets["base_link"], atol=1e-6)


BALLS = """<mujoco><worldbody><body name="arm"><joint name="shoulder" type="ball"/><geom size="0.1"/>
<body name="forearm" pos="1 0 0"><joint name="elbow" axis="0 1 0" range="0 150"/><geom size="0.1"/>
<body name="hand" pos="1 0 0"><geom size="0.1"/></body></body></body></worldbody>
<actuator><general name="m" joint="elbow" dyntype="filter"/></actuator></mujoco>"""


def test_a_ball_joint_and_a_limited_elbow(tmp_path):
    """Cosine rule: the hand at distance d from the shoulder bends the elbow by 2 acos(d/2); activations are left."""
    path = tmp_path / "arm.xml"
    path.write_text(BALLS, encoding="utf-8")
    robot = ts.Robot(path)
    points = np.random.default_rng(5).normal(size=(20, 3))
    points *= (np.linspace(0.7, 1.9, 20) / np.linalg.norm(points, axis=1))[:, None]
    found = robot.ik({"hand": points}, start={"m.activation": 0.25})
    assert found.converged.all()
    elbow = robot.coordinate_names.index("elbow")
    np.testing.assert_allclose(found.q[:, elbow], 2 * np.arccos(np.linspace(0.7, 1.9, 20) / 2), atol=1e-6)
    np.testing.assert_array_equal(found.q[:, robot.coordinate_names.index("m.activation")], 0.25)
    too_near = robot.ik({"hand": [0.3, 0.0, 0.0]}, starts=10)  # within 2 cos 75 deg = 0.52
    assert not too_near.converged and too_near.q[elbow] == pytest.approx(np.radians(150))


def test_loops_are_closed():
    """Crank angles of a four-bar from places of the pin at the crank's end; the loop's equations are written by hand."""
    robot = ts.Robot(library.load("four_bar"))
    d, a, b, c = 1.2, 0.4, 1.0, 0.8
    crank = np.radians([40.0, 100.0, 200.0, 300.0])
    pins = np.column_stack([a * np.cos(crank), a * np.sin(crank), 0 * crank])
    sides = []
    for start in ([1.0, 0.5, 1.5], {"alpha": 1.0, "beta": -1.5, "gamma": -1.5}):
        found = robot.ik({"coupler": pins}, start=start)
        assert found.converged.all()
        alpha, beta, gamma = found.q.T
        np.testing.assert_allclose(np.mod(alpha, 2 * np.pi), crank, atol=1e-7)
        far = np.column_stack([d + c * np.cos(gamma), c * np.sin(gamma)])
        np.testing.assert_allclose(pins[:, :2] + b * np.column_stack([np.cos(alpha + beta), np.sin(alpha + beta)]), far,
                                   atol=1e-7)  # fmt: skip
        near = pins[:, :2] - [d, 0]
        sides.append(np.sign(near[:, 0] * far[:, 1] - near[:, 1] * (far[:, 0] - d)))
    assert (sides[0] == -sides[1]).all()  # each start leads to the assembly on its own side
    for function in ("rnea", "aba", "rnea_derivatives", "aba_derivatives"):
        with pytest.raises(ts.UnsupportedError, match=f"^{function} is for trees; 'four_bar' .*constrained_dynamics"):
            getattr(robot, function)
    away = robot.ik({"coupler": [2.0, 2.0, 0.0]}, starts=5)
    assert not away.converged and away.error > 1.0
