"""Where constrained motions start: what is given is kept, the rest follows, and what cannot be is said."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import torseur as ts
from computation.simulation.linkages import four_bar, parallelogram
from torseur import library
from torseur.description.mechanism import Equation
from torseur.errors import SimulationError, TorseurError

Q1 = ts.Coordinate("q1")


def test_the_rest_follows_from_what_is_given():
    motion = ts.simulate(four_bar(), until=1e-6)
    q1, q2, q3 = motion.q[0]
    assert q1 == math.pi / 3 and motion["q1'"][0] == 2.0
    tip = 0.4 * np.exp(1j * q1) + 0.9 * np.exp(1j * (q1 + q2))
    assert abs(tip - 1.0 - 0.7 * np.exp(1j * q3)) < 1e-12
    assert len(motion.notes) == 1 and "given: q1 = 1.0472, q1' = 2; following" in motion.notes[0]


def test_exact_values_are_never_moved_and_guesses_are():
    """Off by 1e-4: refused as exact values, with the one to make a guess; as a guess moved back, which is said."""
    start = ts.simulate(four_bar(), until=1e-6).q[0]
    given = dict(zip(("q1", "q2", "q3"), start + np.array([0.0, 1e-4, 0.0]), strict=True))
    with pytest.raises(TorseurError, match=r"violates the constraints.*is off by .* m at best.*Make 'q2' a guess"):
        ts.simulate(four_bar(), until=1e-6, initial=given)
    motion = ts.simulate(four_bar(), until=1e-6, initial={**given, "q2": ts.about(given["q2"])})
    assert motion.q[0] == pytest.approx(start, abs=1e-12) and motion["q1"][0] == given["q1"]
    assert any("guessed: q2" in note and "(moved by -0.0001)" in note for note in motion.notes)


@pytest.mark.parametrize("digits", [7, 9, 12])
def test_values_rounded_by_a_file_close(digits):
    start = ts.simulate(four_bar(), until=1e-6).q[0]
    given = {name: float(f"{x:.{digits}g}") for name, x in zip(("q1", "q2", "q3"), start, strict=True)}
    motion = ts.simulate(four_bar(), until=1e-6, initial=given)
    assert np.abs(motion.q[0] - start).max() < 10.0 ** (2 - digits)
    tip = 0.4 * np.exp(1j * motion["q1"][0]) + 0.9 * np.exp(1j * (motion["q1"][0] + motion["q2"][0]))
    assert abs(tip - 1.0 - 0.7 * np.exp(1j * motion["q3"][0])) < 1e-10


def test_guesses_choose_the_branch():
    """A four-bar has two assemblies at a crank angle: the coupler's guess decides."""
    ends = [
        ts.simulate(four_bar(), until=1e-6, initial={"q2": ts.about(guess), "q3": ts.about(2 * guess)}).q[0]
        for guess in (-1.0, 1.0)
    ]
    assert abs(ends[0][1] - ends[1][1]) > 0.5 and ends[0][0] == ends[1][0] == math.pi / 3


DISC = """
mechanism disc ; param r = 0.4 m, m = 2 kg ; gravity = [0, 0, -9.81] ;
let disc = body mass = m, centre = 0, inertia = diag(m*r^2/4, m*r^2/4, m*r^2/2) end ;
join earth and disc.frame as flight with free(x, y, z, psi, theta, phi) angles zxz end ;
constrain rolling disc.frame radius r on earth normal [0, 0, 1] as contact ;
"""


