"""Quasi-velocities: Euler's equations, the planar vehicle, reference motions, and speeds that are refused."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import mpmath
import numpy as np
import pytest
import sympy

import torseur as ts
import torseur.description.mechanism as tm
from derivation.formalisms.examples import free_body, planar_vehicle
from torseur.algebra.graph import scalar as s
from torseur.algebra.graph.sympy.sympy_bridge import to_sympy
from torseur.derivation.equations.random_states import multiple_precision_values, rational_state
from torseur.derivation.formalisms import FORMALISMS, certify, derive
from torseur.description.mechanism import TIME, Coordinate, Speed
from torseur.errors import MechanismError

REFERENCE = json.loads((Path(__file__).parents[2] / "oracles" / "quasi_velocities.json").read_text())
EVERY = pytest.mark.parametrize("formalism", FORMALISMS)
MOVED = pytest.mark.parametrize("formalism", ["recursive", "boltzmann_hamel", "inertia_tensors"])
NOT_HAMILTON = pytest.mark.parametrize("formalism", [name for name in FORMALISMS if name != "hamilton"])


def real(names: str) -> list[sympy.Symbol]:
    return list(sympy.symbols(names, real=True))


def assert_identity(equations: ts.Equations, expected: list[sympy.Expr]) -> None:
    """The residual equals closed forms in the same symbols, to 40 digits at a random state."""
    state = rational_state(equations.tree, Random(5))
    ours = multiple_precision_values(equations.residual, state)
    with mpmath.workdps(50):
        numbers = {str(x.name): mpmath.mpf(v.numerator) / v.denominator for x, v in state.items()}
        for mine, theirs in zip(ours, expected, strict=True):
            names = sorted(theirs.free_symbols, key=str)
            value = sympy.lambdify(names, theirs, "mpmath")(*(numbers[str(name)] for name in names))
            assert abs(mine - value) < mpmath.mpf(10) ** -40 * (1 + abs(value))


def euler_equations(w: list[sympy.Symbol], wdot: list[sympy.Symbol]) -> list[sympy.Expr]:
    """I w' + w x I w with every product of inertia."""
    a, b, c, d, e, f = real("A B C D E F")
    inertia = sympy.Matrix([[a, -f, -e], [-f, b, -d], [-e, -d, c]])
    turning = sympy.Matrix(w)
    return list(inertia * sympy.Matrix(wdot) + turning.cross(inertia * turning))


@NOT_HAMILTON
def test_quaternion_gives_eulers_equations(formalism):
    expected = euler_equations(real("pivot.wx pivot.wy pivot.wz"), real("pivot.wx' pivot.wy' pivot.wz'"))
    assert_identity(derive(free_body("quaternion"), formalism), expected)


@EVERY
def test_declared_rotation_gives_eulers_equations(formalism):
    expected = euler_equations(real("wx wy wz"), real("wx' wy' wz'"))
    assert_identity(derive(free_body("declared"), formalism), expected)


@EVERY
def test_speeds_in_body_axes_give_newtons_and_eulers_equations(formalism):
    w, dw = real("pivot.wx pivot.wy pivot.wz"), real("pivot.wx' pivot.wy' pivot.wz'")
    v, dv = real("pivot.vx pivot.vy pivot.vz"), real("pivot.vx' pivot.vy' pivot.vz'")
    (m,) = real("m,")
    newton = m * (sympy.Matrix(dv) + sympy.Matrix(w).cross(sympy.Matrix(v)))
    assert_identity(derive(free_body("body"), formalism), [*newton, *euler_equations(w, dw)])


@pytest.mark.parametrize(
    "formalism", ["newton_euler", "kane", "gibbs_appell", "recursive", "lie_group", "boltzmann_hamel"]
)
def test_eulers_equations_stand_there_as_written(formalism):
    """With speeds in body axes nothing is left to simplify: the angles do not even appear."""
    residual = to_sympy(derive(free_body("quaternion"), formalism).residual)
    expected = euler_equations(real("pivot.wx pivot.wy pivot.wz"), real("pivot.wx' pivot.wy' pivot.wz'"))
    assert all(sympy.expand(ours - theirs) == 0 for ours, theirs in zip(residual, expected, strict=True))


