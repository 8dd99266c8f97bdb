"""Chains of pendulums, of any length."""

from __future__ import annotations

from torseur.algebra.graph import PI
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

DOWN, ACROSS = (0, -1, 0), (0, 0, 1)


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
