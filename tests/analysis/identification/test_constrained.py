"""Mechanisms that roll and loops with ball joints: parameters from forces, against closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import torseur as ts
from torseur.analysis.identification import Derivatives, Treatment, base_parameters, identify, linear_model, make_trial
from torseur.analysis.identification.estimators.priors import description_parameters
from torseur.analysis.identification.estimators.regression import Regression
from torseur.analysis.identification.results.fits import fits_of
from torseur.description.mechanism import Equation
from torseur.errors import IdentificationError

G, R = 9.81, 0.5
TIME = np.linspace(0, 4, 401)


def series(t: np.ndarray, waves: list[tuple[float, float, float]], start: float = 0.0):
    """A sum of sines with its first two rates."""
    q, v, a = np.full_like(t, start), 0 * t, 0 * t
    for size, w, phase in waves:
        q = q + size * (np.sin(w * t + phase) - np.sin(phase))
        v, a = v + size * w * np.cos(w * t + phase), a - size * w**2 * np.sin(w * t + phase)
    return q, v, a


def disc(mass=2.0, centre=(0.12, 0.05, 0), spin=0.3, edge=True):
    """A disc that stands on a floor and rolls along x; its mass centre is off the axle."""
    body = ts.body("disc", mass=mass, centre=centre, inertia=ts.inertia(1, 1, spin))
    x, y, phi = ts.Coordinate("x", "m"), ts.Coordinate("y", "m"), ts.Coordinate("phi")
    track = ts.planar("track", ts.EARTH, body, x, y, phi)
    floor, rolls = Equation("floor", y.symbol), Equation("rolls", x.rate + R * phi.rate)
    return ts.Mechanism("m", bodies=[body], joints=[track], constraints=[floor, rolls], gravity=(0, -G, 0))


def disc_torque(q, v, a, mass=2.0, centre=(0.12, 0.05), spin=0.3):
    """Lagrange by hand: T = ½ (I + m (e² + R² + 2 R (e_x sin φ + e_y cos φ))) φ'², V = m g (e_x sin φ + e_y cos φ)."""
    ex, ey = centre
    up, along = ex * np.sin(q) + ey * np.cos(q), ex * np.cos(q) - ey * np.sin(q)
    inertia = spin + mass * (ex**2 + ey**2 + R**2 + 2 * R * up)
    return inertia * a + mass * R * along * v**2 + mass * G * along


@pytest.mark.slow
def test_rolling_disc_from_its_angle_alone():
    model = linear_model(disc())
    base = base_parameters(model)
    q, v, a = series(TIME, [(1.4, 1.7, 0.3), (0.5, 4.1, 1.0)], 0.4)
    trial = make_trial(model, TIME, {"phi": q, "phi'": v, "phi''": a}, {"phi": disc_torque(q, v, a)})
    assert any("x, y followed from rolling" in note for note in trial.notes)
    names = model.equations.layout.coordinate_names
    assert np.allclose(trial.q[:, names.index("x")], -R * (q - q[0]), atol=1e-7)
    found = identify(model, [trial], "ordinary")
    assert len(base) == 3 and found.fits[0].relative < 1e-9
    truth = np.array([2.0, 0.24, 0.1, 0, 0, 0, 0, 0, 0, 0.3 + 2 * (0.12**2 + 0.05**2)])
    assert np.abs(found.values - base.combination @ truth).max() < 1e-9


def test_slipping_records_are_refused():
    model = linear_model(disc())
    q, v, a = series(TIME, [(1.4, 1.7, 0.3)])
    zero = 0 * q
    channels = {"phi": q, "phi'": v, "phi''": a, "y": zero, "y'": zero, "y''": zero}
    with pytest.raises(IdentificationError, match="contradicts constraint 'rolls'.* miss it by"):
        make_trial(model, TIME, {**channels, "x": R * q, "x'": R * v, "x''": R * a}, {"phi": zero})


def sleigh() -> ts.Mechanism:
    """Chaplygin's sleigh: a blade at the origin of the body, which cannot slip sideways."""
    body = ts.body("sleigh", mass=3.0, centre=(0.4, 0.1, 0), inertia=ts.inertia(1, 1, 0.7))
    x, y, psi = ts.Coordinate("x", "m"), ts.Coordinate("y", "m"), ts.Coordinate("psi")
    blade = Equation("blade", x.rate * ts.sin(psi.symbol) - y.rate * ts.cos(psi.symbol))
    joint = ts.planar("ice", ts.EARTH, body, x, y, psi)
    return ts.Mechanism("sleigh", bodies=[body], joints=[joint], constraints=[blade])


