"""Forms that the source documents print: the satellite's kinetic energy, the orthogonal double pendulum's equations."""

from __future__ import annotations

import math
import random
import re

import pytest
import sympy
from hypothesis import Phase, given, settings
from sympy import Rational, cos, sin

import torseur as ts
from strategies import JOINT_KINDS, mechanisms
from torseur.algebra.graph import evaluate, symbol, symbols_of
from torseur.description import library
from torseur.presentation.levels.forms.collected_form import collected_statements
from torseur.presentation.levels.forms.energy_squares import kinetic_energy_statements
from torseur.presentation.levels.levels import statements
from torseur.presentation.levels.statement import terms_of
from torseur.presentation.typesetting.formula_tree import Power, Product, Sum
from torseur.presentation.typesetting.plain_text import plain_text
from torseur.presentation.typesetting.read_graph import read_name

SATELLITE = """
mechanism satellite "satellite with a mobile antenna, in the angles of the source" ;
param mu1 in kg, mu4 in kg, I1x in kg*m^2, I1y in kg*m^2, I1z in kg*m^2, z12 in m, z34 in m ;
let satellite = body mass = mu1, centre = [0, 0, 0], inertia = diag(I1x, I1y, I1z) end ;
let primary = body mass = 0, inertia = 0 end ;
let secondary = body mass = 0, inertia = 0 end ;
let reflector = body mass = mu4, centre = [0, 0, z34], inertia = 0 end ;
join earth and satellite.frame with free(q4, q5, q6, q1, q2, q3) angles xyz end ;
join [0, 0, z12] ++ 1 @ satellite and primary.frame with revolute(q7) about [1, 0, 0] end ;
join primary.frame and secondary.frame with prismatic(q8) along [0, 1, 0] end ;
join secondary.frame and reflector.frame with revolute(q9) about [0, 1, 0] end ;
"""


def printed_energy():
    """The kinetic energy as the third source prints it, typed from its page on Lagrange's equations."""
    q = sympy.symbols("q0:10")
    v = sympy.symbols("v0:10")
    m1, m4, ix, iy, iz, z12, z34 = sympy.symbols("mu1 mu4 I1x I1y I1z z12 z34")
    c, s = [cos(x) for x in q], [sin(x) for x in q]
    x = (-c[1] * s[2] * c[3] + s[1] * s[3]) * v[6] + (s[1] * s[2] * c[3] + c[1] * s[3]) * v[5] + c[2] * v[4] * c[3]
    y = (c[1] * s[2] * s[3] + s[1] * c[3]) * v[6] + (-s[1] * s[2] * s[3] + c[1] * c[3]) * v[5] - s[3] * c[2] * v[4]
    z = -c[2] * v[5] * s[1] + c[2] * c[1] * v[6] + v[4] * s[2]
    wx, wy, wz = c[2] * c[3] * v[1] + s[3] * v[2], -c[2] * s[3] * v[1] + c[3] * v[2], s[2] * v[1] + v[3]
    height, side = z12 + s[7] * q[8] + c[7] * c[9] * z34, c[7] * q[8] - s[7] * c[9] * z34
    rx = x + c[9] * v[9] * z34 + wy * height - wz * side
    ry = y - s[7] * v[7] * q[8] + c[7] * v[8] - c[7] * v[7] * c[9] * z34 + s[7] * s[9] * v[9] * z34
    ry += wz * s[9] * z34 - wx * height
    rz = z + c[7] * v[7] * q[8] + s[7] * v[8] - s[7] * v[7] * c[9] * z34 - c[7] * s[9] * v[9] * z34
    rz += wx * side - wy * s[9] * z34
    half = Rational(1, 2)
    spin = half * (ix * wx**2 + iy * wy**2 + iz * wz**2)
    return half * m1 * (x**2 + y**2 + z**2) + spin + half * m4 * (rx**2 + ry**2 + rz**2)


