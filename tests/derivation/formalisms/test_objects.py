"""Intermediate results that formalisms name, against closed forms and against their definitions."""

from __future__ import annotations

import math
from random import Random

import pytest

import torseur as ts
import torseur.description.mechanism as tm
from derivation.formalisms.examples import cart_pendulum, driven_tree, planar_vehicle
from derivation.formalisms.test_classics import pendulum, values
from torseur.algebra.graph import as_expr, evaluate, gradient, symbols_of, time_derivative
from torseur.derivation.equations.random_states import multiple_precision_values, rational_state
from torseur.derivation.formalisms import derive
from torseur.description import library
from torseur.description.mechanism import TIME

STATE = {"x": 0.2, "q1": 0.7, "x'": 0.4, "q1'": -1.3, "x''": 0.9, "q1''": 2.1}
M, MASS, LENGTH, MOMENT, G = 2.0, 1.1, 0.55, 0.1, 9.81


def cart(formalism: str):
    equations = derive(cart_pendulum(1), formalism)
    return equations, equations.objects


def value(equations, expression, **extra) -> float:
    return values(equations, [as_expr(expression)], **(STATE | extra))[0]


@pytest.mark.parametrize("formalism", ["lagrange", "boltzmann_hamel", "hamilton"])
def test_kinetic_energy_and_momenta(formalism):
    equations, objects = cart(formalism)
    q, dx, dq = STATE["q1"], STATE["x'"], STATE["q1'"]
    half = MASS * LENGTH / 2
    inertia = MOMENT + MASS * LENGTH**2 / 4
    energy = (M + MASS) * dx**2 / 2 + half * math.cos(q) * dx * dq + inertia * dq**2 / 2
    assert value(equations, objects["kinetic energy"]) == pytest.approx(energy, rel=1e-13)
    momenta = [value(equations, p) for p in objects["momenta"].values()]
    assert momenta == pytest.approx([(M + MASS) * dx + half * math.cos(q) * dq, half * math.cos(q) * dx + inertia * dq])


def test_potential_energy_of_lagrange():
    equations, objects = cart("lagrange")
    expected = -MASS * G * LENGTH / 2 * math.cos(STATE["q1"])
    assert value(equations, objects["potential energy"]) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("formalism", ["dalembert", "inertia_tensors"])
def test_christoffel_symbols_of_the_cart(formalism):
    """Only Γ_x,qq = -m l/2 sin q differs from zero."""
    equations, objects = cart(formalism)
    found = {key: value(equations, symbol) for key, symbol in objects["Christoffel symbols"].items()}
    assert found.pop(("x", "q1", "q1")) == pytest.approx(-MASS * LENGTH / 2 * math.sin(STATE["q1"]), rel=1e-13)
    assert all(abs(rest) < 1e-15 for rest in found.values())


def test_christoffel_symbols_are_those_of_the_mass_matrix():
    """Γ_i,jk = ½ (∂_k a_ij + ∂_j a_ik - ∂_i a_jk), for a chain in space."""
    bodies = [tm.body(n, mass=1, centre=(0.1, 0.2, 0.3), inertia=tm.inertia(1, 2, 2.5, 0.1, 0.2, 0.3)) for n in "abc"]
    joints = [
        tm.revolute("j1", tm.EARTH, bodies[0], "q1"),
        tm.revolute("j2", bodies[0].at((0.3, 0, 0.1)), bodies[1], "q2", (1, 0, 0)),
        tm.prismatic("j3", bodies[1].at((0, 0.3, 0)), bodies[2], "q3", (0, 1, 0)),
    ]
    equations = derive(tm.Mechanism("chain", bodies=bodies, joints=joints), "dalembert")
    names, q, a = equations.layout.coordinate_names, equations.layout.coordinates, equations.mass_matrix
    found = equations.objects["Christoffel symbols"]
    for i in range(3):
        for j in range(3):
            for k in range(j, 3):
                by = [gradient(entry, [x])[0] for entry, x in ((a[i][j], q[k]), (a[i][k], q[j]), (a[j][k], q[i]))]
                expected = (by[0] + by[1] - by[2]) / 2
                ours = found.get((names[i], names[j], names[k]), as_expr(0))
                state = rational_state(equations.tree, Random(3))
                left, right = multiple_precision_values([ours, expected], state)
                assert abs(left - right) < 1e-15


