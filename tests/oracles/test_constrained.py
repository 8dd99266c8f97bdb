"""Constrained and stiff motions against published digits, independent solutions and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

import torseur as ts
from oracles.constrained_mechanisms import (
    ANDREWS_COORDINATES,
    andrews,
    bicycle,
    car_axis,
    cartesian_four_bar,
    cartesian_slider_crank,
    flyball,
    reference,
    rolling_disc,
)
from torseur.algebra.graph import as_expr
from torseur.computation.linearisation import linearise, root_locus
from torseur.description.mechanism import Distance, Equation, Rolling
from torseur.description.mechanism.quantities import as_vector

FORMULATIONS = ("augmented", "partitioned", "projector")


def turned(x, y, angle):
    """Components along turned axes, seen from fixed ones."""
    return x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)


# The reference writes the pins of two bodies in fixed axes, and some of them from child to parent: by joint, the body
# whose axes ours are in, and the sign.
PINS = {
    "slider_crank": (cartesian_slider_crank, {"O": ("", 1), "A": ("a_crank", 1), "B": ("a_rod", -1)}),
    "four_bar": (cartesian_four_bar, {"A": ("", 1), "B": ("a_crank", 1), "C": ("a_coupler", -1), "D": ("", 1)}),
}


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("name", PINS)
def test_planar_mechanisms_with_multipliers(name, formulation):
    """Oracle: an independent integration in extended precision; states and multipliers to 1e-10."""
    make, pins = PINS[name]
    case = reference("planar_dae")[name]
    outputs = [f"{pin}.multiplier.{axis}" for pin in pins for axis in "xy"]
    motion = ts.simulate(make(), until=2, samples=case["t"], rtol=1e-13, outputs=outputs, formulation=formulation)
    assert np.abs(motion.q - np.array(case["q (9)"], float)).max() < 1e-10
    assert np.abs(motion.v - np.array(case["qd (9)"], float)).max() < 1e-10
    multipliers = np.array(case["lambda (M qdd + Phi_q^T lambda = Q)"], float)
    for k, (pin, (body, sign)) in enumerate(pins.items()):
        angle = motion[body] if body else np.zeros(len(motion))
        found = turned(motion[f"{pin}.multiplier.x"], motion[f"{pin}.multiplier.y"], angle)
        for axis in (0, 1):
            expected = multipliers[:, 2 * k + axis]
            assert np.abs(sign * found[axis] - expected).max() < 1e-10 * max(1.0, np.abs(expected).max())


@pytest.mark.slow
@pytest.mark.parametrize(("method", "formulation"), [("explicit", "augmented"), ("explicit", "projector"),
                                                     ("explicit", "partitioned"), ("radau9", "augmented")])  # fmt: skip
def test_andrews_squeezing_mechanism(method, formulation):
    """Oracle: the nine digits of the IVP test set at 0.03 s."""
    case = reference("andrews_squeezer")
    motion = ts.simulate(andrews(), until=0.03, samples=2, rtol=1e-10, method=method, formulation=formulation)
    for name, digits in zip(ANDREWS_COORDINATES, case["q_final_8_digits"], strict=True):
        assert f"{motion[name][-1]:.9g}" == f"{float(digits):.9g}", name


def test_car_axis():
    """Oracle: 80-bit extrapolation of the index-3 problem; its multipliers have the opposite sign."""
    case = reference("caraxis")
    outputs = ["axle.multiplier", "rod.multiplier"]
    motion = ts.simulate(car_axis(), until=3, samples=case["times"], rtol=1e-12, outputs=outputs)
    expected = np.array(case["y"], float)
    assert np.abs(motion.q - expected[:, :4]).max() < 1e-9
    assert np.abs(motion.v - expected[:, 4:]).max() < 1e-9
    assert np.abs(motion.outputs + np.array(case["lam"], float)).max() < 1e-10


@pytest.mark.parametrize(("method", "rtol"), [("radau9", 1e-9), ("radau5", 1e-10), ("auto", 1e-9)])
def test_stiff_flyball_governor(method, rtol):
    """Oracle: two independent solvers that agree to 1.7e-12."""
    data = np.array(reference("iftomm_A05_flyball")["data"])
    motion = ts.simulate(flyball(), until=10, samples=data[:, 0], rtol=rtol, method=method)
    for name, column in (("s", 1), ("alpha1", 2), ("alpha2", 2), ("s'", 3), ("psi", 5), ("psi'", 6)):
        assert np.abs(motion[name] - data[:, column]).max() < 1e-8, name
    if method == "auto":
        assert motion.statistics.method == "radau9"
        assert any("Stiff from t = " in note for note in motion.notes)


@pytest.mark.slow
def test_rolling_disc():
    """Oracle: the disc's equations by Kane's method, integrated independently."""
    case = reference("classics")["rolling_disc"]
    expected = np.array(case["y"], float)
    _, lean, _, u1, u2, u3 = case["y0"]
    turn = u3 / math.cos(lean)
    # The disc leans by q2 when its axle is tilted by q2 - 90 degrees.
    initial = {"tilt": lean - math.pi / 2, "yaw'": turn, "tilt'": u1, "spin'": u2 - turn * math.sin(lean)}
    outputs = ["energy", "contact.multiplier.height"]
    motion = ts.simulate(rolling_disc(), until=5, samples=case["t"], rtol=1e-12, initial=initial, outputs=outputs)
    angles = np.column_stack([motion["yaw"], motion["tilt"] + math.pi / 2, motion["spin"]])
    assert np.abs(angles - expected[:, :3]).max() < 1e-9
    assert np.ptp(motion["energy"]) < 1e-10
    assert np.all(motion["contact.multiplier.height"] < 0), "the plane pushes the disc up"


@pytest.mark.parametrize("ratio", [0.9, 1.1])
def test_upright_disc_is_stable_when_it_rolls_fast(ratio):
    """Oracle: spin² > g / (3 r); then the lean oscillates with the square of the frequency (12 spin² - 4 g/r) / 5."""
    spin = ratio * math.sqrt(9.81 / 3)
    start = {"tilt": -math.pi / 2, "spin'": spin}
    motions = linearise(rolling_disc(), start, independent=["tilt"])
    assert motions.is_stable == (ratio > 1)
    square = (12 * spin**2 - 4 * 9.81) / 5
    roots = [mode.eigenvalue for mode in motions.modes if abs(mode.eigenvalue) > 1e-3]
    assert all(abs(root**2 + square) < 1e-9 for root in roots) and len(roots) == 2


@pytest.mark.slow
def test_ball_rolls_down_a_slope():
    """A tyre on a rim of radius zero is a ball. Oracle: it accelerates at 5/7 of g sin(slope)."""
    radius, slope = 0.2, 0.3
    ball = ts.body("ball", mass=3, centre=(0, 0, 0), inertia=ts.inertia(*[0.4 * 3 * radius**2] * 3))
    joint = ts.free("motion", ts.EARTH, ball, "x", "y", "z", "w", "i", "j", "k", angles="quaternion")
    contact = Rolling("contact", ball.frame, as_expr(0), as_vector((0, 0, 1), "up"), tyre_radius=as_expr(radius))
    gravity = (9.81 * math.sin(slope), 0, -9.81 * math.cos(slope))
    start = {"z": radius, "w": 0.6, "i": 0.0, "j": 0.8, "y'": 0.3}
    mechanism = ts.Mechanism(
        "ball", bodies=[ball], joints=[joint], constraints=[contact], gravity=gravity, initial=start
    )
    motion = ts.simulate(mechanism, until=1.0, samples=11, rtol=1e-11)
    downhill = 5 / 7 * 9.81 * math.sin(slope) * motion.time**2 / 2
    assert np.abs(motion["x"] - downhill - motion["x'"][0] * motion.time).max() < 1e-9
    assert np.abs(motion["y"] - 0.3 * motion.time).max() < 1e-9


def test_skate_on_a_slope():
    """A knife edge that turns uniformly on a slope does not slide down. Oracle: Neimark and Fufaev's closed form."""
    slope, turning = 0.4, 1.7
    skate = ts.body("skate", mass=2, centre=(0, 0, 0), inertia=ts.inertia(0.1, 0.1, 0.3))
    joint = ts.planar("ice", ts.EARTH, skate, "x", "y", "a")
    x, y, a = joint.coordinates
    edge = Equation("edge", ts.sin(a.symbol) * x.rate - ts.cos(a.symbol) * y.rate)
    mechanism = ts.Mechanism(
        "skate", bodies=[skate], joints=[joint], constraints=[edge], gravity=(9.81 * math.sin(slope), 0, 0),
        initial={"a'": turning},
    )  # fmt: skip
    motion = ts.simulate(mechanism, until=6, samples=25, rtol=1e-12)
    width = 9.81 * math.sin(slope) / (2 * turning**2)
    angle = turning * motion.time
    assert np.abs(motion["x"] - width * np.sin(angle) ** 2).max() < 1e-9
    assert np.abs(motion["y"] - width * (angle - np.sin(2 * angle) / 2)).max() < 1e-9


