"""Robot files in the studio: their shapes as drawings, and hands whose Jacobian is that of the robot object."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from browsing import wait_until
from presentation.studio.answering import last
from torseur.description.readers import read_robot
from torseur.description.readers.writing.robot_drawings import drawn_mechanism
from torseur.presentation.studio.answers.motion_answers import move
from torseur.presentation.studio.messages import Request
from torseur.presentation.studio.serving import begin

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0 0.2"/><mass value="2"/><inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.2" rpy="0.3 0 0"/><geometry><cylinder radius="0.05" length="0.4"/></geometry>
      <material name="red"><color rgba="1 0 0.5 0.25"/></material></visual>
  </link>
  <link name="lower">
    <inertial><origin xyz="0 0 0.15"/><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.3"/><geometry><mesh filename="tool.stl" scale="0.5 1 2"/></geometry></visual>
    <collision><geometry><box size="1 1 1"/></geometry></collision>
  </link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="9" velocity="9"/></joint>
  <joint name="bend" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="0 0 0.4" rpy="0 0.7 0"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="9" velocity="9"/></joint>
</robot>"""
TOOL = """solid t
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid t"""


@pytest.fixture
def arm(tmp_path):
    (tmp_path / "tool.stl").write_text(TOOL)
    (tmp_path / "arm.urdf").write_text(ARM)
    return tmp_path / "arm.urdf"


def test_shapes_become_drawings_and_stay_where_they_are(arm):
    mechanism = ts.parse(ts.to_text(drawn_mechanism(read_robot(arm))))
    assert [drawing.kind for drawing in mechanism.drawings] == ["cylinder", "mesh"]
    cylinder, mesh = mechanism.drawings
    assert cylinder.colour == "#ff0080" and float(cylinder.transparency) == 0.75
    assert mesh.text == (arm.parent / "tool.stl").resolve().as_posix()
    assert {name: float(value) for name, value in mesh.sizes} == {"scale_x": 0.5, "scale_y": 1, "scale_z": 2}
    assert [float(x) for x in cylinder.frames[0].placement.position] == [0, 0, 0.2]


def test_a_robot_file_is_opened_and_never_written(arm, tmp_path):
    session = begin(arm, tmp_path / "state")
    assert session.file is None and "draw mesh" in session.state.text and "(* " in session.state.text
    assert "no file yet" in session.save() and arm.read_text() == ARM
    assert ts.parse(session.state.text).name == "arm"


def test_robots_far_down_in_one_folder_have_sessions_of_their_own(tmp_path):
    """Of other names, and of other options behind one name."""
    folder = tmp_path / ("deep" * 25)
    folder.mkdir()
    names = ("one.urdf", "two.urdf", "two.urdf?locked=bend:0.5", "two.urdf?base=floating")
    for name in names[:2]:
        (folder / name).write_text(ARM.replace('name="arm"', f'name="{name[:3]}"', 1))
    sessions = [begin(f"{folder}/{name}", tmp_path / "state") for name in names]
    assert len({session.store for session in sessions}) == 4
    made = [ts.parse(session.state.text) for session in sessions]
    assert [one.name for one in made] == ["one", "two", "two", "two"]
    counts = [len(ts.build_tree(one).layout.speeds) for one in made]
    assert counts == [2, 2, 1, 8]
    assert len(ts.build_tree(ts.load(f"{folder}/{names[3]}")).layout.speeds) == ts.Robot(f"{folder}/{names[3]}").nv == 8


def test_hands_have_the_jacobian_of_their_point(arm, tmp_path):
    text = begin(arm, tmp_path / "state").state.text
    start = {"turn": 0.4, "bend": 0.9}
    motion = last(move(Request("move", 1, text, initial=start, until=0.01), None), "motion")
    (hand,) = [handle for handle in motion["handles"] if "moves" in handle]
    assert hand["name"] == "lower (hand)" and list(hand["moves"]) == ["turn", "bend"]
    robot = ts.Robot(arm)
    q = np.array([start[name] for name in robot.coordinate_names])
    place, jacobian = robot.fk("lower", q), robot.jacobian("lower", q)
    arm_of_point = place[:3, :3] @ np.array(hand["point"])
    columns = jacobian[:3] + np.cross(jacobian[3:].T, arm_of_point).T
    for name, column in zip(robot.coordinate_names, columns.T, strict=True):
        assert hand["moves"][name] == pytest.approx(column, abs=1e-4)


def test_a_floating_robot_is_held_while_its_hand_is_led(arm, tmp_path):
    text = begin(f"{arm}?base=floating", tmp_path / "state").state.text
    motion = last(move(Request("move", 1, text, until=0.01), None), "motion")
    assert [list(handle["moves"]) for handle in motion["handles"] if "moves" in handle] == [["turn", "bend"]]


