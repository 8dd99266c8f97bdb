"""Mechanisms with loops, rolling wheels and stiff parts whose motions are known, described as a user would."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import torseur as ts
from torseur.algebra.graph import as_expr
from torseur.description import library
from torseur.description.mechanism import Rolling
from torseur.description.mechanism.quantities import as_vector

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
    """Andrews' squeezing mechanism, its coordinates in the order of the literature."""
    return library.load("andrews_squeezer")


def flyball() -> ts.Mechanism:
    """IFToMM A05."""
    return library.load("flyball_governor")


def car_axis() -> ts.Mechanism:
    """The car axis of the IVP test set."""
    return library.load("car_axis")


def rolling_disc(tyre: float = 0.0) -> ts.Mechanism:
    """A thin uniform disc of radius 1 m on a plane, its axle along z of its frame; `tyre` thickens the rim."""
    disc = ts.body("disc", mass=1, centre=(0, 0, 0), inertia=ts.inertia(0.25, 0.25, 0.5))
    joint = ts.free("motion", ts.EARTH, disc, "x", "y", "z", "yaw", "tilt", "spin", angles="zxz")
    rim = as_expr(1 - tyre) if tyre else as_expr(1)
    contact = Rolling("contact", disc.frame, rim, as_vector((0, 0, 1), "up"), tyre_radius=as_expr(tyre))
    return ts.Mechanism("disc", bodies=[disc], joints=[joint], gravity=(0, 0, -9.81), constraints=[contact])


def bicycle() -> ts.Mechanism:
    """The benchmark bicycle of Meijaard, Papadopoulos, Ruina and Schwab (2007)."""
    return library.load("whipple_bicycle")


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
