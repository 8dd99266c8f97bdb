"""Structured derivatives of dynamics: against the differentiated graph for random mechanisms, against Pinocchio's values
for robots, and along directions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import torseur as ts
from robots import ROBOTS, data, our_coordinates, robot
from strategies import mechanisms
from torseur.algebra.graph import evaluate
from torseur.computation.functions.differentiation_variables import Variables
from torseur.computation.functions.function_requests import programs_of
from torseur.computation.functions.mechanism_functions import forces_of, outputs_of
from torseur.computation.functions.recursive_derivatives import operation_count, plain_jacobian
from torseur.derivation.dynamics.fixed_screws import has_steps
from torseur.derivation.equations import parameter_values
from torseur.description import library
from torseur.errors import TorseurError

STATES = (0, 7, 13)


def numbers(equations, seed):
    """A random state with unit quaternions, and the parameters' values."""
    random = np.random.default_rng(seed)
    layout = equations.layout
    values = {node: float(random.uniform(-1, 1)) for node in (*layout.speeds, *layout.accelerations)}
    values |= {node: float(random.uniform(-1, 1)) for node in forces_of(equations)}
    values |= {node: float(random.uniform(0.2, 1)) for node in layout.coordinates}
    for link in equations.tree.links:
        size = sum(values[q] ** 2 for q in link.symbols.quaternion) ** 0.5
        values |= {q: values[q] / size for q in link.symbols.quaternion}
    given = parameter_values(equations, {})
    values |= {p: given[name] for p, name in zip(layout.parameters, layout.parameter_names, strict=True)}
    return values | {equations.time: 0.3}


def rows(program, values):
    entries = [entry for output in program.outputs for entry in output.entries]
    return np.array(evaluate(entries, values), dtype=float)


@pytest.mark.slow
@given(mechanisms(loads=False), st.integers(0, 99))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_recursion_agrees_with_the_differentiated_graph(mechanism, seed):
    """Every joint preset, in trees of up to six bodies."""
    equations = ts.derive(mechanism)
    if equations.is_constrained or not equations.layout.speeds:
        return
    layout = equations.layout
    (tau,) = outputs_of(equations, "inverse_dynamics")
    values = numbers(equations, seed)
    for word, nodes, along in (
        ("displacement", layout.speeds, True),
        ("q", layout.coordinates, False),
        ("v", layout.speeds, False),
    ):
        (program,) = programs_of(equations, [f"inverse_dynamics/{word}"])
        plain = plain_jacobian(equations, list(tau.entries), Variables(word, nodes, along=along))
        expected = np.array(evaluate([e for row in plain for e in row], values), dtype=float)
        assert rows(program, values) == pytest.approx(expected, rel=1e-8, abs=1e-8 * (1 + np.abs(expected).max()))


@pytest.fixture(scope="module", params=ROBOTS)
def case(request):
    equations = ts.derive(replace(robot(request.param), loads=()))  # Pinocchio leaves out the joints' friction
    requests = ["inverse_dynamics/displacement,v,vdot", "forward_dynamics/displacement,v,tau"]
    return request.param, equations, programs_of(equations, requests)


def scaled_error(ours, theirs):
    return np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())


@pytest.mark.parametrize("state", STATES)
def test_robots_against_pinocchio(case, state):
    """Oracle: derivatives stored by Pinocchio 4.1, by displacements in body axes for floating bases."""
    name, equations, (inverse, forward) = case
    stored = data(name)
    assert has_steps(equations.tree)
    given = {"q": our_coordinates(name, stored["q"][state]), "v": stored["v"][state]}
    found = inverse.evaluate(given | {"vdot": stored["a"][state]})
    n = len(equations.layout.speeds)
    for ours, theirs in (("displacement", "dtau_dq"), ("v", "dtau_dv")):
        assert scaled_error(np.reshape(found[f"dtau_d{ours}"], (n, n)), stored[theirs][state]) < 1e-11
    found = forward.evaluate(given | {"tau": stored["tau_rand"][state]})
    for ours, theirs in (("displacement", "ddq_dq"), ("v", "ddq_dv"), ("tau", "Minv")):
        assert scaled_error(np.reshape(found[f"dvdot_d{ours}"], (n, n)), stored[theirs][state]) < 1e-9


