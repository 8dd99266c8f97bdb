"""SDF files: poses by numpy matrices, dynamics by the same robot written as URDF, whose poses are relative already."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.description.readers import RobotFileError, read_robot

INERTIAL = "<inertial><mass>2</mass><pose>0.1 -0.2 0.05 0 0 0</pose><inertia><ixx>0.3</ixx><iyy>0.2</iyy><izz>0.25</izz><ixy>0.01</ixy></inertia></inertial>"


def matrix(x, y, z, roll, pitch, yaw):
    """The 4x4 matrix of a pose: Rz(yaw) Ry(pitch) Rx(roll)."""
    (a, b, c), (s, t, u) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    rx = np.array([[1, 0, 0], [0, a, -s], [0, s, a]])
    ry = np.array([[b, 0, t], [0, 1, 0], [-t, 0, b]])
    rz = np.array([[c, -u, 0], [u, c, 0], [0, 0, 1]])
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = rz @ ry @ rx, (x, y, z)
    return result


def pose_text(m):
    """The six numbers of a matrix."""
    r = m[:3, :3]
    angles = np.arctan2(r[2, 1], r[2, 2]), -np.arcsin(r[2, 0]), np.arctan2(r[1, 0], r[0, 0])
    return " ".join(repr(float(v)) for v in (*m[:3, 3], *angles))


@pytest.fixture
def read(tmp_path):
    def reading(content: str, version: str = "1.7", **options):
        path = tmp_path / "robot.sdf"
        path.write_text(f'<sdf version="{version}">{content}</sdf>', encoding="utf-8")
        return read_robot(path, **options)

    return reading


def joint(name, kind, parent, child, inside):
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{inside}</joint>'


BASE, UPPER, FORE = (
    matrix(0.1, -0.3, 0.2, 0.3, 0.2, -0.5),
    matrix(0.4, 0.1, 0.5, -0.7, 0.4, 1.1),
    matrix(0.9, 0.3, -0.2, 0.2, -1, 2),
)
SHOULDER, ELBOW = matrix(0.05, 0.1, 0.2, 0.4, 0.1, 0.9), matrix(-0.1, 0.2, 0.03, 1, 0.5, -0.3)


@pytest.mark.parametrize("version", ["1.4", "1.7"])
def test_an_arm_moves_as_the_same_arm_in_urdf(read, tmp_path, version):
    """Links posed in the model, joints in their children, axes in the joint (in the model before version 1.5)."""
    axis = np.array([0.3, -0.5, 0.8])
    in_joint = (UPPER @ SHOULDER)[:3, :3].T @ axis if version == "1.4" else axis
    words = " ".join(map(str, axis))
    slide = np.array([0.0, 0.6, 0.8])
    in_slide = (FORE @ ELBOW)[:3, :3].T @ slide if version == "1.4" else slide
    sdf = '<model name="arm">' + "".join(
        f'<link name="{name}"><pose>{pose_text(pose)}</pose>{INERTIAL}</link>'
        for name, pose in (("base", BASE), ("upper", UPPER), ("fore", FORE))
    )
    sdf += joint("root", "fixed", "world", "base", "")
    sdf += joint(
        "shoulder", "revolute", "base", "upper", f"<pose>{pose_text(SHOULDER)}</pose><axis><xyz>{words}</xyz></axis>"
    )
    sdf += joint(
        "elbow", "prismatic", "upper", "fore", f"<pose>{pose_text(ELBOW)}</pose><axis><xyz>0 0.6 0.8</xyz></axis>"
    )
    robot = ts.Robot(read(sdf + "</model>", version))

    # In URDF a link's frame is its joint's: fixed joints lead from there to the links as posed above.
    def fixed(name, parent, child, pose):
        x, y, z, *rpy = pose_text(pose).split()
        return f'<joint name="{name}" type="fixed"><parent link="{parent}"/><child link="{child}"/><origin xyz="{x} {y} {z}" rpy="{" ".join(rpy)}"/></joint>'

    def moving(name, kind, parent, child, pose, direction):
        x, y, z, *rpy = pose_text(pose).split()
        return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="{x} {y} {z}" rpy="{" ".join(rpy)}"/>'
                f'<axis xyz="{" ".join(map(repr, map(float, direction)))}"/></joint>')  # fmt: skip

    mass = '<inertial><mass value="2"/><origin xyz="0.1 -0.2 0.05"/><inertia ixx="0.3" iyy="0.2" izz="0.25" ixy="0.01" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="{n}">{mass}</link>' for n in ("base", "upper", "fore"))
    links += "".join(f'<link name="{n}"/>' for n in ("world_", "s", "e"))
    inverse = np.linalg.inv
    urdf = f'<robot name="arm">{links}' + fixed("a", "world_", "base", BASE)
    urdf += moving("shoulder", "continuous", "base", "s", inverse(BASE) @ UPPER @ SHOULDER, in_joint)
    urdf += fixed("b", "s", "upper", inverse(SHOULDER))
    urdf += moving("elbow", "prismatic", "upper", "e", inverse(UPPER) @ FORE @ ELBOW, in_slide)
    urdf += fixed("c", "e", "fore", inverse(ELBOW)) + "</robot>"
    path = tmp_path / "arm.urdf"
    path.write_text(urdf, encoding="utf-8")
    other = ts.Robot(path)
    q, v, a = np.array([0.7, -0.4]), np.array([1.3, 0.6]), np.array([-0.2, 0.9])
    weightless = robot.rnea(q, v, a) - robot.gravity(q)
    assert weightless == pytest.approx(other.rnea(q, v, a) - other.gravity(q), abs=1e-12)
    assert robot.gravity(q) * 9.81 / 9.8 == pytest.approx(other.gravity(q), abs=1e-12)  # SDF has 9.8


def test_frames_stand_on_frames(read):
    """A frame on a frame on a joint, relative to others, in a moved model: the product of the matrices."""
    model, link, hinge = matrix(1, 2, 3, 0, 0, 0.5), matrix(0.3, 0, 0.1, 0.2, 0, 0), matrix(0, 0.1, 0, 0, 0.3, 0)
    mark = matrix(0.2, 0.1, 0, 0, 0, 1)
    robot = read(
        f'<model name="m"><pose>{pose_text(model)}</pose><static>true</static>'
        f'<link name="a"><pose>{pose_text(link)}</pose>{INERTIAL}</link><link name="b"><pose relative_to="j"/>{INERTIAL}</link>'
        + joint(
            "j", "revolute", "a", "b", f'<pose relative_to="a">{pose_text(hinge)}</pose><axis><xyz>0 0 1</xyz></axis>'
        )
        + f'<frame name="f" attached_to="j"><pose>{pose_text(mark)}</pose></frame>'
        '<frame name="g" attached_to="f"><pose relative_to="__model__" rotation_format="quat_xyzw">0 0 1 0 0 1 1</pose></frame></model>'
    )
    at = ts.Robot(robot)
    expected = model @ link @ hinge @ mark
    place = at.fk("f", [])
    assert place == pytest.approx(expected, abs=1e-12)
    place = at.fk("g", [])
    expected = model @ matrix(0, 0, 1, 0, 0, np.pi / 2)
    assert place == pytest.approx(expected, abs=1e-12)


def test_an_included_model_is_placed_by_its_frame(tmp_path, read):
    """X_model = pose (X_frame)^-1; names of nested parts have the model's before them."""
    folder = tmp_path / "hand"
    folder.mkdir()
    grip, pose = matrix(0.1, 0, 0.2, 0, 0.5, 0), matrix(1, 0, 0.5, 0.3, 0, 0)
    (folder / "model.config").write_text(
        "<model><sdf version='1.6'>old.sdf</sdf><sdf version='1.7'>hand.sdf</sdf></model>", encoding="utf-8"
    )
    (folder / "hand.sdf").write_text(
        f'<sdf version="1.7"><model name="h"><link name="palm">{INERTIAL}</link><frame name="grip"><pose>{pose_text(grip)}</pose></frame></model></sdf>',
        encoding="utf-8",
    )
    content = f"<include><uri>model://hand</uri><name>right</name><placement_frame>grip</placement_frame><pose>{pose_text(pose)}</pose></include>"
    robot = read(
        f'<model name="m"><link name="a">{INERTIAL}</link>{content}'
        + joint("j", "fixed", "a", "right::palm", "")
        + "</model>"
    )
    assert {body.name for body in robot.mechanism.bodies} == {"a", "right::palm"}
    place = ts.Robot(robot).fk("right::palm", [0, 0, 0, 1, 0, 0, 0])
    expected = pose @ np.linalg.inv(grip)
    assert place == pytest.approx(expected, abs=1e-12)
    gone = f'<model name="m"><link name="a">{INERTIAL}</link><include><uri>model://foot</uri></include></model>'
    with pytest.raises(RobotFileError, match=r"'model://foot' is not here, .* --partial"):
        read(gone)
    assert len(read(gone, partial=True).mechanism.bodies) == 1