def test_dual_spin_satellite():
    """A rotor driven at constant speed in a symmetric platform. Oracle: the precession rate in closed form."""
    transverse, axial, momentum, spin = 10.0, 7.0, 4.0, 0.5
    platform = ts.body(
        "platform", mass=1, centre=(0, 0, 0), inertia=ts.inertia(transverse - 0.5, transverse - 0.5, axial - 1)
    )
    rotor = ts.body("rotor", mass=1, centre=(0, 0, 0), inertia=ts.inertia(0.5, 0.5, 1.0))
    joints = [
        ts.spherical("attitude", ts.EARTH, platform, "w", "x", "y", "z", angles="quaternion"),
        ts.revolute("bearing", platform, rotor, "turn"),
    ]
    drive = Equation("drive", ts.Coordinate("turn").rate - momentum)
    initial = {"attitude.wx": 0.1, "attitude.wz": spin}
    satellite = ts.Mechanism("satellite", bodies=[platform, rotor], joints=joints, constraints=[drive], initial=initial)
    motion = ts.simulate(satellite, until=20, samples=41, rtol=1e-12)
    rate = ((axial - transverse) * spin + momentum) / transverse
    assert rate == pytest.approx(float(reference("classics")["dual_spin"]["value"]))
    assert np.abs(motion["attitude.wx"] - 0.1 * np.cos(rate * motion.time)).max() < 1e-10
    assert np.abs(motion["attitude.wy"] - 0.1 * np.sin(rate * motion.time)).max() < 1e-10


