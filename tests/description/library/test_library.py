"""The library: every mechanism is readable, possible, and moves as mechanics says it must."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from torseur.description import library
from torseur.errors import TorseurError
from torseur.presentation.report.compose.account import account

ORACLES = Path(__file__).resolve().parents[2] / "oracles"
NAMES = [entry.name for entry in library.entries()]
UNDETERMINED = {"satellite"}
MOVING = [name for name in NAMES if name not in UNDETERMINED]
DRIVERS = {"dual_spin_satellite": ["drive.power"], "ball_on_turntable": ["rolling_x.power", "rolling_y.power"]}
# At rest where first-order motions lead nowhere, so that no motion follows from the equations.
SHAKY = {"antenna_mesh", "antenna_chain", "antenna_grid", "stretched_four_bar"}
CONSERVING = [name for name in MOVING if name not in {"car_axis", *SHAKY}]  # the road of the axis brings energy
LARGE = {"quadruped", "delta_robot", "stewart_platform"}


@pytest.mark.parametrize("name", NAMES)
def test_text_describes_the_mechanism(name):
    """The printed text, read again, is the mechanism itself."""
    assert ts.parse(library.source_of(name)) == library.load(name)


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_has_a_meaning(name):
    declared = [p for p in library.load(name).parameters if name not in UNDETERMINED]
    assert [p.name for p in declared if not p.meaning] == []


@pytest.mark.parametrize("name", MOVING)
def test_bodies_are_possible_and_values_given(name):
    warnings = account(library.load(name)).warnings
    assert [w for w in warnings if not w.startswith("Without mass")] == []


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in LARGE else n for n in CONSERVING])
def test_energy_changes_only_by_the_power_of_loads(name):
    """Oracle: the work of the loads, by Simpson's rule on the samples."""
    scipy = pytest.importorskip("scipy.integrate")
    samples = 4001
    powers = ["power", *DRIVERS.get(name, ())]
    until = 0.01 if name == "andrews_squeezer" else 1.0
    motion = ts.simulate(library.load(name), until=until, samples=samples, rtol=1e-9, outputs=["energy", *powers])
    work = scipy.cumulative_simpson(sum(motion[each] for each in powers), x=motion.time, initial=0)
    gained = motion["energy"] - motion["energy"][0]
    # The feet of the quadruped meet the ground between two samples, where power jumps.
    # The governor's springs settle within a few samples.
    tolerance = {"quadruped": 2e-2, "flyball_governor": 1e-5}.get(name, 1e-6)
    assert np.max(np.abs(gained - work)) <= tolerance * max(1.0, np.max(np.abs(gained)))


@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_chain_has_as_many_rods_as_asked(n):
    mechanism = library.load(f"library:pendulum_chain?n={n}")
    assert len(mechanism.bodies) == n
    assert len(ts.derive(mechanism).layout.speeds) == n


def test_one_rod_swings_as_a_physical_pendulum():
    """Oracle: period of a rod about its end at small angles, 2π √(2 l / 3 g)."""
    motion = ts.simulate(library.load("pendulum_chain?n=1"), until=3, initial={"q1": 1e-4}, events=["q1'"], rtol=1e-10)
    times = [event.time for event in motion.events if event.time > 1e-6]
    assert np.diff(times)[0] == pytest.approx(np.pi * np.sqrt(2 * 0.5 / (3 * 9.81)), rel=1e-7)


def test_double_pendulum_follows_the_reference():
    """Oracle: stored states of the orthogonal double pendulum (extrapolation in extended precision)."""
    reference = json.loads((ORACLES / "double_pendulum.json").read_text(encoding="utf-8"))["cases"]["pi/4"]
    motion = ts.simulate(library.load("double_pendulum"), until=5, samples=reference["t"], rtol=1e-12)
    for stored, name in (("q1", "q1"), ("q2", "q2"), ("q1d", "q1'"), ("q2d", "q2'")):
        assert motion[name] == pytest.approx(reference[stored], abs=1e-10)


def test_top_nutates_as_the_closed_form():
    """Oracle: greatest nutation and its period, elliptic integrals of the heavy top."""
    top = json.loads((ORACLES / "classics.json").read_text(encoding="utf-8"))["heavy_top_nutation"]
    # The closed form starts with the spin about the axis 60 rad/s and no precession, as the library's top does.
    motion = ts.simulate(library.load("spinning_top"), until=1, events=["theta'"], rtol=1e-11, samples=20001)
    assert np.max(motion["theta"]) == pytest.approx(float(top["theta_max"]), abs=1e-8)
    times = [event.time for event in motion.events if event.time > 1e-6]
    assert times[1] == pytest.approx(float(top["period"]), rel=1e-7)


PUMA_GRAVITY = {"g1": -37.2, "g2": -8.44, "g3": 1.02, "g4": 2.49e-1, "g5": -2.82e-2}


