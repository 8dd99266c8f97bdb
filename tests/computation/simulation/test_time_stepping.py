"""Motions in time steps, by closed forms, by conservation laws, and beside event-driven ones."""

from __future__ import annotations

import math
import re
from importlib.resources import files

import numpy as np
import pytest

import torseur as ts
from computation.simulation.linkages import four_bar
from torseur.computation.simulation import Impact
from torseur.errors import TorseurError, UnsupportedError

G = 9.81
BALL = """mechanism ball "a ball" ;
param e = 0.5, mu = 0.2 ;
gravity = [0, 0, -9.81 m/s^2] ;
let ball = body mass = 2 kg, centre = 0, inertia = diag(0.008, 0.008, 0.008) kg*m^2 end ;
join earth and ball.frame as flight with free(x, y, z, e0, e1, e2, e3) angles quaternion end ;
contact ball.sphere radius 10 cm with earth normal [0,0,1] friction mu, restitution e as floor ;
init z = 0.1 m ;
"""


def stepped(model: ts.Mechanism, until: float, **options: object) -> ts.Trajectory:
    return ts.simulate(model, until=until, **{"samples": 101, "method": "time_stepping", **options})


@pytest.mark.slow
def test_a_ball_slides_until_it_rolls_and_its_multiplier_is_its_weight():
    """Oracle: 5/7 of the speed, after 2/7 v/(mu g)."""
    ball = ts.parse(BALL)
    motion = stepped(ball, 1, initial={"x'": 3.0}, outputs=["floor.multiplier", "floor.friction.multiplier.first"])
    assert motion["x'"][-1] == pytest.approx(15 / 7, rel=1e-12)
    assert motion["floor.multiplier"] == pytest.approx(-2 * G)
    assert abs(motion["floor.friction.multiplier.first"][10]) == pytest.approx(0.2 * 2 * G)
    (sticks,) = [event.time for event in motion.events if event.name == "floor.friction sticks"]
    assert sticks == pytest.approx(2 / 7 * 3 / (0.2 * G), abs=1e-3)
    assert "'floor' closed 1 and opened 0 times; 'floor.friction' stuck 1 and slid 1 times" in " ".join(motion.notes)


@pytest.mark.parametrize("e", [1.0, 0.7, 0.0])
def test_a_ball_bounces(e):
    """Oracle: rebounds of e² of the height; energy that e = 1 keeps and nothing adds; steps of first order at impacts."""
    ball = ts.parse(BALL)
    for step in (2e-3, 5e-4):
        motion = stepped(ball, 1, initial={"z": 1.1}, parameters={"e": e}, outputs=["energy"], max_step=step)
        assert np.diff(motion["energy"]).max() < 1e-12 * motion["energy"][0]
        assert motion["z"].min() >= 0.1 - 1e-12
        fall = math.sqrt(2 / G)
        after = 1.0 - fall
        exact = 0.1 + e * math.sqrt(2 * G) * after - G * after * after / 2 if e > 0.6 else 0.1
        assert motion["z"][-1] == pytest.approx(exact, abs=5 * step)
    if e == 1.0:
        assert motion["energy"] == pytest.approx(motion["energy"][0], rel=1e-12)


def floating(name: str, mass: float, radius: float) -> tuple[ts.Body, ts.Joint]:
    moment = 0.4 * mass * radius**2
    body = ts.body(name, mass=mass, centre=(0, 0, 0), inertia=ts.inertia(moment, moment, moment))
    joint = ts.prismatic(f"{name}.x", ts.EARTH, body, f"{name}.x") if name.startswith("line") else ts.free(
        f"{name}.flight", ts.EARTH, body, *(f"{name}.{q}" for q in ("x", "y", "z", "a", "b", "c")), angles="xyz"
    )  # fmt: skip
    return body, joint


def balls(count: int, places: list[tuple[float, float, float]], floor: bool = False, e: float = 1.0) -> ts.Mechanism:
    """Balls of 5 cm and 0.2 kg with contacts of all pairs, at given places."""
    parts = [floating(f"b{k}", 0.2, 0.05) for k in range(count)]
    contacts = [
        ts.contact(f"c{i}.{j}", "sphere", parts[i][0], {"radius": 0.05}, ts.ball(parts[j][0], 0.05), restitution=e)
        for i in range(count)
        for j in range(i)
    ]
    if floor:
        contacts += [
            ts.contact(f"floor{k}", "sphere", body, {"radius": 0.05}, ts.plane(), friction=0.5)
            for k, (body, _) in enumerate(parts)
        ]
    initial = {
        f"b{k}.{axis}": value for k, place in enumerate(places) for axis, value in zip("xyz", place, strict=True)
    }
    return ts.Mechanism(
        "balls", bodies=[b for b, _ in parts], joints=[j for _, j in parts], gravity=(0, 0, -G if floor else 0),
        contacts=contacts, initial=initial,
    )  # fmt: skip


