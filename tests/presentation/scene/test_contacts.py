"""Shapes of contacts, their ground, and the points where they touch, against the descriptions and the motions."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts

FREE = "join earth and b.frame as flight with free(x, y, z, e0, e1, e2, e3) angles quaternion end ; gravity = [0, 0, -9.81 m/s^2] ;"
BODY = "let b = body mass = 1 kg, centre = 0, inertia = diag(0.02, 0.03, 0.04) kg*m^2 end ;"


def scene_of(text, until=0.1, samples=5):
    mechanism = ts.parse(text)
    return ts.view(mechanism, ts.simulate(mechanism, until, samples=samples)).scene


def shapes(scene, body):
    return next(one.shapes for one in scene.bodies if one.name == body)


@pytest.mark.parametrize(
    ("shape", "kind", "sizes"),
    [
        ("sphere radius 10 cm", "Sphere", {"radius": 0.1}),
        ("capsule radius 5 cm length 20 cm", "Capsule", {"radius": 0.05, "end": (0, 0, -0.1)}),
        ("box size [30, 20, 10] cm", "Box", {"size": (0.3, 0.2, 0.1)}),
        ("ellipsoid semiaxes [8, 6, 4] cm", "Ellipsoid", {"size": (0.08, 0.06, 0.04)}),
    ],
)
def test_a_body_looks_like_what_it_touches_with(shape, kind, sizes):
    """Not like the ellipsoid of its inertia, which would reach through its ground."""
    scene = scene_of(f"{BODY} {FREE} contact b.{shape} with earth normal [0,0,1] ; init z = 0.5 m ;")
    (drawn,) = shapes(scene, "b")
    assert type(drawn).__name__ == kind
    for name, value in sizes.items():
        assert np.abs(getattr(drawn, name)) == pytest.approx(np.abs(value))
    assert scene.view.level == pytest.approx(0.0)


def test_a_foot_hangs_on_the_rod_of_its_leg_and_a_fixed_ball_is_seen():
    scene = scene_of(
        """let leg = body mass = 1 kg, centre = [0,0,-0.1], inertia = diag(1, 1, 0) g*m^2 end ; let foot = [0,0,-0.5] @ leg ;
        let stone = [0, 0, -2] @ earth ; join earth and leg.frame with revolute(q) about [0,1,0] end ;
        contact foot.sphere radius 4 cm with stone.sphere radius 30 cm ; init q = 30 deg ;"""
    )
    names = [type(shape).__name__ for shape in shapes(scene, "leg")]
    ends = [shape.end for shape in shapes(scene, "leg") if type(shape).__name__ == "Capsule"]
    assert any(end == pytest.approx((0, 0, -0.5)) for end in ends) and "Sphere" in names
    assert any(getattr(shape, "radius", 0) == 0.3 for shape in shapes(scene, "earth"))


def test_a_slope_is_a_plate_under_what_slides_down():
    """The top of the plate lies in the plane of the contact, wherever its frame is and however its normal is written."""
    scene = scene_of(
        f"""{BODY} {FREE} let slope = [0.2, -0.1, 0.4] ++ 25 deg || [0,1,0] @ earth ;
        contact b.sphere radius 10 cm with slope normal [0,0.3,1] ; init x = 0.2 m, z = 0.7 m ;"""
    )
    (plate,) = [shape for shape in shapes(scene, "earth") if type(shape).__name__ == "Box"]
    tilt = np.array([[np.cos(0.4363323), 0, np.sin(0.4363323)], [0, 1, 0], [-np.sin(0.4363323), 0, np.cos(0.4363323)]])
    normal = tilt @ np.array([0, 0.3, 1]) / np.hypot(0.3, 1)
    w, x, y, z = plate.turn
    third = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), w * w - x * x - y * y + z * z])
    assert third == pytest.approx(normal, abs=1e-6)
    top = np.array(plate.centre) + third * plate.size[2] / 2
    assert (top - [0.2, -0.1, 0.4]) @ normal == pytest.approx(0.0, abs=1e-6)


def test_hills_are_seen_as_high_as_they_are():
    scene = scene_of(
        f"""{BODY} {FREE} param A = 0.1 m ; law hills(x in m, y in m) = A*cos(2 * x / (1 m)) + 0.05*y ;
        let site = [1, 0, 0.3] @ earth ; contact b.point with site height hills ; init z = 1 m, x' = 1 m/s ;"""
    )
    (ground,) = [shape for shape in shapes(scene, "earth") if type(shape).__name__ == "Mesh"]
    x, y, z = ground.vertices.T
    assert z == pytest.approx(0.3 + 0.1 * np.cos(2 * (x - 1)) + 0.05 * y)
    first = ground.vertices[ground.triangles[0]]
    assert np.cross(first[1] - first[0], first[2] - first[0])[2] > 0  # seen from above