@pytest.mark.parametrize("theta", [0.4, 1.2, 1.7])
@pytest.mark.parametrize("psi", [0.0, 0.7, -2.0])
def test_what_constraints_leave_free_is_zero(theta, psi):
    """A disc told to spin rolls straight on: the speed of its centre is r phi', heading and lean stay."""
    disc = ts.parse(DISC + f"init theta = {theta} rad, psi = {psi} rad, phi' = 5 rad/s ;")
    motion = ts.simulate(disc, until=1e-9, samples=2)
    assert motion["psi'"][0] == 0.0 and motion["theta'"][0] == 0.0 and motion["phi'"][0] == 5.0
    velocity = np.array([motion[name][0] for name in ("x'", "y'", "z'")])
    assert velocity == pytest.approx([-2.0 * math.cos(psi), -2.0 * math.sin(psi), 0.0], abs=1e-12)
    (account,) = [note for note in motion.notes if note.startswith("Initial state")]
    assert "psi', theta'" in account.split("free and set to zero")[1] and "phi' = 5" in account.split(";")[0]


def test_a_guessed_speed_is_kept_where_it_can_be():
    disc = ts.parse(DISC + "init theta = 1.2 rad, phi' = 5 rad/s, psi' about 2 rad/s, x' about 7 m/s ;")
    motion = ts.simulate(disc, until=1e-9, samples=2)
    assert motion["psi'"][0] == pytest.approx(2.0, abs=1e-12) and motion["phi'"][0] == 5.0
    # r (phi' + psi' cos theta), against the heading, by the rolling condition.
    assert motion["x'"][0] == pytest.approx(-0.4 * (5 + 2 * math.cos(1.2)), rel=1e-9)


@pytest.mark.slow
def test_a_steered_bicycle_turns_and_does_not_steer():
    """The yaw rate of a bicycle whose wheels are steered: v tan(δ) / w for upright axles; the steering stays."""
    bicycle = library.load("whipple_bicycle").with_values(**{"lambda": 0.0, "c": 0.0})
    bicycle = replace(bicycle, initial={"steer": 0.3, "x'": 3.0}, guesses=())
    motion = ts.simulate(bicycle, until=1e-9, samples=2)
    assert motion["steer'"][0] == pytest.approx(0.0, abs=1e-9) and motion["lean'"][0] == 0.0
    assert motion["yaw'"][0] == pytest.approx(3.0 * math.tan(0.3) / 1.02, rel=1e-6)


@pytest.mark.slow
def test_sensitivity_of_a_start_with_free_speeds():
    """dx/dr of a disc that rolls straight: x = -r phi' t, so -phi' t."""
    disc = ts.parse(DISC + "init theta = pi/2 rad, phi' = 5 rad/s ;")
    result = ts.sensitivity(disc, "x", ["r"], until=0.5, rtol=1e-10)
    assert result["x"].gradient[0] == pytest.approx(-2.5, rel=1e-6)


def test_wrong_positions_are_refused():
    with pytest.raises(
        TorseurError, match=r"violates the constraints. With 'q1', 'q3' as given, joint 'C': . is off by"
    ):
        ts.simulate(four_bar(), until=1.0, initial={"q1": 1.0, "q3": -1.0})


def test_loops_that_cannot_close_are_refused():
    with pytest.raises(TorseurError, match="joint 'C'"):
        ts.simulate(four_bar(a=0.1, b=0.2, c=0.3), until=1.0)


def test_wrong_speeds_are_refused():
    with pytest.raises(TorseurError, match=r"initial speeds violate the constraints.*'q1'', 'q3'' as given"):
        ts.simulate(four_bar(), until=1.0, initial={"q1'": 2.0, "q3'": 2.0})


@pytest.mark.parametrize(
    ("first", "second", "level"),
    [
        (0.3 + ts.TIME, 0.4 + ts.TIME, "is off by"),
        (1.0 + ts.TIME, 1.0 + 2 * ts.TIME, "different velocities"),
        (1.0 + ts.TIME**2, 1.0 + 2 * ts.TIME**2, "different accelerations"),
    ],
)
def test_contradictory_drivers_are_named(first, second, level):
    drivers = [Equation("drive_a", Q1.symbol - first), Equation("drive_b", Q1.symbol - second)]
    with pytest.raises(TorseurError, match=level) as problem:
        ts.simulate(four_bar(constraints=drivers, initial={}), until=1.0)
    assert "drive_a" in str(problem.value) and "drive_b" in str(problem.value)


