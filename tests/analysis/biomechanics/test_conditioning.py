"""Labels and axes that a recording's data tell beside its header."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.biomechanics import walking
from torseur.analysis.biomechanics import Axes, Conditioning, Markers, MotionTrial, human36, simulated_trial
from torseur.analysis.biomechanics import walking as computed_walk
from torseur.analysis.biomechanics.recordings.conditioning import condition_trial, one_subject, strip_subject
from torseur.analysis.biomechanics.recordings.force_plates import PlateRecord
from torseur.errors import RecordingError

PERSON = human36(1.78, 74.0, "de_leva_male")
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
    anna = one_subject(MotionTrial(two), "Anna").markers
    assert (
        anna.labels == tuple(x for k, x in enumerate(two.labels) if k % 2)
        and strip_subject(anna).labels[0] == markers.labels[1]
    )
    with pytest.raises(RecordingError, match="unknown subject 'Bem'.*Did you mean 'Ben'"):
        one_subject(MotionTrial(two), "Bem")
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


def test_plate_of_either_sign_pushes_up():
    """A file that holds what the person exerts is turned round, with its reason; one that pushes up stays."""
    made = simulated_trial(PERSON, computed_walk(PERSON, 0.7))
    trial = replace(made, plates=made.plates[:1])
    wrong = replace(trial, plates=tuple(plate.opposite() for plate in trial.plates))
    for given in (trial, wrong):
        plates = condition_trial(given).plates
        for plate, right in zip(plates, trial.plates, strict=True):
            assert np.array_equal(plate.force, right.force)
    assert "pulls down in 100 %" in condition_trial(wrong).plates[0].notes[-1]


def test_conditioning_of_a_whole_recording():
    """Oracle: a slow motion and force under fast noise, an offset of the plate and a gap; each step undoes its own."""
    time = np.arange(1000) / 1000
    slow = np.sin(2 * np.pi * time)
    fast = 0.2 * np.sin(2 * np.pi * 120 * time)
    load = np.where(time > 0.3, 700.0, 0.0)
    force = np.column_stack([0 * time + 4.0, 0 * time, load + 12.0 + 20 * fast])
    corners = np.array([[0.3, 0.3, 0], [0.3, -0.3, 0], [-0.3, -0.3, 0], [-0.3, 0.3, 0]])
    plate = PlateRecord(time, force, 0 * force, 0 * force, corners, "left", axes=Axes(z="up"))
    points = np.stack([slow + fast, 0 * time, 1 + 0 * time], axis=1)[:, None]
    points = np.concatenate([points, points + 0.1], axis=1)
    points[400:405, 0] = np.nan
    trial = MotionTrial(Markers(time, ("A", "B"), points, Axes(z="up")), (plate, replace(plate, name="right")))
    done = Conditioning(plates=["left"], zero=True, fill=8, frequency=10, rate=100).applied(trial)
    assert [one.name for one in done.plates] == ["left"] and done.markers.rate == pytest.approx(100)
    inner = slice(15, -15)
    assert np.abs(done.markers.positions[inner, 1, 0] - 0.1 - slow[::10][inner]).max() < 0.005
    assert np.isfinite(done.markers.positions).all() and "zeroed by 12" in " ".join(done.plates[0].notes)
    assert done.plates[0].force[:100, 2] == pytest.approx(0.0, abs=1.0)
    assert np.all(Conditioning(threshold=50).applied(trial).plates[0].force[:250] == 0)
    with pytest.raises(RecordingError, match="unknown plate '3'"):
        Conditioning(plates=["3"]).applied(trial)
