"""Recordings and their axes, gaps and labels: what they hold, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.biomechanics.motions import rigid, together
from torseur.analysis.biomechanics import (
    OPENSIM_AXES,
    Z_UP,
    Axes,
    Gap,
    Markers,
    MotionTrial,
    PlateRecord,
    fill_gaps,
    label_faults,
    require_labels,
)
from torseur.analysis.biomechanics.recordings.label_check import exchange_labels
from torseur.errors import RecordingError


def test_axes_turn_into_one_another():
    """x forward, y left, z up: up is y in OpenSim's axes and left is minus z."""
    R = Z_UP.rotation_to(OPENSIM_AXES)
    assert np.array_equal(R @ [0, 0, 1], [0, 1, 0])
    assert np.array_equal(R @ [0, 1, 0], [0, 0, -1])
    assert np.linalg.det(R) == pytest.approx(1)
    markers = rigid("abc", 1, 5)
    back = markers.along(OPENSIM_AXES).along(Z_UP)
    assert np.allclose(back.positions, markers.positions)
    assert "turned from x forward, y left, z up" in back.notes[0]


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Axes("up", "up"), "same line"),
    (lambda: Axes("forward", "down", "right"), "left-handed"),
    (lambda: Axes("north"), "not 'north'"),
    (lambda: Axes().upward, "which axis points up is not stated"),
    (lambda: Axes(z="up").rotation_to(Z_UP), "all three must be stated"),
])  # fmt: skip
def test_axes_refuse(make, message):
    with pytest.raises(RecordingError, match=message):
        make()


@pytest.mark.parametrize(("change", "message"), [
    ({"positions": np.zeros((3, 2, 2))}, r"shape \(3, 2, 2\), not \(frames, markers, 3\) = \(3, 2, 3\)"),
    ({"labels": ("a", "a")}, "label 'a' stands for 2 markers"),
    ({"time": np.array([0.0, 0.2, 0.1])}, "time does not increase after frame 1"),
    ({"time": np.array([0.0, np.nan, 0.1])}, "must be a row of at least one number"),
    ({"positions": np.full((3, 2, 3), np.inf)}, "marker 'a' is infinitely far away in frame 0"),
])  # fmt: skip
def test_markers_refuse(change, message):
    good = {"time": np.arange(3) / 10, "labels": ("a", "b"), "positions": np.zeros((3, 2, 3))}
    with pytest.raises(RecordingError, match=message):
        Markers(**(good | change))


def test_unknown_label_is_named_with_the_nearest():
    with pytest.raises(RecordingError, match="unknown marker 'RSHX'.*Did you mean 'RSHO'"):
        Markers(np.zeros(1), ("RSHO", "LELB"), np.zeros((1, 2, 3))).of("RSHX")


def test_gaps_are_counted_and_filled_on_request_only():
    """Oracle: a cubic in time is its own cubic spline."""
    time = np.arange(30) / 10
    exact = np.stack([time**3, 2 * time**2, 1 - time], axis=1)[:, None]
    holes = exact.copy()
    holes[[5, 6, 7, 28, 29]] = np.nan
    markers = Markers(time, ("a",), holes)
    assert markers.gaps() == (Gap("a", 5, 7), Gap("a", 28, 29))
    assert fill_gaps(markers, 2).gaps() == markers.gaps()
    bridged = fill_gaps(markers, 3)
    assert bridged.gaps() == (Gap("a", 28, 29),)
    assert np.allclose(bridged.positions[5:8], exact[5:8], atol=1e-12)
    assert bridged.notes == ("gap of 'a' in frames 5 to 7 filled by a cubic spline",)


def test_swapped_labels_are_found_within_and_between_segments():
    true = together(rigid("abcd", 1), rigid("efgh", 2)).with_noise(0.002, np.random.default_rng(0))
    wrong = exchange_labels(exchange_labels(true, "a", "f", slice(50, 90)), "c", "d", slice(120, 140))
    segments = {"arm": list("abcd"), "leg": list("efgh")}
    faults = label_faults(wrong, segments)
    assert [(f.swapped, f.first, f.last) for f in faults] == [(("a", "f"), 50, 89), (("c", "d"), 120, 139)]
    assert not label_faults(true, segments)
    with pytest.raises(RecordingError, match="frames 50 to 89: segment 'arm' is deformed.*'a' and 'f'.*look swapped"):
        require_labels(wrong, segments)


def test_a_marker_that_moved_is_no_swap():
    markers = rigid("abcd", 1)
    positions = markers.positions.copy()
    positions[30:40, 2] += 0.2
    (fault,) = label_faults(Markers(markers.time, markers.labels, positions), {"arm": list("abcd")})
    assert fault.swapped == () and (fault.first, fault.last) == (30, 39)
    assert "a marker has moved" in str(fault)


def test_trial_wants_one_set_of_axes():
    markers = rigid("abc", 1, 4)
    zero = np.zeros((4, 3))
    plate = PlateRecord(markers.time, zero, zero, zero, np.zeros((4, 3)), axes=OPENSIM_AXES)
    with pytest.raises(RecordingError, match="Turn one of them"):
        MotionTrial(markers, (plate,))
    with pytest.raises(RecordingError, match="force has the shape"):
        PlateRecord(markers.time, zero[:2], zero, zero, np.zeros((4, 3)))
