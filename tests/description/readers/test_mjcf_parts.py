"""MJCF: replicas, nested includes, inertia of tendons, ranges of controls and forces, parts that are missing."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
import torseur.derivation.dynamics as td
from torseur.derivation.tree import build_tree
from torseur.description.mechanism import Frame
from torseur.description.readers import RobotFileError, read_robot

BALL = '<geom size="0.1" mass="1"/>'
TWO = "".join(f'<body><joint name="{n}" axis="0 0 1"/>{BALL}</body>' for n in "xy")


def tree_of(robot, **controls):
    values = {p.name: float(p.value) for p in robot.mechanism.parameters}
    return build_tree(robot.mechanism).with_parameters(values | controls)


def test_replicas_stand_where_mujoco_puts_them(read_mjcf):
    """Oracle: each frame is the one before moved by the offset and turned; names as MuJoCo 4.0 makes them."""
    inside = f'<body name="b" pos="1 0 0"><joint name="j" axis="0 0 1"/>{BALL}<site name="s" pos="0 0.5 0"/></body>'
    text = f'<replicate count="11" offset="0.1 0.2 0" euler="0 0 0.3" sep="-">{inside}</replicate>'
    robot = read_mjcf(text, '<actuator><motor name="m" joint="j" gear="2"/></actuator>')
    assert [b.name for b in robot.mechanism.bodies] == [f"b-{k:02d}" for k in range(11)]
    assert [c.actuator for c in robot.controls] == [f"m-{k:02d}" for k in range(11)]
    tree, q = tree_of(robot), [0.0] * 11
    places = [[float(c) for c in td.pose(tree, Frame(f"b-{k:02d}"), q).position] for k in (0, 1, 2)]
    np.testing.assert_allclose(places, [[1, 0, 0], [1.05533649, 0.49552021, 0], [0.96176522, 0.98526179, 0]], atol=1e-8)
    assert "s-10" in dict(robot.mechanism.frames)


def test_replicas_within_replicas(read_mjcf):
    """Names as MuJoCo 4.0 makes them: the inner number first."""
    inner = '<replicate count="2" offset="1 0 0"><site name="q"/></replicate>'
    robot = read_mjcf(
        f'<body><joint axis="0 0 1"/>{BALL}<replicate count="2" offset="0 0 1">{inner}</replicate></body>'
    )
    frames = {n: [float(c) for c in f.placement.position] for n, f in robot.mechanism.frames}
    assert frames == {"q00": [0, 0, 0], "q10": [1, 0, 0], "q01": [0, 0, 1], "q11": [1, 0, 1]}


def test_a_reference_to_replicas_and_others_is_refused(read_mjcf):
    rest = '<equality><joint joint1="j" joint2="x"/></equality>'
    with pytest.raises(RobotFileError, match="'j', which is replicated, and to 'x', which is not"):
        read_mjcf(f'{TWO}<replicate count="2"><body><joint name="j"/>{BALL}</body></replicate>', rest)


def test_controls_are_numbered_as_mujoco_numbers_them(read_mjcf):
    """Names in the order of MuJoCo 4.0: what is written once, then replica by replica, each with all its actuators."""
    two = f'<body><joint name="a" axis="0 0 1"/>{BALL}<body><joint name="b" axis="0 0 1"/>{BALL}</body></body>'
    text = f'{TWO}<replicate count="2">{two}</replicate><replicate count="2" sep="_"><replicate count="2"><body><joint name="c"/>{BALL}</body></replicate></replicate>'
    motors = "".join(f'<motor name="m{joint}" joint="{joint}"/>' for joint in "xacyb")
    controls = read_mjcf(text, f"<actuator>{motors}</actuator>").controls
    names = " ".join(c.actuator for c in controls)
    assert names == "mx my ma0 mb0 ma1 mb1 mc0_0 mc1_0 mc0_1 mc1_1"
    assert [c.number for c in controls] == list(range(10))


def test_replicated_tendons_share_what_is_not_replicated(read_mjcf):
    """As MuJoCo 4.0 has it: one tendon from the hook to each lamp, with its spring, and the names of replicas."""
    lamps = f'<site name="hook"/><replicate count="3" offset="1 0 0"><body><freejoint/>{BALL}<site name="lamp"/></body></replicate>'
    wires = '<tendon><spatial name="wire" stiffness="5" springlength="0.5"><site site="hook"/><site site="lamp"/></spatial></tendon>'
    robot = read_mjcf(lamps, wires)
    names = [load.name for load in robot.mechanism.loads]
    assert names == ["wire0.spring", "wire1.spring", "wire2.spring"]
    tree, n = tree_of(robot), len(robot.mechanism.bodies)
    q = [x for k in range(n) for x in (0.0, 0.0, -1.0 - k, 1.0, 0.0, 0.0, 0.0)]
    pull = np.array(td.generalised_loads(tree, q, [0.0] * 6 * n), float).reshape(n, 6)
    np.testing.assert_allclose(pull[:, 2], [5 * (k + 1 - 0.5) for k in range(n)], atol=1e-12)  # k (length - rest)


def test_meshes_beside_an_included_file(tmp_path):
    """Where MuJoCo 4.0 looks: in the model's folder of meshes, then beside the file that is included."""
    (tmp_path / "parts" / "shapes").mkdir(parents=True)
    corners = [(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)]
    faces = [(1, 3, 2), (1, 2, 4), (1, 4, 3), (2, 3, 4)]
    mesh = "".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "".join(f"f {a} {b} {c}\n" for a, b, c in faces)
    (tmp_path / "parts" / "shapes" / "wedge.obj").write_text(mesh, encoding="utf-8")
    asset = '<mujoco><asset><mesh name="wedge" file="shapes/wedge.obj" inertia="exact"/></asset></mujoco>'
    (tmp_path / "parts" / "assets.xml").write_text(asset, encoding="utf-8")
    body = '<worldbody><body name="b"><freejoint/><geom type="mesh" mesh="wedge" density="6000"/></body></worldbody>'
    for folder in ("", '<compiler meshdir="elsewhere"/>'):
        path = tmp_path / "model.xml"
        path.write_text(f'<mujoco>{folder}<include file="parts/assets.xml"/>{body}</mujoco>', encoding="utf-8")
        robot = read_robot(path)
        assert not robot.findings or not robot.findings_of("missing mesh")
        assert float(robot.mechanism.bodies[0].mass) == pytest.approx(6000 * 0.1**3 / 6, rel=1e-6)


