"""Estimators under noise: bias, spread and coverage against what statistics says they are."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from analysis.identification.arms import PUMA, SEVEN_R, TWO_R, arm, random_inertia, true_parameters
from analysis.identification.recordings import channels, forces, recorded, sines
from torseur.analysis.identification import (
    Extras,
    Limits,
    Options,
    Prior,
    base_parameters,
    cross_validate,
    identify,
    linear_model,
    make_trial,
)
from torseur.analysis.identification.model.pseudo_inertia import (
    is_consistent,
    parameters_of_pseudo_inertia,
    pseudo_inertia,
)
from torseur.errors import IdentificationError

VERTICAL = (0, -9.81, 0)


@pytest.fixture(scope="module")
def two():
    mechanism = arm(TWO_R, VERTICAL)
    model = linear_model(mechanism)
    return mechanism, model, base_parameters(model)


def truth_of(mechanism, base) -> np.ndarray:
    return base.combination @ true_parameters(mechanism)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ordinary", "weighted", "robust"])
def test_deviations_are_those_of_repeated_noise(two, method):
    """Oracle: the spread over fifty recordings of the same motion."""
    mechanism, model, base = two
    t, q, v, a = sines(2, 150)
    clean = forces(mechanism, q, v, a)
    rng = np.random.default_rng(7)
    found = []
    for _ in range(50):
        tau = clean + rng.normal(size=clean.shape) * [0.5, 0.1]
        trial = make_trial(model, t, channels(q, v, a), {"q1": tau[:, 0], "q2": tau[:, 1]})
        found.append(identify(model, [trial], method, Options(base=base)))
    values = np.array([one.values for one in found])
    assert np.abs(values.mean(axis=0) - truth_of(mechanism, base)).max() < 0.05
    if method != "ordinary":  # which supposes the same noise on both forces
        told = np.mean([one.deviation for one in found], axis=0)
        assert np.allclose(values.std(axis=0), told, rtol=0.35)
        low, high = np.array([one.interval[0] for one in found]), np.array([one.interval[1] for one in found])
        inside = (low < truth_of(mechanism, base)) & (truth_of(mechanism, base) < high)
        assert inside.mean() > 0.88


@pytest.mark.slow
def test_weights_beat_equal_weights(two):
    mechanism, model, base = two
    t, q, v, a = sines(2, 150)
    clean = forces(mechanism, q, v, a)
    rng = np.random.default_rng(3)
    errors = {"ordinary": [], "weighted": []}
    for _ in range(30):
        tau = clean + rng.normal(size=clean.shape) * [0.02, 3.0]
        trial = make_trial(model, t, channels(q, v, a), {"q1": tau[:, 0], "q2": tau[:, 1]})
        for method, list_of in errors.items():
            found = identify(model, [trial], method, Options(base=base))
            list_of.append(np.linalg.norm(found.values - truth_of(mechanism, base)))
    assert np.mean(errors["weighted"]) < 0.7 * np.mean(errors["ordinary"])


def test_robust_fit_ignores_outliers(two):
    mechanism, model, base = two
    t, q, v, a = sines(2, 300)
    rng = np.random.default_rng(5)
    tau = forces(mechanism, q, v, a) + 0.05 * rng.normal(size=q.shape)
    tau[rng.choice(300, 30, replace=False)] += 40.0
    trial = make_trial(model, t, channels(q, v, a), {"q1": tau[:, 0], "q2": tau[:, 1]})
    plain, robust = (identify(model, [trial], m, Options(base=base)) for m in ("ordinary", "robust"))
    truth = truth_of(mechanism, base)
    assert np.linalg.norm(robust.values - truth) < 0.1 * np.linalg.norm(plain.values - truth)
    assert robust.fits[0].statistics("q1").kurtosis > 3


def noisy_motion(model, tau, motion, noise, rng, **more):
    t, q, v, a = motion
    noisy = [x + s * rng.normal(size=x.shape) for x, s in zip((q, v, a), noise, strict=True)]
    return make_trial(model, t, channels(*noisy), {"q1": tau[:, 0], "q2": tau[:, 1]}, **more)


@pytest.mark.slow
def test_instruments_remove_the_bias_of_a_noisy_regressor(two):
    """Noise on accelerations makes least squares too small; a second recording as instrument does not let it."""
    mechanism, model, base = two
    motion = sines(2, 400)
    tau = forces(mechanism, *motion[1:])
    truth = truth_of(mechanism, base)
    rng = np.random.default_rng(11)
    errors = {"weighted": [], "instrumental": []}
    for _ in range(12):
        first, second = (noisy_motion(model, tau, motion, (0.0, 0.0, 8.0), rng) for _ in range(2))
        options = Options(base=base, instruments=[second])
        for method, list_of in errors.items():
            list_of.append(identify(model, [first], method, options).values - truth)
    bias = {method: np.linalg.norm(np.mean(list_of, axis=0)) for method, list_of in errors.items()}
    assert bias["instrumental"] < 0.3 * bias["weighted"]
    with pytest.raises(IdentificationError, match="need instruments"):
        identify(model, [first], "instrumental", Options(base=base))


def test_total_least_squares_solves_the_textbook_problem(two):
    """Oracle: the singular vector of the scaled, stacked matrix, computed here from Y itself."""
    _, model, base = two
    trial = recorded(model, 0.05)
    found = identify(model, [trial], "total", Options(base=base))
    weighted = identify(model, [trial], "weighted", Options(base=base))
    Y = model.matrix(trial.q, trial.v, trial.vdot)[:, :, list(base.columns)]
    noise = np.array([weighted.noise["q1"], weighted.noise["q2"]])
    stacked = np.hstack([(Y / noise[:, None]).reshape(-1, len(base)), (trial.tau / noise).reshape(-1, 1)])
    scale = np.linalg.norm(stacked, axis=0)
    vector = np.linalg.svd(stacked / scale)[2][-1] / scale
    assert np.allclose(found.values, -vector[:-1] / vector[-1], rtol=1e-9)


def test_joint_parameters_are_recovered(two):
    mechanism, _, _ = two
    names = ["q1", "q2"]
    model = linear_model(mechanism, Extras(rotor=["q1"], viscous=names, coulomb=names, stiffness=["q2"], offset=names))
    truth = {"q1.viscous": 0.7, "q2.viscous": 0.2, "q1.coulomb": 1.1, "q2.coulomb": 0.4, "q2.stiffness": 5.0,
             "q1.offset": 0.3, "q2.offset": -0.2}  # fmt: skip

    def more(q, v, a):
        return v * [0.7, 0.2] + np.sign(v) * [1.1, 0.4] + q * [0.0, 5.0] + [0.3, -0.2] + a * [0.25, 0.0]

    found = identify(model, [recorded(model, extra=more)])
    for name, value in truth.items():
        assert found[name] == pytest.approx(value, abs=1e-9)
    assert "link1.Izz + q1.rotor" in str(found)


def test_friction_cannot_be_negative(two):
    """Forces that push along the motion: least squares says so with a warning, consistent fits with zero."""
    mechanism, _, _ = two
    model = linear_model(mechanism, Extras(viscous=["q1"]))
    trial = recorded(model, 0.001, extra=lambda q, v, a: v * [-0.5, 0.0])
    plain = identify(model, [trial])
    assert plain["q1.viscous"] == pytest.approx(-0.5, abs=0.01)
    assert any("q1.viscous is negative" in text for text in plain.warnings)
    real = identify(model, [trial], "consistent")
    assert real["q1.viscous"] == pytest.approx(0, abs=1e-6)
    assert "q1.viscous" in real.certificate.binding


# Parameters of real bodies.


def test_pseudo_inertia_and_its_coordinates():
    rng = np.random.default_rng(0)
    for _ in range(20):
        m, c, I = random_inertia(rng)
        at = I + m * (c @ c * np.eye(3) - np.outer(c, c))
        p = np.array([m, *(m * c), at[0, 0], at[0, 1], at[1, 1], at[0, 2], at[1, 2], at[2, 2]])
        assert is_consistent(p)
        assert np.allclose(parameters_of_pseudo_inertia(pseudo_inertia(p)), p)
        wrong = p.copy()
        wrong[4] = -wrong[4]
        assert not is_consistent(wrong)


@pytest.fixture(scope="module")
def short_noisy():
    """Thirty samples of a Puma with a tenth of noise: least squares is no mechanism."""
    mechanism = arm(PUMA, seed=4)
    model = linear_model(mechanism)
    return mechanism, model, base_parameters(model), recorded(model, 0.1, count=30)


def test_consistent_parameters_are_those_of_bodies(short_noisy):
    mechanism, model, base, trial = short_noisy
    prior = guess(model)
    plain = identify(model, [trial], "weighted", Options(base=base, prior=prior))
    found = identify(model, [trial], "consistent", Options(base=base, prior=prior))
    assert any("no body can have" in text for text in plain.warnings)
    assert all(is_consistent(found.body(b), 1e-9) for b in model.bodies)
    assert not any("no body can have" in text for text in found.warnings)
    truth = truth_of(mechanism, base)
    assert np.linalg.norm(found.values - truth) < np.linalg.norm(plain.values - truth)


def guess(model) -> Prior:
    """Every body a ball of two kilograms: nothing is known."""
    return Prior({b: np.array([2.0, 0, 0, 0, 0.05, 0, 0.05, 0, 0, 0.05]) for b in model.bodies})


@pytest.mark.slow
def test_consistent_fit_is_exact_without_noise():
    mechanism = arm(SEVEN_R, seed=2)
    model = linear_model(mechanism)
    base = base_parameters(model)
    found = identify(model, [recorded(model)], "consistent", Options(base=base))
    assert np.abs(found.values - truth_of(mechanism, base)).max() < 1e-9
    found = identify(model, [recorded(model)], "consistent", Options(base=base, prior=guess(model)))
    assert np.abs(found.values - truth_of(mechanism, base)).max() < 1e-6
    assert all(is_consistent(found.body(b), 1e-9) for b in model.bodies)


def test_limits_are_kept(short_noisy):
    _, model, base, trial = short_noisy
    limits = LIMITED
    found = identify(model, [trial], "consistent", Options(base=base, prior=guess(model), limits=limits))
    assert 0.5 - 1e-6 <= found["link6.mass"] <= 1.0 + 1e-6
    assert found["link5.mass"] <= 3000 * 4 / 3 * np.pi * 0.1**3 + 1e-6
    J = pseudo_inertia(found.body("link5"))
    assert np.linalg.eigvalsh(limits["link5"].fullest - J)[0] > -1e-6
    assert np.sum(pseudo_inertia(found.body("link4")) * limits["link4"].quadric) > -1e-6
    with pytest.raises(IdentificationError, match="limits: unknown body 'link9'"):
        identify(model, [trial], "consistent", Options(base=base, limits={"link9": Limits(mass=(0, 1))}))
    with pytest.raises(IdentificationError, match="are for methods consistent and log_cholesky, not 'weighted'"):
        identify(model, [trial], "weighted", Options(base=base, limits=limits))
    with pytest.raises(IdentificationError, match="needs the ellipsoid"):
        Limits(density=1000.0)


def test_limits_that_nothing_meets_are_refused(short_noisy):
    _, model, base, trial = short_noisy
    ball = Limits(semi_axes=(0.1, 0.1, 0.1), density=1000.0, mass=(5.0, 6.0))
    for limits, known in (
        ({"link6": Limits(mass=(2.0, 1.0))}, {}),
        ({"link5": ball}, {}),
    ):
        with pytest.raises(IdentificationError, match="no parameters satisfy"):
            identify(model, [trial], "consistent", Options(base=base, limits=limits, known=known))
    with pytest.raises(IdentificationError, match="known values: unknown parameter 'link9.mass'"):
        identify(model, [trial], "consistent", Options(base=base, known={"link9.mass": 1.0}))


LIMITED = {
    "link6": Limits(mass=(0.5, 1.0)),
    "link5": Limits(semi_axes=(0.1, 0.1, 0.1), density=3000.0),
    "link4": Limits(centre=(0.05, 0, 0), semi_axes=(0.2, 0.1, 0.1)),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "known", [{}, {"link3.mass": 2.0, "link2.h.x": 0.3}], ids=["limits", "limits and known values"]
)
def test_nothing_allowed_fits_better(short_noisy, known):
    """Oracle: the cost, computed here from Y itself, rises towards every other allowed set of parameters."""
    _, model, base, trial = short_noisy
    options = Options(base=base, limits=LIMITED, known=known)
    found = identify(model, [trial], "consistent", options)
    noise = np.array([found.noise[f"q{k}"] for k in range(1, 7)])
    Y = model.matrix(trial.q, trial.v, trial.vdot)

    def cost(pi):
        return np.sum(((Y @ pi - trial.tau) / noise) ** 2)

    best = cost(found.parameters)
    for seed in range(12):
        other = identify(model, [recorded(model, 0.3, seed=seed, count=40)], "consistent", options).parameters
        for part in (1.0, 0.1, 1e-3):
            assert cost(found.parameters + part * (other - found.parameters)) > best - 1e-3
    assert 0.5 - 1e-6 <= found["link6.mass"] <= 1.0 + 1e-6
    assert np.linalg.eigvalsh(LIMITED["link5"].fullest - pseudo_inertia(found.body("link5")))[0] > -1e-6
    assert np.sum(pseudo_inertia(found.body("link4")) * LIMITED["link4"].quadric) > -1e-6
    for name, value in known.items():
        assert found[name] == pytest.approx(value, abs=1e-6)


def test_a_full_ellipsoid_touches_its_limits():
    """Oracle: the homogeneous ellipsoid's moments, m a²/5."""
    limits = Limits(centre=(0.1, 0.2, 0.0), semi_axes=(0.3, 0.2, 0.1), density=500.0)
    J = limits.fullest
    assert J[3, 3] == pytest.approx(500 * 4 / 3 * np.pi * 0.3 * 0.2 * 0.1)
    assert J[0, 0] == pytest.approx(J[3, 3] * (0.09 / 5 + 0.01))
    inside = np.sum(J * limits.quadric) / J[3, 3]
    assert inside == pytest.approx(1 - 3 / 5)


