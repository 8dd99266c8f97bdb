"""Numbers of robot files as parameters: the same motion, equations without numbers, and masses that can be changed."""

from __future__ import annotations

import re

import numpy as np
import pytest

import torseur as ts
from torseur.description.readers import RobotFileError, read_robot

LINK = '<link name="{}"><inertial><origin xyz="{}" rpy="0.2 0 0.5"/><mass value="{}"/><inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" ixz="0" iyz="-0.002"/></inertial></link>'
JOINT = '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><origin xyz="{}" rpy="{}"/><axis xyz="0 0 1"/></joint>'
ARM = (
    '<robot name="arm"><link name="base"/>'
    + LINK.format("upper", "0.1 0 -0.02", 2)
    + LINK.format("fore", "0 0.2 3e-18", 1.5)
    + JOINT.format("shoulder", "base", "upper", "0 0 0.3", "1.570796327 0 0")
    + JOINT.format("elbow", "upper", "fore", "0.4 -1e-17 0.1", "0 3.141592654 0.3")
    + "</robot>"
)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(ARM, encoding="utf-8")
    return file


def test_the_motion_is_that_of_the_file(path):
    """Quarter turns written with ten digits are exact here, which moves the rest by as much and is listed."""
    named = read_robot(path, symbolic="inertia,geometry")
    rng = np.random.default_rng(1)
    q, v, a = rng.normal(size=(3, 2))
    assert ts.Robot(named).rnea(q, v, a) == pytest.approx(ts.Robot(path).rnea(q, v, a), abs=1e-8)
    only = read_robot(path, symbolic="inertia")
    assert ts.Robot(only).rnea(q, v, a) == pytest.approx(ts.Robot(path).rnea(q, v, a), abs=1e-12)
    assert any("2 angles near quarter turns" in str(finding) for finding in named.findings)
    assert not any("quarter" in str(finding) for finding in only.findings)


def test_equations_print_names_and_no_numbers_of_the_file(path):
    mechanism = ts.load(path, symbolic="inertia,geometry")
    names = {p.name for p in mechanism.parameters}
    assert {"m_upper", "cx_upper", "cz_upper", "cy_fore", "lx_elbow", "lz_elbow", "yaw_elbow", "g"} <= names
    assert not {"cy_upper", "cz_fore", "ly_elbow", "m_base"} & names  # zero in the file, or dust
    text = "".join(str(entry) for row in ts.derive(mechanism).mass_matrix for entry in row)
    assert "m_fore" in text and not re.search(r"\d\.\d|e-\d", text)


def test_a_mass_can_be_changed(path):
    """The forces are linear in a mass: twice the mass is the file with twice that number."""
    robot = ts.Robot(path, symbolic="inertia", live=True)
    robot.parameters[robot.parameter_names.index("m_fore")] = 3.0
    heavier = path.with_name("heavier.urdf")
    heavier.write_text(ARM.replace('"1.5"', '"3"'), encoding="utf-8")
    q, v, a = np.array([[0.3, -0.8], [1.0, 0.5], [0.2, 0.7]])
    assert robot.rnea(q, v, a) == pytest.approx(ts.Robot(heavier).rnea(q, v, a), abs=1e-12)


def test_rotors_and_oblique_gravity(tmp_path):
    """An armature is one parameter for the two wheels that stand for it; M grows by it."""
    path = tmp_path / "arm.xml"
    path.write_text(
        '<mujoco><option gravity="1 0 -9"/><worldbody><body><joint name="j" axis="0 1 0" armature="0.7"/><geom size="0.1" pos="0.2 0 0"/></body></worldbody></mujoco>',
        encoding="utf-8",
    )
    robot = ts.Robot(path, symbolic="inertia,geometry", live=True)
    assert {"J_j", "gx", "gz"} <= set(robot.parameter_names)
    before = robot.crba([0.0]).copy()
    robot.parameters[robot.parameter_names.index("J_j")] += 0.4
    assert robot.crba([0.0]) - before == pytest.approx(np.array([[0.4]]))


def test_unknown_parts_are_refused(path):
    with pytest.raises(RobotFileError, match=r"symbolic: .*'masses'.*inertia, geometry, gravity|masses"):
        read_robot(path, symbolic="masses")
