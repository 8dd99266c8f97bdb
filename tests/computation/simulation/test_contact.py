"""Contact of shapes with friction: bricks, balls, wheels and blocks that rock, by closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torseur as ts
from torseur.algebra.graph import as_expr
from torseur.errors import MechanismError, SimulationError, TorseurError, UnsupportedError

G = 9.81


def floating(name: str, mass: float, inertia: tuple[float, float, float]) -> tuple[ts.Body, ts.Joint]:
    body = ts.body(name, mass=mass, centre=(0, 0, 0), inertia=ts.inertia(*inertia))
    names = [f"{name}.{q}" for q in ("x", "y", "z", "a", "b", "c")]
    return body, ts.free(f"{name}.flight", ts.EARTH, body, *names, angles="xyz")


def brick(mu: float, tilt: float, b: float = 0.5, h: float = 0.5, **start: float) -> ts.Mechanism:
    """A brick in a plane, its half width b and half height h, on two corners A and B; gravity is tilted instead."""
    body = ts.body("brick", mass=1, centre=(0, 0, 0), inertia=ts.inertia(1, 1, (b * b + h * h) / 3))
    joint = ts.planar("flight", ts.EARTH, body, "x", "y", "th")
    floor = dict(ground=ts.plane(normal=(0, 1, 0)), friction=mu)
    corners = [ts.contact(n, "point", ts.Frame("brick").at((s * b, -h, 0)), **floor) for n, s in (("A", -1), ("B", 1))]
    down = (G * math.sin(tilt), -G * math.cos(tilt), 0)
    initial = {"y": h, **{key.replace("_", "'"): value for key, value in start.items()}}
    return ts.Mechanism("brick", bodies=[body], joints=[joint], gravity=down, contacts=corners, initial=initial)


@pytest.mark.slow
@pytest.mark.parametrize("mu", [0.2, 0.36, 0.37, 0.9])
def test_a_brick_on_a_slope_sticks_or_slides(mu):
    """Oracle: it sticks for mu above tan(20 deg) = 0.364, and slides with g (sin - mu cos) below."""
    tilt = math.radians(20)
    motion = ts.simulate(brick(mu, tilt), until=1, samples=3, outputs=["energy"])
    pull = max(math.sin(tilt) - mu * math.cos(tilt), 0.0)
    assert motion["x"][-1] == pytest.approx(G * pull / 2, abs=1e-9)
    assert abs(motion["th"][-1]) < 1e-12 and np.diff(motion["energy"]).max() < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize(("b", "tips"), [(0.2, True), (0.4, False)])
def test_a_tall_brick_tips_where_it_does_not_slide(b, tips):
    """Oracle: tan(30 deg) = 0.577 against b/h; a brick that tips turns about B with g sin(30 deg - alpha) r / (i² + r²)."""
    tilt = math.radians(30)
    motion = ts.simulate(brick(2.0, tilt, b=b, h=0.5), until=1e-3, samples=2)
    r = math.hypot(b, 0.5)
    turning = G * math.sin(tilt - math.atan2(b, 0.5)) * r / (4 / 3 * r * r) if tips else 0.0
    assert motion["th'"][-1] == pytest.approx(-turning * 1e-3, rel=1e-4, abs=1e-12)


@pytest.mark.slow
def test_a_brick_that_is_pushed_comes_to_rest():
    """Oracle: v²/(2 mu g) after v/(mu g), both corners at the same time."""
    motion = ts.simulate(brick(0.5, 0.0, x_=2.0), until=1, samples=3)
    assert {e.name for e in motion.events} == {"A.friction sticks", "B.friction sticks"}
    assert motion.events[0].time == pytest.approx(2 / 0.5 / G, abs=1e-9)
    assert motion["x"][-1] == pytest.approx(4 / G, abs=1e-9)


@pytest.mark.slow
def test_a_block_rocks_as_housner_said():
    """Oracle: each impact keeps 1 - 3/2 sin²(alpha) of the turning speed (Housner 1963)."""
    b, h, angle = 0.25, 1.0, -0.1
    lowest = min(s * b * math.sin(angle) - h * math.cos(angle) for s in (-1, 1))
    motion = ts.simulate(brick(5.0, 0.0, b=b, h=h, y=-lowest, th=angle), until=2, samples=3, rtol=1e-11)
    speeds = [abs(event.state["th'"]) for event in motion.events if event.name in "AB"]
    kept = 1 - 1.5 * math.sin(math.atan(b / h)) ** 2
    assert np.array(speeds[1:]) / speeds[:-1] == pytest.approx(kept, abs=1e-8) and len(speeds) == 3


@pytest.mark.slow
def test_a_ball_slides_until_it_rolls():
    """Oracle: t = 2 v/(7 mu g), then 5/7 of the speed, in an oblique direction; the ground tilted and off the origin."""
    ball, joint = floating("ball", 2.0, (0.008,) * 3)
    turned = ts.EARTH.at((0.3, -0.2, 0.7), ts.turn(0.4, (1, 2, 0)))
    up = np.array([2, -1, 0]) / math.sqrt(5) * math.sin(0.4) + np.array([0, 0, 1]) * math.cos(0.4)
    along = np.cross(up, [0.3, 0.5, 0.1])
    along *= 3 / np.linalg.norm(along)
    start = dict(zip(("ball.x", "ball.y", "ball.z"), np.array([0.3, -0.2, 0.7]) + 0.1 * up, strict=True))
    start |= dict(zip(("ball.x'", "ball.y'", "ball.z'"), along, strict=True))
    floor = ts.contact("floor", "sphere", ball, {"radius": 0.1}, ts.plane(turned), friction=0.2)
    model = ts.Mechanism("ball", bodies=[ball], joints=[joint], gravity=-G * up, contacts=[floor], initial=start)
    motion = ts.simulate(model, until=1, samples=3, outputs=["energy"])
    assert [event.name for event in motion.events] == ["floor.friction sticks"]
    assert motion.events[0].time == pytest.approx(2 * 3 / 7 / 0.2 / G, abs=1e-6)
    final = [motion[f"ball.{q}'"][-1] for q in "xyz"]
    assert final == pytest.approx(5 / 7 * along, abs=1e-8)


@pytest.mark.slow
def test_a_wheel_that_brakes_too_hard_slides():
    """Oracle: rolling needs M/r / (1 + m r²/I) of friction; beyond mu m g the wheel slides and slows by mu g."""
    text = """mechanism wheel ; param r = 0.3 m, M0 = 2 N*m/s ; gravity = [0, 0, -9.81 m/s^2] ;
    let rim = body mass = 4 kg, centre = 0, inertia = diag(0.1, 0.1, 0.2) kg*m^2 end ;
    join earth and rim.frame as flight with link(x, z, q) dof1 = [x, 0, z], dof2 = -pi/2 || [1,0,0], dof3 = q || [0,0,1]
        torque(q) = -M0*t end ;
    contact rim.disc radius r with earth normal [0,0,1] friction 0.4 as road ;
    init z = 0.3 m, x' = 12 m/s, q' = 40 rad/s ;"""
    motion = ts.simulate(ts.parse(text), until=6, samples=[0, 5, 6], outputs=["road.friction.multiplier"])
    # Rolling: m x'' = -F, I q'' = -M + F r, x'' = r q''  ->  F = M / r / (1 + I/(m r²)).
    slips = 0.4 * 4 * G * 0.3 * (1 + 0.2 / (4 * 0.09)) / 2
    assert motion.events[0].name == "road.friction slides"
    assert motion.events[0].time == pytest.approx(slips, rel=1e-8)
    assert motion["x'"][2] - motion["x'"][1] == pytest.approx(-0.4 * G, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("tyre", [0.0, 0.03])
def test_a_disc_that_sticks_is_a_wheel_that_rolls(tyre):
    """Oracle: the rolling constraint, derived elsewhere, with speeds that are far from slipping."""
    body, joint = floating("disc", 1.5, (0.03, 0.03, 0.055))
    lean = 1.2
    start = {"disc.a": lean, "disc.z": 0.25 * math.sin(lean) + tyre, "disc.c'": 9.0, "disc.b'": 0.4}
    shape, sizes = ("torus", {"radius": 0.25, "tyre": tyre}) if tyre else ("disc", {"radius": 0.25})
    bare = ts.Mechanism("disc", bodies=[body], joints=[joint], gravity=(0, 0, -G), initial=start)
    rolling = ts.rolling("road", body, 0.25, tyre=tyre or None)
    held = ts.Mechanism(
        "held", bodies=[body], joints=[joint], gravity=(0, 0, -G), constraints=[rolling],
        initial={key: ts.about(value) if key in ("disc.z",) else value for key, value in start.items()},
    )  # fmt: skip
    reference = ts.simulate(held, until=0.5, samples=3)
    begun = {name: reference[name][0] for name in [c.name for c in reference.columns]}
    touching = ts.Mechanism(
        "touching", bodies=bare.bodies, joints=bare.joints, gravity=(0, 0, -G),
        contacts=[ts.contact("road", shape, body, sizes, friction=50.0)], initial=begun,
    )  # fmt: skip
    motion = ts.simulate(touching, until=0.5, samples=3)
    assert not motion.events
    for name in begun:
        assert motion[name] == pytest.approx(reference[name], abs=1e-7)


@pytest.mark.slow
def test_balls_keep_momentum_and_energy():
    """Oracle: conservation, to 1e-12; the impulse is along the line of centres."""
    one, first = floating("p", 1.0, (0.1,) * 3)
    two, second = floating("q", 2.0, (0.1,) * 3)
    hit = ts.contact("hit", "sphere", one, {"radius": 0.05}, ts.ball(two, 0.07), restitution=1)
    start = {"q.x": 0.5, "q.y": 0.03, "q.z": 0.02, "p.x'": 2.0}
    pair = ts.Mechanism("pair", bodies=[one, two], joints=[first, second], contacts=[hit], initial=start)
    motion = ts.simulate(pair, until=1, samples=11, outputs=["energy"])
    assert len(motion.events) == 1 and np.ptp(motion["energy"]) < 1e-12
    for q, total in (("x", 2.0), ("y", 0.0), ("z", 0.0)):
        assert np.abs(motion[f"p.{q}'"] + 2 * motion[f"q.{q}'"] - total).max() < 1e-12


@pytest.mark.parametrize(("gap", "speeds"), [(0.0, [-1 / 3, 2 / 3, 2 / 3]), (1e-6, [0, 0, 1])])
def test_newtons_cradle_with_the_stated_law(gap, speeds):
    """Oracle: balls that touch are hit together (Newton's restitution of that gap); with a gap, one after the other."""
    balls = [ts.body(f"b{k}", mass=1, centre=(0, 0, 0), inertia=0) for k in range(3)]
    rails = [ts.prismatic(f"r{k}", ts.EARTH, balls[k], f"x{k}", axis=(1, 0, 0)) for k in range(3)]
    x = [rail.coordinates[0].symbol for rail in rails]
    bounds = [ts.bound(f"c{k}", x[k + 1] - x[k] - 0.1, 1) for k in range(2)]
    start = {"x0": -0.2, "x1": 0.0, "x2": 0.1 + gap, "x0'": 1.0}
    cradle = ts.Mechanism("cradle", bodies=balls, joints=rails, contacts=bounds, initial=start)
    motion = ts.simulate(cradle, until=1, samples=2)
    assert [motion[f"x{k}'"][-1] for k in range(3)] == pytest.approx(speeds, abs=1e-9)


@pytest.mark.slow
def test_a_box_that_falls_on_its_corner_comes_to_rest_and_gains_no_energy():
    """Oracle: energy falls, and at the end the box lies flat on one of its faces."""
    box, joint = floating("box", 1.0, (0.05 / 12, 0.1 / 12, 0.13 / 12))
    floor = ts.contact("floor", "box", box, {"x": 0.3, "y": 0.2, "z": 0.1}, friction=0.3, restitution=0.3)
    start = {"box.z": 0.5, "box.a": 0.4, "box.b": 0.3, "box.x'": 1.0}
    model = ts.Mechanism("box", bodies=[box], joints=[joint], gravity=(0, 0, -G), contacts=[floor], initial=start)
    motion = ts.simulate(model, until=1.5, samples=301, outputs=["energy"])
    assert np.diff(motion["energy"]).max() < 1e-8
    assert motion["box.z"][-1] == pytest.approx(0.05, abs=1e-9) and abs(motion["box.x'"][-1]) < 1e-9


def test_bad_contacts_are_named():
    ball, joint = floating("ball", 1.0, (0.1,) * 3)

    def model(contact: ts.Contact, **start: float) -> ts.Mechanism:
        return ts.Mechanism("m", bodies=[ball], joints=[joint], contacts=[contact], initial=start)

    with pytest.raises(MechanismError, match="friction is -0.1"):
        model(ts.contact("floor", "sphere", ball, {"radius": 0.1}, friction=-0.1))
    with pytest.raises(MechanismError, match="'radius' is missing"):
        ts.contact("floor", "sphere", ball)
    with pytest.raises(MechanismError, match="shape 'sfere'"):
        ts.contact("floor", "sfere", ball)
    with pytest.raises(MechanismError, match="itself"):
        model(ts.contact("floor", "sphere", ball, {"radius": 0.1}, ts.plane(ball)))
    with pytest.raises(TorseurError, match=r"starts 0.05 inside it"):
        ts.simulate(model(ts.contact("floor", "sphere", ball, {"radius": 0.1}), **{"ball.z": 0.05}), until=1)
    with pytest.raises(UnsupportedError, match="linearisation"):
        ts.linearise(model(ts.contact("floor", "sphere", ball, {"radius": 0.1}), **{"ball.z": 0.2}))


def test_contact_in_words_is_the_same():
    text = """mechanism foot ; param mu = 0.8 ;
    let leg = body mass = 2 kg, centre = 0, inertia = diag(0.1,0.1,0.1) kg*m^2 end ;
    let sole = [0, 0, -0.3] m @ leg ;
    let block = body mass = 2 kg, centre = 0, inertia = diag(0.1,0.1,0.1) kg*m^2 end ;
    join earth and leg.frame with free(x, y, z, a, b, c) angles xyz end ;
    join earth and block.frame as rail with prismatic(s) along [1,0,0] end ;
    contact sole.sphere radius 2 cm with earth normal [0,0,1] friction mu, restitution 0 as heel ;
    contact leg.box size [0.1, 0.2, 0.3] m with earth normal [0,0,1] friction 0.3 static 0.4 ;
    contact leg.ellipsoid semiaxes [1, 2, 3] cm with earth normal [0,0,1] as egg ;
    contact leg.capsule radius 2 cm length 10 cm with block.sphere radius 0.1 m restitution 0.5 as knock ;
    init z = 2 m ;"""
    read = ts.parse(text)
    assert [c.name for c in read.contacts] == ["heel", "contact", "egg", "knock"]
    assert ts.parse(ts.to_text(read)) == read
    for wrong, words in (("leg.sphere with earth normal [0,0,1]", "radius of the sphere is missing"),
                         ("leg.sphere radius 1 cm with earth", "needs its normal"),
                         ("leg with earth normal [0,0,1]", "which shape"),
                         ("leg.sphere radius 1 s with earth normal [0,0,1]", "length")):  # fmt: skip
        with pytest.raises(TorseurError, match=words):
            ts.parse(text + f"contact {wrong} as wrong ;")


@pytest.mark.slow
def test_parts_bring_their_contacts_and_files_that_cannot_hold_them_say_so(tmp_path):
    """Oracle: each foot falls as its body does; one that is mirrored stands on the mirrored plane."""
    text = """mechanism feet ; gravity = [0, 0, -9.81 m/s^2] ;
    part foot()
    let leg = body mass = 2 kg, centre = 0, inertia = diag(0.1, 0.1, 0.1) kg*m^2 end ;
    join earth and leg.frame as fall with prismatic(z) along [0,0,1] end ;
    contact leg.sphere radius 2 cm with earth normal [0.6,0,0.8] friction 0.2 as sole ;
    init z = 1 m ;
    end ;
    use foot as left ;
    use foot as right mirrored left across [1,0,0] ;"""
    read = ts.parse(text)
    assert ts.parse(ts.to_text(read)) == read
    assert [float(c.normal[0]) for c in read.contacts] == [0.6, -0.6]
    motion = ts.simulate(read, until=1, samples=2)
    assert [motion[f"{side}.z"][-1] for side in ("left", "right")] == pytest.approx([0.025] * 2, abs=1e-9)
    assert sorted(event.name for event in motion.events[:2]) == ["left.sole", "right.sole"]
    with pytest.raises(UnsupportedError, match=r"contact 'left.sole' is not written"):
        ts.write_robot(read, tmp_path / "feet.urdf")


@pytest.mark.slow
def test_corners_that_lie_behind_each_other_count_once():
    """Oracle: a box in a plane that falls on an edge has one corner there, which carries m g at rest on two."""
    text = """mechanism brick ; gravity = [0, 0, -9.81 m/s^2] ;
    let b = body mass = 2 kg, centre = 0, inertia = diag(0.02, 0.02, 0.02) kg*m^2 end ;
    join earth and b.frame as j with link(x, z, a) dof1 = [x, 0, z], dof2 = a || [0,1,0] end ;
    init z = 0.896 m, a = 0.757, x' = 1.17 m/s, a' = -2.522 rad/s ;
    contact b.box size [0.2, 0.15, 0.1] m with earth normal [0.184, 0, 1] friction 0.9, restitution 0 as c ;
    """
    names = [f"c.{k}.multiplier" for k in (1, 2, 5, 6)]
    motion = ts.simulate(ts.parse(text), 2, outputs=names, rtol=1e-7)
    weight = 2 * 9.81 * np.cos(np.arctan(0.184))
    assert sum(motion[name][-1] for name in names) == pytest.approx(-weight, rel=1e-6)
    with pytest.raises(ts.TorseurError, match="unknown quantity|cannot be read"):
        ts.simulate(ts.parse(text), 0.1, outputs=["c.3.multiplier"])


def test_a_ball_rolls_in_a_trough():
    """Oracle: its centre stays on the circle of R - r, and 7/10 of v² is what it has fallen times g."""
    text = """mechanism trough ; param R = 1 m ;
    gravity = [0, 0, -9.81 m/s^2] ;
    law trough(x in m, y in m) = R - sqrt(R^2 - x^2) ;
    let b = body mass = 1 kg, centre = 0, inertia = diag(0.004, 0.004, 0.004) kg*m^2 end ;
    join earth and b.frame as flight with free(x, y, z, q, r, s) angles yxz end ;
    contact b.sphere radius 10 cm with earth height trough friction 1 as ground ;
    init x = 0.45 m, z = {z} m ;"""
    start = 1 - (0.9**2 - 0.45**2) ** 0.5
    mechanism = ts.parse(text.format(z=repr(start)))
    motion = ts.simulate(mechanism, until=1, samples=21)
    assert np.hypot(motion["x"], motion["z"] - 1) == pytest.approx(np.full(21, 0.9), abs=1e-8)
    squares = motion["x'"] ** 2 + motion["z'"] ** 2
    assert squares == pytest.approx(10 / 7 * 9.81 * (start - motion["z"]), abs=1e-6)
    assert ts.parse(ts.to_text(mechanism)) == mechanism
    ball, (contact,) = mechanism.body("b"), mechanism.contacts
    height = ts.height_field(ts.EARTH, mechanism.laws[0].function)
    assert ts.contact("ground", "sphere", ball, {"radius": as_expr(1) / 10}, height, friction=1) == contact


@pytest.mark.parametrize(
    ("ground", "words"),
    [
        ("height flat", "a height is a law of two lengths"),
        ("height flat normal [0,0,1]", "a height is a law of two lengths"),
        ("height bumps normal [0,0,1]", "a plane has a normal, or a height: not both"),
    ],
)
def test_heights_are_laws_of_two_lengths(ground, words):
    text = f"""mechanism m ; law bumps(x in m, y in m) = 0.1 m*cos(x/1 m) ; law flat(x in m) = x ;
    let b = body mass = 1 kg, centre = 0, inertia = 0 end ;
    join earth and b.frame as flight with prismatic(z) along [0,0,1] end ;
    contact b.point with earth {ground} ;"""
    with pytest.raises(TorseurError, match=words):
        ts.parse(text)


def test_a_stone_that_turns_while_it_slides_comes_to_rest_again():
    """It breaks away, its slip turns by more than a right angle and sticks; friction and impacts only take energy."""
    text = """mechanism slope ; gravity = [0, 0, -9.81 m/s^2] ;
    let b = body mass = 1 kg, centre = 0, inertia = diag(0.004, 0.004, 0.004) kg*m^2 end ;
    join earth and b.frame as flight with free(x, y, z, e0, e1, e2, e3) angles quaternion end ;
    contact b.ellipsoid semiaxes [10,8,5] cm with earth normal [0.2,0.1,1] friction 0.3 as ground ;
    init x = 0.3 m, z = 0.5 m ;"""
    motion = ts.simulate(ts.parse(text), until=0.62, samples=63, outputs=["energy"])
    names = [event.name.removeprefix("ground.friction ") for event in motion.events]
    assert names == ["ground", "sticks", "slides", "sticks", "slides"]
    assert np.diff(motion["energy"]).max() < 1e-8


def test_parts_bring_their_height_fields():
    """The law is that of the instance; where it is asked for its height stays what it is."""
    text = """mechanism two ; part ball(A = 0.1 m)
      law hills(x in m, y in m) = A*cos(x/1 m) ;
      let b = body mass = 1 kg, centre = 0, inertia = 0 end ;
      join earth and b.frame as f with prismatic(z) along [0,0,1] end ;
      contact b.sphere radius 10 cm with earth height hills as ground ; end ;
    use ball as one ; use ball as other(A = 0.2 m) ; init one.z = 0.5 m, other.z = 0.5 m ;"""
    mechanism = ts.parse(text)
    laws = {law.name: law.function for law in mechanism.laws}
    expected = [ts.height_field(ts.EARTH, laws[f"{name}.hills"]).height for name in ("one", "other")]
    assert [contact.height for contact in mechanism.contacts] == expected


@pytest.mark.parametrize("method", ["auto", "time_stepping"])
@pytest.mark.parametrize("words", ["constrain x = 0.1 m/s*t as drive ;", "constrain x >= 0.1 m/s*t as drive ;"])
def test_contacts_that_contradict_each_other_are_named(method, words):
    """A wall in the way of what is driven: nothing gives way, whatever method looks for it."""
    text = f"""mechanism press ; let ram = body mass = 1 kg, centre = 0, inertia = 0 end ;
    join earth and ram.frame as rail with prismatic(x) along [1,0,0] end ;
    {words} constrain x <= 0.03 m as wall ;"""
    with pytest.raises(SimulationError, match=r"contact '(wall|drive)'.* contradicts other contacts or constraints"):
        ts.simulate(ts.parse(text), until=0.5, method=method)


def test_sizes_that_values_make_negative_are_named():
    text = """mechanism ball ; param r = 0.1 m ; let ball = body mass = 1 kg, centre = 0, inertia = 0 end ;
    join earth and ball.frame as flight with prismatic(z) along [0,0,1] end ;
    contact ball.sphere radius r with earth normal [0,0,1] as floor ; init z = 0.3 m ;"""
    with pytest.raises(TorseurError, match=r"contact 'floor': radius is -0\.1, expected zero or more"):
        ts.simulate(ts.parse(text), until=0.1, parameters={"r": -0.1})


def test_a_block_rocks_to_rest():
    """It loses a part of its energy at each impact, sooner and sooner, and stands still after that."""
    b, h, mass = 0.2, 0.5, 2.0
    tilt, radius, moment = 0.4 * math.atan(b / h), math.hypot(b, h), mass / 3 * (b * b + h * h)
    rest = math.atan(b / h) - tilt
    block = ts.parse(f"""mechanism block ; gravity = [0, -9.81 m/s^2, 0] ;
    let block = body mass = {mass} kg, centre = 0, inertia = diag({moment}, {moment}, {moment}) kg*m^2 end ;
    join earth and block.frame as flight with planar(x, y, q) end ;
    contact block.box size [{2 * b}, {2 * h}, 0.1] m with earth normal [0, 1, 0] friction 5 as floor ;
    init q = {tilt}, x = {b - radius * math.sin(rest)}, y = {radius * math.cos(rest)} ;""")
    motion = ts.simulate(block, until=3, samples=4, max_steps=2000)
    assert 20 < len(motion.events) < 200
    assert [motion[name][-1] for name in ("y", "q", "q'")] == pytest.approx([h, 0, 0], abs=1e-11)