def test_a_prior_decides_what_the_data_leave_open(two):
    mechanism, model, base = two
    bodies = {f"link{k}": true_parameters(mechanism)[10 * (k - 1) : 10 * k] * 1.02 for k in (1, 2)}
    found = identify(model, [recorded(model, 0.02)], "consistent", Options(base=base, prior=Prior(bodies)))
    assert found["link2.mass"] == pytest.approx(bodies["link2"][0], rel=0.05)
    with pytest.raises(IdentificationError, match="those of no body"):
        wrong = {"link1": np.array([-1.0, 0, 0, 0, 1, 0, 1, 0, 0, 1])}
        identify(model, [recorded(model, 0.02)], "consistent", Options(base=base, prior=Prior(wrong)))


# What the data say about themselves.


def test_bootstrap_agrees_with_the_covariance(two):
    _, model, base = two
    found = identify(model, [recorded(model, 0.05, count=2000)], options=Options(base=base, bootstrap=200))
    assert np.allclose(found.bootstrap.deviation, found.deviation, rtol=0.5)
    low, high = found.interval
    assert np.allclose((high - low) / 2, 1.96 * found.bootstrap.deviation, rtol=0.01)


def test_held_out_trials_are_predicted(two):
    _, model, base = two
    trials = [recorded(model, 0.03, seed=k, name=f"run {k}") for k in range(3)]
    found = identify(model, trials[:2], options=Options(base=base, validation=trials[2:]))
    assert found.validation[0].name == "run 2" and 0.015 < found.validation[0].relative < 0.045
    rounds = cross_validate(model, trials, base=base)
    assert [fit.name for fit in rounds] == ["run 0", "run 1", "run 2"]
    assert all(fit.relative < 0.04 for fit in rounds)


