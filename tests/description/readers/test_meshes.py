"""Meshes: reading them, and the inertia of what they enclose."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np
import pytest

from torseur.description.readers import RobotFileError, read_robot
from torseur.description.readers.meshes import Mesh, enclosed_inertia, open_edges, read_mesh
from torseur.description.readers.meshes.mesh import weld
from torseur.description.readers.meshes.mesh_decimation import decimate

CORNERS = [(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]
# Two triangles per face, anticlockwise seen from outside.
CUBE = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
        (1, 5, 7), (1, 7, 3)]  # fmt: skip
SIZE = (0.3, 0.2, 0.5)


def block(size=SIZE, shift=(0.0, 0.0, 0.0), faces=CUBE) -> list[list[tuple[float, ...]]]:
    points = [tuple(s * c + d for s, c, d in zip(size, corner, shift, strict=True)) for corner in CORNERS]
    return [[points[i] for i in face] for face in faces]


def write_binary_stl(path: Path, triangles) -> Path:
    records = b"".join(
        struct.pack("<12fH", 0, 0, 0, *(x for point in triangle for x in point), 0) for triangle in triangles
    )
    path.write_bytes(b"solid pretends to be text".ljust(80) + struct.pack("<I", len(triangles)) + records)
    return path


def write_text_stl(path: Path, triangles) -> Path:
    lines = ["solid block"]
    for triangle in triangles:
        points = [f"      vertex {x} {y} {z}" for x, y, z in triangle]
        lines += ["  facet normal 0 0 0", "    outer loop", *points, "    endloop", "  endfacet"]
    path.write_text("\n".join([*lines, "endsolid block"]))
    return path


def write_obj(path: Path, triangles) -> Path:
    points = [f"v {x} {y} {z}" for triangle in triangles for x, y, z in triangle]
    faces = [f"f {3 * k + 1}/1/1 {3 * k + 2}//2 {3 * k + 3 - 3 * len(triangles) - 1}" for k in range(len(triangles))]
    path.write_text("\n".join(["# block", *points, "vn 0 0 1", *faces]))
    return path


def write_quad_obj(path: Path, _) -> Path:
    points = [f"v {SIZE[0] * x} {SIZE[1] * y} {SIZE[2] * z}" for x, y, z in CORNERS]
    quads = ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4")
    path.write_text("\n".join([*points, *(f"f {quad}" for quad in quads)]))
    return path


def write_collada(path: Path, triangles) -> Path:
    """A block in millimetres with y up, moved by its node: COLLADA's own ways."""
    numbers = " ".join(f"{1000 * x} {1000 * (z - 1)} {-1000 * y}" for triangle in triangles for x, y, z in triangle)
    index = " ".join(f"{k} 0" for k in range(3 * len(triangles)))
    path.write_text(f"""<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="millimeter" meter="0.001"/><up_axis>Y_UP</up_axis></asset>
  <library_geometries><geometry id="block"><mesh>
    <source id="points"><float_array id="numbers">{numbers}</float_array></source>
    <vertices id="corners"><input semantic="POSITION" source="#points"/></vertices>
    <triangles count="{len(triangles)}"><input semantic="VERTEX" source="#corners" offset="0"/>
      <input semantic="NORMAL" source="#points" offset="1"/><p>{index}</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="scene"><node><translate>0 500 0</translate>
    <node><matrix>1 0 0 0  0 1 0 500  0 0 1 0  0 0 0 1</matrix><instance_geometry url="#block"/></node>
  </node></visual_scene></library_visual_scenes>
</COLLADA>""")
    return path


WRITERS = {
    "binary.stl": write_binary_stl, "text.stl": write_text_stl, "triangles.obj": write_obj, "quads.obj": write_quad_obj,
    "block.dae": write_collada,
}  # fmt: skip


@pytest.mark.parametrize("name", WRITERS)
def test_block_from_every_format(tmp_path, name):
    """Oracle: closed form of a block with a corner at the origin."""
    mesh = read_mesh(WRITERS[name](tmp_path / name, block()))
    assert (len(mesh.vertices), len(mesh.triangles), open_edges(mesh)) == (8, 12, 0)
    inertia = enclosed_inertia(mesh)
    x, y, z = SIZE
    volume = x * y * z
    accuracy = 4e-7 if name == "binary.stl" else 1e-14  # a binary STL holds single precision
    assert inertia.mass == pytest.approx(volume, rel=accuracy)
    assert list(inertia.moment) == pytest.approx([volume * s / 2 for s in SIZE], rel=accuracy)
    squares = [volume * (a * a + b * b) / 3 for a, b in ((y, z), (x, z), (x, y))]
    products = [-volume * a * b / 4 for a, b in ((x, y), (x, z), (y, z))]
    assert list(inertia.matrix) == pytest.approx(squares + products, rel=accuracy)


