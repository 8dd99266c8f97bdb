"""The car of parts, tyres from files and by other laws, and inputs of parts that move."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from description.library.test_tyres import PACE, rig
from torseur import library

TIR = """[MDI_HEADER]
FILE_TYPE ='tir'
[UNITS]
LENGTH ='meter'
FORCE ='newton'
ANGLE ='radians'
[MODEL]
PROPERTY_FILE_FORMAT ='PAC2002'   $ version
TYRESIDE = 'LEFT'
[DIMENSION]
UNLOADED_RADIUS = 0.313 $ m
[VERTICAL]
VERTICAL_STIFFNESS = 2.1e5
FNOMIN = 4000
"""
# Pacejka, Tyre and Vehicle Dynamics (2006), table A3.1: a tyre 205/60 R15.
SIDEWAYS = {
    "PCY1": 1.193, "PDY1": -0.990, "PDY2": 0.145, "PEY1": -1.003, "PEY2": -0.537, "PEY3": -0.083, "PKY1": -14.95,
    "PKY2": 2.130, "PHY1": 0.003, "PHY2": -0.001, "PVY1": 0.045, "PVY2": -0.024,
}  # fmt: skip
FORWARD = {
    "PCX1": 1.685, "PDX1": 1.210, "PDX2": -0.037, "PEX1": 0.344, "PEX2": 0.095, "PEX3": -0.020, "PKX1": 21.51,
    "PKX2": -0.163, "PKX3": 0.245, "PHX1": -0.002, "PHX2": 0.002,
}  # fmt: skip


def tyre_file(tmp_path, change=("", "")):
    lines = [f"{name} = {value}" for name, value in {**SIDEWAYS, **FORWARD}.items()]
    (tmp_path / "my.tir").write_text((TIR + "\n".join(lines)).replace(*change))


def measured(text, steer, path=None):
    """The force on the wheel ahead and to the left of it, and upward, at the first instant."""
    outputs = [f"carrier.acceleration.{c}" for c in "xyz"]
    mechanism = ts.parse(text) if path is None else ts.load(path)
    motion = ts.simulate(mechanism, until=1e-6, samples=2, outputs=outputs).dataset
    x, y, z = (motion[name].values[0] * 1000.001 for name in outputs)
    c, s = np.cos(steer), np.sin(steer)
    return c * x + s * y, c * y - s * x, z


def on_rig(part, source, steer, kappa, load, stiffness, radius, lengths):
    deflections = f", tyre.u = {kappa * lengths[0]} m, tyre.w = {np.tan(steer) * lengths[1]} m"
    text = rig(steer, 0, PACE / 0.3, radius - load / stiffness, start=deflections)
    return text.replace('magic_tyre as tyre from "library:parts/tyres"', f'{part} as tyre from "{source}"')


@pytest.mark.parametrize(("steer", "load"), [(0.02, 4000.0), (0.15, 2500.0), (-0.08, 6000.0)])
def test_published_tyre_from_a_file_sideways(tmp_path, steer, load):
    """Oracle: the equations (4.E19) to (4.E30) of the book, evaluated here for its tyre."""
    tyre_file(tmp_path)
    p, d, alpha = SIDEWAYS, (load - 4000) / 4000, -steer
    a = alpha + p["PHY1"] + p["PHY2"] * d
    mu = p["PDY1"] + p["PDY2"] * d
    e = (p["PEY1"] + p["PEY2"] * d) * (1 - p["PEY3"] * np.sign(a))
    stiffness = p["PKY1"] * 4000 * np.sin(2 * np.arctan(load / (p["PKY2"] * 4000)))
    x = stiffness / (p["PCY1"] * mu * load) * a
    expected = mu * load * np.sin(p["PCY1"] * np.arctan(x - e * (x - np.arctan(x))))
    expected += load * (p["PVY1"] + p["PVY2"] * d)
    (tmp_path / "rig.lsd").write_text(on_rig("pacejka_tyre", "my.tir", steer, 0, load, 2.1e5, 0.313, (0.1, 0.5)))
    # The rest of the file's coefficients is none: sliding forward only weighs the force sideways.
    _, sideways, up = measured("", steer, tmp_path / "rig.lsd")
    assert up == pytest.approx(load, rel=1e-9)
    assert sideways == pytest.approx(expected, rel=1e-9)


def test_published_tyre_from_a_file_forward(tmp_path):
    """Oracle: the equations (4.E9) to (4.E18) of the book."""
    tyre_file(tmp_path)
    p, load, kappa = FORWARD, 5000.0, 0.06
    d = (load - 4000) / 4000
    k = kappa + p["PHX1"] + p["PHX2"] * d
    mu, e = p["PDX1"] + p["PDX2"] * d, p["PEX1"] + p["PEX2"] * d + p["PEX3"] * d**2
    x = load * (p["PKX1"] + p["PKX2"] * d) * np.exp(p["PKX3"] * d) / (p["PCX1"] * mu * load) * k
    expected = mu * load * np.sin(p["PCX1"] * np.arctan(x - e * (x - np.arctan(x))))
    (tmp_path / "rig.lsd").write_text(on_rig("pacejka_tyre", "my.tir", 0.0, kappa, load, 2.1e5, 0.313, (0.1, 0.5)))
    assert measured("", 0.0, tmp_path / "rig.lsd")[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("PAC2002", "MF61"), r"my\.tir:8: MF61 is another version of the Magic Formula"),
        (("'meter'", "'inch'"), r"my\.tir:4: LENGTH is 'inch'"),
        (("PDY1 = -0.99", "PDY1 = much"), r"my\.tir:\d+: PDY1: expected a number"),
        (("FNOMIN", "FNOMINAL"), "there is no FNOMIN"),
    ],
)
def test_tyre_files_that_cannot_be_used(tmp_path, change, words):
    tyre_file(tmp_path, change)
    (tmp_path / "rig.lsd").write_text(on_rig("pacejka_tyre", "my.tir", 0.0, 0, 4e3, 2.1e5, 0.313, (0.1, 0.5)))
    with pytest.raises(ts.TorseurError, match=words):
        ts.load(tmp_path / "rig.lsd")


@pytest.mark.slow
def test_linear_and_brush_tyres():
    """Oracle: C tan α; and the brush model's cubic, with sliding where the stiffness would give more than friction."""
    ahead, sideways, _ = measured(
        on_rig("linear_tyre", "library:parts/tyres", 0.05, 0.02, 4e3, 2e5, 0.32, (0.1, 0.3)), 0.05
    )
    assert (ahead, sideways) == (pytest.approx(80e3 * 0.02, rel=1e-9), pytest.approx(50e3 * np.tan(0.05), rel=1e-9))
    for steer in (0.05, 0.4):
        _, sideways, _ = measured(
            on_rig("brush_tyre", "library:parts/tyres", steer, 0, 4e3, 2e5, 0.32, (0.1, 0.3)), steer
        )
        s = min(50e3 * np.tan(steer) / (3 * 4e3), 1.0)
        assert sideways == pytest.approx(4e3 * (3 * s - 3 * s**2 + s**3), rel=1e-8)


