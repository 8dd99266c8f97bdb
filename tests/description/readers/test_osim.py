"""OpenSim models: places and moments beside OpenSim's own, both ways of writing, splines, followers, muscles, faults."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from description.readers.osim_models import COUNT, EXTRAS, KINDS, PLAIN, SPLINE_X, SPLINE_Y, osim_model
from torseur.analysis.biomechanics.forces.trial_dynamics import trial_dynamics
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.motion.joint_motion import JointMotion, coordinate_names
from torseur.description.readers import RobotFileError, read_robot
from torseur.description.readers.osim.osim_functions import simm_spline

ORACLE = json.loads((Path(__file__).parents[2] / "oracles" / "opensim_models.json").read_text())


def written(folder, text, name="model.osim"):
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def at(mechanism, known):
    """One frame of a motion with the oracle's coordinates, speeds and accelerations."""
    names = coordinate_names(mechanism)
    rows = [np.array([[known.get(key, {}).get(name, 0.0) for name in names]]) for key in ("q", "v", "vdot")]
    return JointMotion(np.array([0.0]), names, *rows)


@pytest.mark.parametrize("version", [40000, 30000])
@pytest.mark.parametrize(("which", "options"), [("all", {}), ("plain", {"kinds": PLAIN, "seed": 5})])
def test_places_and_moments_are_those_of_opensim(tmp_path, which, options, version):
    """Oracle: OpenSim 4.5.2 itself, for every kind of joint with oblique frames and functions of coordinates."""
    known = ORACLE[which]
    robot = read_robot(written(tmp_path, osim_model(version, **options)))
    mechanism = robot.mechanism
    if which == "all" and version == 30000:
        known = {**known, "places": {k: v for k, v in known["places"].items() if k.startswith("b:")}}
    body = BodyInMotion(mechanism, at(mechanism, known))
    frames = dict(mechanism.frames)
    for key, place in known["places"].items():
        kind, _, name = key.partition(":")
        frame = frames[name] if kind == "m" else ts.Frame(name, base="iframe")
        if version == 40000 or kind == "b":
            assert body.place(frame)[0][0] == pytest.approx(place, abs=1e-12), key
    if "tau" in known:
        dynamics = trial_dynamics(mechanism, at(mechanism, known))
        for name, moment in known["tau"].items():
            assert dynamics.moment(name)[0] == pytest.approx(moment, abs=1e-10), name
    assert robot.format == "osim" and len(robot.limits) == sum(
        COUNT[kind] == 1 for kind in options.get("kinds", KINDS)
    )  # fmt: skip


def test_splines_are_those_of_simm():
    """Oracle: a cubic is its own spline; twice differentiable; third derivatives of the ends by divided differences."""
    x = np.array([-1.0, -0.4, 0.1, 0.7, 1.5])
    cubic = np.polynomial.Polynomial([0.3, -1.0, 0.5, 2.0])
    fine = np.linspace(-1, 1.5, 60)
    assert simm_spline(x, cubic(x))(fine) == pytest.approx(cubic(fine), abs=1e-12)
    y, h = np.array(SPLINE_Y), 1e-4
    curve = simm_spline(np.array(SPLINE_X), y)
    assert curve(np.array(SPLINE_X)) == pytest.approx(y, abs=1e-14)
    for knot in SPLINE_X[1:-1]:
        left, right = (
            (curve(np.array([knot + s * 3 * h])) - 2 * curve(np.array([knot + s * 2 * h]))
             + curve(np.array([knot + s * h]))) / h**2 for s in (-1, 1)
        )  # fmt: skip
        assert left == pytest.approx(right, abs=0.01)
    third = np.diff(curve(SPLINE_X[0] + 0.1 * np.arange(4)), n=3)[0] / 0.1**3
    d = y[:4].copy()
    for order in range(1, 4):
        d = np.diff(d) / (np.array(SPLINE_X)[order:4] - np.array(SPLINE_X)[: 4 - order])
    assert third == pytest.approx(6 * d[0], rel=1e-6)


