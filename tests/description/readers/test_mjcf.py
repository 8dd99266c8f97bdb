"""MJCF files: what they say becomes a mechanism or a finding."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import torseur.derivation.dynamics as td
from torseur.derivation.tree import build_tree
from torseur.description.language import parse, to_text
from torseur.description.mechanism import Frame
from torseur.description.readers import RobotFileError, read_robot

SAMPLE = Path(__file__).parent / "samples" / "everything.xml"
BALL = '<geom size="0.1" mass="1"/>'


def rotation(tree, body: str, q) -> np.ndarray:
    return np.array([list(row) for row in td.pose(tree, Frame(body), q).rotation.matrix.rows], dtype=float)


def position(tree, frame: Frame, q) -> np.ndarray:
    return np.array(list(td.pose(tree, frame, q).position), dtype=float)


def about(axis, angle: float) -> np.ndarray:
    """Rodrigues' formula."""
    x, y, z = np.array(axis, dtype=float) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * k @ k


def test_sample_is_printed_and_read_as_a_description():
    mechanism = read_robot(SAMPLE).mechanism
    assert parse(to_text(mechanism)) == mechanism


def test_what_is_not_modelled_is_listed():
    messages = [finding.message for finding in read_robot(SAMPLE).findings]
    for word in (
        "<light>",
        "<sensor>",
        "<keyframe>",
        "<muscle>",
        "not active",
        "range of <joint>",
    ):
        assert any(word in message for message in messages), word


def test_unknown_attributes_are_listed_also_in_defaults(read_mjcf):
    robot = read_mjcf(
        f'<body shine="1"><joint axis="0 0 1"/>{BALL}</body>', '<default><joint glow="2"/><geom haze="1"/></default>'
    )
    assert {f.message for f in robot.findings_of("not modelled")} == {
        "shine of <body>.",
        "glow of <joint>.",
        "haze of <geom>.",
    }


GEOMS = {
    "sphere": ('type="sphere" size="0.2"', 4 / 3 * math.pi * 0.008, (0.4 * 0.04,) * 3),
    "box": ('type="box" size="0.1 0.2 0.3"', 0.048, (0.13 / 3, 0.1 / 3, 0.05 / 3)),
    "cylinder": ('type="cylinder" size="0.1 0.3"', math.pi * 0.01 * 0.6, (0.01 / 4 + 0.03, 0.01 / 4 + 0.03, 0.005)),
    "ellipsoid": ('type="ellipsoid" size="0.1 0.2 0.3"', 4 / 3 * math.pi * 0.006, (0.13 / 5, 0.1 / 5, 0.05 / 5)),
}


@pytest.mark.parametrize("kind", GEOMS)
@pytest.mark.parametrize("weight", ["density", "mass"])
def test_inertia_from_geoms(read_mjcf, kind, weight):
    """Oracle: closed forms of homogeneous solids."""
    text, volume, gyration = GEOMS[kind]
    robot = read_mjcf(f'<body><freejoint/><geom {text} {weight}="700" pos="0.5 0 0"/></body>')
    (body,) = robot.mechanism.bodies
    mass = 700 * volume if weight == "density" else 700.0
    assert float(body.mass) == pytest.approx(mass)
    assert [float(c) for c in body.iframe.position] == pytest.approx([0.5, 0, 0])
    assert [float(c) for c in body.inertia.components[:3]] == pytest.approx([mass * g for g in gyration])


