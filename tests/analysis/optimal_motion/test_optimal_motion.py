"""Planned motions: against closed forms, measured orders of convergence, and the same forces in a simulation."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.errors import TorseurError, UnsupportedError

pytest.importorskip("casadi", reason="the extra casadi is not installed")

BLOCK = """mechanism block ; let block = body mass = 2 kg, iframe = 0, inertia = 0 end ;
join earth and block.frame as rail with prismatic(x) along [1, 0, 0] end ;"""
CART_POLE = """mechanism cart_pole ; gravity = [0, -9.81, 0] m/s^2 ;
let cart = body mass = 1 kg, iframe = 0, inertia = 0 end ;
let pole = body mass = 0.3 kg, centre = [0, -0.5, 0] m, inertia = 0 end ;
join earth and cart.frame as rail with prismatic(x) along [1, 0, 0] end ;
join cart.frame and pole.frame as hinge with revolute(theta) about [0, 0, 1] end ;
actuate x ;"""


def pushed(method: str = "hermite-simpson", intervals: int = 40, duration=2.0) -> ts.OptimalMotion:
    plan = ts.OptimalMotion(ts.parse(BLOCK), duration, intervals=intervals, method=method)
    plan.start({"x": 0})
    plan.end({"x": 3})
    return plan


def test_least_effort_of_a_block_is_the_cubic():
    """By hand: x = d (3 s² - 2 s³), s = t/T, so that ∫ f² dt = 12 m² d² / T³."""
    motion = pushed().solve()
    s = motion.times / 2.0
    assert motion.status == "Solve_Succeeded" and motion.violation < 1e-9
    assert motion["x"] == pytest.approx(3 * (3 * s**2 - 2 * s**3), abs=1e-9)
    assert motion["tau_x"] == pytest.approx(2 * 3 * (6 - 12 * s) / 4, abs=1e-8)
    assert motion.cost == pytest.approx(12 * 4 * 9 / 8, rel=1e-9)


@pytest.mark.parametrize(("method", "order"), [("trapezoidal", 2), ("hermite-simpson", 4), ("multiple shooting", 4)])
def test_errors_have_the_order_of_the_method(method, order):
    """x'' = -x: how well the grid follows cos t."""
    text = BLOCK.replace("along [1, 0, 0] end", "along [1, 0, 0] stiffness = 2 N/m, rest = 0 m end")
    errors = []
    for count in (10, 20):
        plan = ts.OptimalMotion(ts.parse(text), 2.0, intervals=count, method=method)
        plan.start({"x": 1})
        plan.require(plan.tau == 0)
        motion = plan.solve()
        errors.append(np.abs(motion["x"] - np.cos(motion.times)).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


def test_least_time_of_a_block_is_bang_bang():
    """T = 2 sqrt(m d / f); the force changes its sign in the middle, within a grid step."""
    plan = pushed("trapezoidal", 41, (0.1, 10.0))
    plan.bound("tau_x", -5, 5)
    plan.minimise(plan.time)
    motion = plan.solve(tol=1e-9)
    assert motion.times[-1] == pytest.approx(2 * np.sqrt(2 * 3 / 5), rel=2e-3)
    assert motion["tau_x"][:20] == pytest.approx(5, abs=1e-3) and motion["tau_x"][-20:] == pytest.approx(-5, abs=1e-3)


def test_a_cart_pole_swings_up_and_so_it_moves():
    """Its forces, linear between grid points, bring a simulated cart-pole to the same states."""
    from scipy.integrate import solve_ivp

    plan = ts.OptimalMotion(ts.parse(CART_POLE), 2.0, intervals=80)
    plan.start({"x": 0, "theta": 0})
    plan.end({"x": 1, "theta": np.pi})
    plan.bound("tau_x", -20, 20)
    motion = plan.solve()
    assert motion.status == "Solve_Succeeded" and np.abs(motion["tau_x"]).max() <= 20 + 1e-6

    def rates(t, y):
        """By hand: (M + m) x'' + m l (θ'' cos θ - θ'² sin θ) = u, x'' cos θ + l θ'' + g sin θ = 0."""
        u, c, s = np.interp(t, motion.times, motion["tau_x"]), np.cos(y[1]), np.sin(y[1])
        a = np.linalg.solve([[1.3, 0.15 * c], [c, 0.5]], [u + 0.15 * y[3] ** 2 * s, -9.81 * s])
        return [y[2], y[3], *a]

    begin = [*motion.q[0], *motion.v[0]]
    end = solve_ivp(rates, (0, 2), begin, rtol=1e-10, atol=1e-10, max_step=0.025).y[:, -1]
    assert end == pytest.approx([1, np.pi, 0, 0], abs=2e-3)


def test_conditions_of_ones_own_and_costs():
    plan = pushed()
    plan.require(plan.q[0, 20] == 2.5, plan.v[0, :] >= -0.1)
    plan.minimise(lambda q, v, tau: tau**2 + 0 * v)
    motion = plan.solve()
    assert motion["x"][20] == pytest.approx(2.5, abs=1e-8) and motion["x'"].min() >= -0.1 - 1e-8
    place = plan.function("frame:block")([0.7])[0]
    assert np.array(place).ravel() == pytest.approx([0.7, 0, 0])


def test_what_cannot_be_reached_is_said():
    plan = pushed(duration=0.5)
    plan.bound("tau_x", -1, 1)
    motion = plan.solve(max_iter=200)
    assert motion.status != "Solve_Succeeded" and motion.violation > 1e-3


def test_mistakes_are_named():
    with pytest.raises(TorseurError, match="Did you mean 'trapezoidal'"):
        pushed("trapezoid")
    with pytest.raises(TorseurError, match="unknown speed 'y'"):
        ts.OptimalMotion(ts.parse(BLOCK), 1.0, motors=["y"])
    with pytest.raises(TorseurError, match="quantity of the plan 'tau_y'"):
        pushed().bound("tau_y", 0, 1)
    with pytest.raises(TorseurError, match="2 is above 1"):
        pushed().bound("x", 2, 1)
    with pytest.raises(TorseurError, match="duration"):
        ts.OptimalMotion(ts.parse(BLOCK), (2.0, 1.0))
    with pytest.raises(TorseurError, match="intervals = 0"):
        pushed(intervals=0)
    with pytest.raises(UnsupportedError, match="loops or constraints"):
        ts.OptimalMotion(ts.load("library:four_bar"), 1.0)