@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics", "bias", "mass_matrix"])
def test_along_a_direction(function):
    """The derivative along a direction is the whole derivative times the direction."""
    equations = ts.derive(library.load("double_pendulum"))
    along, whole = programs_of(equations, [f"{function}/along:q,v", f"{function}/q,v"])
    values = numbers(equations, 3)
    direction = {"q_direction": np.array([0.3, -0.7]), "v_direction": np.array([1.1, 0.4])}
    nodes = {
        node: x for g in along.inputs if g.name in direction for node, x in zip(g.nodes, direction[g.name], strict=True)
    }
    ours = np.array(evaluate(list(along.outputs[0].entries), values | nodes), dtype=float)
    by_q, by_v = (np.array(evaluate(list(o.entries), values), dtype=float).reshape(-1, 2) for o in whole.outputs)
    assert ours == pytest.approx(by_q @ direction["q_direction"] + by_v @ direction["v_direction"], rel=1e-12)
    assert along.outputs[0].name.endswith("_along_q_v")


@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics", "bias"])
def test_twice_along_directions(function):
    """Second derivatives along directions are the whole ones times the directions."""
    equations = ts.derive(library.load("double_pendulum"))
    requests = ["along:q,v/along:q,v", "along:q,v/q,v", "q/along:q,v", "q,v/q,v"]
    twice, once, then, whole = programs_of(equations, [f"{function}/{request}" for request in requests])
    random = np.random.default_rng(4)
    given = {g.name: random.uniform(0.2, 1, len(g)).tolist() for program in (twice, whole) for g in program.inputs}
    found = [values_of(program, given) for program in (twice, once, then, whole)]
    by_q_q, by_q_v, by_v_v = found[3]
    dq, dv, eq, ev = (np.array(given[f"{x}_direction{k}"]) for k in ("", "2") for x in "qv")
    by_q, by_v = by_q_q @ dq + by_q_v @ dv, np.swapaxes(by_q_v, 1, 2) @ dq + by_v_v @ dv
    assert found[1][0] == pytest.approx(by_q, rel=1e-11) and found[1][1] == pytest.approx(by_v, rel=1e-11)
    assert found[2][0] == pytest.approx(by_q, rel=1e-11)
    assert found[0][0] == pytest.approx(by_q @ eq + by_v @ ev, rel=1e-11)
    assert twice.outputs[0].name.endswith("_along_q_v_along_q_v") and once.outputs[1].name.endswith("_along_q_v_dv")


def test_along_a_displacement():
    """Quaternions change as the speeds say: the derivative by displacements times the direction."""
    equations = ts.derive(robot("solo12"), formalism="recursive")
    along, whole = programs_of(equations, [f"inverse_dynamics/{way}" for way in ("along:displacement", "displacement")])
    random = np.random.default_rng(4)
    given = {g.name: random.uniform(0.2, 1, len(g)).tolist() for program in (along, whole) for g in program.inputs}
    given["q"][3:7] = [0.5, 0.5, -0.5, 0.5]
    (ours,), (rows,) = values_of(along, given), values_of(whole, given)
    assert ours == pytest.approx(rows @ given["displacement_direction"], rel=1e-11, abs=1e-12)


def values_of(program, given):
    """The outputs as arrays."""
    found = program.evaluate({group.name: given[group.name] for group in program.inputs})
    return [np.array(found[o.name], dtype=float).reshape(o.shape) for o in program.outputs]


@pytest.mark.parametrize("text", ["bias/along:", "bias/along:q,q", "bias/along:q/along:q/q"])
def test_directions_that_make_no_sense(text):
    equations = ts.derive(library.load("pendulum"))
    with pytest.raises(TorseurError):
        programs_of(equations, [text])


@pytest.mark.parametrize(("name", "part"), [("ur5", 1.0), ("solo12", 0.8)])
def test_fewer_operations_than_the_graph_gives(name, part):
    """What the recursion is for; on an arm with parallel axes the graph's own derivatives may be fewer, and are taken."""
    equations = ts.derive(robot(name))
    layout = equations.layout
    (program,) = programs_of(equations, ["inverse_dynamics/displacement,v"])
    (tau,) = outputs_of(equations, "inverse_dynamics")
    ways = [Variables("x", layout.speeds, along=along) for along in (True, False)]
    plain = [row for way in ways for row in plain_jacobian(equations, list(tau.entries), way)]
    assert len(program.operations) <= part * operation_count(plain)
