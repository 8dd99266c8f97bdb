"""Joints of one degree of freedom whose screw is given by formulas or by tables: Cardan joint, double wishbone."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import root
from scipy.spatial.transform import Rotation

import torseur as ts
from torseur.algebra.graph import evaluate
from torseur.derivation import dynamics as td
from torseur.derivation.formalisms import FORMALISMS, certify, derive
from torseur.derivation.tree import Tree
from torseur.description import library
from torseur.description.mechanism import Frame

CARDAN = json.loads((Path(__file__).parents[2] / "oracles" / "cardan.json").read_text())
EVERY = pytest.mark.parametrize("formalism", FORMALISMS)


@EVERY
def test_cardan_joint_of_the_library(formalism):
    """Oracle: stored digits of a(psi) and its Christoffel symbol for A = 0.3, B = 0.4, C = 0.2."""
    equations = derive(library.load("cardan"), formalism)
    given = {"A": 0.3, "B": 0.4, "C": 0.2, "m": 2.0, "l": 0.5, "g": 0.0, "psi'": 1.3}
    for point in CARDAN["points"]:
        state = given | {"alpha": float(point["alpha"]), "psi": float(point["psi3"])}
        layout = equations.layout
        values = {x: state[str(x.name)] for x in (*layout.coordinates, *layout.speeds, *layout.parameters)}
        mass, bias = evaluate([equations.mass_matrix[0][0], equations.bias[0]], values)
        assert mass == pytest.approx(float(point["a(A=0.3,B=0.4,C=0.2)"]), rel=1e-12)
        assert bias / 1.3**2 == pytest.approx(float(point["Gamma=a'/2"]), abs=1e-12)


@pytest.mark.parametrize("point", CARDAN["points"], ids=lambda p: f"alpha {float(p['alpha']):.2f}, psi {p['psi3']}")
def test_screw_of_the_cardan_joint(point):
    """Oracle: stored digits of phi and phi' in the axes of the driven shaft."""
    tree = tree_of(library.load("cardan")).with_parameters({"alpha": float(point["alpha"])})
    motion = tree.at([float(point["psi3"])], [1.0]).links[0].motion
    assert list(motion.screws[0].angular) == pytest.approx([float(x) for x in point["phi2(R2)"]], abs=1e-13)
    assert list(motion.screw_rates[0].angular) == pytest.approx([float(x) for x in point["dphi2(R2)"]], abs=1e-13)
    assert list(motion.screws[0].linear) == [0, 0, 0]


def test_motion_of_the_cardan_joint_of_the_library():
    case = CARDAN["trajectory"]
    given = {"A": 0.3, "B": 0.4, "C": 0.2}
    motion = ts.simulate(library.load("cardan"), until=5, samples=case["t"], rtol=1e-13, parameters=given)
    assert np.max(np.abs(motion["psi"] - np.array(case["psi"], dtype=float))) < 1e-10


# The double wishbone: points in metres from the wheel's centre, those of the upright and those of the chassis.
LOWER, UPPER, TIE = np.array([[0.005, -0.06, -0.12], [-0.01, -0.09, 0.15], [-0.13, -0.08, -0.04]])
LOWER_PIVOTS = np.array([[0.16, -0.42, -0.105], [-0.16, -0.42, -0.105]])
UPPER_PIVOTS = np.array([[0.11, -0.36, 0.125], [-0.13, -0.36, 0.115]])
TIE_PIVOT = np.array([-0.13, -0.393, -0.041])
BARS = [(LOWER, pivot) for pivot in LOWER_PIVOTS] + [(UPPER, pivot) for pivot in UPPER_PIVOTS] + [(TIE, TIE_PIVOT)]


def linkage(z: float) -> tuple[np.ndarray, np.ndarray]:
    """Place and rotation of the upright that five bars of constant length leave at wheel travel z."""

    def stretched(unknown):
        place, turn = np.array([*unknown[:2], z]), Rotation.from_rotvec(unknown[2:])
        return [np.sum((place + turn.apply(a) - b) ** 2) - np.sum((a - b) ** 2) for a, b in BARS]

    found = root(stretched, np.zeros(5), tol=1e-12).x
    assert np.abs(stretched(found)).max() < 1e-12
    return np.array([*found[:2], z]), Rotation.from_rotvec(found[2:]).as_matrix()


def tree_of(mechanism: ts.Mechanism) -> Tree:
    """The tree with the values of the independent parameters."""
    tree = ts.build_tree(mechanism)
    values = {p.name: float(p.value) for p in mechanism.parameters if p.name in tree.layout.parameter_names}
    return tree.with_parameters(values)


