"""Dry friction that sticks and slides: closed forms of stopping, stick-slip and breaking away."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import torseur as ts
from torseur.errors import SimulationError, TorseurError, UnsupportedError

CART = """
mechanism cart ;
let cart = body mass = 2 kg, centre = 0, inertia = 0 end ;
join earth and cart.frame as rail with prismatic(x) along [1,0,0] {options} end ;
init x' = 1.5 m/s ;
{more}
"""


def cart(options: str, more: str = "") -> ts.Mechanism:
    return ts.parse(CART.format(options=options, more=more))


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"method": "radau9"}, {"formulation": "projector"}])
def test_a_cart_stops_and_stays(settings):
    """Oracle: v/(F/m) = 1 s, v²/(2 F/m) = 0.75 m; what sticks takes as much force as acts, here none."""
    motion = ts.simulate(
        cart("friction = 3 N sticking"), until=2, samples=5, outputs=["rail.friction.multiplier"], **settings
    )
    assert [event.name for event in motion.events] == ["rail.friction sticks"]
    assert motion.events[0].time == pytest.approx(1.0, abs=1e-9)
    assert motion["x"][-1] == pytest.approx(0.75, abs=1e-9) and motion["x'"][-1] == 0.0
    assert motion["rail.friction.multiplier"] == pytest.approx([3, 3, 3, 0, 0], abs=1e-12)


def belt(static: float, kinetic: float, stiffness: float, speed: float) -> ts.Mechanism:
    block = ts.body("block", mass=2, centre=(0, 0, 0), inertia=0)
    rail = ts.prismatic("rail", ts.EARTH, block, "x", axis=(1, 0, 0))
    q = rail.coordinates[0]
    rubbing = replace(ts.joint_friction(rail, kinetic, breakaway=static), name="belt", slip=(q.rate - speed,))
    spring = ts.motor("spring", "rail", "x", -stiffness * q.symbol)
    start = {"x": 0.0, "x'": speed}
    return ts.Mechanism("belt", bodies=[block], joints=[rail], loads=[spring], contacts=[rubbing], initial=start)


@pytest.mark.slow
def test_the_period_of_stick_slip():
    """Oracle: a block on a belt, held by a spring: it sticks for 2 dF/(k v) and slides for 2/w (pi - atan(dF w/(k v))).

    Published for instance in Leine and van Campen, Bifurcations in Nonlinear Discontinuous Systems, as the cycle of an
    undamped oscillator with a static force above the kinetic one.
    """
    k, speed, drop = 100.0, 0.3, 3.0
    motion = ts.simulate(belt(8, 5, k, speed), until=10, samples=11)
    slips = [event.time for event in motion.events if event.name == "belt slides"]
    w = math.sqrt(k / 2)
    period = 2 / w * (math.pi - math.atan(drop * w / k / speed)) + 2 * drop / k / speed
    assert slips[0] == pytest.approx(8 / k / speed, abs=1e-9)
    assert np.diff(slips) == pytest.approx(period, abs=1e-9) and len(slips) > 9


@pytest.mark.slow
def test_several_at_once_lose_energy_until_all_stick():
    """Oracle: friction takes energy, and at rest the spring is held by less than each limit."""
    text = """mechanism two ;
    let a = body mass = 1 kg, centre = 0, inertia = 0 end ;
    let b = body mass = 2 kg, centre = 0, inertia = 0 end ;
    join earth and a.frame as ra with prismatic(x) along [1,0,0] friction = 1 N sticking, breakaway = 1.5 N end ;
    join earth and b.frame as rb with prismatic(y) along [1,0,0] friction = 2 N end ;
    apply spring stiffness = 50 N/m, rest = 0 m on x ;
    apply spring stiffness = 20 N/m between a.frame and b.frame ;
    init x' = 2 m/s, y = 0.5 m, x = 0.1 m ;"""
    outputs = ["energy", "ra.friction.multiplier", "rb.friction.multiplier"]
    motion = ts.simulate(ts.parse(text), until=10, samples=2001, outputs=outputs)
    assert np.diff(motion["energy"]).max() < 1e-10
    assert motion["x'"][-1] == 0.0 == motion["y'"][-1]
    assert abs(motion["ra.friction.multiplier"][-1]) <= 1.5 and abs(motion["rb.friction.multiplier"][-1]) <= 2
    pull = 20 * (motion["y"][-1] - motion["x"][-1])
    assert motion["rb.friction.multiplier"][-1] == pytest.approx(-pull, abs=1e-9)


@pytest.mark.slow
def test_a_load_that_grows_breaks_away_at_the_static_force():
    """Oracle: t = F_s / rate; then (F_s - F_k)/m t + rate t²/(2 m) of speed."""
    more = "apply force 2 N/s * t on x ;"
    motion = ts.simulate(cart("friction = 3 N, breakaway = 4 N", more), until=3, samples=4, initial={"x'": 0.0})
    assert [(e.name, pytest.approx(e.time, abs=1e-8)) for e in motion.events] == [("rail.friction slides", 2.0)]
    assert motion["x'"][-1] == pytest.approx((4 - 3) / 2 * 1 + 2 / 4, abs=1e-8)