def ball(n: int) -> Mesh:
    """An octahedron refined n times and blown up to a unit ball."""
    triangles = np.array([[[sx, 0, 0], [0, sy, 0], [0, 0, sz]][:: int(sx * sy * sz)] for sx in (1, -1) for sy in (1, -1)
                          for sz in (1, -1)], dtype=float)  # fmt: skip
    for _ in range(n):
        a, b, c = triangles.transpose(1, 0, 2)
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        triangles = np.concatenate([np.stack(part, axis=1) for part in parts])
    return weld(triangles / np.linalg.norm(triangles, axis=2, keepdims=True))


def test_ball_converges_with_second_order():
    """Oracle: 4/3 π and 2/5 m r²; halving the edges quarters the error."""
    volumes, moments = [], []
    for n in (3, 4, 5):
        inertia = enclosed_inertia(ball(n))
        volumes.append(4 / 3 * math.pi - inertia.mass)
        moments.append(8 / 15 * math.pi - inertia.matrix.xx)
    for errors in (volumes, moments):
        assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)
        assert errors[1] / errors[2] == pytest.approx(4, rel=0.1)


def test_place_and_orientation_of_the_surface_do_not_matter():
    far = enclosed_inertia(weld(np.array(block(shift=(1000.0, -2000.0, 500.0)))))
    inside_out = enclosed_inertia(weld(np.array([triangle[::-1] for triangle in block()])))
    mirrored = enclosed_inertia(weld(np.array(block())).scaled((-1.0, 1.0, 1.0)))
    for inertia in (far, inside_out, mirrored):
        assert inertia.mass == pytest.approx(math.prod(SIZE), rel=1e-9)
    assert mirrored.moment.x == pytest.approx(-math.prod(SIZE) * SIZE[0] / 2)


def test_hollow_block_weighs_what_is_between_its_walls():
    inner = [triangle[::-1] for triangle in block((0.1, 0.1, 0.1), (0.1, 0.05, 0.1))]
    inertia = enclosed_inertia(weld(np.array(block() + inner)))
    assert inertia.mass == pytest.approx(math.prod(SIZE) - 0.001)


def test_open_meshes_are_refused():
    with pytest.raises(RobotFileError, match="not closed: 3 edges"):
        enclosed_inertia(weld(np.array(block(faces=CUBE[1:]))))


