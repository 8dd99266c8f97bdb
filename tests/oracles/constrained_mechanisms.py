"""Mechanisms with loops, rolling wheels and stiff parts whose motions are known, described as a user would."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import torseur as ts
from torseur.graph import as_expr
from torseur.mechanism import Equation, Rolling
from torseur.mechanism.quantities import as_vector

FOLDER = Path(__file__).parent


def reference(name: str) -> dict:
    return json.loads((FOLDER / f"{name}.json").read_text())


def closing(joint: ts.Joint) -> ts.Joint:
    """The joint as one that closes a loop."""
    return replace(joint, role="loop")


def carrying(joint: ts.Joint) -> ts.Joint:
    """The joint as one that carries a body."""
    return replace(joint, role="tree")


ANDREWS_COORDINATES = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")


def andrews() -> ts.Mechanism:
    """Andrews' squeezing mechanism: seven bodies in a plane, three loops that meet in one point, a motor and a spring."""
    case = reference("andrews_squeezer")
    parameters = {name: ts.parameter(name, float(value)) for name, value in case["params"].items()}

    class P:
        """Symbols of the parameters by name."""

    for name, parameter in parameters.items():
        setattr(P, name, parameter.symbol)

    def body(number: int, *centre: object) -> ts.Body:
        inertia = getattr(P, f"i{number}")
        return ts.body(
            f"k{number}",
            mass=getattr(P, f"m{number}"),
            centre=(*centre, 0),
            inertia=ts.inertia(inertia, inertia, inertia),
        )

    k1, k2, k3 = body(1, P.ra, 0), body(2, -P.da, 0), body(3, P.sa, -P.sb)
    k4, k5, k6, k7 = body(4, 0, P.ea - P.e), body(5, P.ta, P.tb), body(6, P.zf - P.fa, 0), body(7, P.ua, P.ub)
    a, b, c = (ts.EARTH.at((x, y, 0)) for x, y in ((P.xa, P.ya), (P.xb, P.yb), (P.xc, P.yc)))
    meeting = k2.at((-P.d, 0, 0))
    joints = [
        ts.revolute("O", ts.EARTH, k1, "beta"),
        ts.revolute("K12", k1.at((P.rr, 0, 0)), k2, "Theta"),
        ts.revolute("B", b, k3, "gamma"),
        ts.revolute("K45", k5.at((P.zt, 0, 0)), k4, "Phi"),
        ts.revolute("A5", a, k5, "delta"),
        ts.revolute("K67", k7.at((0, -P.u, 0)), k6, "Omega"),
        ts.revolute("A7", a, k7, "epsilon"),
        closing(ts.revolute("P3", k3.at((0, -P.ss, 0)), meeting, "p3")),
        closing(ts.revolute("P4", k4.at((0, -P.e, 0)), meeting, "p4")),
        closing(ts.revolute("P6", k6.at((P.zf, 0, 0)), meeting, "p6")),
    ]
    spring = ts.spring("spring", k3.at((P.sd, -P.sc, 0)), c, stiffness=P.c0, rest=P.l0)
    return ts.Mechanism(
        "andrews", bodies=[k1, k2, k3, k4, k5, k6, k7], joints=joints, parameters=list(parameters.values()),
        loads=[ts.motor("drive", "O", "beta", P.mom), spring],
        initial=dict(zip(ANDREWS_COORDINATES, map(float, case["q0"]), strict=True)),
    )  # fmt: skip


def box(mass: float, x: float, y: float, z: float) -> object:
    """Inertia of a box at its centre."""
    return ts.inertia(mass * (y * y + z * z) / 12, mass * (x * x + z * z) / 12, mass * (x * x + y * y) / 12)


def flyball() -> ts.Mechanism:
    """IFToMM A05: a shaft, a slider on it, two arms with heavy ends, and stiff springs between arms and slider."""
    shaft = ts.body("shaft", mass=0.3, centre=(0, 0, 0.5), inertia=box(0.3, 0.01, 0.01, 1.0))
    slider = ts.body("slider", mass=3, centre=(0, 0, 0), inertia=box(3.0, 0.1, 0.1, 0.1))
    joints = [ts.revolute("spin", ts.EARTH, shaft, "psi"), ts.prismatic("slide", shaft, slider, "s", axis=(0, 0, 1))]
    bodies, loads = [shaft, slider], []
    across, along = 0.3 * 2 * 0.01**2 / 12, 0.3 * (1 + 0.01**2) / 12 + 0.3 * 0.25 + 5.0
    for k, side in (("1", 1.0), ("2", -1.0)):
        arm = ts.body(
            f"arm{k}",
            mass=5.3,
            centre=((0.3 * 0.5 + 5.0) / 5.3, 0, 0),
            inertia=ts.inertia(across, along, along, about="frame"),
        )
        outward = () if side > 0 else (ts.turn(ts.PI, (0, 0, 1)),)
        joints.append(ts.revolute(f"pin{k}", shaft.at((0.05 * side, 0, 1), *outward), arm, f"alpha{k}", axis=(0, 1, 0)))
        ends = arm.at((0.5, 0, 0)), slider.at((0.05 * side, 0, 0))
        loads.append(ts.spring(f"spring{k}", *ends, stiffness=8e5, rest=0.5, damping=4e4))
        bodies.append(arm)
    initial = {"s": 0.5, "alpha1": math.pi / 6, "alpha2": math.pi / 6, "psi'": 2 * math.pi}
    return ts.Mechanism("flyball", bodies=bodies, joints=joints, loads=loads, gravity=(0, 0, -9.81), initial=initial)


