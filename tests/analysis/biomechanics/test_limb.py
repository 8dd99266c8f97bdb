"""A limb's own inertia from trials on a force plate."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from torseur.analysis.biomechanics import MotionTrial
from torseur.analysis.biomechanics.limb.nearest_body import nearest_body, symmetric
from torseur.analysis.biomechanics.limb_inertia import LIMBS, identify_limb, limb_of
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.motion.joint_motion import JointMotion, coordinate_names
from torseur.analysis.biomechanics.person_model.human36 import SegmentInertia, human36
from torseur.analysis.biomechanics.simulated_trials import simulated_trial
from torseur.analysis.published_studies import upper_limb
from torseur.errors import RecordingError

# A person whose left leg is not that of any table.
OWN = SegmentInertia(9.0, (0.01, -0.21, 0.005), np.diag([0.2, 0.05, 0.19]))
PERSON = human36(1.8, 75.0, "de_leva_male")
OTHER = human36(1.8, 75.0, "de_leva_male", segments={"l_thigh": OWN})


def leg_trial(mechanism, rate=100.0):
    """The left leg swings about the hip in all directions, the rest stands in the air on what holds it."""
    names = coordinate_names(mechanism)
    time = np.arange(round(4 * rate) + 1) / rate
    q, v, a = (np.zeros((len(time), 36)) for _ in range(3))
    for name, size, w in (("flexion", 0.6, 4.1), ("adduction", 0.4, 5.3), ("rotation", 0.4, 6.7)):
        k = names.index(f"l_hip_{name}")
        q[:, k], v[:, k], a[:, k] = (
            size * np.sin(w * time),
            size * w * np.cos(w * time),
            -size * w**2 * np.sin(w * time),
        )
    motion = JointMotion(time, names, q, v, a)
    force, moment = BodyInMotion(mechanism, motion).external_wrench
    trial = simulated_trial(mechanism, motion, name="leg")
    plate = replace(trial.plates[0], force=force, moment_about_origin=moment)
    return replace(trial, plates=(plate,))


def test_inertia_of_another_leg_is_found():
    """Oracle: the leg the recording was made with, not the one of the model that is fitted."""
    found = identify_limb([leg_trial(OTHER)], limb_of(PERSON, "left leg"), rates="central", centre="score")
    inertia, moment = limb_of(OTHER, "left leg").inertia
    assert np.linalg.norm(found.inertia - inertia, 2) < 2e-3 * np.linalg.norm(inertia, 2)
    assert np.linalg.norm(found.moment - moment) < 2e-3 * np.linalg.norm(moment)
    assert found.differences[0] > 1 and found.positive and not found.warnings


@pytest.mark.parametrize("noise", [0.0, 0.003])
def test_motion_and_inertia_are_found_together(noise):
    """Plates late by 4 ms and off by 3 N, markers hidden, a foreign leg; with noise the truth lies in its deviations."""
    trial, rng = leg_trial(OTHER, rate=50.0), np.random.default_rng(3)
    plate, time = trial.plates[0], trial.markers.time
    late = [
        CubicSpline(time, x)(time - 0.004) + 3 + noise * rng.normal(size=x.shape) / scale
        for x, scale in ((plate.force, 0.003), (plate.moment_about_origin, 0.01))
    ]
    points = trial.markers.positions + rng.uniform(-noise, noise, trial.markers.positions.shape)
    points[20:28, trial.markers.slot("LKNE")] = np.nan
    recorded = MotionTrial(
        replace(trial.markers, positions=points), (replace(plate, force=late[0], moment_about_origin=late[1]),)
    )
    found = identify_limb([recorded], limb_of(PERSON, "left leg"))
    inertia, moment = limb_of(OTHER, "left leg").inertia
    assert found.fit.converged and found.positive
    assert found.fit.delays[0] == pytest.approx(0.004, abs=3e-3 if noise else 1e-4)
    places = np.triu_indices(3)
    errors = np.concatenate([(found.inertia - inertia)[places], found.moment - moment])
    told = np.concatenate([found.inertia_deviation[places], found.deviation[:3, 6]])
    if noise:
        assert np.all(np.abs(errors) < 3.5 * told) and np.all(told < 0.05)
        assert found.fit.noise[0] == pytest.approx(noise / np.sqrt(3), rel=0.05)
    else:
        assert np.abs(errors).max() < 5e-3


def test_the_nearest_body_is_taken_where_noise_leaves_none():
    """Oracle: random bodies about it; none of them is nearer in units of the covariance."""
    rng, values = np.random.default_rng(0), np.array([0.380, 0.004, 0.3745, 1e-3, 0, 0, 0, -0.93, 0])
    covariance = 1e-6 * (np.eye(9) + 0.5 * np.ones((9, 9)))
    given = SimpleNamespace(values=values, covariance=covariance, inertia=symmetric(values[:6]), moment=values[6:])
    nearest = nearest_body(given)

    def distance(candidate):
        return (candidate - values) @ np.linalg.solve(covariance, candidate - values)

    def least(candidate):
        inertia = symmetric(candidate[:6])
        return np.linalg.eigvalsh(np.trace(inertia) / 2 * np.eye(3) - inertia)[0]

    assert least(values) < -1e-4 and abs(least(nearest)) < 1e-9
    others = [nearest + size * rng.normal(size=9) for size in (1e-5, 1e-4, 1e-3) for _ in range(200)]
    bodies = [other for other in others if least(other) >= 0]
    assert len(bodies) > 100 and all(distance(body) > distance(nearest) - 1e-6 for body in bodies)


def test_every_limb_has_markers_and_inertia():
    labels = [name for name, _ in PERSON.frames]
    for name in LIMBS:
        limb = limb_of(PERSON, name)
        assert len(limb.labels(labels)) >= 8 and len(limb.carrier_labels(labels)) >= 4
        inertia, moment = limb.inertia
        assert np.linalg.eigvalsh(inertia)[0] > 0 and moment[1] < 0
    right, left = (limb_of(PERSON, f"{side} arm").inertia[0] for side in ("right", "left"))
    assert np.allclose(right, left)


def test_bad_trials_are_refused():
    seen = upper_limb.recordings()[:1]
    limb = upper_limb.limb()
    with pytest.raises(RecordingError, match="has no force plate"):
        identify_limb([replace(seen[0], plates=())], limb)
    with pytest.raises(RecordingError, match="unknown limb 'right wing'"):
        limb_of(PERSON, "right wing")
    with pytest.raises(RecordingError, match="give its `point`"):
        identify_limb(seen, limb, centre="unknown")
    with pytest.raises(RecordingError, match="not 'guessed'"):
        identify_limb(seen, limb, centre="guessed")
    hidden = seen[0].markers.positions.copy()
    hidden[4:9, 5] = np.nan
    with pytest.raises(RecordingError, match="is hidden in 5 frames"):
        identify_limb([replace(seen[0], markers=replace(seen[0].markers, positions=hidden))], limb, rates="source")
    with pytest.raises(RecordingError, match="always found with the rest"):
        identify_limb(seen, limb, centre="unknown", point="STRN")
    with pytest.raises(RecordingError, match="about one axis only, or not at all"):
        identify_limb(seen, limb)
    with pytest.raises(RecordingError, match="at least one trial"):
        identify_limb([], limb)


def test_a_body_that_moves_is_noticed():
    trial = leg_trial(PERSON)
    found = identify_limb([trial], limb_of(PERSON, "left leg"), rates="central", centre="model")
    assert not found.warnings
    from torseur.analysis.biomechanics.simulated_trials import walking

    walk = simulated_trial(PERSON, walking(PERSON, 1.2))
    moving = identify_limb([walk], limb_of(PERSON, "left leg"), rates="central", centre="model")
    assert any("still" in text for text in moving.warnings)