def test_a_trial_that_is_held_out_takes_no_part_in_the_fit(two):
    """Closed form: forces are linear in the parameters, so that an arm 1.3 times as heavy is fitted as that.

    What the heavy arm predicts of the light one is off by 0.3 of its forces, and the other way round by 0.3 / 1.3.
    """
    arm, model, base = two
    light = recorded(model, name="light")
    heavy = recorded(model, extra=lambda q, v, a: 0.3 * forces(arm, q, v, a), name="heavy")
    rounds = cross_validate(model, [light, heavy], base=base)
    assert [fit.relative for fit in rounds] == pytest.approx([0.3, 0.3 / 1.3], rel=1e-6)
    found = identify(model, [light], options=Options(base=base, validation=[heavy]))
    assert found.validation[0].relative == pytest.approx(0.3 / 1.3, rel=1e-6)


def test_trials_are_held_out_of_at_least_two(two):
    model = two[1]
    trials = [recorded(model, 0.03)]
    with pytest.raises(IdentificationError, match="at least two trials"):
        cross_validate(model, trials[:1])


def test_what_the_model_lacks_shows_in_the_residual(two):
    """Friction that is not among the parameters leaves residuals correlated in time."""
    _, model, base = two
    trial = recorded(model, 0.001, extra=lambda q, v, a: 2.0 * np.sign(v))
    found = identify(model, [trial], options=Options(base=base))
    assert any("correlated in time" in text for text in found.warnings)
    white = identify(model, [recorded(model, 0.02)], options=Options(base=base))
    assert not white.warnings
    statistics = white.fits[0].statistics("q1")
    assert abs(statistics.correlation) < 0.2 and abs(statistics.kurtosis) < 1


