"""Parts for motors, muscles, cylinders, controllers and filters, against closed forms."""

from __future__ import annotations

import math

import pytest

import torseur as ts

BENCH = """mechanism bench ;
let rotor = body mass = 1 kg, centre = 0, inertia = diag(0.02, 0.02, 0.02) end ;
join earth and rotor.frame as axle with revolute(q) about [0,0,1] torque = drive.torque - 0.1 N*m*s/rad*q' end ;
use dc_motor as drive(voltage = 12 V, rate = q', R = 2 ohm, L = 5 mH, k = 0.1 N*m/A, n = 3, eta = 0.8) from "library:parts/actuators" ;
use rotor as armature(angle = q, n = 3, J = 1e-3 kg*m^2) from "library:parts/actuators" attach stator to earth ;
let block = body mass = 1e9 kg, centre = 0, inertia = 0 end ;
join earth and block.frame as rail with prismatic(x) along [1,0,0] end ;
use hill_muscle as muscle(excitation = 1, F = 800 N, fibre = 0.1 m, tendon = 0.2 m) from "library:parts/actuators"
    attach origin to earth, insertion to [0.3, 0, 0] m @ block ;
let piston = body mass = 200 kg, centre = 0, inertia = 0 end ;
join earth and piston.frame as bore with prismatic(s) along [0,1,0] force = ram.force - 1e4 N*s/m*s' end ;
use hydraulic_cylinder as ram(travel = s, rate = s', inflow = 1e-4 m^3/s, outflow = 0.75e-4 m^3/s) from "library:parts/actuators" ;
use pid as loop(error = 1 - plant.output, P = 2, I = 8 1/s) from "library:parts/controllers" ;
use first_order_filter as plant(signal = loop.output, T = 0.5 s) from "library:parts/controllers" ;
use second_order_filter as ring(signal = sin(5 rad/s*t), omega = 5 rad/s, zeta = 0.5) from "library:parts/controllers" ;
use delay as late(signal = sin(5 rad/s*t), T = 0.2 s) from "library:parts/controllers" ;
"""


def test_parts_do_what_closed_forms_say():
    wanted = ["plant.output", "ring.output", "late.output", "drive.current", "x''"]
    motion = ts.simulate(ts.parse(BENCH), until=6, samples=61, outputs=wanted)
    # Steady: eta n k i = c q' with R i = U - n k q'.
    pull = 0.8 * 0.3
    current = 12 / (2 + pull * 0.3 / 0.1)
    assert motion["drive.current"][-1] == pytest.approx(current, rel=1e-6)
    assert motion["q'"][-1] == pytest.approx(pull * current / 0.1, rel=1e-6)
    # The optimal length, no speed, all active: the greatest isometric force, as the curves are normalised.
    assert motion["x''"][-1] == pytest.approx(-800 / 1e9, rel=1e-3)
    assert motion["s'"][-1] == pytest.approx(1e-4 / 20e-4, rel=1e-6)  # incompressible in the end: flow over area
    # Closed loop T s² + (1 + P) s + I with T = 0.5: s = -3 ± i√7, from rest to 1 with the zero of the PI controller.
    t, w = 0.5, math.sqrt(7)
    rising = 1 - math.exp(-3 * t) * (math.cos(w * t) + (3 - 4) / w * math.sin(w * t))
    assert motion["plant.output"][5] == pytest.approx(rising, abs=1e-6)
    # In resonance -i/(2 zeta) of the signal; the delay is right to 1e-6 of it at 1 rad.
    assert motion["ring.output"][-1] == pytest.approx(-math.cos(30), abs=1e-5)
    assert motion["late.output"][-1] == pytest.approx(math.sin(5 * (6 - 0.2)), abs=3e-5)