def spatial_linkage() -> ts.Mechanism:
    """Crank and rocker about skew axes, joined by a rod with a ball at one end and a bar of fixed length at the other."""
    crank = ts.body("crank", solids=[ts.solid("rod", length=0.3, mass=1.0, placement=ts.along((1, 0, 0)))])
    rocker = ts.body("rocker", solids=[ts.solid("rod", length=0.8, mass=1.5, placement=ts.along((0, 0, 1)))])
    joints = [
        ts.revolute("main", ts.EARTH, crank, "q1", axis=(0, 1, 0)),
        ts.revolute("pivot", ts.EARTH.at((1.0, 0.4, -0.2)), rocker, "q2", axis=(0.6, 0.0, 0.8)),
    ]
    rod = Distance("rod", crank.at((0.3, 0, 0)), rocker.at((0.1, 0.3, 0.8)), as_expr(1.25))
    return ts.Mechanism(
        "spatial", bodies=[crank, rocker], joints=joints, constraints=[rod], gravity=(0.5, 0.2, -9.81), initial={"q1": 0.4}
    )  # fmt: skip


def test_spatial_loop_for_a_hundred_seconds():
    """Conservation: the constraint to 1e-10 and the energy to 1e-9 over 100 s."""
    mechanism = spatial_linkage()
    rod = mechanism.constraints[0]
    ends = {"a": rod.first, "b": rod.second}
    mechanism = ts.Mechanism(
        "spatial", bodies=mechanism.bodies, joints=mechanism.joints, constraints=[rod], gravity=mechanism.gravity,
        initial=dict(mechanism.initial), frames=ends,
    )  # fmt: skip
    outputs = ["energy", "kinetic_energy", *(f"{end}.position.{axis}" for end in ends for axis in "xyz")]
    motion = ts.simulate(mechanism, until=100, samples=1001, rtol=1e-12, outputs=outputs)
    span = [motion[f"a.position.{axis}"] - motion[f"b.position.{axis}"] for axis in "xyz"]
    assert np.abs(np.sqrt(sum(d * d for d in span)) - 1.25).max() < 1e-10
    assert np.ptp(motion["energy"]) < 1e-9 * motion["kinetic_energy"].max()


