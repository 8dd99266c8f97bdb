"""Writing robot files: what is written moves as what was given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import torseur.derivation.dynamics as td
from strategies import mechanisms
from torseur.algebra.graph import evaluate
from torseur.algebra.graph.scalar import sin, tanh
from torseur.derivation.loops import constraint_equations
from torseur.derivation.tree import build_tree
from torseur.description.mechanism import (
    EARTH,
    Distance,
    Equation,
    Frame,
    Mechanism,
    as_vector,
    body,
    coordinate_spring,
    fixed,
    force,
    free,
    helical,
    inertia,
    joint_friction,
    motor,
    placement,
    prismatic,
    revolute,
    sequence,
    spherical,
    spring,
    translation,
    turn,
)
from torseur.description.mechanism.quantities import TIME, Coordinate
from torseur.description.readers import RobotFileError, read_robot, write_robot
from torseur.description.readers.writing.write_robot import robot_text
from torseur.errors import UnsupportedError

SAMPLES = Path(__file__).parent / "samples"
GRAVITY = (0, 0, -9.81)
KINDS = (
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "free",
    "fixed",
    "denavit_hartenberg",
)
RELAXED = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def written(mechanism, path: Path, **options):
    write_robot(mechanism, path, **options)
    return read_robot(path).mechanism


def assert_same_motion(first: Mechanism, second: Mechanism, seed: int = 0) -> None:
    """The same forces for the same motion, and bodies at the same places, coordinate by coordinate."""
    trees = [build_tree(mechanism) for mechanism in (first, second)]
    trees = [tree.with_parameters(_values(tree)) for tree in trees]
    coordinates, speeds = (sorted(getattr(trees[0].layout, f"{kind}_names")) for kind in ("coordinate", "speed"))
    assert sorted(trees[1].layout.coordinate_names) == coordinates
    assert sorted(trees[1].layout.speed_names) == speeds
    rng = np.random.default_rng(seed)
    q = dict(zip(coordinates, rng.uniform(-1, 1, len(coordinates)), strict=True))
    v, a = (dict(zip(speeds, rng.uniform(-1, 1, len(speeds)), strict=True)) for _ in range(2))
    forces, places = [], []
    for tree in trees:
        layout = tree.layout
        state = [[group[n] for n in names] for group, names in
                 ((q, layout.coordinate_names), (v, layout.speed_names), (a, layout.speed_names))]  # fmt: skip
        found = td.inverse_dynamics(tree, *state)
        forces.append([dict(zip(layout.speed_names, found, strict=True))[n] for n in speeds])
        # Where mass is given beside solids, the frame of the mass centre is that of the given part only.
        heavy = [b.name for b in first.bodies if (b.mass is None) == bool(b.solids) and not _is_massless(b)]
        places.append([list(td.pose(tree, Frame(n, base="iframe"), state[0]).position) for n in heavy])
    scale = max([1.0, *(abs(float(f)) for f in forces[0])])
    np.testing.assert_allclose(np.array(forces[1], float), np.array(forces[0], float), atol=1e-10 * scale)
    np.testing.assert_allclose(np.array(places[1], float), np.array(places[0], float), atol=1e-12)


def _is_massless(solid) -> bool:
    return solid.mass is not None and solid.mass.is_zero


def _values(tree) -> dict[str, float]:
    given = {p.name: p.value for p in tree.mechanism.parameters}
    return {name: float(given[name]) for name in tree.layout.parameter_names}


@pytest.mark.slow
@RELAXED
@given(mechanism=mechanisms(max_bodies=5, kinds=KINDS, loads=False, laws=False, body_speeds=False))
def test_random_trees_as_urdf(tmp_path_factory, mechanism):
    plain = replace(mechanism, gravity=as_vector(GRAVITY, "gravity"))
    assert_same_motion(plain, written(plain, tmp_path_factory.mktemp("urdf") / "robot.urdf"))


@pytest.mark.slow
@RELAXED
@given(mechanism=mechanisms(max_bodies=5, kinds=KINDS, loads=False, laws=False, body_speeds=False))
def test_random_trees_as_mjcf(tmp_path_factory, mechanism):
    assert_same_motion(mechanism, written(mechanism, tmp_path_factory.mktemp("mjcf") / "robot.xml"))


SOLO12 = "../../../oracles/robots/solo12_nomesh.urdf"


@pytest.mark.parametrize(("sample", "suffix"), [("everything.urdf", ".urdf"), (SOLO12, ".urdf"), (SOLO12, ".xml")])
def test_robots_are_written_and_read_again(tmp_path, sample, suffix):
    robot = read_robot(SAMPLES / sample, base="floating" if "solo" in sample else "file", friction_speed=0.01)
    path = tmp_path / f"robot{suffix}"
    left = write_robot(robot, path, partial=True)
    again = read_robot(path)
    assert_same_motion(robot.mechanism, again.mechanism)
    assert {limit.joint: limit.lower for limit in robot.limits}.items() <= {
        limit.joint: limit.lower for limit in again.limits
    }.items()
    assert not [finding for finding in left if "load" in finding.message]


RUBBING = """<robot name="r"><link name="base"/>{links}
<joint name="turn" type="continuous"><parent link="base"/><child link="l0"/><axis xyz="0 1 0"/><dynamics friction="0.2"/></joint>
<joint name="follow" type="continuous"><parent link="l0"/><child link="l1"/><axis xyz="0 1 0"/>
  <mimic joint="turn" multiplier="-2" offset="0.1"/><dynamics friction="0.3" damping="0.05"/></joint>