def sleigh_motion():
    """Heading and forward speed as sums of sines; the path by fine quadrature."""
    from scipy.integrate import solve_ivp

    psi, omega, turn = series(TIME, [(1.1, 1.3, 0.2), (0.3, 3.7, 0.5)])
    u, du, _ = series(TIME, [(0.8, 1.9, 0.1), (0.3, 4.3, 2.0)], 1.0)

    def slope(t, _):
        heading = series(np.array([t]), [(1.1, 1.3, 0.2), (0.3, 3.7, 0.5)])[0][0]
        speed = series(np.array([t]), [(0.8, 1.9, 0.1), (0.3, 4.3, 2.0)], 1.0)[0][0]
        return [speed * np.cos(heading), speed * np.sin(heading)]

    x, y = solve_ivp(slope, (0, 4), [0, 0], t_eval=TIME, rtol=1e-12, atol=1e-12, method="DOP853").y
    return x, y, psi, omega, turn, u, du


def sleigh_channels():
    x, y, psi, w, turn, u, du = sleigh_motion()
    c, s = np.cos(psi), np.sin(psi)
    return {
        "x": x, "y": y, "psi": psi, "x'": u * c, "y'": u * s, "psi'": w,
        "x''": du * c - u * s * w, "y''": du * s + u * c * w, "psi''": turn,
    }  # fmt: skip


