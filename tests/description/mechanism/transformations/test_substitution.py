"""Coordinates given by formulas: what follows, what is locked, and what becomes of loads along them."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
import torseur.derivation.dynamics as td
from torseur.description.mechanism import substitute_coordinates
from torseur.errors import MechanismError

TEXT = """
gravity = [0, -9.81, 1] m/s^2 ;
let a = body mass = 2 kg, centre = [0.1, 0.2, 0.3], inertia = diag(3, 2, 1) kg*m^2 end ;
let b = body mass = 1 kg, centre = [0.1, -0.2, 0.1], inertia = diag(0.3, 0.2, 0.4) kg*m^2 end ;
let c = body mass = 1.5 kg, centre = [0.3, -0.2, 0.1], inertia = diag(0.3, 0.2, 0.4) kg*m^2 end ;
join earth and a.frame as ja with revolute(q) about [0, 0.6, 0.8] end ;
join [0.3, 0.1, 0.2] @ a and b.frame as jb with cylindrical(r, s) about [1, 0.2, 0] torque(r) = -3 N*m*s*r' end ;
join [0.2, 0, 0.1] @ b and [0.1, 0.1, 0] @ c as jc with spherical(e0, e1, e2, e3) angles quaternion end ;
apply spring stiffness = 40 N/m, rest = 5 cm, damping = 2 N*s/m on jb.s ;
apply force [1 N*s * q', 2 N * r, 5 N/m * s] on c ;
init r = 0.1, s = 0.2, jc.wx = 1 ;
"""
"""A chain with loads along the coordinates that will go, and one that depends on them."""


@pytest.fixture(scope="module")
def chain():
    return ts.parse(TEXT)


def total(mechanism, q, v, a):
    """M v' + b - Q by name of speed."""
    tree = ts.build_tree(mechanism)
    names, speeds = tree.layout.coordinate_names, tree.layout.speed_names
    state = [q[n] for n in names], [v[n] for n in speeds]
    force = td.inverse_dynamics(tree, *state, [a[n] for n in speeds])
    loads = td.generalised_loads(tree, *state)
    return {n: float(x) - float(y) for n, x, y in zip(speeds, force, loads, strict=True)}


def test_followers_and_loads_along_them(chain):
    """Oracle: virtual work. The whole chain moves as the formulas say; its forces are projected on the rest."""
    leader = chain.joint("ja").coordinate("q").symbol
    less = substitute_coordinates(chain, {"r": 0.5 + 2 * leader, "s": 0.3 * leader**2})
    assert dict(less.initial).keys() == {"jc.wx"} and less.joint("jb").coordinates == ()
    x, u, w = 0.7, -0.4, 1.3
    ball = {"e0": 0.5, "e1": 0.5, "e2": -0.5, "e3": 0.5}
    spin, change = {f"jc.w{axis}": 0.3 for axis in "xyz"}, {f"jc.w{axis}": -0.2 for axis in "xyz"}
    q = {"q": x, "r": 0.5 + 2 * x, "s": 0.3 * x * x} | ball
    v = {"q'": u, "r'": 2 * u, "s'": 0.6 * x * u} | spin
    a = {"q'": w, "r'": 2 * w, "s'": 0.6 * (x * w + u * u)} | change
    whole, part = total(chain, q, v, a), total(less, {"q": x} | ball, {"q'": u} | spin, {"q'": w} | change)
    assert part["q'"] == pytest.approx(whole["q'"] + 2 * whole["r'"] + 0.6 * x * whole["s'"], rel=1e-12)
    for axis in "xyz":
        assert part[f"jc.w{axis}"] == pytest.approx(whole[f"jc.w{axis}"], rel=1e-12)


def test_locked_joints_leave_the_model(chain):
    """Oracle: the same rows of the whole chain at rest in those coordinates."""
    locked = {"r": 0.4, "s": -0.2, "e0": 0.1, "e1": -0.5, "e2": 0.5, "e3": 0.7}
    size = sum(value**2 for name, value in locked.items() if name[0] == "e") ** 0.5
    locked |= {name: value / size for name, value in locked.items() if name[0] == "e"}
    less = substitute_coordinates(chain, locked)
    assert [c.name for j in less.joints for c in j.coordinates] == ["q"]
    assert less.joint("jb").kind == less.joint("jc").kind == "fixed" and less.initial == ()
    q, v, a = {"q": 0.7}, {"q'": -1.3}, {"q'": 0.6}
    still = {name: 0.0 for name in ("r'", "s'", "jc.wx", "jc.wy", "jc.wz")}
    assert total(less, q, v, a)["q'"] == pytest.approx(total(chain, q | locked, v | still, a | still)["q'"], rel=1e-12)
    assert ts.parse(ts.to_text(less)) == less


def test_a_spring_on_a_follower_keeps_its_energy():
    body = ts.body("b", mass=1, centre=(0, 0, 0), inertia=0)
    other = ts.body("c", mass=1, centre=(0, 0, 0), inertia=0)
    joints = [ts.prismatic("j", ts.EARTH, body, "x"), ts.prismatic("k", ts.EARTH, other, "y")]
    spring = ts.coordinate_spring("s", "k", "y", stiffness=3.0, rest=0.5, damping=0.2)
    less = substitute_coordinates(
        ts.Mechanism("m", bodies=[body, other], joints=joints, loads=[spring]),
        {"y": -2 * joints[0].coordinate("x") + 1},
    )
    tree, x = ts.build_tree(less), 0.3
    assert float(td.elastic_energy(tree, [x])) == pytest.approx(1.5 * (-2 * x + 0.5) ** 2)
    expected = -2 * (-3 * (-2 * x + 0.5) - 0.2 * -2 * 0.7)
    assert float(td.generalised_loads(tree, [x], [0.7])[0]) == pytest.approx(expected)


def test_mistakes(chain):
    q, r = (chain.joint(j).coordinate(c).symbol for j, c in (("ja", "q"), ("jb", "r")))
    for formulas, words in (
        ({"qq": 1.0}, "unknown coordinate 'qq'"),
        ({"q": r, "r": q}, "follows itself"),
        ({"e0": 1.0}, "turns by a quaternion"),
        ({"r": chain.joint("ja").coordinate("q").rate}, "not rates"),
    ):
        with pytest.raises(MechanismError, match=words):
            substitute_coordinates(chain, formulas)


def test_constraints_that_are_fulfilled_go_and_impossible_ones_are_refused():
    body, other = ts.body("b", mass=1, centre=(0, 0, 0), inertia=0), ts.body("c", mass=1, centre=(0, 0, 0), inertia=0)
    joints = [ts.prismatic("j", ts.EARTH, body, "x"), ts.prismatic("k", ts.EARTH, other, "y")]
    x, y = (joint.coordinates[0].symbol for joint in joints)
    tied = ts.Mechanism("m", bodies=[body, other], joints=joints, constraints=[ts.equation("e", y - 2 * x)])
    assert substitute_coordinates(tied, {"y": 2 * x}).constraints == ()
    with pytest.raises(MechanismError, match="constraint 'e' cannot hold"):
        substitute_coordinates(tied, {"y": 2 * x + 1})
    assert np.isclose(
        float(substitute_coordinates(tied, {"x": 1.0, "y": 2.0}).joint("k").parent.placement.position[0]), 2
    )
