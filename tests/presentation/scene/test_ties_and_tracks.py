"""What leads bodies and ties them together, against the geometry of the texts: wires, wheels that roll, planets, weights."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.presentation.scene.orientation import rotation, screen_axes
from torseur.presentation.scene.shapes import Box, Capsule, Ellipsoid, Line, Ring

BALL = "mass = 1 kg, centre = 0, inertia = 0 end ;"
WEIGHT = "gravity = [0, 0, -9.81] m/s^2 ;"


def scene_of(text, until=0.4):
    mechanism = ts.parse(text)
    return ts.view(mechanism, ts.simulate(mechanism, until, samples=5)).scene


def shapes_of(scene, body, kind):
    return [shape for shape in scene.bodies[scene.index(body)].shapes if isinstance(shape, kind)]


def test_a_bead_has_its_hoop_and_the_hoop_no_disc_of_its_own():
    scene = scene_of(
        f"""{WEIGHT} param R = 0.3 m ; let hoop = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 2) g*m^2 end ; let bead = body {BALL}
        join earth and hoop.frame with revolute(p) about [0,0,1] end ;
        join hoop.frame and bead.frame with link(q) dof1 = [R*sin(q), 0, -R*cos(q)] end ; init q = 1, p' = 3 ;"""
    )
    (wire,) = shapes_of(scene, "hoop", Line)
    np.testing.assert_allclose(np.linalg.norm(wire.points, axis=1), 0.3)
    np.testing.assert_allclose(wire.points[0], wire.points[-1], atol=1e-12)
    assert not shapes_of(scene, "hoop", Ellipsoid) and not shapes_of(scene, "hoop", Ring)


@pytest.mark.parametrize("way", ["[l*sin(q), 0, -l*cos(q)]", "[l*sin(q)*cos(u), l*sin(q)*sin(u), 0.2 - l*cos(q)]"])
def test_a_pendulum_said_by_displacements_has_a_rod(way):
    """Oracle: the centre of the circle or sphere as written."""
    names = "q, u" if "u" in way else "q"
    scene = scene_of(
        f"{WEIGHT} param l = 0.7 m ; let bob = body {BALL} join earth and bob.frame with link({names}) dof1 = {way} end ; init q = 0.8 ;"
    )
    (rod,) = scene.elements
    assert rod.kind == "rod" and [anchor.body for anchor in rod.anchors] == ["earth", "bob"]
    np.testing.assert_allclose(rod.anchors[0].point, (0, 0, 0.2 if "u" in way else 0), atol=1e-9)


def test_a_wheel_that_rolls_along_a_slope_touches_it():
    """Oracle: the slope at the radius from the centre, below it."""
    scene = scene_of(
        f"""{WEIGHT} param r = 0.12 m, a = 25 deg ; let roller = body mass = 2 kg, centre = 0, inertia = diag(1, 1, 1) g*m^2 end ;
        join (a || [0,1,0]) @ earth and roller.frame with link(s) dof1 = [s, 0, r], dof2 = s/r || [0,1,0] end ;"""
    )
    rim = shapes_of(scene, "roller", Ring)[0]
    assert rim.radius + rim.wire == pytest.approx(0.12)
    (slope,) = shapes_of(scene, "earth", Line)
    along = np.array([np.cos(np.radians(25)), 0, -np.sin(np.radians(25))])
    np.testing.assert_allclose(np.cross(slope.points, along), 0, atol=1e-9)
    assert not shapes_of(scene, "roller", Ellipsoid)


@pytest.mark.slow
@pytest.mark.parametrize("written", ["coordinates", "rates"])
def test_planets_have_the_radii_of_willis(written):
    """Oracle: pitch circles that touch, sun + 2 planets = ring, with the ratios of Willis."""
    p = "'" if written == "rates" else ""
    disc = "mass = 1 kg, centre = 0, inertia = diag(1, 1, 2) g*m^2 end ;"
    scene = scene_of(
        f"""param s = 30 mm, p = 20 mm ; let sun = body {disc} let arm = body {disc} let planet = body {disc}
        join earth and sun.frame with revolute(a) about [0,0,1] torque = 0.1 N*m end ;
        join earth and arm.frame with revolute(b) about [0,0,1] end ;
        join [s + p, 0, 0] @ arm and planet.frame with revolute(d) about [0,0,1] end ;
        constrain s*(a{p} - b{p}) = -p*d{p} ; constrain (s + 2*p)*(-b{p}) = p*d{p} ;"""
    )
    sun, planet = shapes_of(scene, "sun", Ring), shapes_of(scene, "planet", Ring)
    assert [ring.radius + ring.wire for ring in (*sun, *planet)] == pytest.approx([0.03, 0.02])
    assert [ring.radius for ring in shapes_of(scene, "earth", Ring)] == pytest.approx([0.07])