def wheel_pose(name: str, wheel: str, coordinate: str, z: float) -> tuple[np.ndarray, np.ndarray]:
    tree = tree_of(library.load(name))
    q = [z if c == coordinate else 0.0 for c in tree.layout.coordinate_names]
    place = td.pose(tree, Frame(wheel), q)
    return np.array(list(place.position), float), np.array([list(r) for r in place.rotation.matrix.rows], float)


@pytest.mark.parametrize("z", [-0.1, -0.055, -0.03, 0.0, 0.017, 0.04, 0.09])
def test_double_wishbone_follows_its_linkage(z):
    """Oracle: an independent solution of the five bars, at the tabulated points (to their digits) and between them."""
    place, rotation = wheel_pose("double_wishbone", "wheel", "z", z)
    expected_place, expected_rotation = linkage(z)
    assert place == pytest.approx(expected_place, abs=3e-7)
    assert rotation == pytest.approx(expected_rotation, abs=3e-6)


@pytest.mark.parametrize(("corner", "side"), [("fl", 1), ("fr", -1)])
def test_both_sides_of_the_vehicle_mirror_each_other(corner, side):
    mirror = np.diag([1, side, 1])
    place, rotation = wheel_pose("vehicle", f"{corner}_hub", f"{corner}_z", 0.05)
    expected_place, expected_rotation = linkage(0.05)
    assert place - [1.1, side * 0.74, -0.25] == pytest.approx(mirror @ expected_place, abs=3e-7)
    assert rotation == pytest.approx(mirror @ expected_rotation @ mirror, abs=3e-6)


