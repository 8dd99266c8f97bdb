"""Fits among real bodies: truths by construction, no bias where all is feasible, and an independent minimiser."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

import torseur as ts
from analysis.identification.arms import PUMA, TWO_R, arm, true_parameters
from analysis.identification.recordings import channels, forces, recorded, sines
from torseur.analysis.identification import (
    Extras,
    Limits,
    Options,
    Trial,
    base_parameters,
    identify,
    linear_model,
    make_trial,
    write_back,
)
from torseur.analysis.identification.estimators import consistent_fit
from torseur.analysis.identification.model.pseudo_inertia import is_consistent, pseudo_inertia
from torseur.errors import IdentificationError

G = 9.81
VERTICAL = (0, -G, 0)


def moments_of(points: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """Ten parameters of point masses, by their sums."""
    h, S = masses @ points, points.T @ (points * masses[:, None])
    I = np.trace(S) * np.eye(3) - S
    return np.array([masses.sum(), *h, I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])


def pendulum(body: ts.Body, axis=(0, 0, 1)) -> ts.Mechanism:
    joint = ts.revolute("pin", ts.EARTH, body, "q1", axis)
    return ts.Mechanism("pendulum", bodies=[body], joints=[joint], gravity=VERTICAL)


def thin_rod(name: str = "rod") -> ts.Body:
    """A metre of one kilogram along x, without any thickness."""
    return ts.body(name, mass=1, centre=(0.5, 0, 0), inertia=ts.inertia(0, 1 / 12, 1 / 12))


BODIES = {
    "thin rod": thin_rod(),
    "point mass": ts.body("rod", mass=2, centre=(0, 0, 0), inertia=0),
    "no values": ts.body("rod"),
    "a plate": ts.body("rod", mass=1, centre=(0, 0, 0), inertia=ts.inertia(0.1, 0.2, 0.3)),
    "heavy": ts.body("rod", mass=5000, centre=(3, 0, 0), inertia=ts.inertia(1e4, 1e4, 1e4)),
    "in grams": ts.body("rod", mass=1e-3, centre=(0.01, 0, 0), inertia=ts.inertia(1e-6, 1e-6, 1e-6)),
}


def torque_of(h, Izz, q, a):
    """m g c and I of a body about z, from Newton's law of rotation."""
    return Izz * a + G * (h[0] * np.cos(q) - h[1] * np.sin(q))


@pytest.mark.parametrize("described", BODIES)
@pytest.mark.parametrize("h", [(0.5, 0.4), (0.0, 0.0), (-2.0, 3.0)])
def test_what_no_force_feels_never_binds(described, h):
    """One axis feels h.x, h.y and Izz: with any mass and any thickness free, every Izz > 0 is that of a body."""
    model = linear_model(pendulum(BODIES[described]))
    t, q, v, a = sines(1, 80)
    clean = torque_of(h, 0.9, q[:, 0], a[:, 0])
    rng = np.random.default_rng(4)
    base = base_parameters(model)
    for _ in range(8):
        tau = clean + 0.3 * rng.normal(size=len(t))
        trial = make_trial(model, t, channels(q, v, a), {"q1": tau})
        plain = identify(model, [trial], "weighted", Options(base=base))
        real = identify(model, [trial], "consistent", Options(base=base))
        # The best fit is that of some body: the constrained one is the same, not one that a description pulls at.
        assert np.abs((real.values - plain.values) / plain.deviation).max() < 1e-3
        assert is_consistent(real.body("rod"), 1e-9) and real.certificate.holds
        assert np.allclose(real.combination @ real.parameters, real.values)


