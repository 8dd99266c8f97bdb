"""Equilibria, small motions, modes, root loci and frequency responses against closed forms."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from computation.simulation.linkages import four_bar
from torseur.computation.linearisation import (
    equilibrium,
    frequency_response,
    linearise,
    linearise_along,
    root_locus,
    steady_motion,
)
from torseur.description.mechanism import Equation
from torseur.errors import TorseurError

CLASSICS = json.loads((Path(__file__).parents[2] / "oracles" / "classics.json").read_text())


def pendulum(**more) -> ts.Mechanism:
    bob = ts.body("bob", mass=2.0, centre=(0, -0.5, 0), inertia=0)
    options = {"gravity": (0, -9.81, 0), "initial": {"a": 0.7, "a'": 1.0}, **more}
    return ts.Mechanism("pendulum", bodies=[bob], joints=[ts.revolute("pin", ts.EARTH, bob, "a")], **options)


def oscillator() -> ts.Mechanism:
    mass = ts.body("mass", mass=2.0, centre=(0, 0, 0), inertia=0)
    c = ts.parameter("c", 0.5, "N*s/m")
    spring = ts.coordinate_spring("spring", "slide", "x", stiffness=8.0, damping=c)
    slide = ts.prismatic("slide", ts.EARTH, mass, "x")
    return ts.Mechanism("oscillator", bodies=[mass], joints=[slide], parameters=[c], loads=[spring])


@pytest.mark.parametrize(("near", "angle", "square"), [(0.7, 0.0, -9.81 / 0.5), (3.0, math.pi, 9.81 / 0.5)])
def test_pendulum_hangs_or_stands(near, angle, square):
    """Oracle: exp(s t) with s² = -g/l below, +g/l above."""
    rest = equilibrium(pendulum(), {"a": near})
    assert rest.state == pytest.approx({"a": angle, "a'": 0.0}, abs=1e-12)
    motions = linearise(pendulum(), rest.state)
    assert all(abs(mode.eigenvalue**2 - square) < 1e-10 for mode in motions.modes)
    assert motions.is_stable == (square < 0)


def test_modes_of_an_oscillator():
    """Oracle: frequency and damping ratio of m x'' + c x' + k x = 0."""
    motions = linearise(oscillator())
    mode = motions.modes[-1]
    assert mode.damping_ratio == pytest.approx(0.5 / (2 * math.sqrt(16)), abs=1e-14)
    assert mode.frequency == pytest.approx(math.sqrt(4 - 0.125**2) / (2 * math.pi), abs=1e-14)
    assert motions.mass_matrix == pytest.approx(np.array([[2.0]]))
    assert motions.damping_matrix == pytest.approx(np.array([[0.5]]))
    assert motions.stiffness_matrix == pytest.approx(np.array([[8.0]]))


@pytest.mark.slow
def test_frequency_response(tmp_path):
    """Oracle: 1 / (k - m w² + i c w), and i w times that for the speed."""
    motions = linearise(oscillator())
    w = np.array([0.3, 1.9, 2.0, 7.0])
    expected = 1 / (8.0 - 2.0 * w**2 + 0.5j * w)
    response = frequency_response(motions, "x", "x", w)
    assert np.abs(response.values - expected).max() < 1e-13
    assert np.abs(frequency_response(motions, "x", "x'", w).values - 1j * w * expected).max() < 1e-13
    assert response.plot(tmp_path / "response.svg").exists()
    with pytest.raises(TorseurError, match="output: unknown coordinate or speed 'y'"):
        frequency_response(motions, "x", "y", w)


def test_root_locus_over_a_parameter():
    """Oracle: with negative damping the roots grow; they meet the axis at c = 0 with s = 2 i."""
    locus = root_locus(oscillator(), np.linspace(-1.0, 2.0, 8), parameters=lambda c: {"c": c}, name="damping")
    (crossing,) = locus.crossings
    assert crossing.value == pytest.approx(0.0, abs=1e-12) and not crossing.growing
    assert abs(crossing.eigenvalue) == pytest.approx(2.0, abs=1e-12)
    for c, roots in zip(locus.values, locus.eigenvalues, strict=True):
        assert np.sort_complex(roots) == pytest.approx(np.sort_complex(np.roots([2.0, c, 8.0])), abs=1e-12)
    with pytest.raises(TorseurError, match=r"needs at=\.\.\. or parameters=\.\.\."):
        root_locus(oscillator(), [1.0])