def test_attached_models_are_called_as_they_call_themselves(tmp_path):
    (tmp_path / "hand.xml").write_text(
        f'<mujoco model="Claw"><worldbody><body name="palm"><joint name="j"/>{BALL}</body></worldbody></mujoco>', encoding="utf-8"
    )  # fmt: skip
    text = '<mujoco><asset><model file="hand.xml"/></asset><worldbody><body><joint/><geom size="1"/><attach {}/></body></worldbody></mujoco>'
    path = tmp_path / "arm.xml"
    path.write_text(text.format('model="Claw" body="palm" prefix="a_"'), encoding="utf-8")
    assert "a_palm" in [body.name for body in read_robot(path).mechanism.bodies]
    path.write_text(text.format('model="hand" prefix="a_"'), encoding="utf-8")
    with pytest.raises(RobotFileError, match="unknown model 'hand'. Models: Claw"):
        read_robot(path)
    path.write_text(
        '<mujoco><worldbody><frame name="f"/><attach frame="f" prefix="a_"/></worldbody></mujoco>', encoding="utf-8"
    )
    with pytest.raises(RobotFileError, match="without model"):
        read_robot(path)


def test_tendons_have_inertia(read_mjcf):
    """Oracle: ½ A (Σ c q')² adds A c cᵀ to the mass matrix; no momentum comes with it."""
    rest = '<tendon><fixed armature="0.7"><joint joint="x" coef="2"/><joint joint="y" coef="-1"/></fixed></tendon>'
    robot, plain = read_mjcf(TWO, rest), read_mjcf(TWO)
    with_it, without = (np.array(td.mass_matrix(tree_of(r), [0.2, 0.3]), float) for r in (robot, plain))
    np.testing.assert_allclose(with_it - without, 0.7 * np.outer([2, -1], [2, -1]), atol=1e-13)
    spins = [float(td.centroidal_momentum(tree_of(r), [0.2, 0.3], [1.0, 2.0]).moment.z) for r in (robot, plain)]
    assert spins[0] == pytest.approx(spins[1])
    # MuJoCo's mass matrix has no entry for two branches: said, because motions differ.
    chain = f'<body><joint name="x" axis="0 0 1"/>{BALL}<body><joint name="y" axis="0 0 1"/>{BALL}</body></body>'
    assert [r.findings_of("assumed") != () and "several branches" in str(r.findings_of("assumed")) for r in
            (robot, read_mjcf(chain, rest))] == [True, False]  # fmt: skip