<joint name="slide" type="prismatic"><parent link="l1"/><child link="l2"/><axis xyz="1 0 0"/><dynamics friction="4" damping="0.1"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
RUBBED = """<link name="l{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_dry_friction_is_written(tmp_path, suffix):
    """One number for each coordinate, that of followers along what they follow: 0.2 + |-2| 0.3."""
    source, path = tmp_path / "source.urdf", tmp_path / f"robot{suffix}"
    source.write_text(RUBBING.format(links="".join(RUBBED.format(k) for k in range(3))), encoding="utf-8")
    for option, words in ({}, "speed 0.005"), ({"friction_speed": 0.0}, "speed 0 "), ({"sticking": True}, "sticks"):
        robot = read_robot(source, **option)
        notes = [finding.message for finding in write_robot(robot, path)]
        assert any(words in note for note in notes), notes
        joints = {j.get("name"): j for j in ElementTree.parse(path).getroot().iter("joint") if j.get("name")}
        of = {name: j.find("dynamics") if suffix == ".urdf" else j for name, j in joints.items()}
        key = "friction" if suffix == ".urdf" else "frictionloss"
        found = {name: float(e.get(key)) for name, e in of.items() if e is not None and e.get(key)}
        assert found == pytest.approx({"turn": 0.8, "slide": 4.0})
        # Well above the speed at which friction fades, its law is the same again.
        trees = [build_tree(read_robot(file, **option).mechanism) for file in (source, path)]
        if "sticking" not in option:
            forces = [td.generalised_loads(tree, [0.3, 0.1], [2.0, -1.5]) for tree in trees]
            np.testing.assert_allclose(np.array(forces[1], float), np.array(forces[0], float), rtol=1e-12)
            assert float(forces[0][0]) == pytest.approx(-0.8 - 4 * 0.05 * 2.0)


def test_other_forces_are_not_taken_for_friction():
    """Laws that only resemble dry friction, and friction with another force at rest."""
    arm, q = rod("arm"), Coordinate("q")
    joint = revolute("j", EARTH, arm, "q")
    mechanism = Mechanism("m", bodies=[arm], joints=[joint], gravity=GRAVITY)
    laws = (tanh(q.rate), -tanh(q.rate + 0.1), -tanh(q.rate) - 0.1, -tanh(q.rate) * q.symbol, -tanh(q.rate) ** 2,
            -tanh(q.symbol), -tanh(q.rate) - tanh(2 * q.rate), -sin(q.rate))  # fmt: skip
    odd = [*(motor("m", "j", "q", law) for law in laws), *(joint_friction(joint, 1.0, breakaway=2.0),)]
    for element in odd:
        group = "contacts" if element is odd[-1] else "loads"
        with pytest.raises(UnsupportedError, match=f"{group[:-1]} '{element.name}' is not written to MJCF"):
            robot_text(replace(mechanism, **{group: (element,)}), Path("robot.xml"))


def test_springs_without_a_place_in_the_file_are_said():
    """Along the coordinates of a free body, which has no joints of one coordinate in MJCF."""
    ball = body("ball", mass=1.0, centre=(0, 0, 0), inertia=inertia(1, 1, 1))
    floats = free("f", EARTH, ball, *"xyzabcd", angles="quaternion")
    loads = [coordinate_spring("up", "f", floats.coordinates[2].name, stiffness=2.0)]
    mechanism = Mechanism("m", bodies=[ball], joints=[floats], gravity=GRAVITY, loads=loads)
    with pytest.raises(UnsupportedError, match="spring, damper or friction along 'z' is not written to MJCF"):
        robot_text(mechanism, Path("robot.xml"))


def test_mimicry_survives_both_formats(tmp_path):
    robot = read_robot(SAMPLES / "everything.urdf")
    for suffix in (".urdf", ".xml"):
        write_robot(robot, tmp_path / f"robot{suffix}", partial=True)
        again = read_robot(tmp_path / f"robot{suffix}").mechanism
        before, after = (m.joint("counter grip").motions[-1].amount for m in (robot.mechanism, again))
        assert again.constraints == () and after == before


def rod(name: str, length: float = 1.0):
    return body(name, mass=1.0, centre=(length / 2, 0, 0), inertia=inertia(0.001, 0.1, 0.1))


def four_bar(closing) -> Mechanism:
    """A parallelogram with links of 1 m and 2 m, closed by a joint at the far end of the coupler."""
    crank, coupler, rocker = rod("crank"), rod("coupler", 2.0), rod("rocker")
    y = (0, 1, 0)
    joints = [
        revolute("j1", EARTH, crank, "q1", y), revolute("j2", crank.at((1, 0, 0)), coupler, "q2", y),
        revolute("j3", EARTH.at((2, 0, 0)), rocker, "q3", y),
        closing("close", coupler.at((2, 0, 0)), rocker.at((1, 0, 0))),
    ]  # fmt: skip
    return Mechanism("four bar", bodies=[crank, coupler, rocker], joints=joints, gravity=GRAVITY)


def freedom(mechanism: Mechanism, q: dict[str, float]) -> np.ndarray:
    """The motions that the constraints allow: an orthonormal basis, in the order of sorted speeds."""
    tree = build_tree(mechanism)
    values = [q[name] for name in tree.layout.coordinate_names]
    bindings = tree.bindings(values, [0.0] * len(values), 0.0)
    rows = constraint_equations(tree)
    residuals = [abs(float(evaluate([row.residual], bindings)[0])) for row in rows if row.residual is not None]
    assert max(residuals) < 1e-12
    matrix = np.array([evaluate(list(row.row), bindings) for row in rows], dtype=float)
    order = np.argsort(tree.layout.speed_names)
    _, sizes, axes = np.linalg.svd(matrix[:, order])
    return axes[np.sum(sizes > 1e-9) :]


CLOSING = {
    "hinge": lambda name, a, b: revolute(name, a, b, "q4", (0, 1, 0)),
    "ball": lambda name, a, b: spherical(name, a, b, "a", "b", "c"),
    "quaternion": lambda name, a, b: spherical(name, a, b, "w", "x", "y", "z", angles="quaternion"),
}


@pytest.mark.parametrize("case", CLOSING)
def test_loops_become_equalities(tmp_path, case):
    mechanism = replace(four_bar(CLOSING[case]))
    mechanism = replace(
        mechanism, joints=tuple(replace(j, role="loop") if j.name == "close" else j for j in mechanism.joints)
    )
    again = written(mechanism, tmp_path / "robot.xml")
    assert len([j for j in again.joints if j.role == "loop"]) == (2 if case == "hinge" else 1)
    for angle in (0.0, 0.4, 2.0):
        q = {"q1": angle, "q2": -angle, "q3": angle}
        before, after = freedom(mechanism, q), freedom(again, q)
        np.testing.assert_allclose(before.T @ before, after.T @ after, atol=1e-9)


def test_welds_distances_and_polynomials(tmp_path):
    arm, tool = rod("arm"), rod("tool")
    q1 = Coordinate("q1")
    mechanism = Mechanism(
        "held", gravity=GRAVITY, bodies=[arm, tool],
        joints=[revolute("j1", EARTH, arm, "q1", (0, 1, 0)), revolute("j2", EARTH, tool, "q2", (0, 0, 1)),
                replace(fixed("weld", arm.at((1, 0, 0), turn(0.3, (0, 1, 0))), tool), role="loop")],
        constraints=[Distance("rope", arm.at((1, 0, 0)), EARTH.at((0, 0, 3)), 2.5 + 0 * TIME),
                     Equation("law", Coordinate("q2").symbol - (0.5 + 2 * q1.symbol - 3 * q1.symbol**2))],
    )  # fmt: skip
    again = written(mechanism, tmp_path / "robot.xml")
    (distance,) = [c for c in again.constraints if isinstance(c, Distance)]
    assert float(distance.value) == pytest.approx(2.5)
    (follower,) = [j for j in again.joints if j.name == "q2"]
    assert float(evaluate([follower.motions[0].amount], {q1.symbol: 0.7})[0]) == pytest.approx(0.5 + 1.4 - 1.47)
    (weld,) = [j for j in again.joints if j.role == "loop"]
    assert weld.kind == "fixed"


def test_screws_follow_their_turn(tmp_path):
    """A helical joint is a hinge and a slide that follows it."""
    nut = rod("nut")
    mechanism = Mechanism(
        "screw", bodies=[nut], joints=[helical("s", EARTH, nut, "q", 0.02, (0, 0, 1))], gravity=GRAVITY
    )
    for suffix in (".urdf", ".xml"):
        again = written(mechanism, tmp_path / f"robot{suffix}")
        assert_same_motion(mechanism, again)


def test_springs_in_mjcf(tmp_path):
    arm = rod("arm")
    loads = [coordinate_spring("k", "j", "q", stiffness=3.0, rest=0.2, damping=0.1),
             spring("s", arm.at((1, 0, 0)), EARTH.at((0, 0, 2)), stiffness=5.0, rest=0.4, damping=0.2)]  # fmt: skip
    mechanism = Mechanism("sprung", bodies=[arm], joints=[revolute("j", EARTH, arm, "q", (0, 1, 0))], loads=loads,
                          gravity=GRAVITY, initial={"q": 0.3})  # fmt: skip
    write_robot(mechanism, tmp_path / "robot.xml")
    again = read_robot(tmp_path / "robot.xml", keyframe="initial").mechanism
    ours, theirs = (td.generalised_loads(build_tree(m), [0.7], [-0.4])[0] for m in (mechanism, again))
    assert float(theirs) == pytest.approx(float(ours), rel=1e-13)
    assert {name: float(value) for name, value in again.initial} == {"q": 0.3}


BALL = """<body name="a" gravcomp="0.7"><joint name="j" type="ball" damping="0.3"/>
    <geom type="box" size="0.1 0.2 0.3" pos="0.1 0.2 0.5"/><site name="s" pos="0 0 1"/></body>"""
FLYING = """<body name="b" pos="0 0 1"><joint name="f" type="free" damping="0.2"/>
    <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/><site name="u"/></body>"""
TENDON = """<tendon><spatial name="k" stiffness="20" damping="0.5" springlength="0.3"><site site="s"/><site site="u"/>
    </spatial></tendon>"""
KEY = '<keyframe><key name="start" qpos="0.8 0.6 0 0  1 2 3 0.6 0 0.8 0" qvel="1 2 3  4 5 6 -1 -2 -3"/></keyframe>'


def test_what_mujoco_has_is_written(read_mjcf, tmp_path):
    """Damping of balls and free bodies, springs of tendons, carried weights and speeds of a start go back and forth."""
    first = read_mjcf(BALL + FLYING, TENDON + KEY, keyframe="start")
    findings = write_robot(first.mechanism, tmp_path / "again.xml")
    assert not findings
    second = read_robot(tmp_path / "again.xml", keyframe="initial")
    start = [{name: float(value) for name, value in robot.mechanism.initial} for robot in (first, second)]
    assert start[1] == pytest.approx(start[0], abs=1e-14)
    assert start[0]["f.vx"] != 4.0  # the world's axes in the file, the body's own in the mechanism
    trees = [build_tree(robot.mechanism) for robot in (first, second)]
    speeds = dict(zip(trees[0].layout.speed_names, np.random.default_rng(3).normal(size=9), strict=True))
    forces = []
    for tree in trees:  # the file has its bodies in another order
        q = [start[0].get(name, 0.0) for name in tree.layout.coordinate_names]
        loads = td.generalised_loads(tree, q, [speeds[name] for name in tree.layout.speed_names])
        forces.append({name: float(f) for name, f in zip(tree.layout.speed_names, loads, strict=True)})
    assert forces[1] == pytest.approx(forces[0], rel=1e-12)
    assert min(abs(f) for f in forces[0].values()) > 0


def test_reversed_joints_are_turned_round(tmp_path):
    """A mechanism may describe a joint from the body to the earth; a file cannot."""
    arm, tip = rod("arm"), rod("tip")
    joints = [revolute("j1", arm.at((0.1, 0, 0)), EARTH.at((0, 0, 1)), "q1", (0, 1, 0)),
              prismatic("j2", tip, arm.at((1, 0, 0), turn(0.4, (0, 1, 0))), "q2", (1, 0, 0))]  # fmt: skip
    mechanism = Mechanism("reversed", bodies=[arm, tip], joints=joints, gravity=GRAVITY)
    for suffix in (".urdf", ".xml"):
        assert_same_motion(mechanism, written(mechanism, tmp_path / f"robot{suffix}"))


def test_names_are_written_as_they_are(tmp_path):
    arm = rod('a "b" <c> & é/日本')
    mechanism = Mechanism(
        "odd & name", bodies=[arm], joints=[revolute("j'1 x", EARTH, arm, "q 1", (0, 1, 0))], gravity=GRAVITY
    )
    for suffix in (".urdf", ".xml"):
        again = written(mechanism, tmp_path / f"robot{suffix}")
        assert arm.name in [b.name for b in again.bodies]
        assert again.name == mechanism.name
        assert_same_motion(mechanism, again)


def cam() -> Mechanism:
    follower, q = rod("follower"), Coordinate("q")
    motion = translation((0, 0, 1), q.symbol * q.symbol)
    return Mechanism(
        "cam", bodies=[follower], joints=[sequence("j", EARTH, follower, (q,), (motion,))], gravity=GRAVITY
    )


def pushed() -> Mechanism:
    arm = rod("arm")
    joints = [revolute("j", EARTH, arm, "q")]
    return Mechanism("pushed", bodies=[arm], joints=joints, gravity=GRAVITY, loads=[force("wind", arm, (1, 0, 0))])


def light() -> Mechanism:
    arm = body("arm", mass=0, centre=(0, 0, 0), inertia=0)
    return Mechanism("light", bodies=[arm], joints=[revolute("j", EARTH, arm, "q")], gravity=GRAVITY)


def unknown() -> Mechanism:
    return Mechanism("unknown", bodies=[body("arm")], joints=[revolute("j", EARTH, Frame("arm"), "q")], gravity=GRAVITY)


def sliding_loop() -> Mechanism:
    return four_bar(lambda name, a, b: replace(prismatic(name, a, b, "s"), role="loop"))


CANNOT = {
    "nonlinear joint": (cam, ".xml", "joint 'j' moves by"),
    "load": (pushed, ".xml", "load 'wind' is not written to MJCF"),
    "loop in urdf": (lambda: four_bar(CLOSING["ball"]), ".urdf", "closes a loop"),
    "sliding loop": (sliding_loop, ".xml", "neither fixed, a hinge nor a ball"),
    "massless": (light, ".xml", "no mass"),
    "symbols": (unknown, ".urdf", "is not given"),
    "gravity": (lambda: replace(light(), gravity=as_vector((0, 0, -1.62), "g")), ".urdf", "gravity"),
    "suffix": (light, ".sdf", "ends in .urdf, .xml"),
}


@pytest.mark.parametrize("case", CANNOT)
def test_what_cannot_be_said_is_an_error(tmp_path, case):
    make, suffix, reason = CANNOT[case]
    path = tmp_path / f"robot{suffix}"
    with pytest.raises((UnsupportedError, RobotFileError), match=reason):
        write_robot(make(), path)
    assert not path.exists()


def test_partial_files_list_what_they_lack(tmp_path):
    left = write_robot(pushed(), tmp_path / "robot.xml", partial=True)
    assert [finding.message for finding in left] == ["load 'wind' is not written to MJCF."]


def test_folders_that_do_not_exist(tmp_path):
    arm = rod("arm")
    mechanism = Mechanism("arm", bodies=[arm], joints=[fixed("j", EARTH, arm)], gravity=GRAVITY)
    with pytest.raises(RobotFileError, match="cannot be written"):
        write_robot(mechanism, tmp_path / "gone" / "robot.urdf")


def test_frames_become_sites_and_links(tmp_path):
    arm = rod("arm")
    frames = {"grip": Frame("arm", placement((1, 0, 0), turn(0.5, (0, 0, 1))))}
    mechanism = Mechanism("arm", bodies=[arm], joints=[revolute("j", EARTH, arm, "q")], frames=frames, gravity=GRAVITY)
    expected = td.pose(build_tree(mechanism), frames["grip"], [0.7]).position
    for suffix in (".urdf", ".xml"):
        again = written(mechanism, tmp_path / f"robot{suffix}")
        grip = dict(again.frames).get("grip", Frame("grip"))
        found = td.pose(build_tree(again), grip, [0.7]).position
        np.testing.assert_allclose(np.array(list(found), float), np.array(list(expected), float), atol=1e-14)


def test_dampers_of_a_joint_and_of_its_follower_are_one(tmp_path):
    """A gripper: both fingers are damped, so that at a speed v the force is -(0.3 + 0.2 * 2²) v."""
    finger = ('<link name="{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
              '</inertial></link><joint name="{0}_joint" type="prismatic"><parent link="hand"/><child link="{0}"/>'
              '<axis xyz="0 1 0"/><limit lower="0" upper="1" effort="1" velocity="1"/>{1}</joint>')  # fmt: skip
    mimic = '<mimic joint="left_joint" multiplier="2"/><dynamics damping="0.2"/>'
    fingers = finger.format("left", '<dynamics damping="0.3"/>') + finger.format("right", mimic)
    (tmp_path / "hand.urdf").write_text(f'<robot name="hand"><link name="hand"/>{fingers}</robot>')
    for suffix in (".xml", ".urdf"):
        again = written(read_robot(tmp_path / "hand.urdf"), tmp_path / f"again{suffix}")
        (force,) = td.generalised_loads(build_tree(again), [0.1], [2.0])
        assert float(force) == pytest.approx(-(0.3 + 0.2 * 4) * 2)
