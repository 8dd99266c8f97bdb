"""Xacro files, expanded by the package of that name in a process that can do nothing else."""

from __future__ import annotations

import importlib.util

import pytest

from torseur.description.readers import RobotFileError, read_robot
from torseur.description.readers.urdf import xacro_expansion

NAMESPACE = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
ARM = """<xacro:arg name="bars" default="2"/><xacro:property name="len" value="0.5"/>
<xacro:macro name="bar" params="n parent"><link name="b${n}"><inertial><origin xyz="${len/2} 0 0"/><mass value="${4*len**2}"/></inertial></link>
<joint name="j${n}" type="continuous"><origin xyz="${len*cos(0)} 0 0"/><parent link="${parent}"/><child link="b${n}"/></joint></xacro:macro>
<link name="base"/><xacro:bar n="1" parent="base"/>
<xacro:if value="${int('$(arg bars)') > 1}"><xacro:bar n="2" parent="b1"/></xacro:if>"""
needs_xacro = pytest.mark.skipif(importlib.util.find_spec("xacro") is None, reason="xacro is not installed")


@pytest.fixture
def read(tmp_path):
    def reading(content: str, **options):
        path = tmp_path / "arm.urdf.xacro"
        path.write_text(f'<robot name="arm" {NAMESPACE}>{content}</robot>', encoding="utf-8")
        return read_robot(path, **options)

    return reading


@needs_xacro
def test_macros_formulas_and_arguments_are_expanded(read):
    robot = read(ARM)
    body = robot.mechanism.body("b2")
    assert float(body.mass) == 1.0
    assert [float(c) for c in body.iframe.position] == [0.25, 0.0, 0.0]
    assert {b.name for b in read(ARM, arguments={"bars": "1"}).mechanism.bodies} == {"base", "b1"}


@needs_xacro
def test_packages_and_includes_are_looked_for_beside_the_file(read, tmp_path):
    (tmp_path / "parts").mkdir()
    link = '<xacro:property name="m" value="3"/><link name="base"><inertial><mass value="${m}"/></inertial></link>'
    (tmp_path / "parts" / "base.xacro").write_text(f"<robot {NAMESPACE}>{link}</robot>", encoding="utf-8")
    robot = read('<xacro:include filename="$(find parts)/base.xacro"/>')
    assert float(robot.mechanism.body("base").mass) == 3.0


@needs_xacro
def test_packages_are_known_by_their_package_xml(tmp_path):
    """A clone called otherwise than the package, and one beside it: for xacro's find and for meshes."""
    for folder, name in (("arm-main", "arm_description"), ("hands", "hand_description")):
        (tmp_path / folder / "urdf").mkdir(parents=True)
        package = f"<package format='3'><name> {name} </name></package>"
        (tmp_path / folder / "package.xml").write_text(package, encoding="utf-8")
    link = '<link name="base"><visual><geometry><mesh filename="package://hand_description/palm.stl"/></geometry></visual></link>'
    (tmp_path / "arm-main" / "base.xacro").write_text(f"<robot {NAMESPACE}>{link}</robot>", encoding="utf-8")
    (tmp_path / "hands" / "palm.stl").write_text("solid\nendsolid\n", encoding="utf-8")
    path = tmp_path / "arm-main" / "urdf" / "arm.urdf.xacro"
    include = '<xacro:include filename="$(find arm_description)/base.xacro"/>'
    path.write_text(f'<robot name="arm" {NAMESPACE}>{include}</robot>', encoding="utf-8")
    robot = read_robot(path)
    assert [b.name for b in robot.mechanism.bodies] == ["base"] and not robot.findings_of("missing mesh")


@needs_xacro
def test_what_xacro_lacks_is_named_once_with_the_way_to_give_it(read):
    with pytest.raises(
        RobotFileError, match=r"it: the folder of package 'hands' is not known\. Say .*'\?packages=hands:"
    ):
        read('<xacro:include filename="$(find hands)/hand.xacro"/>')
    with pytest.raises(RobotFileError, match=r"argument: side\. Give it a value: .*'\?arguments=side:"):
        read('<link name="$(arg side)"/>')


def test_calls_of_macros_left_in_a_urdf_file_are_listed(tmp_path):
    path = tmp_path / "old.urdf"
    path.write_text(
        f'<robot name="old" {NAMESPACE}><link name="base"><visual><xacro:grey/></visual></link></robot>',
        encoding="utf-8",
    )
    assert any("xacro:grey" in finding.message for finding in read_robot(path).findings)


@needs_xacro
@pytest.mark.parametrize(
    "formula",
    [
        "${__import__('os').getcwd()}",
        "${(1).__class__}",
        "$(env HOME)",
        "${open('x', 'w')}",
        "${[c for c in ().__class__.__base__.__subclasses__()]}",
    ],
)
def test_formulas_reach_nothing_but_numbers(read, tmp_path, formula):
    with pytest.raises(RobotFileError, match=r"arm.urdf.xacro"):
        read(f'<link name="base"><inertial><mass value="{formula}"/></inertial></link>')
    assert [path.name for path in tmp_path.iterdir()] == ["arm.urdf.xacro"]


def test_without_the_package_the_message_says_what_to_install(read, monkeypatch):
    monkeypatch.setattr(xacro_expansion.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RobotFileError, match=r"arm.urdf.xacro: this is xacro.*pip install"):
        read(ARM)


def test_arguments_are_for_xacro_alone(tmp_path):
    path = tmp_path / "plain.urdf"
    path.write_text('<robot name="r"><link name="a"/></robot>', encoding="utf-8")
    with pytest.raises(RobotFileError, match="arguments are given to xacro files"):
        read_robot(path, arguments={"n": "1"})