def test_flat_meshes_are_refused():
    triangle = [[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]
    with pytest.raises(RobotFileError, match="no volume"):
        enclosed_inertia(weld(np.array([triangle, triangle[::-1]])))


DAMAGED = {
    "short.stl": b"solid", "noise.stl": bytes(range(200)), "odd.stl": b"solid\nvertex 1 2 3\n",
    "nan.stl": b"solid\n vertex nan 0 0\n vertex 0 1 0\n vertex 1 0 0",
    "index.obj": b"v 0 0 0\nf 1 2 3\n", "word.obj": b"v a b c\n", "zero.obj": b"f 0 0 0",
    "empty.obj": b"", "entity.dae": b"<!DOCTYPE a [<!ENTITY b 'c'>]><COLLADA/>", "nothing.dae": b"<COLLADA/>",
    "mesh.ply": b"ply", "count.msh": struct.pack("<4i", 10**9, 0, 0, 0), "minus.msh": struct.pack("<4i", -1, 0, 0, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_are_refused(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(DAMAGED[name])
    with pytest.raises(RobotFileError, match=name):
        read_mesh(path)


def urdf(tmp_path: Path, mesh: str, inside: str = "") -> Path:
    (tmp_path / "robot.urdf").write_text(
        f'<robot name="r"><link name="a">{inside}<collision><origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/>'
        f'<geometry><mesh filename="{mesh}" scale="2 2 2"/></geometry></collision></link></robot>'
    )
    return tmp_path / "robot.urdf"


def test_density_gives_links_the_inertia_of_their_meshes(tmp_path):
    write_text_stl(tmp_path / "block.stl", block())
    path = urdf(tmp_path, "block.stl")
    (plain,) = read_robot(path).mechanism.bodies
    assert float(plain.mass) == 0.0
    (solid,) = read_robot(path, density=700.0).mechanism.bodies
    x, y, z = (2 * s for s in SIZE)
    mass = 700 * x * y * z
    assert float(solid.mass) == pytest.approx(mass)
    assert [float(c) for c in solid.iframe.position] == pytest.approx([-y / 2, x / 2, 1 + z / 2])
    moments = [mass * (a * a + b * b) / 12 for a, b in ((x, z), (y, z), (x, y))]
    assert [float(c) for c in solid.inertia.components[:3]] == pytest.approx(moments)


def test_inertia_that_cannot_be_known_stays_a_symbol(tmp_path):
    robot = read_robot(urdf(tmp_path, "gone.stl"), density=700.0)
    (body,) = robot.mechanism.bodies
    assert body.mass is None
    assert any("'gone.stl' is not there" in finding.message for finding in robot.findings_of("missing mesh"))


def test_given_inertia_is_not_replaced(tmp_path):
    inertial = '<inertial><mass value="3"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    (body,) = read_robot(urdf(tmp_path, "gone.stl", inertial), density=700.0).mechanism.bodies
    assert float(body.mass) == 3.0


FOUND = {
    "beside": ("block.stl", "block.stl", {}),
    "below": ("meshes/block.stl", "meshes/block.stl", {}),
    "own package": ("package://robot_description/meshes/block.stl", "meshes/block.stl", {}),
    "sister package": ("package://parts/block.stl", "../parts/block.stl", {}),
    "named package": ("package://away/block.stl", "../elsewhere/block.stl", {"away": "elsewhere"}),
}


@pytest.mark.parametrize("case", FOUND)
def test_where_meshes_are_looked_for(tmp_path, case):
    name, place, packages = FOUND[case]
    folder = tmp_path / "robot_description"
    target = (folder / place).resolve()
    target.parent.mkdir(parents=True)
    write_text_stl(target, block())
    (folder / "robot.urdf").parent.mkdir(exist_ok=True)
    given = {package: tmp_path / place for package, place in packages.items()}
    (shape,) = read_robot(urdf(folder, name), packages=given).shapes
    assert shape.mesh.path.resolve() == target
    assert len(shape.mesh.read().triangles) == 12


@pytest.mark.parametrize(
    "name", ["http://localhost/block.stl", "/etc/passwd", "file:///etc/passwd", "a\0.stl", "block.exe"]
)
def test_what_is_never_opened(tmp_path, name):
    if "\0" in name:
        from torseur.description.readers.meshes.mesh_paths import MeshFolder

        assert MeshFolder(tmp_path, {}).find(name).path is None
        return
    (shape,) = read_robot(urdf(tmp_path, name)).shapes
    assert shape.mesh.path is None


@pytest.mark.parametrize("most", [200, 1000, 5000])
def test_simplified_meshes_keep_their_form(most):
    """Oracle: a ball's own radius and volume 4 π / 3."""
    simple = decimate(ball(6), most)
    assert most / 4 < len(simple.triangles) <= most
    radii = np.linalg.norm(simple.vertices, axis=1)
    assert radii.min() > 1 - 20 / most and radii.max() < 1 + 20 / most
    corners = simple.vertices[simple.triangles]
    volume = np.einsum("ti,ti->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert volume == pytest.approx(4 / 3 * math.pi, rel=25 / most)


def test_simplified_blocks_stay_blocks():
    """Corners of a finely meshed block survive, because they lie in the planes of all triangles around them."""
    steps = np.linspace(0, 1, 31)
    pieces = []
    for axis in range(3):
        for side, turn in ((0.0, -1), (1.0, 1)):
            for x in range(30):
                for y in range(30):
                    quad = [
                        (steps[x], steps[y]),
                        (steps[x + 1], steps[y]),
                        (steps[x + 1], steps[y + 1]),
                        (steps[x], steps[y + 1]),
                    ]
                    points = [np.insert(p, axis, side) for p in (quad if turn * (-1) ** axis > 0 else quad[::-1])]
                    pieces += [[points[0], points[1], points[2]], [points[0], points[2], points[3]]]
    mesh = weld(np.array(pieces))
    assert open_edges(mesh) == 0
    simple = decimate(mesh, 400)
    assert len(simple.triangles) <= 400
    assert np.abs(simple.vertices.min(axis=0)).max() < 1e-2 and np.abs(simple.vertices.max(axis=0) - 1).max() < 1e-2


def test_small_meshes_are_left_alone():
    mesh = weld(np.array(block()))
    assert decimate(mesh, 12) is mesh


def write_ply(path: Path, triangles) -> Path:
    points = [" ".join(map(str, point)) for triangle in triangles for point in triangle]
    head = ["ply", "format ascii 1.0", f"element vertex {len(points)}", *(f"property float {x}" for x in "xyz")]
    head += [f"element face {len(triangles)}", "property list uchar int vertex_indices", "end_header"]
    path.write_text("\n".join([*head, *points, *(f"3 {3 * k} {3 * k + 1} {3 * k + 2}" for k in range(len(triangles)))]))
    return path


def write_off(path: Path, triangles) -> Path:
    points = [" ".join(map(str, point)) for triangle in triangles for point in triangle]
    faces = [f"3 {3 * k} {3 * k + 1} {3 * k + 2}" for k in range(len(triangles))]
    path.write_text("\n".join(["OFF", f"{len(points)} {len(triangles)} 0", *points, *faces]))
    return path


def write_glb(path: Path, triangles) -> Path:
    """The block as glTF has it: y is up, so that our z is its y and our y its -z."""
    import json

    points = np.array(triangles, dtype="<f4").reshape(-1, 3)[:, [0, 2, 1]] * np.array([1, 1, -1], dtype="<f4")
    count, body = len(points), points.tobytes()
    scene = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": count, "type": "VEC3",
                       "min": points.min(0).tolist(), "max": points.max(0).tolist()}],
        "bufferViews": [{"buffer": 0, "byteLength": len(body)}], "buffers": [{"byteLength": len(body)}],
    }  # fmt: skip
    text = json.dumps(scene).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(body), 0x004E4942) + body
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)
    return path


