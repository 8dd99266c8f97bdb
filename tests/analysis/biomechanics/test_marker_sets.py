"""Recordings with the markers of any laboratory: angles and moments of a simulated person whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.biomechanics.laboratories import HEIGHT, MASS, OWN, Laboratory, person, places, recording, standing, truth
from torseur.analysis.biomechanics import Markers, MotionTrial, exchange_labels, write_c3d
from torseur.analysis.biomechanics.person import Protocol, analyse_person
from torseur.analysis.biomechanics.person.anatomical_frames import HIPS, PelvisSize, chord
from torseur.analysis.biomechanics.person_model.marker_sets import fitting_sets, marker_set, marker_set_names
from torseur.analysis.biomechanics.recordings.motion_trial import RecordedEvent
from torseur.analysis.biomechanics.simulated_trials import walking
from torseur.errors import RecordingError
from torseur.presentation.report.person.person_tables import person_checks

MOTION = walking(person(), 1.9)
TRUTH = truth(MOTION)
SETS = ("plug_in_gait_lower", "plug_in_gait_full", "helen_hayes", "cast", "ior", "hbm2")


def laboratory(name, **options):
    """As laboratories use the set every day: without the markers that many leave out."""
    left_out = tuple(marker_set(name).optional) if name in SETS[:3] else ()
    return Laboratory(name, left_out=left_out, **options)


def analysed(lab, still=True, **options):
    protocol = Protocol(lab.name, **options)
    own = standing(lab) if still else None
    return analyse_person(recording(lab, MOTION), height=HEIGHT, mass=MASS, standing=own, protocol=protocol)


def errors(found, name):
    """Root mean square of an angle's error (degrees), and the correlation of its moment with the true one."""
    at = np.searchsorted(MOTION.time, found.motion.time - 1e-9)
    gap = np.degrees(found.motion.of(name) - MOTION.of(name)[at])
    return np.sqrt(np.mean(gap**2)), np.corrcoef(found.dynamics.moment(name), TRUTH.moment(name)[at])[0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("name", [SETS[0], *(pytest.param(name, marks=pytest.mark.slow) for name in SETS[1:])])
def test_angles_and_moments_of_every_set(name):
    """Oracle: the simulated person's own; legs of other lengths than the table's, skin that slides by 4 mm."""
    found = analysed(laboratory(name, soft=0.004))
    for angle in ("r_hip_flexion", "l_knee_flexion", "r_ankle_flexion"):
        rms, likeness = errors(found, angle)
        assert rms < 2.5 and likeness > 0.99, angle
    assert found.calibration.held_out and not found.calibration.misplaced
    measured = {key: value[0] for key, value in found.calibration.lengths.items()}
    arms = {key for key in OWN if "shoulder" in key or "arm" in key}
    whole = found.protocol.marker_set.body == "full"
    assert all(key in measured for key in (OWN if whole else OWN.keys() - arms))
    for key in OWN.keys() & measured.keys():
        assert measured[key] == pytest.approx(OWN[key], abs=0.012), key


@pytest.mark.slow
def test_trial_alone_places_the_markers():
    found = analysed(laboratory("plug_in_gait_lower"), still=False)
    for angle in ("r_hip_flexion", "r_knee_flexion", "l_ankle_flexion"):
        rms, likeness = errors(found, angle)
        assert rms < 2.5 and likeness > 0.99, angle
    assert found.calibration.held_out is None and "lumbar_extension" not in found.free
    assert all(check.ok for check in person_checks(found))


@pytest.mark.slow
def test_arms_alone_are_followed():
    lab = Laboratory("isb_upper_limb")
    found = analysed(lab)
    for angle in ("r_shoulder_flexion", "l_elbow_flexion"):
        assert errors(found, angle)[0] < 3.0, angle
    assert not found.dynamics.reactions and "r_knee_flexion" not in found.free


@pytest.mark.slow
def test_standing_trial_with_a_marker_in_a_wrong_place_is_not_believed():
    """A marker 7 cm off is named by the others; the old measure, what is left of the fit, sees nothing."""
    lab = laboratory("plug_in_gait_lower")
    still = standing(lab)
    moved = still.positions.copy()
    moved[:, still.slot("RKNE")] += np.array([0.0, 0.0, 0.07])
    wrong = replace(still, positions=moved)
    found = analyse_person(
        recording(lab, MOTION), height=HEIGHT, mass=MASS, standing=wrong, protocol=Protocol(lab.name)
    )
    failed = [check.title for check in person_checks(found) if not check.ok]
    assert "Standing: landmarks are where they usually are" in failed or "Standing: right and left are alike" in failed


def test_set_is_offered_and_never_taken():
    trial = recording(laboratory("plug_in_gait_full"), MOTION)
    with pytest.raises(RecordingError, match="--marker-set plug_in_gait_full"):
        analyse_person(trial, height=HEIGHT, mass=MASS)
    with pytest.raises(RecordingError, match="none of the labels .* look like 'plug_in_gait_full'"):
        analyse_person(trial, height=HEIGHT, mass=MASS, protocol=Protocol("cast"))
    for name in marker_set_names():
        assert fitting_sets(marker_set(name).labels)[0][1].name == name


@pytest.mark.slow
def test_own_set_is_a_file(tmp_path):
    """Labels of one's own, half of them, with landmarks by name; faults of the file are named."""
    file = tmp_path / "mine.toml"
    file.write_text(
        'title = "ours"\nbody = "lower"\n[landmarks]\n'
        + "\n".join(f'"{{S}}-{k}" = "{{s}}_{v}"' for k, v in (("spina", "asis"), ("lumbal", "psis"),
          ("knie", "lateral_epicondyle_of_the_femur"), ("knie innen", "medial_epicondyle_of_the_femur"),
          ("knöchel", "lateral_malleolus"), ("ferse", "heel"), ("zeh", "second_metatarsal")))
        + '\n[widths]\nankle = "72 mm"\n'
    )  # fmt: skip
    mine = marker_set(file)
    assert mine.widths == {"ankle": 0.072} and len(mine.labels) == 14
    lab = laboratory("plug_in_gait_lower")
    renamed = recording(Laboratory("ior"), MOTION).markers
    new = {label: next((k for k, v in mine.landmarks.items() if v == marker_set("ior").landmarks[label]), label)
           for label in renamed.labels}  # fmt: skip
    trial = MotionTrial(replace(renamed, labels=tuple(new.values())))
    found = analyse_person(trial, height=HEIGHT, mass=MASS, protocol=Protocol(mine))
    assert errors(found, "r_knee_flexion")[0] < 2.5
    assert lab.name in marker_set_names()
    for text, said in (
        ('[landmarks]\nA = "r_knee"', "unknown landmark 'r_knee'"), ('[technical]\nA = "leg"', "unknown segment 'leg'"),
        ('body = "half"', "unknown part of the body"), ("[landmarks", "is not valid TOML"), ("[land]\nA = 1", "unknown entry 'land'"),
        ('[widths]\nhip = "3 mm"', "unknown joint 'hip'"), ("[landmarks]\nA = 3", "stands on 3"),
    ):  # fmt: skip
        file.write_text(text)
        with pytest.raises(RecordingError, match=said):
            marker_set(file)


def test_regressions_are_those_of_their_papers():
    """Oracle: the formulas in mm for a pelvis 240 mm wide and 160 mm deep with legs of 900 mm, by hand."""
    size = PelvisSize(0.24, 0.16, 0.9)
    wanted = {
        "harrington": (-48.3, -82.9, 86.5), "bell": (-45.6, -72.0, 86.4), "hara": (-45.7, -79.2, 85.4),
        # C = 0.115 * 900 - 15.3 = 88.2; depth 0.1288 * 900 - 48.56 = 67.36; θ = 0.5, β = 0.314
        "davis": (88.2 * 0.87758 * 0.30887 - 74.36 * 0.95111, -88.2 * 0.87758 * 0.95111 - 74.36 * 0.30887,
                  120 - 88.2 * 0.47943),
    }  # fmt: skip
    for name, place in wanted.items():
        assert 1e3 * np.array(HIPS[name](size)) == pytest.approx(place, abs=0.02), name


def test_chord_finds_the_knee():
    """Oracle: a knee whose place is known, at a right angle between the hip's line and the epicondyle's."""
    knee, half = np.array([[0.1, 0.5, 0.08]]), 0.055
    hip, lateral, wand = (knee + np.array(way) for way in ([0.0, 0.42, 0.0], [0.0, 0.0, half], [0.0, 0.2, 0.09]))
    assert chord(hip, wand, lateral, half) == pytest.approx(knee, abs=1e-12)


@pytest.mark.slow
def test_functional_hips_come_from_moving_legs():
    """Oracle: hips of the simulated person, whose spines are not where any regression wants them."""
    lab = Laboratory("cast", noise=0.001)
    names, time = MOTION.names, np.arange(400) / 100
    q = np.zeros((400, len(names)))
    q[:, names.index("pelvis_y")] = 0.9
    for side, shift in (("r", 0.0), ("l", 1.0)):
        q[:, names.index(f"{side}_hip_flexion")] = 0.3 + 0.4 * np.sin(3 * time + shift)
        q[:, names.index(f"{side}_hip_adduction")] = -0.2 + 0.25 * np.cos(3 * time + shift)
    moving = recording(lab, type(MOTION)(time, names, q, 0 * q, 0 * q)).markers
    turned = Markers(moving.time, moving.labels, moving.positions @ np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]))
    found = analysed(lab, hip="score", functional=turned)
    assert found.calibration.lengths["hip_half_width"][0] == pytest.approx(OWN["hip_half_width"], abs=0.003)