def joint_values(z: float, rate: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rotation matrix, position, screw (phi, t) and its rate of the tabulated joint, in the wheel's axes."""
    motion = tree_of(library.load("double_wishbone")).at([z], [rate]).links[0].motion
    screw, change = motion.screws[0], motion.screw_rates[0]
    rows = [list(row) for row in motion.transform.rotation.matrix.rows]
    parts = [[*screw.angular, *screw.linear], [*change.angular, *change.linear]]
    return np.array(rows, float), np.array([*motion.transform.position], float), *(np.array(p, float) for p in parts)


@pytest.mark.parametrize("z", [-0.0731, 0.0, 0.02, 0.0411])
def test_screw_and_its_rate_are_the_derivatives_of_the_place(z):
    """Oracle: central differences of positions and rotations; phi' and t' from differences of phi and t."""
    h = 1e-5
    (before, p0, s0, _), (after, p1, s1, _) = joint_values(z - h), joint_values(z + h)
    rotation, _, screw, change = joint_values(z, rate=1.0)
    spin = rotation.T @ (after - before) / (2 * h)
    assert screw[:3] == pytest.approx([spin[2, 1], spin[0, 2], spin[1, 0]], abs=1e-8)
    assert screw[3:] == pytest.approx(rotation.T @ (p1 - p0) / (2 * h), abs=1e-8)
    assert change == pytest.approx((s1 - s0) / (2 * h), abs=1e-6)


@pytest.mark.parametrize("z", [-0.04, 0.0, 0.06])
def test_second_derivatives_are_continuous_at_the_points(z):
    left, right = (joint_values(z + side * 1e-9, rate=1.0)[3] for side in (-1, 1))
    assert left == pytest.approx(right, abs=1e-6)


def test_every_formalism_takes_the_tables():
    certificate = certify(library.load("double_wishbone"), points=1)
    assert certificate.worst < 1e-40 and all(entry.applies for entry in certificate.entries)


def test_suspension_oscillates_at_its_natural_frequency():
    """Oracle: one degree of freedom, m_eff z'' = -k z with m_eff = m |t|² + phi·I phi at z = 0, from the linkage."""
    step = 1e-5
    (p0, r0), (p1, r1) = linkage(-step), linkage(step)
    t = (p1 - p0) / (2 * step)
    phi = Rotation.from_matrix(r1 @ r0.T).as_rotvec() / (2 * step)
    mass = 45 * t @ t + phi @ np.diag([0.9, 1.2, 0.9]) @ phi
    motion = ts.simulate(library.load("double_wishbone"), until=1, initial={"z": 1e-4}, parameters={"c": 0.0},
                         events=["z'"], rtol=1e-11)  # fmt: skip
    times = [event.time for event in motion.events if event.time > 1e-6]
    assert np.diff(times)[0] == pytest.approx(math.pi * math.sqrt(mass / 25e3), rel=2e-3)


SCREW = """let hub = body mass = 20 kg, centre = 0, inertia = diag(1, 1, 1) end ;
join earth and hub.frame as strut with screw(z) table "points.csv" end ;"""


def screw(tmp_path, rows: list[str]) -> ts.Mechanism:
    (tmp_path / "points.csv").write_text("\n".join(rows))
    (tmp_path / "hub.lsd").write_text(SCREW)
    return ts.load(tmp_path / "hub.lsd")


def test_a_file_of_measured_points_gives_the_same_joint(tmp_path):
    """The linkage's own points through a file: rotation vectors in, the same wheel pose out."""
    rows = []
    for z in np.linspace(-0.1, 0.1, 11):
        place, rotation = linkage(z)
        numbers = [z, *place, *Rotation.from_matrix(rotation).as_rotvec()]
        rows.append(", ".join(f"{x:.12g}" for x in numbers))
    mechanism = screw(tmp_path, rows)
    tree = ts.build_tree(mechanism)
    place = td.pose(tree, Frame("hub"), [0.04])
    assert np.array(list(place.position), float) == pytest.approx(linkage(0.04)[0], abs=1e-9)
    assert certify(mechanism, points=1).worst < 1e-40


@pytest.mark.parametrize(("rows", "words"), [
    (["0 0 0 0 0 0 0", "0.1 0 0 0.1 0 0 0"], "2 points"),
    (["0 0 0 0 0 0 0", "0.2 0 0 1 0 0 0", "0.1 0 0 1 0 0 0", "0.3 0 0 1 0 0 0"], "not increasing: point 3"),
    (["0 0 0 0 0 0", "1 0 0 0 0 0 0"], "expected 7 numbers"),
])  # fmt: skip
def test_tables_that_are_no_joint_are_refused(tmp_path, rows, words):
    with pytest.raises(ts.TorseurError, match=words):
        screw(tmp_path, rows)


@pytest.mark.parametrize("psi", [0.4, -1.1])
def test_tensors_hold_the_printed_screw_and_its_derivative(psi):
    """Sandel's (1.5.33) and (1.5.34), in the axes of the driven shaft, with w = 1 + cos² α tan² ψ."""
    alpha, equations = 0.6, derive(library.load("cardan"), "inertia_tensors")
    objects, values = equations.objects, {equations.layout.coordinates[0]: psi}
    values |= {x: alpha for x in equations.layout.parameters if x.name == "alpha"}
    sine, cosine, tangent = math.sin(alpha), math.cos(alpha), math.tan(psi)
    w, square = 1 + (cosine * tangent) ** 2, 1 + tangent**2
    phi = np.array([-sine / w**0.5, -sine * cosine * tangent / w**0.5, -((sine * tangent) ** 2) * cosine / w])
    own = np.array([sine * cosine**2 * tangent * square / w**1.5, -sine * cosine * square / w**1.5,
                    -2 * sine**2 * cosine * tangent * square / w**2])  # fmt: skip
    S, bent = (
        np.array([evaluate(row, values) for row in objects[name]["psi"]], dtype=float)
        for name in ("screws S", "screw derivatives S'")
    )
    assert pytest.approx(np.column_stack([tilde(phi), np.zeros(3)]), abs=1e-13) == S
    assert bent == pytest.approx(np.column_stack([tilde(own) + tilde(phi) @ tilde(phi), np.zeros(3)]), abs=1e-13)
    assert list(objects["inertia tensors G"]) == [("psi", "psi")]  # one screw per coordinate


def tilde(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


@pytest.mark.slow
def test_complex_joints_behind_each_other_reversed_and_on_quasi_velocities():
    text = """
    param k = 2 ;
    gravity = [0, -9.81 m/s^2, 1 m/s^2] ;
    let a = body mass = 1 kg, centre = [0.1, 0.2, 0.3], inertia = diag(0.1, 0.2, 0.25) end ;
    let b = body mass = 2 kg, centre = [0.3, -0.2, 0.1], inertia = diag(0.3, 0.2, 0.25) end ;
    let c = body mass = 0.7 kg, centre = [0.1, -0.2, 0.1], inertia = diag(0.3, 0.2, 0.25) end ;
    join a.frame and earth as j1 with link(q1) dof1 = q1 || [0, 0, 1], dof2 = q1^2*1 m along [1, 0, 0],
        dof3 = sin(k*q1) || [1, 2, 0] speeds u = 2*q1' end ;
    join [1, 0.2, 0.3] ++ (0.4 || [1, 2, 0]) @ b and a.frame as j2 with link(q2) dof1 = q2^2 || [0, 1, 1],
        dof2 = 0.3 || [1, 0, 0], dof3 = sin(q2)*1 m along [0, 1, 0] end ;
    join [1, 0.2, 0.3] @ b and c.frame as j3 with helical(q3) about [1, 1, 0] pitch = 0.1 m/rad end ;
    """
    certificate = certify(ts.parse(text), formalisms=["inertia_tensors", "lagrange"])
    assert certificate.agrees and certificate.worst < 1e-45