def test_followers_muscles_and_what_is_left_out(tmp_path):
    robot = read_robot(written(tmp_path, osim_model(extra=EXTRAS)))
    mechanism = robot.mechanism
    assert "j2_q0" not in coordinate_names(mechanism) and "M.body0" in dict(mechanism.frames)
    (control,) = robot.controls
    assert (control.parameter, control.lower, control.upper) == ("biceps.tension", 0.0, 500.0)
    tree = ts.build_tree(mechanism)
    assert any("biceps" in load.name for load in mechanism.loads) and tree.links
    said = " ".join(str(finding) for finding in robot.findings)
    assert "as in the model's default posture" in said and "<CoordinateLimitForce> acts on nothing here" in said


def test_a_muscle_shortens_with_its_tension(tmp_path):
    """Oracle: on a slide of mass m, m a = -T dL/dx, with the length L from the places of the two points."""
    ends = ((1.0, 2.0, 3.0), (0.2, 0.1, 0.0))
    a, b = (" ".join(map(str, end)) for end in ends)
    points = f"""<PathPoint name="a"><socket_parent_frame>/ground</socket_parent_frame><location>{a}</location></PathPoint>
    <PathPoint name="b"><socket_parent_frame>/bodyset/body0</socket_parent_frame><location>{b}</location></PathPoint>"""
    muscle = f"""<ForceSet><objects><Millard2012EquilibriumMuscle name="m"><GeometryPath><PathPointSet><objects>{points}
    </objects></PathPointSet></GeometryPath></Millard2012EquilibriumMuscle></objects></ForceSet>"""
    mechanism = read_robot(written(tmp_path, osim_model(kinds=("SliderJoint",), extra=muscle))).mechanism
    equations, speeds = ts.derive(ts.build_tree(mechanism)), []
    for tension in (0.0, 30.0):
        motion = ts.simulate(equations, until=1e-4, samples=2, parameters={"m.tension": tension})
        speeds.append(motion.v[-1, 0])
    q0, h = float(dict(mechanism.initial)["j0_q0"]), 1e-5
    q = np.array([[q0 - h], [q0 + h]])
    body = BodyInMotion(mechanism, JointMotion(np.array([0.0, 1.0]), ("j0_q0",), q, 0 * q, 0 * q))
    place = body.place(ts.Frame("body0", ts.placement(ends[1])))[0]
    lengths = np.linalg.norm(place - np.array(ends[0]), axis=1)
    mass = float(mechanism.bodies[0].mass)
    assert (speeds[1] - speeds[0]) / 1e-4 * mass == pytest.approx(-30 * np.diff(lengths)[0] / (2 * h), rel=1e-3)


@pytest.mark.parametrize(("old", "new", "said"), [
    ('Version="40000"', 'Version="10500"', "early OpenSim .Version=10500."),
    ('Version="40000"', 'Version="four"', "not a version of an OpenSim file"),
    ("/bodyset/body0</socket_parent><", "/bodyset/bodx0</socket_parent><", "unknown body or frame 'bodx0'.*body0"),
    ("<SimmSpline><x> -2 -1.2", "<SimmSpline><x> -2 -2.2", "do not increase"),
    ("<SimmSpline><x> -2 -1.2", "<SimmSpline><x> -2", "5 values of x and 6 of y"),
    ("j1_q1</coordinates>", "j1_qq</coordinates>", "unknown coordinate 'j1_qq'"),
    ("<axis>0.3 -0.2 0.9</axis>", "<axis>0 0 0</axis>", "axis of rotation1 of joint 'j1' is zero"),
    ("PolynomialFunction", "FourierFunction", "unknown function 'FourierFunction'"),
    ("EllipsoidJoint", "ScapulothoracicJoint", "unknown joint 'ScapulothoracicJoint'.*--partial"),
    ('name="j1_q0"', 'name="j0_q0"', "two coordinates are called 'j0_q0'"),
])  # fmt: skip
def test_faults_are_named_with_their_line(tmp_path, old, new, said):
    text = osim_model()
    assert old in text
    with pytest.raises(RobotFileError, match=said):
        read_robot(written(tmp_path, text.replace(old, new)))


def test_models_are_taken_wherever_robots_are(tmp_path):
    """ts.load, the robot object, and markers of a model followed by inverse kinematics."""
    file = written(tmp_path, osim_model(kinds=("FreeJoint", "PinJoint"), seed=8))
    assert ts.load(file).name == "made"
    robot = ts.Robot(file)
    assert len(robot.mechanism.bodies) == 2
