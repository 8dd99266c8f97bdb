"""Joint centres by SCoRE and by the mean helical axis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from torseur.algebra.spatial.rotation_arrays import exponential
from torseur.analysis.biomechanics import Markers, mean_helical_axis, score, segment_motion
from torseur.analysis.biomechanics.motion.joint_centres import precision
from torseur.analysis.identification import Derivatives
from torseur.analysis.published_studies import shoulder
from torseur.errors import RecordingError


@pytest.mark.parametrize("test", shoulder.TESTS)
@pytest.mark.parametrize("how", [None, Derivatives("spline"), Derivatives()], ids=["central", "spline", "polynomial"])
def test_exact_motion_gives_the_centre(test, how):
    """Any linear derivative gives the exact pivot: velocities and rates come from the same one."""
    for found in shoulder.centres(shoulder.recording(test), how).values():
        assert np.abs(found.proximal - shoulder.CENTRE).max() < 1e-9
        assert np.abs(found.distal).max() < 1e-9


@pytest.mark.slow
def test_the_ranking_of_the_source():
    """SCoRE is more precise than helical axes in every test, also on the same frames; more motions help."""
    found = shoulder.locate(trials=40, seed=5).precision
    for test in shoulder.TESTS:
        assert found["SCoRE"][test] < 0.2 * found["AH"][test]
        assert found["SCoRE2"][test] == pytest.approx(found["SCoRE"][test], rel=0.1)
    for method in shoulder.METHODS:
        assert found[method]["Cir"] > found[method]["FE/AbAd"] > found[method]["FE/AbAd/Cir"]


def test_deviation_tells_the_scatter():
    """Oracle: the scatter over many repetitions of the noise."""
    exact, rng = shoulder.recording("FE/AbAd"), np.random.default_rng(5)
    found = [shoulder.centres(exact.with_noise(0.001, rng))["SCoRE"] for _ in range(25)]
    told = np.mean([centre.deviation for centre in found])
    assert told == pytest.approx(precision(found), rel=0.5)


@pytest.mark.slow
@pytest.mark.parametrize("amplitude", [0.001, 0.003])
def test_deviation_covers_the_truth(amplitude):
    """Oracle: the place by construction. Noise of rotations must not draw the centre towards the markers."""
    exact, rng, within, errors = shoulder.recording("FE/AbAd"), np.random.default_rng(8), [], []
    for _ in range(120):
        noise = rng.uniform(-amplitude, amplitude, exact.positions.shape)
        centre = score(*shoulder.segments(replace(exact, positions=exact.positions + noise)))
        errors.append(centre.proximal - shoulder.CENTRE)
        within.append(np.abs(errors[-1]) < 1.96 * centre.deviation)
    assert 0.91 < np.mean(within) < 0.985
    assert np.abs(np.mean(errors, axis=0) / np.std(errors, axis=0)).max() < 0.35


@pytest.mark.slow
def test_deviation_knows_noise_that_lasts():
    """Skin that slides: noise over ten frames, with which neighbours are alike."""
    exact, rng, within = shoulder.recording("FE/AbAd/Cir"), np.random.default_rng(8), []
    for _ in range(80):
        steps = rng.uniform(-0.003, 0.003, exact.positions.shape).cumsum(axis=0)
        slow = (steps[10:] - steps[:-10]) / np.sqrt(10)
        moved = replace(exact, time=exact.time[10:], positions=exact.positions[10:] + slow)
        centre = score(*shoulder.segments(moved))
        within.append(np.abs(centre.proximal - shoulder.CENTRE) < 1.96 * centre.deviation)
    assert 0.85 < np.mean(within) < 0.99


def test_slow_and_plane_motions_are_refused():
    scapula, arm = shoulder.segments(shoulder.recording("Cir"))
    with pytest.raises(RecordingError, match="turns faster than 50 rad/s about 'scapula' in 0 frames"):
        mean_helical_axis(scapula, arm, least_rate=50.0)
    with pytest.raises(RecordingError, match="they turn about one axis only, or not at all"):
        score(scapula, scapula)
    with pytest.raises(RecordingError, match="at least two repetitions"):
        precision([])


def test_a_hinge_with_noise_is_refused():
    """Noise alone must not pass for a motion about a second axis."""
    time = np.arange(200) / 100
    turn = np.stack([0 * time, 0 * time, np.sin(3 * time)], axis=1)
    places = 0.1 * np.random.default_rng(2).normal(size=(4, 3))
    moved = np.einsum("tij,kj->tki", exponential(turn), places) + np.array([0.1, 0.2, 0.3])
    still = np.broadcast_to(places + np.array([0.0, 0.1, 0.0]), moved.shape)
    both = Markers(time, tuple("abcdefgh"), np.concatenate([still, moved], axis=1))
    noisy = both.with_noise(0.002, np.random.default_rng(3))
    first, second = segment_motion(noisy, list("abcd"), name="upper"), segment_motion(noisy, list("efgh"), name="fore")
    with pytest.raises(RecordingError, match="between 'upper' and 'fore': they turn about one axis only"):
        score(first, second)