def sleigh_forces():
    """m (u' - a_x ω² - a_y ω') = F and (I + m a²) ω' + m (a_x u ω - a_y u') = M, with F along the blade."""
    _, _, psi, w, turn, u, du = sleigh_motion()
    m, ax, ay, spin = 3.0, 0.4, 0.1, 0.7
    forward = m * (du - ax * w**2 - ay * turn)
    return {
        "x": forward * np.cos(psi), "y": forward * np.sin(psi),
        "psi": (spin + m * (ax**2 + ay**2)) * turn + m * (ax * u * w - ay * du),
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("recorded", [("x", "y", "psi"), ("x", "psi")])
def test_sleigh(recorded):
    """Closed form of Chaplygin's sleigh; y is recorded, or followed from the blade."""
    model = linear_model(sleigh())
    channels = {k: x for k, x in sleigh_channels().items() if k.rstrip("'") in recorded}
    trial = make_trial(model, TIME, channels, sleigh_forces())
    assert np.allclose(trial.q[:, 1], sleigh_channels()["y"], atol=1e-6)
    found = identify(model, [trial], "ordinary")
    assert found.names == ["sleigh.mass", "sleigh.h.x", "sleigh.h.y", "sleigh.Izz"]
    assert np.abs(found.values - [3.0, 1.2, 0.3, 0.7 + 3 * 0.17]).max() < 1e-6


def test_what_rolling_leaves_open_is_named():
    channels = {k: x for k, x in sleigh_channels().items() if k.startswith("psi")}
    with pytest.raises(IdentificationError, match="the constraints leave 2 free: record also x"):
        make_trial(linear_model(sleigh()), TIME, channels, {"psi": 0 * TIME})


CRANK, ROD, ROCKER, PLACE = 0.3, 1.1, 0.6, np.array([0.8, 0.5, 0.2])
RHO = 2.0


def spatial_four_bar() -> ts.Mechanism:
    """Crank about z, rod between a ball (quaternion) and a universal joint, rocker about x: one freedom."""
    bars = [_bar(n, length) for n, length in (("crank", CRANK), ("rod", ROD), ("rocker", ROCKER))]
    crank, rod, rocker = bars
    alpha, gamma = ts.Coordinate("alpha"), ts.Coordinate("gamma")
    ball = ts.spherical("ball", crank.at((CRANK, 0, 0)), rod, "b0", "b1", "b2", "b3", angles="quaternion")
    fork = ts.universal("fork", rod.at((ROD, 0, 0)), rocker.at((ROCKER, 0, 0)), "u1", "u2", (0, 1, 0), (0, 0, 1))
    joints = [
        ts.revolute("pin", ts.EARTH, crank, alpha, (0, 0, 1)),
        replace(ball, role="tree"),
        ts.revolute("pivot", ts.EARTH.at(tuple(PLACE)), rocker, gamma, (0, 1, 0)),
        replace(fork, role="loop"),
    ]
    return ts.Mechanism("rssr", bodies=bars, joints=joints, gravity=(0, 0, -G), initial={"alpha": 0.3, "gamma": 2.0})


def _bar(name: str, length: float) -> ts.Body:
    """A uniform thin bar along x from its origin."""
    m = RHO * length
    I = m * length**2 / 12
    return ts.body(name, mass=m, centre=(length / 2, 0, 0), inertia=ts.inertia(0, I, I))


def ends(alpha, sign):
    """Ends of crank and rocker with their slopes by the crank's angle; the rocker's angle in closed form."""
    p1 = CRANK * np.array([np.cos(alpha), np.sin(alpha), 0.0])
    d = PLACE - p1
    k = (ROD**2 - d @ d - ROCKER**2) / (2 * ROCKER)
    gamma = -np.arctan2(d[2], d[0]) + sign * np.arccos(k / np.hypot(d[0], d[2]))
    p2 = PLACE + ROCKER * np.array([np.cos(gamma), 0.0, -np.sin(gamma)])
    v1 = CRANK * np.array([-np.sin(alpha), np.cos(alpha), 0.0])
    along = ROCKER * np.array([-np.sin(gamma), 0.0, -np.cos(gamma)])
    slope = ((p2 - p1) @ v1) / ((p2 - p1) @ along)
    return gamma, slope, p1, p2, v1, slope * along


def energies(alpha, sign):
    """M and V of T = ½ M α'², for thin uniform bars: that of a bar is m (v₁² + v₁·v₂ + v₂²) / 6."""
    _, _, p1, p2, v1, v2 = ends(alpha, sign)
    masses = RHO * np.array([CRANK, ROD, ROCKER])
    M = masses @ [v1 @ v1, v1 @ v1 + v1 @ v2 + v2 @ v2, v2 @ v2] / 3
    return M, G * (masses @ [p1[2] / 2, (p1 + p2)[2] / 2, (PLACE + p2)[2] / 2])


def crank_torque(alpha, rate, change, sign, h=2e-5):
    (M0, V0), (M, _), (M1, V1) = (energies(alpha + s, sign) for s in (-h, 0, h))
    return M * change + (M1 - M0) / (4 * h) * rate**2 + (V1 - V0) / (2 * h)


def bar_parameters(length: float) -> list[float]:
    m = RHO * length
    return [m, m * length / 2, 0, 0, 0, 0, m * length**2 / 3, 0, 0, m * length**2 / 3]


@pytest.mark.slow
def test_loop_with_a_quaternion_from_crank_torque_alone():
    model = linear_model(spatial_four_bar())
    base = base_parameters(model)
    assert "b0" in model.equations.layout.coordinate_names
    q, v, a = series(TIME, [(1.6, 1.7, 0.3), (0.8, 3.1, 1.0), (0.2, 7.0, 0.0)], 0.3)
    q, v, a = q + 0.8 * TIME, v + 0.8, a
    first = {"alpha": q[:2], "alpha'": v[:2], "alpha''": a[:2]}
    start = make_trial(model, TIME[:2], first, {"alpha": q[:2]})
    names = model.equations.layout.coordinate_names
    gamma = start.q[0, names.index("gamma")]
    sign = min((1, -1), key=lambda s: abs(np.exp(1j * gamma) - np.exp(1j * ends(q[0], s)[0])))
    tau = np.array([crank_torque(*x, sign) for x in zip(q, v, a, strict=True)])
    trial = make_trial(model, TIME, {"alpha": q, "alpha'": v, "alpha''": a}, {"alpha": tau})
    for k in (0, 133, 400):
        gamma, slope, *_ = ends(q[k], sign)
        assert np.exp(1j * trial.q[k, names.index("gamma")]) == pytest.approx(np.exp(1j * gamma), abs=1e-9)
        assert trial.v[k, model.equations.layout.speed_names.index("gamma'")] == pytest.approx(slope * v[k], abs=1e-8)
    truth = np.array([bar_parameters({"crank": CRANK, "rod": ROD, "rocker": ROCKER}[b]) for b in model.bodies]).ravel()
    found = identify(model, [trial], "ordinary")
    assert len(found.values) == len(base) == 12
    assert found.fits[0].relative < 1e-8
    assert np.abs(found.values - found.combination @ truth).max() < 1e-6


def rolling_disc_by_quaternion() -> ts.Mechanism:
    """A lopsided disc that rolls on the ground, pushed by a force of known size."""
    disc = ts.body(
        "disc", mass=2, centre=(0.02, 0.01, 0.015), inertia=ts.inertia(0.04, 0.05, 0.07, 0.004, 0.002, 0.003)
    )
    names = ("x", "y", "z", "e0", "e1", "e2", "e3")
    half = np.radians(75) / 2
    flight = ts.free("flight", ts.EARTH, disc, *names, angles="quaternion")
    push = ts.force("push", disc.at((0.1, 0.05, 0.02)), (3 * ts.cos(2 * ts.TIME), 2.0, 1.5))
    initial = {"e0": np.cos(half), "e1": np.sin(half), "flight.wy": 3.0, "flight.wz": 10.0}
    return ts.Mechanism(
        "disc", bodies=[disc], joints=[flight], loads=[push], constraints=[ts.rolling("contact", disc, 0.25)],
        gravity=(0, 0, -G), initial=initial,
    )  # fmt: skip


def four_bar_with_a_pendulum() -> ts.Mechanism:
    """A ball joint with a quaternion beside a loop, driven by a torque of known size."""
    bars = [_bar(n, length) for n, length in (("crank", 0.4), ("coupler", 1.0), ("rocker", 0.8))]
    bob = ts.body("bob", mass=0.7, centre=(0, 0.05, -0.3), inertia=ts.inertia(0.02, 0.03, 0.01, 0.002, 0.001, 0.003))
    crank, coupler, rocker = bars
    joints = [
        ts.revolute("A", ts.EARTH, crank, "alpha", (0, 0, 1)),
        ts.revolute("B", crank.at((0.4, 0, 0)), coupler, "beta", (0, 0, 1)),
        ts.revolute("D", ts.EARTH.at((1.2, 0, 0)), rocker, "gamma", (0, 0, 1)),
        replace(ts.revolute("C", coupler.at((1.0, 0, 0)), rocker.at((0.8, 0, 0)), "delta", (0, 0, 1)), role="loop"),
        ts.spherical("S", coupler.at((0.5, 0.1, 0)), bob, "s0", "s1", "s2", "s3", angles="quaternion"),
    ]
    drive = ts.motor("drive", "A", "alpha", 12 * ts.cos(5 * ts.TIME))
    initial = {"alpha": 1.7, "s0": np.cos(0.9), "s1": np.sin(0.9), "S.wz": 2.0}
    return ts.Mechanism(
        "pendulum", bodies=[*bars, bob], joints=joints, loads=[drive], gravity=(0, -G, 0), initial=initial
    )


@pytest.mark.slow
@pytest.mark.parametrize("make", [rolling_disc_by_quaternion, four_bar_with_a_pendulum])
def test_motion_by_multipliers_is_explained(make):
    """Oracle: forward dynamics with Lagrange multipliers. Only coordinates are recorded, quaternions among them."""
    mechanism = make()
    motion = ts.simulate(mechanism, 1.2, samples=1201, rtol=1e-11)
    model = linear_model(mechanism)
    coordinates = {c: motion[c] for c in model.equations.layout.coordinate_names}
    free = model.equations.layout.speed_names[0].removesuffix("'")
    splines = Treatment(derivatives=Derivatives("spline"))
    trial = make_trial(model, motion.time, coordinates, {free: 0 * motion.time}, treatment=splines).part(slice(20, -20))
    here = np.searchsorted(motion.time, trial.time)
    exact = np.stack([motion[v] for v in model.equations.layout.speed_names], axis=1)
    assert np.allclose(trial.v, exact[here], atol=1e-6)
    truth = np.concatenate([description_parameters(model)[owner] for owner in model.bodies])
    (fit,) = fits_of(Regression(model, (trial,)), truth)
    assert fit.relative < 1e-5
    found = identify(model, [trial], "weighted")
    assert found.fits[0].relative < 1e-5
    assert np.median(np.abs(found.values - found.combination @ truth)) < 1e-3


@pytest.mark.slow
def test_forces_that_are_all_zero_say_nothing():
    model = linear_model(disc())
    q, v, a = series(TIME, [(1.4, 1.7, 0.3)])
    trial = make_trial(model, TIME, {"phi": q, "phi'": v, "phi''": a}, {"phi": 0 * q})
    with pytest.raises(IdentificationError, match="no force acts in these trials"):
        identify(model, [trial])
