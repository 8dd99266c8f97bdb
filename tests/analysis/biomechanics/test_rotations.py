"""Rotations of segments from their markers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from analysis.biomechanics.motions import rigid
from torseur.analysis.biomechanics import Markers, segment_motion
from torseur.analysis.biomechanics.motion.rotation_from_markers import METHODS, frame_of_three, rotations
from torseur.errors import RecordingError

BOX = np.array([[0, 0, 0], [0.4, 0, 0], [0, 0, 0.5], [0, 0.3, 0], [0.4, 0.3, 0.5], [0.1, 0.2, 0.1]])


def placed(R: np.ndarray, places: np.ndarray) -> np.ndarray:
    return np.einsum("tij,kj->tki", R, places) + np.array([0.3, -1.0, 2.0])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [3, 4, 6])
def test_exact_markers_give_the_rotation(method, count):
    """Half turns included, at which gradients vanish and angles are ambiguous."""
    R = Rotation.random(300, random_state=1).as_matrix()
    R[:4] = [np.eye(3), np.diag([1, -1, -1]), np.diag([-1, -1, 1]), np.diag([-1, 1, -1])]
    assert np.abs(rotations(placed(R, BOX[:count]), BOX[:count], method) - R).max() < 1e-12


@given(st.integers(0, 10**6), st.floats(0, 0.1))
@settings(max_examples=30, deadline=None)
def test_minimising_methods_agree_with_scipy(seed, noise):
    """Oracle: scipy's align_vectors (singular values)."""
    rng = np.random.default_rng(seed)
    R = Rotation.random(3, random_state=seed).as_matrix()
    points = placed(R, BOX) + noise * rng.normal(size=(3, 6, 3))
    by_eigenvector, by_gradient = (rotations(points, BOX, method) for method in METHODS[1:])
    for k in range(3):
        a, b = points[k] - points[k].mean(axis=0), BOX - BOX.mean(axis=0)
        expected = Rotation.align_vectors(a, b)[0].as_matrix()
        assert np.abs(by_eigenvector[k] - expected).max() < 1e-9
    assert np.abs(by_gradient - by_eigenvector).max() < 1e-9


def test_three_markers_by_hand():
    """x along the first edge, z normal to both: here a quarter turn about z."""
    points = np.array([[[1, 1, 0], [1, 3, 0], [0, 2, 0]]], dtype=float)
    assert np.allclose(frame_of_three(points)[0], [[0, -1, 0], [1, 0, 0], [0, 0, 1]])


def test_missing_markers_are_left_out_and_too_few_give_nothing():
    R = Rotation.random(4, random_state=2).as_matrix()
    points = placed(R, BOX[:4])
    points[1, 0] = np.nan
    points[2, :2] = np.nan
    found = rotations(points, BOX[:4])
    assert np.abs(found[[0, 1, 3]] - R[[0, 1, 3]]).max() < 1e-12
    assert np.isnan(found[2]).all()


def test_markers_left_on_a_line_give_nothing():
    line = np.array([[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0], [0, 0.2, 0]])
    points = placed(np.repeat(np.eye(3)[None], 2, axis=0), line)
    points[1, 3] = np.nan
    assert np.isnan(rotations(points, line)).all(axis=(1, 2)).tolist() == [False, True]


def test_weights_count_as_repetitions():
    """Oracle: a marker of weight 2 is two markers."""
    rng = np.random.default_rng(0)
    points = placed(np.eye(3)[None], BOX[:4]) + 0.05 * rng.normal(size=(1, 4, 3))
    twice = rotations(np.concatenate([points, points[:, :1]], axis=1), np.concatenate([BOX[:4], BOX[:1]]))
    assert np.allclose(rotations(points, BOX[:4], weights=np.array([2.0, 1, 1, 1])), twice, atol=1e-13)


def test_segment_follows_its_markers():
    markers = rigid("abcd", 3)
    found = segment_motion(markers, list("abcd"), name="arm")
    assert found.residual.max() < 1e-12
    for label, place in found.shape.items():
        assert np.abs(found.at(place) - markers.of(label)).max() < 1e-12
    assert np.allclose(found.origin, markers.of("a"))


@pytest.mark.parametrize(("labels", "message"), [
    (["a", "b"], "segment 'arm' carries 2 markers \\(a, b\\): a rotation needs three"),
    (["a", "b", "x"], "unknown marker 'x'"),
    (["a", "b", "line"], "lie on a line.*Add a marker beside the line"),
])  # fmt: skip
def test_segment_refuses(labels, message):
    markers = rigid("abc", 3)
    third = 2 * markers.of("b") - markers.of("a")
    more = Markers(markers.time, ("a", "b", "c", "line"), np.concatenate([markers.positions, third[:, None]], axis=1))
    with pytest.raises(RecordingError, match=message):
        segment_motion(more, labels, name="arm")


def test_unknown_method_and_bad_weights():
    points = placed(np.eye(3)[None], BOX)
    with pytest.raises(RecordingError, match="not 'svd'"):
        rotations(points, BOX, "svd")
    with pytest.raises(RecordingError, match="6 numbers from zero up"):
        rotations(points, BOX, weights=-np.ones(6))