PIXEL = "studio.show.handles.pixel(studio.show.handles.marks.get('l3 (hand)'), studio.show.theatre, 0)"


@pytest.mark.browser
@pytest.mark.slow
def test_a_hand_goes_where_it_is_drawn(visit, tmp_path):
    """In one jump, far beyond where the first direction holds; a joint at its limit leaves the way to the others."""
    parts, limits = [], {1: (-3, 3), 2: (-0.1, 0.1), 3: (-3, 3)}
    for k, (low, high) in limits.items():
        parts.append(f"""<link name="l{k}"><inertial><origin xyz="0.25 0 0"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0.25 0 0"/><geometry><box size="0.5 0.05 0.05"/></geometry></visual></link>
<joint name="j{k}" type="revolute"><parent link="l{k - 1}"/><child link="l{k}"/><origin xyz="{0.5 if k > 1 else 0} 0 0"/><axis xyz="0 1 0"/><limit lower="{low}" upper="{high}" effort="1" velocity="1"/></joint>""")
    (tmp_path / "chain.urdf").write_text(f'<robot name="chain"><link name="l0"/>{"".join(parts)}</robot>')
    page = visit(tmp_path / "chain.urdf?damping=false")
    wait_until(page, "window.studio && studio.show.handles.marks.size === 4 && !studio.desk.isBusy")
    assert page.locator("#start-part").get_attribute("open") is not None
    # Where the hand is in another configuration can be reached, its middle joint being nearly at its limit.
    for name, value in (("j1", 0.9), ("j2", 0.09), ("j3", -1.2)):
        page.locator(f"[data-name={name}] input[type=number]").fill(str(value))
    wait_until(page, "studio.show.handles.start.j3 === -1.2 && !studio.desk.isBusy")
    there = page.evaluate(PIXEL)
    page.locator("#reset-start").click()
    wait_until(page, "studio.show.handles.start.j3 === 0 && !studio.desk.isBusy")
    here, box = page.evaluate(PIXEL), page.locator(".hand").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + there[0] - here[0], y + there[1] - here[1])
    wait_until(page, f"Math.hypot({PIXEL}[0] - {there[0]}, {PIXEL}[1] - {there[1]}) < 2")
    page.mouse.up()
    wait_until(page, "!studio.desk.isBusy && studio.show.handles.pursuit === null")
    assert abs(page.evaluate("studio.state.initial.j2")) <= 0.1


def test_limits_of_the_file_go_with_its_text_only(arm, tmp_path):
    session = begin(arm, tmp_path / "state")
    assert session.limits == {"turn": (-3.0, 3.0), "bend": (-3.0, 3.0)}
    session.keep({"name": "library:four_bar"})  # another mechanism has been opened on the page
    assert session.limits == {}
    assert begin("library:double_pendulum", tmp_path / "state").limits == {}


def test_marks_are_the_axes_of_frames_and_the_mass_centre(arm, tmp_path):
    """Oracle: the robot object's forward kinematics and mass centre; every body is at its place of the start."""
    text = begin(arm, tmp_path / "state").state.text
    start = {"turn": 0.4, "bend": 0.9}
    answer = last(move(Request("move", 1, text, initial=start, until=0.01), None), "motion")
    marks, masses = answer["scene"]["marks"], answer["masses"]
    robot = ts.Robot(arm)
    q = np.array([start[name] for name in robot.coordinate_names])
    bodies = ["earth", "base", "upper", "lower"]
    places = {k: np.eye(4) if k == 0 else robot.fk(name, q) for k, name in enumerate(bodies)}
    assert [frame["name"] for frame in marks["frames"]][:4] == bodies and marks["length"] > 0
    assert all(bodies[frame["body"]] == frame["name"] and frame["point"] == [0, 0, 0] for frame in marks["frames"][:4])
    shares = [one["mass"] * (places[one["body"]] @ [*one["point"], 1])[:3] for one in masses]
    assert sum(one["mass"] for one in masses) == 3.0
    np.testing.assert_allclose(sum(shares) / 3.0, robot.com(q), atol=1e-6)


def test_a_robot_is_framed_as_it_stands_without_struts_beside_its_meshes(arm):
    """Nobody drives it: it falls, and a finger without a stop slides away, which must not make the arm a dot."""
    arm.write_text(
        ARM.replace('type="revolute"><parent link="upper"', 'type="prismatic"><parent link="upper"').replace(
            '<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><dynamics damping="2"/>'
        )
    )
    robot = read_robot(arm)
    for subject in (robot, drawn_mechanism(robot)):
        scene = ts.view(subject).scene
        assert scene.view.near and scene.elements == ()
    assert not ts.view(ts.load("library:pendulum")).scene.view.near