def test_controls_and_forces_stay_in_their_ranges(read_mjcf):
    """Oracle: MuJoCo's rules. A control is clipped to ctrlrange, the sum at a joint to its actuatorfrcrange."""
    bodies = f'<body><joint name="h" axis="0 0 1" actuatorfrcrange="-3 5"/>{BALL}</body>'
    rest = """<actuator><motor name="a" joint="h" ctrlrange="-1 2" gear="2"/><motor name="b" joint="h"/></actuator>"""
    robot = read_mjcf(bodies, rest)
    for a, b, expected in ((0.5, 0.25, 1.25), (9.0, 0.5, 4.5), (9.0, 7.0, 5.0), (-9.0, -2.0, -3.0)):
        tree = tree_of(robot, **{"a.control": a, "b.control": b})
        assert float(td.generalised_loads(tree, [0.0], [0.0])[0]) == pytest.approx(expected)
    free = read_mjcf(bodies, f'<option><flag clampctrl="disable"/></option>{rest}')
    tree = tree_of(free, **{"a.control": 2.4, "b.control": 0.0})
    assert float(td.generalised_loads(tree, [0.0], [0.0])[0]) == pytest.approx(4.8)


def test_includes_are_found_beside_the_file_that_names_them(tmp_path):
    (tmp_path / "parts" / "inner").mkdir(parents=True)
    arm = f'<mujocoinclude><body name="arm"><joint axis="0 0 1"/>{BALL}</body></mujocoinclude>'
    (tmp_path / "parts" / "inner" / "arm.xml").write_text(arm, encoding="utf-8")
    outer = '<mujocoinclude><include file="inner/arm.xml"/></mujocoinclude>'
    (tmp_path / "parts" / "arms.xml").write_text(outer, encoding="utf-8")
    model = '<mujoco><worldbody><include file="parts/arms.xml"/></worldbody></mujoco>'
    (tmp_path / "robot.xml").write_text(model, encoding="utf-8")
    assert [b.name for b in read_robot(tmp_path / "robot.xml").mechanism.bodies] == ["arm"]


def test_missing_bodies_need_the_users_word(read_mjcf):
    bodies = f'{TWO}<body name="b"><joint axis="0 0 1"/>{BALL}<composite type="cable" count="5 1 1"/></body>'
    with pytest.raises(RobotFileError, match="<composite> holds bodies that are not read.*partial=True"):
        read_mjcf(bodies)
    robot = read_mjcf(bodies, partial=True)
    assert any("<composite>" in finding.message for finding in robot.findings_of("not modelled"))


def test_keyframes_with_speeds_go_both_ways(tmp_path):
    """Written and read again, a start with speeds is the same; a follower starts where its leader puts it."""
    from torseur.description.readers import write_robot

    text = f"""<mujoco><compiler angle="radian"/><worldbody>{TWO}</worldbody>
      <equality><joint joint1="y" joint2="x" polycoef="0.5 2 0 0 0"/></equality>
      <keyframe><key name="k" qpos="0.3 1.1" qvel="0.7 1.4"/></keyframe></mujoco>"""
    (tmp_path / "one.xml").write_text(text, encoding="utf-8")
    robot = read_robot(tmp_path / "one.xml", keyframe="k")
    assert {n: float(x) for n, x in robot.mechanism.initial} == {"x": 0.3, "x'": 0.7}
    assert robot.findings_of("assumed") == []
    write_robot(robot, tmp_path / "two.xml")
    again = read_robot(tmp_path / "two.xml", keyframe="initial")
    assert dict(again.mechanism.initial) == dict(robot.mechanism.initial)
    assert again.findings_of("assumed") == []  # the follower was written where its leader puts it