def car_axis() -> ts.Mechanism:
    """IVP test set: two points a fixed distance apart on springs, one wheel on a bumpy road."""
    case = reference("caraxis")
    eps, mass, length, rest, r, w, g = (case["params"][k] for k in ("eps", "M", "L", "L0", "r", "w", "g"))
    yb = r * ts.sin(w * ts.TIME)
    xb = ts.sqrt(length**2 - yb * yb)
    bodies, joints, symbols = [], [], []
    for name in "lr":
        x, y = ts.Coordinate(f"x{name}", "m"), ts.Coordinate(f"y{name}", "m")
        point = ts.body(name, mass=eps**2 * mass / 2, centre=(0, 0, 0), inertia=0)
        motions = [ts.translation((1, 0, 0), x.symbol), ts.translation((0, 1, 0), y.symbol)]
        joints.append(ts.sequence(f"plane_{name}", ts.EARTH, point, [x, y], motions))
        bodies.append(point)
        symbols += [x.symbol, y.symbol]
    wheel = ts.body("wheel", mass=0, inertia=0)
    road = [ts.translation((1, 0, 0), xb), ts.translation((0, 1, 0), yb)]
    joints.append(ts.sequence("road", ts.EARTH, wheel, [], road))
    xl, yl, xr, yr = symbols
    constraints = [
        Equation("axle", xl * xb + yl * yb),
        Equation("rod", (xl - xr) ** 2 + (yl - yr) ** 2 - length**2),
    ]
    loads = [
        ts.spring("left", ts.EARTH, bodies[0], stiffness=1, rest=rest),
        ts.spring("right", wheel, bodies[1], stiffness=1, rest=rest),
    ]
    names = ("xl", "yl", "xr", "yr", "xl'", "yl'", "xr'", "yr'")
    return ts.Mechanism(
        "car_axis", bodies=[*bodies, wheel], joints=joints, constraints=constraints, loads=loads, gravity=(0, -g, 0),
        initial=dict(zip(names, map(float, case["y0"]), strict=True)),
    )  # fmt: skip


def rolling_disc(tyre: float = 0.0) -> ts.Mechanism:
    """A thin uniform disc of radius 1 m on a plane, its axle along z of its frame; `tyre` thickens the rim."""
    disc = ts.body("disc", mass=1, centre=(0, 0, 0), inertia=ts.inertia(0.25, 0.25, 0.5))
    joint = ts.free("motion", ts.EARTH, disc, "x", "y", "z", "yaw", "tilt", "spin", angles="zxz")
    rim = as_expr(1 - tyre) if tyre else as_expr(1)
    contact = Rolling("contact", disc.frame, rim, as_vector((0, 0, 1), "up"), tyre_radius=as_expr(tyre))
    return ts.Mechanism("disc", bodies=[disc], joints=[joint], gravity=(0, 0, -9.81), constraints=[contact])


def bicycle() -> ts.Mechanism:
    """The benchmark bicycle of Meijaard, Papadopoulos, Ruina and Schwab (2007): x forward, y right, z down."""
    p = reference("whipple_bicycle_linear")["meijaard"]["params"]
    rear, front = (0.0, 0.0, -p["rR"]), (p["w"], 0.0, -p["rF"])

    def seen_from(origin: tuple[float, ...], x: float, z: float) -> tuple[float, ...]:
        return (x - origin[0], 0.0, z - origin[2])

    def body(name: str, key: str, origin: tuple[float, ...]) -> ts.Body:
        moments = ts.inertia(p[f"I{key}xx"], p[f"I{key}yy"], p[f"I{key}zz"], 0, p[f"I{key}xz"], 0)
        return ts.body(name, mass=p[f"m{key}"], centre=seen_from(origin, p[f"x{key}"], p[f"z{key}"]), inertia=moments)

    def wheel(name: str, key: str) -> ts.Body:
        return ts.body(
            name,
            mass=p[f"m{key}"],
            centre=(0, 0, 0),
            inertia=ts.inertia(p[f"I{key}xx"], p[f"I{key}xx"], p[f"I{key}yy"]),
        )

    frame, fork = body("frame", "B", rear), body("fork", "H", front)
    rear_wheel, front_wheel = wheel("rear_wheel", "R"), wheel("front_wheel", "F")
    axle = ts.turn(-ts.PI / 2, (1, 0, 0))
    steering_axis = (math.sin(p["lam"]), 0, math.cos(p["lam"]))
    on_ground = (p["w"] + p["c"], 0.0)
    joints = [
        ts.free("motion", ts.EARTH, frame, "x", "y", "z", "yaw", "lean", "pitch", angles="zxy"),
        ts.revolute("steering", frame.at(seen_from(rear, *on_ground)), fork.at(seen_from(front, *on_ground)), "steer",
                    axis=steering_axis),
        ts.revolute("rear_axle", frame.at((0, 0, 0), axle), rear_wheel, "rear_turn"),
        ts.revolute("front_axle", fork.at((0, 0, 0), axle), front_wheel, "front_turn"),
    ]  # fmt: skip
    up = as_vector((0, 0, -1), "up")
    contacts = [
        Rolling("rear_contact", rear_wheel.frame, as_expr(p["rR"]), up),
        Rolling("front_contact", front_wheel.frame, as_expr(p["rF"]), up),
    ]
    return ts.Mechanism(
        "bicycle", bodies=[frame, fork, rear_wheel, front_wheel], joints=joints, constraints=contacts,
        gravity=(0, 0, p["g"]), initial={"z": -p["rR"]},
    )  # fmt: skip


