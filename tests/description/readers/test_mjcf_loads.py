"""MJCF files: equality constraints, actuators, tendons and rotors."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import torseur.derivation.dynamics as td
from torseur.algebra.graph import evaluate
from torseur.algebra.spatial import Vec3
from torseur.computation.simulation import simulate
from torseur.derivation.formalisms import derive
from torseur.derivation.loops import constraint_equations
from torseur.derivation.tree import build_tree
from torseur.description.language import parse, to_text
from torseur.description.mechanism import Frame
from torseur.description.readers import read_robot
from torseur.errors import UnsupportedError

BALL = '<geom size="0.1" mass="1"/>'


def position(tree, frame: Frame, q) -> np.ndarray:
    return np.array(list(td.pose(tree, frame, q).position), dtype=float)


LOOP = """
  <body name="left" pos="0 0 0"><joint name="a" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 1" size="0.05"/>
    <body name="top" pos="0 0 1"><joint name="b" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 2 0 0" size="0.05"/></body>
  </body>
  <body name="right" pos="2 0 0"><joint name="c" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 1" size="0.05"/>
    <site name="tip" pos="0 0 1"/></body>"""


@pytest.mark.parametrize(
    "equality",
    ['<connect body1="top" body2="right" anchor="2 0 0"/>', '<weld body1="top" body2="right" anchor="0 0 1"/>'],
)
def test_loops_close_where_the_model_is_written(read_mjcf, equality):
    """The parallelogram: at the reference both frames of the loop joint coincide, and with a connect it moves in parallel."""
    robot = read_mjcf(LOOP, f"<equality>{equality}</equality>")
    (loop,) = [joint for joint in robot.mechanism.joints if joint.role == "loop"]
    tree = build_tree(robot.mechanism)
    first, second = (position(tree, frame, [0.0] * 3) for frame in (loop.parent, loop.child))
    np.testing.assert_allclose(first, [2, 0, 1], atol=1e-15)
    np.testing.assert_allclose(first, second, atol=1e-15)
    rows = constraint_equations(tree)
    values = dict(zip(tree.layout.coordinate_names, (0.3, -0.3, 0.3), strict=True))
    bindings = tree.bindings([values[name] for name in tree.layout.coordinate_names], [0.0] * 3, 0.0)
    matrix = np.array([evaluate(list(row.row), bindings) for row in rows], dtype=float)
    together = np.array([{"a'": 1.0, "b'": -1.0, "c'": 1.0}[name] for name in tree.layout.speed_names])
    moves = np.abs(matrix @ together).max() < 1e-12
    assert moves == (loop.kind == "spherical")


def test_weld_with_a_relative_pose(read_mjcf):
    weld = (
        '<equality><weld name="w" body1="a" body2="b" relpose="0.1 0.2 0.3 0.6 0.8 0 0" anchor="0 0 0.5"/></equality>'
    )
    bodies = "".join(f'<body name="{n}"><freejoint/>{BALL}</body>' for n in "ab")
    loop = read_mjcf(bodies, weld).mechanism.joint("w")
    assert [float(c) for c in loop.parent.placement.position] == [0.1, 0.2, 0.3]
    assert [float(c) for c in loop.child.placement.position] == [0, 0, 0.5]
    (turn,) = loop.parent.placement.rotation
    assert float(turn.angle) == pytest.approx(2 * math.atan2(0.8, 0.6))


def test_polynomials_between_joints(read_mjcf):
    rest = '<equality><joint joint1="y" joint2="x" polycoef="0.5 2 3 4 5"/></equality>'
    bodies = "".join(
        f'<body><joint name="{n}" axis="0 0 1" ref="{r}"/>{BALL}</body>' for n, r in (("x", 0.1), ("y", 0.2))
    )
    mechanism = read_mjcf(bodies, rest).mechanism
    assert mechanism.constraints == () and [c.name for j in mechanism.joints for c in j.coordinates] == ["x"]
    tree, x = build_tree(mechanism), 0.7
    d = x - 0.1
    y = 0.2 + 0.5 + 2 * d + 3 * d**2 + 4 * d**3 + 5 * d**4
    turned = td.pose(tree, Frame("body_2"), [x]).rotation.to_parent(Vec3(1, 0, 0))
    assert math.remainder(math.atan2(turned.y, turned.x) - (y - 0.2), 2 * math.pi) == pytest.approx(0, abs=1e-12)
    # The rate: 2 + 6 d + 12 d² + 20 d³ per unit of x', on the diagonal of M with the moments 0.4 m r² of both balls.
    slope, ball = 2 + 6 * d + 12 * d**2 + 20 * d**3, 0.4 * 1 * 0.1**2
    assert float(td.mass_matrix(tree, [x])[0][0]) == pytest.approx(ball * (1 + slope**2))


ACTUATORS = {
    "motor": ('<motor joint="h" gear="3"/>', lambda u, q, v: 3 * u),
    "position": ('<position joint="h" kp="5" kv="0.7" gear="2"/>', lambda u, q, v: 2 * (5 * (u - 2 * q) - 0.7 * 2 * v)),
    "velocity": ('<velocity joint="h" kv="4"/>', lambda u, q, v: 4 * (u - v)),
    "damper": ('<damper joint="h" kv="4"/>', lambda u, q, v: -4 * u * v),
    "clamped": ('<motor joint="h" gear="3" forcerange="-0.2 0.2"/>', lambda u, q, v: 3 * 0.2),
    "general": ('<general joint="h" gaintype="affine" gainprm="2 3 4" biastype="affine" biasprm="5 6 7"/>',
                lambda u, q, v: (2 + 3 * q + 4 * v) * u + 5 + 6 * q + 7 * v),
}  # fmt: skip


@pytest.mark.parametrize("case", ACTUATORS)
def test_actuators_are_loads(read_mjcf, case):
    text, law = ACTUATORS[case]
    robot = read_mjcf(f'<body><joint name="h" axis="0 0 1"/>{BALL}</body>', f"<actuator>{text}</actuator>")
    (control,) = robot.controls
    u, q, v = 0.8, 0.3, -1.1
    tree = build_tree(robot.mechanism).with_parameters({control.parameter: u})
    (load,) = td.generalised_loads(tree, [q], [v])
    assert float(load) == pytest.approx(law(u, q, v))
    assert float(robot.mechanism.parameter(control.parameter).value) == 0.0


def test_ranges_of_controls_are_kept(read_mjcf):
    rest = '<default><motor ctrlrange="-2 3"/></default><actuator><motor name="m" joint="h"/></actuator>'
    (control,) = read_mjcf(f'<body><joint name="h" axis="0 0 1"/>{BALL}</body>', rest).controls
    assert (control.actuator, control.lower, control.upper) == ("m", -2.0, 3.0)


def test_fixed_tendons(read_mjcf):
    """Oracle: the tendon's potential k (L - L0)²/2 with L = Σ c q, and an actuator pulling on it."""
    rest = """<tendon><fixed name="t" stiffness="3" damping="0.4" springlength="0.2"><joint joint="x" coef="2"/>
      <joint joint="y" coef="-1"/></fixed></tendon><actuator><motor tendon="t" gear="5"/></actuator>"""
    bodies = "".join(f'<body><joint name="{n}" axis="0 0 1"/>{BALL}</body>' for n in "xy")
    robot = read_mjcf(bodies, rest)
    tree = build_tree(robot.mechanism).with_parameters({robot.controls[0].parameter: 0.6})
    q, v = (0.4, 0.9), (1.0, -0.5)
    force = -3 * (2 * q[0] - q[1] - 0.2) - 0.4 * (2 * v[0] - v[1]) + 5 * 0.6
    loads = [float(load) for load in td.generalised_loads(tree, list(q), list(v))]
    assert loads == pytest.approx([2 * force, -force])


