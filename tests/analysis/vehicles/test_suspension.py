"""Curves of a double wishbone against its closed-form kinematics, and of simpler suspensions against a formula."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur import vehicles

CORNER = """
mechanism corner ;
param shift = 0 m ;
let body = body mass = 1 kg, centre = 0, inertia = 0 end ;
let rack = body mass = 1 kg, centre = 0, inertia = 0 end ;
join earth and body with fixed end ;
join body and rack with link() dof = shift along [0, 1, 0] end ;
use double_wishbone as fl from "library:parts/suspension" attach chassis to [0, 0.74, 0.3] m @ body, rack to [0, 0.74, 0.3] m @ rack ;
"""
# The hardpoints of the library's part, from the wheel's centre.
POINTS = {
    "lower_front": (0.16, -0.42, -0.105), "lower_rear": (-0.16, -0.42, -0.105), "lower_outer": (0.005, -0.06, -0.12),
    "upper_front": (0.11, -0.36, 0.125), "upper_rear": (-0.13, -0.36, 0.115), "upper_outer": (-0.01, -0.09, 0.15),
    "rod_inner": (-0.13, -0.393, -0.041), "rod_outer": (-0.13, -0.08, -0.04),
    "strut_top": (0, -0.33, 0.35), "strut_foot": (0, -0.18, -0.115),
}  # fmt: skip
P = {name: np.array(point) for name, point in POINTS.items()}


def turned(point, first, second, angle):
    """A point turned about the line through two others (Rodrigues)."""
    axis = (second - first) / np.linalg.norm(second - first)
    r = point - first
    c, s = np.cos(angle), np.sin(angle)
    return first + c * r + s * np.cross(axis, r) + (1 - c) * (axis @ r) * axis


def nearest_of(points, where):
    return min(points, key=lambda p: np.linalg.norm(p - where))


def upper_outer(lower):
    """Where the circle of the upper ball joint meets the sphere about the lower one: A cos φ + B sin φ = C."""
    first, second = P["upper_rear"], P["upper_front"]
    axis = (second - first) / np.linalg.norm(second - first)
    r = P["upper_outer"] - first
    middle, u = first + (axis @ r) * axis, r - (axis @ r) * axis
    v = np.cross(axis, u)
    reach = np.linalg.norm(P["upper_outer"] - P["lower_outer"])
    d = middle - lower
    a, b, c = 2 * d @ u, 2 * d @ v, reach**2 - d @ d - u @ u
    base, spread = np.arctan2(b, a), np.arccos(c / np.hypot(a, b))
    return nearest_of(
        [middle + np.cos(f) * u + np.sin(f) * v for f in (base - spread, base + spread)], P["upper_outer"]
    )


def rod_outer(lower, upper):
    """Where three spheres meet: about both ball joints and the inner end of the tie rod."""
    inner = P["rod_inner"]
    radii = [np.linalg.norm(P["rod_outer"] - P[n]) for n in ("lower_outer", "upper_outer", "rod_inner")]
    ex = (upper - lower) / np.linalg.norm(upper - lower)
    i = ex @ (inner - lower)
    ey = inner - lower - i * ex
    ey /= np.linalg.norm(ey)
    d, j = np.linalg.norm(upper - lower), ey @ (inner - lower)
    x = (radii[0] ** 2 - radii[1] ** 2 + d**2) / (2 * d)
    y = (radii[0] ** 2 - radii[2] ** 2 + i**2 + j**2) / (2 * j) - i / j * x
    z = np.sqrt(radii[0] ** 2 - x**2 - y**2)
    return nearest_of([lower + x * ex + y * ey + s * z * np.cross(ex, ey) for s in (1, -1)], P["rod_outer"])


def closed_form(angle):
    """Wheel's centre and axle, both ball joints, the strut's length, for an angle of the lower wishbone."""
    lower = turned(P["lower_outer"], P["lower_rear"], P["lower_front"], angle)
    upper = upper_outer(lower)
    outer = rod_outer(lower, upper)

    def frame(a, b, c):
        x = (b - a) / np.linalg.norm(b - a)
        z = np.cross(x, c - a)
        z /= np.linalg.norm(z)
        return np.array([x, np.cross(z, x), z]).T

    rest = frame(P["lower_outer"], P["upper_outer"], P["rod_outer"])
    rotation = frame(lower, upper, outer) @ rest.T
    centre = lower - rotation @ P["lower_outer"]
    foot = turned(P["strut_foot"], P["lower_rear"], P["lower_front"], angle)
    return centre, rotation @ np.array([0, 1, 0]), lower, upper, np.linalg.norm(foot - P["strut_top"])


@pytest.fixture(scope="module")
def corner():
    kingpin = ("fl.kingpin_low", "fl.kingpin_top")
    return vehicles.Suspension(ts.parse(CORNER), "fl.hub", "body", radius=0.3, kingpin=kingpin)


@pytest.mark.slow
def test_double_wishbone_against_its_closed_form(corner):
    """Oracle: circles and spheres that meet, solved in closed form; rates by differences of it."""
    angles, h = np.array([-0.18, -0.07, 0.05, 0.2]), 1e-5
    places = [closed_form(a) for a in angles]
    curves = vehicles.suspension_curves(corner, [place[0][2] for place in places])
    for k, (angle, (centre, axle, lower, upper, _)) in enumerate(zip(angles, places, strict=True)):
        assert curves["camber"][k] == pytest.approx(-np.arcsin(axle[2]), abs=1e-10)
        assert curves["toe"][k] == pytest.approx(np.arctan2(axle[0], axle[1]), abs=1e-10)
        assert curves["wheelbase change"][k] == pytest.approx(centre[0], abs=1e-10)
        along = upper - lower
        assert curves["caster"][k] == pytest.approx(np.arctan2(-along[0], along[2]), abs=1e-10)
        assert curves["kingpin inclination"][k] == pytest.approx(np.arctan2(-along[1], along[2]), abs=1e-10)
        up = np.array([0, 0, 1]) - axle[2] * axle
        contact = centre - 0.3 * up / np.linalg.norm(up)
        assert curves["half track"][k] == pytest.approx(0.74 + contact[1], abs=1e-10)
        ground = lower + along * (contact[2] - lower[2]) / along[2]
        assert curves["scrub radius"][k] == pytest.approx(contact[1] - ground[1], abs=1e-9)
        assert curves["caster trail"][k] == pytest.approx(ground[0] - contact[0], abs=1e-9)
        low, high = closed_form(angle - h), closed_form(angle + h)
        ratio = -(high[4] - low[4]) / (high[0][2] - low[0][2])
        assert curves["motion ratio of fl.strut"][k] == pytest.approx(ratio, rel=1e-7)
        load = (5e3 - 30e3 * (places[k][4] - np.linalg.norm(P["strut_foot"] - P["strut_top"]))) * ratio
        assert curves["wheel load"][k] == pytest.approx(load, rel=1e-7)


def test_trailing_arm_has_its_support_angle_and_roll_centre():
    """Oracle: the contact of an arm of length l about a lateral axis at height h moves along (h, l): tan θ = -h/l."""
    text = """
    let car = body mass = 1 kg, centre = 0, inertia = 0 end ;
    let arm = body mass = 5 kg, centre = 0, inertia = 0 end ;
    join earth and car with fixed end ;
    join [0.4, 0.7, 0.38] m @ car and [0.4, 0, 0.08] m @ arm as pivot with revolute(q) about [0, 1, 0] stiffness = 3 kN*m end ;
    """
    found = vehicles.suspension_curves(
        vehicles.Suspension(ts.parse(text), "arm", "car", radius=0.3), [-1e-9, 0.0, 1e-9]
    )
    assert found["support angle, braking"][1] == pytest.approx(-np.arctan2(0.38, 0.4), abs=1e-9)
    assert found["roll centre height"][1] == pytest.approx(0.0, abs=1e-9)
    assert found["camber"][1] == pytest.approx(0.0, abs=1e-12)
    assert found["wheel rate"][1] == pytest.approx(3e3 / 0.4**2, rel=1e-4)


@pytest.mark.slow
def test_the_right_wheel_has_the_curves_of_the_left(corner):
    """Oracle: symmetry."""
    text = (
        CORNER.replace("use double", "use double").rstrip()
        + "\nuse double_wishbone as fr mirrored fl across [0, 1, 0] ;"
    )
    right = vehicles.Suspension(ts.parse(text), "fr.hub", "body", kingpin=("fr.kingpin_low", "fr.kingpin_top"))
    here = vehicles.suspension_curves(corner, [-0.04, 0.0, 0.05])
    there = vehicles.suspension_curves(right, [-0.04, 0.0, 0.05])
    for name, values in here.values.items():
        np.testing.assert_allclose(there[name], values, rtol=1e-6, atol=1e-8)


@pytest.mark.slow
def test_hardpoints_are_found_again(corner):
    """Oracle: curves of known hardpoints, from which the search starts away."""
    travel = np.linspace(-0.05, 0.05, 5)
    wanted = vehicles.suspension_curves(corner, travel)["toe"]
    moved = corner.with_values({"fl.rod_inner_z": -0.03})
    best = vehicles.optimise_suspension(
        moved, {"fl.rod_inner_z": (-0.06, -0.02)}, {"toe": lambda z: np.interp(z, travel, wanted)}, travel
    )
    assert best.values["fl.rod_inner_z"] == pytest.approx(-0.041, abs=1e-6)
    assert best.error_after < 1e-3 * best.error_before and not best.at_bounds


def test_steering_axis_from_steering_itself():
    """Oracle: with the wheel's centre on both wishbones' plane kept, the screw of steering is near the ball joints' line."""
    steered = vehicles.Suspension(ts.parse(CORNER), "fl.hub", "body", steering="shift")
    found = vehicles.suspension_curves(steered, [0.0])
    assert found["kingpin inclination"][0] == pytest.approx(np.arctan2(0.03, 0.27), abs=2e-3)
    over = vehicles.steering_curves(steered, [-0.01, 0.0, 0.01])
    assert over["toe"][0] < 0 < over["toe"][2]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"wheel": "fl.hubb"}, "Did you mean 'fl.hub'"),
        ({"steering": "shfit"}, "shift"),
        ({"wheel": "body"}, "cannot rise"),
    ],
)
def test_faults(given, words):
    asked = {"wheel": "fl.hub", "body": "body", **given}
    with pytest.raises(ts.TorseurError, match=words):
        vehicles.suspension_curves(vehicles.Suspension(ts.parse(CORNER), **asked), [0.0, 0.01])


def test_travel_that_is_too_long(corner):
    with pytest.raises(ts.TorseurError, match="does not reach"):
        vehicles.suspension_curves(corner, [0.0, 0.6])