@pytest.mark.slow
def test_no_bias_over_many_draws():
    """All-feasible truth, a description of thin rods: the mean of the fits is the truth within its own deviation."""
    rods = [thin_rod("upper"), thin_rod("lower")]
    joints = [
        ts.revolute("a", ts.EARTH, rods[0], "q1", (0, 0, 1)),
        ts.revolute("b", rods[0].at((1, 0, 0)), rods[1], "q2", (0, 0, 1)),
    ]
    model = linear_model(ts.Mechanism("arm", bodies=rods, joints=joints, gravity=VERTICAL))
    base = base_parameters(model)
    rng = np.random.default_rng(0)
    clouds = [moments_of(rng.uniform(-0.6, 0.8, (9, 3)), rng.uniform(0.1, 0.4, 9)) for _ in range(2)]
    truth = np.concatenate(clouds)
    t, q, v, a = sines(2, 60)
    clean = model.matrix(q, v, a) @ truth
    errors, deviations = [], []
    for _ in range(150):
        tau = clean + rng.normal(size=clean.shape)
        trial = make_trial(model, t, channels(q, v, a), {"q1": tau[:, 0], "q2": tau[:, 1]})
        found = identify(model, [trial], "consistent", Options(base=base))
        errors.append(found.values - base.combination @ truth)
        deviations.append(found.deviation)
    mean, spread = np.mean(errors, axis=0), np.mean(deviations, axis=0)
    assert np.abs(mean / spread).max() < 4 / np.sqrt(150)
    assert np.allclose(np.std(errors, axis=0), spread, rtol=0.25)


@pytest.mark.parametrize("description", ["true", "rods", "none"])
def test_noise_free_recovery(description):
    """Six axes and links of point masses: singular pseudo-inertias, which are the limit of what a body can have."""
    rng = np.random.default_rng(5)
    true = arm(PUMA, seed=3)
    bodies = []
    for body in true.bodies:
        m, points = rng.uniform(0.3, 2.0, 2), rng.uniform(-0.3, 0.3, (2, 3))
        c = m @ points / m.sum()
        S = (points - c).T @ ((points - c) * m[:, None])
        I = np.trace(S) * np.eye(3) - S
        matrix = ts.inertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        bodies.append(ts.body(body.name, mass=m.sum(), centre=tuple(c), inertia=matrix))
    true = replace(true, bodies=tuple(bodies))
    described = {
        "true": true,
        "rods": replace(true, bodies=tuple(thin_rod(b.name) for b in bodies)),
        "none": replace(true, bodies=tuple(ts.body(b.name) for b in bodies)),
    }[description]
    model = linear_model(described)
    found = identify(model, [recorded(model, mechanism=true)], "consistent")
    truth = found.combination @ true_parameters(true)
    assert np.abs(found.values - truth).max() < 1e-6
    assert all(is_consistent(found.body(b), 1e-9) for b in model.bodies)
    if description == "true":
        assert np.abs(found.parameters - true_parameters(true)).max() < 1e-7


# Σ of the moments: Ixx = Syy + Szz and so on, as a matrix from the entries of J = [S, h; hᵀ, m] to the parameters.
FROM_MOMENTS = np.zeros((10, 4, 4))
FROM_MOMENTS[0, 3, 3] = 1
FROM_MOMENTS[[1, 2, 3], [0, 1, 2], 3] = 1
for row, (i, j) in zip(range(4, 10), ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)), strict=True):
    FROM_MOMENTS[row, i, j] = -1
    if i == j:
        FROM_MOMENTS[row, [0, 1, 2], [0, 1, 2]] += 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 4])