def test_two_pendulums_in_line():
    """Oracle: g/l times 2 ± sqrt(2) for two equal points on equal strings."""
    first = ts.body("first", mass=1, centre=(0, -1, 0), inertia=0)
    second = ts.body("second", mass=1, centre=(0, -1, 0), inertia=0)
    joints = [ts.revolute("top", ts.EARTH, first, "a"), ts.revolute("middle", first.at((0, -1, 0)), second, "b")]
    mechanism = ts.Mechanism("double", bodies=[first, second], joints=joints, gravity=(0, -9.81, 0))
    squares = sorted({round(abs(mode.eigenvalue) ** 2, 9) for mode in linearise(mechanism).modes})
    assert squares == pytest.approx([9.81 * (2 - math.sqrt(2)), 9.81 * (2 + math.sqrt(2))], abs=1e-8)


@pytest.mark.parametrize(("mode", "guess"), [("slow", 0.5), ("fast", 25.0)])
def test_steady_precession_of_a_top(mode, guess):
    """Oracle: I1 cos(theta) W² - I3 w3 W + m g l = 0, at a given spin relative to the line of nodes."""
    top = ts.body("top", mass=2, centre=(0, 0, 0.25), inertia=ts.inertia(0.35, 0.35, 0.1, about="frame"))
    joint = ts.spherical("pivot", ts.EARTH, top, "phi", "theta", "psi", angles="zxz")
    mechanism = ts.Mechanism("top", bodies=[top], joints=[joint], gravity=(0, 0, -9.81), initial={"theta": math.pi / 6})
    exact = float(CLASSICS["heavy_top_steady"][mode])
    spin = 60.0 - exact * math.cos(math.pi / 6)
    steady = steady_motion(mechanism, {"phi'": guess, "psi'": spin}, moving=["phi", "psi"], fixed=["theta", "psi'"])
    assert steady.state["phi'"] == pytest.approx(exact, rel=1e-10)
    assert steady.state["theta"] == pytest.approx(math.pi / 6, abs=1e-12)


def test_sleeping_top_needs_spin():
    """Oracle: stable upright above 2 sqrt(I1 m g l) / I3, with a quaternion where Euler's angles are singular."""
    least = float(CLASSICS["heavy_top_steady"]["sleeping_top_min_spin"])
    top = ts.body("top", mass=2, centre=(0, 0, 0.25), inertia=ts.inertia(0.35, 0.35, 0.1, about="frame"))
    joint = ts.spherical("pivot", ts.EARTH, top, "w", "x", "y", "z", angles="quaternion")
    mechanism = ts.Mechanism("top", bodies=[top], joints=[joint], gravity=(0, 0, -9.81))
    for factor in (0.9, 1.1):
        motions = linearise(mechanism, {"pivot.wz": factor * least})
        tilting = [m for m in motions.modes if abs(m.shape["pivot.wx"]) > 1e-6]
        assert all(m.growth < 1e-6 for m in tilting) == (factor > 1) and tilting


def test_equilibrium_of_a_loop():
    """Oracle: the potential energy is stationary there, and small motions agree with its curvature."""
    rest = equilibrium(four_bar(), {"q1'": 0.0})
    energies = []
    for step in (-1e-4, 0.0, 1e-4):
        start = {"q1": rest.state["q1"] + step, "q1'": 0.0}
        energies.append(ts.simulate(four_bar(), until=1e-9, initial=start, outputs=["energy"])["energy"][0])
    slope, curve = (energies[2] - energies[0]) / 2e-4, (energies[2] - 2 * energies[1] + energies[0]) / 1e-8
    assert abs(slope) < 1e-8
    motions = linearise(four_bar(), rest.state, independent=["q1"])
    assert motions.state_names == ["q1", "q1'"]
    assert motions.stiffness_matrix[0, 0] == pytest.approx(curve, rel=1e-5)


def test_small_motions_about_a_motion():
    """Oracle: the difference of two neighbouring motions of a loop changes as the matrix says."""
    base = {"q1": 1.0, "q1'": 2.0}
    motion = ts.simulate(four_bar(), until=0.5, initial=base, dense=True, rtol=1e-12)
    (motions,) = linearise_along(four_bar(), motion, [0.3], independent=["q1"])
    states = []
    for sign in (1, -1):
        beside = ts.simulate(
            four_bar(), until=0.5, initial={"q1": 1.0 + sign * 1e-4, "q1'": 2.0}, dense=True, rtol=1e-12
        )
        states.append(beside.state_at(np.array([0.3 - 1e-4, 0.3, 0.3 + 1e-4])))
    difference = (states[0] - states[1])[:, [0, 3]] / 2e-4
    rate = (difference[2] - difference[0]) / 2e-4
    assert motions.state_matrix @ difference[1] == pytest.approx(rate, rel=1e-5)