@pytest.mark.slow
def test_drivers_that_agree_are_redundant():
    drivers = [Equation("drive_a", Q1.symbol - 1.0 - ts.TIME), Equation("drive_b", 2 * Q1.symbol - 2.0 - 2 * ts.TIME)]
    motion = ts.simulate(four_bar(constraints=drivers, initial={}), until=1.0, outputs=["drive_a.effort"])
    assert np.abs(motion["q1"] - 1.0 - motion.time).max() < 1e-12
    assert np.isnan(motion["drive_a.effort"]).all(), "the two share the effort in a way that nothing tells"


def test_drivers_that_part_later_end_the_motion():
    slower = ts.where(ts.TIME < 0.5, 1.0 + ts.TIME, 1.0 + ts.TIME + (ts.TIME - 0.5) ** 4)
    drivers = [Equation("drive_a", Q1.symbol - 1.0 - ts.TIME), Equation("drive_b", Q1.symbol - slower)]
    with pytest.raises(SimulationError) as failure:
        ts.simulate(four_bar(constraints=drivers, initial={}), until=1.0)
    assert 0.5 < failure.value.trajectory.time[-1] < 0.6


@pytest.mark.slow
def test_dead_end_of_a_driver_is_explained():
    """The rocker of a crank-rocker cannot turn round."""
    turning = [Equation("drive", ts.Coordinate("q3").symbol - 1.6 - ts.TIME)]
    with pytest.raises(SimulationError, match="configuration is singular there") as failure:
        ts.simulate(four_bar(constraints=turning, initial={}), until=3.0)
    assert failure.value.trajectory.time[-1] < 2.0


def test_massless_bodies_are_blamed():
    light = four_bar()
    bodies = [ts.body(b.name, mass=0, inertia=0) for b in light.bodies]
    mechanism = ts.Mechanism("light", bodies=bodies, joints=light.joints, initial=dict(light.initial))
    with pytest.raises(TorseurError, match=r"Nothing with inertia resists.*'crank', 'coupler', 'rocker' have no mass"):
        ts.simulate(mechanism, until=1.0)


@pytest.mark.slow
def test_one_massless_body_in_a_loop_is_no_problem():
    """A massless coupler only transmits forces. Oracle: the same with a coupler of a thousandth of a gram."""

    def motion(mass):
        whole = four_bar()
        coupler = ts.body("coupler", mass=mass, centre=(0.45, 0, 0), inertia=0)
        bodies = [whole.bodies[0], coupler, whole.bodies[2]]
        mechanism = ts.Mechanism(
            "light", bodies=bodies, joints=whole.joints, gravity=(0, -9.81, 0), initial=dict(whole.initial)
        )
        return ts.simulate(mechanism, until=0.5, samples=6, rtol=1e-10)

    assert np.abs(motion(0)["q1"] - motion(1e-6)["q1"]).max() < 1e-5


def test_singular_start():
    """Flat and at rest, a parallelogram may unfold in two ways; with a velocity it knows which."""
    flat = {"a0": 0.0, "b0": 0.0, "a1": 0.0, "a0'": 0.0}
    with pytest.raises(TorseurError, match="starts at rest in a singular configuration"):
        ts.simulate(parallelogram(0.0), until=1.0, initial=flat)
    moving = {**flat, "a0'": 3.0, "b0'": -3.0, "a1'": 3.0}
    motion = ts.simulate(parallelogram(0.0, gravity=0.0), until=1.0, initial=moving, rtol=1e-9)
    assert np.abs(motion["a0"] - 3.0 * motion.time).max() < 1e-6
    assert np.abs(motion["a0"] - motion["a1"]).max() < 1e-6


