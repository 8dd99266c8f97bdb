"""Mechanisms whose equations are known in closed form."""

from __future__ import annotations

import torseur.description.mechanism as tm
from torseur.algebra.graph import PI, symbol
from torseur.algebra.graph import scalar as s
from torseur.description.mechanism import TIME, Coordinate, Mechanism, Speed


def parameters(**values: float) -> list[tm.Parameter]:
    return [tm.parameter(name, value) for name, value in values.items()]


def cart_pendulum(links: int) -> Mechanism:
    """A cart on a rail carrying a chain of uniform links in the plane, relative angles, every parameter live."""
    g, cart_mass = parameters(g=9.81, M=2.0)
    cart = tm.body("cart", mass=cart_mass, centre=(0, 0, 0), inertia=0)
    bodies, joints, given = [cart], [tm.prismatic("rail", tm.EARTH, cart, "x")], [g, cart_mass]
    end = cart.frame
    for i in range(1, links + 1):
        m, length, moment = parameters(**{f"m{i}": 1 + i / 10, f"l{i}": 0.5 + i / 20, f"J{i}": i / 10})
        link = tm.body(f"link{i}", mass=m, centre=(0, -length / 2, 0), inertia=tm.inertia(0, 0, moment))
        bodies.append(link)
        joints.append(tm.revolute(f"pin{i}", end, link, f"q{i}"))
        given += [m, length, moment]
        end = link.at((0, -length, 0))
    return Mechanism(f"cart_{links}", bodies=bodies, joints=joints, parameters=given, gravity=(0, -g, 0))


def free_body(form: str) -> Mechanism:
    """A body turning about its mass centre with all products of inertia, I = [[A, -F, -E], [-F, B, -D], [-E, -D, C]].

    form: "quaternion" (speeds are the angular velocity), "declared" (angles, speeds declared as body rotation),
    "body" (free joint with speeds in body axes).
    """
    a, b, c, d, e, f, m = parameters(A=2, B=3, C=4, D=0.3, E=-0.2, F=0.1, m=1)
    stone = tm.body("stone", mass=m, centre=(0, 0, 0), inertia=tm.inertia(a, b, c, -f, -e, -d))
    if form == "quaternion":
        joint = tm.spherical("pivot", tm.EARTH, stone, "q0", "q1", "q2", "q3", angles="quaternion")
    elif form == "body":
        joint = tm.free("pivot", tm.EARTH, stone, "x", "y", "z", "yaw", "pitch", "roll", angles="zyx", speeds="body")
    else:
        plain = tm.spherical("pivot", tm.EARTH, stone, "yaw", "pitch", "roll", angles="zyx")
        speeds = tm.body_speeds(("wx", "wy", "wz"), "rotation", plain.coordinates, plain.motions)
        joint = tm.sequence("pivot", tm.EARTH, stone, plain.coordinates, plain.motions, speeds=speeds)
    return Mechanism("stone", bodies=[stone], joints=[joint], parameters=[a, b, c, d, e, f, m])


def planar_vehicle() -> Mechanism:
    """A chassis in the plane: speeds are the velocity of O_C in its axes and the yaw rate; mass centre l ahead."""
    m, length, moment = parameters(m=1200, l=0.3, C=1800)
    about = tm.inertia(0, 0, moment, about="frame")
    chassis = tm.body("chassis", mass=m, centre=(length, 0, 0), inertia=about)
    x, y, psi = Coordinate("x", "m"), Coordinate("y", "m"), Coordinate("psi")
    plain = tm.planar("ground", tm.EARTH, chassis, x, y, psi)
    velocity = tm.body_speeds(("Vx", "Vy"), "velocity", plain.coordinates, plain.motions)
    speeds = (*velocity, Speed("r", psi.rate, "rad/s"))
    joint = tm.sequence("ground", tm.EARTH, chassis, plain.coordinates, plain.motions, speeds=speeds)
    push = tm.force("push", chassis, (500 * s.cos(TIME), 800 * s.sin(2 * TIME), 0), chassis.frame)
    steer = tm.torque("steer", chassis, (0, 0, 300), chassis.frame)
    return Mechanism(
        "vehicle", bodies=[chassis], joints=[joint], parameters=[m, length, moment], loads=[push, steer],
        initial={"Vx": 10, "r": 0.1},
    )  # fmt: skip


