"""Springs, ropes, gears and pulleys: where their lines run."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.scene.compose_scene import Composition
from torseur.presentation.scene.element_curves import ARC, coil, rope
from torseur.presentation.scene.shapes import Capsule, Ring
from torseur.presentation.scene.still_position import start_position


def composition(text: str) -> Composition:
    """What a text looks like where its motion starts."""
    mechanism = ts.parse(text)
    tree = ts.build_tree(mechanism)
    position = start_position(tree, ts.derive(tree, "recursive"), {}, {})
    return Composition(Numbers(tree, {}), position, gravity=(0.0, 0.0, -9.81))


def test_a_coil_lies_on_its_cylinder_and_ends_at_its_points():
    start, end = np.array([1.0, -2.0, 0.5]), np.array([1.5, 0.0, 2.0])
    line = coil(start, end, 0.1, 7)
    np.testing.assert_allclose(line[[0, -1]], [start, end])
    axis = (end - start) / np.linalg.norm(end - start)
    off = line - start - np.outer((line - start) @ axis, axis)
    distances = np.linalg.norm(off, axis=1)
    assert np.all(distances <= 0.1 + 1e-12)
    np.testing.assert_allclose(distances[len(distances) // 2], 0.1)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_rope_touches_its_pulleys(side):
    """Oracle: a straight part is square to the radius where it touches, and arcs keep their radius."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        flat = np.array([[-2, -3, 0], [0, 0, 0], [4, 1, 0], [5, -3, 0]]) + np.pad(
            rng.normal(size=(4, 2)) * 0.3, ((0, 0), (0, 1))
        )
        points = list(flat @ turn.T)
        radii = [0.0, side * 0.8, 0.5, 0.0]
        line = rope(points, radii)
        assert len(line) == 2 + 2 * (ARC + 1)
        for k, radius in ((1, 0.8), (2, 0.5)):
            about = line[1 + (k - 1) * (ARC + 1) :][: ARC + 1]
            np.testing.assert_allclose(np.linalg.norm(about - points[k], axis=1), radius, rtol=1e-9)
            before, after = line[(k - 1) * (ARC + 1)], line[1 + k * (ARC + 1)]
            assert abs((about[0] - before) @ (about[0] - points[k])) < 1e-9
            assert abs((after - about[-1]) @ (about[-1] - points[k])) < 1e-9


WHEELS = """param a = {a}, b = {b} ;
let one = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) kg*m^2 end ;
let two = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) kg*m^2 end ;
join [0, 0, 1] @ earth and one with revolute(p) about [0, 1, 0] end ;
join [3, 0, 1] @ earth and two with revolute(q) about {axis} end ;
constrain a*p + b*q = 0 as mesh ;
"""


@pytest.mark.parametrize(
    "a, b, axis", [(1, 2, "[0, 1, 0]"), (2, -1, "[0, -1, 0]"), (3, -1, "[0, 1, 0]"), (-1, 4, "[0, -1, 0]")]
)
def test_pitch_circles_roll_on_each_other(a, b, axis):
    """Oracle: rims of wheels in mesh have one speed where they touch, on the line of centres."""
    shapes = composition(WHEELS.format(a=a, b=b, axis=axis)).shapes
    rings = [next(shape for shape in shapes[name] if isinstance(shape, Ring)) for name in ("one", "two")]
    # A wheel has its pitch circle on its outside; a ring in which another turns is the circle itself.
    spoked = [any(isinstance(shape, Capsule) for shape in shapes[name]) for name in ("one", "two")]
    r, s = (ring.radius + ring.wire * whole for ring, whole in zip(rings, spoked, strict=True))
    sense = -1.0 if "-1" in axis else 1.0
    p_rate, q_rate = 1.0, -a / b * sense  # about the same axis
    outside = p_rate * q_rate < 0
    assert (r + s if outside else abs(r - s)) == pytest.approx(3.0)
    assert r * abs(p_rate) == pytest.approx(s * abs(q_rate))


ATWOOD = """param r = 0.2 m ; gravity = [0, 0, -9.81] m/s^2 ;
let pulley = body mass = 1 kg, centre = 0, inertia = diag(0, 1, 0) kg*m^2 end ;
let left = body mass = 2 kg, centre = 0, inertia = 0 end ;
let right = body mass = 1 kg, centre = 0, inertia = 0 end ;
join earth and pulley as axle with revolute(theta) about [0, 1, 0] end ;
join [-r, 0, -1] @ earth and left as down with prismatic(x) along [0, 0, -1] end ;
join [r, 0, -1] @ earth and right as up with prismatic(y) along [0, 0, -1] end ;
constrain x = -r*theta ;
constrain y = r*theta ;
"""


