"""Shapes of robot files that touch the ground where it is asked for."""

import numpy as np
import pytest

import torseur as ts

HOPPER = """<robot name="hopper"><link name="base"><inertial><mass value="2"/>
<inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
<link name="leg"><inertial><origin xyz="0 0 -0.1"/><mass value="0.3"/>
<inertia ixx="0.001" iyy="0.001" izz="0.0005" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 -0.2"/><geometry><sphere radius="0.03"/></geometry></collision></link>
<joint name="knee" type="prismatic"><parent link="base"/><child link="leg"/><axis xyz="0 0 1"/>
<limit lower="-0.05" upper="0.05" effort="1" velocity="1"/></joint></robot>"""
WHEEL = """<mujoco><worldbody><geom type="plane" size="5 5 1" pos="0 0 -0.1" euler="0 20 0"/>
<body name="wheel" pos="0 0 1"><freejoint/><geom name="tread" type="{kind}" size="{size}" mass="2"/>
<geom type="sphere" size="0.05" contype="0" conaffinity="0" mass="0.01"/></body></worldbody></mujoco>"""


@pytest.fixture
def hopper(tmp_path):
    path = tmp_path / "hopper.urdf"
    path.write_text(HOPPER)
    return path


@pytest.mark.slow
def test_a_leg_with_a_knee_falls_over_and_gains_no_energy(hopper):
    """Oracle: energy falls; nothing is below the ground; stops of the knee act with the contacts, and let go again."""
    robot = ts.read_robot(hopper, base="floating", ground=0.8, stops=0.0)
    mechanism = robot.mechanism
    assert [c.name for c in mechanism.contacts] == ["knee.lower", "knee.upper", "base.contact", "leg.contact"]
    assert ts.parse(ts.to_text(mechanism)) == mechanism
    assert not any("contact is not modelled" in finding.message for finding in robot.findings)
    start = {"root.z": 0.4, "root.vx": 0.5}
    motion = ts.simulate(mechanism, 1.0, initial=start, outputs=["energy"], rtol=1e-7)
    names = {event.name for event in motion.events}
    assert {"leg.contact", "knee.upper", "knee.upper opens", "base.contact.5"} <= names
    assert np.diff(motion["energy"]).max() < 1e-6 and motion["root.z"].min() > 0.0499


def test_only_named_bodies_touch(hopper):
    robot = ts.read_robot(hopper, base="floating", ground=0.3, touching=["leg"])
    (foot,) = robot.mechanism.contacts
    assert (foot.name, foot.shape, float(foot.coefficient)) == ("leg.contact", "sphere", 0.3)
    for options, words in (
        ({"ground": 0.3, "touching": ["legg"]}, "Did you mean 'leg'"),
        ({"touching": ["leg"]}, "give the ground's friction"),
        ({"ground": -1.0}, "coefficient of friction"),
    ):
        with pytest.raises(ts.TorseurError, match=words):
            ts.read_robot(hopper, **options)


@pytest.mark.parametrize(("kind", "size", "inertia"), [("sphere", "0.2", 0.4), ("capsule", "0.2 0.3", None)])
def test_the_planes_of_a_model_are_the_ground(tmp_path, kind, size, inertia):
    """Oracle: a ball rolls down a slope with 5/7 g sin 20 deg, once it has fallen on it; ghosts touch nothing."""
    path = tmp_path / "wheel.xml"
    path.write_text(WHEEL.format(kind=kind, size=size))
    mechanism = ts.read_robot(path, ground=0.9).mechanism
    assert len(mechanism.contacts) == 1
    if inertia is None:
        return
    motion = ts.simulate(mechanism, 2.0, samples=41, outputs=["wheel.velocity.x", "wheel.velocity.z"], rtol=1e-7)
    along = motion["wheel.velocity.x"] * np.cos(np.radians(20)) - motion["wheel.velocity.z"] * np.sin(np.radians(20))
    rate = np.polyfit(motion.time[-20:], along[-20:], 1)[0]
    m, j = 2.01, 0.4 * 2 * 0.04 + 0.4 * 0.01 * 0.0025
    assert rate == pytest.approx(9.81 * np.sin(np.radians(20)) / (1 + j / (m * 0.04)), rel=1e-5)
