"""Reactions in joints: Newton-Euler against multipliers, closed forms, and values along a motion."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

import torseur as ts
import torseur.description.mechanism as tm
from derivation.formalisms.examples import cart_pendulum, declared_speeds, driven_tree
from strategies import mechanisms
from torseur.algebra.graph import as_expr, evaluate, symbols_of
from torseur.derivation.equations.random_states import (
    multiple_precision_values,
    random_fraction,
    rational_state,
)
from torseur.derivation.formalisms import derive, reactions
from torseur.description import library
from torseur.description.mechanism import TIME


def both_ways(mechanism: tm.Mechanism) -> list[tuple[float, float]]:
    """Components of all joints by both methods, at a random state with random multipliers."""
    by_bodies, by_multipliers = (reactions(mechanism, method=method) for method in ("newton_euler", "multipliers"))
    state = rational_state(ts.build_tree(mechanism), Random(1))
    pairs = []
    for joint, reaction in by_bodies.items():
        other = by_multipliers[joint].components
        unknown = [x for x in symbols_of([*reaction.components, *other]) if x not in state]
        values = state | {x: random_fraction(Random(str(x.name))) for x in unknown}
        numbers = multiple_precision_values([*reaction.components, *other], values)
        pairs += [(float(a), float(b)) for a, b in zip(numbers[:6], numbers[6:], strict=True)]
    return pairs


MECHANISMS = [cart_pendulum(2), driven_tree(), declared_speeds()]
MECHANISMS += [library.load(name) for name in ("four_bar", "slider_crank", "rolling_disc", "cardan", "puma560")]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.name)
def test_newton_euler_and_multipliers_agree(mechanism):
    left, right = np.array(both_ways(mechanism)).T
    assert left == pytest.approx(right, rel=1e-11, abs=1e-11)


@pytest.mark.slow
@settings(
    max_examples=8, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
@given(mechanisms(max_bodies=4))
def test_they_agree_on_random_trees(mechanism):
    left, right = np.array(both_ways(mechanism)).T
    assert left == pytest.approx(right, rel=1e-9, abs=1e-9 * (1 + np.abs(left).max()))


def test_pendulum_as_formulas():
    """Oracle: m (l θ'' + g sin θ) across and m (l θ'² + g cos θ) along the rod."""
    found = reactions(library.load("pendulum"))["pivot"]
    m, length, g, theta, rate, change = 1.3, 0.7, 9.7, 0.4, 1.1, -2.0
    names = {"m": m, "l": length, "g": g, "theta": theta, "theta'": rate, "theta''": change}
    values = {x: names[str(x.name)] for x in symbols_of(found.components)}
    force = evaluate(found.force, values)
    across, along = m * (length * change + g * np.sin(theta)), m * (length * rate**2 + g * np.cos(theta))
    assert force == pytest.approx([across, along, 0])
    assert found["force.y"] is found.force[1]


def test_forces_in_a_joint_are_part_of_its_reaction():
    """Oracle: a bar at rest held by a given moment m g l / 2 in its pin, and by nothing else."""
    bar = tm.body("bar", mass=2, centre=(0.5, 0, 0), inertia=0)
    pin = tm.revolute("pin", tm.EARTH, bar, "q")
    hold = tm.JointWrench("hold", "pin", *(tuple(map(as_expr, part)) for part in ((0, 0, 0), (0, 0, 9.81))))
    mechanism = tm.Mechanism("bar", bodies=[bar], joints=[pin], loads=[hold], gravity=(0, -9.81, 0))
    for method in ("newton_euler", "multipliers"):
        found = reactions(mechanism, ["pin"], method)["pin"]
        values = dict.fromkeys(symbols_of(found.components), 0.0)
        assert evaluate(found.components, values) == pytest.approx([0, 2 * 9.81, 0, 0, 0, 9.81])


@pytest.mark.parametrize("name", ["slider_crank", "four_bar"])
def test_along_a_motion_they_are_what_the_simulation_gives(name):
    """The formulas with the motion's accelerations and multipliers, against the quantities of the trajectory."""
    mechanism = library.load(name)
    equations = derive(mechanism)
    joints = [joint.name for joint in mechanism.joints]
    parts = ["force.x", "force.y", "moment.z"]
    unknown = {c.name: c for c in equations.constraints}
    multipliers = {
        f"lambda.{n}": f"{c.owner.split(chr(39))[1]}.multiplier.{n.split(': ')[1]}" for n, c in unknown.items()
    }
    accelerations = [str(a.name) for a in equations.layout.accelerations]
    outputs = [f"{joint}.{part}" for joint in joints for part in parts] + [*multipliers.values(), *accelerations]
    motion = ts.simulate(equations, until=1, samples=5, rtol=1e-10, outputs=outputs)
    given = {p.name: float(p.value) for p in mechanism.parameters}
    for joint, reaction in reactions(equations).items():
        for part in parts:
            values = {TIME: motion.time}
            for x in symbols_of([reaction[part]]):
                text = str(x.name)
                if x is not TIME:
                    values[x] = given[text] if text in given else motion[multipliers.get(text, text)]
            (along,) = evaluate([reaction[part]], values)
            assert motion[f"{joint}.{part}"] == pytest.approx(along, rel=1e-8, abs=1e-8)


def test_what_no_motion_tells_is_said():
    """A planar loop of hinges carries any force across its plane."""
    found = reactions(library.load("four_bar"), ["A"])["A"]
    assert set(found.undetermined) == {"force.z", "moment.x", "moment.y"}
    assert "joint 'C': z" in found.undetermined["force.z"]


def test_free_bodies_of_a_loop_balance():
    """With the reactions put in, the six equations of every body vanish whatever accelerations and multipliers are."""
    equations = derive(library.load("four_bar"), "newton_euler")
    objects = equations.objects
    state = rational_state(equations.tree, Random(2))
    for rows in objects["equations of free bodies"].values():
        forces = {x: _component(objects["reactions"], str(x.name)) for x in symbols_of(rows) if _is_unknown(x)}
        others = [x for x in symbols_of([*rows, *forces.values()]) if x not in state and x not in forces]
        values = state | {x: random_fraction(Random(str(x.name))) for x in others}
        numbers = dict(zip(forces, multiple_precision_values(list(forces.values()), values), strict=True))
        left = evaluate(rows, {k: float(v) for k, v in (values | numbers).items()})
        assert all(abs(value) < 1e-11 for value in left)


def _is_unknown(x) -> bool:
    return str(x.name).split(".")[0] in "ABD" and str(x.name).split(".")[-1][0] in "NR"


def _component(found, name: str):
    joint, part = name.split(".")
    return as_expr(getattr(found[joint].moment if part[0] == "N" else found[joint].force, part[1]))


def test_unknown_joints_and_methods_are_named():
    with pytest.raises(ts.TorseurError, match=r"unknown joint 'pivott'.*Did you mean 'pivot'"):
        reactions(library.load("pendulum"), ["pivott"])
    with pytest.raises(ts.TorseurError, match="unknown method 'lagrange'"):
        reactions(library.load("pendulum"), method="lagrange")
    with pytest.raises(ts.TorseurError, match="unknown component 'force.w'"):
        _ = reactions(library.load("pendulum"))["pivot"]["force.w"]
