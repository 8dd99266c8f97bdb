"""A person's trial from end to end, on a computed walk whose motion and moments are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from torseur.analysis.biomechanics import Axes, Markers, MotionTrial
from torseur.analysis.biomechanics.forces.foot_loads import human_footing
from torseur.analysis.biomechanics.forces.ground_reaction import ground_reaction, share_between_feet
from torseur.analysis.biomechanics.forces.trial_dynamics import trial_dynamics
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.person import Protocol, analyse_person, calibrate, turn_to_model_axes
from torseur.analysis.biomechanics.person_model.human36 import dimensions, human36
from torseur.analysis.biomechanics.simulated_trials import simulated_markers, simulated_trial, walking
from torseur.description.mechanism import Frame, placement
from torseur.errors import RecordingError, TorseurError

HEIGHT, MASS = 1.78, 74.0
PERSON = human36(HEIGHT, MASS, "de_leva_male")
MOTION = walking(PERSON, 2.4)
TRIAL = simulated_trial(PERSON, MOTION, noise=0.0005, name="walk")
UP = np.array([0.0, 1.0, 0.0])


@pytest.fixture(scope="module")
def found():
    return analyse_person(TRIAL, height=HEIGHT, mass=MASS)


@pytest.fixture(scope="module")
def truth():
    body = BodyInMotion(PERSON, MOTION)
    return trial_dynamics(PERSON, MOTION, share_between_feet(ground_reaction(body), human_footing(body), UP))


def gaps(found, truth, name):
    """Difference of a moment from the true one, in parts of its range."""
    at = np.searchsorted(truth.motion.time, found.motion.time - 1e-9)
    wanted = truth.moment(name)[at]
    return np.sqrt(np.mean((found.dynamics.moment(name) - wanted) ** 2)) / np.ptp(wanted)


@pytest.mark.slow
def test_angles_and_moments_come_back(found, truth):
    at = np.searchsorted(truth.motion.time, found.motion.time - 1e-9)
    for name in ("r_hip_flexion", "l_knee_flexion", "r_ankle_flexion", "l_shoulder_flexion", "pelvis_rotation"):
        assert np.abs(found.motion.of(name) - truth.motion.of(name)[at]).max() < np.radians(1.0), name
    for name in ("r_hip_flexion", "l_knee_flexion", "r_ankle_flexion"):
        assert gaps(found, truth, name) < 0.03, name


def test_fit_and_balance_are_told(found):
    assert 0.0006 < found.fit.rms < 0.001  # noise of 0.5 mm on each of three coordinates, less what 36 angles take
    size = np.sqrt(np.mean(np.sum(found.dynamics.residual.force**2, axis=1)))
    assert size < 0.03 * MASS * 9.81 and found.source == "force plates"
    assert not found.warnings and any("left out" in note for note in found.notes)


@pytest.mark.slow
def test_stated_deviations_are_the_scatter_of_recordings():
    # Errors of known size, fresh in each of five recordings, go through the whole analysis.
    size, motion = 0.003, walking(PERSON, 1.6)
    exact = simulated_trial(PERSON, motion)
    names = ("r_knee_flexion", "l_knee_flexion", "r_ankle_flexion", "l_ankle_flexion")
    scatter, stated = [], []
    for seed in range(5):
        noise = size * np.random.default_rng(seed).normal(size=exact.markers.positions.shape)
        markers = replace(exact.markers, positions=exact.markers.positions + noise)
        one = analyse_person(replace(exact, markers=markers), height=HEIGHT, mass=MASS, mechanism=PERSON)
        errors = one.random_errors
        assert errors.marker == pytest.approx(size, rel=0.03) and errors.related < 0.05
        scatter.append([(one.motion.of(name), one.dynamics.moment(name)) for name in names])
        stated.append([(errors.coordinate(name), errors.moment(name)) for name in names])
    seen = np.sqrt(np.mean(np.var(scatter, axis=0, ddof=1), axis=-1))
    said = np.sqrt(np.mean(np.square(stated), axis=(0, -1)))
    assert said[:, 0] == pytest.approx(seen[:, 0], rel=0.15)
    assert (said[:, 1] > 0.85 * seen[:, 1]).all() and (said[:, 1] < 1.5 * seen[:, 1]).all()


def test_cycles_are_those_of_the_walk(found):
    assert found.walks
    for cycles in found.cycles.values():
        for cycle in cycles:
            assert cycle.end - cycle.start == pytest.approx(1.2, abs=0.02)
            assert cycle.stance == pytest.approx(0.62, abs=0.08)


@pytest.mark.slow
def test_motion_alone_gives_the_same_moments_away_from_double_support(truth):
    """Without plates the share of two feet is an assumption, and the page says so; joints above do not depend on it."""
    alone = analyse_person(replace(TRIAL, plates=()), height=HEIGHT, mass=MASS)
    assert alone.source == "motion alone" and "assumption" in " ".join(alone.warnings)
    for name in ("l_shoulder_flexion", "lumbar_extension"):
        assert gaps(alone, truth, name) < 0.06
    assert np.abs(alone.dynamics.residual.force).max() < 1e-9


def test_trial_of_other_axes_is_turned():
    """The same recording with z up and the person walking against y gives the same motion."""
    R = np.array([[0.0, 0, -1], [-1, 0, 0], [0, 1, 0]])  # forward to -y, up to z, right to -x
    markers = TRIAL.markers
    other = Markers(markers.time, markers.labels, markers.positions @ R.T, Axes(z="up"), "walk")
    turned, notes = turn_to_model_axes(MotionTrial(other))
    assert np.abs(turned.markers.positions - markers.positions).max() < 0.02
    assert any("turned by" in note for note in notes)
    pelvis = [turned.markers.of(label).mean(axis=0) for label in ("RASI", "LASI")]
    assert (pelvis[0] - pelvis[1])[2] > 0.1


@pytest.mark.slow
def test_standing_trial_places_markers_and_measures_lengths():
    """Oracle: a person with other shanks and displaced markers; after calibration the fit is exact again."""
    own = human36(HEIGHT, MASS, "de_leva_male", values={"r_shank_length": 0.43, "l_shank_length": 0.43})
    rng = np.random.default_rng(3)
    frames = {name: moved(frame, rng, own) for name, frame in own.frames}
    own = replace(own, frames=tuple(frames.items()))
    names = MOTION.names
    still = type(MOTION)(np.arange(5) * 0.01, names, *(np.zeros((5, 36)) for _ in range(3)))
    standing = simulated_markers(BodyInMotion(own, still))
    calibration = calibrate(PERSON, standing)
    model, notes = calibration.mechanism, calibration.notes
    assert dimensions(model)["r_shank_length"] == pytest.approx(0.43, abs=0.012)
    assert any("places of 60 markers" in note for note in notes)
    trial = simulated_trial(own, walking(own, 1.0), name="walk")
    before = analyse_person(trial, height=HEIGHT, mass=MASS)
    after = analyse_person(trial, height=HEIGHT, mass=MASS, standing=standing)
    assert after.fit.rms < before.fit.rms / 3 and after.calibration


def moved(frame, rng, mechanism):
    from torseur.algebra.graph import evaluate
    from torseur.derivation.tree import build_tree, resolve

    tree = build_tree(mechanism)
    known = {p: float(evaluate([mechanism.parameter(str(p.name)).value], {})[0]) for p in tree.layout.parameters}
    place = evaluate(resolve(mechanism, tree.definitions, list(frame.placement.position)), known)
    return Frame(frame.body, placement([float(x) + rng.uniform(-0.012, 0.012) for x in place]))


@pytest.mark.slow
def test_faults_of_a_trial_are_seen():
    """A wrong mass shows in the balance, swapped labels and saturated plates in the warnings."""
    from torseur.presentation.report.person.person_tables import person_checks

    wrong = analyse_person(TRIAL, height=HEIGHT, mass=60.0)
    failed = [check.title for check in person_checks(wrong) if not check.ok]
    assert "Plates and motion agree on the force" in failed
    labels = list(TRIAL.markers.labels)
    a, b = labels.index("RKNE"), labels.index("LKNE")
    labels[a], labels[b] = labels[b], labels[a]
    swapped = replace(TRIAL, markers=replace(TRIAL.markers, labels=tuple(labels)))
    assert any("RKNE" in text or "swapped" in text.lower() for text in
               analyse_person(swapped, height=HEIGHT, mass=MASS).warnings)  # fmt: skip
    flat = replace(TRIAL.plates[0], saturated=TRIAL.plates[0].force[:, 1] > 700)
    full = replace(TRIAL, plates=(flat, *TRIAL.plates[1:]))
    assert any("saturated" in text for text in analyse_person(full, height=HEIGHT, mass=MASS).warnings)


def test_bad_trials_are_refused():
    with pytest.raises(RecordingError, match="which axis points up"):
        nowhere = Markers(TRIAL.markers.time, TRIAL.markers.labels, TRIAL.markers.positions)
        analyse_person(MotionTrial(nowhere), height=HEIGHT, mass=MASS)
    with pytest.raises(TorseurError, match="Did you mean 1.78 m"):
        analyse_person(TRIAL, height=178, mass=MASS)
    with pytest.raises(RecordingError, match="stands still"):
        calibrate(PERSON, TRIAL.markers)
    with pytest.raises(RecordingError, match="do not determine"):
        few = replace(TRIAL, markers=TRIAL.markers.only(["RASI", "LASI", "RPSI", "LPSI", "RKNE"]), plates=())
        analyse_person(few, height=HEIGHT, mass=MASS, protocol=Protocol("human36"))