def test_laws_in_python_are_differentiated():
    """A controller -k a given as a function. Oracle: s² = -g/l - k/(m l²)."""
    push = ts.UndeterminedFunction("push", 1, "N*m")
    angle = ts.Coordinate("a").symbol
    mechanism = pendulum(loads=[ts.motor("control", "pin", "a", push(angle))], initial={})
    motions = linearise(mechanism, laws={"push": lambda a: -3.0 * ts.sin(a)})
    assert all(abs(m.eigenvalue**2 + 9.81 / 0.5 + 3.0 / 0.5) < 1e-9 for m in motions.modes)


def test_coupled_states_cannot_be_taken_alone():
    first = ts.body("first", mass=1, centre=(0, -1, 0), inertia=0)
    second = ts.body("second", mass=1, centre=(0, -1, 0), inertia=0)
    joints = [ts.revolute("top", ts.EARTH, first, "a"), ts.revolute("middle", first.at((0, -1, 0)), second, "b")]
    mechanism = ts.Mechanism("double", bodies=[first, second], joints=joints, gravity=(0, -9.81, 0))
    with pytest.raises(TorseurError, match="'a'' depends on 'b' too"):
        linearise(mechanism).block(["a", "a'"])


def test_no_equilibrium_is_said():
    """A free body under gravity falls."""
    body = ts.body("stone", mass=1, centre=(0, 0, 0), inertia=0)
    falling = ts.Mechanism(
        "stone", bodies=[body], joints=[ts.prismatic("fall", ts.EARTH, body, "z")], gravity=(-9.81, 0, 0)
    )
    with pytest.raises(TorseurError, match=r"no equilibrium was found.*along 'z'' a force of"):
        equilibrium(falling)


def test_rolling_is_nonholonomic():
    """A wheel upright on its plane: more positions than speeds are free."""
    wheel = ts.body("wheel", mass=1, centre=(0, 0, 0), inertia=ts.inertia(1, 1, 2))
    joint = ts.planar("plane", ts.EARTH, wheel, "x", "y", "heading")
    x, y, heading = joint.coordinates
    edge = Equation("edge", ts.sin(heading.symbol) * x.rate - ts.cos(heading.symbol) * y.rate)
    sledge = ts.Mechanism("sledge", bodies=[wheel], joints=[joint], constraints=[edge])
    motions = linearise(sledge, {"x'": 3.0})
    assert len(motions.positions) == 3 and len(motions.speeds) == 2
    along = motions.slot("heading")
    assert motions.state_matrix[motions.slot("y"), along] == pytest.approx(3.0), "heading turns the velocity"


@pytest.mark.parametrize("angle", [0.02, 0.3, 0.7, -0.4])
def test_equilibria_are_found_from_afar(angle):
    """Oracle: the weight pulls along no motion that the loop allows; by the slope of the centre's height."""
    from torseur.description import library

    mechanism = library.load("four_bar")
    state = ts.equilibrium(mechanism, {"alpha": angle}).state

    def height(alpha):
        model = ts.reduced_model(mechanism, ["alpha"])
        y = model.state({"alpha": alpha}, near=np.array(list(state.values())))
        a, b, c = y[0], y[0] + y[1], y[2]
        return 0.16 * math.sin(a) + 2 * (0.4 * math.sin(a) + 0.5 * math.sin(b)) + 0.64 * math.sin(c)

    here, step = state["alpha"], 1e-4
    assert abs(height(here + step) - height(here - step)) / (2 * step) < 1e-6


def test_slow_governor_hangs_down():
    """Stiff springs make a narrow valley. Oracle: the balance of the forces on slider and arms, from the motion itself."""
    from torseur.description import library

    governor = library.load("flyball_governor")
    found = ts.steady_motion(governor, {"psi'": math.pi}, moving=["psi"], fixed=["psi'"])
    motion = ts.simulate(governor, until=1.0, samples=3, initial=found.state, rtol=1e-9, method="radau9")
    assert np.abs(motion["s"] - found.state["s"]).max() < 1e-8 and found.state["alpha1"] > 1.0


