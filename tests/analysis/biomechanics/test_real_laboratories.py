"""What laboratories' own files showed: bones of one's own shape, walkways with few plates, headers that say too much."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.biomechanics.laboratories import HEIGHT, MASS, Laboratory, person, recording, standing
from torseur.analysis.biomechanics import Axes, MotionTrial, read_motion, write_c3d
from torseur.analysis.biomechanics.forces.foot_loads import human_footing
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.person import Protocol, analyse_person
from torseur.analysis.biomechanics.person.anatomical_frames import MARKER_RADIUS, Landmarks, anatomical_frames
from torseur.analysis.biomechanics.person.calibration import calibrate
from torseur.analysis.biomechanics.person.file_results import agreements, own_results
from torseur.analysis.biomechanics.person.leg_twists import leg_twists, subtalar_axes, twisted_legs
from torseur.analysis.biomechanics.person.model_axes import turn_to_model_axes
from torseur.analysis.biomechanics.person.session import cycle_curve
from torseur.analysis.biomechanics.person_model.marker_sets import fitting_sets, marker_set
from torseur.analysis.biomechanics.recordings.conditioning import condition_trial
from torseur.analysis.biomechanics.simulated_trials import walking
from torseur.errors import RecordingError
from torseur.presentation.report.person.person_tables import person_checks

LOWER = Laboratory("plug_in_gait_lower", left_out=tuple(marker_set("plug_in_gait_lower").optional))
MOTION = walking(person(), 1.9)
TWISTS = {"r_knee_varus": 0.08, "l_knee_varus": -0.05, "r_tibial_torsion": -0.30, "l_tibial_torsion": 0.22}


@pytest.mark.slow
def test_legs_that_are_bowed_and_twisted_are_measured(monkeypatch):
    """Oracle: the angles that the simulated person's bones were given; a model with straight bones is 15 mm off."""
    import analysis.biomechanics.laboratories as made

    twisted = twisted_legs(person(), TWISTS)
    monkeypatch.setattr(made, "person", lambda: twisted)
    still, _ = turn_to_model_axes(MotionTrial(standing(Laboratory("ior"))), marker_set("ior"))
    landmarks = Landmarks(still.markers, marker_set("ior"), HEIGHT)
    found = leg_twists(anatomical_frames(landmarks), landmarks)
    assert found == pytest.approx(TWISTS, abs=0.07)  # landmarks are stuck 4 mm off
    own = calibrate(person(), still.markers, Protocol("ior"))
    assert any("feet turned out under the shanks: right" in note for note in own.notes)
    assert max(own.held_out.values()) < 0.04


def test_feet_on_a_line_invert_about_the_subtalar_axis():
    """Heel and one toe do not show a turn about the line between them; with two metatarsals the model's axis stays."""
    for name, lines in (("plug_in_gait_lower", True), ("ior", False)):
        lab = Laboratory(name, left_out=tuple(marker_set(name).optional))
        still, _ = turn_to_model_axes(MotionTrial(standing(lab)), marker_set(name))
        model, said = subtalar_axes(person(), Landmarks(still.markers, marker_set(name), HEIGHT))
        axes = [[float(x.value) for x in model.joint(f"{side}_ankle").motions[1].axis] for side in "rl"]
        assert bool(said) == lines
        # Mirrored: a rotation's axis keeps its part across and reverses the others.
        assert axes[1] == pytest.approx([-axes[0][0], -axes[0][1], axes[0][2]])
        assert np.degrees(np.arctan2(axes[0][1], axes[0][0])) == pytest.approx(43 if lines else 0, abs=1)


def walkway():
    """The walk with the plate of one step alone, as in a laboratory with a single plate."""
    trial = recording(LOWER, MOTION)
    return replace(trial, plates=trial.plates[:1])


def test_steps_beside_the_plates_are_not_judged_and_not_reported():
    found = analyse_person(walkway(), height=HEIGHT, mass=MASS, protocol=Protocol(LOWER.name))
    side = "rl"[int(np.argmax([found.beside[f"{side}_foot"].mean() for side in "rl"]))]
    away = found.beside[f"{side}_foot"]
    assert 0.2 < away.mean() < 1 and any("beside the plates" in warning for warning in found.warnings)
    assert np.isnan(found.moment(f"{side}_knee_flexion")[away]).all()
    assert np.isfinite(found.moment(f"{side}_knee_flexion")[~away]).all()
    assert np.isfinite(found.moment("lumbar_extension")).all()
    assert [check.title for check in person_checks(found) if not check.ok] == []
    # Angles have all their cycles, moments those that were measured from end to end.
    angle, moment = (cycle_curve([found], f"{side}_knee_flexion", what) for what in ("angle", "moment"))
    assert moment is None or angle is None or moment.count < angle.count
    assert found.measured.sum() == np.sum(~(found.beside["r_foot"] | found.beside["l_foot"]))


def test_a_plate_that_is_a_step_has_feet_on_it():
    """The same walk on a floor that lies half a metre lower beside the plates: the plates are steps."""
    body = BodyInMotion(person(), MOTION)
    feet = human_footing(body)
    lower = feet.at_height(feet.floor - 0.5, MOTION.time)
    assert not any(contact.any() for contact in lower.contact.values())
    raised = lower.at_height(feet.floor, MOTION.time)
    assert all(np.array_equal(raised.contact[foot], feet.contact[foot]) for foot in feet.soles)


