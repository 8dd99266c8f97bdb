"""Planar linkages for tests, by the lengths of their bars."""

from __future__ import annotations

import math
from dataclasses import replace

import torseur as ts


def closing(joint: ts.Joint) -> ts.Joint:
    """The joint as one that closes a loop."""
    return replace(joint, role="loop")


def bar(name: str, length: float, mass: float) -> ts.Body:
    """A uniform bar along x from its frame."""
    return ts.body(name, solids=[ts.solid("rod", length=length, mass=mass, placement=ts.along((1, 0, 0)))])


def four_bar(a=0.4, b=0.9, c=0.7, d=1.0, angle=math.pi / 3, rate=2.0, **more) -> ts.Mechanism:
    """Crank a, coupler b, rocker c, ground d; bars of 1, 2 and 1.5 kg under gravity along -y."""
    crank, coupler, rocker = bar("crank", a, 1.0), bar("coupler", b, 2.0), bar("rocker", c, 1.5)
    joints = [
        ts.revolute("A", ts.EARTH, crank, "q1"),
        ts.revolute("B", crank.at((a, 0, 0)), coupler, "q2"),
        ts.revolute("D", ts.EARTH.at((d, 0, 0)), rocker, "q3"),
        closing(ts.revolute("C", coupler.at((b, 0, 0)), rocker.at((c, 0, 0)), "q4")),
    ]
    options = {"gravity": (0, -9.81, 0), "initial": {"q1": angle, "q1'": rate}, **more}
    return ts.Mechanism("four_bar", bodies=[crank, coupler, rocker], joints=joints, **options)


def parallelogram(rate: float, gravity: float = 9.81, bars: int = 2) -> ts.Mechanism:
    """Parallel bars of 0.4 m and 1 kg that carry a coupler of 1 m and 2 kg; more than two bars are redundant."""
    coupler = bar("coupler", 1.0, 2.0)
    bodies, joints = [coupler], []
    for k in range(bars):
        x = k / (bars - 1)
        part = bar(f"bar{k}", 0.4, 1.0)
        bodies.append(part)
        joints.append(ts.revolute(f"low{k}", ts.EARTH.at((x, 0, 0)), part, f"a{k}"))
        high = ts.revolute(f"high{k}", part.at((0.4, 0, 0)), coupler.at((x, 0, 0)), f"b{k}")
        joints.append(closing(high) if k else high)
    initial = {"a0": math.pi / 3, "b0": -math.pi / 3, **{f"a{k}": math.pi / 3 for k in range(1, bars)}, "a0'": rate}
    return ts.Mechanism("parallelogram", bodies=bodies, joints=joints, gravity=(0, -gravity, 0), initial=initial)
