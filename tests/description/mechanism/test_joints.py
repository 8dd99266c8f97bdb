"""Joint presets and body speeds, against transforms written out with NumPy."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from torseur.algebra.graph import evaluate, scalar
from torseur.description.mechanism import (
    EARTH,
    Coordinate,
    Frame,
    Joint,
    Speed,
    body,
    body_rotation,
    body_speeds,
    body_velocity,
    cylindrical,
    denavit_hartenberg,
    fixed,
    free,
    helical,
    planar,
    prismatic,
    revolute,
    rotation,
    sequence,
    spherical,
    translation,
    universal,
)
from torseur.errors import MechanismError

B = body("b", mass=1)
Q = [f"q{i}" for i in range(7)]
CAM = Coordinate("q0")
JOINTS = [
    revolute("j", EARTH, B, Q[0], (1, 2, 2)), prismatic("j", EARTH, B, Q[0], (0, 3, 4)), helical("j", EARTH, B, Q[0], 0.3, (1, 1, 0)),
    cylindrical("j", EARTH, B, *Q[:2]), universal("j", EARTH, B, *Q[:2]), planar("j", EARTH, B, *Q[:3]),
    *(spherical("j", EARTH, B, *Q[:3], angles=order) for order in ("zxz", "euler", "bryant", "zyx", "yxy")),
    free("j", EARTH, B, *Q[:6], angles="zyx"), free("j", EARTH, B, *Q, angles="quaternion"), fixed("j", EARTH, B),
    spherical("j", EARTH, B, *Q[:4], angles="quaternion"),
    sequence("j", EARTH, B, [CAM], [rotation((0, 0, 1), CAM), translation((1, 0, 0), scalar.sin(CAM.symbol))]),
]  # fmt: skip


def turned(axis: Sequence[float], angle: float) -> np.ndarray:
    """The rotation matrix of an angle about an axis, by the exponential series."""
    u = np.array(axis, dtype=float) / np.linalg.norm(np.array(axis, dtype=float))
    generator = angle * np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    matrix, term = np.eye(3), np.eye(3)
    for n in range(1, 40):
        term = term @ generator / n
        matrix = matrix + term
    return matrix


def of_quaternion(q: Sequence[float]) -> np.ndarray:
    w, x, y, z = np.array(q) / np.linalg.norm(q)
    vector = np.array([x, y, z])
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return (w * w - vector @ vector) * np.eye(3) + 2 * np.outer(vector, vector) + 2 * w * skew


def pose(joint: Joint, values: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and position of the child, motion by motion."""
    matrix, position = np.eye(3), np.zeros(3)
    numbers = {q.symbol: v for q, v in zip(joint.coordinates, values, strict=True)}
    for motion in joint.motions:
        axis = [float(c) for c in motion.axis]
        amount = evaluate([motion.amount], numbers or {CAM.symbol: 0.0})[0]
        if motion.kind == "rotation":
            matrix = matrix @ turned(axis, amount)
        elif motion.kind == "translation":
            position = position + matrix @ (np.array(axis) / np.linalg.norm(axis) * amount)
        else:
            matrix = matrix @ of_quaternion(values[-4:])
    return matrix, position


@pytest.mark.parametrize("joint", JOINTS, ids=lambda j: f"{j.kind}{len(j.coordinates)}")
def test_body_velocity_and_rotation_are_derivatives_of_the_pose(joint):
    """Oracle: central differences of the pose, v = Rᵀ p' and w~ = Rᵀ R'."""
    rng = np.random.default_rng(1)
    values, rates = rng.uniform(-1, 1, len(joint.coordinates)), rng.uniform(-1, 1, len(joint.coordinates))
    if any(m.kind == "quaternion" for m in joint.motions):
        values[-4:] /= np.linalg.norm(values[-4:])
        rates[-4:] -= values[-4:] * (values[-4:] @ rates[-4:])
    h = 1e-5
    (r1, p1), (r0, p0), (r, _) = (pose(joint, values + s * h * rates) for s in (1, -1, 0))
    spin = r.T @ (r1 - r0) / (2 * h)
    numbers = {q.symbol: v for q, v in zip(joint.coordinates, values, strict=True)}
    numbers |= {q.rate: v for q, v in zip(joint.coordinates, rates, strict=True)}
    velocity = evaluate(body_velocity(joint.coordinates, joint.motions), numbers or {CAM.symbol: 0.0})
    omega = evaluate(body_rotation(joint.coordinates, joint.motions), numbers or {CAM.symbol: 0.0})
    assert np.allclose(np.array(velocity, dtype=float), r.T @ (p1 - p0) / (2 * h), atol=1e-8)
    assert np.allclose(np.array(omega, dtype=float), [spin[2, 1], spin[0, 2], spin[1, 0]], atol=1e-8)