def test_the_car_has_fourteen_freedoms():
    """Oracle: six of the body, a travel and a turn of each wheel."""
    report = ts.loops(library.load("car"))
    assert report.finite == 14


@pytest.mark.slow
def test_the_car_turns_alike_to_both_sides():
    """Oracle: symmetry, once the engine along the car, which is a gyroscope, has no inertia."""
    car = ts.derive(library.load("car"))
    turns = [
        ts.simulate(
            car, 2.0, samples=21, parameters={"steer": angle, "drive.J": 1e-9}, rtol=1e-6, outputs=["body.rotation.z"]
        )
        for angle in (0.4, -0.4)
    ]
    left, right = (turn["body.rotation.z"] for turn in turns)
    np.testing.assert_allclose(left, -right, atol=2e-5)
    assert left[-1] > 0.14


PORT = """
part post(h = 0 m, k = 1 kN/m, c = 10 N*s/m) attach top
    apply force [0, 0, k*(h - top.position.z) - c*top.velocity.z] on top as prop ;
end ;
part pair(ground = 0 m) attach top
    use post as inner(h = ground) attach top to top ;
end ;
gravity = [0, 0, -9.81] ;
let load = body mass = 2 kg, centre = 0, inertia = 0 end ;
join earth and load with link(x, z) dof = [x, 0, z] end ;
law road(s in m) = 0.1 m * sin(s/1 m) ;
use pair as a(ground = road(load.position.x)) attach top to load ;
init x' = 1 m/s ;
"""


@pytest.mark.slow
def test_values_that_move_go_through_parts_of_parts():
    """Oracle: the same force written without parts."""
    whole = ts.parse(PORT)
    _, tail = PORT.split("gravity", 1)
    by_hand = "gravity" + tail.replace(
        "use pair as a(ground = road(load.position.x)) attach top to load ;",
        "apply force [0, 0, 1 kN/m*(road(load.position.x) - load.position.z) - 10 N*s/m*load.velocity.z] on load ;",
    )
    assert [p.name for p in whole.parameters] == ["a.inner.k", "a.inner.c"]
    here, there = (ts.simulate(m, 3.0, samples=7)["z"] for m in (whole, ts.parse(by_hand)))
    np.testing.assert_allclose(here, there, rtol=1e-10)
    assert ts.parse(ts.to_text(whole)) == whole


def test_values_that_move_are_refused_where_nothing_may():
    text = """
    part ball(m = 1 kg) attach top
        let inner = body mass = m, centre = 0, inertia = 0 end ;
        join top and inner with fixed end ;
    end ;
    let cart = body mass = 1 kg, centre = 0, inertia = 0 end ;
    join earth and cart with prismatic(x) end ;
    use ball as b(m = 1 kg + x*1 kg/m) attach top to cart ;
    """
    with pytest.raises(ts.TorseurError, match=r":8:.*mass of a body may depend on parameters only"):
        ts.parse(text)
