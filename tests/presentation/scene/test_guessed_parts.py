"""Guesses at what holds bodies together, against the distances and axes of their descriptions."""

from __future__ import annotations

import pytest

import torseur as ts


def shapes_of(text, until=0.5):
    scene = ts.view(ts.parse(text), ts.simulate(ts.parse(text), until, samples=5)).scene
    return scene, {body.name: [type(shape).__name__ for shape in body.shapes] for body in scene.bodies}


def test_a_ball_hangs_on_a_rod_and_a_bead_is_held():
    """A solid apart from its joint, and a body at the end of a joint's own offset, are held by rods."""
    _, ball = shapes_of(
        "let a = body sphere radius = 5 cm, mass = 1 kg at [0, 0, -0.5] m end ; join earth and a.frame with revolute(q) about [0,1,0] end ;"
    )
    assert ball["a"].count("Capsule") == 1
    _, bead = shapes_of(
        "let b = body mass = 1 kg, centre = 0, inertia = 0 end ; join earth and b.frame with link(q) dof1 = q || [0,1,0], dof2 = [0, 0, -0.5] m end ;"
    )
    assert bead["b"].count("Capsule") == 1


def test_gimbals_are_rings_that_hide_nothing():
    """Each ring is larger than what turns in it, and holds both of its axes."""
    scene, shapes = shapes_of(
        """let outer = body mass = 0.3 kg, centre = 0, inertia = diag(2, 2, 3) g*m^2 end ;
        let inner = body mass = 0.2 kg, centre = 0, inertia = diag(1, 1, 2) g*m^2 end ;
        let rotor = body cylinder radius = 5 cm, length = 1 cm, mass = 1 kg end ;
        join earth and outer.frame with revolute(a) about [0,0,1] end ;
        join outer.frame and inner.frame with revolute(b) about [1,0,0] end ;
        join inner.frame and rotor.frame with revolute(c) about [0,0,1] end ; init b = 1, c' = 10 ;"""
    )
    rings = {
        b.name: next(s for s in b.shapes if type(s).__name__ == "Ring")
        for b in scene.bodies
        if b.name in ("outer", "inner")
    }
    assert rings["outer"].radius > rings["inner"].radius > 0.05
    assert all(abs(abs(ring.axis[1]) - 1) < 1e-9 for ring in rings.values())
    assert "Ellipsoid" not in shapes["outer"] + shapes["inner"]


def test_a_rope_runs_over_the_pulley_between_two_weights():
    scene, _ = shapes_of(
        """gravity = [0, -9.81, 0] ; let l = body mass = 2 kg, centre = 0, inertia = 0 end ; let r = body mass = 1 kg, centre = 0, inertia = 0 end ;
        join [-0.1, 0, 0] @ earth and l.frame with prismatic(y1) along [0,-1,0] end ;
        join [0.1, 0, 0] @ earth and r.frame with prismatic(y2) along [0,-1,0] end ;
        constrain y1 + y2 = 2 m ; init y1 = 1 m ;""",
        0.2,
    )
    (rope,) = [element for element in scene.elements if element.kind == "rope"]
    assert [anchor.body for anchor in rope.anchors] == ["l", "earth", "r"]
    assert rope.anchors[1].radius == pytest.approx(0.1) and rope.anchors[1].point == pytest.approx((0, 0, 0))


@pytest.mark.slow
def test_attraction_from_afar_is_no_coil():
    text = """let s = body mass = 1 kg, centre = 0, inertia = 0 end ; let p = body mass = 1 kg, centre = 0, inertia = 0 end ;
    join earth and s.frame with link(a, b) dof1 = [a, b, 0] end ; join earth and p.frame with link(x, y) dof1 = [x, y, 0] end ;
    apply spring law = {law} between s and p ; init x = 1 m, y' = 1 m/s ;"""
    for law, kind in (("1 N*m^2 / length^2", "rope"), ("1 N/m * length", "coil")):
        scene, _ = shapes_of(text.replace("{law}", law), 0.1)
        assert [element.kind for element in scene.elements] == [kind]