def test_euler_equations_by_boltzmann_hamel_need_no_simplification():
    """The transpositional coefficients are recognised as those of the cross product."""
    coefficients = derive(free_body("declared"), "boltzmann_hamel").objects["transpositional coefficients"]
    values = {key: value.value for key, value in coefficients.items()}
    assert values == {
        ("wy", "wz", "wx"): 1, ("wz", "wy", "wx"): -1, ("wx", "wz", "wy"): -1, ("wz", "wx", "wy"): 1,
        ("wx", "wy", "wz"): 1, ("wy", "wx", "wz"): -1,
    }  # fmt: skip


@EVERY
def test_planar_vehicle_gives_its_three_equations(formalism):
    vx, vy, r, ax, ay, dr, m, length, c, t = real("Vx Vy r Vx' Vy' r' m l C t")
    expected = [
        m * (ax - vy * r) - m * length * r**2 - 500 * sympy.cos(t),
        m * (ay + vx * r) + m * length * dr - 800 * sympy.sin(2 * t),
        c * dr + m * length * (ay + vx * r) - 300,
    ]
    assert_identity(derive(planar_vehicle(), formalism), expected)


@MOVED
def test_reference_motion_of_a_free_body(formalism):
    case = REFERENCE["Euler"]
    start = {"pivot.wx": 1, "pivot.wy": 2, "pivot.wz": -0.5}
    motion = ts.simulate(
        derive(free_body("quaternion"), formalism),
        until=10,
        samples=case["t"],
        initial=start,
        rtol=1e-13,
        backend="llvm",
    )
    names = ["pivot.wx", "pivot.wy", "pivot.wz", "q0", "q1", "q2", "q3"]
    ours = np.column_stack([motion[name] for name in names])
    theirs = np.array(case["omega,quat(scalar first, body->inertial)"], dtype=float)
    assert np.max(np.abs(ours - theirs)) < 1e-10


@MOVED
def test_reference_motion_of_a_vehicle(formalism):
    case = REFERENCE["vehicle"]
    motion = ts.simulate(derive(planar_vehicle(), formalism), until=5, samples=case["t"], rtol=1e-13, backend="llvm")
    ours = np.column_stack([motion[name] for name in ("Vx", "Vy", "r", "psi", "x", "y")])
    theirs = np.array(case["Vx,Vy,psid,psi,x,y"], dtype=float)
    assert np.max(np.abs(ours - theirs)) < 1e-10 * np.max(np.abs(theirs))


def planar_with(*speeds: Speed) -> tm.Mechanism:
    disc = tm.body("disc", mass=1, centre=(0, 0, 0), inertia=tm.inertia(1, 1, 2))
    plain = tm.planar("plane", tm.EARTH, disc, *X_Y_ANGLE)
    joint = tm.sequence("plane", tm.EARTH, disc, plain.coordinates, plain.motions, speeds=speeds)
    return tm.Mechanism("disc", bodies=[disc], joints=[joint])


X_Y_ANGLE = Coordinate("x", "m"), Coordinate("y", "m"), Coordinate("a")
DX, DY, DA = (c.rate for c in X_Y_ANGLE)
A = X_Y_ANGLE[2].symbol


@pytest.mark.parametrize("second", [2 * DX + 2 * DY, 2 * s.sin(A) * s.cos(A) * DX + DY])
def test_speeds_that_do_not_span_are_refused(second):
    first = DX + DY if "sin" not in str(second) else s.sin(2 * A) * DX + DY
    with pytest.raises(MechanismError, match="joint 'plane': its speeds"):
        derive(planar_with(Speed("u1", first), Speed("u2", second), Speed("u3", DA)))


def test_the_dependent_speed_is_named():
    speeds = Speed("u1", s.sin(2 * A) * DX + DY), Speed("u2", 2 * s.sin(A) * s.cos(A) * DX + DY), Speed("u3", DA)
    with pytest.raises(
        MechanismError, match=r"'u2' is a combination of 'u1'\. Give 3 independent combinations of x', y', a'"
    ):
        derive(planar_with(*speeds))


def test_speeds_must_be_linear():
    with pytest.raises(MechanismError, match=r"joint 'plane'.*linear"):
        derive(planar_with(Speed("u1", DX * DX), Speed("u2", DY), Speed("u3", DA)))


def test_too_few_speeds():
    with pytest.raises(MechanismError, match="3 degrees of freedom but 1 speed"):
        planar_with(Speed("u1", DX))


