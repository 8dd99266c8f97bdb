"""Frames of joints that move with time or with the joint's own coordinate, and gravity that changes with time.

Oracle: a point mass at r(q, t), written out by hand, for which Newton's law along the path is m r_q · (r'' - g) = 0.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import torseur as ts
from torseur.algebra.graph import evaluate
from torseur.derivation.formalisms import FORMALISMS, certify, derive

EVERY = pytest.mark.parametrize("formalism", FORMALISMS)
T, Q, RATE = sympy.symbols("t q w", real=True)
STATE = {"q": 0.7, "q'": -1.3}
NOW = 0.37
OBLIQUE = "(0.4 || [1, 0.2, 0])"
FALL = sympy.Matrix([0, sympy.Rational(-981, 100), 0])
# The joint's first frame: as the text says it, and its position by hand.
POSITIONS = {
    "time": ("[0.1 m * sin(5 1/s * t), 0.2 m/s * t, 0]", [sympy.sin(5 * T) / 10, T / 5, 0]),
    "own coordinate": ("[0, 0.3 m * q, 0.1 m * q^2]", [0, 3 * Q / 10, Q**2 / 10]),
    "both": ("[0.1 m * sin(5 1/s * t) * q, 0, 0.2 m]", [Q * sympy.sin(5 * T) / 10, 0, sympy.Rational(1, 5)]),
}


def turn(angle, axis):
    """Rodrigues' formula."""
    u = sympy.Matrix(axis) / sympy.sqrt(sum(x * x for x in axis))
    k = sympy.Matrix([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return sympy.eye(3) + sympy.sin(angle) * k + (1 - sympy.cos(angle)) * k * k


def expected_acceleration(r: sympy.Matrix, fall: sympy.Matrix) -> float:
    """q'' from r_q · (r'' - g) = 0, r'' = r_q q'' + r_qq q'² + 2 r_qt q' + r_tt."""
    along, rest = r.diff(Q), r.diff(Q, 2) * RATE**2 + 2 * r.diff(Q, T) * RATE + r.diff(T, 2) - fall
    value = -along.dot(rest) / along.dot(along)
    return float(value.subs({Q: STATE["q"], RATE: STATE["q'"], T: NOW}))


def acceleration(mechanism: ts.Mechanism, formalism: str) -> float:
    equations = derive(mechanism, formalism)
    layout = equations.layout
    values = {x: STATE[str(x.name)] for x in (*layout.coordinates, *layout.speeds)} | {ts.TIME: NOW}
    mass, bias = evaluate([equations.mass_matrix[0][0], equations.bias[0]], values)
    return -bias / mass


def bob(joint: str, gravity: str = "[0, -9.81, 0] m/s^2") -> ts.Mechanism:
    return ts.parse(
        f"gravity = {gravity} ; let b = body mass = 2 kg, centre = [0.5, 0.1, 0.3] m, inertia = 0 end ; {joint}"
    )


@EVERY
@pytest.mark.parametrize("case", POSITIONS)
def test_joint_on_a_moving_frame(case, formalism):
    text, position = POSITIONS[case]
    mechanism = bob(f"join {text} ++ {OBLIQUE} @ earth and b.frame as j with revolute(q) about [0, 1, 1] end ;")
    arm = turn(sympy.Rational(2, 5), [1, 0.2, 0]) * turn(Q, [0, 1, 1]) * sympy.Matrix([0.5, 0.1, 0.3])
    assert acceleration(mechanism, formalism) == pytest.approx(
        expected_acceleration(sympy.Matrix(position) + arm, FALL), rel=1e-12
    )
    assert ts.parse(ts.to_text(mechanism)) == mechanism


@EVERY
def test_moving_frame_in_the_moved_body(formalism):
    """`to` keeps the written order: the frame slides in the body, which hangs on the earth behind the joint."""
    mechanism = bob(
        f"join [0.1 m * sin(5 1/s * t), 0.3 m * q, 0] ++ {OBLIQUE} @ b to earth with revolute(q) about [0,0,1] end ;"
    )
    # earth = b · frame · turn, so a point of b is at turn⁻¹ frame⁻¹ of it.
    inside = sympy.Matrix([0.5, 0.1, 0.3]) - sympy.Matrix([sympy.sin(5 * T) / 10, 3 * Q / 10, 0])
    point = turn(-Q, [0, 0, 1]) * turn(sympy.Rational(-2, 5), [1, 0.2, 0]) * inside
    assert acceleration(mechanism, formalism) == pytest.approx(expected_acceleration(point, FALL), rel=1e-12)


@EVERY
def test_gravity_of_time(formalism):
    mechanism = bob("join earth and b.frame with revolute(q) end ;", "[3 m/s^2 * sin(2 1/s * t), -9.81, t^2 * 1 m/s^4]")
    point = turn(Q, [0, 0, 1]) * sympy.Matrix([0.5, 0.1, 0.3])
    fall = FALL + sympy.Matrix([3 * sympy.sin(2 * T), 0, T**2])
    assert acceleration(mechanism, formalism) == pytest.approx(expected_acceleration(point, fall), rel=1e-12)


JOINTS = {
    "fixed": "fixed end",
    "quaternion": "spherical(e0, e1, e2, e3) angles quaternion end",
    "body speeds": "free(x, y, z, a, b1, c) angles xyz speeds in b end",
    "helical": "helical(q) about [0, 0.6, 0.8], pitch = 0.1 m * cos(q) * t * 1 1/s end",
}


@pytest.mark.slow
@pytest.mark.parametrize("joint", JOINTS)
def test_formalisms_agree_on_moving_frames(joint):
    mechanism = bob(
        f"join [0.1 m * sin(5 1/s * t), 0, 0] ++ {OBLIQUE} @ earth and b.frame as j with {JOINTS[joint]} ;"
        "let c = body mass = 1 kg, centre = [0.2, 0, 0.1] m, inertia = diag(0.1, 0.2, 0.25) end ;"
        "join [1, 0, 0] m @ b and c.frame with revolute(p) about [0, 0.6, 0.8] end ;"
    )
    assert certify(mechanism).agrees


def test_free_body_does_not_feel_the_frame_it_is_measured_from():
    """A free body falls as it falls, whatever frame its coordinates are counted from."""
    mechanism = ts.parse("""gravity = [0, 0, -9.81] m/s^2 ; let b = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ;
        join [0.5 m * sin(3 1/s * t), 0, 0] @ earth and b.frame as j with free(x, y, z, a, b1, c) angles xyz end ;
        init x' = -1.5 m/s ;""")
    motion = ts.simulate(mechanism, until=2, samples=21, rtol=1e-11, outputs=["b.position.x", "b.position.z"])
    assert np.max(np.abs(motion["b.position.x"])) < 1e-8
    assert motion["b.position.z"] == pytest.approx(-9.81 / 2 * np.linspace(0, 2, 21) ** 2, abs=1e-8)


LOOP = """param w = 3 rad/s ; gravity = [0, -9.81, 0] m/s^2 ;
    let crank = body rod length = 0.3 m along [1,0,0] mass = 1 kg end ;
    let rod = body rod length = 0.8 m along [1,0,0] mass = 1.5 kg end ;
    let rocker = body rod length = 0.6 m along [1,0,0] mass = 1 kg end ;
    join earth and crank.frame as main with revolute(theta) end ;
    join [0.3,0,0] m @ crank and rod.frame as pin with revolute(phi) end ;
    join [0.8,0,0] m @ rod and [0.6,0,0] m @ rocker as wrist with revolute(psi) end ; init theta = 1, theta' = 2 rad/s ; """
MOVED = (
    LOOP
    + "join [0.9 m + 0.05 m * sin(w*t), 0.05 m * sin(w*t)^2, 0] @ earth and rocker.frame as base with revolute(rho) end ;"
)
DRIVEN = (
    LOOP
    + """let s = body mass = 0, inertia = 0 end ; join earth and s.frame as guide with link(u, v) dof = [u, v, 0] end ;
    join s.frame and rocker.frame as base with revolute(rho) end ;
    constrain u = 0.9 m + 0.05 m * sin(w*t) ; constrain v = 0.05 m * sin(w*t)^2 ;"""
)


@pytest.mark.slow
def test_loop_on_a_moving_frame():
    """The same loop with its pivot on a massless slide that drivers move."""
    motions = [ts.simulate(ts.parse(text), until=1, samples=11, rtol=1e-10) for text in (MOVED, DRIVEN)]
    assert motions[0]["theta"] == pytest.approx(motions[1]["theta"], abs=1e-6)
    assert np.ptp(motions[0]["theta"]) > 0.01


def test_stiffness_that_a_law_hides_has_no_potential():
    """k(1) depends on q although its argument does not: its energy is not ½ k q², and none is claimed."""
    text = "join earth and b.frame with prismatic(q) stiffness = k(1), rest = 0.1 m end ; law k(a) = a * 3 N/m^2 * q ;"
    mechanism = bob(text, "0")
    assert certify(mechanism).agrees
    assert ts.simulate(mechanism, 1, outputs=["potential_energy"], initial={"q": 0.5})["potential_energy"][0] == 0