def test_straight_tendons_and_their_dead_band(read_mjcf):
    rest = '<tendon><spatial stiffness="7" springlength="1 2"><site site="top"/><site site="end"/></spatial></tendon>'
    bodies = f'<site name="top"/><body><joint type="slide" axis="0 0 1"/><site name="end"/>{BALL}</body>'
    tree = build_tree(read_mjcf(bodies, rest, compiler='angle="radian"').mechanism)
    loads = [float(td.generalised_loads(tree, [z], [0.0])[0]) for z in (0.5, 1.5, 2.5)]
    assert loads == pytest.approx([3.5, 0.0, -3.5])


@pytest.mark.parametrize("kind", ["slide", "hinge"])
def test_rotors_add_their_inertia(read_mjcf, kind):
    """Oracle: the force of a motor divides by the mass or moment of the body and of its rotor together."""
    joint = f'<joint name="j" type="{kind}" axis="1 0 0" armature="3"/>'
    text = f'<body>{joint}<geom type="sphere" size="0.5" mass="2"/></body>'
    robot = read_mjcf(text)
    assert robot.armatures == (("j", 3.0),) and robot.findings_of("not modelled") == []
    tree = build_tree(robot.mechanism)
    tree = tree.with_parameters({p.name: float(p.value) for p in robot.mechanism.parameters})
    own = 2.0 if kind == "slide" else 0.4 * 2 * 0.25
    assert [float(a) for a in td.forward_dynamics(tree, [0.3], [1.0], [7.0])] == pytest.approx([7.0 / (own + 3.0)])
    spin = td.centroidal_momentum(tree, [0.3], [1.0]).moment
    assert float(spin.x) == pytest.approx(own if kind == "hinge" else 0.0)  # rotors add none, as in MuJoCo
    assert parse(to_text(robot.mechanism)) == robot.mechanism
    without = read_mjcf(text, armature=False)
    assert "armature=False" in without.findings_of("not modelled")[0].message
    assert float(td.mass_matrix(build_tree(without.mechanism), [0.0])[0][0]) == pytest.approx(own)