def cardan() -> Mechanism:
    """The shaft behind a Cardan joint: turned by psi about z, tilted by alpha about y, then by psi2(psi) about z.

    The transmission law is tan psi2 = -cos(alpha) tan psi. Mass centre at l along the shaft, gravity along -y.
    """
    alpha, a, b, c, m, g, length = parameters(alpha=0.5, A=0.3, B=0.4, C=0.2, m=2, g=9.81, l=0.5)
    shaft = tm.body("shaft", mass=m, centre=(0, 0, length), inertia=tm.inertia(a, b, c, about="frame"))
    psi = Coordinate("psi")
    turned = s.atan2(-(s.cos(alpha) * s.sin(psi.symbol)), s.cos(psi.symbol))
    motions = (tm.rotation((0, 0, 1), psi), tm.rotation((0, 1, 0), alpha), tm.rotation((0, 0, 1), turned))
    joint = tm.sequence("joint", tm.EARTH, shaft, (psi,), motions)
    return Mechanism(
        "cardan", bodies=[shaft], joints=[joint], parameters=[alpha, a, b, c, m, g, length], gravity=(0, -g, 0),
        initial={"psi": 0.2},
    )  # fmt: skip


def heavy_top() -> Mechanism:
    """An axisymmetric top on its point: precession, nutation and spin (zxz)."""
    i1, i3, m, length, g = parameters(I1=0.35, I3=0.1, m=2, l=0.25, g=9.81)
    top = tm.body("top", mass=m, centre=(0, 0, length), inertia=tm.inertia(i1, i1, i3, about="frame"))
    point = tm.spherical("point", tm.EARTH, top, "phi", "theta", "psi", angles="zxz")
    return Mechanism("top", bodies=[top], joints=[point], parameters=[i1, i3, m, length, g], gravity=(0, 0, -g))


def driven_tree() -> Mechanism:
    """Joints that depend on time, a coordinate in several motions, offsets and tilted axes, a spring and a damper."""
    bodies = [_lump(f"b{i}", 0.1 * i) for i in (1, 2, 3)]
    a, x = Coordinate("a"), Coordinate("x", "m")
    wobble = (tm.rotation((0, 1, 1), a.symbol + s.sin(TIME)), tm.translation((1, 0, 0), TIME * TIME * a.symbol))
    slide = (tm.translation((1, 2, 0), x.symbol * s.cos(TIME)), tm.rotation((1, 0, 0), 2 * TIME))
    base = tm.EARTH.at((0, 1, 0), tm.turn(0.3, (1, 0, 0)))
    joints = [
        tm.sequence("wobble", base, bodies[0], (a,), wobble),
        tm.spherical("ball", bodies[0].at((0.1, 0.2, 0.3)), bodies[1].at((0, 0, 0.2), tm.turn(0.5, (0, 1, 0))), *"pqr"),
        tm.sequence("slide", bodies[1].at((0.1, -0.2, 0.3)), bodies[2], (x,), slide),
    ]
    loads = [tm.spring("cord", tm.EARTH.at((0, 0, 5)), bodies[2], stiffness=3, rest=1, damping=0.2)]
    return Mechanism("driven", bodies=bodies, joints=joints, loads=loads, gravity=(0, 0, -9.81))