@pytest.mark.slow
def test_a_billiard_break_conserves_momentum_and_energy():
    """Oracle: the momentum of the cue ball to 1e-12, and its energy; the same numbers when it is computed again."""
    gap = 1e-4
    side = 0.1 + gap
    places = [(-0.4, 0.011, 0.0), (0, 0, 0)]
    places += [(math.sqrt(0.75) * side, s * side / 2, 0) for s in (-1, 1)]
    places += [(math.sqrt(3) * side, s * side, 0) for s in (-1, 0, 1)]
    table = balls(7, places)
    motion = stepped(table, 0.6, initial={"b0.x'": 2.0}, outputs=["energy"])
    momentum = [sum(0.2 * motion[f"b{k}.{axis}'"] for k in range(7)) for axis in "xyz"]
    assert np.abs(np.array(momentum) - np.array([[0.4], [0], [0]])).max() < 1e-12
    assert motion["energy"] == pytest.approx(0.4, rel=1e-9)
    assert sum(event.name.startswith("c") for event in motion.events) >= 6
    again = stepped(table, 0.6, initial={"b0.x'": 2.0}, outputs=["energy"])
    assert np.array_equal(motion.values, again.values)


@pytest.mark.slow
def test_a_pile_presses_the_floor_by_its_weight():
    """Oracle: a ball on three others; statics: the floor carries 4 m g, each upper contact m g/(3 cos) along its line."""
    r = 0.05
    ring = 2 * r / math.sqrt(3)
    places = [(ring * math.cos(k * 2 * math.pi / 3), ring * math.sin(k * 2 * math.pi / 3), r) for k in range(3)]
    height = math.sqrt(4 * r * r - ring * ring)
    pile = balls(4, [*places, (0, 0, r + height)], floor=True, e=0.0)
    names = [*(f"floor{k}.multiplier" for k in range(3)), *(f"c3.{k}.multiplier" for k in range(3))]
    # The lower balls roll apart unless something holds them: a start in which this has hardly begun.
    motion = stepped(pile, 2e-4, samples=2, max_step=1e-5, outputs=[*names, "b3.z''"])
    floor = -sum(motion[name][-1] for name in names[:3])
    falling = motion["b3.z''"][-1]
    assert floor == pytest.approx(4 * 0.2 * G + 0.2 * falling, rel=1e-3)
    upper = -motion["c3.0.multiplier"][-1] * height / (2 * r) * 3
    assert upper == pytest.approx(0.2 * (G + falling), rel=1e-3)


@pytest.mark.slow
def test_free_flight_keeps_energy_and_angular_momentum():
    """Oracle: a body that tumbles about its middle axis for many turns, without drift."""
    body = ts.body("stone", mass=1, centre=(0, 0, 0), inertia=ts.inertia(0.01, 0.02, 0.03))
    joint = ts.free("flight", ts.EARTH, body, "x", "y", "z", *(f"e{k}" for k in range(4)), angles="quaternion")
    floor = ts.contact("floor", "sphere", body, {"radius": 0.1}, ts.plane())
    stone = ts.Mechanism("stone", bodies=[body], joints=[joint], contacts=[floor], initial={"z": 1.0})
    names = [column.name for column in ts.simulate(stone, until=1e-3, samples=2).states][-3:]
    motion = stepped(stone, 20, initial=dict(zip(names, (0.01, 10.0, 0.01), strict=True)), outputs=["energy"])
    assert motion["energy"] == pytest.approx(motion["energy"][0], rel=1e-9)
    assert np.ptp(motion[names[1]]) > 19  # it does tumble


@pytest.mark.slow
@pytest.mark.parametrize("damping", [3.0, 4000.0])
def test_damping_may_be_stiff(damping):
    """Oracle: a sledge on a damped rail pressed against a stop: m g / c as its speed, and exp(-c t / m) on the way."""
    sledge = ts.parse(f"""mechanism sledge ; gravity = [9.81 m/s^2, 0, 0] ;
    let sledge = body mass = 2 kg, centre = 0, inertia = 0 end ;
    join earth and sledge.frame as rail with prismatic(x) along [1,0,0] damping = {damping} N*s/m end ;
    constrain x <= 1 m as stop ;
    """)
    motion = stepped(sledge, 1, samples=5, outputs=["stop.multiplier"])
    end = 2 * G / damping
    if damping > 100:
        assert motion["x'"][-1] == pytest.approx(end, rel=1e-6)
    else:
        exact = end * (motion.time - 2 / damping * (1 - np.exp(-damping * motion.time / 2)))
        assert motion["x"] == pytest.approx(np.minimum(exact, 1.0), abs=1e-5)
        assert motion["stop.multiplier"][-1] == pytest.approx(-2 * G)


