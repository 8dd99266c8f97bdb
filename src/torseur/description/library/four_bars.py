"""Rows of four-bar linkages, of any length (IFToMM benchmark A02)."""

from __future__ import annotations

from torseur.algebra.graph import PI, as_expr
from torseur.description.mechanism import (
    EARTH,
    Body,
    Joint,
    Mechanism,
    Parameter,
    along,
    body,
    parameter,
    revolute,
    solid,
)
from torseur.description.mechanism.quantities import Coordinate

FORWARD = (1, 0, 0)


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