def test_two_models_of_a_world_float_and_one_stands(read):
    content = "".join(
        f'<model name="{name}"><static>{still}</static><link name="a">{INERTIAL}</link></model>'
        for name, still in (("x", "true"), ("y", "false"))
    )
    robot = read(f'<world name="w"><gravity>0 1 -2</gravity>{content}</world>')
    kinds = {joint.child.body: joint.kind for joint in robot.mechanism.joints}
    assert kinds == {"x::a": "fixed", "y::a": "free_quaternion"}
    held = read(f'<world name="w"><gravity>0 1 -2</gravity>{content}</world>', base="fixed")
    assert all(joint.kind == "fixed" for joint in held.mechanism.joints)


def test_a_four_bar_of_sdf_is_a_loop(read):
    """Two cranks on the world and a coupler carried by both: one freedom; the coupler keeps its length."""
    bar = '<link name="{}"><pose>{} 0 0 0</pose>' + INERTIAL + "</link>"
    links = bar.format("left", "0 0 0") + bar.format("coupler", "0 0 1") + bar.format("right", "2 0 0")
    hinge = "<axis><xyz>0 1 0</xyz></axis>"
    joints = joint("a", "revolute", "world", "left", hinge) + joint("b", "revolute", "left", "coupler", hinge)
    joints += joint("c", "revolute", "world", "right", hinge)
    joints += joint("d", "revolute", "right", "coupler", f'<pose relative_to="right">0 0 1.5 0 0 0</pose>{hinge}')
    mechanism = read(f'<model name="m">{links}{joints}</model>').mechanism
    assert ts.loops(mechanism).finite == 1


