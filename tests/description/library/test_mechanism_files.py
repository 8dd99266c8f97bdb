"""A mechanism by the name of its file: descriptions, robot files, the library."""

from __future__ import annotations

import pytest

import torseur as ts

URDF = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="5" velocity="2"/></joint></robot>"""


def test_what_commands_take_is_loaded(tmp_path):
    """Oracle: the reader of robot files, and the library's own door."""
    robot = tmp_path / "arm.urdf"
    robot.write_text(URDF)
    with pytest.warns(UserWarning, match="URDF gives no gravity"):
        mechanism = ts.load(robot)
    assert mechanism == ts.read_robot(robot).mechanism
    assert ts.load("library:double_pendulum") == ts.library.load("double_pendulum")
    text = tmp_path / "arm.lsd"
    text.write_text(ts.to_text(mechanism))
    assert [body.name for body in ts.load(text).bodies] == [body.name for body in mechanism.bodies]
