"""Loads that switch: closed forms of motions, and differences of motions."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp

import torseur as ts
from torseur.analysis.sensitivity.events.switches import switches_of
from torseur.analysis.sensitivity.model.motion_derivatives import MotionDerivatives
from torseur.analysis.sensitivity.model.preparation import prepare
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.computation.simulation.events.time_switches import conditions_of
from torseur.errors import UnsupportedError

PUSHED = """mechanism pushed ; param m = 2 kg, F = 3 N, T = 0.4 s, L = 0.5 m, v = 1 m/s ;
let block = body mass = m, centre = [0, 0, 0], inertia = 0 end ;
join earth and block.frame as rail with prismatic(x) force = {} end ;
init x = 0 m, x' = v ;"""
METHODS = ["direct", "adjoint"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("law", ["where(t < T, F, 0)", "where(t > T, 0, F)", "F * (1 - sign(t - T)) / 2"])
def test_a_push_that_ends(law, method):
    """Oracle: x = v t + F/m (T t - T²/2) after the push."""
    found = ts.sensitivity(
        ts.parse(PUSHED.format(law)), "x", "m,F,T,v", until=1, method=method, rtol=1e-11, second_order=True
    )["x"]
    m, F, T, t = 2.0, 3.0, 0.4, 1.0
    way = T * t - T * T / 2
    assert found.value == pytest.approx(t + F / m * way, rel=1e-9)
    assert found.gradient == pytest.approx([-F / m**2 * way, way / m, F / m * (t - T), t], rel=1e-8)
    assert found.hessian[2, 2] == pytest.approx(-F / m, rel=1e-7)
    assert found.hessian[1, 2] == pytest.approx((t - T) / m, rel=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_a_push_on_a_part_of_the_way(method):
    """Oracle: x'² = v² + 2 F L / m beyond L, reached after s = (x' - v) m / F."""
    found = ts.sensitivity(
        ts.parse(PUSHED.format("where(x < L, F, 0)")), ["x", "x'"], "m,F,L,v", until=1, method=method, rtol=1e-11
    )

    def place(m, F, L, v):
        speed = np.sqrt(v * v + 2 * F * L / m)
        return L + speed * (1 - (speed - v) * m / F)

    point, steps = np.array([2.0, 3.0, 0.5, 1.0]), 1e-6 * np.eye(4)
    derivatives = [(place(*(point + s)) - place(*(point - s))) / 2e-6 for s in steps]
    assert found["x"].gradient == pytest.approx(derivatives, rel=1e-7)
    speed = np.sqrt(1 + 2 * 3 * 0.5 / 2)
    assert found["x'"].gradient[2] == pytest.approx(3 / 2 / speed, rel=1e-8)


def test_a_condition_and_its_contrary_are_one_switch():
    x, y = ts.symbol("x"), ts.symbol("y")
    found = conditions_of([ts.where(x < y, 1, 2) + ts.where(y < x, 3, x), ts.where(x <= y, x, 0) * y])
    ((below, above),) = found.values()
    assert len(below) == 3 and all(below[node] != above[node] for node in below)


def test_conditions_on_constants_are_no_switches():
    model = ts.parse(PUSHED.format("where(F < 5 N, F, 0) + where(t < T, F, 0)"))
    system = prepare(model, ["F"], {}, {}, {}, 0.0).system
    derivatives = MotionDerivatives(Variation(system, (), np.zeros((2, 0))))
    assert len(switches_of(derivatives)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_closed_loops_with_a_switch(method):
    """Oracle: differences of motions. A crane whose rope is wound up is pushed for a while."""
    crane = ts.parse("""mechanism crane ; param g = 9.81 m/s^2, M = 5 kg, m = 2 kg, F = 3 N, T = 0.7 s, v0 = 0.2 m/s ;
gravity = [0, 0, -g] ;
let trolley = body mass = M, centre = 0, inertia = 0 end ;
let rope = body mass = 0, centre = 0, inertia = 0 end ;
let load = body mass = m, centre = 0, inertia = 0 end ;
join earth and trolley.frame as rail with prismatic(x) along [1,0,0] force = where(t < T, F, 0) end ;
join trolley.frame and rope.frame as sheave with revolute(theta) about [0,1,0] end ;
join rope.frame and load.frame as winch with prismatic(s) along [0,0,-1] end ;
constrain s = 2 m - v0*t as hoist ;""")
    found = ts.sensitivity(crane, "theta", "m,F,T,v0", until=1.5, method=method, rtol=1e-11, verify=True)
    assert abs(found["theta"].gradient[2]) > 0.01
    assert all(agreement.is_good for agreement in found.agreement)


def test_friction_that_sticks_is_refused():
    stuck = PUSHED.format("-F * sign(x')")
    with pytest.raises(UnsupportedError, match=r"switch where x' = 0: at t = 0\.66\d* s the motion comes to rest"):
        ts.sensitivity(ts.parse(stuck), "x", "F", until=1)


def test_adjoint_over_time_refuses_switches():
    with pytest.raises(UnsupportedError, match="loads that switch"):
        ts.sensitivity(ts.parse(PUSHED.format("where(t < T, F, 0)")), "x", "T", until=1, method="continuous_adjoint")


STEPPED = """mechanism stepped ; param m = 2 kg, F = 3 N, L = 0.37 m, k = 2 N, T = 0.13 s ;
let b = body mass = m, centre = 0, inertia = 0 end ;
join earth and b.frame as rail with prismatic(x) force = {} end ; init x' = 1 m/s ;
"""


@pytest.mark.parametrize("method", ["direct", "adjoint"])
@pytest.mark.parametrize("law", ["floor(x/L)", "sign(floor(x/L))"])
def test_steps_of_the_state_are_followed(law, method):
    """Oracle: parabolas between the lines x = n L, by hand with 30 digits, and their differences."""
    point = [mp.mpf(value) for value in ("2", "3", "0.37", "2")]

    def end(m, F, L, k):
        x, v, left, n = mp.mpf(0), mp.mpf(1), mp.mpf(1), 0
        while True:
            a = (F - k * (n if law.startswith("floor") else mp.sign(n))) / m
            h = 2 * L / (v + mp.sqrt(v**2 + 2 * a * L))  # v > 0 in this motion
            if h > left:
                return x + v * left + a * left**2 / 2
            x, v, left, n = x + L, v + a * h, left - h, n + 1

    with mp.workdps(30):
        exact = [
            mp.diff(lambda z, j=j: end(*[z if i == j else p for i, p in enumerate(point)]), point[j]) for j in range(4)
        ]
    mechanism = ts.parse(STEPPED.format(f"F - k*{law}"))
    found = ts.sensitivity(mechanism, "x", "m,F,L,k", until=1, method=method, rtol=1e-10)
    assert found.trusted and np.allclose(found["x"].gradient, [float(d) for d in exact], rtol=1e-7)


@pytest.mark.parametrize("law", ["where(t/T - floor(t/T) < 0.4, F, 0 N)", "-F*floor(t/T)", "F*(t/T - floor(t/T))"])
def test_pulses_and_saws_of_time_are_followed(law):
    """Oracle: x(1) = v + ∫ (1 - t) f/m dt in closed form between the steps, n T and (n + 0.4) T."""

    def end(T):
        total = mp.mpf(0)
        for n in range(8):
            a, b = n * T, min((n + 1) * T, mp.mpf(1))
            if law.startswith("where"):
                b = min(a + 4 * T / 10, mp.mpf(1))
                total += 3 * (b - a - (b**2 - a**2) / 2)
            elif law.startswith("-F"):
                total -= 3 * n * (b - a - (b**2 - a**2) / 2)
            else:
                total += mp.quad(lambda t, n=n: 3 * (t / T - n) * (1 - t), [a, b])
        return 1 + total / 2

    with mp.workdps(30):
        exact = float(mp.diff(end, mp.mpf("0.13")))
    found = ts.sensitivity(ts.parse(STEPPED.format(law)), "x", "T", until=1, rtol=1e-10)
    assert found.trusted and found["x"].gradient[0] == pytest.approx(exact, rel=1e-7)