def test_screws_mimics_and_weightless_links(read):
    """An older thread pitch is minus radians per metre; q = m (q_other - r) + o; no gravity, no torque."""
    screw = joint("s", "screw", "world", "a", "<thread_pitch>-20</thread_pitch><axis><xyz>0 0 1</xyz></axis>")
    at = ts.Robot(read(f'<model name="m"><link name="a"><gravity>false</gravity>{INERTIAL}</link>{screw}</model>'))
    assert at.fk("a", [1.5])[:3, 3] == pytest.approx([0, 0, 1.5 / 20], abs=1e-14)
    assert at.rnea([0.3], [0], [0]) == pytest.approx([0], abs=1e-12)
    turning = "".join(f'<link name="{name}">{INERTIAL}</link>' for name in "ab")
    turning += joint("i", "revolute", "world", "a", "<axis><xyz>0 0 1</xyz></axis>")
    mimic = '<mimic joint="i"><multiplier>2</multiplier><offset>0.1</offset><reference>0.3</reference></mimic>'
    turning += joint("j", "revolute", "world", "b", f"<axis><xyz>0 0 1</xyz>{mimic}</axis>")
    follower = ts.Robot(read(f'<model name="m">{turning}</model>', "1.11"))
    assert follower.nq == 1
    angle = 2 * (0.8 - 0.3) + 0.1
    assert follower.fk("b", [0.8])[0, :3] == pytest.approx([np.cos(angle), -np.sin(angle), 0], abs=1e-12)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            '<model name="m"><link name="a"><pose relative_to="b"/></link><link name="b"><pose relative_to="a"/></link></model>',
            "in a circle",
        ),
        ('<model name="m"><link name="a"><pose relative_to="c"/></link></model>', "'c'"),
        ('<model name="m"><link name="a"><pose>1 2 3</pose></link></model>', "expected 6 numbers"),
        (
            '<model name="m"><link name="a"/><joint name="j" type="gearbox"><parent>world</parent><child>a</child></joint></model>',
            "gearbox.*--partial",
        ),
        ("<world name='w'/>", "no <model>"),
        ('<model name="x::y"><link name="a"/></model>', "separates names of models"),
    ],
)
def test_faults_have_their_place(read, content, words):
    with pytest.raises(RobotFileError, match=rf"robot.sdf.*{words}"):
        read(content)