def running(speed: float) -> dict[str, float]:
    """Initial values of the bicycle upright and straight at a speed."""
    radius = reference("whipple_bicycle_linear")["meijaard"]["params"]["rR"]
    return {"x'": speed, "lean": 0.0, "steer": 0.0, "rear_turn'": -speed / radius}


def in_plane(name: str, mass: float, inertia: float) -> tuple[ts.Body, ts.Joint]:
    """A body free to move in the plane, by its mass centre and its angle: Cartesian coordinates."""
    part = ts.body(name, mass=mass, centre=(0, 0, 0), inertia=ts.inertia(inertia, inertia, inertia))
    return part, carrying(ts.planar(f"{name}_motion", ts.EARTH, part, f"x_{name}", f"y_{name}", f"a_{name}"))


def cartesian_names(*bodies: str) -> list[str]:
    return [f"{c}_{body}" for body in bodies for c in "xya"]


def cartesian_slider_crank() -> ts.Mechanism:
    """Crank, rod and slider in nine Cartesian coordinates."""
    r, length = 0.3, 0.8
    (crank, j1), (rod, j2), (slider, j3) = (
        in_plane(*row) for row in (("crank", 1, 0.0075), ("rod", 1.5, 0.08), ("slider", 2, 0.01))
    )
    loops = [
        ts.revolute("O", ts.EARTH, crank.at((-r / 2, 0, 0)), "o"),
        ts.revolute("A", crank.at((r / 2, 0, 0)), rod.at((-length / 2, 0, 0)), "a"),
        ts.revolute("B", rod.at((length / 2, 0, 0)), slider, "b"),
        ts.prismatic("guide", ts.EARTH, slider, "x"),
    ]
    start = map(float, reference("planar_dae")["slider_crank"]["q (9)"][0])
    return ts.Mechanism(
        "slider_crank", bodies=[crank, rod, slider], joints=[j1, j2, j3, *map(closing, loops)], gravity=(0, -9.81, 0),
        initial=dict(zip(cartesian_names("crank", "rod", "slider"), start, strict=True)),
    )  # fmt: skip


def cartesian_four_bar() -> ts.Mechanism:
    """Crank, coupler and rocker in nine Cartesian coordinates."""
    case = reference("planar_dae")["four_bar"]
    a, b, c, d = case["parameters"]["a,b,c,d"]
    masses, moments = case["parameters"]["m"], case["parameters"]["I"]
    (crank, j1), (coupler, j2), (rocker, j3) = (
        in_plane(*row) for row in zip(("crank", "coupler", "rocker"), masses, moments, strict=True)
    )
    loops = [
        ts.revolute("A", ts.EARTH, crank.at((-a / 2, 0, 0)), "qa"),
        ts.revolute("B", crank.at((a / 2, 0, 0)), coupler.at((-b / 2, 0, 0)), "qb"),
        ts.revolute("C", coupler.at((b / 2, 0, 0)), rocker.at((c / 2, 0, 0)), "qc"),
        ts.revolute("D", ts.EARTH.at((d, 0, 0)), rocker.at((-c / 2, 0, 0)), "qd"),
    ]
    names = cartesian_names("crank", "coupler", "rocker")
    start = dict(zip(names, map(float, case["q (9)"][0]), strict=True))
    rates = dict(zip([f"{name}'" for name in names], map(float, case["qd (9)"][0]), strict=True))
    return ts.Mechanism(
        "four_bar", bodies=[crank, coupler, rocker], joints=[j1, j2, j3, *map(closing, loops)], gravity=(0, -9.81, 0),
        initial=start | rates,
    )  # fmt: skip
