"""Functions for CasADi against the compiled ones, their Jacobians against differences, and an optimal motion."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur import library

casadi = pytest.importorskip("casadi")


@pytest.fixture(scope="module")
def pendulum():
    return ts.derive(library.load("double_pendulum"))


def arguments(function, seed=3):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=function.size1_in(k)) for k in range(function.n_in())]


@pytest.mark.parametrize("request_", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "energies"])
def test_values_are_those_of_compiled_code(pendulum, request_):
    function, kernel = ts.casadi_function(pendulum, request_, live=True), ts.compile(pendulum, [request_])
    given = arguments(function)
    ours = kernel(*given) if not isinstance(kernel, dict) else kernel[request_](*given)
    values = function(*given)
    values = values if isinstance(values, tuple) else (values,)
    for value, expected in zip(values, ours.values(), strict=True):
        assert np.array(value).reshape(np.shape(expected)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("request_", ["forward_dynamics", "mass_matrix"])
def test_jacobians_and_hessians_are_exact(pendulum, request_):
    """Central differences of the function itself, of order h²; of a matrix, entries column by column."""
    function = ts.casadi_function(pendulum, request_)
    given = arguments(function)
    blocks = function.jacobian()(*given, *[0] * function.n_out())
    blocks = blocks if isinstance(blocks, tuple) else (blocks,)
    assert len(blocks) == function.n_in()
    h = 1e-6
    for k, block in enumerate(blocks):
        for j in range(len(given[k])):
            up, down = [g.copy() for g in given], [g.copy() for g in given]
            up[k][j] += h
            down[k][j] -= h
            slope = (np.array(function(*up)) - np.array(function(*down))).flatten(order="F") / (2 * h)
            assert np.array(block)[:, j] == pytest.approx(slope, abs=1e-6)
    # Second derivatives, in an expression graph around the function: symmetric, as they must be.
    q = casadi.MX.sym("q", len(given[0]))
    total = casadi.sum1(casadi.vec(function(q, *given[1:])))
    hessian = np.array(casadi.Function("h", [q], [casadi.hessian(total, q)[0]])(given[0]))
    assert hessian == pytest.approx(hessian.T, abs=1e-9) and np.abs(hessian).max() > 1e-3


def test_a_cart_pole_swings_up():
    """Direct collocation by the midpoint rule, IPOPT: the pole ends upright at rest, and the equations hold."""
    text = """mechanism cartpole ;
    let cart = body mass = 1 kg, iframe = 0, inertia = 0 end ;
    let pole = body mass = 0.3 kg, centre = [0, -0.5, 0] m, inertia = 0 end ;
    gravity = [0, -9.81, 0] m/s^2 ;
    join earth and cart.frame as rail with prismatic(x) along [1, 0, 0] end ;
    join cart.frame and pole.frame as hinge with revolute(theta) about [0, 0, 1] end ;"""
    dynamics = ts.casadi_function(ts.parse(text), "forward_dynamics")
    count, step = 40, 2.0 / 40
    opti = casadi.Opti()
    state, force = opti.variable(4, count + 1), opti.variable(1, count)
    for k in range(count):
        middle = (state[:, k] + state[:, k + 1]) / 2
        rate = casadi.vertcat(middle[2:], dynamics(middle[:2], middle[2:], casadi.vertcat(force[k], 0)))
        opti.subject_to(state[:, k + 1] == state[:, k] + step * rate)
    opti.subject_to(state[:, 0] == 0)
    opti.subject_to(state[:, count] == casadi.vertcat(0, np.pi, 0, 0))
    opti.minimize(casadi.sumsqr(force))
    opti.set_initial(state[1, :], np.linspace(0, np.pi, count + 1))
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "max_iter": 300})
    found = opti.solve()
    assert found.stats()["success"]
    path, u = np.array(found.value(state)), np.array(found.value(force))
    assert path[:, -1] == pytest.approx([0, np.pi, 0, 0], abs=1e-7)
    # m_c + m_p, m_p l by hand: (M + m) x'' + m l (θ'' cos θ - θ'² sin θ) = u at every midpoint.
    middle, rate = (path[:, 1:] + path[:, :-1]) / 2, np.diff(path, axis=1) / step
    theta, spin = middle[1], middle[3]
    assert 1.3 * rate[2] + 0.15 * (rate[3] * np.cos(theta) - spin**2 * np.sin(theta)) == pytest.approx(u, abs=1e-6)
