"""Closure equations against independent kinematics: they vanish when a loop is closed by construction, restrict as many
directions as the joint does, and their velocity and acceleration levels are derivatives along a motion."""

from __future__ import annotations

from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import torseur.description.mechanism as tm
from torseur.algebra.graph import as_expr, evaluate, symbol
from torseur.algebra.graph import scalar as s
from torseur.derivation.loops import constraint_equations
from torseur.derivation.tree import build_tree, pair_of
from torseur.errors import MechanismError, UnsupportedError

AXIS = (0.6, 0.0, 0.8)
X, Y, Z = np.eye(3)

# Loop joint, its freedoms, and its motions as (kind, axis, coordinate) for the oracle.
JOINTS = {
    "fixed": (0, lambda a, b: tm.fixed("close", a, b), []),
    "revolute": (1, lambda a, b: tm.revolute("close", a, b, "c0", AXIS), [("r", AXIS, 0)]),
    "prismatic": (1, lambda a, b: tm.prismatic("close", a, b, "c0", AXIS), [("t", AXIS, 0)]),
    "cylindrical": (2, lambda a, b: tm.cylindrical("close", a, b, "c0", "c1"), [("r", Z, 0), ("t", Z, 1)]),
    "universal": (2, lambda a, b: tm.universal("close", a, b, "c0", "c1"), [("r", X, 0), ("r", Y, 1)]),
    "spherical": (3, lambda a, b: tm.spherical("close", a, b, "c0", "c1", "c2"), [("r", Z, 0), ("r", X, 1), ("r", Z, 2)]),
    "planar": (3, lambda a, b: tm.planar("close", a, b, "c0", "c1", "c2"), [("t", X, 0), ("t", Y, 1), ("r", Z, 2)]),
    "sliding ball": (
        4,
        lambda a, b: tm.sequence("close", a, b, _c(4), [_t(AXIS, 0), _r(X, 1), _r(Y, 2), _r(Z, 3)]),
        [("t", AXIS, 0), ("r", X, 1), ("r", Y, 2), ("r", Z, 3)],
    ),
    "pin in a turning slot": (
        2,
        lambda a, b: tm.sequence("close", a, b, _c(2), [_r(Z, 0), _t(X, 1)]),
        [("r", Z, 0), ("t", X, 1)],
    ),
    "free": (6, lambda a, b: tm.free("close", a, b, *(f"c{i}" for i in range(6)), angles="xyz"), []),
}  # fmt: skip


def _c(n):
    return [tm.Coordinate(f"c{i}") for i in range(n)]


def _r(axis, i):
    return tm.rotation(axis, symbol(f"c{i}", "rad"))


def _t(axis, i):
    return tm.translation(axis, symbol(f"c{i}", "rad"))


def pose(motions, q):
    """The 4x4 matrix of a sequence of motions, by SciPy's rotations."""
    total = np.eye(4)
    for kind, axis, i in motions:
        step = np.eye(4)
        u = np.asarray(axis, float)
        if kind == "r":
            step[:3, :3] = Rotation.from_rotvec(u * q[i]).as_matrix()
        else:
            step[:3, 3] = u * q[i]
        total = total @ step
    return total


def frame_from(body, matrix):
    """A frame of a body at a 4x4 place."""
    rotation = Rotation.from_matrix(matrix[:3, :3]).as_rotvec()
    angle = np.linalg.norm(rotation)
    turns = (tm.turn(float(angle), rotation / angle),) if angle > 1e-12 else ()
    return tm.Frame(body, tm.placement(tuple(float(x) for x in matrix[:3, 3]), *turns))


# Two arms from the earth: three joints left, four right, all different.
LEFT = [("r", Z, 0), ("t", X, 1), ("r", AXIS, 2)]
RIGHT = [("r", Y, 3), ("r", X, 4), ("t", AXIS, 5), ("r", Z, 6)]


def two_arms(close):
    """A mechanism whose last bodies are b3 (left) and d4 (right), joined by `close`."""
    joints = []
    for names, motions in ((("earth", "b1", "b2", "b3"), LEFT), (("earth", "d1", "d2", "d3", "d4"), RIGHT)):
        for (parent, child), (kind, axis, i) in zip(pairwise(names), motions, strict=True):
            make = tm.revolute if kind == "r" else tm.prismatic
            joints.append(make(f"j{i}", tm.Frame(parent), tm.Frame(child), f"q{i}", tuple(axis)))
    bodies = [tm.body(n, mass=1, centre=(0, 0, 0), inertia=0) for n in ("b1", "b2", "b3", "d1", "d2", "d3", "d4")]
    closing = tm.Joint(**{**close.__dict__, "role": "loop"})
    return tm.Mechanism("two arms", bodies=bodies, joints=[*joints, closing])


