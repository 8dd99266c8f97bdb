"""Robots in a report: their shapes and meshes, and what their file says beyond the mechanism."""

from __future__ import annotations

import base64
import struct
from pathlib import Path

import numpy as np
import pytest

from torseur.description.readers import read_robot
from torseur.presentation.report.compose.make_report import Occasion, content_of
from torseur.presentation.report.page.report_page import render
from torseur.presentation.scene.bodies.robot_looks import MOST_OF_ONE, looks_of
from torseur.presentation.scene.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Paint, Sphere, describe

SHAPES = """<mujoco><worldbody><geom type="plane" size="5 5 1"/>
  <body name="all"><joint axis="0 1 0"/>
    <geom type="box" size="0.1 0.2 0.3" pos="1 0 0"/><geom type="sphere" size="0.4" rgba="0 0 0 1"/>
    <geom type="cylinder" size="0.1 0.5" euler="0 90 0"/><geom type="capsule" fromto="0 0 0 0 0 2" size="0.05"/>
    <geom type="ellipsoid" size="0.1 0.2 0.3" pos="0 0 1"/>
    <body name="bare" pos="0 0 1"><joint axis="1 0 0"/><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/></body>
  </body></worldbody></mujoco>"""


@pytest.fixture
def shapes(tmp_path: Path):
    (tmp_path / "robot.xml").write_text(SHAPES)
    return looks_of(read_robot(tmp_path / "robot.xml"))


def test_every_kind_of_shape_is_drawn(shapes) -> None:
    box, ball, cylinder, capsule, ellipsoid = shapes["all"]
    assert isinstance(box, Box) and box.size == (0.2, 0.4, 0.6) and box.centre == (1, 0, 0)
    assert isinstance(ball, Sphere) and ball.radius == 0.4 and ball.paint == Paint(0.0, 0.0, 0.0) and box.paint is None
    assert isinstance(cylinder, Cylinder) and np.allclose([cylinder.start, cylinder.end], [(-0.5, 0, 0), (0.5, 0, 0)])
    assert isinstance(capsule, Capsule) and np.allclose([capsule.start, capsule.end], [(0, 0, 0), (0, 0, 2)])
    assert isinstance(ellipsoid, Ellipsoid) and np.allclose(
        [ellipsoid.size, ellipsoid.centre], [(0.1, 0.2, 0.3), (0, 0, 1)]
    )


def test_bodies_without_shapes_are_not_seen_beside_others(shapes) -> None:
    assert shapes["bare"] == () and shapes["earth"] == ()


def write_tetrahedron(path: Path, count: int) -> None:
    """A binary STL of many equal tetrahedra in rows of fifty."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=float)
    faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    records = [struct.pack("<12fH", 0, 0, 0, *(corners[list(face)] + [k % 50, k // 50, 0]).ravel(), 0)
               for k in range(count) for face in faces]  # fmt: skip
    path.write_bytes(bytes(80) + struct.pack("<I", len(records)) + b"".join(records))


URDF = """<robot name="r">
  <link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 5"/><geometry><mesh filename="big.stl" scale="0.1 0.1 0.1"/></geometry></visual></link>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="gone.stl"/></geometry></visual></link>
  <joint name="j" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/></joint>
</robot>"""


def test_meshes_are_shown_when_they_are_there(tmp_path: Path) -> None:
    """A missing mesh leaves its body to be drawn from its joints; a large one is made smaller."""
    write_tetrahedron(tmp_path / "big.stl", 2000)
    (tmp_path / "robot.urdf").write_text(URDF)
    robot = read_robot(tmp_path / "robot.urdf")
    (mesh,) = looks_of(robot)["a"]
    assert isinstance(mesh, Mesh) and 100 < len(mesh.triangles) <= MOST_OF_ONE
    assert np.allclose(mesh.vertices.min(axis=0), (0, 0, 5), atol=0.05) and 4.9 < mesh.vertices[:, 0].max() < 5.1
    assert "b" not in looks_of(robot)
    content = content_of(robot.mechanism, Occasion(until=0.1), robot)
    drawn = {body.name: body.shapes for body in content.bodies}
    assert any(isinstance(shape, Mesh) for shape in drawn["a"]) and drawn["b"]
    page = render(content)
    assert "gone.stl" in page and '"kind":"mesh"' in page and len(page) < 400_000


def test_without_any_mesh_bodies_are_drawn_from_their_joints(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(URDF)
    robot = read_robot(tmp_path / "robot.urdf")
    assert looks_of(robot) == {}
    assert all(body.shapes for body in content_of(robot.mechanism, Occasion(until=0.1), robot).bodies)


def test_packed_meshes_come_back() -> None:
    """Sixteen bits a coordinate: a step is 1/65535 of the box."""
    rng = np.random.default_rng(1)
    vertices = rng.normal(size=(100, 3)) * (1, 0.1, 0)
    packed = describe(Mesh(vertices, np.arange(99).reshape(-1, 3)))
    low, high = np.array(packed["low"]), np.array(packed["high"])
    steps = np.frombuffer(base64.b64decode(str(packed["vertices"])), "<u2").reshape(-1, 3)
    assert np.abs(low + (high - low) * steps / 65535 - vertices).max() < 1e-4
    assert (np.frombuffer(base64.b64decode(str(packed["triangles"])), "<u2") == np.arange(99)).all()