HAND = """<mujoco model="hand"><compiler angle="{unit}" eulerseq="zyx"/>
<default><joint armature="0.01"/><geom density="500"/><default class="finger"><geom type="capsule" size="0.02 0.05"/></default></default>
<worldbody><body name="palm" pos="0 0 0.1" euler="{turned}"><geom type="box" size="0.05 0.03 0.02"/>
<body name="finger" childclass="finger" pos="0.05 0 0"><joint name="slide" type="slide" axis="1 0 0" range="0 0.03"/><geom/></body>
<body name="thumb"><joint name="turn" type="hinge" axis="0 1 0" range="{span}"/><geom size="0.03" pos="0.1 0 0"/></body></body>
<body name="far"><joint name="far" type="hinge"/><geom size="0.1"/></body></worldbody>
<actuator><motor name="pull" joint="turn" gear="3"/><motor name="other" joint="far"/></actuator></mujoco>"""


@pytest.mark.parametrize(
    ("unit", "turned", "span"), [("radian", "0.3 0.2 0.1", "-1 0.5"), ("degree", "17.188733853924695 11.459155902616466 5.729577951308232", "-57.29577951308232 28.64788975654116")]
)  # fmt: skip
def test_an_attached_hand_is_the_hand_written_in_place(tmp_path, unit, turned, span):
    """Oracle: the same model written by hand in one file, with the hand's defaults and the prefix on its names."""
    (tmp_path / "hand.xml").write_text(HAND.format(unit=unit, turned=turned, span=span), encoding="utf-8")
    arm = """<mujoco><compiler angle="radian"/><default><geom density="2000"/></default>{asset}<worldbody>
    <body name="arm" pos="0 0 1"><joint name="swing" axis="0 1 0"/><geom type="capsule" size="0.04" fromto="0 0 0 0.4 0 0"/>
    <frame pos="0.4 0 0" euler="0 0.7 0">{hand}</frame></body></worldbody>{actuators}</mujoco>"""
    attach = '<attach model="hand" body="palm" prefix="left_"/>'
    asset = '<asset><model name="hand" file="hand.xml"/></asset>'
    # Turned about z by 0.3, then y by 0.2, then x by 0.1: three frames in one another.
    written = """<frame pos="0 0 0.1" euler="0 0 0.3"><frame euler="0 0.2 0"><frame euler="0.1 0 0"><body name="left_palm">
    <geom type="box" size="0.05 0.03 0.02" density="500"/>
    <body name="left_finger" pos="0.05 0 0"><joint name="left_slide" type="slide" axis="1 0 0" armature="0.01" range="0 0.03"/><geom type="capsule" size="0.02 0.05" density="500"/></body>
    <body name="left_thumb"><joint name="left_turn" axis="0 1 0" armature="0.01" range="-1 0.5"/><geom size="0.03" pos="0.1 0 0" density="500"/></body></body></frame></frame></frame>"""
    motor = '<actuator><motor name="left_pull" joint="left_turn" gear="3"/></actuator>'
    texts = {
        "attached": arm.format(asset=asset, hand=attach, actuators=""),
        "whole": arm.format(asset="", hand=written, actuators=motor),
    }
    robots = {}
    for name, text in texts.items():
        (tmp_path / f"{name}.xml").write_text(text, encoding="utf-8")
        robots[name] = ts.Robot(tmp_path / f"{name}.xml")
    one, other = robots["attached"], robots["whole"]
    assert one.coordinate_names == other.coordinate_names == ["swing", "left_slide", "left_turn"]
    q, v, a = np.array([[0.4, 0.02, -0.7], [1.0, 0.3, -2.0], [0.5, 0.6, 0.7]])
    np.testing.assert_allclose(one.rnea(q, v, a), other.rnea(q, v, a), atol=1e-12)
    np.testing.assert_allclose(one.limits, other.limits, atol=1e-12)
    assert [c.parameter for c in one.file.controls] == ["left_pull.control"]