@pytest.mark.parametrize("formulation", ["augmented", "partitioned", "projector"])
def test_singular_start_with_a_velocity(formulation):
    moving = {"a0": 0.0, "b0": 0.0, "a1": 0.0, "a0'": 3.0, "b0'": -3.0, "a1'": 3.0}
    motion = ts.simulate(parallelogram(0.0, gravity=0.0), until=1.0, initial=moving, rtol=1e-9, formulation=formulation)
    assert np.abs(motion["a0"] - 3.0 * motion.time).max() < 1e-6


CUTS = {
    "revolute(d1) about [0, 0, 1]": ("d1",),
    "cylindrical(d1, d2) about [0, 0, 1]": ("d1", "d2"),
    "universal(d1, d2) about [0, 0, 1] then [0.6, 0.8, 0]": ("d1", "d2"),
    "spherical(d1, d2, d3) angles xyz": ("d1", "d2", "d3"),
    "spherical(d1, d2, d3, d4) angles quaternion": ("d1", "d2", "d3", "d4"),
}


def cut_four_bar(kind, stated):
    rods = "".join(
        f"let {n} = body rod length = {l} m, mass = 1 kg along [1, 0, 0] end ;"
        for n, l in (("a", 0.4), ("b", 0.9), ("c", 0.7))
    )
    return ts.parse(f"""{rods} join earth and a.frame as A with revolute(q1) end ; join [0.4, 0, 0] m @ a and b.frame as B with revolute(q2) end ;
    join [1, 0, 0] m @ earth and c.frame as C with revolute(q3) end ;
    join [0.9, 0, 0] m @ b and [0.7, 0, 0] m @ c as D with {kind}, role = loop end ; init {stated} ;""")


@pytest.mark.slow
@pytest.mark.parametrize("kind", CUTS)
def test_values_of_cut_joints_are_compared_with_the_closed_state(kind):
    """Of a planar four-bar D turns by q3 - q1 - q2 about z, whatever kind it is."""
    bar = ts.simulate(cut_four_bar("revolute(d1) about [0, 0, 1]", "q1 = 1, q1' = 2"), until=1e-6)
    turn = bar["q3"][0] - bar["q1"][0] - bar["q2"][0]
    values = dict.fromkeys(CUTS[kind], 0.0)
    if "quaternion" in kind:
        values |= {"d1": math.cos(turn / 2), "d4": math.sin(turn / 2)}
    else:
        values["d3" if "spherical" in kind else "d1"] = turn
    stated = [f"{name} = {value:.17g}" for name, value in values.items()]
    motion = ts.simulate(cut_four_bar(kind, "q1 = 1, q1' = 2, " + ", ".join(stated)), until=1e-6)
    assert motion.q[0][:2] == pytest.approx(bar.q[0][:2], abs=1e-9) and "given: q1 = 1" in motion.notes[0]
    assert all(motion[name][0] == pytest.approx(value, abs=1e-15) for name, value in values.items())
    if "quaternion" in kind:  # of unit length, as any that is given
        changed = values | {"d1": math.cos(turn / 2 + 0.05), "d4": math.sin(turn / 2 + 0.05)}
    else:
        changed = values | {CUTS[kind][-1]: values[CUTS[kind][-1]] + 0.05}
    wrong = [f"{name} = {value:.17g}" for name, value in changed.items()]
    with pytest.raises(TorseurError, match=f"With 'q1'.*'{CUTS[kind][-1]}'.* as given, joint 'D'"):
        ts.simulate(cut_four_bar(kind, "q1 = 1, " + ", ".join(wrong)), until=1e-6)