FAST = ["recursive", "lagrange", "kane", "boltzmann_hamel", "inertia_tensors", "lie_group"]


def lump() -> tm.Body:
    return tm.body("lump", mass=1.3, centre=(0.1, -0.2, 0.3), inertia=tm.inertia(1.1, 1.2, 1.3, 0.1, -0.2, 0.15))


def certified(joint: tm.Joint, child: tm.Body) -> float:
    mechanism = tm.Mechanism("lump", bodies=[child], joints=[joint], gravity=(0, 1, -9.81))
    return certify(mechanism, FAST, points=1).worst


@pytest.mark.parametrize("turning", ["rotation", "rates"])
@pytest.mark.parametrize("angles", ["zyx", "xyz", "zxz", "yxz", "xzx", "zyz"])
def test_velocity_in_body_axes_with_any_angles(angles, turning):
    """The presets: velocity of the body in its axes, with its rotation or with the rates of its angles."""
    child = lump()
    plain = tm.free("float", tm.EARTH, child, "x", "y", "z", "a", "b", "c", angles=angles)
    moving = tm.body_speeds(("u", "v", "w"), "velocity", plain.coordinates, plain.motions)
    if turning == "rotation":
        spinning = tm.body_speeds(("p", "q", "r"), "rotation", plain.coordinates, plain.motions)
    else:
        spinning = tuple(Speed(f"rate {c.name}", c.rate, "rad/s") for c in plain.coordinates[3:])
    joint = tm.sequence("float", tm.EARTH, child, plain.coordinates, plain.motions, speeds=(*moving, *spinning))
    assert certified(joint, child) < 1e-40
    equations = derive(tm.Mechanism("lump", bodies=[child], joints=[joint]))
    mass = [entry.value if entry.op == "constant" else None for entry in equations.mass_matrix[0][:3]]
    assert mass == pytest.approx([1.3, 0, 0]), "nothing of the form RᵀR is left"


ODD_JOINTS = ("slanted displacements", "turn before move", "time in the way")


def odd(name: str) -> tuple[tuple, tuple]:
    """Coordinates and motions that the short way to the rates does not fit."""
    x, y, z, a, b, c = (Coordinate(n, "m" if n in "xyz" else "rad") for n in "xyzabc")
    turns = [tm.rotation(axis, q) for axis, q in zip(((0, 0, 1), (0, 1, 0), (1, 0, 0)), (a, b, c), strict=True)]
    if name == "slanted displacements":
        moves = [tm.translation(axis, q) for axis, q in zip(((1, 0, 0), (1, 1, 0), (0, 0, 1)), (x, y, z), strict=True)]
        return (x, y, z, a, b, c), (*moves, *turns)
    if name == "turn before move":
        return (a, x), (turns[0], tm.translation((1, 0, 0), x))
    return (x, a), (tm.translation((1, 0, 0), x.symbol + TIME * TIME), tm.rotation((0, 0, 1), a.symbol * TIME))


@pytest.mark.parametrize("name", ODD_JOINTS)
def test_components_of_the_velocity_of_odd_joints(name):
    child = lump()
    coordinates, motions = odd(name)
    velocity = [c for c in tm.body_velocity(coordinates, motions) if not c.is_zero]
    rotation = [c for c in tm.body_rotation(coordinates, motions) if not c.is_zero]
    values = [*velocity, *rotation] if name == "slanted displacements" else [velocity[0], rotation[0]]
    speeds = tuple(Speed(f"s{k}", value) for k, value in enumerate(values))
    joint = tm.sequence("odd", tm.EARTH, child, coordinates, motions, speeds=speeds)
    assert certified(joint, child) < 1e-40


def test_a_mixture_of_body_speeds_and_rates():
    """One component of the velocity is a speed, the others follow; one rate is mixed with it."""
    child = lump()
    plain = tm.planar("plane", tm.EARTH, child, *X_Y_ANGLE)
    along = tm.body_velocity(plain.coordinates, plain.motions)[0]
    speeds = Speed("along", along), Speed("mixed", DY + 2 * DA * s.sin(A)), Speed("turn", DA - along)
    joint = tm.sequence("plane", tm.EARTH, child, plain.coordinates, plain.motions, speeds=speeds)
    assert certified(joint, child) < 1e-40
