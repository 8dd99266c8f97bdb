"""Quantities by name and formula: energies and powers by owner add up, angles and distances have closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.description import library
from torseur.errors import TorseurError

ARM = """
gravity = [0, 0, -9.81] ;
let arm = body rod length = 1 m along [1,0,0] mass = 2 kg end ;
let hand = body box x = 0.1 m, y = 0.2 m, z = 0.3 m, mass = 1 kg at [0.02, 0, 0.01] m end ;
join earth and arm.frame as shoulder with revolute(q) about [0,1,0] torque = -3 N*m*s * q' end ;
join [1,0,0] @ arm and hand.frame as wrist with spherical(w0, w1, w2, w3) angles quaternion end ;
let tip = [0, 0, 0.2] @ hand ;
measure turned = angle(earth.x, arm.x about earth.y) ;
measure reach = distance(earth, tip) ;
measure lean = angle(line(earth, tip), earth.x) "of the tip" ;
apply spring stiffness = 20 N/m, rest = 0.5 m, damping = 1 N*s/m between [0,0,1] @ earth and tip as strut ;
apply force [-1 N*s/m * hand.velocity.x * hand.direction.zz, 0, 0] on hand.iframe as drag ;
init q = 20 deg, w0 = 1, q' = 1 ;
"""


@pytest.fixture(scope="module")
def motion():
    asked = [
        "turned", "reach", "lean", "kinetic_energy", "potential_energy", "power", "strut.length", "strut.tension", "strut.power", "drag.power",
        "shoulder.power", "wrist.power", "arm.kinetic_energy", "hand.kinetic_energy", "arm.potential_energy", "hand.potential_energy",
        "tip.position.x", "tip.position.y", "tip.position.z", "double = 2*distance(tip, earth)", "angle(hand.z, earth.z about arm.x)",
        "hand.direction.zz", "hand.direction.yz", *(f"hand.quaternion.{c}" for c in "wxyz"), "slip = hand.velocity.x", "hand.centre.velocity.x",
    ]  # fmt: skip
    return ts.simulate(ts.parse(ARM), 3.0, samples=61, outputs=asked, rtol=1e-10)


def test_energies_of_bodies_add_up_to_that_of_the_whole(motion):
    assert motion["arm.kinetic_energy"] + motion["hand.kinetic_energy"] == pytest.approx(motion["kinetic_energy"])
    elastic = 0.5 * 20 * (motion["strut.length"] - 0.5) ** 2
    weights = motion["arm.potential_energy"] + motion["hand.potential_energy"]
    assert weights + elastic == pytest.approx(motion["potential_energy"])


def test_powers_of_joints_and_loads_are_those_of_their_laws(motion):
    """A damper takes 3 q'^2; a ball joint takes nothing; a spring pulls with its tension."""
    assert motion["shoulder.power"] == pytest.approx(-3 * motion["q'"] ** 2, abs=1e-9)
    assert np.abs(motion["wrist.power"]).max() < 1e-9
    force = -motion["slip"] * motion["hand.direction.zz"]
    assert motion["drag.power"] == pytest.approx(force * motion["hand.centre.velocity.x"])
    rate = motion["strut.tension"] - 20 * (motion["strut.length"] - 0.5)
    assert motion["strut.power"] == pytest.approx(-motion["strut.tension"] * rate)
    assert motion["power"] == pytest.approx(motion["drag.power"] + motion["shoulder.power"] - rate**2)


def test_angles_and_distances_have_their_closed_forms(motion):
    x, y, z = (motion[f"tip.position.{c}"] for c in "xyz")
    assert motion["turned"] == pytest.approx((motion["q"] + np.pi) % (2 * np.pi) - np.pi)
    assert motion["reach"] == pytest.approx(np.sqrt(x**2 + y**2 + z**2))
    assert motion["double"] == pytest.approx(2 * motion["reach"])
    assert motion["lean"] == pytest.approx(np.arccos(x / motion["reach"]))
    assert {c.name: c.quantity.unit for c in motion.columns}["turned"] == "rad"


def test_quaternions_give_the_direction_cosines(motion):
    w, x, y, z = (motion[f"hand.quaternion.{c}"] for c in "wxyz")
    assert w**2 + x**2 + y**2 + z**2 == pytest.approx(np.ones_like(w))
    assert 1 - 2 * (x**2 + y**2) == pytest.approx(motion["hand.direction.zz"], abs=1e-12)
    assert 2 * (y * z - w * x) == pytest.approx(motion["hand.direction.yz"], abs=1e-12)


