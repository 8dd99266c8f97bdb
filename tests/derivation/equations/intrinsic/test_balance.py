"""Newton and Euler without components. Oracles: the seed's printed energies, momentum, and the recursive equations."""

from __future__ import annotations

import math
import random

import pytest
import sympy
from hypothesis import Phase, given, settings

import torseur as ts
from algebra.intrinsic.components import Components
from strategies import mechanisms
from torseur.algebra.graph import as_expr, evaluate, symbols_of, time_derivative
from torseur.algebra.spatial import Vec3
from torseur.derivation.equations.intrinsic.balance import STEPS, IntrinsicEquations
from torseur.description import library
from torseur.description.mechanism import TIME

TREES = [
    "double_pendulum", "cart_pendulum?n=2", "satellite", "puma560", "slider_crank", "spinning_top", "quadruped",
    "free_body", "vehicle", "dual_spin_satellite", "ball_on_turntable",
]  # fmt: skip


def level_of(name):
    return IntrinsicEquations(ts.derive(library.load(name)))


def total(components, terms):
    return sum((components.of(term.expression) for term in terms), as_expr(0))


def values_at(expressions, equations, seed):
    chance = random.Random(seed)
    given = {x: chance.uniform(0.3, 1.5) for x in sorted(symbols_of(expressions), key=lambda x: str(x.name))}
    for link in equations.tree.links:
        norm = math.sqrt(sum(given.get(x, 0) ** 2 for x in link.symbols.quaternion))
        given |= {x: given[x] / norm for x in link.symbols.quaternion if x in given}
    laws = {node.data.function.name: (lambda *a: 0.3) for node in equations.undetermined}
    return evaluate(expressions, given, laws)


@pytest.mark.parametrize("name", TREES)
def test_equations_along_the_speeds_are_the_equations_of_motion(name):
    """Oracle: the recursion, which works in components of the links' own axes."""
    assert_balanced(level_of(name))


@pytest.mark.slow
@settings(max_examples=10, phases=[Phase.explicit, Phase.reuse, Phase.generate])  # shrinking takes minutes
@given(mechanisms(max_bodies=3))
def test_equations_along_the_speeds_of_any_mechanism(mechanism):
    """Oracle: the recursion; every joint preset, quaternions and body speeds among them."""
    assert_balanced(IntrinsicEquations(ts.derive(mechanism)))


def assert_balanced(level):
    """The balances along the speeds are the rows of the equations of motion."""
    components = Components(level)
    rows = [b for b in level.balances if b.kind == "along"]
    left_out = [k for k in range(len(level.equations.layout.speeds)) if k not in {b.slot for b in rows}]
    assert all(level.equations.residual[k].is_zero for k in left_out)
    ours = [total(components, b.inertia) - total(components, b.forces) for b in rows]
    theirs = [level.equations.residual[b.slot] for b in rows]
    found = values_at([*ours, *theirs], level.equations, seed=2)
    for x, y in zip(found[: len(ours)], found[len(ours) :], strict=True):
        assert x == pytest.approx(y, rel=1e-9, abs=1e-9)


def test_double_pendulum_by_the_printed_energies():
    """Oracle: Lagrange's equations of the kinetic energy and force function that the source prints (A1 = m1 r2², B2 = m2 l2²)."""
    t = sympy.Symbol("t")
    m1, m2, r2, l2, g = sympy.symbols("m1 m2 r2 l2 g")
    q1, q2 = sympy.Function("q1")(t), sympy.Function("q2")(t)
    v1, v2 = q1.diff(t), q2.diff(t)
    a1, b2 = m1 * r2**2, m2 * l2**2
    energy = (
        (a1 + b2 * sympy.cos(q2) ** 2 + m2 * r2**2) * v1**2 + b2 * v2**2 + 2 * m2 * r2 * l2 * v1 * v2 * sympy.sin(q2)
    ) / 2
    force = m1 * g * r2 * sympy.cos(q1) + m2 * g * (r2 * sympy.cos(q1) + l2 * sympy.cos(q2) * sympy.sin(q1))
    level = level_of("double_pendulum")
    components = Components(level)
    rows = [b for b in level.balances if b.kind == "along"]
    ours = [total(components, b.inertia) - total(components, b.forces) for b in rows]
    numbers = {"m1": 4.0, "m2": 2.0, "r2": 5.0, "l2": 2.0, "g": 9.81, "q1": 0.3, "q2": 0.8, "q1'": 1.1, "q2'": -0.7,
               "q1''": 0.4, "q2''": 1.9}  # fmt: skip
    found = evaluate(ours, {x: numbers[str(x.name)] for x in symbols_of(ours)})
    for q, v, value in ((q1, v1, found[0]), (q2, v2, found[1])):
        row = (energy.diff(v)).diff(t) - energy.diff(q) - force.diff(q)
        for order in (2, 1, 0):
            row = row.subs({f.diff(t, order) if order else f: numbers[f"{f.func}" + "'" * order] for f in (q1, q2)})
        assert float(row.subs({s: numbers[s.name] for s in (m1, m2, r2, l2, g)})) == pytest.approx(value, rel=1e-12)


