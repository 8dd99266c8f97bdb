"""Constrained motions: formulations, parametrisations, redundancy, singular configurations, drivers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torseur as ts
from computation.simulation.linkages import closing, four_bar, parallelogram
from torseur.computation.simulation import parametrised, reduced_model
from torseur.description.mechanism import Equation
from torseur.errors import TorseurError

FORMULATIONS = ("augmented", "partitioned", "projector")


def violation(motion, links):
    """Distance between the tip of the coupler and that of the rocker of a four-bar, from its angles alone."""
    a, b, c, d = links
    q1, q2, q3 = motion["q1"], motion["q1"] + motion["q2"], motion["q3"]
    x = a * np.cos(q1) + b * np.cos(q2) - d - c * np.cos(q3)
    y = a * np.sin(q1) + b * np.sin(q2) - c * np.sin(q3)
    return np.hypot(x, y)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_loops_stay_closed_and_keep_their_energy(formulation, backend):
    until, samples = (0.2, 3) if backend == "python" else (5.0, 101)
    motion = ts.simulate(four_bar(), until=until, samples=samples, rtol=1e-11, formulation=formulation, backend=backend,
                         outputs=["energy", "kinetic_energy"])  # fmt: skip
    assert violation(motion, (0.4, 0.9, 0.7, 1.0)).max() < 1e-13
    assert np.ptp(motion["energy"]) < 1e-9 * motion["kinetic_energy"].max()


@pytest.mark.parametrize("method", ["explicit", "radau5", "radau9"])
def test_dense_output_is_on_the_constraints(method):
    motion = ts.simulate(four_bar(), until=2.0, dense=True, rtol=1e-7, method=method)
    between = motion.state_at(np.linspace(0.0, 2.0, 201))
    angles = dict(zip(("q1", "q2", "q3"), between[:, :3].T, strict=True))
    assert violation(angles, (0.4, 0.9, 0.7, 1.0)).max() < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["complete", "cartesian"])
def test_parametrisations_give_the_same_motion(kind):
    outputs = ["coupler.centre.position.x", "coupler.centre.velocity.y", "energy"]
    expected = ts.simulate(four_bar(), until=1.0, samples=11, rtol=1e-11, outputs=outputs)
    motion = ts.simulate(parametrised(four_bar(), kind), until=1.0, samples=11, rtol=1e-11, outputs=outputs)
    assert len(motion.states) > len(expected.states)
    assert np.abs(motion.outputs - expected.outputs).max() < 1e-9


@pytest.mark.slow
def test_strict_parametrisation_gives_the_same_motion():
    """One coordinate instead of three."""
    expected = ts.simulate(four_bar(), until=0.5, samples=6, rtol=1e-10)
    strict = reduced_model(four_bar(), ["q1"]).system({})
    motion = ts.simulate(strict, until=0.5, samples=6, rtol=1e-8)
    assert [column.name for column in motion.columns] == ["q1", "q1'"]
    assert np.abs(motion["q1"] - expected["q1"]).max() < 1e-7


def spatial_loop() -> ts.Mechanism:
    """Crank and rocker about skew axes, a rod with a universal joint at one end and a ball at the other."""
    crank = ts.body("crank", mass=1, centre=(0.1, 0, 0), inertia=ts.inertia(0.01, 0.02, 0.02))
    rod = ts.body("rod", mass=0.8, centre=(0.6, 0, 0), inertia=ts.inertia(0.002, 0.1, 0.1))
    rocker = ts.body("rocker", mass=1.2, centre=(0.2, 0, 0), inertia=ts.inertia(0.01, 0.05, 0.05))
    joints = [
        ts.revolute("A", ts.EARTH, crank, "q1"),
        ts.universal("B", crank.at((0.3, 0, 0)), rod, "b1", "b2", (0, 0, 1), (0, 1, 0)),
        ts.spherical("C", rod.at((1.2, 0, 0)), rocker.at((0.6, 0, 0)), "c0", "c1", "c2", "c3", angles="quaternion"),
        ts.revolute("D", ts.EARTH.at((0.9, 0.4, -0.3)), rocker, "q4", axis=(0.2, 1, 0.3)),
    ]
    return ts.Mechanism("spatial", bodies=[crank, rod, rocker], joints=joints, gravity=(0, -3, -9.81),
                        initial={"q1": 0.3, "q1'": 4.0})  # fmt: skip


@pytest.mark.slow
def test_four_parametrisations_of_a_spatial_loop():
    outputs = ["energy", "rod.centre.position.z", "D.force.x", "A.moment.z"]
    expected = ts.simulate(spatial_loop(), until=0.5, samples=6, rtol=1e-10, outputs=outputs)
    for kind in ("complete", "cartesian"):
        motion = ts.simulate(parametrised(spatial_loop(), kind), until=0.5, samples=6, rtol=1e-10, outputs=outputs)
        assert np.abs(motion.outputs - expected.outputs).max() < 1e-7, kind
    strict = ts.simulate(reduced_model(spatial_loop(), ["q1"]).system({}), until=0.5, samples=6, rtol=1e-8)
    assert np.abs(strict["q1"] - expected["q1"]).max() < 1e-7


def test_reduced_models_are_inverse_to_each_other():
    """Oracle: the kinetic energy is ½ m q1'², and the loop's own motion needs no effort."""
    model = reduced_model(four_bar(), ["q1"])
    state = model.state({"q1": 0.9, "q1'": 1.7})
    motion = ts.simulate(four_bar(), until=1e-9, initial={"q1": 0.9, "q1'": 1.7}, outputs=["kinetic_energy", "q1''"])
    assert model.mass_matrix(state)[0, 0] * 1.7**2 / 2 == pytest.approx(motion["kinetic_energy"][0], rel=1e-12)
    accelerations = model.forward(state)
    assert accelerations[0] == pytest.approx(motion["q1''"][0], rel=1e-9)
    assert model.inverse(state, accelerations[:1]) == pytest.approx([0.0], abs=1e-12)
    pushed = model.forward(state, [3.0])
    assert model.inverse(state, pushed[:1]) == pytest.approx([3.0], rel=1e-12)


def test_reduced_model_refuses_too_many_independent_coordinates():
    with pytest.raises(TorseurError, match="'q3' cannot be independent beside the others"):
        reduced_model(four_bar(), ["q1", "q3"])


@pytest.mark.slow
def test_partition_changes_where_it_is_badly_conditioned():
    """A crank that turns round: its slider stands still twice per turn and cannot drive it there."""
    crank = ts.body("crank", mass=1, centre=(0, 0, 0), inertia=ts.inertia(1, 1, 1))
    rod = ts.body("rod", solids=[ts.solid("rod", length=0.8, mass=1.5, placement=ts.along((1, 0, 0)))])
    slider = ts.body("slider", mass=2, centre=(0, 0, 0), inertia=0)
    joints = [
        ts.revolute("main", ts.EARTH, crank, "theta"),
        ts.revolute("pin", crank.at((0.3, 0, 0)), rod, "phi"),
        ts.prismatic("guide", ts.EARTH, slider, "x"),
        closing(ts.revolute("wrist", rod.at((0.8, 0, 0)), slider, "psi")),
    ]
    engine = ts.Mechanism("engine", bodies=[crank, rod, slider], joints=joints,
                          initial={"theta": 1.0, "theta'": 5.0})  # fmt: skip
    expected = ts.simulate(engine, until=3.0, samples=31, rtol=1e-11)
    motion = ts.simulate(engine, until=3.0, samples=31, rtol=1e-11, formulation="partitioned", independent=["x"])
    assert np.abs(motion.q - expected.q).max() < 1e-8
    choices = [note for note in motion.notes if note.startswith("Independent speeds from")]
    assert len(choices) >= 3 and "'x''" in choices[0] and any("'x''" not in choice for choice in choices)


def swing(motion_bars, time, rate):
    """Oracle: a parallelogram as a pendulum, a'' = -(m_c + n m_b / 2) g cos(a) / ((m_c + n m_b / 3) l), by SciPy."""
    from scipy.integrate import solve_ivp

    factor = 9.81 * (2.0 + motion_bars / 2) / (2.0 + motion_bars / 3) / 0.4
    found = solve_ivp(lambda t, y: [y[1], -factor * np.cos(y[0])], (0, time[-1]), [math.pi / 3, rate], "DOP853", time,
                      rtol=1e-12, atol=1e-12)  # fmt: skip
    return found.y[0]


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("bars", [2, 3])
def test_parallelogram_passes_its_flat_position(bars, formulation):
    """Twice per turn the configuration is singular; branch and energy are kept. A third bar is redundant everywhere."""
    mechanism = parallelogram(rate=12.0, bars=bars)
    motion = ts.simulate(mechanism, until=3.0, samples=301, rtol=1e-10, formulation=formulation, outputs=["energy"])
    assert np.ptp(motion["a0"]) > 4 * math.pi
    assert np.abs(np.sin(motion["a0"] - motion["a1"])).max() < 1e-9, "still a parallelogram"
    assert np.ptp(motion["energy"]) < 1e-6 * abs(motion["energy"][0])
    assert np.abs(motion["a0"] - swing(bars, motion.time, 12.0)).max() < 1e-5


@pytest.mark.slow
def test_redundant_constraints_are_named_and_their_reactions_left_open():
    """Of the pins of three parallel bars, the first alone carries a load of its own that is determined."""
    outputs = [f"{pin}{k}.force.{axis}" for pin in ("low", "high") for k in range(3) for axis in "xyz"]
    outputs += ["coupler.centre.acceleration.x", "coupler.centre.acceleration.y"]
    motion = ts.simulate(parallelogram(rate=1.0, bars=3), until=0.1, samples=2, rtol=1e-10, outputs=outputs)
    assert any("high2" in note and "is already imposed by" in note for note in motion.notes)
    open_ones = {name for name in outputs if np.isnan(motion[name]).any()}
    assert {"high1.force.x", "high2.force.x", "low1.force.z"} <= open_ones
    said = " ".join(note for note in motion.notes if "not determined:" in note)
    assert all(f"'{name}'" in said for name in open_ones)
    plain = ts.simulate(parallelogram(rate=1.0, bars=2), until=0.1, samples=2, rtol=1e-10, outputs=outputs[:2])
    assert not np.isnan(plain.outputs).any()


@pytest.mark.slow
def test_overconstrained_in_space_moves_as_in_the_plane():
    """All four hinges hold the bars in the plane: three constraints too many, which change nothing."""
    flat = four_bar()
    crank, coupler, rocker = flat.bodies
    joints = list(flat.joints)
    joints[2] = ts.sequence(
        "D", ts.EARTH.at((1.0, 0, 0)), rocker, [ts.Coordinate("q3"), ts.Coordinate("tilt")],
        [ts.rotation((0, 0, 1), ts.Coordinate("q3").symbol), ts.rotation((1, 0, 0), ts.Coordinate("tilt").symbol)],
    )  # fmt: skip
    spatial = ts.Mechanism("spatial", bodies=[crank, coupler, rocker], joints=joints, gravity=(0, -9.81, 0),
                           initial=dict(flat.initial))  # fmt: skip
    expected = ts.simulate(flat, until=1.0, samples=6, rtol=1e-11)
    motion = ts.simulate(spatial, until=1.0, samples=6, rtol=1e-11)
    assert np.abs(motion["q1"] - expected["q1"]).max() < 1e-9
    assert np.abs(motion["tilt"]).max() < 1e-12
    assert any("is already imposed by" in note for note in motion.notes)


def driven(law):
    angle = ts.Coordinate("q1")
    return four_bar(constraints=[Equation("drive", angle.symbol - law)], initial={})


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_driver_and_its_effort(formulation):
    """Oracles: the prescribed motion; power of the drive equals effort times rate and the change of energy."""
    law = math.pi / 3 + 0.4 * ts.sin(3 * ts.TIME)
    outputs = ["drive.effort", "drive.power", "energy", "q1''"]
    motion = ts.simulate(driven(law), until=2.0, samples=401, rtol=1e-10, outputs=outputs, formulation=formulation)
    t = motion.time
    assert np.abs(motion["q1"] - (math.pi / 3 + 0.4 * np.sin(3 * t))).max() < 1e-13
    assert np.abs(motion["q1'"] - 1.2 * np.cos(3 * t)).max() < 1e-12
    assert np.abs(motion["q1''"] + 3.6 * np.sin(3 * t)).max() < 1e-11
    assert np.abs(motion["drive.power"] - motion["drive.effort"] * motion["q1'"]).max() < 1e-10
    work = np.concatenate([[0.0], np.cumsum((motion["drive.power"][1:] + motion["drive.power"][:-1]) * np.diff(t) / 2)])
    assert np.abs(motion["energy"] - motion["energy"][0] - work).max() < 2e-3


def test_effort_of_a_driver_is_that_of_inverse_dynamics():
    motion = ts.simulate(driven(math.pi / 3 + 0.4 * ts.sin(3 * ts.TIME)), until=1.0, samples=5, rtol=1e-11,
                         outputs=["drive.effort", "q1''"])  # fmt: skip
    model = reduced_model(four_bar(), ["q1"])
    for k in range(len(motion)):
        state = np.concatenate([motion.q[k], motion.v[k]])
        assert model.inverse(state, [motion["q1''"][k]])[0] == pytest.approx(motion["drive.effort"][k], abs=1e-9)


def test_driver_given_as_a_python_function():
    """Its derivatives follow from the function itself."""
    law = ts.UndeterminedFunction("turn", 1, "rad")
    motion = ts.simulate(driven(law(ts.TIME)), until=1.0, samples=11, rtol=1e-9,
                         laws={"turn": lambda t: math.pi / 3 + 0.5 * t * t})  # fmt: skip
    assert np.abs(motion["q1'"] - motion.time).max() < 1e-11


@pytest.mark.slow
def test_events_on_multipliers():
    """The force in a pin as an event function."""
    mechanism = ts.Mechanism(
        "bob", bodies=[ts.body("bob", mass=2, centre=(0, -0.5, 0), inertia=0)],
        joints=[ts.planar("free", ts.EARTH, ts.Frame("bob"), "x", "y", "a")], gravity=(0, -9.81, 0),
        constraints=[Equation("px", ts.Coordinate("x", "m").symbol), Equation("py", ts.Coordinate("y", "m").symbol)],
        initial={"a": 1.0},
    )  # fmt: skip
    motion = ts.simulate(mechanism, until=1.0, events=[ts.Event("px.multiplier")], rtol=1e-11)
    assert motion.events and abs(motion.events[0].state["a"]) < 1e-8, "the sideways force vanishes at the bottom"


@pytest.mark.slow
def test_multipliers_of_equations_are_forces_in_their_unit():
    """Oracle: Atwood's machine with a pulley: a = (m1 - m2) g / (m1 + m2 + J/R²), tension m1 (g - a)."""
    machine = ts.parse("""param m1 = 3 kg, m2 = 2 kg, J = 0.01 kg*m^2, R = 10 cm ; gravity = [0, 0, -9.81] m/s^2 ;
    let pulley = body mass = 1 kg, centre = 0, inertia = diag(J, J, J) end ;
    let w1 = body mass = m1, centre = 0, inertia = 0 end ;
    let w2 = body mass = m2, centre = 0, inertia = 0 end ;
    join earth and pulley.frame with revolute(q) about [0,1,0] end ;
    join earth and w1.frame with prismatic(z1) along [0,0,-1] end ;
    join earth and w2.frame with prismatic(z2) along [0,0,-1] end ;
    constrain z1 = R*q + 1 m as left ;
    constrain z2 = 1 m - R*q as right ;""")
    motion = ts.simulate(machine, 1, samples=3, outputs=["left.multiplier", "right.multiplier"])
    a = 9.81 / 6
    assert motion["left.multiplier"] == pytest.approx(-3 * (9.81 - a))
    assert motion["right.multiplier"] == pytest.approx(-2 * (9.81 + a))
    assert {c.quantity.unit for c in motion.columns if c.quantity.name.endswith("multiplier")} == {"N"}
