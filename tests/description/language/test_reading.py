"""What texts mean: units, dimensions that follow from use, names, sides of joints, speeds, tables."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from torseur.algebra.graph import PI, evaluate
from torseur.description.language import load, parse
from torseur.description.language.formulas.tabulated_functions import bryant_angles
from torseur.description.mechanism import EARTH, Frame, Sensor, body_velocity

SAMPLES = Path(__file__).parent / "samples"
BODY = "let b = body mass = 1 kg, centre = 0, inertia = 0 end ; "


def parameters(text: str) -> dict[str, object]:
    return {p.name: p for p in parse(text).parameters}


@pytest.mark.parametrize(
    ("written", "si", "unit"),
    [
        ("300 mm", Fraction(3, 10), "mm"),
        ("9.3 mm", 0.0093, "mm"),
        ("12 N/mm", 12000, "N/mm"),
        ("-2.5 kN", -2500, "kN"),
        ("72 km/h", 20, "km/h"),
        ("1 inch", Fraction(127, 5000), "inch"),
        ("3 1/s", 3, "1/s"),
        ("2 µm", Fraction(1, 500000), "µm"),
        ("1.5 kg*m^2", 1.5, "kg*m^2"),
        ("1 lbf", Fraction(8896443230521, 2000000000000), "lbf"),
    ],
)
def test_units_are_converted_exactly(written, si, unit):
    p = parameters(f"param x = {written} ;")["x"]
    assert p.value.value == si and type(p.value.value) is type(si) and p.unit == unit


def test_angles_keep_pi():
    found = parameters("param a = 60 deg, b = 0.5 rev, c = 30 rpm ;")
    assert [found[name].value for name in "abc"] == [PI / 3, PI * 1.0, PI * 1]
    assert [found[name].si_unit for name in "abc"] == ["rad", "rad", "1/s"]


def test_what_has_no_unit_takes_that_of_its_use():
    text = (
        BODY
        + """join earth and b.frame with prismatic(x) force = -k*x - c*x' + ?push end ;
    param k, c, e = k*x0^2/2, x0 in mm, zero = 0 ; apply force [zero, 0, 0] on b ;"""
    )
    found = parameters(text)
    units = {name: p.unit for name, p in found.items()}
    assert units == {"k": "N/m", "c": "N*s/m", "e": "N*m", "x0": "mm", "zero": "N", "b.push": "N"}


def test_a_bare_number_is_in_si_where_it_stands_alone():
    m = parse(
        "let b = body mass = 3, centre = [1, 2.5, 0], inertia = diag(1, 2, 2) end ; join earth and b.frame with fixed end ;"
    )
    assert m.body("b").mass.value == 3 and m.body("b").iframe.position[1].value == 2.5


def test_a_space_ends_a_unit():
    text = BODY + "param m = 3 kg ; join earth and b.frame with prismatic(x) force = 2 m/s^2 * m + 2 N*m/1 m end ;"
    (force,) = parse(text).loads
    assert str(force.law) == "2 + 2*m"


def test_t_is_time_and_no_tonne():
    text = BODY + "join earth and b.frame with prismatic(x) force = 3 N*sin(2 rad/s*t) end ;"
    (force,) = parse(text).loads
    assert str(force.law) == "3*sin(2*t)"


def test_coordinates_are_qualified_only_when_shared():
    text = """let a = body end ; let b = body end ; let c = body end ;
    join earth and a.frame with revolute(q) end ; join a.frame and b.frame as elbow with revolute(q) end ;
    join b.frame and c.frame with cylindrical(r, s) end ; init a.q = 1, elbow.q' = 2, s = 3 m ;
    apply torque -2 N*m * elbow.q on elbow.q ;"""
    m = parse(text)
    assert [c.name for j in m.joints for c in j.coordinates] == ["a.q", "elbow.q", "r", "s"]
    assert [j.name for j in m.joints] == ["earth_a", "elbow", "b_c"]
    assert [name for name, _ in m.initial] == ["a.q", "elbow.q'", "s"]
    assert m.loads[0].coordinate == "elbow.q"


def test_the_earth_is_the_parent_unless_said_otherwise():
    text = "let b = body end ; join b.frame {} earth with revolute(q) end ;"
    assert parse(text.format("and")).joints[0].parent == EARTH
    assert parse(text.format("to")).joints[0].child == EARTH


def test_fresh_constants_have_names_of_their_own():
    text = """let a = body mass = ?m, centre = [?s, ?s, 0], inertia = 0 end ; let b = body mass = ?m, centre = ?c, inertia = 0 end ;
    join [0, 0, ?s] @ a and b.frame as j with revolute(q) torque = ?f(q) - ?f(q') end ; join earth and a.frame with fixed end ;
    apply force ?F on b ; apply force ?F on b ;"""
    m = parse(text)
    names = [p.name for p in m.parameters]
    assert names[:3] == ["a.m", "a.s", "a.s_2"] and len(set(names)) == len(names)
    assert names[-6:] == [f"force_on_b{n}.F.{axis}" for n in ("", "_2") for axis in "xyz"]
    assert "b.c.x" in names and "j.s" in names
    assert str(m.loads[0].law) == "j.f(q) - j.f_2(q')"
    assert all(p.value is None for p in m.parameters)


def test_sensors_are_made_where_they_are_mentioned():
    text = (
        BODY
        + """join earth and b.frame with free(x, y, z, a, c, d) end ; let tip = [0, 0, 1] m @ b ;
    apply force [-2 N*s/m * b.velocity.x, tip.position.y * 1 N/m, b.iframe.rotation.z * 1 N*s] on b ;"""
    )
    m = parse(text)
    assert m.sensors == (
        Sensor("b.velocity.x", "velocity", Frame("b"), "x"),
        Sensor("tip.position.y", "position", m.frame("tip"), "y"),
        Sensor("b.iframe.rotation.z", "rotation", Frame("b", base="iframe"), "z"),
    )


def test_a_body_s_mass_may_be_used():
    m = parse("param k = 3 kg ; let a = body mass = 2*k end ; let b = body mass = a.mass/2 + c.mass end ; let c = body end ;"
              "join earth and a.frame with fixed end ; join a.frame and b.frame with fixed end ; join b.frame and c.frame with fixed end ;")  # fmt: skip
    assert str(m.body("b").mass) in ("c.mass + k", "k + c.mass")


def test_body_speeds_are_the_velocity_in_body_axes():
    """Oracle: a planar vehicle, vx = x' cos psi + y' sin psi, vy = -x' sin psi + y' cos psi."""
    text = BODY + "join earth and b.frame with planar(x, y, psi) speeds vx, vy = velocity in b, r = rotation in b end ;"
    joint = parse(text).joints[0]
    values = dict(
        zip([s for q in joint.coordinates for s in (q.symbol, q.rate)], (0.1, 2.0, 0.2, 3.0, 0.7, 4.0), strict=True)
    )
    vx, vy, r = evaluate([speed.value for speed in joint.speeds], values)
    c, s = np.cos(0.7), np.sin(0.7)
    assert np.allclose([vx, vy, r], [2 * c + 3 * s, -2 * s + 3 * c, 4.0])
    assert joint.frame_speeds == ""


def test_six_speeds_in_body_axes():
    joint = load(SAMPLES / "suspension.lsd").joint("body_motion")
    assert joint.frame_speeds == "body"
    assert [speed.name for speed in joint.speeds] == ["vx", "vy", "vz", "p", "q", "r"]
    assert [speed.value for speed in joint.speeds[:3]] == list(body_velocity(joint.coordinates, joint.motions))


SLIDE = "join earth and b.frame as j with prismatic(s) {} end ;"
ORDERS = [
    "along [0,1,0], damping = 2 N*s/m, role = tree speeds U = 3*s'",
    "speeds U = 3*s', along [0,1,0], damping = 2 N*s/m, role = tree",
    "damping = 2 N*s/m speeds U = 3*s' role = tree along [0,1,0]",
]


@pytest.mark.parametrize("items", ORDERS)
def test_clauses_of_a_joint_come_in_any_order(items):
    assert parse(BODY + SLIDE.format(items)) == parse(BODY + SLIDE.format(ORDERS[0]))


def test_speeds_are_told_from_properties_by_their_names():
    """A name among others is a speed, even where the joint has such a property; alone it is the property."""
    text = "join earth and b.frame with denavit_hartenberg(s) speeds u = 2*s', r = s, a = 1 m end ;"
    joint = parse(BODY + text).joints[0]
    assert [speed.name for speed in joint.speeds] == ["u"]
    turning = "join earth and b.frame with spherical(a, d, e) speeds p, q, r = rotation in b, angles xyz end ;"
    assert [speed.name for speed in parse(BODY + turning).joints[0].speeds] == ["p", "q", "r"]


def test_bryant_angles_of_rotation_vectors():
    """Oracle: SciPy's rotations."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(200, 3)) * 0.5
    vectors[0] = 0
    angles = bryant_angles(vectors)
    expected = Rotation.from_rotvec(vectors).as_matrix()
    found = Rotation.from_euler("XYZ", angles).as_matrix()
    assert np.allclose(found, expected, atol=1e-14)


def test_a_measured_joint_passes_through_its_points():
    """Oracle: the rows of the file, rotations by SciPy."""
    rows = np.genfromtxt(SAMPLES / "front_left.csv", delimiter=",", skip_header=1)
    joint = load(SAMPLES / "suspension.lsd").joint("suspension")
    assert joint.kind == "screw" and [m.kind for m in joint.motions] == ["translation"] * 3 + ["rotation"] * 3
    (q,) = joint.coordinates
    for row in rows:
        amounts = evaluate([m.amount for m in joint.motions], {q.symbol: float(row[0])})
        assert np.allclose(amounts[:3], row[1:4], atol=1e-15)
        found = Rotation.from_euler("XYZ", np.array(amounts[3:], dtype=float)).as_matrix()
        assert np.allclose(found, Rotation.from_rotvec(row[4:7]).as_matrix(), atol=1e-14)


def test_a_table_file(tmp_path):
    (tmp_path / "curve.csv").write_text("speed; torque  # a header\n0; 10\n\n1; 9.5 # remark\n2; 8\n3; 5\n4; 0\n")
    text = BODY + 'join earth and b.frame with revolute(q) torque = curve(q\') end ; table curve in N*m = "curve.csv" ;'
    (load_,) = parse(text, directory=tmp_path).loads
    table = load_.law.data.table
    assert (table.points, table.values, table.unit) == ((0, 1, 2, 3, 4), (10, 9.5, 8, 5, 0), "N*m")


def test_laws_take_the_units_of_their_calls():
    text = BODY + "join earth and b.frame with prismatic(x) force = -f(x') end ; law f(v) = 3 N * tanh(v/2 mm/s) ;"
    (law,) = parse(text).laws
    assert law.arguments[0].data.unit == "m/s" and law.function.unit == "N"


def test_solids_lie_where_they_are_put():
    text = "let b = body rod length = 2 m, mass = 1 kg at [1, 0, 0] m along [0, 1, 0] end ; join earth and b.frame with fixed end ;"
    place = parse(text).body("b").solids[0].placement
    assert [c.value for c in place.position] == [1, 0, 0]
    (turn,) = place.rotation
    assert turn.angle is PI / 2 and [c.value for c in turn.axis] == [-1, 0, 0]


def test_a_body_may_be_called_frame():
    m = parse("""let frame = body mass = 1 kg end ; let b = body mass = 1 kg end ; join earth and frame with revolute(p) end ;
    join frame.frame and b.frame with revolute(q) end ; apply force [1, 0, 0] N on frame ;""")
    assert [joint.name for joint in m.joints] == ["earth_frame", "frame_b"] and m.loads[0].name == "force_on_frame"