states = st.lists(st.floats(-1.2, 1.2), min_size=14, max_size=14)


@pytest.mark.parametrize("kind", JOINTS)
@given(state=states)
@settings(max_examples=8, deadline=None)
def test_a_loop_closed_by_construction_satisfies_its_closure(kind, state):
    freedoms, make, motions = JOINTS[kind]
    q, c = state[:7], state[7:13]
    left, right = pose(LEFT, q), pose(RIGHT, q)
    gap = np.linalg.inv(right) @ left @ pose(motions, c)
    mechanism = two_arms(make(tm.Frame("b3"), frame_from("d4", gap)))
    tree = build_tree(mechanism)
    kept = pair_of(mechanism.joint("close")) is None
    values = dict(
        zip([symbol(f"q{i}", u) for i, u in enumerate(("rad", "m", "rad", "rad", "rad", "m", "rad"))], q, strict=True)
    )
    values |= {symbol(f"c{i}", unit): x for i, x in enumerate(c) for unit in ("rad", "m")}
    equations = constraint_equations(tree)
    assert len(equations) == 6 - (0 if kept else freedoms)
    assert np.allclose(evaluate([e.residual for e in equations], values), 0, atol=1e-9)
    rows = np.array([evaluate(list(e.row), values) for e in equations], float).reshape(
        len(equations), len(tree.layout.speeds)
    )
    moved = np.array([*q, *c[:freedoms]] if kept else q)
    reach = moved + 1e-7 * np.linspace(-1, 1, len(moved))
    names = {**values, **dict(zip(tree.layout.coordinates, reach, strict=True))}
    change = np.array(evaluate([e.residual for e in equations], names)) / 1e-7
    assert np.allclose(change, rows @ np.linspace(-1, 1, len(moved)), atol=1e-5)


def along(tree, equations, q, v, vdot, t0=0.3):
    """(Φ', Φ'') of the residuals on q(t) = q + v t + vdot t²/2 by high-precision differences, for plain coordinates."""
    mpmath.mp.dps = 40

    def value(e):
        def at(t):
            moved = [
                mpmath.mpf(a) + mpmath.mpf(b) * t + mpmath.mpf(c) * t * t / 2
                for a, b, c in zip(q, v, vdot, strict=True)
            ]
            bound = dict(zip(tree.layout.coordinates, moved, strict=True)) | {tm.TIME: mpmath.mpf(t0) + t}
            return evaluate([e.residual], bound)[0]

        return at

    return [(float(mpmath.diff(value(e), 0)), float(mpmath.diff(value(e), 0, 2))) for e in equations]


def numbers(tree, expressions, q, v, t=0.3):
    bound = dict(zip(tree.layout.coordinates, q, strict=True)) | dict(zip(tree.layout.speeds, v, strict=True))
    return np.array([float(x) for x in evaluate(list(expressions), {**bound, tm.TIME: t})])


@pytest.mark.parametrize("kind", [k for k in JOINTS if k != "free"])
@given(state=states, seed=st.integers(0, 1000))
@settings(max_examples=3, deadline=None)
def test_velocity_and_acceleration_levels_are_derivatives_along_a_motion(kind, state, seed):
    driven = tm.sequence(
        "close", tm.Frame("b3"), tm.Frame("d4", tm.placement((0.1, 0.2, 0.3))), JOINTS[kind][1](tm.EARTH, tm.EARTH).coordinates,
        [tm.translation(AXIS, s.sin(tm.TIME)), *JOINTS[kind][1](tm.EARTH, tm.EARTH).motions, tm.rotation(X, tm.TIME * tm.TIME)],
    )  # fmt: skip
    tree = build_tree(two_arms(driven))
    equations = constraint_equations(tree)
    rng = np.random.default_rng(seed)
    n = len(tree.layout.coordinates)
    q = np.resize(state, n)
    v, vdot = rng.normal(size=n), rng.normal(size=n)
    for e, (first, second) in zip(equations, along(tree, equations, q, v, vdot), strict=True):
        row = numbers(tree, e.row, q, v)
        drift, gamma = numbers(tree, [e.drift, e.gamma], q, v)
        assert row @ v + drift == pytest.approx(first, abs=1e-10)
        assert row @ vdot - gamma == pytest.approx(second, abs=1e-9)


