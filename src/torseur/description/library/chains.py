"""Chains of pendulums and rows of four-bar linkages (IFToMM benchmark A02), of any length."""

from __future__ import annotations

from torseur.algebra.graph import PI, as_expr
from torseur.description.mechanism import (
    EARTH,
    Body,
    Frame,
    Joint,
    Mechanism,
    Parameter,
    along,
    body,
    parameter,
    prismatic,
    revolute,
    solid,
)
from torseur.description.mechanism.quantities import Coordinate

DOWN, ACROSS, FORWARD = (0, -1, 0), (0, 0, 1), (1, 0, 0)


def pendulum_chain(n: int) -> Mechanism:
    """n equal rods hung one from the other, let go level: the angle of each is relative to the one before."""
    g, m, length = _parameters()
    bodies, joints = _rods(n, EARTH, m, length)
    return Mechanism(
        "pendulum_chain",
        bodies=bodies,
        joints=joints,
        parameters=[g, m, length],
        gravity=(0, -g, 0),
        initial={"q1": PI / 2},
        meaning=f"chain of {n} equal pendulums",
    )


def cart_pendulum(n: int) -> Mechanism:
    """n equal rods hung one from the other below a cart on a level rail."""
    g, m, length = _parameters()
    m_c = parameter("m_c", 2, "kg", "mass of the cart")
    cart = body("cart", mass=m_c, centre=(0, 0, 0), inertia=0)
    rail = prismatic("rail", EARTH, cart, Coordinate("x", "m", "place of the cart"), (1, 0, 0))
    bodies, joints = _rods(n, cart.frame, m, length)
    return Mechanism(
        "cart_pendulum",
        bodies=[cart, *bodies],
        joints=[rail, *joints],
        parameters=[g, m, length, m_c],
        gravity=(0, -g, 0),
        initial={"q1": PI * 2 / 3},
        meaning=f"chain of {n} pendulums on a cart",
    )


def _parameters() -> tuple[Parameter, Parameter, Parameter]:
    return (
        parameter("g", 9.81, "m/s^2", "gravity"),
        parameter("m", 1, "kg", "mass of a rod"),
        parameter("l", 0.5, "m", "length of a rod"),
    )


def _rods(n: int, start: Frame, m: Parameter, length: Parameter) -> tuple[list[Body], list[Joint]]:
    bodies: list[Body] = []
    joints: list[Joint] = []
    end = start
    for k in range(1, n + 1):
        rod = body(f"rod{k}", solids=[solid("rod", length=length, mass=m, placement=along(DOWN))])
        angle = Coordinate(f"q{k}", "rad", "angle from the vertical" if k == 1 else "angle from the rod before")
        joints.append(revolute(f"pin{k}", end, rod, angle, ACROSS))
        bodies.append(rod)
        end = rod.at((0, -length, 0))
    return bodies, joints


def four_bar_chain(n: int) -> Mechanism:
    """n square linkages side by side that share their uprights; all of them are flat at the same times."""
    g = parameter("g", 9.81, "m/s^2", "gravity")
    m, length = parameter("m", 1, "kg", "mass of a bar"), parameter("l", 1, "m", "length of a bar")
    v = parameter("v", 1, "m/s", "speed of the upper ends at the start")
    uprights = [_bar(f"upright{k}", m, length) for k in range(n + 1)]
    beams = [_bar(f"beam{k}", m, length) for k in range(1, n + 1)]
    initial = {f"a{k}": PI / 2 for k in range(n + 1)} | {f"b{k}": -PI / 2 for k in range(1, n + 1)}
    return Mechanism(
        "four_bar_chain",
        bodies=[*uprights, *beams],
        joints=_hinges(uprights, beams, length),
        parameters=[g, m, length, v],
        gravity=(0, -g, 0),
        initial=initial | {"a0'": -as_expr(v) / length},
        meaning=f"row of {n} four-bar linkages",
    )


def _bar(name: str, m: Parameter, length: Parameter) -> Body:
    return body(name, solids=[solid("rod", length=length, mass=m, placement=along(FORWARD))])


def _hinges(uprights: list[Body], beams: list[Body], length: Parameter) -> list[Joint]:
    """Below each upright, before each beam, and behind it, where a loop closes."""
    end = (length, 0, 0)
    joints = [
        revolute(f"low{k}", EARTH.at((k * length, 0, 0)), upright, Coordinate(f"a{k}", "rad", "angle of the upright"))
        for k, upright in enumerate(uprights)
    ]
    for k, beam in enumerate(beams, 1):
        angle = Coordinate(f"b{k}", "rad", "angle of the beam on the upright before it")
        joints.append(revolute(f"before{k}", uprights[k - 1].at(end), beam, angle))
        joints.append(revolute(f"behind{k}", beam.at(end), uprights[k].at(end), f"c{k}"))
    return joints