def test_an_estimate_without_expectations_gives_combinations_only():
    """Bodies without values: the description has nothing to say."""
    link = ts.body("link")
    model = linear_model(
        ts.Mechanism("p", bodies=[link], joints=[ts.revolute("pin", ts.EARTH, link, "q1", (0, 0, 1))], gravity=VERTICAL)
    )
    t, q, v, a = sines(1, 200)
    tau = 0.4 * a[:, 0] + 9.81 * (0.8 * np.cos(q[:, 0]) - 0.1 * np.sin(q[:, 0]))
    found = identify(model, [make_trial(model, t, channels(q, v, a), {"q1": tau})])
    assert found.names == ["link.h.x", "link.h.y", "link.Izz"]
    assert np.allclose(found.values, [0.8, 0.1, 0.4], atol=1e-9)
    with pytest.raises(IdentificationError, match="determine combinations only"):
        found.body("link")
    real = identify(model, [make_trial(model, t, channels(q, v, a), {"q1": tau})], "consistent")
    assert np.allclose(real.values, [0.8, 0.1, 0.4], atol=1e-6) and is_consistent(real.body("link"), 1e-9)
    assert any("nothing is expected of link" in note for note in real.notes)


def test_the_consistent_fit_has_a_second_name(two):
    _, model, base = two
    first, second = (identify(model, [recorded(model)], m, Options(base=base)) for m in ("consistent", "log_cholesky"))
    assert np.array_equal(first.parameters, second.parameters) and second.certificate.holds