def reversed_tree(angles: str) -> Mechanism:
    """Joints written from the outer body to the inner one, with angles or quaternions."""
    inner, outer = _lump("inner", 0.2), _lump("outer", 0.3)
    turns = [f"e{i}" for i in range(4 if angles == "quaternion" else 3)]
    more = [f"f{i}" for i in range(len(turns))]
    joints = [
        tm.spherical("ball", inner.at((0, 0.3, -0.1), tm.turn(0.7, (0, 1, 0))), tm.EARTH.at((0.1, 0.2, 0.3)), *turns,
                     angles=angles),
        tm.free("float", outer.at((0.1, 0.1, 0)), inner.at((0.2, 0, 0), tm.turn(0.4, (1, 1, 0))), "x", "y", "z", *more,
                angles=angles),
    ]  # fmt: skip
    return Mechanism(f"reversed_{angles}", bodies=[inner, outer], joints=joints, gravity=(0, 1, -9.81))


def declared_speeds() -> Mechanism:
    """Quasi-velocities of every kind: body axes, mixed with coordinates and time, of a quaternion."""
    base, arm, tip = (_lump(name, size) for name, size in (("base", 0.1), ("arm", 0.2), ("tip", 0.3)))
    vehicle = planar_vehicle().joints[0]
    ground = tm.sequence("ground", tm.EARTH, base, vehicle.coordinates, vehicle.motions, speeds=vehicle.speeds)
    plain = tm.universal("neck", base.at((0.3, 0.2, 0.1)), arm, "a", "b")
    a, b = plain.coordinates
    mixed = (Speed("u1", a.rate + s.sin(b.symbol) * b.rate), Speed("u2", 2 * b.rate - TIME * a.symbol))
    neck = tm.sequence("neck", base.at((0.3, 0.2, 0.1)), arm, plain.coordinates, plain.motions, speeds=mixed)
    ball = tm.spherical("ball", arm.at((0, 0.2, 0.1)), tip, "k0", "k1", "k2", "k3", angles="quaternion")
    wx, wy, wz = (symbol(f"ball.w{axis}", "rad/s", "angular velocity in joint ball") for axis in "xyz")
    skewed = (Speed("s1", wx + wy), Speed("s2", 2 * wy), Speed("s3", wz + ball.coordinates[1].symbol * wx))
    wrist = tm.sequence("ball", arm.at((0, 0.2, 0.1)), tip, ball.coordinates, ball.motions, speeds=skewed)
    return Mechanism("declared", bodies=[base, arm, tip], joints=[ground, neck, wrist], gravity=(0, 1, -9.81))


def _lump(name: str, size: float) -> tm.Body:
    """A body without symmetry."""
    return tm.body(
        name, mass=1 + size, centre=(size, -0.1, 0.2), inertia=tm.inertia(1.1 + size, 1.2, 1.3, 0.1, -0.2, 0.15)
    )  # fmt: skip


PUMA = ((0, 0, 0), (0, -1, 0), ("a2", 0, "r3"), ("a3", -1, "r4"), (0, 1, 0), (0, -1, 0))
RX90 = ((0, 0, 0), (0, 1, 0), ("d3", 0, 0), (0, -1, "r4"), (0, 1, 0), (0, -1, 0))


def six_axis_arm(name: str, rows: tuple) -> Mechanism:
    """An arm by modified Denavit-Hartenberg rows (a, alpha in quarter turns, r); lengths and all inertias are symbols."""
    gravity = tm.parameter("g", 9.81)
    bodies, joints, given, parent = [], [], [gravity], tm.EARTH
    for i, (a, quarters, r) in enumerate(rows, 1):
        lengths = [tm.parameter(x, 0.4) if isinstance(x, str) else x for x in (a, r)]
        given += [x for x in lengths if isinstance(x, tm.Parameter)]
        link = tm.body(f"link{i}")
        turn = quarters * PI / 2
        joints.append(tm.denavit_hartenberg(f"j{i}", parent, link, f"q{i}", a=lengths[0], alpha=turn, r=lengths[1]))
        bodies.append(link)
        parent = link
    return Mechanism(name, bodies=bodies, joints=joints, parameters=given, gravity=(0, 0, -gravity))