def test_fixed_coordinates_keep_their_values():
    from torseur.description import library

    with pytest.raises(ts.TorseurError, match="no equilibrium was found"):
        ts.equilibrium(library.load("pendulum"), fixed=["theta"])


TOP = """mechanism sleeping_top ;
param I3 = 0.02 kg*m^2, I1 = 0.012 kg*m^2, m = 1.5 kg, h = 5 cm, g = 9.81 m/s^2, W = 10 rad/s ;
gravity = [0, 0, -g] ;
let inner = body mass = 0, centre = 0, inertia = 0 end ;
let rotor = body mass = m, centre = [0, 0, h], inertia = diag(I1, I1, I3) end ;
join earth and inner.frame as tilt with universal(a, b) end ;
join inner.frame and rotor.frame as spin with revolute(c) end ;
init c' = W ;"""


def test_a_top_sleeps_from_a_speed_on():
    """Oracle: (I3 W)² = 4 (I1 + m h²) m g h; beyond it all roots stay on the imaginary axis."""
    locus = root_locus(ts.parse(TOP), np.linspace(1, 60, 8), parameters=lambda w: {"W": w})
    (crossing,) = locus.crossings
    assert crossing.value == pytest.approx(2 * math.sqrt((0.012 + 1.5 * 0.05**2) * 1.5 * 9.81 * 0.05) / 0.02, rel=1e-9)
    assert not crossing.growing


def test_rounding_on_the_axis_is_no_change_of_stability():
    locus = root_locus(ts.parse(TOP), np.linspace(20, 200, 40), parameters=lambda w: {"W": w})
    assert locus.crossings == ()


def test_motions_that_merely_persist_are_stable():
    """A cart on two rolling wheels, driven unevenly: all roots are zero, some of them twice."""
    cart = ts.parse("""param r = 0.3 m, w = 0.4 m ;
    let frame0 = body box x = 1 m, y = 0.5 m, z = 0.1 m, mass = 20 kg end ;
    let left = body cylinder radius = r, length = 5 cm, mass = 2 kg end ;
    let right = body cylinder radius = r, length = 5 cm, mass = 2 kg end ;
    join earth and frame0.frame with link(x, y, psi) dof1 = [x, y, r], dof2 = psi || [0,0,1] end ;
    join [0, w, 0] ++ (-pi/2 || [1,0,0]) @ frame0 and left.frame with revolute(a) torque = 2 N*m end ;
    join [0, -w, 0] ++ (-pi/2 || [1,0,0]) @ frame0 and right.frame with revolute(b) torque = 1 N*m end ;
    constrain rolling left.frame radius r on earth normal [0,0,1] ;
    constrain rolling right.frame radius r on earth normal [0,0,1] ;""")
    assert linearise(cart).is_stable


@pytest.mark.parametrize("question", [linearise, equilibrium])
def test_nothing_that_moves(question):
    with pytest.raises(TorseurError, match="has no coordinates"):
        question(ts.Mechanism("still", bodies=[], joints=[]))


def test_a_failed_search_names_what_constraints_do_not_bear():
    """A trolley that is pushed by 300 N carries a weight on a rope of fixed length: the rope bears the weight."""
    crane = ts.parse("""gravity = [0, 0, -9.81] m/s^2 ;
    let trolley = body mass = 5 kg, centre = 0, inertia = 0 end ;
    let load = body mass = 200 kg, centre = 0, inertia = 0 end ;
    join earth and trolley.frame with prismatic(x) force = 300 N end ;
    join trolley.frame and load.frame with prismatic(s) along [0, 0, -1] end ;
    constrain s = 2 m ;""")
    with pytest.raises(TorseurError, match=r"along 'x'' a force of -300 is left"):
        equilibrium(crane)


def test_angles_whose_axes_align_have_no_small_motions():
    """At nutation zero, precession and spin turn about one axis: the mass matrix loses rank."""
    text = (
        "mechanism top ;\n"
        "let b = body mass = 2 kg, centre = [0, 0, 0.3] m, inertia = diag(0.2, 0.2, 0.1) kg*m^2 end ;\n"
        "join earth to b.frame as j with spherical(psi, theta, phi) angles zxz end ;\n"
    )
    with pytest.raises(ts.TorseurError, match="no small motions about this state.*'psi'' and 'phi''"):
        ts.linearise(ts.parse(text))
    assert ts.linearise(ts.parse(text), {"theta": 0.4}).trusted