def slider_crank(**extra):
    r, l = tm.parameter("r", 0.3, "m"), tm.parameter("l", 0.8, "m")
    bodies = [tm.body(n, mass=1, centre=(0, 0, 0), inertia=0) for n in ("crank", "rod", "piston")]
    joints = [
        tm.revolute("main", tm.EARTH, bodies[0], "theta"),
        tm.revolute("pin", bodies[0].at((r, 0, 0)), bodies[1], "phi"),
        tm.prismatic("guide", tm.EARTH, bodies[2], "x"),
        tm.revolute("wrist", bodies[1].at((l, 0, 0)), bodies[2], "psi"),
    ]
    return tm.Mechanism("slider_crank", bodies=bodies, joints=joints, parameters=[r, l], **extra)


def test_slider_crank_has_two_equations_named_after_the_wrist():
    """Oracle: r cos θ + l cos(θ+φ) = x, r sin θ + l sin(θ+φ) = 0, rank 2."""
    tree = build_tree(slider_crank())
    assert [joint.name for joint in tree.loops] == ["wrist"]
    equations = constraint_equations(tree)
    assert [e.name for e in equations] == ["joint 'wrist': x", "joint 'wrist': y"]
    theta, l, r = 0.7, 0.8, 0.3
    phi = -np.arcsin(r * np.sin(theta) / l) - theta
    x = r * np.cos(theta) + l * np.cos(theta + phi)
    at = {"theta": theta, "phi": phi, "x": x, "r": r, "l": l}
    values = {node: at[node.name] for node in (*tree.layout.coordinates, *tree.layout.parameters)}
    assert np.allclose(evaluate([e.residual for e in equations], values), 0, atol=1e-15)
    rows = np.array([evaluate(list(e.row), values) for e in equations], float)
    assert np.linalg.matrix_rank(rows) == 2
    speed = np.array([1.0, -r * np.cos(theta) / (l * np.cos(theta + phi)) - 1, 0.0])
    speed[2] = -r * np.sin(theta) - l * np.sin(theta + phi) * (speed[0] + speed[1])
    order = [["theta", "phi", "x"].index(name) for name in tree.layout.coordinate_names]
    assert np.allclose(rows @ speed[order], 0, atol=1e-14)


def test_a_load_on_a_coordinate_brings_its_joint_into_the_tree():
    tree = build_tree(slider_crank(loads=[tm.coordinate_spring("k", "wrist", "psi", stiffness=3)]))
    assert "psi" in tree.layout.coordinate_names
    assert len(constraint_equations(tree)) == 2


def test_coordinates_that_loads_need_all_around_a_loop_are_kept():
    loads = [tm.coordinate_spring(f"k{c}", j, c, stiffness=3) for j, c in
             (("main", "theta"), ("pin", "phi"), ("guide", "x"), ("wrist", "psi"))]  # fmt: skip
    tree = build_tree(slider_crank(loads=loads))
    assert sorted(tree.layout.coordinate_names) == ["phi", "psi", "theta", "x"]
    equations = constraint_equations(tree)
    assert len(equations) == 3
    assert {e.unit for e in equations} == {"m", "rad"}


def test_offset_that_no_coordinate_closes_is_refused_by_name():
    mechanism = slider_crank()
    lifted = tm.revolute("wrist", mechanism.body("rod").at((0.8, 0, 0.2)), mechanism.body("piston"), "psi")
    broken = tm.Mechanism("broken", bodies=mechanism.bodies, joints=[*mechanism.joints[:3], lifted],
                          parameters=mechanism.parameters)  # fmt: skip
    with pytest.raises(MechanismError, match=r"joint 'wrist': z cannot hold: it is off by 0\.2 m"):
        constraint_equations(build_tree(broken))


def disk(**extra):
    wheel = tm.body("wheel", mass=1, centre=(0, 0, 0), inertia=0)
    joint = tm.free("float", tm.EARTH, wheel, "x", "y", "z", "psi", "theta", "phi", angles="zxz")
    return tm.Mechanism("disk", bodies=[wheel], joints=[joint], **extra)