def test_the_minimum_is_that_of_factored_bodies(seed):
    """Oracle: J = U Uᵀ with any U, the residuals of all samples minimised by SciPy: no cones, no base parameters.

    Two flat plates, of which one flies: most of their parameters are felt, and noise makes them impossible.
    """
    model = linear_model(flying_plates())
    rng = np.random.default_rng(seed)
    q, v, a = (rng.normal(size=(25, 9)) for _ in range(3))
    points = [rng.uniform(-0.5, 0.5, (7, 3)) * [1, 1, 0] for _ in range(2)]
    truth = np.concatenate([moments_of(p, rng.uniform(0.1, 0.5, 7)) for p in points])
    tau = model.matrix(q, v, a) @ truth + 0.4 * rng.normal(size=q.shape)
    trial = Trial("flight", np.arange(25.0), q, v, a, tau, (True,) * 9)
    found = identify(model, [trial], "consistent")
    assert found.certificate.binding and found.certificate.excess > 0.5
    noise = np.array([found.noise[name.removesuffix("'")] for name in model.equations.layout.speed_names])
    flat, right = (model.matrix(q, v, a) / noise[:, None]).reshape(-1, 20), (tau / noise).ravel()

    def residual(u):
        U = u.reshape(2, 4, 4)
        return flat @ np.einsum("kij,bij->bk", FROM_MOMENTS, U @ np.swapaxes(U, 1, 2)).ravel() - right

    def derivatives(u):
        both = FROM_MOMENTS + np.swapaxes(FROM_MOMENTS, 1, 2)
        D = np.einsum("kij,bjl->bkil", both, u.reshape(2, 4, 4)).reshape(2, 10, 16)
        return np.hstack([flat[:, :10] @ D[0], flat[:, 10:] @ D[1]])

    tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-12, "max_nfev": 3000}
    best = 2 * min(least_squares(residual, rng.normal(size=32), derivatives, **tight).cost for _ in range(2))
    ours = float(np.sum((flat @ found.parameters - right) ** 2))
    assert ours == pytest.approx(best, abs=1e-2)


def flying_plates() -> ts.Mechanism:
    plates = [ts.body(name, mass=1, centre=(0, 0, 0), inertia=ts.inertia(0.1, 0.1, 0.2)) for name in ("hull", "fin")]
    joints = [
        ts.free("flight", ts.EARTH, plates[0], *"xyz", *"abc"),
        ts.spherical("ball", plates[0].at((0.3, 0.2, 0.1)), plates[1], *"def"),
    ]
    return ts.Mechanism("plates", bodies=plates, joints=joints, gravity=VERTICAL)


def wrong_forces(q, v, a):
    """Forces that no body has: an inertia less than nothing about the second axis."""
    return -5.0 * a.sum(axis=1, keepdims=True) + 0.3 * np.sin(37 * q)


def tool_arm(tool_mass: float = 0.5) -> ts.Mechanism:
    link = ts.body("link", mass=2, centre=(0.3, 0, 0), inertia=ts.inertia(0.01, 0.1, 0.1))
    tool = ts.body("tool", mass=tool_mass, centre=(0.05, 0.02, 0), inertia=ts.inertia(2e-3, 3e-3, 4e-3))
    joints = [
        ts.revolute("pin", ts.EARTH, link, "q1", (0, 0, 1)),
        ts.fixed("weld", link.at((0.6, 0, 0), ts.turn(0.3, (0, 1, 0))), tool),
    ]
    return ts.Mechanism("m", bodies=[link, tool], joints=joints, gravity=VERTICAL)


@pytest.mark.parametrize("true_mass", [0.01, 0.4, 30.0])
@pytest.mark.parametrize("described_mass", [0.5, 60.0])
def test_bodies_fixed_together_stay_bodies(true_mass, described_mass):
    """A heavy tool in the description, a light one in truth: the link minus the tool would be no body."""
    model = linear_model(tool_arm(described_mass))
    t, q, v, a = sines(1, 200)
    truth = tool_arm(true_mass)
    tau = 0.1 * forces(truth, q, v, a)
    found = identify(model, [make_trial(model, t, channels(q, v, a), {"q1": tau[:, 0]})], "consistent")
    written, _ = write_back(found)
    again = ts.parse(ts.to_text(written))
    assert np.allclose(forces(again, q, v, a), tau, rtol=1e-7, atol=1e-7)
    for body in again.bodies:
        m, I = float(body.mass), np.array([float(x) for x in body.inertia.components[:3]])
        assert m > 0 and np.all(I > -1e-12) and 2 * I.max() <= I.sum() * (1 + 1e-9)
    whole = sum(pseudo_inertia(true_parameters_at_link(body, again)) for body in again.bodies)
    assert np.allclose(whole, pseudo_inertia(found.body("link")), atol=1e-9 * np.trace(whole))


