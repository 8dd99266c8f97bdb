"""Small systems with known motions, written as programs."""

from __future__ import annotations

from math import pi

from torseur.algebra.graph import Input, Program, symbol, vector
from torseur.algebra.graph.scalar import cos, sin, sqrt
from torseur.computation.simulation import Quantity, System

T = symbol("t", "s")


def program(states, parameters, slopes, name="rhs"):
    inputs = (Input("t", (T,)), Input("y", tuple(states)), Input("p", tuple(parameters)))
    return Program(name, inputs, (vector("dy", slopes),))


def oscillator(x=1.0, v=0.0, k=1.0):
    """x'' = -k x."""
    position, velocity, stiffness = symbol("x", "m"), symbol("v", "m/s"), symbol("k", "1/s^2")
    energy = (velocity**2 + stiffness * position**2) / 2
    return System(
        name="oscillator",
        states=(Quantity("x", "m", "position"), Quantity("v", "m/s", "velocity")),
        initial=(x, v),
        rhs=program((position, velocity), (stiffness,), (velocity, -stiffness * position)),
        coordinates=1,
        parameters=(Quantity("k", "1/s^2", "stiffness per mass"),),
        values=(k,),
        quantities={"energy": (Quantity("energy", "J/kg", "energy per mass"), energy)},
    )


def kepler(eccentricity=0.3):
    """A planet about a fixed sun, period 2 pi, starting at the perihelion."""
    x, y, vx, vy = (symbol(name) for name in ("x", "y", "vx", "vy"))
    r3 = sqrt(x * x + y * y) ** 3
    e = eccentricity
    return System(
        name="kepler",
        states=(Quantity("x", "m"), Quantity("y", "m"), Quantity("vx", "m/s"), Quantity("vy", "m/s")),
        initial=(1 - e, 0.0, 0.0, ((1 + e) / (1 - e)) ** 0.5),
        rhs=program((x, y, vx, vy), (), (vx, vy, -x / r3, -y / r3)),
        coordinates=2,
        quantities={
            "energy": (Quantity("energy", "J/kg"), (vx**2 + vy**2) / 2 - 1 / sqrt(x * x + y * y)),
            "momentum": (Quantity("momentum", "m^2/s"), x * vy - y * vx),
        },
    )


def double_pendulum():
    """The orthogonal double pendulum, solved for its accelerations by Cramer's rule."""
    q1, q2, w1, w2 = (symbol(name) for name in ("q1", "q2", "w1", "w2"))
    m1, m2, r2, l2, g = (symbol(name) for name in ("m1", "m2", "r2", "l2", "g"))
    s1, c1, s2, c2 = sin(q1), cos(q1), sin(q2), cos(q2)
    a1, b2 = m1 * r2**2, m2 * l2**2
    m11, m12, m22 = a1 + b2 * c2**2 + m2 * r2**2, m2 * l2 * r2 * s2, b2
    f1 = 2 * b2 * w1 * w2 * s2 * c2 - g * (m1 + m2) * r2 * s1 + g * l2 * m2 * c1 * c2 - l2 * m2 * w2**2 * r2 * c2
    f2 = -b2 * w1**2 * s2 * c2 - g * l2 * m2 * s1 * s2
    d = m11 * m22 - m12 * m12
    kinetic = (m11 * w1**2 + 2 * m12 * w1 * w2 + m22 * w2**2) / 2
    potential = -(g * r2 * (m1 + m2) * c1 + g * m2 * l2 * s1 * c2)
    slopes = (w1, w2, (m22 * f1 - m12 * f2) / d, (m11 * f2 - m12 * f1) / d)
    units = {"m1": "kg", "m2": "kg", "r2": "m", "l2": "m", "g": "m/s^2"}
    return System(
        name="double pendulum",
        states=(Quantity("q1", "rad"), Quantity("q2", "rad"), Quantity("w1", "rad/s"), Quantity("w2", "rad/s")),
        initial=(pi / 4, pi / 4, 0.0, 0.0),
        rhs=program((q1, q2, w1, w2), (m1, m2, r2, l2, g), slopes),
        coordinates=2,
        parameters=tuple(Quantity(name, unit) for name, unit in units.items()),
        values=(4.0, 2.0, 5.0, 2.0, 9.81),
        quantities={
            "kinetic_energy": (Quantity("kinetic_energy", "J"), kinetic),
            "energy": (Quantity("energy", "J"), kinetic + potential),
        },
    )


def ball(height=1.0, speed=0.0, g=9.81):
    """A ball in free fall."""
    z, v, gravity = symbol("z", "m"), symbol("v", "m/s"), symbol("g", "m/s^2")
    return System(
        name="ball",
        states=(Quantity("z", "m", "height"), Quantity("v", "m/s")),
        initial=(height, speed),
        rhs=program((z, v), (gravity,), (v, -gravity)),
        coordinates=1,
        parameters=(Quantity("g", "m/s^2"),),
        values=(g,),
    )