def test_one_low_toe_is_not_the_floor():
    """Toes that reach 6 cm below the floor in a few frames leave the contacts of the other steps as they are."""
    body = BodyInMotion(person(), MOTION)
    feet = human_footing(body)
    lowest = np.min([np.min(points @ feet.up, axis=1) for points in feet.soles.values()], axis=0)
    assert abs(feet.floor - np.median(lowest)) < 0.01


def test_plates_tell_which_way_is_up_where_labels_do_not():
    """Markers stand above plates: a header that says the opposite, as of "-Z" on screens, is corrected."""
    trial = recording(LOWER, MOTION)
    strange = tuple(f"M{k}" for k in range(len(trial.markers.labels)))
    down = Axes(z="down")
    wrong = MotionTrial(
        replace(trial.markers, labels=strange, axes=down), tuple(replace(plate, axes=down) for plate in trial.plates)
    )
    found = condition_trial(wrong)
    assert found.markers.axes == Axes(z="up") == found.plates[0].axes
    assert any("above the plates in z, although the file says z down" in note for note in found.markers.notes)
    assert all(np.median(plate.force[:, 2]) >= 0 for plate in found.plates)
    assert condition_trial(MotionTrial(wrong.markers)).markers.axes == down


@pytest.mark.slow
def test_what_the_file_says_of_the_person_is_used_and_compared(tmp_path):
    ezc3d = pytest.importorskip("ezc3d")
    file = write_c3d(tmp_path / "walk.c3d", recording(LOWER, MOTION))
    content = ezc3d.c3d(str(file))
    for name, value in (("Bodymass", 74.0), ("Height", 1920.0), ("LKneeWidth", 104.0), ("RKneeWidth", 108.0),
                        ("LAnkleWidth", 0.0), ("RAnkleWidth", 0.0)):  # fmt: skip
        content.add_parameter("PROCESSING", name, [value])
    content.write(str(file))
    trial = read_motion(file)
    assert trial.subject == pytest.approx({"height": 1.92, "mass": 74.0, "knee width": 0.106})
    how, said = Protocol(LOWER.name).with_widths(trial.subject)
    assert said == ["breadths of joints as the file states them: knee 106 mm"]
    landmarks = Landmarks(trial.markers, how.marker_set, HEIGHT)
    assert landmarks.half_width("knee") == pytest.approx(0.053 + MARKER_RADIUS)
    given, nothing = Protocol(replace(marker_set(LOWER.name), widths={"knee": 0.1})).with_widths(trial.subject)
    assert given.marker_set.widths == {"knee": 0.1} and nothing == []
    found = analyse_person(trial, height=HEIGHT, mass=MASS, protocol=Protocol(LOWER.name))
    assert any("the person's height is 1.92 m, given was 1.78 m" in warning for warning in found.warnings)


@pytest.mark.slow
def test_the_stillest_half_second_of_standing_counts():
    """A head that nods at the start of a standing trial; one that never rests is refused by its name."""
    still = standing(LOWER)
    longer = replace(
        still, time=np.arange(200) / 100, positions=np.tile(still.positions, (10, 1, 1)),
    )  # fmt: skip
    moved = longer.positions.copy()
    moved[:80, longer.slot("RANK"), 0] += 0.2 * np.sin(np.arange(80) / 5)
    protocol = Protocol(LOWER.name)
    turned = [turn_to_model_axes(MotionTrial(one), protocol.marker_set)[0].markers
              for one in (longer, replace(longer, positions=moved))]  # fmt: skip
    lengths = [calibrate(person(), one, protocol).lengths["r_shank_length"][0] for one in turned]
    assert lengths[1] == pytest.approx(lengths[0], abs=0.002)
    always = longer.positions.copy()
    always[:, longer.slot("RANK"), 0] += 0.2 * np.sin(np.arange(200) / 5)
    restless = turn_to_model_axes(MotionTrial(replace(longer, positions=always)), protocol.marker_set)[0].markers
    with pytest.raises(RecordingError, match="RANK move by up to .* even in its stillest half second"):
        calibrate(person(), restless, protocol)


@pytest.mark.slow
def test_results_with_a_letter_more_and_points_that_software_made():
    trial = recording(LOWER, MOTION)
    found = analyse_person(trial, height=HEIGHT, mass=MASS, protocol=Protocol(LOWER.name))
    theirs = {f"{label}V": values for label, values in own_results(found).items()}
    same = agreements(found, theirs)
    assert {"RKneeAngles", "LHipMoment"} <= {one.result for one in same}
    assert all(one.correlation == pytest.approx(1) and one.rms < 1e-12 for one in same)
    extra = ("LFEO", "LFEA", "*127", "CentreOfMass")
    places = np.concatenate([trial.markers.positions, trial.markers.positions[:, : len(extra)] + 0.3], axis=1)
    more = replace(trial.markers, labels=(*trial.markers.labels, *extra), positions=places)
    with_more = analyse_person(replace(trial, markers=more), height=HEIGHT, mass=MASS, protocol=Protocol(LOWER.name))
    assert not any("without a place" in warning for warning in with_more.warnings)
    assert any("4 points are not used" in note for note in with_more.notes)
    assert with_more.motion.of("r_knee_flexion") == pytest.approx(found.motion.of("r_knee_flexion"), abs=1e-9)


def test_whole_bodies_of_qualisys_and_bts_are_known():
    seen = [label for label in marker_set("cast_full").labels if label not in marker_set("cast_full").optional]
    assert fitting_sets([*seen, "L_WAND1", "R_WAND1"])[0][1].name == "cast_full"
    assert fitting_sets(marker_set("davis").labels)[0][1].name == "davis"
    assert marker_set("davis").segment("r bar 2") == "r_shank"