def test_atwoods_machine_has_a_pulley_and_ropes_that_hang_straight():
    scene = composition(ATWOOD).scene("Atwood")
    ropes = [element for element in scene.elements if element.kind == "rope"]
    assert {element.anchors[1].body for element in ropes} == {"left", "right"}
    places = {body.name: scene.motion.positions[0, k] for k, body in enumerate(scene.bodies)}
    for element in ropes:
        touch = np.array(element.anchors[0].point)
        np.testing.assert_allclose(touch[:2], places[element.anchors[1].body][:2], atol=1e-12)
        assert np.linalg.norm(touch) == pytest.approx(0.2)
    rims = [shape for shape in scene.bodies[1].shapes if isinstance(shape, Ring)]
    assert rims[0].radius + rims[0].wire == pytest.approx(0.2)


SPRINGS = """gravity = [0, 0, -9.81] m/s^2 ;
let a = body mass = 1 kg, centre = 0, inertia = 0 end ;
join [0, 0, 2] @ earth and a with prismatic(z) along [0, 0, -1] {option} end ;
init z = 0.7 m ;
{more}
"""


@pytest.mark.parametrize(
    "option, more, kinds",
    [
        ("stiffness = 10 N/m, rest = 0.5 m", "", ["coil"]),
        ("damping = 10 N*s/m", "", ["damper"]),
        ("", "apply spring stiffness = 5 N/m, damping = 1 N*s/m between earth and a ;", ["coil", "damper"]),
        ("", "constrain distance earth to a = 1.3 m ;", ["rod"]),
        ("stiffness = 10 N/m", "draw spring between earth and a ;", ["coil"]),
    ],
)
def test_loads_and_constraints_draw_themselves_unless_they_are_drawn(option, more, kinds):
    scene = composition(SPRINGS.format(option=option, more=more)).scene("springs")
    assert [element.kind for element in scene.elements] == kinds


def test_a_spring_with_a_rest_length_is_as_long_as_its_coordinate():
    (element,) = composition(SPRINGS.format(option="stiffness = 10 N/m, rest = 0.5 m", more="")).elements
    assert element.anchors[0].point == (0.0, 0.0, 2.0)
    assert element.anchors[1].body == "a"


PLANAR = "let a = body mass = 1 kg, centre = [1, 0, 0] m, inertia = 0 end ; let b = body mass = 1 kg, centre = [1, 0, 0] m, inertia = 0 end ;"


@pytest.mark.parametrize(
    "first, second, normal",
    [
        ("revolute(p) about [0, 1, 0]", "revolute(q) about [0, -2, 0]", (0, 1, 0)),
        ("prismatic(p) along [1, 0, 1]", "revolute(q) about [0, 3, 0]", (0, 1, 0)),
        ("revolute(p) about [1, 0, 0]", "revolute(q) about [0, 1, 0]", None),
        ("revolute(p) about [1, 1, 0]", "prismatic(q) along [1, -1, 0]", (1, 1, 0)),
        ("prismatic(p) along [1, 0, 0]", "prismatic(q) along [0, 0, 1]", (0, 1, 0)),
        ("revolute(p) about [0, 1, 0]", "spherical(u, v, w) angles xyz", None),
    ],
)
def test_the_plane_of_a_planar_mechanism_is_the_picture(first, second, normal):
    """Oracle: the axes as written. Seen flat, the viewer looks along the normal."""
    joints = f"join earth and a with {first} end ; join [1, 0, 0] @ a and b with {second} end ;"
    view = composition(PLANAR + "gravity = [0, 0, -9.81] m/s^2 ;" + joints).view()
    assert view.flat == (normal is not None)
    if normal is not None:
        out = np.array(
            [
                np.cos(view.azimuth) * np.cos(view.elevation),
                np.sin(view.azimuth) * np.cos(view.elevation),
                np.sin(view.elevation),
            ]
        )
        np.testing.assert_allclose(abs(out @ np.array(normal)) / np.linalg.norm(normal), 1.0)