@pytest.mark.parametrize(("suffix", "write"), [(".ply", write_ply), (".off", write_off), (".glb", write_glb)])
def test_other_formats_by_trimesh(suffix, write, tmp_path):
    """Oracle: volume and mass centre of a block off the origin, with three different edges."""
    pytest.importorskip("trimesh")
    shift = (0.1, -0.4, 0.7)
    inertia = enclosed_inertia(read_mesh(write(tmp_path / f"block{suffix}", block(shift=shift))))
    volume = math.prod(SIZE)
    centre = [s / 2 + d for s, d in zip(SIZE, shift, strict=True)]
    assert inertia.mass == pytest.approx(volume, rel=1e-6)
    assert [c / inertia.mass for c in inertia.moment] == pytest.approx(centre, rel=1e-5)


@pytest.mark.parametrize("suffix", [".ply", ".off", ".glb", ".gltf"])
def test_damaged_files_of_other_formats(suffix, tmp_path):
    pytest.importorskip("trimesh")
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(b"OFF 3 1 nonsense")
    with pytest.raises(RobotFileError, match=f"bad{suffix}: the mesh"):
        read_mesh(path)


def test_without_trimesh_the_extra_is_named(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(RobotFileError, match="pip install .trimesh"):
        read_mesh(write_ply(tmp_path / "block.ply", block()))


@pytest.mark.parametrize("first", [0, 1])
def test_four_corners_in_no_plane_are_cut_along_the_shorter_diagonal(tmp_path, first):
    """A roof of four corners, whichever is written first, over the square below them: its ridge is the diagonal."""
    roof = [(0, 0, 1), (1, 0, 2), (1, 1, 1.2), (0, 1, 2)]  # from corner to corner: 1.43 along 0-2, 1.41 along 1-3
    below = [(x, y, 0) for x, y, _ in roof]
    sides = [(k, k % 4 + 1, k % 4 + 5, k + 4) for k in range(1, 5)]
    top = [(first + k) % 4 + 5 for k in range(4)]
    faces = [(4, 3, 2, 1), *sides, top]
    lines = [f"v {x} {y} {z}" for x, y, z in below + roof] + ["f " + " ".join(map(str, face)) for face in faces]
    (tmp_path / "roof.obj").write_text("\n".join(lines))
    volume = (1 + 2 + 2) / 6 + (1.2 + 2 + 2) / 6  # two prisms under the triangles beside the ridge 1-3
    assert enclosed_inertia(read_mesh(tmp_path / "roof.obj")).mass == pytest.approx(volume)