def test_masses_times_accelerations_are_the_rate_of_momentum():
    level = level_of("puma560")
    equations, layout = level.equations, level.equations.layout
    moving = dict(zip(layout.coordinates, equations.rates, strict=True))
    moving |= dict(zip(layout.speeds, layout.accelerations, strict=True))
    rates = time_derivative(equations.linear_momentum, moving, TIME)
    components = Components(level)
    terms = [components.of(term.expression) for term in level.balances[0].inertia]
    ours = [as_expr(sum((getattr(v, axis) for v in terms), as_expr(0))) for axis in "xyz"]
    found = values_at([*ours, *rates], equations, seed=4)
    assert found[:3] == pytest.approx(found[3:], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("steps", range(STEPS + 1))
def test_every_step_of_expansion_has_the_same_value(steps):
    level = level_of("double_pendulum")
    components = Components(level)
    term = level.balances[0].inertia[1].expression
    expanded = level.expanded(term, steps)
    assert (expanded == term) == (steps == 0)
    pairs = [[*components.of(e)] for e in (term, expanded)]
    found = values_at([as_expr(x) for pair in pairs for x in pair], level.equations, seed=5)
    assert found[:3] == pytest.approx(found[3:], rel=1e-12, abs=1e-12)


def test_first_balance_reads_as_in_the_source():
    """F1 + F2 = m1 a(G1) + m2 a(G2), the forces being the reaction and the weights."""
    balance = level_of("double_pendulum").balances[0]
    assert [str(t.expression) for t in balance.forces] == ["R_shoulder", "m1*g", "m2*g"]
    assert [str(t.expression) for t in balance.inertia] == ["m1*a(G_arm)", "m2*a(G_blade)"]
    assert [t.bodies for t in balance.inertia] == [("arm",), ("blade",)]


QUATERNION = """
let wheel = body mass = 2 kg, centre = [0.1 m, 0.2 m, 0.3 m], inertia = diag(1 kg*m^2, 2 kg*m^2, 2.5 kg*m^2) end ;
let pin = body mass = 1 kg, centre = [0, 0.4 m, 0], inertia = diag(0.1 kg*m^2, 0.2 kg*m^2, 0.2 kg*m^2) end ;
join earth and wheel.frame as flight with free(x, y, z, e0, e1, e2, e3) angles quaternion end ;
join [0.5 m, 0, 0] ++ 1 @ wheel and pin.frame as hinge with revolute(q) about [0, 1, 0] end ;
"""


@pytest.mark.parametrize("source", [QUATERNION, "free_body", "quadruped"])
def test_force_and_moment_are_the_rates_of_momentum(source):
    """Oracle: Euler's laws, d/dt of both momenta about the earth's origin, by the recursion."""
    mechanism = ts.parse(source) if "let" in source else library.load(source)
    level = IntrinsicEquations(ts.derive(mechanism))
    equations, layout = level.equations, level.equations.layout
    moving = dict(zip(layout.coordinates, equations.rates, strict=True))
    moving |= dict(zip(layout.speeds, layout.accelerations, strict=True))
    rates = time_derivative([*equations.linear_momentum, *equations.angular_momentum], moving, TIME)
    components = Components(level)
    force, moment = (Vec3(*_sum([components.of(t.expression) for t in b.inertia])) for b in level.balances[:2])
    origin = level.catalogue.poses[0].position
    about_earth = moment + origin.cross(force)
    found = values_at([as_expr(x) for x in (*force, *about_earth, *rates)], equations, seed=8)
    assert found[:6] == pytest.approx(found[6:], rel=1e-9, abs=1e-9)


def _sum(vectors):
    return [as_expr(sum((getattr(v, axis) for v in vectors), as_expr(0))) for axis in "xyz"]