@pytest.mark.parametrize("seed", range(5))
def test_puma_holds_its_published_weight(seed):
    """Oracle: gravity terms of Armstrong, Khatib and Burdick (1986), table of constants to three digits."""
    q = np.random.default_rng(seed).uniform(-np.pi, np.pi, 6)
    equations = ts.derive(library.load("puma560"))
    gravity = ts.compile(equations, ["gravity"])(q=q, p=_values(equations))["gravity"]
    assert gravity == pytest.approx(puma_gravity(q), abs=0.07)


def puma_gravity(q):
    """The torques that hold the arm, in the notation of the paper."""
    g1, g2, g3, g4, g5 = PUMA_GRAVITY.values()
    s, c = np.sin(q), np.cos(q)
    s23, c23 = np.sin(q[1] + q[2]), np.cos(q[1] + q[2])
    hand = g5 * (s23 * c[4] + c23 * c[3] * s[4])
    elbow = g2 * s23 + g4 * c23 + hand
    return [0, g1 * c[1] + g3 * s[1] + elbow, elbow, -g5 * s23 * s[3] * s[4], g5 * (c23 * s[4] + s23 * c[3] * c[4]), 0]


# Armstrong, Khatib and Burdick (1986): a, alpha, d of the modified Denavit-Hartenberg frames; mass, centre, moments.
PUMA_FRAMES = [
    (0, 0, 0),
    (0, -np.pi / 2, 0.2435),
    (0.4318, 0, -0.0934),
    (-0.0203, np.pi / 2, 0.4331),
    (0, -np.pi / 2, 0),
    (0, np.pi / 2, 0),
]
PUMA_MASSES = [
    (0, (0, 0, 0), (0, 0, 0.35)),
    (17.4, (0.068, 0.006, -0.016), (0.13, 0.524, 0.539)),
    (4.8, (0, -0.070, 0.014), (0.066, 0.0125, 0.066)),
    (0.82, (0, 0, -0.019), (1.8e-3, 1.8e-3, 1.3e-3)),
    (0.34, (0, 0, 0), (0.3e-3, 0.3e-3, 0.4e-3)),
    (0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3)),
]


def puma_mass_matrix(q):
    """M = Σ m Jvᵀ Jv + Jwᵀ R I Rᵀ Jw from 4x4 matrices."""
    place, axes, origins = np.eye(4), [], []
    total = np.zeros((6, 6))
    for k, ((a, alpha, d), (mass, centre, moments)) in enumerate(zip(PUMA_FRAMES, PUMA_MASSES, strict=True)):
        ca, sa, c, s = np.cos(alpha), np.sin(alpha), np.cos(q[k]), np.sin(q[k])
        place = place @ np.array(
            [[c, -s, 0, a], [s * ca, c * ca, -sa, -d * sa], [s * sa, c * sa, ca, d * ca], [0, 0, 0, 1]]
        )
        axes.append(place[:3, 2])
        origins.append(place[:3, 3])
        point = place[:3, :3] @ np.array(centre) + place[:3, 3]
        turning = np.zeros((3, 6))
        turning[:, : k + 1] = np.array(axes).T
        moving = np.zeros((3, 6))
        moving[:, : k + 1] = np.array([np.cross(z, point - o) for z, o in zip(axes, origins, strict=True)]).T
        inertia = place[:3, :3] @ np.diag(moments) @ place[:3, :3].T
        total += mass * moving.T @ moving + turning.T @ inertia @ turning
    return total


@pytest.mark.parametrize("seed", range(3))
def test_puma_has_its_published_inertia(seed):
    """Oracle: Jacobians of plain 4x4 matrices and the table of the paper."""
    q = np.random.default_rng(seed).uniform(-np.pi, np.pi, 6)
    equations = ts.derive(library.load("puma560"))
    matrix = ts.compile(equations, ["mass_matrix"])(q=q, p=_values(equations))["mass_matrix"]
    assert np.reshape(matrix, (6, 6)) == pytest.approx(puma_mass_matrix(q), abs=1e-12)


def _values(equations):
    values = {p.name: float(p.value) for p in equations.mechanism.parameters}
    return np.array([values[name] for name in equations.layout.parameter_names])


@pytest.mark.slow
def test_quadruped_stands():
    """Oracle: at rest the ground carries the weight, so that the trunk neither falls nor jumps."""
    motion = ts.simulate(library.load("quadruped"), until=6, samples=3, rtol=1e-6, outputs=["trunk.acceleration.z"])
    assert abs(motion["z'"][-1]) < 1e-4
    assert abs(motion["trunk.acceleration.z"][-1]) < 1e-2
    assert motion["z"][-1] > 0.2


@pytest.mark.parametrize("name", ["nothing", "pendulum_chain?m=2", "pendulum_chain?n=0", "pendulum_chain?n=two"])
def test_wrong_names_are_refused(name):
    with pytest.raises(ts.TorseurError, match="library"):
        library.load(name)


def test_systems_of_equations_are_in_the_catalogue():
    """A name that studies know is known to everything, which says that it has no bodies."""
    with pytest.raises(TorseurError, match="roll_yaw_vehicle is a system of equations without bodies: studies take it"):
        library.load("roll_yaw_vehicle")