def test_capsule_by_quadrature(read_mjcf):
    """Oracle: integrals of discs along the axis."""
    radius, half = 0.1, 0.25
    robot = read_mjcf(
        f'<body><freejoint/><geom type="capsule" fromto="0 0 -{half} 0 0 {half}" size="{radius}"/></body>'
    )
    (body,) = robot.mechanism.bodies
    nodes, weights = np.polynomial.legendre.leggauss(40)

    def integral(low, high, f):
        x = (high - low) / 2 * nodes + (high + low) / 2
        return (high - low) / 2 * np.sum(weights * f(x))

    def square(z):
        return radius**2 - np.maximum(np.abs(z) - half, 0) ** 2

    parts = [(-half - radius, -half), (-half, half), (half, half + radius)]
    mass = sum(integral(a, b, lambda z: 1000 * math.pi * square(z)) for a, b in parts)
    spin = sum(integral(a, b, lambda z: 1000 * math.pi * square(z) ** 2 / 2) for a, b in parts)
    across = sum(integral(a, b, lambda z: 1000 * math.pi * (square(z) ** 2 / 4 + square(z) * z**2)) for a, b in parts)
    assert float(body.mass) == pytest.approx(mass)
    assert [float(c) for c in body.inertia.components[:3]] == pytest.approx([across, across, spin])


def test_geoms_add_up_and_frames_place_them(read_mjcf):
    """Two equal balls, one inside a turned frame: their centre is the mean of their places."""
    inside = '<frame pos="1 0 0" axisangle="0 0 1 1.5707963267948966"><geom size="0.1" mass="2" pos="1 0 0"/></frame>'
    robot = read_mjcf(f'<body><freejoint/><geom size="0.1" mass="2"/>{inside}</body>')
    (body,) = robot.mechanism.bodies
    assert [float(c) for c in body.iframe.position] == pytest.approx([0.5, 0.5, 0])
    assert float(body.inertia.components[2]) == pytest.approx(2 * 2 * 0.4 * 0.01 + 4 * 0.5)


ORIENTATIONS = {
    "quat": ('quat="0.8 0 0.6 0"', "radian", about((0, 1, 0), 2 * math.atan2(0.6, 0.8))),
    "quat of any length": ('quat="-8 0 -6 0"', "radian", about((0, 1, 0), 2 * math.atan2(0.6, 0.8))),
    "axisangle": ('axisangle="1 2 2 0.7"', "radian", about((1, 2, 2), 0.7)),
    "axisangle in degrees": ('axisangle="0 3 0 30"', "degree", about((0, 1, 0), math.pi / 6)),
    "xyaxes": ('xyaxes="0 2 0 -3 1 0"', "radian", about((0, 0, 1), math.pi / 2)),
    "zaxis": ('zaxis="1 0 1"', "radian", about((0, 1, 0), math.pi / 4)),
    "zaxis down": ('zaxis="0 0 -1"', "radian", about((1, 0, 0), math.pi)),
    "euler": ('euler="0.1 0.2 0.3"', "radian", about((1, 0, 0), 0.1) @ about((0, 1, 0), 0.2) @ about((0, 0, 1), 0.3)),
}


@pytest.mark.parametrize("case", ORIENTATIONS)
def test_orientations(read_mjcf, case):
    text, angle, expected = ORIENTATIONS[case]
    tree = build_tree(read_mjcf(f'<body name="a" {text}>{BALL}</body>', compiler=f'angle="{angle}"').mechanism)
    np.testing.assert_allclose(rotation(tree, "a", []), expected, atol=1e-15)


