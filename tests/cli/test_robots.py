"""Robot files on the command line: reading options, findings, conversion to and from LSD."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
import torseur.derivation.dynamics as td
from torseur.derivation.tree import build_tree
from torseur.description.language import load
from torseur.description.readers import read_robot

TESTS = Path(__file__).resolve().parents[1]
SOLO = TESTS / "oracles" / "robots" / "solo12_nomesh.urdf"
EVERYTHING = TESTS / "description" / "readers" / "samples" / "everything.xml"
IMPOSSIBLE = """<robot name="odd"><link name="brick"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="-0.25" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def test_a_floating_base_is_an_option_and_a_part_of_the_name(torseur):
    """Oracle: 12 hinges, and six more freedoms when the base floats."""
    for arguments in ([f"{SOLO}", "--base", "floating"], [f"{SOLO}?base=floating"]):
        document = json.loads(torseur("check", *arguments, "--json").stdout)
        assert document["degree_of_freedom"] == 18
    document = json.loads(torseur("check", f"{SOLO}", "--json", "--merge-fixed").stdout)
    assert document["degree_of_freedom"] == 12 and len(document["bodies"]) == 12


def test_impossible_inertias_are_reported_and_refused_on_request(torseur):
    Path("odd.urdf").write_text(IMPOSSIBLE)
    result = torseur("check", "odd.urdf")
    assert result.exit_code == 0 and "negative eigenvalue -0.25" in result.stderr
    for arguments in (["check", "odd.urdf", "--strict"], ["convert", "odd.urdf", "odd.lsd", "--strict"],
                      ["equations", "odd.urdf?strict"], ["report", "odd.urdf", "--strict"]):  # fmt: skip
        result = torseur(*arguments)
        assert result.exit_code == 1 and "negative eigenvalue -0.25" in result.stderr, arguments
        assert "Traceback" not in result.stderr


def test_check_shows_limits_and_controls(torseur):
    text = torseur("check", str(EVERYTHING)).stdout
    assert "Limits" in text and "shoulder" in text and "Controls: push.control" in text and "Shapes: " in text


