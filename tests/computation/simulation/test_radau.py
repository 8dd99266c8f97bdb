"""The implicit method: its coefficients derived again, its orders, stiff problems with known digits, events."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import torseur as ts
from computation.simulation.linkages import four_bar
from computation.simulation.systems import T, oscillator, program
from torseur.algebra.graph import Input, Program, as_expr, symbol, vector
from torseur.algebra.graph.scalar import cos, exp, sin
from torseur.computation.codegen.kernels.compiled_routine import bind
from torseur.computation.simulation import Event, Quantity, System, simulate
from torseur.computation.simulation.implicit import radau_tableau as tableau
from torseur.computation.simulation.implicit.jacobian_differences import difference_jacobian

STAGES = (3, 5)


def derived(s):
    """Nodes, A and the eigenvalues of its inverse, in 40 digits."""
    mpmath.mp.dps = 40
    roots = mpmath.polyroots(
        [sum(c) for c in zip(mpmath.taylor(lambda x: mpmath.legendre(s, 2 * x - 1) - mpmath.legendre(s - 1, 2 * x - 1), 0, s)[::-1], strict=True)],
        maxsteps=500, extraprec=400,
    )  # fmt: skip
    nodes = sorted(mpmath.re(root) for root in roots)
    powers = mpmath.matrix(s, s)
    integrals = mpmath.matrix(s, s)
    for i in range(s):
        for k in range(s):
            powers[i, k], integrals[i, k] = nodes[i] ** k, nodes[i] ** (k + 1) / (k + 1)
    return nodes, integrals * powers**-1


def as_array(matrix):
    return np.array(matrix.tolist(), dtype=float)


@pytest.mark.parametrize("s", STAGES)
def test_coefficients(s):
    nodes, a = derived(s)
    k = STAGES.index(s)
    assert np.allclose(tableau.NODES[k], [float(c) for c in nodes], rtol=0, atol=1e-15)
    t, inverse = np.array(tableau.TO_STAGES[k]), np.array(tableau.FROM_STAGES[k])
    assert np.allclose(t @ inverse, np.eye(s), atol=1e-13)
    blocks = np.zeros((s, s))
    blocks[0, 0] = tableau.REAL[k]
    for m, (real, imaginary) in enumerate(tableau.COMPLEX[k]):
        i = 1 + 2 * m
        blocks[i : i + 2, i : i + 2] = [[real, -imaginary], [imaginary, real]]
    assert np.allclose(t @ blocks @ inverse, as_array(a**-1), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("s", STAGES)
def test_error_weights_make_a_solution_of_order_s(s):
    """Together with the slope at the start: Σ b̂ c^(k-1) = 1/k, less the start's part for k = 1."""
    nodes, a = derived(s)
    k = STAGES.index(s)
    start = 1 / tableau.REAL[k]
    weights = np.array(tableau.ERROR[k]) @ as_array(a) * start + as_array(a)[-1]
    for power in range(s):
        moment = sum(w * float(c) ** power for w, c in zip(weights, nodes, strict=True))
        assert moment + (start if power == 0 else 0.0) == pytest.approx(1 / (power + 1), abs=1e-13)


@pytest.mark.parametrize("s", STAGES)
def test_pieces_pass_through_the_stages(s):
    k = STAGES.index(s)
    for stage, x in enumerate(tableau.NODES[k]):
        basis, value = x, []
        for r in range(s):
            value.append(basis)
            basis *= 1 - x if r % 2 == 0 else x
        assert np.allclose(np.array(value) @ np.array(tableau.PIECE_WEIGHTS[k]), np.eye(s)[stage], atol=1e-13)


@pytest.mark.parametrize(("method", "order", "tolerances"), [("radau5", 5, (1e-4, 1e-7)), ("radau9", 9, (1e-5, 1e-8))])
def test_order(method, order, tolerances):
    """Between two tolerances the error at the end falls with the number of steps to the power of the order."""
    steps, errors = [], []
    for rtol in tolerances:
        motion = simulate(oscillator(), until=100.0, rtol=rtol, atol=rtol, max_step=100.0, method=method)
        steps.append(len(motion) - 1)
        errors.append(np.hypot(motion["x"][-1] - np.cos(100.0), motion["v"][-1] + np.sin(100.0)))
    measured = np.log(errors[0] / errors[1]) / np.log(steps[1] / steps[0])
    assert measured == pytest.approx(order, abs=0.8)