@pytest.mark.parametrize("order", ["xyz", "zyx", "XYZ", "zXz", "YxZ"])
def test_euler_sequences(read_mjcf, order):
    """Small letters turn with the frame, capitals stay with the parent."""
    angles, axes = (0.1, -0.7, 1.3), {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    expected = np.eye(3)
    for letter, angle in zip(order, angles, strict=True):
        step = about(axes[letter.lower()], angle)
        expected = expected @ step if letter.islower() else step @ expected
    compiler = f'angle="radian" eulerseq="{order}"'
    tree = build_tree(read_mjcf(f'<body name="a" euler="0.1 -0.7 1.3">{BALL}</body>', compiler=compiler).mechanism)
    np.testing.assert_allclose(rotation(tree, "a", []), expected, atol=1e-15)


def test_joints_of_one_body_follow_each_other(read_mjcf):
    """Oracle: MuJoCo's rule, transformations of the body frame one after the other, each about its point."""
    joints = (
        '<joint name="s" type="slide" axis="1 2 2" ref="0.4"/>'
        '<joint name="h" axis="0 1 0" pos="0.1 0 0.3" ref="0.2"/>'
        '<joint name="k" axis="1 0 1" pos="0 0.2 0"/>'
    )
    robot = read_mjcf(f'<body name="a" pos="1 2 3" euler="0.3 0.2 0.1">{joints}{BALL}</body>')
    tree = build_tree(robot.mechanism)
    q = {"s": 0.9, "h": -0.5, "k": 0.8}
    turned, place = about((1, 0, 0), 0.3) @ about((0, 1, 0), 0.2) @ about((0, 0, 1), 0.1), np.array([1.0, 2, 3])
    place = place + turned @ np.array([1, 2, 2]) / 3 * (q["s"] - 0.4)
    for axis, point, angle in (((0, 1, 0), (0.1, 0, 0.3), q["h"] - 0.2), ((1, 0, 1), (0, 0.2, 0), q["k"])):
        held = place + turned @ point
        turned = turned @ about(axis, angle)
        place = held - turned @ point
    values = [q[name] for name in tree.layout.coordinate_names]
    np.testing.assert_allclose(rotation(tree, "a", values), turned, atol=1e-14)
    np.testing.assert_allclose(position(tree, Frame("a"), values), place, atol=1e-14)
    assert {name: float(value) for name, value in robot.mechanism.initial} == {"s": 0.4, "h": 0.2}


def test_ball_and_free_joints(read_mjcf):
    robot = read_mjcf(
        f'<body name="a" pos="0 0 1"><joint name="b" type="ball" pos="0 0 0.5"/>{BALL}</body>'
        f'<body name="c" pos="1 2 3" quat="0.6 0 0.8 0"><freejoint name="f"/>{BALL}</body>'
    )
    tree = build_tree(robot.mechanism)
    turned = dict(zip(("b.qw", "b.qx", "b.qy", "b.qz"), (math.cos(0.4), math.sin(0.4), 0, 0), strict=True))
    start = {name: float(value) for name, value in robot.mechanism.initial}
    values = [turned.get(name, start.get(name, 0.0)) for name in tree.layout.coordinate_names]
    held = np.array([0, 0, 1.5])
    np.testing.assert_allclose(
        position(tree, Frame("a"), values), held - about((1, 0, 0), 0.8) @ [0, 0, 0.5], atol=1e-15
    )
    np.testing.assert_allclose(position(tree, Frame("c"), values), [1, 2, 3], atol=1e-15)
    np.testing.assert_allclose(rotation(tree, "c", values), about((0, 1, 0), 2 * math.atan2(0.8, 0.6)), atol=1e-15)


def test_springs_in_degrees_and_radians(read_mjcf):
    """Angles are written in degrees, stiffness per radian."""
    joint = '<joint name="h" axis="0 0 1" stiffness="2 0.3 0.4" damping="0.5 0.6 0.7" springref="90"/>'
    tree = build_tree(read_mjcf(f"<body>{joint}{BALL}</body>", compiler='angle="degree"').mechanism)
    q, v = 2.0, -1.5
    x = q - math.pi / 2
    expected = -(2 * x + 0.3 * x**2 + 0.4 * x**3) - (0.5 * v + 0.6 * v * abs(v) + 0.7 * v**3)
    (load,) = td.generalised_loads(tree, [q], [v])
    assert float(load) == pytest.approx(expected, rel=1e-14)


def test_defaults_and_classes(read_mjcf):
    rest = """<default><joint damping="1"/><default class="soft"><joint damping="0.1"/><default class="softer">
      <joint stiffness="5"/></default></default></default>"""
    bodies = "".join(
        f'<body {child}><joint name="{name}" axis="0 0 1" {given}/>{BALL}</body>'
        for name, child, given in (
            ("plain", "", ""), ("inherited", 'childclass="soft"', ""), ("nested", "", 'class="softer"'),
            ("given", 'childclass="softer"', 'damping="7"'), ("back", 'childclass="softer"', 'class="main"'),
        )
    )  # fmt: skip
    springs = {
        load.joint: (float(load.stiffness), float(load.damping)) for load in read_mjcf(bodies, rest).mechanism.loads
    }
    assert springs == {"plain": (0, 1), "inherited": (0, 0.1), "nested": (5, 0.1), "given": (5, 7), "back": (0, 1)}


CORRECTIONS = {
    "boundmass": ('boundmass="5"', (5.0, (0.1, 0.2, 0.25))),
    "boundinertia": ('boundinertia="0.15"', (2.0, (0.15, 0.2, 0.25))),
    "balanced": ('balanceinertia="true"', (2.0, (0.1, 0.2, 0.25))),
    "total": ('settotalmass="6"', (6.0, (0.3, 0.6, 0.75))),
}


@pytest.mark.parametrize("case", CORRECTIONS)
def test_corrections_of_inertia(read_mjcf, case):
    compiler, (mass, moments) = CORRECTIONS[case]
    robot = read_mjcf(
        '<body><freejoint/><inertial pos="0 0 0" mass="2" diaginertia="0.1 0.2 0.25"/></body>', compiler=compiler
    )
    (body,) = robot.mechanism.bodies
    assert float(body.mass) == mass
    assert sorted(float(c) for c in body.inertia.components[:3]) == pytest.approx(moments)


def test_balancing_an_impossible_inertia(read_mjcf):
    body = '<body><freejoint/><inertial pos="0 0 0" mass="2" diaginertia="0.1 0.1 0.4"/></body>'
    assert len(read_mjcf(body).findings_of("impossible inertia")) == 1
    with pytest.raises(RobotFileError, match="cannot exist"):
        read_mjcf(body, strict=True)
    (balanced,) = read_mjcf(body, compiler='balanceinertia="true"', strict=True).mechanism.bodies
    assert [float(c) for c in balanced.inertia.components[:3]] == pytest.approx([0.2, 0.2, 0.2])


def test_inertia_from_geoms_can_replace_what_is_given(read_mjcf):
    body = '<body><freejoint/><inertial pos="0 0 0" mass="9" diaginertia="1 1 1"/><geom size="0.1" mass="2"/></body>'
    masses = [
        float(read_mjcf(body, compiler=f'inertiafromgeom="{how}"').mechanism.bodies[0].mass) for how in ("auto", "true")
    ]
    assert masses == [9.0, 2.0]


GIVEN = '<inertial pos="0.1 0 0" mass="9" diaginertia="1 2 2.5"/>'


@pytest.mark.parametrize("geoms", ["", '<geom size="0.1" mass="2" group="4"/>'])
def test_inertia_stays_where_no_geom_replaces_it(read_mjcf, geoms):
    """mjCBody::InertiaFromGeom changes nothing in a body without geoms of the groups that count."""
    compiler = 'inertiafromgeom="true" inertiagrouprange="0 2"'
    (body,) = read_mjcf(f"<body><freejoint/>{GIVEN}{geoms}</body>", compiler=compiler).mechanism.bodies
    assert float(body.mass) == 9.0
    assert sorted(float(c) for c in body.inertia.components[:3]) == [1.0, 2.0, 2.5]


def test_only_groups_in_range_weigh(read_mjcf):
    body = '<body><freejoint/><geom size="0.1" mass="2"/><geom size="0.1" mass="5" group="3"/></body>'
    assert float(read_mjcf(body, compiler='inertiagrouprange="0 2"').mechanism.bodies[0].mass) == 2.0


def test_missing_meshes_leave_symbols(read_mjcf):
    robot = read_mjcf(
        '<body name="a"><freejoint/><geom type="mesh" mesh="m"/></body>', '<asset><mesh name="m" file="m.stl"/></asset>'
    )
    assert robot.mechanism.bodies[0].mass is None
    assert any("'m.stl' is not there" in finding.message for finding in robot.findings_of("missing mesh"))


def test_mesh_written_in_place(read_mjcf):
    """Oracle: a tetrahedron with edges a along the axes has volume a³/6 and its centre at a/4."""
    asset = '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="0.6 0.6 0.6"/></asset>'
    (body,) = read_mjcf('<body><freejoint/><geom type="mesh" mesh="m"/></body>', asset).mechanism.bodies
    assert float(body.mass) == pytest.approx(1000 * 0.216 / 6)
    assert [float(c) for c in body.iframe.position] == pytest.approx([0.15] * 3)


def test_gravity_and_its_compensation(read_mjcf):
    robot = read_mjcf(
        f'<body gravcomp="0.25"><joint type="slide" axis="0 0 1"/>{BALL}</body>', '<option gravity="0 0 -2"/>'
    )
    tree = build_tree(robot.mechanism)
    (weight,), (lift,) = td.bias(tree, [0.0], [0.0]), td.generalised_loads(tree, [0.0], [0.0])
    assert (float(weight), float(lift)) == pytest.approx((2.0, 0.5))
    floating = read_mjcf(f"<body><freejoint/>{BALL}</body>", '<option><flag gravity="disable"/></option>')
    assert [float(g) for g in floating.mechanism.gravity] == [0, 0, 0]


def test_keyframes_give_the_initial_state():
    start = {name: float(value) for name, value in read_robot(SAMPLE, keyframe="start").mechanism.initial}
    assert (start["rail"], start["wrist y"], start["box.joint.y"]) == (0.2, 0.4, 1.0)
    assert "follow" not in start  # another joint determines it
    with pytest.raises(RobotFileError, match=r"unknown keyframe 'strat'.*Did you mean 'start'"):
        read_robot(SAMPLE, keyframe="strat")


def test_speeds_of_a_keyframe_turn_with_the_body(read_mjcf):
    """MuJoCo gives the velocity of a free body along the world's axes, a mechanism along the body's."""
    key = '<keyframe><key qpos="0 0 0 0.6 0 0 0.8" qvel="1 0 0 0.1 0.2 0.3"/></keyframe>'
    robot = read_mjcf(f'<body><freejoint name="f"/>{BALL}</body>', key, keyframe="0")
    start = {name: float(value) for name, value in robot.mechanism.initial}
    turned = about((0, 0, 1), 2 * math.atan2(0.8, 0.6)).T @ [1, 0, 0]
    assert [start.get(f"f.v{a}", 0.0) for a in "xyz"] == pytest.approx(list(turned))
    assert [start[f"f.w{a}"] for a in "xyz"] == [0.1, 0.2, 0.3]


def test_included_files(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.xml").write_text(
        f'<mujocoinclude><body name="arm"><joint name="j"/>{BALL}</body></mujocoinclude>'
    )
    main = tmp_path / "robot.xml"
    main.write_text('<mujoco><worldbody><include file="parts/arm.xml"/></worldbody></mujoco>')
    assert [body.name for body in read_robot(main).mechanism.bodies] == ["arm"]


@pytest.mark.parametrize(
    ("file", "reason"),
    [("../../../../../secret.xml", "far from"), ("/etc/hostname", "far from"), ("notes.txt", "ends in .xml"),
     ("gone.xml", "no file"), ("", "needs file"), ("robot.xml", "included twice"), ("../sister/part.xml", "included twice")],
)  # fmt: skip
def test_refused_includes(tmp_path, file, reason):
    """Files a few folders up may be included, but each only once."""
    (tmp_path / "secret.xml").write_text("<mujoco/>")
    folder = tmp_path / "robots" / "model"
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("<mujoco/>")
    (folder.parent / "sister").mkdir()
    (folder.parent / "sister" / "part.xml").write_text("<mujoco/>")
    (folder / "robot.xml").write_text(f'<mujoco><include file="{file}"/><include file="{file}"/></mujoco>')
    with pytest.raises(RobotFileError, match=reason):
        read_robot(folder / "robot.xml")


def test_base_can_be_held_or_freed(read_mjcf):
    free = f'<body name="a" pos="1 2 3"><freejoint/>{BALL}<body><joint/>{BALL}</body></body>'
    held = f'<body name="a" pos="1 2 3">{BALL}<body><joint/>{BALL}</body></body><body name="prop">{BALL}</body>'
    for text, base, freedoms in ((free, "file", 7), (free, "fixed", 1), (held, "file", 1), (held, "floating", 7)):
        tree = build_tree(read_mjcf(text, base=base).mechanism)
        assert len(tree.layout.speeds) == freedoms
    tree = build_tree(read_mjcf(free, base="fixed").mechanism)
    np.testing.assert_allclose(position(tree, Frame("a"), [0.4]), [1, 2, 3])


def test_names_of_the_file_are_kept_or_recorded(read_mjcf):
    robot = read_mjcf(
        f'<body name="t"><joint name="t"/><site name="t"/>{BALL}</body><body name="a b/c"><joint/>{BALL}</body>'
    )
    assert set(robot.renamed) == {
        ("body", "t", "t_2"), ("joint", "t", "t_2"), ("frame", "t", "t_3"),
    }  # fmt: skip
    assert parse(to_text(robot.mechanism)) == robot.mechanism


REFUSED = {
    "global": ("", "", 'coordinate="global"', 'coordinate="global"'),
    "two bodies": ('<body name="a"/><body name="a"/>', "", "", "two bodies are called 'a'"),
    "two joints": (f'<body><joint name="j"/>{BALL}</body><body><joint name="j"/>{BALL}</body>', "", "", "two joints"),
    "joint type": (f'<body><joint type="hing"/>{BALL}</body>', "", "", "Did you mean 'hinge'"),
    "geom type": ('<body><geom type="capsul" size="1 1 1"/></body>', "", "", "Did you mean 'capsule'"),
    "sizes": ('<body><geom type="box" size="1 1"/></body>', "", "", "needs 3 sizes, got 2"),
    "free inside": (f'<body>{BALL}<body><freejoint/>{BALL}</body></body>', "", "", "stands alone"),
    "axis": (f'<body><joint axis="0 0 0"/>{BALL}</body>', "", "", "has no length"),
    "class": (f'<body><joint class="sotf"/>{BALL}</body>', '<default><default class="soft"/></default>', "", "Did you mean 'soft'"),
    "mesh": ('<body><geom type="mesh" mesh="wegde"/></body>', '<asset><mesh file="wedge.stl"/></asset>', "", "Did you mean 'wedge'"),
    "connect": ("", '<equality><connect body1="gone" anchor="0 0 0"/></equality>', "", "unknown body 'gone'"),
    "itself": ('<body name="a"/>', '<equality><connect body1="a" body2="a" anchor="0 0 0"/></equality>', "", "to itself"),
    "actuator": ("", '<actuator><motor joint="gone"/></actuator>', "", "unknown joint 'gone'"),
    "quaternion": ('<body quat="0 0 0 0"/>', "", "", "quaternion of <body> is zero"),
    "euler": ("", "", 'eulerseq="xyq"', "expected three of"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_say_where_and_why(read_mjcf, case):
    bodies, rest, compiler, reason = REFUSED[case]
    with pytest.raises(RobotFileError, match=rf"^robot.xml:1: .*{reason}"):
        read_mjcf(bodies, rest, compiler)


def test_defaults_that_hinges_read_do_not_hide_what_balls_lack(read_mjcf):
    """A class gives stiffness and range to all joints; only hinges have them here, and the ball is listed."""
    arm = f'<body pos="1 0 0"><joint name="b" type="ball"/>{BALL}</body>'
    rest = '<default><joint stiffness="3" range="-10 10" frictionloss="0.1"/></default>'
    robot = read_mjcf(f'<body><joint name="h" axis="0 0 1"/>{BALL}{arm}</body>', rest)
    listed = " ".join(finding.message for finding in robot.findings_of("not modelled"))
    for words in ("springs of ball", "limits of ball", "dry friction of ball"):
        assert words in listed