def test_attachments_that_cannot_be_read_say_why(tmp_path):
    (tmp_path / "hand.xml").write_text(HAND.format(unit="radian", turned="0 0 0", span="-1 1"), encoding="utf-8")
    text = '<mujoco>{}<asset><model name="hand" file="hand.xml"/></asset><worldbody><body><attach {}/></body></worldbody></mujoco>'
    path = tmp_path / "arm.xml"
    for compiler, attach, words in (
        ("", 'model="foot"', "'foot'.*hand"),
        ("", 'model="hand" body="toe"', "'toe'"),
        ('<compiler inertiafromgeom="true"/>', 'model="hand" body="palm"', "compiler.*inertia from geoms"),
    ):
        path.write_text(text.format(compiler, attach), encoding="utf-8")
        with pytest.raises(RobotFileError, match=words):
            read_robot(path)


def test_an_attached_model_without_its_file_is_left_out_where_parts_are_enough(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(
        '<mujoco><asset><model name="hand" file="absent.xml"/></asset><worldbody><body name="arm"><joint type="hinge"/>'
        '<geom size="0.1"/><attach model="hand" body="palm" prefix="p"/></body></worldbody></mujoco>',
        encoding="utf-8",
    )
    with pytest.raises(RobotFileError, match=r"absent\.xml.*partial=True.*--partial"):
        read_robot(path)
    robot = read_robot(path, partial=True)
    assert [body.name for body in robot.mechanism.bodies] == ["arm"]
    assert any("'hand', whose file is missing" in finding.message for finding in robot.findings)


@pytest.mark.parametrize(
    ("qpos", "site", "velocity"),
    [
        ('qpos="1 2 3 0.5 0.5 0.1 0.7"', [1.2458823529411764, 1.7461176470588236, 3.1228235294117646],
         [1.1985882352941177, 2.1864, 2.987741176470588, 0.18, -0.136, 0.848]),
        ("", [0.3084210526315789, 0.20947368421052628, 1.0315789473684212],
         [1.06727306501548, 1.9330204334365324, 2.744421052631579, 0.5547739938080496, 0.6791207430340557, -0.0319504643962848]),
    ],
)  # fmt: skip
def test_keyframes_of_aligned_free_bodies_are_of_their_principal_axes(read_mjcf, qpos, site, velocity):
    """Oracle: place and velocity of a site by MuJoCo 4.0 (mj_objectVelocity, earth axes)."""
    inertial = '<inertial pos="0.1 0.2 -0.1" quat="0.8 0.2 0.4 0.1" mass="2" diaginertia="0.1 0.2 0.25"/>'
    body = '<body pos="0 0 1" quat="0.9 0.1 0.3 0.2"><freejoint name="f" align="true"/>{}<geom size="0.1" pos="0.3 0 0"/><site name="s" pos="0.3 0.1 0.2"/></body>'
    key = f'<keyframe><key name="k" {qpos} qvel="1 2 3 0.4 0.5 0.6"/></keyframe>'
    robot = ts.Robot(read_mjcf(body.format(inertial), key, keyframe="k"))
    start = {name: float(value) for name, value in robot.mechanism.initial}
    q, v = robot.neutral, np.array([start.get(name, 0.0) for name in robot.speed_names])
    np.testing.assert_allclose(robot.fk("s", q)[:3, 3], site, atol=1e-12)
    np.testing.assert_allclose(robot.jacobian("s", q) @ v, velocity, atol=1e-12)
    with pytest.raises(RobotFileError, match="aligned.*principal axes.*diaginertia"):
        read_mjcf(body.format(""), key, keyframe="k")