@pytest.mark.parametrize(("factors", "is_belt"), [("r1*a = r2*b", True), ("a = 2.4*b", False), ("r1*a = -r2*b", False)])
def test_wheels_with_radii_and_room_between_them_have_a_belt(factors, is_belt):
    """Oracle: common tangents of two circles; every point of a belt lies on its circle, its straight parts touch both."""
    scene = scene_of(
        f"""param r1 = 5 cm, r2 = 12 cm, d = 0.4 m ; let one = body {BALL.replace("inertia = 0", "inertia = diag(1, 1, 2) g*m^2")}
        let two = body {BALL.replace("inertia = 0", "inertia = diag(1, 1, 2) g*m^2")} join earth and one.frame with revolute(a) torque = 1 N*m end ;
        join [0, d, 0] @ earth and two.frame with revolute(b) end ; constrain {factors} ;"""
    )
    loops = [np.array(line.points) for line in shapes_of(scene, "earth", Line) if line.points[0] == line.points[-1]]
    assert len(loops) == is_belt
    if is_belt:
        radii = [max(ring.radius + ring.wire for ring in shapes_of(scene, body, Ring)) for body in ("one", "two")]
        np.testing.assert_allclose(radii, [0.05, 0.12])
        lengths = np.linalg.norm(np.diff(loops[0], axis=0), axis=1)
        np.testing.assert_allclose(np.sort(lengths)[-2:], np.sqrt(0.4**2 - 0.07**2))
        half = np.arccos(0.07 / 0.4)
        assert lengths.sum() == pytest.approx(
            2 * np.sqrt(0.4**2 - 0.07**2) + 2 * (0.12 * (np.pi - half) + 0.05 * half), 2e-3
        )


def test_what_goes_up_and_down_is_seen_side_by_side():
    texts = ["[0, 0, 0]", "[0.3, 0.4, 0]"]
    scene = scene_of(
        WEIGHT
        + "".join(
            f"let m{k} = body {BALL} join {at} ++ 1 @ earth and m{k}.frame with prismatic(z{k}) along [0,0,1] end ;"
            for k, at in enumerate(texts)
        )
    )
    across = screen_axes(scene.view)[0]
    assert scene.view.flat and abs(across @ [0.6, 0.8, 0]) == pytest.approx(1)


def test_weights_that_follow_hang_on_a_rope_over_the_body_that_turns_between_them():
    scene = scene_of(
        f"""{WEIGHT} param r = 0.1 m ; let one = body {BALL} let two = body mass = 2 kg, centre = 0, inertia = 0 end ;
        let pulley = body mass = 1 kg, centre = 0, inertia = diag(1, 2, 1) g*m^2 end ;
        join [-r, 0, -1] @ earth and one.frame with prismatic(x) along [0,0,1] end ;
        join [r, 0, -1] @ earth and two.frame with link() dof = [0, 0, -x] end ;
        join earth and pulley.frame with link() dof = x/r || [0,1,0] end ;"""
    )
    rim = shapes_of(scene, "pulley", Ring)[0]
    assert rim.radius + rim.wire == pytest.approx(0.1)
    wound = [element for element in scene.elements if any(anchor.radius for anchor in element.anchors)]
    assert [[anchor.body for anchor in element.anchors] for element in wound] == [["two", "earth", "one"]]
    np.testing.assert_allclose(wound[0].anchors[1].point, (0, 0, 0), atol=1e-12)
    assert not shapes_of(scene, "earth", Line)  # what hangs on a rope runs on no rail


def test_sliders_on_one_line_share_a_rail_and_are_alike():
    masses = "".join(f"let m{k} = body {BALL} " for k in range(3))
    joints = "".join(f"join [{0.3 * k}, 0, 0] @ earth and m{k}.frame with prismatic(x{k}) end ;" for k in range(3))
    scene = scene_of(f"{WEIGHT} {masses} {joints} init x0 = 0.1 ;")
    assert len(shapes_of(scene, "earth", Line)) == 1
    assert len({shape.size for k in range(3) for shape in shapes_of(scene, f"m{k}", Box)}) == 1


@pytest.mark.slow
def test_what_is_said_of_a_wheel_rolling_on_a_cart_or_by_itself_is_drawn():
    cart = f"""{WEIGHT} let cart = body box x = 1 m, y = 0.3 m, z = 0.1 m, mass = 5 kg end ; let w = body mass = 1 kg, centre = 0, inertia = diag(1, 2, 1) g*m^2 end ;
        join earth and cart.frame with prismatic(x) along [1,0,0] end ; join cart.frame and w.frame with revolute(a) about [0,1,0] end ;
        constrain x' = 0.2 m * a' ; init x' = 1 ;"""
    disc = f"""{WEIGHT} let w = body mass = 1 kg, centre = 0, inertia = diag(1, 2, 1) g*m^2 end ;
        join earth and w.frame with link(x, a) dof1 = [x, 0, 0], dof2 = a || [0,1,0] end ; constrain x' = 0.2 m * a' ; init x' = 1 ;"""
    for text in (cart, disc):
        scene = scene_of(text)
        rim = shapes_of(scene, "w", Ring)[0]
        assert rim.radius + rim.wire == pytest.approx(0.2) and shapes_of(scene, "w", Capsule)