def test_a_half_turn_has_a_quaternion():
    """Half a turn about (3, 4, 0)/5: w = 0, where the axis cannot be read from differences of the matrix."""
    text = "let b = body mass = 1 kg, centre = 0, inertia = diag(1,1,1) end ; join earth and b.frame with link(a) dof = a || [3,4,0] end ;"
    motion = ts.simulate(
        ts.parse(text), 1e-3, samples=2, initial={"a": np.pi}, outputs=[f"b.quaternion.{c}" for c in "wxyz"]
    )
    assert motion.outputs[0] == pytest.approx([0, 0.6, 0.8, 0], abs=1e-12)


@pytest.mark.slow
def test_measures_are_kept_by_texts_and_mirrored_with_parts():
    """Equal coordinates of mirror images are symmetric motions, with the same camber."""
    mechanism = ts.parse(
        """
        part corner attach chassis
          let hub = body mass = 30 kg, centre = [0, 0.1, 0.05] m, inertia = diag(1, 2, 1) end ;
          join [0, 0.6, 0] @ chassis and hub.frame as pivot with revolute(q) about [1, 0, 0] end ;
          measure camber = angle(hub.z, chassis.z about chassis.x) ;
        end ;
        let car = body mass = 800 kg, centre = 0, inertia = diag(200, 900, 1000) kg*m^2 end ;
        join earth and car with free(x, y, z, roll, pitch, yaw) angles xyz end ;
        use corner as left attach chassis to car ;
        use corner as right mirrored left across [0, 1, 0] ;
        init left.q = 10 deg, right.q = 7 deg, roll = 5 deg, yaw = 30 deg ;
        """
    )
    assert ts.parse(ts.to_text(mechanism)) == mechanism
    assert ts.parse(ts.to_text(ts.parse(ARM))) == ts.parse(ARM)
    motion = ts.simulate(
        mechanism, 0.01, samples=2, outputs=["left.camber", "right.camber", "angle(right.hub.z, car.z about car.x)"]
    )
    first = dict(zip([c.name for c in motion.columns], motion.values[0], strict=True))
    assert np.degrees(first["left.camber"]) == pytest.approx(-10)
    assert np.degrees(first["right.camber"]) == pytest.approx(-7)
    assert np.degrees(first["angle(right.hub.z, car.z about car.x)"]) == pytest.approx(7)


@pytest.mark.slow
def test_criteria_differentiate_what_outputs_show():
    """The angle is the coordinate, and so is its derivative."""
    asked = ["turned", "angle(earth.x, arm.x about earth.y)", "q"]
    found = ts.sensitivity(ts.parse(ARM), asked, "q(0)", until=0.2, verify=False)
    turned, angle, coordinate = (float(np.asarray(found.derivative(name, "q(0)")).ravel()[-1]) for name in asked)
    assert (turned, angle) == pytest.approx((coordinate, coordinate))


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("angle(hand.z, foo.z)", "unknown body or frame 'foo'"),
        ("angle(hand.z, 3)", "an angle is between directions"),
        ("distance(hand)", "distance is written"),
        ("sin(q about arm.x)", "sin has no 'about'"),
        ("hand.direction.xw", "unknown quantity"),
    ],
)
def test_mistakes_in_formulas_are_named(formula, message):
    with pytest.raises(TorseurError, match=message):
        ts.simulate(ts.parse(ARM), 0.1, outputs=[formula])


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("measure a = angle(hand.z, arm) ;", "an angle is between directions"),
        ("measure a = distance(hand, nix) ;", "unknown body 'nix'"),
        ("measure a = a + 1 ;", "defined in terms of itself"),
        ("measure q = 2 ;", "'q' is defined twice"),
        ("measure a = reach + 2 kg ;", "cannot combine reach"),
    ],
)
def test_mistakes_in_measures_have_their_place(statement, message):
    with pytest.raises(TorseurError, match=message):
        ts.parse(ARM + statement)


def test_outputs_and_events_take_formulas_as_texts():
    """Oracle: an oscillator's x = x0 cos(ω t), from the start at rest."""
    spring = library.load("mass_spring_damper")
    given = {"c": 0.0, "k": 40.0, "m": 2.0}
    events = [ts.Event("middle", "x^3*2")]
    motion = ts.simulate(spring, 5, samples=6, parameters=given, outputs=[ts.Output("half", "x/2")], events=events)
    np.testing.assert_allclose(motion["half"], motion["x"] / 2, rtol=1e-14)
    assert [c.quantity.unit for c in motion.columns if c.name == "half"] == ["m"]
    assert motion.events[0].time == pytest.approx(np.pi / 2 / np.sqrt(20), rel=1e-8)
    with pytest.raises(TorseurError, match=r"'2\*y': unknown quantity 'y'"):
        ts.simulate(spring, 1, outputs=[ts.Output("half", "2*y")])