def chemistry():
    """Robertson's reactions."""
    y = [symbol(f"y{k}") for k in range(3)]
    slow, fast = -0.04 * y[0] + 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]
    states = tuple(Quantity(f"y{k}") for k in range(3))
    return System(states, (1.0, 0.0, 0.0), program(y, (), (slow, -slow - fast, fast)), 0, name="robertson")


@pytest.mark.parametrize(("method", "rtol"), [("radau5", 1e-9), ("radau9", 1e-9)])
def test_robertson(method, rtol, backend):
    """Oracle: 0.7158270688, 0.9185534765e-5, 0.2841637457 at t = 40, the digits of Hairer and Wanner."""
    motion = simulate(chemistry(), until=40.0, samples=2, rtol=rtol, atol=1e-13, method=method, backend=backend)
    assert np.allclose(motion.values[-1], [0.7158270687, 0.9185534764e-5, 0.2841637458], rtol=2e-9)
    assert motion.statistics.method == method and motion.statistics.jacobians > 0


def relaxing(rate):
    """x' = -rate (x - cos t) - sin t: x = cos t whatever the rate."""
    x = symbol("x")
    return System((Quantity("x"),), (1.0,), program((x,), (), (-rate * (x - cos(T)) - sin(T),)), 1, name="relaxing")


def test_stiff_systems_are_recognised_and_said():
    motion = simulate(relaxing(1e6), until=20.0, samples=21, rtol=1e-9)
    assert np.abs(motion["x"] - np.cos(motion.time)).max() < 1e-8
    assert motion.statistics.method == "radau9" and "took over" in motion.notes[0]
    assert motion.statistics.steps < 1000


def test_systems_that_are_not_stiff_stay_explicit():
    motion = simulate(oscillator(), until=200.0, rtol=1e-12)
    assert motion.statistics.method == "explicit" and motion.notes == ()


def test_loose_tolerances_take_the_lower_order():
    assert simulate(relaxing(1e6), until=20.0, rtol=1e-5).statistics.method == "radau5"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["radau5", "radau9"])
def test_events_and_samples(method, backend):
    crossing = Event("zero", symbol("x", "m"), direction=-1)
    motion = simulate(oscillator(), until=20.0, samples=np.linspace(0, 20, 41), events=[crossing], rtol=1e-10, method=method,
                      backend=backend, dense=True)  # fmt: skip
    assert np.allclose([event.time for event in motion.events], np.pi / 2 + 2 * np.pi * np.arange(3), atol=1e-8)
    assert np.abs(motion["x"] - np.cos(motion.time)).max() < 1e-7
    times = np.linspace(0.1, 19.9, 57)
    assert np.abs(motion.state_at(times)[:, 0] - np.cos(times)).max() < 1e-6


def test_backward_in_time():
    motion = simulate(oscillator(), until=-5.0, samples=6, rtol=1e-11, method="radau9")
    assert np.abs(motion["x"] - np.cos(motion.time)).max() < 1e-9


@pytest.mark.slow
def test_stiff_quaternions():
    """Where the rates are not the speeds the linear systems are solved whole. Oracle: the explicit method."""
    top = ts.body("top", mass=1, centre=(0, 0, 0.1), inertia=ts.inertia(0.1, 0.2, 0.25))
    joint = ts.spherical("ball", ts.EARTH, top, "w", "x", "y", "z", angles="quaternion")
    spring = ts.spring(
        "spring", top.at((0, 0, 0.3)), ts.EARTH.at((0.3, 0, 0.3)), stiffness=500.0, rest=0.2, damping=40.0
    )
    mechanism = ts.Mechanism("top", bodies=[top], joints=[joint], loads=[spring], gravity=(0, 0, -9.81),
                             initial={"ball.wz": 8.0})  # fmt: skip
    expected = ts.simulate(mechanism, until=2.0, samples=11, rtol=1e-11, method="explicit")
    motion = ts.simulate(mechanism, until=2.0, samples=11, rtol=1e-10, method="radau9")
    assert np.abs(motion.values - expected.values).max() < 1e-7
    assert np.abs(np.sum(motion.q**2, axis=1) - 1).max() < 1e-13


def test_laws_in_python_with_the_implicit_method():
    x = symbol("x")
    push = ts.UndeterminedFunction("push", 1)
    law = push(T)
    system = System(
        (Quantity("x"),), (1.0,), ts_program(x, law), 1, laws=(ts_law(law),), name="pushed",
    )  # fmt: skip
    motion = simulate(system, until=3.0, samples=4, rtol=1e-9, method="radau9", laws={"push": lambda t: np.cos(t)})
    assert np.abs(motion["x"] - np.cos(motion.time) - 1e-3 * np.sin(motion.time)).max() < 1e-5


