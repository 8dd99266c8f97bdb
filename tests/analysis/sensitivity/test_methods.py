"""The methods against each other, on the same steps and on their own, and against differences."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import torseur as ts
from torseur.analysis.sensitivity import Criterion
from torseur.analysis.sensitivity.adjoint.backward_routines import repeat_steps
from torseur.analysis.sensitivity.adjoint.discrete_adjoint import Backward, record_motion
from torseur.analysis.sensitivity.adjoint.step_recording import Block, Recording
from torseur.analysis.sensitivity.direct.direct_method import integrate_tangents
from torseur.analysis.sensitivity.extended_loop import Course, integrator, routine_of
from torseur.analysis.sensitivity.method_routines import routines_of
from torseur.analysis.sensitivity.model.initial_derivatives import initial_tangents
from torseur.analysis.sensitivity.model.preparation import prepare
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.computation.simulation.loop import memory
from torseur.description import library


def routines(mechanism, parameters):
    ready = prepare(mechanism, parameters, {}, {}, {}, 0.0)
    bare = Variation(ready.system, ready.varied, np.zeros((len(ready.system.states), len(ready.varied))))
    return routines_of(replace(bare, start=initial_tangents(bare, {}, 0.0)))


MECHANISMS = {
    "tree": ("double_pendulum", "m1,m2,l2,r2,q1(0)", 5.0),
    "loop": ("four_bar", "a,b,rho,g", 1.0),
    "quaternion": ("free_body", None, 1.0),
}


@pytest.mark.parametrize("kind", MECHANISMS)
def test_adjoint_equals_direct_on_the_same_steps(kind):
    """To rounding: both differentiate the very same arithmetic, once forward and once back."""
    name, parameters, until = MECHANISMS[kind]
    made = routines(library.load(name), parameters)
    course = Course(0.0, until, np.array([until]), rtol=1e-8)
    problem = replace(course.problem(made.variation, True), keep=memory.KEEP_STATES)
    run = integrator(len(problem.initial), made.direct_statics, made.direct, "auto").run(problem)
    size = made.variation.size
    tangents = run.y[size:].reshape(size, -1)
    repeat = partial(routine_of, repeat_steps, size, made.statics, made.backward, "auto")
    block = Block(run.rows[:, :2].copy(), made.variation.initial)
    recording = Recording((block,), run._replace(y=run.y[:size]), repeat, problem.parameters)
    back, _ = Backward(made, course, recording).gradients(np.eye(size), np.zeros((size, made.variation.columns)))
    scale = np.abs(tangents).max()
    assert np.abs(back - tangents).max() < 1e-12 * scale


def test_checkpoints_change_nothing():
    mechanism = library.load("double_pendulum")
    options = {"until": 60.0, "method": "adjoint", "rtol": 1e-10}
    whole = ts.sensitivity(mechanism, "q1", "m1,r2", **options)
    bounded = ts.sensitivity(mechanism, "q1", "m1,r2", memory=2e4, **options)
    assert np.array_equal(whole["q1"].gradient, bounded["q1"].gradient)


def test_checkpoints_bound_the_memory():
    made = routines(library.load("double_pendulum"), "m1,r2")
    course = Course(0.0, 60.0, np.array([60.0]), rtol=1e-10, most_bytes=2e4)
    recording = record_motion(made, course).recording
    kept = sum(block.rows.nbytes for block in recording.blocks if block.first is None)
    assert any(block.first is not None for block in recording.blocks)
    assert kept <= course.most_bytes
    assert sum(len(block) for block in recording.blocks) == recording.run.statistics.steps


def differences(mechanism, criteria, name, until, step):
    """Central differences of order four, from simulations alone."""
    value = float(mechanism.parameter(name).value)
    states = {q.name for joint in mechanism.joints for q in joint.coordinates}
    outputs = [c for c in criteria if c.rstrip("'") not in states]
    found = []
    for k in (-2, -1, 1, 2):
        motion = ts.simulate(
            mechanism, until, parameters={name: value + k * step}, samples=2, outputs=outputs, rtol=1e-12
        )
        found.append(np.array([motion[criterion][-1] for criterion in criteria]))
    return (8 * (found[2] - found[1]) - (found[3] - found[0])) / (12 * step)


LOOP_CRITERIA = ("gamma'", "A.force.x", "C.multiplier.x")


@pytest.fixture(scope="module")
def loop_differences():
    mechanism = library.load("four_bar")
    return np.array([differences(mechanism, LOOP_CRITERIA, name, 1.0, 1e-3) for name in ("a", "b", "d")]).T


@pytest.mark.slow
@pytest.mark.parametrize("method", ["direct", "adjoint", "continuous_adjoint"])
def test_closed_loop_with_reactions(method, loop_differences):
    """The initial state follows by assembly, and multipliers are differentiated with the motion."""
    found = ts.sensitivity(library.load("four_bar"), list(LOOP_CRITERIA), "a,b,d", until=1.0, rtol=1e-11, method=method)
    derivatives = np.array([response.gradient for response in found.responses])
    assert derivatives == pytest.approx(loop_differences, rel=1e-6)


SLEDGE = """mechanism sledge ; param m = 3 kg, J = 0.4 kg*m^2, l = 0.2 m, w = 1.5 1/s, k = 8 N/m ;
let sledge = body mass = m, centre = [l, 0, 0], inertia = diag(0, 0, J) about iframe end ;
join earth and sledge.frame as ice with planar(x, y, psi) end ;
apply spring stiffness = k, rest = 0.3 m, damping = 0 N*s/m between [0, 1, 0] @ earth and [0, 0, 0] @ sledge as cord ;
constrain 0 = sin(psi) * x' - cos(psi) * y' as blade ;
init x' = 1 m/s, psi' = w ;"""


@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_velocity_constraints(method):
    """A sledge on a blade: positions are free where velocities are not."""
    mechanism = ts.parse(SLEDGE)
    names = [p.name for p in mechanism.parameters]
    found = ts.sensitivity(mechanism, "kinetic_energy", names, until=0.5, rtol=1e-11, method=method)
    steps = {name: 1e-3 * float(mechanism.parameter(name).value) for name in names}
    expected = [differences(mechanism, ["kinetic_energy"], name, 0.5, step)[0] for name, step in steps.items()]
    assert found["kinetic_energy"].gradient == pytest.approx(expected, rel=1e-6, abs=1e-8)


@pytest.mark.slow
def test_integral_of_a_reaction_on_a_loop():
    mechanism = library.load("four_bar")
    criterion = Criterion("A.force.x * gamma", "integral")
    pair = [
        ts.sensitivity(mechanism, criterion, "a,rho", until=1.0, rtol=1e-11, method=m) for m in ("direct", "adjoint")
    ]
    first, second = (found.responses[0].gradient for found in pair)
    assert first == pytest.approx(second, rel=1e-8)
    # Forces are in proportion to the density of the bars, and the motion does not depend on it.
    value = pair[0].responses[0].value
    assert first[1] == pytest.approx(value / 2.0, rel=1e-9)


def test_direct_needs_no_more_than_one_integration():
    made = routines(library.load("double_pendulum"), "m1,m2")
    found = integrate_tangents(made, Course(0.0, 1.0, np.array([0.5, 1.0])))
    assert found.u.shape == (2, 4, 2)
    assert found.run.statistics.steps > 3


def hessian_by_differences(mechanism, criterion, names, until, steps):
    """Differences of first-order derivatives, a row per parameter."""
    rows = []
    for name, step in zip(names, steps, strict=True):
        value = float(mechanism.parameter(name).value)
        near = [
            ts.sensitivity(
                mechanism, criterion, names, until=until, rtol=1e-12, method="direct", values={name: value + k * step}
            )
            for k in (-2, -1, 1, 2)
        ]
        derivatives = [found.responses[0].gradient for found in near]
        rows.append((8 * (derivatives[2] - derivatives[1]) - (derivatives[3] - derivatives[0])) / (12 * step))
    return np.array(rows)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["A.force.x", Criterion("A.force.x * gamma", "integral")])
def test_second_order_on_a_loop(criterion):
    """Assembly, motion, multipliers and criterion, all differentiated twice."""
    mechanism = library.load("four_bar")
    found = ts.sensitivity(mechanism, criterion, ["a", "d"], until=0.4, rtol=1e-11, second_order=True)
    expected = hessian_by_differences(mechanism, criterion, ["a", "d"], 0.4, (1e-3, 1e-3))
    assert found.responses[0].hessian == pytest.approx(expected, rel=2e-6)


@pytest.mark.slow
def test_second_order_with_velocity_constraints():
    mechanism = ts.parse(SLEDGE)
    found = ts.sensitivity(mechanism, "kinetic_energy", ["l", "w"], until=0.5, rtol=1e-11, second_order=True)
    expected = hessian_by_differences(mechanism, "kinetic_energy", ["l", "w"], 0.5, (2e-4, 1e-3))
    assert found.responses[0].hessian == pytest.approx(expected, rel=1e-5)


def test_mass_matrix_factored_by_numbers(monkeypatch):
    """Mechanisms with many speeds; the same derivatives as with factors that are formulas."""
    from torseur.analysis.sensitivity import method_routines as module

    mechanism, criteria = library.load("double_pendulum"), ["q1''", Criterion("kinetic_energy", "integral")]
    options = {"until": 2.0, "rtol": 1e-12, "method": "direct"}
    formulas = ts.sensitivity(mechanism, criteria, "m1,r2,q2(0)", **options)
    monkeypatch.setattr(module, "MOST_FACTORED", 1)
    numbers = ts.sensitivity(mechanism, criteria, "m1,r2,q2(0)", **options)
    for first, second in zip(formulas.responses, numbers.responses, strict=True):
        assert first.gradient == pytest.approx(second.gradient, rel=1e-10)


@pytest.mark.slow
def test_assembly_that_leaves_freedoms_open():
    """Two bodies on ball joints (quaternions) held at a distance: nearness to the guess completes the start."""
    mechanism = ts.parse(
        """mechanism hung ; param m = 2 kg, L = 1 m, d = 1.2 m, g = 9.81 m/s^2 ; gravity = [0, 0, -g] ;
        let a = body mass = m, centre = [0, 0, -L/2], inertia = diag(0.2 kg*m^2, 0.25 kg*m^2, 0.1 kg*m^2) about iframe end ;
        let b = body mass = 1 kg, centre = [0, 0, -0.3 m], inertia = diag(0.05 kg*m^2, 0.06 kg*m^2, 0.02 kg*m^2) about iframe end ;
        join earth and a.frame as top with spherical(p0, p1, p2, p3) angles quaternion end ;
        join [0.8 m, 0, 0] ++ 1 @ earth and b.frame as side with spherical(r0, r1, r2, r3) angles quaternion end ;
        constrain distance [0, 0, -L] @ a to [0, 0, -0.6 m] @ b = d ;"""
    )
    pair = [
        ts.sensitivity(mechanism, "a.centre.position.x", "m,L,d", until=0.6, rtol=1e-11, method=method)
        for method in ("direct", "adjoint")
    ]
    steps = {"m": 2e-3, "L": 1e-3, "d": 1e-3}
    expected = [differences(mechanism, ["a.centre.position.x"], name, 0.6, step)[0] for name, step in steps.items()]
    for found in pair:
        assert found.responses[0].gradient == pytest.approx(expected, rel=1e-7)
        assert found.trusted


@pytest.mark.slow
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_redundant_constraints_that_are_selected_anew(method):
    """A Bennett linkage over more than a turn, without gravity: its energy is that of the start, and so are its derivatives."""
    mechanism = library.load("bennett")
    found = ts.sensitivity(mechanism, "kinetic_energy", "m,a", until=8.0, rtol=1e-10, method=method)
    start = ts.sensitivity(mechanism, "kinetic_energy", "m,a", until=0.0)
    assert found.responses[0].value == pytest.approx(start.responses[0].value, rel=1e-7)
    assert found.responses[0].gradient == pytest.approx(start.responses[0].gradient, rel=1e-5)