MISTAKES = {
    "option of a mechanism": (["check", "library:pendulum", "--strict"], "not a robot file"),
    "unknown word": (["check", f"{SOLO}?basis=floating"], "Did you mean 'base'"),
    "unknown base": (["check", str(SOLO), "--base", "sky"], "expected 'file', 'fixed' or 'floating'"),
    "no number": (["check", f"{SOLO}?density=heavy"], "expected a number"),
    "no switch": (["check", f"{SOLO}?strict=maybe"], "expected true or false"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(torseur, case):
    arguments, reason = MISTAKES[case]
    result = torseur(*arguments)
    assert result.exit_code == 1 and reason in result.stderr and "Traceback" not in result.stderr


def forces(mechanism, seed: int = 3) -> dict[str, float]:
    """Forces of a motion drawn by the names of coordinates and speeds."""
    tree = build_tree(mechanism)
    rng = np.random.default_rng(seed)
    q = dict(zip(sorted(tree.layout.coordinate_names), rng.normal(size=99), strict=False))
    v, a = (dict(zip(sorted(tree.layout.speed_names), rng.normal(size=99), strict=False)) for _ in range(2))
    found = td.inverse_dynamics(
        tree.with_parameters({str(p.name): 0.0 for p in tree.layout.parameters}),
        [q[n] for n in tree.layout.coordinate_names], [v[n] for n in tree.layout.speed_names],
        [a[n] for n in tree.layout.speed_names])  # fmt: skip
    return {name: float(x) for name, x in zip(tree.layout.speed_names, found, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize("file", [SOLO, EVERYTHING], ids=["urdf", "mjcf"])
def test_converted_to_lsd_a_robot_moves_alike(torseur, file):
    assert torseur("convert", str(file), "robot.lsd").exit_code == 0
    assert forces(load("robot.lsd")) == pytest.approx(forces(read_robot(file).mechanism), rel=1e-12, abs=1e-12)


def test_shapes_and_limits_go_along_between_robot_files(torseur):
    result = torseur(
        "convert", str(TESTS / "description" / "readers" / "samples" / "everything.urdf"), "robot.xml", "--partial"
    )
    assert result.exit_code == 0
    robot = read_robot("robot.xml")
    assert robot.limit("shoulder").lower == -1.5
    assert [shape.kind for shape in robot.shapes_of("base link")] == ["box"]


def test_meshes_go_along_by_the_paths_from_the_new_file(torseur):
    """Out of one folder into another: OBJ and binary STL as MuJoCo reads them, text STL not; all of them in a text."""
    model, out = Path("model"), Path("out")
    model.mkdir(), out.mkdir()
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    lines = ["v {} {} {}".format(*c) for c in corners] + ["f {} {} {}".format(*(i + 1 for i in f)) for f in faces]
    (model / "a.obj").write_text("\n".join(lines))
    data = b"".join(np.array([[0, 0, 0], *(corners[i] for i in f)], "<f4").tobytes() + b"\0\0" for f in faces)
    (model / "b.stl").write_bytes(bytes(80) + len(faces).to_bytes(4, "little") + data)
    (model / "c.stl").write_text("solid c\nendsolid c\n")
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    shape = '<visual><origin xyz="0 0 {}"/><geometry><mesh filename="{}" scale="2 2 2"/></geometry></visual>'
    shapes = "".join(shape.format(at, name) for at, name in enumerate(("a.obj", "b.stl", "c.stl"), 1))
    limit = '<limit lower="-1" upper="2" effort="7" velocity="3"/>'
    (model / "r.urdf").write_text(
        f'<robot name="r"><link name="base"/><link name="arm">{mass}{shapes}</link><joint name="j" type="revolute">'
        f'<parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>{limit}</joint></robot>'
    )
    result = torseur("convert", "model/r.urdf", "out/r.xml")
    assert result.exit_code == 0 and "c.stl; MuJoCo reads OBJ, MSH and binary STL" in result.stderr
    assert "a limit of speed is not written to MJCF" in result.stderr
    again = read_robot("out/r.xml")
    assert (again.limit("j").lower, again.limit("j").upper, again.limit("j").force) == (-1, 2, 7)
    found = {(s.mesh.path.resolve().name, s.size, float(s.at.position[2].value)) for s in again.shapes if s.mesh}
    assert found == {("a.obj", (2, 2, 2), 1.0), ("b.stl", (2, 2, 2), 2.0)}
    assert torseur("convert", "out/r.xml", "out/back.urdf", "--partial").exit_code == 0
    assert {s.mesh.path.resolve() for s in read_robot("out/back.urdf").shapes if s.mesh} == {
        (model / name).resolve() for name in ("a.obj", "b.stl")
    }
    result = torseur("convert", "model/r.urdf", "out/r.lsd")
    assert "limits of joints are not written to LSD" in result.stderr
    assert [Path(d.text).name for d in load("out/r.lsd").drawings] == ["a.obj", "b.stl", "c.stl"]
    assert "limits" not in torseur("convert", "model/r.urdf?stops=0.2", "out/stops.lsd").stderr.split("written")[-1]
    if importlib.util.find_spec("mujoco"):
        import mujoco

        compiled = mujoco.MjModel.from_xml_path("out/r.xml")
        assert compiled.nmesh == 2 and compiled.body("arm").mass == 1 and list(compiled.jnt_actfrcrange[0]) == [-7, 7]


def test_options_of_one_format_are_refused_for_others(torseur):
    for option, kind in (("density=1000", "a URDF file"), ("keyframe=home", "an MJCF file")):
        file = EVERYTHING if "density" in option else SOLO
        result = torseur("check", f"{file}?{option}")
        assert result.exit_code == 1 and f"{option.partition('=')[0]} is an option of {kind}" in result.stderr


FRAMES = """<robot name="r"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
iyz="0"/></inertial></link><link name="camera"/><link name="elbow"/><link name="hand"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="i" type="fixed"><parent link="hand"/><child link="camera"/></joint>
<joint name="j" type="continuous"><parent link="base"/><child link="elbow"/></joint>
<joint name="k" type="continuous"><parent link="elbow"/><child link="hand"/><axis xyz="0 1 0"/></joint></robot>"""


def test_links_that_are_mere_frames_are_no_reason_to_warn(torseur):
    """A camera's frame fixed to a hand needs no mass; a part that moves without any is worth a word."""
    Path("frames.urdf").write_text(FRAMES)
    warnings = " ".join(json.loads(torseur("check", "frames.urdf", "--json").stdout)["warnings"])
    assert "'elbow'" in warnings and "'camera'" not in warnings


def test_an_option_is_given_once():
    with pytest.raises(ts.TorseurError, match="base: given in the name of the file and beside it"):
        ts.Robot(f"{SOLO}?base=floating", base="fixed")


def test_what_a_file_says_beyond_its_mechanism_is_warned_of_at_the_line_that_loads_it():
    with pytest.warns(UserWarning, match="not modelled") as caught:
        ts.load(EVERYTHING)
    assert {Path(one.filename).name for one in caught} == {Path(__file__).name}
