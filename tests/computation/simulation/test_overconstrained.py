"""Loops in space that move although a count of constraints says they cannot."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torseur as ts
from torseur.computation.simulation import parametrised
from torseur.errors import SimulationError

TWIST, LENGTHS = math.radians(40), (1.0, 1.4)
TWISTS = (TWIST, math.asin(LENGTHS[1] * math.sin(TWIST) / LENGTHS[0]))


def bennett() -> ts.Mechanism:
    """Four skew hinges whose opposite links are equal and whose lengths are as the sines of their twists."""
    lengths, twists = LENGTHS * 2, TWISTS * 2
    links = [
        ts.body(
            f"link{k}", mass=1 + 0.3 * k, centre=(lengths[k] / 2, 0.05 * k, 0.02), inertia=ts.inertia(0.02, 0.1, 0.1)
        )
        for k in range(3)
    ]
    ends = [links[k].at((lengths[k], 0, 0), ts.turn(twists[k], (1, 0, 0))) for k in range(3)]
    ground = ts.EARTH.at((-lengths[3], 0, 0), ts.turn(-twists[3], (1, 0, 0)))
    joints = [
        ts.revolute("J1", ts.EARTH, links[0], "q1"),
        ts.revolute("J2", ends[0], links[1], "q2"),
        ts.revolute("J3", ends[1], links[2], "q3"),
        ts.revolute("J4", ends[2], ground, "q4"),
    ]
    return ts.Mechanism("bennett", bodies=links, joints=joints, gravity=(0.3, -2.0, -9.81),
                        initial={"q1": 0.9, "q1'": 2.0})  # fmt: skip


def bricard() -> ts.Mechanism:
    """IFToMM A04: five rods of 1 m and 1 kg, six hinges square to the rods that meet there, gravity along -y."""
    points = [np.array(p, float) for p in ((0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1))]
    along = [points[(k + 1) % 6] - points[k] for k in range(6)]
    rods = [
        ts.body(f"rod{k}", solids=[ts.solid("rod", length=1, mass=1, placement=ts.along(tuple(along[k])))])
        for k in range(5)
    ]
    joints = []
    for k in range(6):
        before = rods[k - 1].at(tuple(along[k - 1])) if k else ts.EARTH
        after = rods[k].frame if k < 5 else ts.EARTH.at(tuple(points[5]))
        joints.append(ts.revolute(f"J{k}", before, after, f"q{k}", axis=tuple(np.cross(along[k - 1], along[k]))))
    return ts.Mechanism("bricard", bodies=rods, joints=joints, gravity=(0, -9.81, 0),
                        frames={"tip": rods[4].at(tuple(along[4]))})  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["augmented", "partitioned", "projector"])
def test_bennett_linkage_turns_for_a_hundred_seconds(formulation):
    """Oracle: tan(q1/2) tan(q2/2) is constant. Which constraints are good ones changes several times per turn."""
    motion = ts.simulate(bennett(), until=100, samples=1001, rtol=1e-12, formulation=formulation,
                         outputs=["energy", "kinetic_energy"])  # fmt: skip
    ratio = math.sin((TWISTS[1] + TWISTS[0]) / 2) / math.sin((TWISTS[1] - TWISTS[0]) / 2)
    assert np.ptp(motion["q1"]) > 3.0
    half = motion.q[:, :2] / 2
    closed = np.sin(half[:, 0]) * np.sin(half[:, 1]) - ratio * np.cos(half[:, 0]) * np.cos(half[:, 1])
    assert np.abs(closed).max() < 1e-10
    assert np.ptp(motion["energy"]) < 1e-9 * motion["kinetic_energy"].max()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["complete", "cartesian"])
def test_parametrisations_agree(kind):
    outputs = ["link1.position.x", "energy", "J1.moment.z"]
    expected = ts.simulate(bennett(), until=1.0, samples=6, rtol=1e-10, outputs=outputs)
    motion = ts.simulate(parametrised(bennett(), kind), until=1.0, samples=6, rtol=1e-10, outputs=outputs)
    assert np.abs(motion.outputs - expected.outputs).max() < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("method", ["explicit", "radau9"])
def test_bricard_mechanism_falls(method):
    """Conservation of energy and closure, by the place of a point of the last rod that the earth holds."""
    outputs = ["energy", *(f"tip.position.{axis}" for axis in "xyz")]
    motion = ts.simulate(bricard(), until=10, samples=101, rtol=1e-10, method=method, outputs=outputs)
    assert np.ptp(motion["energy"]) < 1e-7
    assert np.abs(motion.outputs[:, 1:] - [0, 0, 1]).max() < 1e-10


def test_one_redundancy_leaves_forces_open_but_not_those_along_the_hinges():
    """One self-stress runs round the Bricard loop; moments about the hinges are zero whatever it is."""
    outputs = [f"J{k}.{part}.{axis}" for k in range(6) for part in ("force", "moment") for axis in "xyz"]
    motion = ts.simulate(bricard(), until=1.0, samples=5, rtol=1e-10, outputs=outputs)
    determined = {name for name in outputs if not np.isnan(motion[name]).any()}
    hinge_axes = {"J0": "y", "J1": "z", "J2": "x", "J3": "y", "J4": "z", "J5": "x"}
    assert determined == {f"{joint}.moment.{axis}" for joint, axis in hinge_axes.items()}
    assert max(np.abs(motion[name]).max() for name in determined) < 1e-9
    (note,) = [note for note in motion.notes if "not determined:" in note]
    assert "share it" in note and "'J2.force.y'" in note


def test_dimensions_that_miss_leave_no_motion():
    """A Bennett linkage with a link of 1.41 m in place of 1.4 m is a structure; said before anything moves."""
    mechanism = bennett()
    joints = list(mechanism.joints)
    joints[3] = ts.revolute("J4", mechanism.bodies[2].at((1.0, 0, 0), ts.turn(TWISTS[0], (1, 0, 0))),
                            ts.EARTH.at((-1.41, 0, 0), ts.turn(-TWISTS[1], (1, 0, 0))), "q4")  # fmt: skip
    rigid = ts.Mechanism("rigid", bodies=mechanism.bodies, joints=joints, initial={"q1": 0.9, "q1'": 2.0})
    with pytest.raises(ts.TorseurError, match="violates the constraints"):
        ts.simulate(rigid, until=1.0)


def antenna_mesh() -> ts.Mechanism:
    """Three posts in a triangle joined by folding struts, nine hinges: four motions to first order, three finite ones."""
    length, rise = math.hypot(0.5, 0.5), math.pi / 4
    posts = [ts.body(f"post{k}", mass=1, centre=(0, 0, 0), inertia=ts.inertia(0.01, 0.01, 0.01)) for k in (2, 3)]
    bars = [
        ts.body(f"bar{k}", solids=[ts.solid("rod", length=length, mass=0.2, placement=ts.along((1, 0, 0)))])
        for k in range(6)
    ]
    places = [ts.EARTH, *(post.frame for post in posts), ts.EARTH]
    joints = []
    for k in range(3):
        aside = ts.turn(2 * ts.PI * k / 3, (0, 0, 1))
        start, end = places[k].at((0, 0, 0), aside), places[k + 1].at((0, 0, 0), aside)
        first, second = bars[2 * k], bars[2 * k + 1]
        joints.append(ts.revolute(f"low{k}", start, first, f"a{k}", axis=(0, -1, 0)))
        joints.append(ts.revolute(f"knee{k}", first.at((length, 0, 0)), second, f"b{k}", axis=(0, -1, 0)))
        joints.append(ts.revolute(f"high{k}", second.at((length, 0, 0)), end, f"c{k}", axis=(0, -1, 0)))
    initial = {f"a{k}": rise for k in range(3)} | {f"b{k}": -2 * rise for k in range(3)} | {"c0": rise, "c1": rise}
    return ts.Mechanism("mesh", bodies=[*posts, *bars], joints=joints,
                        initial=initial | {"a0'": 0.5, "a1'": -0.3, "a2'": 0.2})  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["augmented", "partitioned", "projector"])
def test_shaky_mesh_moves_as_it_can(formulation):
    """Oracle: posts stay upright and the struts cover equal spans, whatever first order allows."""
    motion = ts.simulate(antenna_mesh(), until=3, samples=31, rtol=1e-10, formulation=formulation,
                         outputs=["energy", *(f"post{k}.position.{axis}" for k in (2, 3) for axis in "xy")])  # fmt: skip
    assert any("loops are shaky" in note for note in motion.notes)
    assert np.ptp(motion["energy"]) < 1e-9 < np.ptp(motion["b0"])
    for k in (0, 1):
        assert np.abs(motion[f"a{k}"] + motion[f"b{k}"] + motion[f"c{k}"]).max() < 1e-4
    second = motion["post2.position.x"] + 1j * motion["post2.position.y"]
    third = motion["post3.position.x"] + 1j * motion["post3.position.y"]
    assert np.abs(third - second * np.exp(1j * math.pi / 3)).max() < 1e-4


@pytest.mark.slow
def test_a_tolerance_below_the_rounding_of_dimensions_is_explained():
    """A four-bar about an oblique axis, its dimensions with six decimals: steps to 1e-11 see the rounding, and it is named."""
    axis = np.array([0.125730, -0.132105, 0.640423])
    axis = axis / np.linalg.norm(axis)
    first = np.cross(axis, [1, 0, 0.3]) / np.linalg.norm(np.cross(axis, [1, 0, 0.3]))

    def at(length):
        return "[" + ", ".join(f"{x:.6f}" for x in length * first) + "] m"

    turning = "about [" + ", ".join(f"{x:.6f}" for x in axis) + "]"
    bodies = "".join(
        f"let {n} = body sphere radius = 0.1 m, mass = 1 kg at {at(l)} end ;"
        for n, l in (("a", 0.2), ("b", 0.45), ("c", 0.35))
    )
    text = f"""gravity = [0.3, -9.81, 1.1] ; {bodies} join earth and a.frame as A with revolute(q1) {turning} end ;
    join {at(0.4)} @ a and b.frame as B with revolute(q2) {turning} end ; join {at(1)} @ earth and c.frame as C with revolute(q3) {turning} end ;
    join {at(0.9)} @ b and {at(0.7)} @ c as D with revolute(q4) {turning}, role = loop end ; init q1 = 1, q1' = 2 ;"""
    ts.simulate(ts.parse(text), until=0.3, rtol=1e-9)
    with pytest.raises(
        SimulationError, match="rtol = 1e-14 cannot be met: joint 'D'.* stays open by .* because dimensions are rounded"
    ):
        ts.simulate(ts.parse(text), until=3.0, rtol=1e-14)
