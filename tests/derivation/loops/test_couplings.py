"""Gears, racks, cams, points and angles as constraints."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
import torseur.description.mechanism as tm
from derivation.loops import mechanisms as m
from torseur.algebra.graph import Table, evaluate
from torseur.derivation.loops import assemble, constraint_equations, loops
from torseur.derivation.tree import build_tree
from torseur.description.mechanism.constraints import angle, cam, driver, gear, point, rack
from torseur.errors import MechanismError, TorseurError


def wheels(*constraints_of):
    """Two wheels and a slide on the earth."""
    bodies = [tm.body(n, mass=1, centre=(0, 0, 0), inertia=0) for n in ("first", "second", "bar")]
    a, b, x = tm.Coordinate("a"), tm.Coordinate("b"), tm.Coordinate("x", "m")
    joints = [tm.revolute("A", tm.EARTH, bodies[0], a), tm.revolute("B", tm.EARTH.at((3, 0, 0)), bodies[1], b),
              tm.prismatic("X", tm.EARTH, bodies[2], x)]  # fmt: skip
    return tm.Mechanism("wheels", bodies=bodies, joints=joints, constraints=[make(a, b, x) for make in constraints_of])


def test_gear_rack_and_cam_leave_one_motion_and_hold_over_turns():
    lift = Table("lift", tuple(np.linspace(-20, 20, 81)), tuple(0.1 * np.sin(np.linspace(-20, 20, 81))), unit="m")
    mechanism = wheels(lambda a, b, x: gear("mesh", a, b, -2), lambda a, b, x: cam("cam", a, x, lift))
    found = loops(mechanism)
    assert (found.freedoms, found.finite) == (3, 1)
    closed = assemble(mechanism, {"a": 7.0}, locked=["a"]).configurations[0].coordinates
    assert closed["b"] == pytest.approx(-14)
    assert closed["x"] == pytest.approx(0.1 * np.sin(7.0), abs=1e-3)
    assert loops(wheels(lambda a, b, x: rack("rack", b, x, 0.05))).finite == 2


def test_a_driver_takes_a_motion_away_and_moves_with_time():
    mechanism = wheels(lambda a, b, x: driver("motor", a, 3 * tm.TIME), lambda a, b, x: rack("rack", a, x, 0.05))
    assert loops(mechanism).finite == 1
    closed = assemble(mechanism, time=2.0).configurations[0].coordinates
    assert (closed["a"], closed["x"]) == pytest.approx((6.0, 0.3))
    equations = constraint_equations(build_tree(mechanism))
    assert [float(e.drift) for e in equations] == [-3, 0]


def test_a_planetary_gear_train():
    """Oracle: Willis. Sun 20, planet 15, ring 50 teeth; ring held, the planet turns -50/15 of the carrier relative to it."""
    names = ("carrier", "sun", "planet")
    bodies = [tm.body(n, mass=1, centre=(0, 0, 0), inertia=0) for n in names]
    carrier, sun, planet = (tm.Coordinate(n) for n in ("c", "s", "p"))
    joints = [tm.revolute("C", tm.EARTH, bodies[0], carrier), tm.revolute("S", bodies[0], bodies[1], sun),
              tm.revolute("P", bodies[0].at((1, 0, 0)), bodies[2], planet)]  # fmt: skip
    meshes = [
        tm.Equation("ring", planet.symbol * 15 + carrier.symbol * 50),
        gear("mesh", sun, planet, tm.in_si(-20, "1") / 15),
    ]
    mechanism = tm.Mechanism("planetary", bodies=bodies, joints=joints, constraints=meshes)
    assert loops(mechanism).finite == 1
    at = assemble(mechanism, {"c": 0.6}, locked=["c"]).configurations[0].coordinates
    absolute_sun = at["c"] + at["s"]
    assert absolute_sun / at["c"] == pytest.approx(1 + 50 / 20)


def test_a_point_constraint_is_a_ball_and_an_angle_one_equation():
    d = m.Drawing("held")
    d.frame("plate", (0, 0, 0))
    d.joints.append(tm.free("float", tm.EARTH, tm.Frame("plate"), "x", "y", "z", "psi", "theta", "phi", angles="xyz"))
    d.joints.append(point("pin", tm.EARTH.at((1, 0, 0)), tm.Frame("plate", tm.placement((1, 0, 0)))))
    d.joints.append(angle("square", tm.EARTH, tm.Frame("plate"), m.X, m.Y))
    mechanism = d.mechanism()
    equations = constraint_equations(build_tree(mechanism))
    assert [e.name for e in equations] == [
        "joint 'pin': x",
        "joint 'pin': y",
        "joint 'pin': z",
        "joint 'square': angle between its axes",
    ]
    assert loops(mechanism).finite == 2
    start = dict.fromkeys(("x", "y", "z", "psi", "theta", "phi"), 0.0)
    tree = build_tree(mechanism)
    assert np.allclose(
        evaluate([e.residual for e in equations], {q: start[q.name] for q in tree.layout.coordinates}), 0
    )


def test_an_angle_between_parallel_axes_is_refused():
    with pytest.raises(MechanismError, match="parallel axes leave no angle"):
        angle("a", tm.EARTH, tm.EARTH, m.X, (2, 0, 0))


ONE = (
    "let b = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ; join earth and b.frame with revolute(q) end ;"
)


@pytest.mark.parametrize("question", [ts.loops, lambda mechanism: ts.simulate(mechanism, 1)])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("constrain q'^2 = 1 1/s^2 ;", "constraint 'equation' is not linear in 'q''"),
        ("constrain distance earth to b = -1 m ;", "a distance of -1 m cannot be kept"),
    ],
)
def test_impossible_constraints_are_refused_alike(question, text, message):
    with pytest.raises(TorseurError, match=message):
        question(ts.parse(f"{ONE} {text}"))


def test_a_constraint_that_always_holds():
    found = ts.loops(ts.parse(f"{ONE} constrain 3 = 3 ;"))
    assert [str(one) for one in found.redundancies] == ["constraint 'equation' (equation) holds in every position"]
