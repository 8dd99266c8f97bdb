"""Mechanisms of the reference robots, built by hand from their URDF data (oracles/robots, values by Pinocchio 4.1)."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from functools import lru_cache
from pathlib import Path

import numpy as np

import torseur.mechanism as tm
from torseur.graph import as_expr

FOLDER = Path(__file__).parent / "oracles" / "robots"
ROBOTS = ("double_pendulum", "ur5", "solo12")


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(x) for x in text.split())


def _placement(element: ET.Element | None) -> tm.Placement:
    if element is None:
        return tm.HERE
    roll, pitch, yaw = _numbers(element.get("rpy", "0 0 0"))
    turns = [tm.turn(a, axis) for a, axis in ((yaw, (0, 0, 1)), (pitch, (0, 1, 0)), (roll, (1, 0, 0))) if a]
    return tm.placement(_numbers(element.get("xyz", "0 0 0")), *turns)


def _body(link: ET.Element) -> tm.Body:
    inertial = link.find("inertial")
    name = link.get("name")
    if inertial is None:
        return tm.body(name, mass=0, centre=(0, 0, 0), inertia=0)
    given = inertial.find("inertia").attrib
    matrix = tm.inertia(*(float(given[f"i{c}"]) for c in ("xx", "yy", "zz", "xy", "xz", "yz")))
    mass = as_expr(float(inertial.find("mass").get("value")))
    return tm.Body(name, mass, _placement(inertial.find("origin")), matrix)


def _joint(element: ET.Element) -> tm.Joint:
    name, kind = element.get("name"), element.get("type")
    parent = tm.Frame(element.find("parent").get("link"), _placement(element.find("origin")))
    child = tm.Frame(element.find("child").get("link"))
    if kind == "fixed":
        return tm.fixed(name, parent, child)
    axis = _numbers(element.find("axis").get("xyz"))
    make = tm.prismatic if kind == "prismatic" else tm.revolute
    return make(name, parent, child, name, axis)


@lru_cache
def robot(name: str) -> tm.Mechanism:
    """The mechanism; a robot with a floating base gets a free joint with a quaternion and speeds in body axes."""
    root = ET.parse(FOLDER / f"{name}_nomesh.urdf").getroot()
    bodies = [_body(link) for link in root.findall("link")]
    joints = [_joint(joint) for joint in root.findall("joint")]
    carried = {joint.child.body for joint in joints}
    base = next(body for body in bodies if body.name not in carried)
    if bool(data(name)["free_flyer"]):
        names = ("x", "y", "z", "qw", "qx", "qy", "qz")
        joints.insert(0, tm.free("root", tm.EARTH, base, *names, angles="quaternion", speeds="body"))
    else:
        joints.insert(0, tm.fixed("root", tm.EARTH, base))
    return tm.Mechanism(name, bodies=bodies, joints=joints, gravity=(0, 0, -9.81))


@lru_cache
def data(name: str) -> dict[str, np.ndarray]:
    """Stored states and values."""
    return dict(np.load(FOLDER / f"{name}.npz", allow_pickle=False))


def our_coordinates(name: str, q: np.ndarray) -> list[float]:
    """The stored coordinates in our order: quaternions with the scalar first."""
    if not bool(data(name)["free_flyer"]):
        return list(q)
    return [*q[:3], q[6], *q[3:6], *q[7:]]
