"""Labels and axes that a recording's data tell beside its header."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.biomechanics import walking
from torseur.analysis.biomechanics import Axes, MotionTrial
from torseur.analysis.biomechanics.recordings.conditioning import condition_trial, strip_subject
from torseur.analysis.biomechanics.recordings.force_plates import PlateRecord

TURNS = {"x": [2, 0, 1], "y": [1, 2, 0], "z": [0, 1, 2]}


def walk(axis: str, sense: float, axes: Axes) -> MotionTrial:
    """The walk with its vertical along any axis, either way."""
    markers = walking.markers()
    turned = markers.positions[:, :, TURNS[axis]] * (sense if sense < 0 else 1.0)
    return MotionTrial(replace(markers, positions=turned, axes=axes))


@pytest.mark.parametrize("axis", "xyz")
@pytest.mark.parametrize(("sense", "word"), [(1.0, "up"), (-1.0, "down")])
def test_what_the_file_does_not_say_the_markers_show(axis, sense, word):
    found = condition_trial(walk(axis, sense, Axes()))
    assert found.markers.axes == Axes(**{axis: word})
    assert any("the feet in" in note for note in found.markers.notes)


def test_a_header_upside_down_is_corrected():
    """Y_SCREEN of "-Z" in a file whose heads are above the feet in z."""
    found = condition_trial(walk("z", 1.0, Axes(z="down"))).markers
    assert found.axes == Axes(z="up")
    assert "although the file says z down" in found.notes[-1]


def test_a_true_header_stays_and_so_do_given_axes():
    right = walk("z", 1.0, Axes(z="up"))
    assert condition_trial(right).markers.notes == right.markers.notes
    asked = Axes(y="up")
    assert condition_trial(walk("z", 1.0, asked), asked).markers.axes == asked


def test_a_person_who_lies_does_not_turn_the_laboratory():
    found = condition_trial(walk("x", 1.0, Axes(z="up"))).markers
    assert found.axes == Axes(z="up") and "which is believed" in found.notes[-1]


def test_unknown_labels_say_nothing():
    trial = walk("z", 1.0, Axes())
    strange = replace(trial.markers, labels=tuple(f"M{k}" for k in range(12)))
    assert condition_trial(MotionTrial(strange)).markers.axes == Axes()


def test_prefixes_of_subjects():
    markers = walking.markers()
    one = replace(markers, labels=tuple(f"Anna:{label}" for label in markers.labels))
    assert strip_subject(one).labels == markers.labels
    two = replace(markers, labels=tuple(f"{'Anna' if k % 2 else 'Ben'}:{x}" for k, x in enumerate(markers.labels)))
    assert strip_subject(two).labels == two.labels and "several subjects (Ben, Anna)" in strip_subject(two).notes[-1]
    mixed = replace(markers, labels=("Anna:C7", *markers.labels[1:]))
    assert strip_subject(mixed).labels == mixed.labels and "exist without it too" in strip_subject(mixed).notes[-1]
    assert np.array_equal(strip_subject(one).positions, markers.positions, equal_nan=True)


def test_plates_are_filtered_before_they_are_thinned_out():
    """Oracle: 98 Hz of hum sampled at 100 Hz would be a force that sways twice a second."""
    time = np.arange(2000) / 1000
    slow = 700 + 50 * np.sin(2 * np.pi * time)
    force = np.column_stack([0 * time, 0 * time, slow + 30 * np.sin(2 * np.pi * 98 * time)])
    still = np.zeros((len(time), 3))
    plate = PlateRecord(time, force, still, still, walking.corners(0.0))
    frames = np.arange(20, 180) / 100
    found = plate.at(frames)
    assert np.abs(found.force[:, 2] - (700 + 50 * np.sin(2 * np.pi * frames))).max() < 3.0
    assert "low-pass filter at" in found.notes[0]
    assert np.array_equal(plate.at(time[::1]).force, force)
