"""MJCF: replicas, nested includes, inertia of tendons, ranges of controls and forces, parts that are missing."""

from __future__ import annotations

import numpy as np
import pytest

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


def test_tendons_have_inertia(read_mjcf):
    """Oracle: ½ A (Σ c q')² adds A c cᵀ to the mass matrix; no momentum comes with it."""
    rest = '<tendon><fixed armature="0.7"><joint joint="x" coef="2"/><joint joint="y" coef="-1"/></fixed></tendon>'
    robot, plain = read_mjcf(TWO, rest), read_mjcf(TWO)
    with_it, without = (np.array(td.mass_matrix(tree_of(r), [0.2, 0.3]), float) for r in (robot, plain))
    np.testing.assert_allclose(with_it - without, 0.7 * np.outer([2, -1], [2, -1]), atol=1e-13)
    spins = [float(td.centroidal_momentum(tree_of(r), [0.2, 0.3], [1.0, 2.0]).moment.z) for r in (robot, plain)]
    assert spins[0] == pytest.approx(spins[1])


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
    assert any("<composite>" in finding.message for finding in robot.listed("not modelled"))


def test_keyframes_with_speeds_go_both_ways(tmp_path):
    """Written and read again, a start with speeds is the same; a follower starts where its leader puts it."""
    from torseur.description.readers import write_robot

    text = f"""<mujoco><compiler angle="radian"/><worldbody>{TWO}</worldbody>
      <equality><joint joint1="y" joint2="x" polycoef="0.5 2 0 0 0"/></equality>
      <keyframe><key name="k" qpos="0.3 1.1" qvel="0.7 1.4"/></keyframe></mujoco>"""
    (tmp_path / "one.xml").write_text(text, encoding="utf-8")
    robot = read_robot(tmp_path / "one.xml", keyframe="k")
    assert {n: float(x) for n, x in robot.mechanism.initial} == {"x": 0.3, "x'": 0.7}
    assert robot.listed("assumed") == []
    write_robot(robot, tmp_path / "two.xml")
    again = read_robot(tmp_path / "two.xml", keyframe="initial")
    assert dict(again.mechanism.initial) == dict(robot.mechanism.initial)
    assert again.listed("assumed") == []  # the follower was written where its leader puts it