ARM = """<body name="a" pos="0 0 1" euler="0.3 0 0"><joint name="h" axis="0 1 0" pos="0.1 0 0.2" armature="0.05"/>
<inertial pos="0.3 0 0" mass="2" diaginertia="0.1 0.2 0.3"/>
<body name="b" pos="0 0 -1"><joint name="s" type="slide" axis="0 0 1"/><joint name="k" axis="1 0 0"/>
<inertial pos="0 0 -0.4" mass="3" diaginertia="0.1 0.1 0.1"/></body></body>"""
# M at rest: the axis of h is level, so that moving along s turns nothing about it but shifts what is 0.1 m aside.
ABOUT_H = 0.05 + 0.2 + 2 * (0.2**2 + 0.2**2) + 0.1 + 3 * (0.1**2 + 1.6**2)
SERVOS = {
    "hinge": ('joint="h"', 1.0, ABOUT_H - (3 * 0.1) ** 2 / 3),
    "gear": ('joint="h" gear="4"', 4.0, (ABOUT_H - (3 * 0.1) ** 2 / 3) / 16),
    "slide": ('joint="s"', 1.0, 3 - (3 * 0.1) ** 2 / ABOUT_H),
    "second joint": ('joint="k"', 1.0, 0.1 + 3 * 0.4**2),
}


def damping_along(robot, joint: str) -> float:
    """Minus the force along a joint at unit speed."""
    tree = build_tree(robot.mechanism)
    tree = tree.with_parameters(dict.fromkeys(tree.layout.parameter_names, 0.0))
    slot = tree.layout.speed_names.index(f"{joint}'")
    speeds = [float(k == slot) for k in range(len(tree.layout.speeds))]
    return -float(td.generalised_loads(tree, [0.0] * len(tree.layout.coordinates), speeds)[slot])


@pytest.mark.parametrize("case", SERVOS)
@pytest.mark.parametrize("kind", ["position", "general"])
def test_servos_damped_by_a_ratio(read_mjcf, case, kind):
    """Oracle: 2 d √(kp m), the inertia m = 1 / (J M⁻¹ Jᵀ) from M by Steiner's theorem and elimination by hand."""
    where, gear, mass = SERVOS[case]
    values = {"position": 'kp="50" dampratio="0.7"', "general": 'gainprm="50" biastype="affine" biasprm="0 -50 0.7"'}
    robot = read_mjcf(ARM, f'<actuator><{kind} name="u" {where} {values[kind]}/></actuator>')
    expected = gear**2 * 2 * 0.7 * math.sqrt(50 * mass)
    assert damping_along(robot, where.split('"')[1]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("inherited", "own", "damping"),
    [('dampratio="1"', 'kv="3"', 3.0), ('kv="3"', 'dampratio="1"', 4.0), ('dampratio="1"', "", 4.0)],
)
def test_the_nearer_damping_of_a_servo_holds(read_mjcf, inherited, own, damping):
    """Read off MuJoCo 4.0: of a class's ratio and an element's gain the element's holds. 2 √(10 · 0.4) = 4."""
    disc = '<inertial pos="0 0 0" mass="1" diaginertia="0.2 0.2 0.4"/>'
    robot = read_mjcf(
        f'<body><joint name="h" axis="0 0 1"/>{disc}</body>',
        f'<default><position {inherited}/></default><actuator><position joint="h" kp="10" {own}/></actuator>',
    )
    assert damping_along(robot, "h") == pytest.approx(damping)


def test_springs_by_time_constant_and_damping_ratio(read_mjcf):
    """Oracle: a disc of 0.4 kg m² with T = 0.2 s and d = 0.5 has k = m / (T d)² = 40 N m and c = 2 m / T = 4 N m s."""
    disc = '<inertial pos="0 0 0" mass="1" diaginertia="0.2 0.2 0.4"/>'
    robot = read_mjcf(f'<body><joint name="h" axis="0 0 1" springdamper="0.2 0.5" springref="0.1"/>{disc}</body>')
    tree = build_tree(robot.mechanism)
    (force,) = td.generalised_loads(tree, [0.6], [0.0])
    assert float(force) == pytest.approx(-40 * 0.5)
    assert damping_along(robot, "h") + float(td.generalised_loads(tree, [0.0], [0.0])[0]) == pytest.approx(4.0)


