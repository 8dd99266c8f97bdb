"""Guesses at what holds bodies together, against the distances and axes of their descriptions."""

from __future__ import annotations

import numpy as np
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


def named(scene, name):
    return next(body for body in scene.bodies if body.name == name)


@pytest.mark.slow
def test_a_link_with_three_joints_is_a_triangle_and_a_floating_beam_has_no_rod_to_its_origin():
    """Corners are the joints; coordinates that slide and turn hold no point of a body that springs hold."""
    scene, _ = shapes_of(
        """let link = body mass = 1 kg, centre = [0.2, 0.1, 0] m, inertia = diag(0, 0, 0.01) end ;
        let a = body rod length = 0.2 m along [1,0,0] mass = 1 kg end ; let b = body rod length = 0.2 m along [1,0,0] mass = 1 kg end ;
        join earth and link.frame with revolute(q) end ; join [0.4, 0, 0] m @ link and a.frame with revolute(r) end ;
        join [0.2, 0.3, 0] m @ link and b.frame with revolute(s) end ;"""
    )
    (plate,) = [shape for shape in named(scene, "link").shapes if type(shape).__name__ == "Mesh"]
    top = plate.vertices[:3]
    assert {tuple(np.round(v[:2], 9)) for v in top} == {(0.0, 0.0), (0.4, 0.0), (0.2, 0.3)}
    # Triangles of a closed surface enclose its area times its thickness, seen from outside.
    corners = plate.vertices[plate.triangles]
    volume = float(np.sum(np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))) / 6)
    assert volume == pytest.approx(0.5 * 0.4 * 0.3 * 2 * abs(top[0, 2]))
    beam, _ = shapes_of(
        """let beam = body mass = 600 kg, centre = [0, 0, 0.2] m, inertia = diag(150, 900, 1000) end ;
        join [0, 0, 1] m @ earth and beam.frame with link(z, p) dof1 = [0, 0, z], dof2 = p || [0,1,0] end ;
        apply spring stiffness = 20 kN/m, rest = 1 m between [1, 0, 0] m @ earth and [1, 0, -0.2] m @ beam ;
        apply spring stiffness = 20 kN/m, rest = 1 m between [-1, 0, 0] m @ earth and [-1, 0, -0.2] m @ beam ;"""
    )
    rods = [(s.start, s.end) for s in named(beam, "beam").shapes if type(s).__name__ == "Capsule"]
    assert sorted(rods[0]) == [(-1.0, 0.0, -0.2), (1.0, 0.0, -0.2)]
    assert rods[1] == (pytest.approx((0, 0, -0.2)), pytest.approx((0, 0, 0.2))) and len(rods) == 2


@pytest.mark.parametrize("hinge", ["0", "1.2"])
def test_a_plate_is_known_by_its_moments(hinge):
    """m b²/12, m a²/12 and their sum, with a hinge at its edge; one within it would be hidden, and it is made smaller."""
    scene, _ = shapes_of(
        f"""let panel = body mass = 12 kg, centre = [0, 1.5, 0] m, inertia = diag(9, 1, 10) end ;
        join earth and [0, {hinge}, 0] m @ panel with revolute(q) about [1,0,0] end ;"""
    )
    (panel,) = [shape for shape in named(scene, "panel").shapes if type(shape).__name__ in ("Box", "Ellipsoid")]
    if hinge == "0":
        assert sorted(panel.size)[1:] == pytest.approx([1, 3]) and min(panel.size) < 0.05
    else:
        assert type(panel).__name__ == "Ellipsoid"


@pytest.mark.slow
def test_what_time_turns_is_a_hoop_and_a_tension_in_time_a_rope():
    """A circle of the radius of the offset about the axis of the rotation, held by no rod; seen in space."""
    text = """let bead = body mass = 1 kg, centre = 0, inertia = 0 end ;
    join earth and bead.frame with link(q) dof1 = {spin} || [0,0,1], dof2 = q || [0,1,0], dof3 = [0, 0, -0.5] m end ;
    apply spring law = {law} between [1, 0, 0] m @ earth and bead ; init q = 1 ;"""
    hoop, shapes = shapes_of(text.format(spin="3 rad/s*t", law="2 N + 1 N*cos(1 rad/s*t)"))
    (ring,) = [shape for shape in named(hoop, "bead").shapes if type(shape).__name__ == "Ring"]
    assert ring.radius == pytest.approx(0.5) and ring.centre == pytest.approx((0, 0, 0.5)) and abs(ring.axis[1]) == 1
    assert "Capsule" not in shapes["bead"] and [e.kind for e in hoop.elements] == ["rope"]
    assert not hoop.view.flat
    rod, shapes = shapes_of(text.format(spin="0.3", law="-2 N"))
    assert "Ring" not in shapes["bead"] and [e.kind for e in rod.elements] == ["damper"]


@pytest.mark.slow
def test_solids_along_formulas_tiny_solids_and_turning_discs_are_seen():
    scene, _ = shapes_of(
        """param x = 3 m, y = 2*x/3 ; let a = body rod length = 1 m, mass = 1 kg along [0, y, 0] end ;
        let far = body sphere radius = 1 mm, mass = 1 kg end ; let disc = body cylinder radius = 0.2 m, length = 0.1 m, mass = 1 kg end ;
        join earth and a.frame with revolute(q) end ; join [5, 0, 0] m @ earth and far.frame with prismatic(s) end ;
        join [0, 2, 0] m @ earth and disc.frame with revolute(r) end ;"""
    )
    assert named(scene, "a").shapes[0].end == pytest.approx((0, 1, 0))
    assert max(s.radius for s in named(scene, "far").shapes if type(s).__name__ == "Sphere") > 10e-3
    disc = named(scene, "disc").shapes
    assert sum(type(s).__name__ == "Capsule" for s in disc) == 2
    (pin,) = [s for s in disc if type(s).__name__ == "Cylinder" and s.radius < 0.2]
    assert pin.start[2] < -0.05 and pin.end[2] > 0.05


@pytest.mark.slow
def test_a_wire_that_winds_often_is_drawn_finely():
    """Twenty turns of a helix: between two points it bends by less than a twentieth of a turn."""
    scene, _ = shapes_of(
        """param r = 0.3 m ; let bead = body mass = 1 kg, centre = 0, inertia = 0 end ; init u' = 240 rad/s ;
        join earth and bead.frame with link(u) dof = [r*cos(u), r*sin(u), r*u/6] end ;"""
    )
    (wire,) = [s for b in scene.bodies for s in b.shapes if type(s).__name__ == "Line" and len(s.points) > 10]
    ways = np.diff(np.array(wire.points), axis=0)
    units = ways / np.linalg.norm(ways, axis=1)[:, None]
    assert np.arccos(np.clip(np.sum(units[1:] * units[:-1], axis=1), -1, 1)).max() < 0.31