@pytest.mark.slow
def test_bicycle_matrices():
    """Oracle: Meijaard, Papadopoulos, Ruina and Schwab (2007), M, C1, K0 and K2 to 1e-10."""
    case = reference("whipple_bicycle_linear")["meijaard"]
    equations = ts.derive(bicycle())
    found = {
        v: linearise(equations, independent=["lean", "steer", "rear_turn"], parameters={"speed": v})
        for v in (0.0, 1.0, 5.0)
    }

    def part(matrix, motions, columns):
        names = equations.layout.speed_names
        wanted = [names.index(name) for name in ("lean'", "steer'")]
        return matrix[np.ix_([motions.speeds.index(k) for k in wanted], [columns.index(k) for k in wanted])]

    mass = part(found[0.0].mass_matrix, found[0.0], found[0.0].speeds)
    damping = part(found[1.0].damping_matrix, found[1.0], found[1.0].speeds)
    stiffness = {v: part(m.stiffness_matrix, m, m.positions) for v, m in found.items()}
    assert np.abs(mass - case["M"]).max() < 1e-10
    assert np.abs(damping - case["C1"]).max() < 1e-10
    assert np.abs(stiffness[0.0] / case["params"]["g"] - case["K0"]).max() < 1e-10
    assert np.abs((stiffness[5.0] - stiffness[0.0]) / 25 - case["K2"]).max() < 1e-10


@pytest.mark.slow
def test_bicycle_stability(tmp_path):
    """Oracle: the published weave and capsize speeds and eigenvalues."""
    case = reference("whipple_bicycle_linear")["meijaard"]
    states = ["lean", "steer", "lean'", "steer'"]
    speeds = np.arange(0.0, 10.5, 0.5)
    locus = root_locus(bicycle(), speeds, parameters=lambda v: {"speed": v}, states=states, independent=["rear_turn"])
    for speed in (1, 2, 5, 10):
        found = np.sort_complex(locus.eigenvalues[2 * speed])
        expected = np.sort_complex([complex(*pair) for pair in case["eigenvalues_by_speed"][str(speed)]])
        assert np.abs(found - expected).max() < 1e-9
    weave, capsize = locus.crossings
    assert abs(weave.value - case["v_weave"]) < 1e-10 and not weave.growing
    assert abs(capsize.value - case["v_capsize"]) < 1e-10 and capsize.growing
    assert locus.plot(tmp_path / "locus.svg").stat().st_size > 1000