def test_ratios_to_unknown_inertias_are_listed(read_mjcf):
    """A mesh that is not there leaves the mass open."""
    rest = (
        '<asset><mesh name="m" file="gone.stl"/></asset><actuator><position joint="h" kp="5" dampratio="1"/></actuator>'
    )
    text = '<body><joint name="h" axis="0 0 1" springdamper="0.2 0.5"/><geom type="mesh" mesh="m"/></body>'
    listed = " ".join(f.message for f in read_mjcf(text, rest).findings_of("not modelled"))
    assert "springdamper of joint 'h'" in listed and "damped by a ratio" in listed


FINGER = """<body name="palm" pos="0.088 0.03 0.926">
  <body name="driver" pos="0 0.0306 0.0549"><joint name="d" axis="1 0 0"/>
    <inertial pos="0 0.0177 0.001" mass="0.009" diaginertia="1.7e-6 1.4e-6 2e-6"/>
    <body name="coupler" pos="0 0.0315 -0.0041"><joint name="c" axis="1 0 0"/>
      <inertial pos="0 0.0025 0.03" mass="0.014" diaginertia="2.6e-6 2.4e-6 6e-7"/></body></body>
  <body name="link" pos="0 0.0132 0.0609"><joint name="l" axis="1 0 0"/>
    <inertial pos="0 0.02 0.018" mass="0.022" diaginertia="5e-6 4e-6 3e-6"/>
    <body name="tip" pos="0 0.055 0.0375"><joint name="t" axis="1 0 0" pos="0 -0.018 0.0065"/>
      <inertial pos="0 -0.011 0.0125" mass="0.0125" diaginertia="2.7e-6 2.4e-6 6e-7"/></body></body></body>"""


def test_a_finger_closed_by_a_point_moves(read_mjcf):
    """A planar loop far from the origin: across its plane the point is held by nothing but rounding errors."""
    equality = '<equality><connect body1="tip" body2="coupler" anchor="0 0 0"/></equality>'
    mechanism = read_mjcf(FINGER, equality).mechanism
    motion = simulate(derive(mechanism), 0.05, outputs=["energy"], rtol=1e-10)
    energy = np.array(motion["energy"])
    assert np.ptp(energy) < 1e-8 * 0.06 * 9.81 * 0.05
    tree = build_tree(mechanism)
    (loop,) = tree.loops
    last = [float(motion[name][-1]) for name in tree.layout.coordinate_names]
    assert max(map(abs, last)) > 0.05
    first, second = (position(tree, frame, last) for frame in (loop.parent, loop.child))
    assert np.abs(first - second).max() < 1e-12


def test_actuators_with_activations_and_tendons_over_surfaces():
    """Oracle: accelerations and rates of activations by MuJoCo 4.0.0, in one state of muscles, a cylinder, an
    integrator and filters on tendons through points, over a cylinder and a sphere, and behind a pulley."""
    robot = read_robot(Path(__file__).parent / "samples" / "muscles.xml")
    mechanism = robot.mechanism
    controls = (0.7, 0.3, 1.0, 0.8, 0.4, -0.5, 2.0, 0.6)
    values = {c.parameter: u for c, u in zip(robot.controls, controls, strict=True)}
    start = {"q": 0.2, "r": -0.1, "q'": 0.5, "r'": -0.3}
    rates = [f"{state.name}'" for state in mechanism.states]
    motion = simulate(
        mechanism, 1.5, samples=16, initial=start, parameters=values, outputs=["q''", "r''", *rates], rtol=1e-7
    )
    assert motion["q''"][0] == pytest.approx(0.5104313725190204, rel=1e-10)
    assert motion["r''"][0] == pytest.approx(92.00323706691316, rel=1e-10)
    expected = [140, 60, 5, 0.8, 4, -5 / 3, 0.6]
    assert [motion[rate][0] for rate in rates] == pytest.approx(expected, rel=1e-10)
    assert motion["iv.activation"].max() == pytest.approx(0.3, abs=1e-5)  # the range that it stays in
    # The language has no word for a line over surfaces, and its formulas are too long to be read.
    with pytest.raises(UnsupportedError, match="too large to be written as text"):
        to_text(mechanism)


def test_muscles_that_mujoco_would_compute_are_listed(read_mjcf):
    rest = '<actuator><muscle joint="h" lengthrange="0 1"/></actuator>'
    robot = read_mjcf(f'<body><joint name="h" axis="0 0 1"/>{BALL}</body>', rest, partial=True)
    assert any("MuJoCo would compute" in finding.message for finding in robot.findings)