def test_rolling_disk_is_the_classical_one():
    """Oracle: Euler disk, angles ψ, θ (tilt of the axle from the vertical), φ (spin), radius R on z = 0.

    z = R sin θ; x' = ... from v_C = ω x (C - P) with P the lowest point (any dynamics text, e.g. Neimark-Fufaev).
    """
    rolling = tm.Rolling("contact", tm.Frame("wheel"), as_expr(0.35), tm.as_vector((0, 0, 1), "n"))
    tree = build_tree(disk(constraints=[rolling]))
    height, *slips = constraint_equations(tree)
    assert [e.kind for e in (height, *slips)] == ["holonomic", "velocity", "velocity"]
    psi, theta, phi, radius = 0.4, 0.9, 0.3, 0.35
    dpsi, dtheta, dphi = 0.7, -0.5, 1.1
    q = [1.0, 2.0, radius * np.sin(theta), psi, theta, phi]
    assert numbers(tree, [height.residual], q, np.zeros(6))[0] == pytest.approx(0, abs=1e-15)
    axle = np.array([np.sin(psi) * np.sin(theta), -np.cos(psi) * np.sin(theta), np.cos(theta)])
    line = np.array([np.cos(psi), np.sin(psi), 0])
    omega = dpsi * Z + dtheta * line + dphi * axle
    arm = radius * np.cross(line, axle)
    arm = -arm if arm[2] < 0 else arm
    speed = np.cross(omega, arm)
    v = np.array([*speed, dpsi, dtheta, dphi])
    for e in (height, *slips):
        assert numbers(tree, e.row, q, v) @ v == pytest.approx(0, abs=1e-14)
    accelerations = _differences(tree, slips, q, v)
    for e, expected in zip(slips, accelerations, strict=True):
        assert -numbers(tree, [e.gamma], q, v)[0] == pytest.approx(expected, abs=1e-6)


def _differences(tree, equations, q, v, h=1e-6):
    """d/dt of C v at constant v."""
    q, v = np.array(q), np.array(v)
    ahead, behind = ([numbers(tree, e.row, q + k * h * v, v) @ v for e in equations] for k in (1, -1))
    return (np.array(ahead) - np.array(behind)) / (2 * h)


def test_a_tyre_lifts_the_wheel_by_its_radius():
    rolling = tm.Rolling(
        "contact", tm.Frame("wheel"), as_expr(0.3), tm.as_vector((0, 0, 1), "n"), tyre_radius=as_expr(0.05)
    )
    tree = build_tree(disk(constraints=[rolling]))
    height = constraint_equations(tree)[0]
    theta = 1.2
    q = [0, 0, 0.3 * np.sin(theta) + 0.05, 0.1, theta, 0.2]
    assert numbers(tree, [height.residual], q, np.zeros(6))[0] == pytest.approx(0, abs=1e-15)


def test_equations_with_rates_are_velocity_constraints_and_drivers_are_holonomic():
    mechanism = slider_crank()
    theta = mechanism.joint("main").coordinate("theta")
    x = mechanism.joint("guide").coordinate("x")
    extra = [
        tm.Equation("driver", theta - 2 * tm.TIME),
        tm.Equation("speed", x.rate - s.cos(theta.symbol) * theta.rate),
    ]
    tree = build_tree(slider_crank(constraints=extra))
    *_, driver, speed = constraint_equations(tree)
    assert (driver.kind, speed.kind) == ("holonomic", "velocity")
    assert float(driver.drift) == -2
    assert speed.name == "constraint 'speed'"


def test_nonlinear_rates_are_refused():
    theta = slider_crank().joint("main").coordinate("theta")
    tree = build_tree(slider_crank(constraints=[tm.Equation("square", theta.rate * theta.rate - 1)]))
    with pytest.raises(UnsupportedError, match="constraint 'square' is not linear in 'theta''"):
        constraint_equations(tree)


def test_distance_between_points():
    """Oracle: the gradient of a distance is the unit vector between its points."""
    ball = tm.body("ball", mass=1, centre=(0, 0, 0), inertia=0)
    joint = tm.sequence("float", tm.EARTH, ball, [tm.Coordinate(n, "m") for n in "xyz"],
                        [tm.translation(a, symbol(n, "m")) for a, n in zip(np.eye(3, dtype=int).tolist(), "xyz", strict=True)])  # fmt: skip
    string = tm.Distance("string", tm.EARTH.at((1, 0, 0)), ball.frame, as_expr(3))
    tree = build_tree(tm.Mechanism("m", bodies=[ball], joints=[joint], constraints=[string]))
    (e,) = constraint_equations(tree)
    assert np.allclose(numbers(tree, e.row, [2, 2, 2], [0, 0, 0]), np.array([1, 2, 2]) / 3)
    assert numbers(tree, [e.residual], [2, 2, 2], [0, 0, 0])[0] == 0