def test_points_are_marked_while_they_touch():
    """A ball dropped from 10 cm touches at sqrt(2 h / g) = 0.1428 s, and stays without restitution."""
    scene = scene_of(
        f"{BODY} {FREE} contact b.sphere radius 10 cm with earth normal [0,0,1] as floor ; init z = 0.2 m, x' = 1 m/s ;",
        until=0.3,
        samples=7,
    )
    (dots,) = scene.overlays
    assert dots.names == ("floor",)
    assert np.isfinite(dots.positions[:, 0, 0]).tolist() == [False] * 3 + [True] * 4
    assert dots.positions[-1, 0] == pytest.approx([0.3, 0, 0], abs=1e-6)


def test_a_box_touches_with_its_corners_and_a_tilted_disc_with_its_rim():
    scene = scene_of(f"{BODY} {FREE} contact b.box size [2, 4, 6] m with earth normal [0,0,1] ; init z = 3 m ;")
    (dots,) = scene.overlays
    touching = dots.positions[0][np.isfinite(dots.positions[0, :, 0])]
    assert sorted(map(tuple, touching.round(6).tolist())) == [(-1, -2, 0), (-1, 2, 0), (1, -2, 0), (1, 2, 0)]
    disc = scene_of(
        """gravity = [0,0,-9.81] ; let b = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 2) kg*m^2 end ;
        join earth and b.frame with free(x, y, z, r, s, u) angles xyz end ;
        contact b.disc radius 1 m with earth normal [0,0,1] friction 0.5 ; init r = 60 deg, z = sqrt(3)/2 * 1 m ;""",
        until=0.01,
    )
    # The axle is tilted by 60° about x, so that the lowest point of the rim is half a radius aside.
    assert disc.overlays[0].positions[0, 0] == pytest.approx([0, -0.5, 0], abs=1e-6)


@pytest.mark.parametrize("slope", [0, 20])
def test_a_wheel_that_rolls_is_seen_on_its_ground_where_no_floor_is_seen(slope):
    """Oracle: the plane of the text; seen flat, a page has no floor, so that level ground is a plate too."""
    text = f"""gravity = [0, 0, -9.81] ; param R = 0.2 m, al = {slope} deg ; let w = body cylinder radius = R, length = 4 cm, mass = 2 kg end ;
        join [0, 0, R/cos(al)] ++ (pi/2 || [1,0,0]) @ earth and w.frame
            with link(s, h, a) dof1 = [s*cos(al) + h*sin(al), h*cos(al) - s*sin(al), 0], dof2 = a || [0,0,1] end ;
        constrain rolling w.frame radius R on earth normal [sin(al), 0, cos(al)] ; init s' = 1 m/s ;"""
    mechanism = ts.parse(text)
    scene = ts.view(mechanism, ts.simulate(mechanism, 0.5, samples=5)).scene
    assert scene.view.flat
    (plate,) = [shape for shape in scene.bodies[0].shapes if type(shape).__name__ == "Box" and max(shape.size) > 0.5]
    normal = np.array([np.sin(np.radians(slope)), 0, np.cos(np.radians(slope))])
    assert np.array(plate.centre) @ normal + min(plate.size) / 2 == pytest.approx(0)