@pytest.mark.slow
def test_a_mechanism_is_seen_from_the_side_that_hides_least():
    """A plate on the side of +x hides an arm behind it: the viewer stands on the side of -x, where there is nothing."""
    arms = "".join(
        f"let a{k} = body mass = 1 kg, centre = [0, 0, -0.2] m, inertia = 0 end ; join [{0.1 * k}, {0.05 * k}, 0] @ earth and a{k}.frame with universal(p{k}, q{k}) end ;"
        for k in range(4)
    )
    for side in (1, -1):
        plate = f"let plate = body box x = 2 cm, y = 3 m, z = 3 m, mass = 1 kg end ; join [{side}, 0, 0] @ earth and plate.frame with revolute(q) about [1,0,0] end ;"
        plate += f"let wall = body box x = 3 m, y = 2 cm, z = 3 m, mass = 1 kg end ; join [0, {side}, 0] @ earth and wall.frame with revolute(w) about [0,1,0] end ;"
        view = scene_of(WEIGHT + arms + plate).view
        towards = screen_axes(view)[2]
        assert towards[0] * side < 0 and towards[1] * side < 0


def test_wheels_of_the_next_stage_lie_beside_those_of_the_last():
    """Oracle: wheels in mesh lie in one plane, and the two of the shaft between them are apart by their widths."""
    disc = "mass = 1 kg, centre = 0, inertia = diag(1, 1, 2) g*m^2 end ;"
    scene = scene_of(
        f"""let a = body {disc} let b = body {disc} let c = body {disc} join earth and a.frame with revolute(p) torque = 0.1 N*m end ;
        join [0.07, 0, 0] m @ earth and b.frame with revolute(q) about [0,0,-1] end ; join [0.125, 0, 0] m @ earth and c.frame with revolute(r) end ;
        constrain 0.02*p = 0.05*q ; constrain 0.015*q = 0.04*r ;"""
    )

    def levels(body):
        turn = rotation(scene.motion.quaternions[0, scene.index(body)])
        return {
            round(ring.radius + ring.wire, 9): (turn @ np.array(ring.centre))[2]
            for ring in shapes_of(scene, body, Ring)
        }

    first, shaft, last = levels("a"), levels("b"), levels("c")
    assert (set(first), set(shaft), set(last)) == ({0.02}, {0.05, 0.015}, {0.04})
    assert first[0.02] == shaft[0.05] and last[0.04] == shaft[0.015]
    assert abs(last[0.04] - first[0.02]) >= 0.1 * (0.05 + 0.04)


@pytest.mark.parametrize(("moments", "is_wheel"), [("diag(2, 2, 4)", True), ("diag(2, 2, 2.5)", False)])
def test_a_disc_that_turns_by_itself_is_a_wheel_of_its_radius_of_gyration(moments, is_wheel):
    """Oracle: I = m r² of a rim; what is nearly a ball is none."""
    scene = scene_of(
        f"""let arm = body mass = 2 kg, centre = [0, 0, -0.3] m, inertia = diag(0.1, 0.1, 0.01) kg*m^2 end ;
        let wheel = body mass = 100 g, centre = 0, inertia = {moments} g*m^2 end ; join earth and arm.frame with revolute(a) about [0,1,0] end ;
        join [0, 0, -0.6] m @ arm and wheel.frame with revolute(w) end ; init a = 0.1, w' = 10 ;"""
    )
    assert [ring.radius + ring.wire for ring in shapes_of(scene, "wheel", Ring)] == pytest.approx([0.2] * is_wheel)
    assert not shapes_of(scene, "arm", Ring) and bool(shapes_of(scene, "wheel", Ellipsoid)) is not is_wheel


def test_a_rack_is_a_bar_under_its_pinion_along_the_whole_motion():
    """Oracle: the pitch line y = -r; the pinion's rim is over the bar at the start and at the end."""
    scene = scene_of(
        """param r = 3 cm ; let pinion = body mass = 0.2 kg, centre = 0, inertia = diag(1,1,2) g*m^2 end ; let rack = body mass = 1 kg, centre = 0, inertia = 0 end ;
        join earth and pinion.frame with revolute(phi) end ; join [0, -r, 0] @ earth and rack.frame with prismatic(x) end ;
        constrain x = r*phi ; init x' = 0.2 m/s ;"""
    )
    (bar,) = shapes_of(scene, "rack", Box)
    turn = rotation(np.array(bar.turn))
    half = np.abs(turn @ np.diag(bar.size)).sum(axis=1) / 2
    for place in scene.motion.positions[:, scene.index("rack")]:
        low, high = place + bar.centre - half, place + bar.centre + half
        assert high[1] == pytest.approx(-0.03) and low[0] <= -0.02 and high[0] >= 0.02
    assert not [element for element in scene.elements if element.kind == "rope"]
