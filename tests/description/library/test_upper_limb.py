"""Identification of the right upper limb (Monnet 2007, tables 5.3 to 5.5) and its effect on the shoulder moment."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from torseur.analysis.biomechanics.forces.trial_dynamics import trial_dynamics
from torseur.analysis.biomechanics.limb_inertia import locate_joint
from torseur.analysis.published_studies import shoulder_moment as effect
from torseur.analysis.published_studies import upper_limb as study

REFERENCE = json.loads((Path(__file__).parents[2] / "oracles" / "upper_limb.json").read_text())
NOISY = study.recordings(noise=study.NOISE)


def test_limb_is_that_of_the_reference():
    """Oracle: inertia at the shoulder and first moment of the whole limb, by addition and transport."""
    inertia, moment = study.limb().inertia
    wanted = REFERENCE["membre"]
    assert np.abs(inertia - np.diag(wanted["I at shoulder"])).max() < 1e-14
    assert -moment == pytest.approx([0, wanted["first moment"], 0], abs=1e-14)  # the limb hangs along -y
    printed, _, centre = wanted["printed"]
    assert np.diag(inertia) == pytest.approx(printed, abs=1.1e-3)
    assert -moment[1] / wanted["mass"] == pytest.approx(centre, abs=6e-4)


@pytest.mark.slow
def test_reference_kinematics_as_in_table_5_3():
    """The source finds 0.44 %, 0.06 % and 0.56 % with differences; they are of second order in the step."""
    coarse = study.identify_right_arm(study.recordings(50.0), labels=study.THREE, rates="central", centre="unknown")
    fine = study.identify_right_arm(study.recordings(100.0), labels=study.THREE, rates="central", centre="unknown")
    (inertia, moment, centre), finer = study.errors(coarse), study.errors(fine)
    assert inertia < 0.44 and centre < 0.56 and coarse.positive
    assert finer[0] == pytest.approx(inertia / 4, rel=0.1)
    assert finer[1] == pytest.approx(moment / 4, rel=0.1) and finer[1] < 0.06
    assert coarse.J[6, 6] == pytest.approx(63.0, abs=1e-3)


def test_noise_with_an_unknown_centre_as_in_table_5_4():
    """The first moment is found best, the inertia is far off; without the projection it is no real body."""
    plain = study.identify_right_arm(NOISY, labels=study.THREE, centre="unknown", positive=False)
    inertia, moment, centre = study.errors(plain)
    assert moment < inertia / 3 and inertia > 5 and centre > 2
    assert not plain.positive


def test_known_centre_and_projection_as_in_table_5_5():
    """Each of the source's two precautions helps: the known centre most, then the projection."""
    unknown, plain, projected = (
        study.identify_right_arm(NOISY, labels=study.THREE, centre=centre, positive=positive)
        for centre, positive in (("unknown", False), ("model", False), ("model", True))
    )
    assert unknown.differences[0] > plain.differences[0] > projected.differences[0]
    assert not plain.positive and projected.positive
    assert np.array_equal(projected.J[:3, 3:6], np.zeros((3, 3)))


def test_more_markers_and_score_serve_as_well_as_the_true_centre():
    known, located = (study.identify_right_arm(NOISY, centre=how).differences for how in ("model", "score"))
    assert np.linalg.norm(locate_joint(NOISY, study.limb(), study.EIGHT) - study.limb().joint) < 5e-4
    assert max(known[0], located[0]) < 3.4 and max(known[1], located[1]) < 1.0
    assert abs(known[0] - located[0]) < 0.3


@pytest.mark.slow
def test_twenty_noisy_trials_beat_the_source():
    """The source's single trial: 3.4 % of inertia, 1.0 % of first moment."""
    inertia, moment = study.median_errors(20)
    assert inertia < 3.4 and moment < 1.0


@pytest.mark.parametrize("movement", ["flexion", "circumduction"])
def test_shoulder_moment_is_that_of_inverse_dynamics(movement):
    """Oracle: recursive Newton-Euler of the whole body; flexion is the moment about the axis to the right."""
    motion = study.shoulder_motions(50.0, 0.7)[movement]
    found = effect.shoulder_moment(motion, *study.limb().inertia)
    moments = trial_dynamics(study.person(), motion)
    assert np.abs(found[:, 2] - moments.moment("r_shoulder_flexion")).max() < 1e-12


@pytest.mark.slow
def test_effect_grows_with_the_acceleration():
    """The source's remark: the faster the movement, the more inertias matter."""
    limbs = {"female": effect.tabulated_limb("de_leva_female"), "dempster": effect.tabulated_limb("dempster")}
    slow, fast = (effect.moment_changes(limbs, frequency) for frequency in (0.35, 1.4))
    assert all(fast[name].percent > slow[name].percent for name in limbs)
    assert effect.moment_changes({"same": study.limb().inertia})["same"].greatest == 0