def ts_law(node):
    from torseur.computation.simulation import Law

    return Law("push", node)


def ts_program(x, law):
    from torseur.algebra.graph import Input, Program, vector

    inputs = (Input("t", (T,)), Input("y", (x,)), Input("p", ()), Input("u", (law,)))
    return Program("rhs", inputs, (vector("dy", [-1e3 * (x - law)]),))


@pytest.mark.parametrize("method", ["radau5", "radau9", "auto"])
def test_python_functions_are_differentiated_by_differences(method):
    """Oracle: x = cos t + (sin t - exp(-1e4 t)) / 1e4 to first order, for x' = -1e4 (x - cos t)."""
    system = System((Quantity("x"),), (1.0,), lambda t, y, p: -1e4 * (y - np.cos(t)), 1, name="python")
    motion = simulate(system, until=1.0, samples=5, rtol=1e-9, method=method)
    assert motion.statistics.method == ("radau9" if method == "auto" else method)
    assert motion.statistics.evaluations < 20_000
    assert np.abs(motion["x"] - np.cos(motion.time) - 1e-4 * np.sin(motion.time)).max() < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["augmented", "partitioned"])
def test_stiff_laws_in_python(formulation):
    """A stiff damper of a loop as a Python function. Oracle: the same damper as a formula."""
    q3 = ts.Coordinate("q3")
    law = ts.UndeterminedFunction("brake", 2, "N*m")
    formula = four_bar(loads=[ts.motor("brake", "D", "q3", -2e4 * q3.rate - 1e4 * ts.sin(q3.symbol - 2))])
    python = four_bar(loads=[ts.motor("brake", "D", "q3", law(q3.symbol, q3.rate))])
    expected = ts.simulate(formula, until=1.0, samples=5, rtol=1e-9, method="radau9")
    motion = ts.simulate(python, until=1.0, samples=5, rtol=1e-9, method="radau9", formulation=formulation,
                         laws={"brake": lambda q, v: -2e4 * v - 1e4 * math.sin(q - 2)})  # fmt: skip
    assert np.abs(motion.values - expected.values).max() < 1e-7
    assert motion.statistics.steps < 2 * expected.statistics.steps


def test_fast_decay_does_not_disturb():
    """x' = -1e8 x beside y' = -y: the fast part vanishes, the slow one is exact."""
    x, y = symbol("x"), symbol("y")
    both = System((Quantity("x"), Quantity("y")), (1.0, 1.0), program((x, y), (), (-1e8 * x, -y)), 0, name="two")
    motion = simulate(both, until=5.0, samples=6, rtol=1e-9, method="radau9")
    assert np.abs(motion["y"] - np.exp(-motion.time)).max() < 1e-8
    assert np.abs(motion["x"][1:]).max() < 1e-9
    assert exp(0) == 1


@pytest.mark.parametrize("half", [0, 1])
def test_differences_do_not_depend_on_how_many_equations_are_solved_at_once(half):
    """On the way back all stages are solved together, with the same Jacobian. Oracle: the matrix of y' = A y."""
    y = tuple(symbol(f"y{k}") for k in range(4))
    matrix = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [-3, 1, -0.5, 0], [2, -7, 0, -0.25]])
    rates = [sum((a * x for a, x in zip(row, y, strict=True)), as_expr(0)) for row in matrix.tolist()]
    rhs = Program("rhs", (Input("y", y),), (vector("dy", rates),))
    rows = 4 - 2 * half
    for together in (rows, 3 * rows):
        statics = {"N": 4, "NJ": 4, "NE": together, "HALF": half}
        jacobian = np.full(16, np.nan)
        bind(difference_jacobian, statics, {"rhs": rhs})(0.0, np.array([0.3, -0.2, 1.0, 2.0]), np.zeros(1), jacobian)
        assert np.allclose(jacobian[: 4 * rows].reshape(rows, 4), matrix[4 - rows :], atol=1e-6)
        assert np.isnan(jacobian[4 * rows :]).all()


@pytest.mark.parametrize("method", ["radau5", "radau9"])
def test_a_mechanism_without_freedoms_stays(method):
    text = "let b = body sphere radius = 0.3 m, mass = 2 kg end ; join earth to b.frame as j with fixed() end ;"
    motion = ts.simulate(ts.parse(text), until=1.0, samples=3, method=method)
    assert motion.time.tolist() == [0.0, 0.5, 1.0] and motion.q.shape == (3, 0)
