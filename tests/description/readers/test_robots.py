"""Robots read from their URDF files against stored values of Pinocchio 4.1 (MuJoCo and Drake agree with them to 2e-15).

All 20 states of each robot are evaluated at once: programs run on arrays with one lane per state. Derivatives by
configuration are taken along the speeds, so that the quaternion of a floating base needs no special care.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import torseur.derivation.dynamics as td
from torseur.algebra.graph import as_expr, dense_jacobian, directional_derivative, evaluate
from torseur.algebra.spatial import Vec3
from torseur.derivation.tree import build_tree
from torseur.description.mechanism import Frame
from torseur.description.readers import read_robot

FOLDER = Path(__file__).parents[2] / "oracles" / "robots"
ROBOTS = ("double_pendulum", "ur5", "solo12")
TOLERANCE = 1e-11
# Pinocchio's floating base is placed by x, y, z and a quaternion with the scalar last.
POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")


class Case:
    """A robot, its stored values, and its symbols bound to the stored states."""

    def __init__(self, name: str) -> None:
        self.values = dict(np.load(FOLDER / f"{name}.npz", allow_pickle=False))
        floating = bool(self.values["free_flyer"])
        self.robot = read_robot(FOLDER / f"{name}_nomesh.urdf", base="floating" if floating else "fixed")
        self.tree = build_tree(self.robot.mechanism)
        self.q, self.v = self.tree.layout.coordinates, self.tree.layout.speeds
        self.vdot = self.tree.layout.accelerations
        joints = [str(joint) for joint in self.values["joint_names"][1:]]
        stored = [f"root.{p}" for p in POSE] + joints[1:] if floating else joints
        self.order = [stored.index(name) for name in self.tree.layout.coordinate_names]
        self.bindings = {q: self.values["q"][:, k] for q, k in zip(self.q, self.order, strict=True)}
        self.bindings |= {v: self.values["v"][:, k] for k, v in enumerate(self.v)}
        self.bindings |= {a: self.values["a"][:, k] for k, a in enumerate(self.vdot)}

    def compare(self, key: str, expressions, tolerance: float = TOLERANCE) -> None:
        """Checks expressions, nested as the stored array is, in all states."""
        theirs = self.values[key]
        flat = [as_expr(x) for x in np.ravel(np.array(expressions, dtype=object))]
        lanes = [np.broadcast_to(x, len(theirs)) for x in evaluate(flat, self.bindings)]
        ours = np.stack(lanes, axis=1).astype(float).reshape(theirs.shape)
        scale = np.maximum(1.0, np.abs(theirs).reshape(len(theirs), -1).max(axis=1))
        error = np.abs(ours - theirs).reshape(len(theirs), -1).max(axis=1) / scale
        assert error.max() < tolerance, key

    def rates(self):
        """q' of the coordinates."""
        return [rate for link in self.tree.links for rate in link.motion.rates]

    def along_speeds(self, expressions):
        """Derivatives of expressions when the configuration moves along each speed: one column per speed."""
        by_coordinate = dense_jacobian(expressions, self.q)
        per_speed = dense_jacobian(self.rates(), self.v)
        return [
            [sum(d * row[k] for d, row in zip(line, per_speed, strict=True)) for k in range(len(self.v))]
            for line in by_coordinate
        ]

    def time_derivative(self, expressions):
        return directional_derivative([as_expr(x) for x in expressions], dict(zip(self.q, self.rates(), strict=True)))


def transposed(columns):
    return np.transpose(np.array(columns, dtype=object))


@pytest.fixture(scope="module", params=ROBOTS)
def case(request) -> Case:
    return Case(request.param)


def test_slots_are_those_of_the_oracle(case):
    assert len(case.v) == case.values["v"].shape[1]
    names = [name.removesuffix("'") for name in case.tree.layout.speed_names]
    joints = [str(joint) for joint in case.values["joint_names"][1:]]
    expected = [f"root.{s}" for s in ("vx", "vy", "vz", "wx", "wy", "wz")] + joints[1:]
    assert names == (expected if case.values["free_flyer"] else joints)


def test_inverse_dynamics(case):
    case.compare("tau", td.inverse_dynamics(case.tree, case.q, case.v, case.vdot))
    case.compare("nle", td.bias(case.tree, case.q, case.v))
    case.compare("g", td.gravity_forces(case.tree, case.q))


def test_forward_dynamics(case):
    for force, acceleration in (("tau_rand", "ddq"), ("tau", "ddq_from_tau")):
        for k, a in enumerate(case.vdot):
            case.bindings[a] = case.values[force][:, k]
        case.compare(acceleration, td.forward_dynamics(case.tree, case.q, case.v, case.vdot))
    case.bindings |= {a: case.values["a"][:, k] for k, a in enumerate(case.vdot)}


