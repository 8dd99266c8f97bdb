"""Parts of vehicles that no other test drives: closed forms of where they come to rest."""

from __future__ import annotations

import math

import pytest

import torseur as ts

STOP = """
gravity = [0, 0, -9.81] m/s^2 ;
let load = body mass = 100 kg, centre = 0, inertia = 0 end ;
join earth and load with prismatic(z) along [0, 0, 1] damping = 2 kN*s/m end ;
use bump_stop as stop(k = 20 kN/m, free = 0.42 m, stroke = 20 mm) from "library:parts/suspension" attach top to load, foot to earth ;
init z = 0.42 m ;
"""
COLUMN = """
let car = body mass = 1000 kg, centre = 0, inertia = diag(500, 500, 500) kg*m^2 end ;
join earth and car with fixed end ;
use column_steering as steering(demand = 30 deg, gain = 8 mm) from "library:parts/vehicles" attach chassis to car ;
"""
DRIVEN = """
param m = 1500 kg, J = 2500 kg*m^2, a = 1.1 m, b = 1.6 m, Cf = 80 kN, Cr = 90 kN, ratio = 16 ;
let body = body mass = m, centre = 0, inertia = diag(J, J, J) end ;
join earth and body with planar(x, y, psi) speeds vx = x'*cos(psi) + y'*sin(psi), vy = -x'*sin(psi) + y'*cos(psi), r = psi' end ;
use driver as driver(target = 3.5 m, speed = 20 m/s) from "library:parts/vehicles" attach chassis to body ;
apply force [0, -Cf*((vy + a*r)/vx - driver.angle/ratio), 0] in body on [a, 0, 0] @ body as front ;
apply force [0, -Cr*(vy - b*r)/vx, 0] in body on [-b, 0, 0] @ body as rear ;
init vx = 18 m/s ;
"""


def test_a_bump_stop_is_pressed_until_it_carries_the_load():
    """Oracle: k d² / (2 stroke) = m g."""
    motion = ts.simulate(ts.parse(STOP), 10.0)
    pressed = math.sqrt(2 * 100 * 9.81 * 0.02 / 20e3)
    assert motion["z"][-1] == pytest.approx(0.42 - pressed, abs=1e-9)


def test_a_column_turns_to_where_the_hands_hold_it():
    """Oracle: nothing resists, so that the wheel comes to the angle of the hands; the rack goes right by the gain."""
    motion = ts.simulate(ts.parse(COLUMN), 6.0, outputs=["steering.rack.position.y"])
    assert motion["steering.angle"][-1] == pytest.approx(math.radians(30), abs=1e-7)
    assert motion["steering.rack.position.y"][-1] == pytest.approx(-0.008 * math.radians(30), abs=1e-9)


def test_a_driver_comes_to_the_lane_and_to_the_speed():
    """Oracle: only on the lane, straight ahead and at the speed does the driver ask for nothing."""
    motion = ts.simulate(ts.parse(DRIVEN), 24.0)
    last = {name: motion[name][-1] for name in ("y", "psi", "vx", "driver.angle")}
    assert last == pytest.approx({"y": 3.5, "psi": 0.0, "vx": 20.0, "driver.angle": 0.0}, abs=1e-7)