@pytest.mark.slow
def test_a_guess_of_a_cut_joint_chooses_the_assembly():
    """Elbow up or down: the angle at D is ± that of the triangle (law of cosines) with sides 0.7, 0.9 and the diagonal."""
    diagonal = abs(0.4 * np.exp(1j) - 1.0)
    angle = math.acos((0.49 + 0.81 - diagonal**2) / (2 * 0.7 * 0.9))
    for sign in (1, -1):
        stated = f"q1 = 1, d1 about {sign * (angle + 0.1):.3f}"
        motion = ts.simulate(cut_four_bar("revolute(d1) about [0, 0, 1]", stated), until=1e-6)
        assert motion["d1"][0] == pytest.approx(sign * angle, abs=1e-9)
        given = cut_four_bar("revolute(d1) about [0, 0, 1]", "q1 = 1")
        motion = ts.simulate(given, until=1e-6, initial={"d1": ts.about(sign * (angle + 0.1))})
        assert motion["d1"][0] == pytest.approx(sign * angle, abs=1e-9)
    with pytest.raises(TorseurError, match="'d1': joint 'D' closes a loop.*'init d1 = ...'"):
        ts.simulate(ts.derive(given), until=1e-6, initial={"d1": 1.0})


def test_unknown_choices_list_the_known_ones():
    with pytest.raises(TorseurError, match="unknown formulation 'augmentd'"):
        ts.simulate(four_bar(), until=1.0, formulation="augmentd")
    with pytest.raises(TorseurError, match="unknown method 'radau7'"):
        ts.simulate(four_bar(), until=1.0, method="radau7")


@pytest.mark.slow
def test_drivers_that_jump_end_the_motion():
    """No finite force turns a crank by 0.2 rad in no time."""
    jump = [Equation("drive", Q1.symbol - ts.where(ts.TIME < 0.5, 1.0, 1.2))]
    with pytest.raises(SimulationError, match="the motion ends at t = 0.5 s") as failure:
        ts.simulate(four_bar(constraints=jump, initial={}), until=1.0)
    assert failure.value.trajectory.time[-1] == pytest.approx(0.5)


def test_a_symbol_of_the_same_name_is_not_the_coordinate():
    drive = [Equation("drive", ts.Coordinate("q1", "rad", "another meaning").symbol - 1.0)]
    with pytest.raises(TorseurError, match="'q1' is not that of the coordinate"):
        ts.simulate(four_bar(constraints=drive, initial={}), until=1.0)


def test_a_constraint_between_fixed_bodies_holds_or_is_refused():
    """Nothing can move: a string of 2 m between two points 2 m apart is no obstacle, one of 2.1 m cannot be."""
    text = """
    let b = body mass = 2.25 kg, centre = 0, inertia = diag(1, 1, 1) kg*m^2 end ;
    join b.frame to earth as j with fixed() end ;
    constrain distance b to [2, 0, 0] m @ earth = {} m as string ;
    """
    for formulation in ("augmented", "projector", "partitioned"):
        assert ts.simulate(ts.parse(text.format(2)), until=0.5, formulation=formulation).q.shape[1] == 0
    with pytest.raises(TorseurError, match="'string' cannot hold"):
        ts.simulate(ts.parse(text.format(2.1)), until=0.5)