def test_denavit_hartenberg_is_the_product_of_four_matrices():
    """Oracle: Trans(x, a) Rot(x, alpha) Trans(z, r) Rot(z, theta), modified convention of Khalil and Kleinfinger."""
    a, alpha, r, theta, q = 0.3, 0.7, 0.2, -0.4, 1.1
    for slides in (False, True):
        joint = denavit_hartenberg("j", EARTH, B, "q", a=a, alpha=alpha, r=r, theta=theta, prismatic=slides)
        placed = joint.parent.placement
        start = turned([float(c) for c in placed.rotation[0].axis], float(placed.rotation[0].angle))
        matrix, position = pose(joint, [q])
        found = start @ matrix, np.array([float(c) for c in placed.position]) + start @ position
        angle, shift = (theta, r + q) if slides else (theta + q, r)
        expected = turned((1, 0, 0), alpha) @ turned((0, 0, 1), angle)
        expected_position = np.array([a, 0, 0]) + turned((1, 0, 0), alpha) @ np.array([0, 0, shift])
        assert np.allclose(found[0], expected) and np.allclose(found[1], expected_position)


def test_presets_name_and_measure_their_coordinates():
    units = {joint.kind: [q.unit for q in joint.coordinates] for joint in JOINTS}
    assert units["planar"] == ["m", "m", "rad"] and units["cylindrical"] == ["rad", "m"]
    assert units["free_quaternion"] == ["m"] * 3 + ["1"] * 4
    meant = revolute("j", EARTH, B, Coordinate("q", "rad", "elbow angle"))
    assert meant.coordinates[0].meaning == "elbow angle"
    assert (meant.coordinates[0].rate.data.name, meant.coordinates[0].rate.data.unit) == ("q'", "rad/s")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: spherical("j", EARTH, B, *"abc", angles="xxz"), "angles 'xxz' must be three of x, y, z"),
        (lambda: spherical("j", EARTH, B, *"ab"), "need three coordinates, got 2"),
        (lambda: spherical("j", EARTH, B, *"abc", angles="quaternion"), "a quaternion has four coordinates, got 3"),
        (lambda: free("j", EARTH, B, *"ab"), "needs 3 translations"),
        (lambda: denavit_hartenberg("j", Frame("a").at((1, 0, 0)), B, "q"), "start from a body's own frame"),
        (
            lambda: sequence("j", EARTH, B, [CAM], [], speeds=[Speed("u", CAM.rate)] * 2),
            "1 degree of freedom but 2 speeds",
        ),
        (lambda: revolute("j", EARTH, B, "q", (1, 0)), "expected three components"),
        (lambda: body_speeds(["u", "v"], "velocity", JOINTS[0].coordinates, JOINTS[0].motions), "2 names were given"),
    ],
)
def test_impossible_joints_are_refused(make, message):
    with pytest.raises(MechanismError, match=message):
        make()


def test_speeds_of_a_quaternion_joint_are_six():
    joint = JOINTS[12]
    assert joint.kind == "free_quaternion"
    speeds = [
        *body_speeds("uvw", "velocity", joint.coordinates, joint.motions),
        *body_speeds("pqr", "rotation", joint.coordinates, joint.motions),
    ]
    made = sequence("j", EARTH, B, joint.coordinates, joint.motions, speeds=speeds, frame_speeds="body")
    assert [s.unit for s in made.speeds] == ["m/s"] * 3 + ["rad/s"] * 3
    assert math.isclose(
        float(evaluate([made.speeds[0].value], {s: 0.0 for q in joint.coordinates for s in (q.symbol, q.rate)})[0]), 0
    )