@pytest.mark.slow
def test_command_takes_a_file_with_subjects(tmp_path, monkeypatch):
    """A file of Vicon as it comes: subject before the labels, z up; refused with the set's name, then analysed."""
    pytest.importorskip("ezc3d")
    import json

    from typer.testing import CliRunner

    from torseur.cli.app import app

    monkeypatch.chdir(tmp_path)
    lab = laboratory("plug_in_gait_lower", prefix="Anna:")
    write_c3d("gait.c3d", recording(lab, MOTION, "gait"))
    write_c3d("still.c3d", MotionTrial(standing(lab)))
    base = ["person", "gait.c3d", "--height", "178 cm", "--mass", "74"]
    refused = CliRunner().invoke(app, base)
    assert refused.exit_code and "--marker-set plug_in_gait_lower" in " ".join(refused.output.split())
    args = [*base, "--marker-set", "plug_in_gait_lower", "--standing", "still.c3d", "--filter", "10", "--json"]
    done = CliRunner().invoke(app, [*args, "--width", "knee=118 mm", "--report", "gait.html"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.output)
    assert document["calibration"]["lengths"]["r_thigh_length"]["measured"] == pytest.approx(0.405, abs=0.01)
    assert len(places(lab)) == 16 and "lower" in (tmp_path / "gait.html").read_text()


@pytest.mark.slow
def test_treadmill_is_walked_on():
    """The same walk seen from a belt: the same angles, cycles and stride, and the belt's speed in the notes."""
    lab = laboratory("plug_in_gait_lower")
    made = recording(lab, walking(person(), 3.2))
    speed = 0.68 * HEIGHT / 1.2
    shift = np.outer(made.markers.time, [speed, 0.0, 0.0])
    on_belt = MotionTrial(replace(made.markers, positions=made.markers.positions - shift[:, None]))
    found = analyse_person(on_belt, height=HEIGHT, mass=MASS, protocol=Protocol(lab.name))
    assert found.walks and any("belt moves at 1.0" in note for note in found.notes)
    cycle = found.cycles["r_foot"][0]
    assert cycle.end - cycle.start == pytest.approx(1.2, abs=0.03)


def test_events_of_the_file_cut_the_cycles():
    lab = laboratory("plug_in_gait_lower")
    marked = [RecordedEvent(0.25, "Right", "Foot Strike"), RecordedEvent(1.0, "Right", "Foot Off"),
              RecordedEvent(1.45, "Right", "Foot Strike"), RecordedEvent(0.5, "Left", "Foot Strike")]  # fmt: skip
    trial = replace(recording(lab, MOTION), events=tuple(marked))
    found = analyse_person(trial, height=HEIGHT, mass=MASS, protocol=Protocol(lab.name))
    (cycle,) = found.cycles["r_foot"]
    assert (cycle.start, cycle.end) == (0.25, 1.45) and cycle.stance == pytest.approx(0.625, abs=0.01)


@pytest.mark.slow
def test_swapped_labels_of_a_segment_fail_a_check():
    lab = Laboratory("cast")
    trial = recording(lab, MOTION)
    swapped = exchange_labels(trial.markers, "R_TH1", "R_SK2", slice(60, 90))
    still = standing(lab)
    found = analyse_person(
        replace(trial, markers=swapped), height=HEIGHT, mass=MASS, standing=still, protocol=Protocol("cast")
    )
    (check,) = (one for one in person_checks(found) if one.title == "Markers keep the shape of their segments")
    assert not check.ok and "'R_TH1' and 'R_SK2' exchanged" in check.detail


def test_markers_of_held_parts_are_left_out():
    """One leg of a recording of both: the other one's markers and its steps are named, and pull nothing along."""
    lab = laboratory("plug_in_gait_lower")
    found = analyse_person(
        recording(lab, MOTION), height=HEIGHT, mass=MASS, protocol=Protocol(lab.name, body="right_leg")
    )
    assert errors(found, "r_knee_flexion")[0] < 2.5 and found.fit.rms < 0.004
    assert any("LKNE" in note for note in found.notes) and set(found.dynamics.reactions) == {"r_foot"}
