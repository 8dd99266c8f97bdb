"""URDF files: what they say becomes a mechanism or a finding."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import torseur.derivation.dynamics as td
from counting import calls_of
from torseur.algebra.spatial import Vec3
from torseur.derivation.tree import build_tree
from torseur.description.language import parse, to_text
from torseur.description.mechanism import CoordinateForce, CoordinateSpring, Frame
from torseur.description.readers import RobotFileError, read_robot

SAMPLE = Path(__file__).parent / "samples" / "everything.urdf"
INERTIA = '<inertia ixx="{0}" ixy="0" ixz="0" iyy="{1}" iyz="0" izz="{2}"/>'


def link(
    name: str, mass: float = 1.0, centre=(0, 0, 0), moments=(0.1, 0.1, 0.1), rpy=(0, 0, 0), extra: str = ""
) -> str:
    position, angles = " ".join(map(str, centre)), " ".join(map(str, rpy))
    inertial = f'<origin xyz="{position}" rpy="{angles}"/><mass value="{mass}"/>{INERTIA.format(*moments)}'
    return f'<link name="{name}"><inertial>{inertial}</inertial>{extra}</link>'


def joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


@pytest.fixture
def read(tmp_path):
    def reading(*parts: str, **options):
        path = tmp_path / "robot.urdf"
        path.write_text(f'<robot name="robot">{"".join(parts)}</robot>', encoding="utf-8")
        return read_robot(path, **options)

    return reading


def test_every_joint_type():
    kinds = {joint.name: joint.kind for joint in read_robot(SAMPLE).mechanism.joints}
    assert kinds == {
        "shoulder": "revolute", "elbow": "revolute", "grip": "prismatic", "counter grip": "link", "mount": "fixed",
        "table": "planar", "flight": "free_quaternion", "root": "fixed",
    }  # fmt: skip


def test_limits_shapes_and_loads():
    robot = read_robot(SAMPLE)
    limit = robot.limit("shoulder")
    assert (limit.lower, limit.upper, limit.force, limit.speed) == (-1.5, 2.0, 80.0, 3.0)
    (box,) = robot.shapes_of("base link")
    assert (box.kind, box.size, box.colour) == ("box", (0.2, 0.3, 0.4), (0.0, 0.0, 1.0, 1.0))
    (mesh,) = robot.shapes_of("forearm")
    assert mesh.mesh is not None and mesh.mesh.path is None and mesh.size == (0.001,) * 3
    damper, friction = robot.mechanism.loads
    assert isinstance(damper, CoordinateSpring) and float(damper.damping) == 0.5
    assert isinstance(friction, CoordinateForce) and friction.joint == "shoulder"


def test_what_is_not_modelled_is_listed():
    messages = [finding.message for finding in read_robot(SAMPLE).findings]
    for word in ("<transmission>", "<gazebo>", "<collision>", "<limit>", "friction", "gravity", "mesh files"):
        assert any(word in message for message in messages), word


def test_unknown_elements_and_attributes_are_listed(read):
    robot = read('<link name="a" colour="red"><shine/></link>', "<spoiler/>")
    listed = {finding.message for finding in robot.findings_of("not modelled")}
    assert listed == {"colour of <link>.", "<shine>.", "<spoiler>."}


def test_nothing_is_listed_of_a_file_that_is_modelled_whole(read):
    robot = read(link("a"), link("b"), joint("j", "continuous", "a", "b", '<axis xyz="0 0 1"/>'))
    assert robot.findings_of("not modelled") == []


def test_sample_is_printed_and_read_as_a_description():
    mechanism = read_robot(SAMPLE).mechanism
    assert parse(to_text(mechanism)) == mechanism


def test_inertial_origin_and_rotation(read):
    """Oracle: Huygens and rotated principal moments, by matrices."""
    rpy, centre, moments, mass = (0.3, -0.4, 0.5), (0.1, 0.2, -0.3), (0.1, 0.2, 0.25), 2.0
    robot = read(link("a"), link("b", mass, centre, moments, rpy), joint("j", "floating", "a", "b"))
    tree = build_tree(robot.mechanism)
    cr, sr, cp, sp, cy, sy = (f(a) for a in rpy for f in (math.cos, math.sin))
    x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    turn, c = z @ y @ x, np.array(centre)
    expected = turn @ np.diag(moments) @ turn.T + mass * (c @ c * np.eye(3) - np.outer(c, c))
    matrix = np.array(td.mass_matrix(tree, [0, 0, 0, 1, 0, 0, 0]), dtype=float)
    names = [f"j.w{axis}" for axis in "xyz"]
    slots = [tree.layout.slot("speed", name) for name in names]
    np.testing.assert_allclose(matrix[np.ix_(slots, slots)], expected, atol=1e-15)


@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 0, 0), (0, -2, 0), (0, 0, -1), (1, 2, 3)])
def test_planar_joint_moves_in_the_plane_normal_to_its_axis(read, axis):
    robot = read(link("a"), link("b"), joint("j", "planar", "a", "b", f'<axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>'))
    tree = build_tree(robot.mechanism)
    unit = np.array(axis) / np.linalg.norm(axis)
    place = td.pose(tree, Frame("b"), [0.3, -0.7, 0.9])
    assert np.array(list(place.position), dtype=float) @ unit == pytest.approx(0, abs=1e-15)
    assert math.hypot(*place.position) == pytest.approx(math.hypot(0.3, 0.7))
    velocity = td.velocity(tree, Frame("b"), [0.3, -0.7, 0.9], [0, 0, 2.0])
    np.testing.assert_allclose(list(place.rotation.to_parent(velocity.angular)), 2 * unit, atol=1e-14)


def test_ball_joints_of_simulators(read):
    tree = build_tree(read(link("a"), link("b"), joint("j", "spherical", "a", "b")).mechanism)
    assert tree.layout.speed_names == ["j.wx", "j.wy", "j.wz"]


def test_limits_that_are_no_numbers_do_not_matter(read):
    robot = read(link("a"), link("b"), joint("j", "revolute", "a", "b", '<limit lower="-1.57." upper="inf"/>'))
    assert robot.limits == () and any("-1.57." in finding.message for finding in robot.findings_of("not modelled"))
    unlimited = read(link("a"), link("b"), joint("j", "revolute", "a", "b", '<limit lower="-inf" upper="1e400"/>'))
    assert (unlimited.limit("j").lower, unlimited.limit("j").upper) == (-math.inf, math.inf)


def test_default_axis_is_x(read):
    robot = read(link("a"), link("b"), joint("j", "prismatic", "a", "b"))
    assert list(td.pose(build_tree(robot.mechanism), Frame("b"), [0.25]).position) == [0.25, 0, 0]


def test_gears_by_mimicry_carry_their_inertia(read):
    """Oracle: two wheels geared by q2 = k q1 + c move like one with I1 + k² I2, which follows from their energy."""
    k, moments = -3.0, (0.2, 0.07)
    mimic = f'<mimic joint="j1" multiplier="{k}" offset="0.4"/>'
    robot_parts = (
        '<link name="base"/>', link("first", moments=(1, 1, moments[0])), link("second", moments=(1, 1, moments[1])),
        joint("j1", "continuous", "base", "first", '<axis xyz="0 0 1"/>'),
        joint("j2", "continuous", "base", "second", '<axis xyz="0 0 1"/>' + mimic),
    )  # fmt: skip
    robot = read(*robot_parts)
    tree = build_tree(robot.mechanism)
    (acceleration,) = td.forward_dynamics(tree, [0.3], [1.0], [5.0])
    assert float(acceleration) == pytest.approx(5.0 / (moments[0] + k * k * moments[1]), rel=1e-12)
    turned = td.pose(tree, Frame("second"), [0.3]).rotation.to_parent(Vec3(1, 0, 0))
    assert math.atan2(turned.y, turned.x) == pytest.approx(k * 0.3 + 0.4)
    free = read(*robot_parts, mimic=False)
    assert len(build_tree(free.mechanism).layout.speeds) == 2
    assert any("mimic=False" in finding.message for finding in free.findings_of("not modelled"))


def test_pendulum_with_a_mimicking_joint(read):
    """Oracle: Lagrange's equation by hand, with the second angle substituted.

    Point masses m1, m2 on rods l1, l2; the absolute angle of the second rod is (1 + k) q:
    T = m1 l1² q'²/2 + m2 (l1² + l2² (1+k)² + 2 l1 l2 (1+k) cos(k q)) q'²/2.
    """
    m1, m2, l1, l2, k, g = 1.2, 0.7, 0.6, 0.5, -0.5, 9.81
    robot = read(
        '<link name="base"/>', link("first", m1, (0, 0, -l1), (0, 0, 0)), link("second", m2, (0, 0, -l2), (0, 0, 0)),
        joint("j1", "continuous", "base", "first", '<axis xyz="0 1 0"/>'),
        joint("j2", "continuous", "first", "second",
              f'<origin xyz="0 0 -{l1}"/><axis xyz="0 1 0"/><mimic joint="j1" multiplier="{k}"/>'),
    )  # fmt: skip
    q, v, a = 0.8, 1.3, 1 + k
    inertia = m1 * l1**2 + m2 * (l1**2 + (a * l2) ** 2 + 2 * l1 * l2 * a * math.cos(k * q))
    change = -2 * m2 * l1 * l2 * a * k * math.sin(k * q) * v * v
    weight = -(m1 + m2) * g * l1 * math.sin(q) - m2 * g * l2 * a * math.sin(a * q)
    expected = (weight - change / 2) / inertia
    (acceleration,) = td.forward_dynamics(build_tree(robot.mechanism), [q], [v], [0.0])
    assert float(acceleration) == pytest.approx(expected, rel=1e-12)


def test_mimicry_of_nothing_is_listed(read):
    robot = read(link("a"), link("b"), joint("j", "continuous", "a", "b", '<mimic joint="ghost"/>'))
    assert robot.mechanism.constraints == ()
    assert any("'ghost' is not a joint" in f.message for f in robot.findings_of("not modelled"))


def test_damping_and_friction(read):
    inside = '<axis xyz="0 0 1"/><dynamics damping="0.5" friction="2"/>'
    parts = link("a"), link("b"), joint("j", "continuous", "a", "b", inside)
    smooth = build_tree(read(*parts, friction_speed=0.1).mechanism)
    sharp = build_tree(read(*parts, friction_speed=0.0).mechanism)
    for v in (-1.0, -0.02, 0.0, 0.02, 3.0):
        (load,) = td.generalised_loads(smooth, [0.4], [v])
        assert float(load) == pytest.approx(-0.5 * v - 2 * math.tanh(v / 0.1), abs=1e-15)
        (load,) = td.generalised_loads(sharp, [0.4], [v])
        assert float(load) == pytest.approx(-0.5 * v - 2 * np.sign(v), abs=1e-15)


IMPOSSIBLE = {
    "triangle": (1.0, (0.1, 0.1, 0.3), "-0.05"),
    "negative": (1.0, (-0.01, 0.2, 0.2), "-0.01"),
    "negative mass": (-1.0, (0.1, 0.1, 0.1), "-1"),
    "without mass": (0.0, (0.1, 0.1, 0.1), "0.1"),
    "without mass, negative": (0.0, (-0.3, 0.0, 0.0), "-0.3"),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_impossible_inertia_is_reported_with_its_eigenvalue(read, case):
    mass, moments, value = IMPOSSIBLE[case]
    parts = link("a"), link("b", mass, moments=moments), joint("j", "continuous", "a", "b")
    (finding,) = read(*parts).findings_of("impossible inertia")
    assert "'b'" in finding.message and value in finding.message
    with pytest.raises(RobotFileError, match="cannot exist"):
        read(*parts, strict=True)


def test_possible_inertias_are_not_reported(read):
    """A plate has moments that just add up; rounding to six digits makes nothing impossible; a point has none."""
    moments = ((0.1, 0.2, 0.3), (0.123456, 0.123456, 0.2469121), (0, 0, 0), (1e-20, -1e-20, 0))
    links = [link(f"l{i}", moments=m) for i, m in enumerate(moments)]
    joints = [joint(f"j{i}", "fixed", "l0", f"l{i}") for i in range(1, len(moments))]
    assert read(*links, *joints, strict=True).findings_of("impossible inertia") == []


def test_floating_base(read):
    parts = link("a", 3.0), link("b"), joint("j", "continuous", "a", "b")
    assert len(build_tree(read(*parts).mechanism).layout.speeds) == 1
    tree = build_tree(read(*parts, base="floating").mechanism)
    assert tree.layout.speed_names == [*(f"root.{s}" for s in ("vx", "vy", "vz", "wx", "wy", "wz")), "j'"]
    assert float(td.mass_matrix(tree, [0, 0, 0, 1, 0, 0, 0, 0])[0][0]) == pytest.approx(4.0)


def test_merging_fixed_links_changes_no_motion():
    plain, merged = (read_robot(SAMPLE, merge_fixed=flag) for flag in (False, True))
    assert {body.name for body in plain.mechanism.bodies} - {body.name for body in merged.mechanism.bodies} == {
        "camera", "base link",
    }  # fmt: skip
    assert dict(merged.mechanism.frames).keys() == {"camera", "base link"}
    trees = [build_tree(robot.mechanism) for robot in (plain, merged)]
    rng = np.random.default_rng(3)
    q, v, a = (list(rng.normal(size=n)) for n in (13, 12, 12))
    ours, theirs = (td.inverse_dynamics(tree, q, v, a) for tree in trees)
    np.testing.assert_allclose(np.array(ours, float), np.array(theirs, float), rtol=1e-12)
    places = [td.pose(tree, frame, q).position for tree, frame in
              zip(trees, (Frame("camera"), merged.mechanism.frame("camera")), strict=True)]  # fmt: skip
    np.testing.assert_allclose(np.array(list(places[0]), float), np.array(list(places[1]), float), atol=1e-14)


ODD_NAMES = (
    "a b",
    "a/b",
    "a.b",
    "t",
    "pi",
    "earth",
    "日本",
    "join",
    "x'",
    "a`b",
    "length",
    "x" * 150,
    '"',
    "1",
    " ",
    "end",
)


def test_any_name_is_kept_or_its_change_recorded(read):
    """Links and joints share every odd name, and the mechanism still reads as text."""
    from xml.sax.saxutils import quoteattr

    links = "".join(f"<link name={quoteattr(name)}/>" for name in ODD_NAMES)
    quoted = [quoteattr(name) for name in ODD_NAMES]
    joints = "".join(
        f"<joint name={child} type='prismatic'><parent link={parent}/><child link={child}/></joint>"
        for parent, child in pairwise(quoted)
    )
    robot = read(links, joints)
    mechanism = robot.mechanism
    assert parse(to_text(mechanism)) == mechanism
    renamed = {(kind, old): new for kind, old, new in robot.renamed}
    assert [body.name for body in mechanism.bodies] == [renamed.get(("body", name), name) for name in ODD_NAMES]
    kept = {name for name in ODD_NAMES if ("body", name) not in renamed}
    assert kept == {"a b", "a/b", "a.b", "日本", "join", "length", '"', "1", "end"}
    assert len(robot.findings_of("renamed")) == len(robot.renamed)


AB = link("a") + link("b")
REFUSED = {
    "no link": ("", "no <link>"),
    "nameless link": ("<link/>", 'needs name="..."'),
    "two links": ('<link name="a"/><link name="a"/>', "two links are called 'a'"),
    "two joints": (link("a") + link("b") + joint("j", "fixed", "a", "b") * 2, "two joints are called 'j'"),
    "unknown child": (link("arm") + joint("j", "fixed", "arm", "amr"), "unknown link 'amr'.*Did you mean 'arm'"),
    "unknown type": (link("a") + link("b") + joint("j", "revolt", "a", "b"), "Did you mean 'revolute'"),
    "to itself": (link("a") + joint("j", "fixed", "a", "a"), "to itself"),
    "two roots": (link("a") + link("b"), "here there are 2: 'a', 'b'"),
    "two parents": (link("a") + link("b") + link("c") + joint("i", "fixed", "a", "c") + joint("j", "fixed", "b", "c")
                    + joint("k", "fixed", "a", "b"), "URDF describes trees"),
    "circle": (link("r") + AB + joint("i", "fixed", "a", "b") + joint("j", "fixed", "b", "a"), "circle"),
    "circle of all": (AB + joint("i", "fixed", "a", "b") + joint("j", "fixed", "b", "a"), "every link is carried"),
    "no axis": (AB + joint("j", "revolute", "a", "b", '<axis xyz="0 0 0"/>'), "axis of joint 'j' is zero"),
    "not a number": ('<link name="a"><inertial><mass value="heavy"/></inertial></link>', "'heavy'.*is not a number"),
    "underscores": ('<link name="a"><inertial><mass value="1_0"/></inertial></link>', "'1_0'"),
    "too large": ('<link name="a"><inertial><mass value="1e99"/></inertial></link>', "too large"),
    "xacro without its marks": ('<link name="a"/><include filename="a.xacro"/>', "write xacro:include"),
    "xacro value": ('<link name="a"><inertial><mass value="${m}"/></inertial></link>', "xacro"),
    "two numbers": (AB + joint("j", "fixed", "a", "b", '<origin xyz="1 2"/>'), "has 2 numbers; expected 3"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_say_where_and_why(read, case):
    text, reason = REFUSED[case]
    with pytest.raises(RobotFileError, match=rf"^robot.urdf:1: .*{reason}"):
        read(text)


def test_what_is_left_out_is_assumed_and_said(read):
    """An <inertial> without mass weighs nothing; a link "world" may be meant without being described."""
    robot = read('<link name="a"><inertial/></link>' + joint("j", "fixed", "world", "a"))
    assert float(robot.mechanism.body("a").mass) == 0.0
    assert {finding.kind for finding in robot.findings} == {"assumed"}
    said = " ".join(finding.message for finding in robot.findings)
    assert "without <mass>" in said and "fixed world" in said
    assert [j.child.body for j in robot.mechanism.joints if j.parent.body == "earth"] == ["world"]


def test_bad_shapes_do_not_matter(read):
    robot = read(link("a", extra='<visual><geometry><sphere radius="big"/></geometry></visual>'))
    assert robot.shapes == ()
    assert any("'big'" in finding.message for finding in robot.findings_of("not modelled"))


@pytest.mark.parametrize("option", [{"base": "sky"}, {"density": -1.0}, {"friction_speed": -1.0}])
def test_bad_options(option):
    with pytest.raises(RobotFileError, match="expected"):
        read_robot(SAMPLE, **option)


def humanoid() -> str:
    """A body with five limbs of joints about x, y, z in turn: 32 joints."""
    parts = [link("trunk", 20.0, (0, 0, 0.2), (0.5, 0.4, 0.3))]
    for limb, count in (("leg_l", 7), ("leg_r", 7), ("arm_l", 8), ("arm_r", 8), ("head", 2)):
        parent = "trunk"
        for k in range(count):
            name, axis = f"{limb}_{k}", ("1 0 0", "0 1 0", "0 0 1")[k % 3]
            parts.append(link(name, 1.0 + 0.1 * k, (0.01, 0.02, -0.1), (0.02, 0.03, 0.04), (0.1, 0.2, 0.3)))
            inside = f'<origin xyz="0.05 0.1 -0.2" rpy="0.1 0 {0.2 * k}"/><axis xyz="{axis}"/>'
            parts.append(joint(f"{name}_joint", "continuous", parent, name, inside))
            parent = name
    return "".join(parts)


@pytest.mark.slow
def test_forward_dynamics_of_a_humanoid_is_generated_in_few_calls(read):
    """1.3 million calls of functions; two and a half take about half a second."""
    from torseur import derive
    from torseur.computation.functions import program_of

    sizes = []

    def generate():
        robot = read(humanoid(), base="floating")
        program = program_of(derive(robot.mechanism, formalism="recursive"), ["forward_dynamics"])
        sizes.append(len(program.outputs[0].entries))

    assert calls_of(generate) < 2_500_000
    assert sizes == [38]