def true_parameters_at_link(body: ts.Body, mechanism: ts.Mechanism) -> np.ndarray:
    """Ten parameters in the link's frame, by point masses: each body as six points with the same moments."""
    c = np.array([float(x) for x in body.iframe.position])
    xx, yy, zz, xy, xz, yz = (float(x) for x in body.inertia.components)
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    S = np.trace(I) / 2 * np.eye(3) - I
    m = float(body.mass)
    values, axes = np.linalg.eigh(S)
    reach = np.sqrt(np.maximum(3 * values / m, 0)) * axes
    points = np.concatenate([c + reach.T, c - reach.T])
    if body.name == "tool":
        s, k = np.sin(0.3), np.cos(0.3)
        points = points @ np.array([[k, 0, s], [0, 1, 0], [-s, 0, k]]).T + [0.6, 0, 0]
    return moments_of(points, np.full(6, m / 6))


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("mass", [1e-3, 500.0])
def test_descriptions_of_another_size_do_not_matter(noise, mass):
    """An arm of kilograms described in grams, or in tons: the fit is that with its own description."""
    true = arm(PUMA, seed=5)
    bodies = [
        ts.body(b.name, mass=mass, centre=(0.01, 0, 0), inertia=ts.inertia(*(mass * 1e-3,) * 3)) for b in true.bodies
    ]
    own, other = linear_model(true), linear_model(replace(true, bodies=tuple(bodies)))
    fits = [identify(m, [recorded(m, noise, mechanism=true, count=60)], "consistent") for m in (own, other)]
    apart = np.abs(fits[0].values - fits[1].values) / np.maximum(fits[0].deviation, 1e-6 * np.abs(fits[0].values).max())
    assert apart.max() < 0.2


def test_rotors_and_payloads_share_what_is_felt():
    """A rotor beside an inertia: their sum is felt, and neither sign nor body binds."""
    model = linear_model(pendulum(thin_rod()), Extras(rotor=["q1"], viscous=["q1"]))
    t, q, v, a = sines(1, 100)
    tau = torque_of((0.2, 0.3), 0.9, q[:, 0], a[:, 0]) + 0.4 * v[:, 0]
    found = identify(model, [make_trial(model, t, channels(q, v, a), {"q1": tau})], "consistent")
    assert found.values == pytest.approx(found.combination @ found.parameters)
    assert found["rod.Izz"] + found["q1.rotor"] == pytest.approx(0.9, abs=1e-7)
    assert found["q1.rotor"] >= -1e-9 and is_consistent(found.body("rod"), 1e-9)


def test_a_fit_that_did_not_converge_is_an_error(monkeypatch):
    """The certificate is computed from the numbers, whatever the solver says of itself."""
    model = linear_model(arm(TWO_R, VERTICAL, seed=0))
    trial = recorded(model, 0.01, extra=wrong_forces)
    solve = consistent_fit._solve

    def wrong(problem, stress):
        x, multipliers, iterations = solve(problem, stress)
        return 1.05 * x, multipliers, iterations

    monkeypatch.setattr(consistent_fit, "_solve", wrong)
    with pytest.raises(IdentificationError, match="did not converge .gap"):
        identify(model, [trial], "consistent")


def test_limits_bind_where_the_data_leave_open():
    """A mass that no force feels takes any value that is asked for, and costs nothing."""
    model = linear_model(pendulum(thin_rod()))
    t, q, v, a = sines(1, 100)
    trial = make_trial(model, t, channels(q, v, a), {"q1": torque_of((0.5, 0.1), 0.9, q[:, 0], a[:, 0])})
    found = identify(model, [trial], "consistent", Options(limits={"rod": Limits(mass=(7.0, 8.0))}))
    assert 7 - 1e-6 <= found["rod.mass"] <= 8 + 1e-6 and found.certificate.excess < 1e-4
    # m Σ ≥ h²: a mass of 0.2 kg with h = 0.51 would need an inertia of 1.3 kg m².
    found = identify(model, [trial], "consistent", Options(known={"rod.mass": 0.2}))
    assert found.certificate.excess > 1 and "rod" in found.certificate.binding