@pytest.mark.slow
def test_nonlinear_bicycle_steadies_itself():
    """Pushed sideways at 4.6 m/s it comes upright again. Oracle: what leaning had of energy ends in the forward speed."""
    case = reference("whipple_bicycle_linear")["meijaard"]
    p = case["params"]
    outputs = ["energy", "kinetic_energy", *(f"{end}_contact.multiplier.height" for end in ("rear", "front"))]
    motion = ts.simulate(bicycle(), until=20, samples=401, rtol=1e-11, initial={"lean'": 0.5}, outputs=outputs)
    assert np.ptp(motion["energy"]) < 1e-10 * motion["kinetic_energy"].max()
    assert abs(motion["lean"][-1]) < 1e-3 < abs(motion["lean"]).max()
    inertia = p["mR"] + p["mB"] + p["mH"] + p["mF"] + p["IRyy"] / p["rR"] ** 2 + p["IFyy"] / p["rF"] ** 2
    forward = math.sqrt(4.6**2 + case["M"][0][0] * 0.5**2 / inertia)
    assert -motion["rear_turn'"][-1] * p["rR"] == pytest.approx(forward, abs=1e-5)
    weight = -(motion["rear_contact.multiplier.height"] + motion["front_contact.multiplier.height"])
    assert weight[-1] == pytest.approx((p["mR"] + p["mB"] + p["mH"] + p["mF"]) * p["g"], rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_implicit_method_keeps_multipliers_to_tolerance(formulation):
    """Oracle: the independent integration in extended precision."""
    case = reference("planar_dae")["slider_crank"]
    motion = ts.simulate(cartesian_slider_crank(), until=2, samples=case["t"], rtol=1e-10, method="radau9",
                         formulation=formulation, outputs=["O.multiplier.x", "O.multiplier.y"])  # fmt: skip
    assert np.abs(motion.q - np.array(case["q (9)"], float)).max() < 1e-7
    expected = np.array(case["lambda (M qdd + Phi_q^T lambda = Q)"], float)[:, :2]
    assert np.abs(motion.outputs - expected).max() < 1e-6


@pytest.mark.slow
def test_velocity_constraint_that_depends_on_time():
    """H(q) q' + h(t) = 0: a skate on a belt that shakes. Oracles: the slip itself, and the work of the belt."""
    skate = ts.body("skate", mass=2, centre=(0, 0, 0), inertia=ts.inertia(1, 1, 1))
    joint = ts.planar("ice", ts.EARTH, skate, "x", "y", "a")
    x, y, a = joint.coordinates
    belt = ts.equation("belt", ts.sin(a.symbol) * x.rate - ts.cos(a.symbol) * y.rate + ts.sin(3 * ts.TIME))
    mechanism = ts.Mechanism("belt", bodies=[skate], joints=[joint], constraints=[belt], gravity=(0, -1, 0),
                             initial={"a'": 0.7, "x'": 1.0})  # fmt: skip
    motion = ts.simulate(mechanism, until=4, samples=801, rtol=1e-11, outputs=["belt.power", "energy"])
    slip = np.sin(motion["a"]) * motion["x'"] - np.cos(motion["a"]) * motion["y'"] + np.sin(3 * motion.time)
    assert np.abs(slip).max() < 1e-13
    work = cumulative_simpson(motion["belt.power"], x=motion.time, initial=0)
    assert np.abs(motion["energy"] - motion["energy"][0] - work).max() < 1e-7


@pytest.mark.slow
def test_rolling_disc_with_a_tyre():
    """Rim and tyre add up: upright, the disc rolls as one of their common radius, and it is stable at that speed."""
    motion = ts.simulate(rolling_disc(tyre=0.3), until=2, samples=5, rtol=1e-11,
                         initial={"tilt": -math.pi / 2, "spin'": 3.0}, outputs=["energy"])  # fmt: skip
    assert np.abs(np.hypot(motion["x"], motion["y"]) - 3.0 * motion.time).max() < 1e-9
    leaning = ts.simulate(rolling_disc(tyre=0.3), until=5, samples=101, rtol=1e-11,
                          initial={"tilt": -1.3, "yaw'": 0.5, "spin'": 3.0}, outputs=["energy"])  # fmt: skip
    assert np.ptp(leaning["energy"]) < 1e-9 * leaning["energy"][0]