def test_mass_matrix_and_its_inverse(case):
    matrix = td.mass_matrix(case.tree, case.q)
    case.compare("M", matrix)
    shape = case.values["M"].shape
    flat = [np.broadcast_to(x, shape[0]) for x in evaluate([as_expr(x) for row in matrix for x in row], case.bindings)]
    product = np.stack(flat, axis=1).astype(float).reshape(shape) @ case.values["Minv"]
    assert np.abs(product - np.eye(shape[1])).max() < 1e-9


def test_coriolis_matrix_and_its_skew_property(case):
    coriolis = td.coriolis_matrix(case.tree, case.q, case.v)
    case.compare("C", coriolis)
    matrix = td.mass_matrix(case.tree, case.q)
    n = len(case.v)
    change = case.time_derivative([x for row in matrix for x in row])
    sums = [as_expr(change[n * i + j] - coriolis[i][j] - coriolis[j][i]) for i in range(n) for j in range(n)]
    for lane in evaluate(sums, case.bindings):
        assert np.max(np.abs(lane)) < TOLERANCE


def test_energies_and_mass_centre(case):
    case.compare("T", [td.kinetic_energy(case.tree, case.q, case.v)])
    case.compare("V", [td.gravity_energy(case.tree, case.q)])
    centre = list(td.mass_centre(case.tree, case.q))
    case.compare("com", centre)
    case.compare("vcom", case.time_derivative(centre))
    case.compare("Jcom", case.along_speeds(centre))


def test_momenta(case):
    momentum = td.centroidal_momentum(case.tree, case.q, case.v)
    case.compare("hg", [*momentum.force, *momentum.moment])
    columns = [[*column.force, *column.moment] for column in td.momentum_matrix(case.tree, case.q)]
    case.compare("Ag", transposed(columns))
    changes = [case.time_derivative(column) for column in columns]
    total = [
        sum((c[i] * a + d[i] * v for c, d, v, a in zip(columns, changes, case.v, case.vdot, strict=True)), 0)
        for i in range(6)
    ]
    case.compare("hg_dot", total)


@pytest.mark.slow
def test_derivative_of_the_momentum_matrix(case):
    """Pinocchio derives moments about a point at rest where the mass centre is, not about the moving mass centre.

    The columns differ by velocity of the mass centre x linear part, which adds up to nothing.
    """
    columns = [[*column.force, *column.moment] for column in td.momentum_matrix(case.tree, case.q)]
    velocity = Vec3(*case.time_derivative(list(td.mass_centre(case.tree, case.q))))
    about_rest = []
    for column in columns:
        change, carried = case.time_derivative(column), velocity.cross(Vec3(*column[:3]))
        about_rest.append([*change[:3], *(a + b for a, b in zip(change[3:], carried, strict=True))])
    case.compare("dAg", transposed(about_rest))


def test_frames_jacobians_and_their_derivatives(case):
    for name in (str(frame) for frame in case.values["frames"]):
        frame = Frame(name)
        place = td.pose(case.tree, frame, case.q)
        rows = [[*row, p] for row, p in zip(place.rotation.matrix.rows, place.position, strict=True)]
        case.compare(f"oMf__{name}", [*rows, [0, 0, 0, 1]])
        local = td.jacobian(case.tree, frame, case.q)
        case.compare(f"J_LOCAL__{name}", transposed([[*c.linear, *c.angular] for c in local]))
        aligned = [[*c.linear, *c.angular] for c in (td.in_earth_axes(place, column) for column in local)]
        case.compare(f"J_LWA__{name}", transposed(aligned))
        changes = [case.time_derivative(column) for column in aligned]
        case.compare(f"dJ_LWA__{name}", transposed(changes))
        velocity = td.in_earth_axes(place, td.velocity(case.tree, frame, case.q, case.v))
        case.compare(f"v_LWA__{name}", [*velocity.linear, *velocity.angular])
        change = td.in_earth_axes(place, td.acceleration(case.tree, frame, case.q, case.v, case.vdot))
        case.compare(f"a_LWA__{name}", [*change.linear, *change.angular])


def test_regressor(case):
    case.compare("Y", td.regressor(case.tree, case.q, case.v, case.vdot))


def test_derivatives_of_inverse_dynamics(case):
    forces = td.inverse_dynamics(case.tree, case.q, case.v, case.vdot)
    case.compare("dtau_dq", case.along_speeds(forces))
    case.compare("dtau_dv", dense_jacobian(forces, case.v))


def test_derivatives_of_forward_dynamics(case):
    for k, a in enumerate(case.vdot):
        case.bindings[a] = case.values["tau_rand"][:, k]
    accelerations = td.forward_dynamics(case.tree, case.q, case.v, case.vdot)
    case.compare("ddq_dq", case.along_speeds(accelerations))
    case.compare("ddq_dv", dense_jacobian(accelerations, case.v))
    case.bindings |= {a: case.values["a"][:, k] for k, a in enumerate(case.vdot)}


def test_total_mass(case):
    """What moves weighs as much as in Pinocchio's model, which leaves out what is fixed to the earth."""
    (mass,) = evaluate([sum((link.inertia.mass for link in case.tree.links), 0)], {})
    assert float(mass) == pytest.approx(float(case.values["total_mass"]), rel=1e-14)