def test_christoffel_symbols_without_derivation_are_the_same():
    by_tensors, by_positions = (derive(cart_pendulum(3), name) for name in ("inertia_tensors", "dalembert"))
    ours, theirs = by_tensors.objects["Christoffel symbols"], by_positions.objects["Christoffel symbols"]
    for key in ours.keys() | theirs.keys():
        pair = [ours.get(key, as_expr(0)), theirs.get(key, as_expr(0))]
        left, right = multiple_precision_values(pair, rational_state(by_tensors.tree, Random(4)))
        assert abs(left - right) < 1e-40


def test_tensors_of_the_cart():
    """G of the pendulum at its pin, K and a: S = [φ~, t] with φ = z for the pin and t = x for the rail."""
    equations, objects = cart("inertia_tensors")
    screw = [[value(equations, entry) for entry in row] for row in objects["screws S"]["q1"]]
    assert screw == [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    tensor = objects["inertia tensors G"]["q1", "q1"]
    half = MASS * LENGTH / 2
    column = [value(equations, row[3]) for row in tensor]
    assert column == pytest.approx([0, -half, 0, MASS], abs=1e-15)  # in the axes of the pendulum
    kinetic = objects["kinetic tensors K"]["x", "q1"]
    assert sum(value(equations, kinetic[i][i]) for i in range(3)) == pytest.approx(
        half * math.cos(STATE["q1"]), rel=1e-13
    )
    total = objects["inertia tensors G"]["x", "x"]
    assert value(equations, total[3][3]) == pytest.approx(M + MASS)


def test_partial_velocities_of_the_cart():
    equations, objects = cart("kane")
    partials = objects["partial velocities"]
    assert set(partials) == {("cart", "x'"), ("link1", "x'"), ("link1", "q1'")}
    turning = [value(equations, c) for c in partials["link1", "q1'"].angular]
    moving = [value(equations, c) for c in partials["link1", "x'"].linear]
    assert turning == [0, 0, 1]
    assert moving == pytest.approx([math.cos(STATE["q1"]), -math.sin(STATE["q1"]), 0], rel=1e-13)


def test_gibbs_function_of_the_cart():
    equations, objects = cart("gibbs_appell")
    q, dq, ddx, ddq = (STATE[n] for n in ("q1", "q1'", "x''", "q1''"))
    arm = LENGTH / 2
    ax = ddx + arm * (math.cos(q) * ddq - math.sin(q) * dq**2)
    ay = arm * (math.sin(q) * ddq + math.cos(q) * dq**2)
    expected = M * ddx**2 / 2 + MASS * (ax**2 + ay**2) / 2 + MOMENT * (ddq**2 + dq**4) / 2
    assert value(equations, objects["Gibbs function"]) == pytest.approx(expected, rel=1e-13)


def test_reaction_of_a_pendulum():
    """Tension m (g cos θ + L θ'²) along the rod."""
    equations = derive(pendulum(), "newton_euler")
    reaction = equations.objects["reactions"]["pin"]
    theta, rate = 0.4, 1.5
    state = {"theta": theta, "theta'": rate, "theta''": -9.81 * math.sin(theta)}
    along, across = values(equations, [as_expr(reaction.force.y), as_expr(reaction.force.x)], **state)
    assert along == pytest.approx(9.81 * math.cos(theta) + rate**2, rel=1e-13)
    assert across == pytest.approx(0, abs=1e-14)


def test_free_bodies_balance_with_their_reactions():
    """Six equations per body vanish when the reactions are put in, whatever the accelerations."""
    equations = derive(cart_pendulum(2), "newton_euler")
    objects = equations.objects
    reactions = objects["reactions"]
    state = rational_state(equations.tree, Random(2))
    for rows in objects["equations of free bodies"].values():
        unknown = [x for x in symbols_of(rows) if x not in state]
        named = {x: _component(reactions, str(x.name)) for x in unknown}
        numbers = dict(zip(unknown, multiple_precision_values(list(named.values()), state), strict=True))
        assert all(abs(v) < 1e-12 for v in evaluate(rows, {k: float(v) for k, v in (state | numbers).items()}))


def _component(reactions, name: str):
    joint, part = name.split(".")
    vector = reactions[joint].moment if part[0] == "N" else reactions[joint].force
    return as_expr(getattr(vector, part[1]))


@pytest.mark.parametrize("mechanism", [cart_pendulum(2), planar_vehicle(), driven_tree()], ids=lambda m: m.name)
def test_canonical_equations_give_the_accelerations(mechanism):
    """q' = ∂H/∂p and p' = -∂H/∂q + Q along the motion that M v' + b = Q gives."""
    equations = derive(mechanism, "hamilton")
    layout, objects = equations.layout, equations.objects
    moving = dict(zip(layout.coordinates, equations.rates, strict=True))
    moving |= dict(zip(layout.speeds, derive(mechanism, "recursive").acceleration, strict=True))
    momenta = equations.formulation._rates.in_speeds(list(objects["momenta"].values()))
    rates = time_derivative(momenta, moving, TIME)
    state = rational_state(equations.tree, Random(6))
    numbers = multiple_precision_values([*momenta, *equations.rates, *rates], state)
    n = len(momenta)
    at = state | dict(zip(equations.formulation.momenta, numbers[:n], strict=True))
    canonical = [*objects["rates of the coordinates"].values(), *objects["rates of the momenta"].values()]
    found = evaluate(canonical, {x: float(v) for x, v in at.items()})
    assert found == pytest.approx([float(v) for v in numbers[n:]], rel=1e-10, abs=1e-10)


def test_hamiltonian_is_the_energy():
    equations, objects = cart("hamilton")
    momenta = [value(equations, p) for p in objects["momenta"].values()]
    names = [str(p.name) for p in equations.formulation.momenta]
    total = equations.kinetic_energy + equations.potential_energy
    layout = equations.layout
    given = (
        {str(p.name): float(p.value) for p in equations.mechanism.parameters}
        | STATE
        | dict(zip(names, momenta, strict=True))
    )
    symbols = (*layout.coordinates, *layout.parameters, *equations.formulation.momenta)
    (energy,) = evaluate([objects["Hamiltonian"]], {x: given[str(x.name)] for x in symbols} | {TIME: 0.0})
    assert energy == pytest.approx(value(equations, total), rel=1e-12)


def test_multipliers_hold_the_placements_on_their_constraints():
    """Φ vanishes on the placements of the links, and the earth's multiplier carries the weight at rest."""
    equations = derive(pendulum(), "lagrange_multipliers")
    objects = equations.objects
    (rows,) = objects["multipliers"].values()
    weight = values(equations, [rows[1][3], rows[0][3]], theta=0.3, **{"theta''": 0.0})
    assert weight == pytest.approx([9.81, 0], abs=1e-14)
    (constraint,) = objects["constraints"].values()
    names = {str(x.name) for row in constraint for entry in row for x in symbols_of([entry])}
    assert {"bob.R11", "bob.x", "theta"} <= names


def test_twists_and_jacobians():
    equations, objects = cart("lie_group")
    twist = [value(equations, entry) for entry in objects["twists"]["link1"]]
    q, dx, dq = STATE["q1"], STATE["x'"], STATE["q1'"]
    assert twist == pytest.approx([0, 0, dq, math.cos(q) * dx, -math.sin(q) * dx, 0], abs=1e-15)
    column = [value(equations, entry) for entry in objects["jacobians"]["link1", "q1'"]]
    assert column == [0, 0, 1, 0, 0, 0]


def test_unknowns_of_a_formalism_have_names_of_their_own():
    """The satellite's own coordinate satellite.x is not the x of its placement, which is an unknown beside it."""
    constraints = ts.derive(library.load("satellite"), "lagrange_multipliers").objects["constraints"]
    entry = constraints["earth_satellite"][0][3]
    assert len({str(x.name) for x in symbols_of([entry])}) == len(symbols_of([entry])) == 2
