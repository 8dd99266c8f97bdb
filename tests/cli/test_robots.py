"""Robot files on the command line: reading options, findings, conversion to and from LSD."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

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