def test_satellite_has_the_energy_and_the_form_of_the_source():
    equations = ts.derive(ts.parse(SATELLITE))
    (statement,) = kinetic_energy_statements(equations)
    shares = terms_of(statement.right)
    assert [plain_text(share).split("*")[1] for share in shares] == ["mu1", "I1x", "I1y", "I1z", "mu4"]
    for share, squares in zip(shares, (3, 1, 1, 1, 3), strict=True):
        assert isinstance(share, Product)
        last = share.factors[-1]
        found = last.terms if isinstance(last, Sum) else (last,)
        assert len(found) == squares and all(isinstance(one, Power) for one in found)
    assert {origin.bodies for origin in statement.origins} == {("satellite",), ("reflector",)}


def test_satellite_energy_is_the_printed_one():
    """Oracle: the source's formula, at random states; the form itself is evaluated, not the graph behind it."""
    equations = ts.derive(ts.parse(SATELLITE))
    text = plain_text(kinetic_energy_statements(equations)[-1].right).replace("^", "**").replace("'", "_d")
    chance = random.Random(4)
    values = {f"q{k}": chance.uniform(-2, 2) for k in range(1, 10)}
    values |= {f"q{k}_d": chance.uniform(-2, 2) for k in range(1, 10)}
    values |= {name: chance.uniform(0.5, 3) for name in ("mu1", "mu4", "I1x", "I1y", "I1z", "z12", "z34")}
    ours = sympy.sympify(text, locals={name: sympy.Symbol(name) for name in values}).subs(values)
    rename = {f"v{k}": values[f"q{k}_d"] for k in range(1, 10)}
    theirs = printed_energy().subs(values | rename)
    assert float(ours) == pytest.approx(float(theirs), rel=1e-12)


NAMES = re.compile(r"(?<![\w.])[A-Za-z_][\w.]*'*")


def value_of(node, values):
    """The number an expression's text stands for, by Python's own parser."""
    known = {plain_text(read_name(str(one.name))): value for one, value in values.items()}
    places = {name: f"n{k}_" for k, name in enumerate(known)}
    text = NAMES.sub(lambda m: places.get(m[0], m[0]), plain_text(node)).replace("^", "**")
    return eval(text, vars(math) | {"motor": math.exp} | {places[k]: v for k, v in known.items()})


@pytest.mark.parametrize("name", ["double_pendulum", "spinning_top", "satellite", "cart_pendulum?n=2", "free_body"])
def test_kinetic_energy_of_any_mechanism_is_the_equations_own(name):
    """Oracle: the energy by the recursion."""
    equations = ts.derive(library.load(name))
    chance = random.Random(1)
    symbols = [*equations.layout.parameters, *symbols_of([equations.kinetic_energy])]
    values = {one: chance.uniform(0.3, 1.2) for one in symbols}
    (expected,) = evaluate([equations.kinetic_energy], values)
    assert value_of(kinetic_energy_statements(equations)[-1].right, values) == pytest.approx(expected, rel=1e-9)


def test_orthogonal_double_pendulum_in_the_most_factored_form():
    """Oracle: Lagrange's equations of the energies that the first source prints, coefficient by coefficient."""
    listed = collected_statements(ts.derive(library.load("double_pendulum"), "inertia_tensors"))
    first, second = ([plain_text(term) for term in terms_of(one.left)] for one in listed)
    assert first == [
        "((m1 + m2)*r2^2 + m2*l2^2*cos(q2)^2)*q1''",
        "m2*r2*l2*sin(q2)*q2''",
        "-2*m2*l2^2*sin(q2)*cos(q2)*q1'*q2'",
        "m2*r2*l2*cos(q2)*q2'^2",
        "g*((m1 + m2)*r2*sin(q1) - m2*l2*cos(q1)*cos(q2))",
    ]
    assert second == [
        "m2*r2*l2*sin(q2)*q1''",
        "m2*l2^2*q2''",
        "m2*l2^2*sin(q2)*cos(q2)*q1'^2",
        "m2*g*l2*sin(q1)*sin(q2)",
    ]