@pytest.mark.slow
def test_friction_on_a_constraint_takes_its_normal_force():
    """Oracle: a bead that climbs a line is slowed down by g sin and by its friction."""
    text = """mechanism bead ; gravity = [0, -9.81 m/s^2, 0] ;
    let bead = body mass = 0.7 kg, centre = 0, inertia = 0 end ;
    join earth and bead.frame as flight with link(x, y) dof = [x, y, 0] end ;
    constrain 0 = y - 0.5*x as slope ;
    apply friction coefficient = 0.8, static = 0.9 against (x' + 0.5*y') / sqrt(1.25) on slope as rub ;
    init x' = 1 m/s ;"""
    motion = ts.simulate(ts.parse(text), until=1, samples=11)
    scale = math.sqrt(1.25)
    slope = math.atan(0.5)
    # The multiplier of y - x/2 is N / sqrt(1.25): the coefficient is for what the equation itself presses with.
    brake = 9.81 * math.sin(slope) + 0.8 / scale * 9.81 * math.cos(slope)
    assert motion.events[0].time == pytest.approx(scale / brake, abs=1e-8)
    assert motion.events[0].name == "rub sticks"


@pytest.mark.slow
def test_a_stribeck_curve_is_followed():
    """Oracle: the energy balance of a quadrature along the curve, m v dv/dx = -F(v)."""
    motion = ts.simulate(cart("friction = 3 N, breakaway = 5 N, stribeck = 0.4 m/s"), until=2, samples=3, rtol=1e-11)
    v = np.linspace(0, 1.5, 20001)
    force = 3 + 2 * np.exp(-((v / 0.4) ** 2))
    weights = np.ones_like(v)
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    distance = (weights * 2 * v / force).sum() * (v[1] - v[0]) / 3
    assert motion["x"][-1] == pytest.approx(distance, abs=1e-9)


def test_smooth_friction_is_a_load_and_creeps():
    smooth = cart("friction = 3 N, smooth = 1 mm/s")
    assert not smooth.contacts and smooth.loads[0].name == "rail.friction"
    assert ts.simulate(smooth, until=2, samples=2, method="radau9")["x"][-1] == pytest.approx(0.75, abs=1e-2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("friction = 3 N, smooth = 1 mm/s sticking", "not both"),
        ("friction = -3 N", "zero or more"),
        ("friction = 3 N*m", "force"),
        ("breakaway = 3 N", "no friction"),
        (", sticking", "no friction that could stick"),
        ("friction = 3 N, stribeck = 1 m/s", "breakaway"),
    ],
)
def test_friction_that_contradicts_itself_is_named(options, words):
    with pytest.raises(TorseurError, match=words):
        cart(options)


def test_what_does_not_cover_friction_says_so():
    rubbing = cart("friction = 3 N sticking")
    with pytest.raises(UnsupportedError, match="partitioned"):
        ts.simulate(rubbing, until=1, formulation="partitioned")
    with pytest.raises(UnsupportedError, match="linearisation"):
        ts.linearise(rubbing)
    with pytest.raises(TorseurError, match="no bound or constraint 'floor'"):
        cart("", "apply friction coefficient = 0.3 against x' on floor ;")
    assert ts.parse(ts.to_text(rubbing)) == rubbing


@pytest.mark.slow
def test_painleves_rod_is_said():
    """Oracle: the gap of a rod's tip opens by 1/m + r·r terms per unit of force, which vanishes at mu = 1.347."""
    rod = ts.body("rod", mass=1, centre=(0, 0, 0), inertia=ts.inertia(1, 1, 1 / 12))
    joint = ts.planar("flight", ts.EARTH, rod, "x", "y", "th")
    x, y, th = joint.coordinates
    tip = ts.bound("tip", y.symbol - ts.sin(th.symbol) / 2)
    slip = x.rate + ts.sin(th.symbol) / 2 * th.rate
    angle = math.radians(60)

    def slid(mu: float, speed: float) -> ts.Trajectory:
        rub = ts.DryFriction("rub", (slip,), 0 * x.symbol, mu + 0 * x.symbol, on="tip")
        start = {"y": math.sin(angle) / 2, "th": angle, "x'": speed}
        model = ts.Mechanism(
            "rod", bodies=[rod], joints=[joint], gravity=(0, -9.81, 0), contacts=[tip, rub], initial=start
        )
        return ts.simulate(model, until=0.2, samples=11)

    # 1/m + (l/2)² cos² / I - mu (l/2)² sin cos / I = 1 + 3 cos² - 3 mu sin cos
    critical = (1 + 3 * math.cos(angle) ** 2) / (3 * math.sin(angle) * math.cos(angle))
    slid(0.98 * critical, 2.0)
    slid(2 * critical, 2.0)
    slid(0.98 * critical, -2.0)
    with pytest.raises(SimulationError, match="Painlev"):
        slid(1.02 * critical, -2.0)
