"""The descriptions in samples/ say what the same mechanisms built in Python say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torseur.algebra.graph import PI, UndeterminedFunction, scalar, symbol
from torseur.description.language import load, parse, to_text
from torseur.description.mechanism import (
    EARTH,
    TIME,
    Frame,
    JointWrench,
    Law,
    Mechanism,
    Parameter,
    along,
    body,
    coordinate_spring,
    inertia,
    motor,
    parameter,
    placement,
    prismatic,
    revolute,
    rotation,
    sequence,
    solid,
    translation,
    turn,
)
from torseur.description.mechanism.quantities import ORIGIN, Coordinate

SAMPLES = Path(__file__).parent / "samples"
FILES = sorted(SAMPLES.glob("*.lsd"))


def double_pendulum() -> Mechanism:
    g, m1, m2 = parameter("g", 9.81, "m/s^2", "gravity"), parameter("m1", 4, "kg"), parameter("m2", 2, "kg")
    r2, l2 = parameter("r2", 5, "m", "elbow distance"), parameter("l2", 2, "m")
    arm = body("arm", mass=m1, centre=(0, -r2, 0), inertia=inertia(m1 * r2**2, 0, m1 * r2**2, about="frame"))
    blade = body("blade", mass=m2, centre=(-l2, 0, 0), inertia=inertia(0, m2 * l2**2, m2 * l2**2, about="frame"))
    shoulder = revolute("shoulder", EARTH, arm, "q1", (0, 0, 1))
    elbow = revolute("elbow", arm.at((0, -r2, 0), turn(PI / 2, (1, 0, 0))), blade, "q2", (0, 0, 1))
    return Mechanism(
        "double_pendulum",
        bodies=[arm, blade],
        joints=[shoulder, elbow],
        parameters=[g, m1, m2, r2, l2],
        gravity=(0, -g, 0),
        initial={"q1": PI / 4, "q2": PI / 4},
        meaning="orthogonal double pendulum",
    )


def slider_crank() -> Mechanism:
    r, length, k = parameter("r", 0.3, "m"), parameter("l", 0.8, "m"), parameter("k", 200, "N/m")
    crank = body("crank", solids=[solid("rod", length=r, mass=1, placement=along((1, 0, 0)))])
    rod = body("rod", solids=[solid("rod", length=length, mass=1.5, placement=along((1, 0, 0)))])
    piston = body("piston", mass=2, inertia=0)
    tau = UndeterminedFunction("tau", 1, "N*m")
    joints = [
        revolute("main", EARTH, crank, "theta", (0, 0, 1)),
        revolute("pin", crank.at((r, 0, 0)), rod, "phi", (0, 0, 1)),
        prismatic("guide", EARTH, piston, "x", (1, 0, 0)),
        revolute("wrist", rod.at((length, 0, 0)), piston, "psi", (0, 0, 1)),
    ]
    loads = [
        motor("main.torque", "main", "theta", tau(TIME) - 0.02 * symbol("theta'", "rad/s", "rate of theta")),
        coordinate_spring("guide.spring", "guide", "x", stiffness=k, rest=0.9),
    ]
    return Mechanism(
        "slider_crank",
        bodies=[crank, rod, piston],
        joints=joints,
        parameters=[r, length, k],
        loads=loads,
        laws=[Law(tau, (TIME,), 2 * (1 - scalar.exp(-TIME / 0.1)))],
        initial={"theta": PI / 3},
    )


@pytest.mark.parametrize("built", [double_pendulum(), slider_crank()], ids=lambda m: m.name)
def test_text_says_what_python_says(built):
    assert load(SAMPLES / f"{built.name}.lsd") == built


def test_the_surviving_sample_reads_as_its_author_meant():
    """Joints start from the earth, names repeat between joints, what is not given is a symbol named after its owner."""
    m = load(SAMPLES / "satellite.lsd")
    assert [b.name for b in m.bodies] == ["satellite", "bras_primaire", "bras_secondaire", "reflecteur"]
    assert m.name == "satellite" and m.body("satellite").mass is None and m.body("bras_primaire").mass.is_zero
    base, hinge, slide, last = m.joints
    assert (base.parent, base.child) == (EARTH, Frame("satellite"))
    assert [q.name for q in base.coordinates] == ["satellite.x", "y", "z", "ps", "th", "ph"]
    assert [q.unit for q in base.coordinates] == ["m"] * 3 + ["rad"] * 3
    assert [motion.kind for motion in base.motions] == ["translation"] * 3 + ["rotation"] * 3
    assert [j.coordinates[0].name for j in (hinge, slide, last)] == [
        "bras_primaire.x",
        "bras_secondaire.x",
        "reflecteur.x",
    ]
    assert [j.coordinates[0].unit for j in (hinge, slide, last)] == ["rad", "m", "rad"]


def test_the_surviving_sample_equals_the_same_in_python():
    """Oracle: the middle of the sample built by hand."""
    m = load(SAMPLES / "satellite.lsd")
    x = Coordinate("bras_secondaire.x", "m")
    parent, child = Frame("bras_primaire"), Frame("bras_secondaire")
    assert m.joints[2] == sequence("bras_primaire_bras_secondaire", parent, child, [x], [translation((0, 1, 0), x)])
    angle = Coordinate("bras_primaire.x", "rad")
    s = Parameter(symbol("bras_primaire.s", "m"), None, "m")
    placed = Frame("satellite", placement((0, 0, s)))
    turned = [rotation((1, 0, 0), angle)]
    assert m.joints[1] == sequence("satellite_bras_primaire", placed, Frame("bras_primaire"), [angle], turned)
    assert s in m.parameters
    fs = UndeterminedFunction("bras_secondaire.fs", 2, "N")(x.symbol, x.rate)
    name = "bras_primaire_bras_secondaire"
    zero = ORIGIN[0]
    assert m.loads[1] == JointWrench(f"{name}.wrench", name, (zero, fs, zero), ORIGIN)
    force = m.loads[3]
    assert [str(c) for c in force.force] == [f"force_on_satellite.{axis}" for axis in "xyz"]
    assert (force.axes, force.on) == (Frame("satellite"), Frame("satellite", base="iframe"))


def test_the_surviving_sample_prints_back():
    """Statement by statement the printed text is the sample, but for layout and the side of the earth."""
    text = to_text(
        load(SAMPLES / "satellite.lsd").__class__(**_fields(load(SAMPLES / "satellite.lsd"), name="mechanism"))
    )
    printed, original = (_statements(t) for t in (text, (SAMPLES / "satellite.lsd").read_text()))
    same = {
        "join satellite.frame and earth with link": "join earth and satellite.frame with link",
        "[0,0,?s] ++ 1 @ satellite": "[0,0,?s] @ satellite",
        "iframe = [0,0,?s] ++ 1": "centre = [0,0,?s]",
    }
    for written, shown in same.items():
        original = [statement.replace(written, shown) for statement in original]
    assert printed == original


def _fields(mechanism: Mechanism, **changes: object) -> dict[str, object]:
    return {f: getattr(mechanism, f) for f in Mechanism.__dataclass_fields__} | changes


def _statements(text: str) -> list[str]:
    without_comments = re.sub(r"\(\*.*?\*\)", "", text)
    return [re.sub(r",\s+(?=[\w?\[])", ",", " ".join(s.split())) for s in without_comments.split(";") if s.strip()]


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_every_sample_prints_and_reads_back(file):
    mechanism = load(file)
    text = to_text(mechanism)
    assert parse(text) == mechanism
    assert to_text(parse(text)) == to_text(mechanism)
    assert max(len(line) for line in text.splitlines()) <= 120


def test_order_of_statements_does_not_matter():
    text = re.sub(r"\(\*.*?\*\)", "", (SAMPLES / "slider_crank.lsd").read_text())
    statements = [s for s in text.split(";") if s.strip()]
    joints = [s for s in statements if s.strip().startswith("join")]
    others = [s for s in statements if s not in joints]
    shuffled = ";".join([*reversed(others[1:]), *joints, others[0]]) + ";"
    first, second = parse(text), parse(shuffled)
    assert {b.name: b for b in first.bodies} == {b.name: b for b in second.bodies}
    assert {p.name: p for p in first.parameters} == {p.name: p for p in second.parameters}
    assert (first.joints, first.laws, first.initial, first.name) == (
        second.joints,
        second.laws,
        second.initial,
        second.name,
    )