@pytest.mark.parametrize("name", ["double_pendulum", "spinning_top", "cart_pendulum?n=2", "slider_crank"])
def test_collected_form_is_the_equation_of_motion(name):
    """Oracle: the residual, in SymPy at random numbers, with a stand-in for the motor's torque."""
    equations = ts.derive(library.load(name)).as_read
    listed = [one for one in collected_statements(equations) if one.name.startswith("R_")]
    chance = random.Random(6)
    values = {one: chance.uniform(0.3, 1.2) for one in symbols_of(equations.residual)}
    expected = evaluate(equations.residual, values, {"motor": math.exp})
    for statement, row in zip(listed, expected, strict=True):
        found = value_of(statement.left, values) - value_of(statement.right, values)
        assert found == pytest.approx(row, rel=1e-9, abs=1e-9)


@pytest.mark.slow
@settings(max_examples=15, phases=[Phase.explicit, Phase.reuse, Phase.generate])  # shrinking takes minutes
@given(mechanisms(max_bodies=2, loads=False, kinds=tuple(kind for kind in JOINT_KINDS if kind != "link")))
def test_kinetic_energy_of_any_joints_and_bodies(mechanism):
    """Oracle: the energy by the recursion; named intermediates are computed as they are listed."""
    equations = ts.derive(mechanism)
    *lines, energy = kinetic_energy_statements(equations)
    chance = random.Random(2)
    layout = equations.layout
    symbols = (*layout.coordinates, *layout.speeds, *layout.parameters)
    values = {one: chance.uniform(0.3, 1.2) for one in symbols}
    for link in equations.tree.links:
        norm = math.sqrt(sum(values.get(x, 0) ** 2 for x in link.symbols.quaternion))
        values |= {x: values[x] / norm for x in link.symbols.quaternion if x in values}
    (expected,) = evaluate([equations.kinetic_energy], values)
    known = dict(values)
    for line in lines:
        known[symbol(line.name)] = value_of(line.right, known)
    assert value_of(energy.right, known) == pytest.approx(expected, rel=1e-9)


def test_euler_s_equations_come_out_in_their_classical_form():
    """Oracle: Euler's equations of a free body, A p' + (C - B) q r = 0 and so on."""
    shown = [plain_text(one.right) for one in statements(ts.derive(library.load("free_body")), "scalar")[3:6]]
    assert shown == [
        "A*flight.wx' + (C - B)*flight.wy*flight.wz",
        "B*flight.wy' + (A - C)*flight.wx*flight.wz",
        "C*flight.wz' + (B - A)*flight.wx*flight.wy",
    ]


CRANE = """
mechanism crane "two-link arm in a plane, mass centres half way" ;
param m1 in kg, m2 in kg, a in m, b in m, J1 in kg*m^2, J2 in kg*m^2 ;
let boom = body mass = m1, centre = [a/2, 0, 0], inertia = diag(0, 0, J1) end ;
let jib = body mass = m2, centre = [b/2, 0, 0], inertia = diag(0, 0, J2) end ;
join earth and boom.frame as luff with revolute(q1) about [0, 0, 1] end ;
join [a, 0, 0] ++ 1 @ boom and jib.frame as knee with revolute(q2) about [0, 0, 1] end ;
"""


def test_like_quantities_are_added_up_with_their_weights():
    """Oracle: the textbook's mass matrix of the planar two-link arm."""
    mass = statements(ts.derive(ts.parse(CRANE)), "matrix")[0]
    shown = plain_text(mass.rows[0][0])
    expected = "J1 + J2 + a**2*(m1/4 + m2) + b**2*m2/4 + m2*a*b*cos(q2)"
    assert "(1/4*m1 + m2)*a^2" in shown
    assert sympy.simplify(sympy.sympify(shown.replace("^", "**")) - sympy.sympify(expected)) == 0