GEAR = """
let hull = body sphere radius = 0.2 m, mass = 1.87 kg end ; param k = 0.64 1/m ;
join earth to hull.frame as j with free(x, y, z, a, b, c) angles zyx
  speeds u, v, w = velocity in hull, p, q, r = rotation in hull end ;
constrain 0 = b + k * x - 0.4 as gear ;
init {} ;
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "following"),
    [
        ("x = 0.36 m, a = -0.35, c = -0.49", ("b", 0.4 - 0.64 * 0.36)),
        ("b = 0.3, a = -0.35, c = -0.49, y = 0.2 m, z = -0.1 m", ("x", (0.4 - 0.3) / 0.64)),
    ],
)
def test_one_coordinate_follows_where_speeds_are_others(given, following):
    """An angle beside two given ones moves with a combination of p, q, r, which changes on the way."""
    mechanism = ts.parse(GEAR.format(given))
    motion = ts.simulate(mechanism, until=1e-6)
    name, value = following
    assert motion[name][0] == pytest.approx(value, abs=1e-12)
    for word in given.split(", "):
        stated, number = word.removesuffix(" m").split(" = ")
        assert motion[stated][0] == float(number)
    # b = 0.4 - k x: the start's derivative by k is -x for b, and -(0.4 - b) / k² for x.
    result = ts.sensitivity(mechanism, name, ["k"], until=1e-6)
    exact = -0.36 if name == "b" else -(0.4 - 0.3) / 0.64**2
    assert result[name].gradient[0] == pytest.approx(exact, rel=1e-6)


def test_a_given_component_of_a_quaternion_stays():
    """e1 is kept while e3 is turned to its value: the others have the length that is left."""
    text = """
    let body1 = body sphere radius = 0.2 m, mass = 1 kg end ;
    join earth to body1.frame as j with spherical(e0, e1, e2, e3) angles quaternion end ;
    constrain 0 = e3 - 0.25 as turned ;
    init e0 about 0.9539392014169457, e1 = 0.3 ;
    """
    motion = ts.simulate(ts.parse(text), until=1e-6)
    assert motion["e1"][0] == pytest.approx(0.3, abs=1e-15) and motion["e3"][0] == pytest.approx(0.25, abs=1e-12)
    assert np.linalg.norm(motion.q[0]) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("normal", ["[0, 0, 1]", "[0, 0, -2]"])
def test_a_wheel_that_lies_flat_is_named(normal):
    text = f"""
    let wheel = body sphere radius = 0.2 m, mass = 1.87 kg end ;
    join earth to wheel.frame as j with free(x, y, z, e0, e1, e2, e3) angles quaternion end ;
    constrain rolling wheel.frame radius 0.2 m on earth normal {normal} as roll ;
    """
    with pytest.raises(TorseurError, match=r"'roll': the wheel lies flat at the start.*axle"):
        ts.simulate(ts.parse(text), until=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("axis", ["[0, 0, 1]", "[0, 0.6, 0.8]", "[0, 0, -1]"])
@pytest.mark.parametrize(
    "order", ["[0.9, 0, 0] m @ b and [0.7, 0, 0] m @ c", "[0.7, 0, 0] m @ c and [0.9, 0, 0] m @ b"]
)
def test_coordinates_of_cut_joints_are_read(axis, order):
    """The angles of a planar loop add up: q4 = ±(q3 - q1 - q2), and so do their rates; D is cut."""
    rods = "".join(
        f"let {n} = body rod length = {l} m, mass = 1 kg along [1, 0, 0] end ;"
        for n, l in (("a", 0.4), ("b", 0.9), ("c", 0.7))
    )
    text = f"""{rods} gravity = [0, -9.81, 0] ;
    join earth and a.frame as A with revolute(q1) about {axis} end ;
    join [0.4, 0, 0] m @ a and b.frame as B with revolute(q2) about {axis} end ;
    join [1, 0, 0] m @ earth and c.frame as C with revolute(q3) about {axis} end ;
    join {order} as D with revolute(q4) about {axis}, role = loop end ;
    init q1 = 1, q1' = 2 ;
    """
    motion = ts.simulate(ts.parse(text), until=0.5, samples=5, outputs=["q4", "q4'"])
    sign = 1 if order.startswith("[0.9") else -1
    for mark in ("", "'"):
        expected = sign * (motion[f"q3{mark}"] - motion[f"q1{mark}"] - motion[f"q2{mark}"])
        off = motion[f"q4{mark}"] - expected
        off = off if mark else (off + np.pi) % (2 * np.pi) - np.pi
        assert np.abs(off).max() < 1e-8


@pytest.mark.slow
def test_the_slide_of_a_cut_joint_is_read():
    """A crank of 0.3 m drives a rod of 0.8 m; its end slides at x = 0.3 cos q + sqrt(0.8² - 0.3² sin² q)."""
    text = """let a = body rod length = 0.3 m, mass = 1 kg along [1, 0, 0] end ;
    let b = body rod length = 0.8 m, mass = 1 kg along [1, 0, 0] end ;
    let c = body sphere radius = 0.1 m, mass = 1 kg end ;
    join earth and a.frame as A with revolute(q1) end ;
    join [0.3, 0, 0] m @ a and b.frame as B with revolute(q2) end ;
    join [0.8, 0, 0] m @ b and c.frame as C with revolute(q3) end ;
    join [0.1, 0, 0] m @ earth and c.frame as D with prismatic(s) along [1, 0, 0], role = loop end ;
    init q1 = 0.7, q2 about -1, q1' = 2 ;
    """
    motion = ts.simulate(ts.parse(text), until=0.3, samples=5, outputs=["s"])
    q = motion["q1"]
    assert motion["s"] == pytest.approx(0.3 * np.cos(q) + np.sqrt(0.64 - 0.09 * np.sin(q) ** 2) - 0.1, abs=1e-8)


@pytest.mark.parametrize("axis", ["[0, 0, 1]", "[0, 0.6, 0.8]", "[0.3, -0.5, 0.2]"])
def test_axes_that_meet_the_wrong_way_round_are_no_closed_loop(axis):
    """A hinge whose axis is turned against itself: sines of the rotations vanish, in every position of a planar loop."""
    text = f"""let a = body sphere radius = 0.1 m, mass = 1 kg end ; let b = body sphere radius = 0.1 m, mass = 1 kg end ;
    join earth and a.frame as A with revolute(q1) about {axis} end ;
    join [1, 0.2, 0] m @ a and b.frame as B with revolute(q2) about {axis} end ;
    join earth and [0.9, 0, 0] m ++ (pi || [0.5, 0.3, 0]) @ b as D with revolute(q3) about {axis}, role = loop end ;
    """
    right = text.replace("pi || [0.5, 0.3, 0]", f"2 || {axis}")
    # Across the axis, half a turn turns it against itself; the two hinges that carry b keep its direction.
    across = np.cross(np.array(eval(axis)), [0.5, 0.3, 0.4])
    wrong = text.replace("pi || [0.5, 0.3, 0]", f"pi || [{', '.join(f'{x:.17g}' for x in across)}]")
    with pytest.raises(TorseurError, match="joint 'D' meets its other side the wrong way round"):
        ts.simulate(ts.parse(wrong), until=0.1)
    with pytest.raises(TorseurError, match="off by") as refusal:
        ts.simulate(ts.parse(right), until=0.1)
    assert "wrong way" not in str(refusal.value)


def test_a_guess_near_half_a_turn_closes_by_none():
    """A body held to the earth by a weld of its loop: sin 3 is small too, but only the angle 0 (or a whole turn) is closed."""
    text = """let a = body sphere radius = 0.1 m, mass = 1 kg end ; join earth and a.frame as A with revolute(q) about [0, 0.6, 0.8] end ;
    join earth and a.frame as D with fixed(), role = loop end ; init q about 3 ;"""
    q = ts.simulate(ts.parse(text), until=0.01)["q"][0]
    assert np.cos(q) == pytest.approx(1, abs=1e-12)


def test_a_given_rate_that_is_no_speed_leaves_the_others_at_zero():
    """A skate at an angle of 0.6 with x' = 1: it runs along its edge, v = 1/cos 0.6, and does not turn."""
    skate = ts.parse("""let b = body mass = 1 kg, centre = [0.3, 0, 0] m, inertia = diag(0, 0, 0.2) kg*m^2 end ;
        join earth and b.frame as j with planar(x, y, th) speeds v, u = velocity in b, w = th' end ;
        constrain 0 = u as edge ; init th = 0.6, x' = 1 m/s ;""")
    motion = ts.simulate(skate, 0.1, samples=2, outputs=["x'"])
    assert [motion[name][0] for name in ("x'", "v", "u", "w")] == pytest.approx([1, 1 / np.cos(0.6), 0, 0], abs=1e-12)
    assert "given: th = 0.6, x' = 1" in motion.notes[0] and "w." in motion.notes[0]