@pytest.mark.slow
def test_loops_stay_closed_and_stops_act_in_them():
    """Oracle: the event-driven motion of a four-bar whose rocker strikes a stop, and the energy that e = 1 keeps."""
    stop = Impact("stop", 2.0 - ts.Coordinate("q3").symbol, restitution=1.0)
    exact = ts.simulate(four_bar(), until=3, samples=101, events=[stop], outputs=["energy", "kinetic_energy"])
    motion = stepped(four_bar(), 3, events=[stop], outputs=["energy", "kinetic_energy"], max_step=5e-4)
    assert [e.name for e in motion.events] == [e.name for e in exact.events]
    assert np.abs(np.array([e.time for e in motion.events]) - [e.time for e in exact.events]).max() < 4e-3
    assert np.ptp(motion["energy"]) < 2e-5 * motion["kinetic_energy"].max()
    tip = 0.4 * np.exp(1j * motion["q1"]) + 0.9 * np.exp(1j * (motion["q1"] + motion["q2"]))
    assert np.abs(tip - 1.0 - 0.7 * np.exp(1j * motion["q3"])).max() < 1e-12


@pytest.mark.slow
def test_multipliers_of_loops_agree_with_those_of_events():
    """Oracle: accelerations and multipliers of the other method, to the first order of the step."""
    names = ["C.multiplier.x", "C.multiplier.y", "q1''"]
    exact = ts.simulate(four_bar(), until=1, samples=11, outputs=names)
    motion = stepped(four_bar(), 1, samples=11, outputs=names, max_step=1e-4)
    for name in names:
        assert motion[name][1:] == pytest.approx(exact[name][1:], abs=2e-3 * np.abs(exact[name]).max())


def test_what_time_steps_do_not_cover_is_said():
    ball = ts.parse(BALL)
    with pytest.raises(TorseurError, match="starts 0.05 inside it"):
        stepped(ball, 1, initial={"z": 0.05})
    flat = ts.parse(BALL.replace("ball.sphere", "ball.disc"))
    for method in ("auto", "time_stepping"):
        with pytest.raises(TorseurError, match="'floor': a disc that lies parallel to its ground.*tilted"):
            stepped(flat, 1, method=method)
        with pytest.raises(TorseurError, match=r"'floor.friction': its coefficient is -0.3, expected zero or more"):
            stepped(ball, 1, parameters={"mu": -0.3}, method=method)
        twice = BALL + "contact ball.sphere radius 10 cm with earth normal [0,0,1] friction mu as again ;"
        with pytest.raises(TorseurError, match="'floor' and 'again' are of the same gap"):
            stepped(ts.parse(twice), 1, method=method)
    with pytest.raises(UnsupportedError, match="forward in time"):
        stepped(ball, -1)
    with pytest.raises(UnsupportedError, match="dense=True"):
        stepped(ball, 1, samples=None, dense=True)


@pytest.mark.slow
def test_a_quadruped_lands_on_its_feet_and_they_carry_its_weight():
    """Oracle: the weight of all its parts, and the momentum that the feet have given it."""
    text = (files("torseur.description.library") / "lsd" / "quadruped.lsd").read_text(encoding="utf-8")
    text = re.sub(r"law press.*?;\n|apply force \[-mu.*?;\n|param k_g.*?v_s =.*?;\n", "", text, flags=re.S)
    words = "contact {0}_foot.sphere radius 2 cm with earth normal [0,0,1] friction 0.8 as {0}_ground ;\n"
    feet = ("fl", "fr", "hl", "hr")
    text = text.replace("init z", "".join(map(words.format, feet)) + "init z")
    names = [f"{leg}_ground.multiplier" for leg in feet]
    motion = stepped(ts.parse(text), 2, samples=2001, outputs=[*names, "energy"])
    mass = 7 + 4 * (0.6 + 0.9 + 0.2)
    pressed = -sum(motion[name] for name in names)
    assert pressed[-1] == pytest.approx(mass * G, rel=5e-3) and pressed[0] == 0.0
    given = np.sum(pressed[1:]) * 1e-3  # multipliers are means over the step that ends there
    assert given == pytest.approx(mass * G * 2, abs=0.3)  # the momentum that is left is below that
    assert np.diff(motion["energy"]).max() < 1e-4 * mass * G


def test_a_ball_may_turn_round_at_the_end_of_a_step():
    """Its speed is zero there but for rounding, in which forces of speed do not settle and need not."""
    ball = ts.parse("""mechanism ball ; gravity = [0, 0, -9.81 m/s^2] ;
    let ball = body mass = 1 kg, centre = 0, inertia = diag(0.02, 0.03, 0.04) kg*m^2 end ;
    join earth and ball.frame as flight with free(x, y, z, e0, e1, e2, e3) angles quaternion end ;
    init z' = 0.0981 m/s, e0 = 0.6, e1 = 0.8, x' = 1e-16 m/s, y' = 4e-16 m/s ;""")
    motion = ts.simulate(ball, until=0.02, samples=3, method="time_stepping")
    assert motion["z"][-1] == pytest.approx(0, abs=1e-15)
    assert motion["z'"] == pytest.approx([0.0981, 0, -0.0981], abs=1e-15)
