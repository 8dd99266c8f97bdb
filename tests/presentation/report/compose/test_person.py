"""The page of a person's trial: what it shows of a computed walk."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from torseur.analysis.biomechanics.person import analyse_person
from torseur.analysis.biomechanics.person_model.human36 import SEGMENT_NAMES, SegmentInertia, human36
from torseur.analysis.biomechanics.simulated_trials import simulated_trial, walking
from torseur.presentation.report.page.report_page import render
from torseur.presentation.report.person.person_page import person_content

PERSON = human36(1.78, 74.0, "de_leva_male")
TRIAL = simulated_trial(PERSON, walking(PERSON, 3.0), noise=0.0005, name="walk")


@pytest.fixture(scope="module")
def found():
    return analyse_person(TRIAL, height=1.78, mass=74.0)


@pytest.fixture(scope="module")
def content(found):
    return person_content(found)


def table(content, title):
    return next(one for one in content.tables if one.title == title)


@pytest.mark.slow
def test_body_markers_and_forces_are_animated(content):
    assert len(content.bodies) == 17 and content.motion.positions.shape[1] == 17
    dots, arrows = content.overlays
    assert len(dots.names) == 60 and arrows.names == ("r_foot", "l_foot")
    assert content.view.up == (0.0, 1.0, 0.0)
    weight = np.nansum(arrows.vectors[:, :, 1], axis=1) / 1e-3
    assert np.mean(weight) == pytest.approx(74 * 9.81, rel=0.03)


def test_moments_are_over_mass_and_percent(content, found):
    plot = next(p for p in content.plots if p.title == "Knee flexion moment over a cycle")
    assert plot.unit == "N m/kg" and plot.across == "%" and plot.times[[0, -1]].tolist() == [0.0, 100.0]
    cycle = found.cycles["r_foot"][0]
    right = next(c for c in plot.curves if c.label.startswith("right"))
    assert right.values[0] == pytest.approx(found.dynamics.moment("r_knee_flexion")[cycle.first] / 74.0, abs=0.05)


def test_tables_show_anthropometry_and_quality(content):
    sizes = table(content, "Segments against anthropometry")
    assert [row[0] for row in sizes.rows][:4] == ["pelvis", "trunk", "head", "right upper arm"]
    assert len(sizes.rows) == len(SEGMENT_NAMES)
    assert all(row[1] == row[2] and row[3] == row[4] for row in sizes.rows)
    assert sum(float(row[1]) for row in sizes.rows) == pytest.approx(74.0, abs=0.01)
    assert len(table(content, "Quality of fit").rows) == 15 and len(table(content, "Gait: walk").rows) == 2
    assert all(check.ok for check in content.checks)


@pytest.mark.slow
def test_other_inertias_stand_beside_the_table():
    own = SegmentInertia(2.4, (0.0, -0.15, 0.0), np.diag([0.02, 0.004, 0.02]))
    model = human36(1.78, 74.0, "de_leva_male", segments={"r_upper_arm": own})
    content = person_content(analyse_person(TRIAL, height=1.78, mass=74.0, mechanism=model))
    row = next(r for r in table(content, "Segments against anthropometry").rows if r[0] == "right upper arm")
    assert row[1:3] == ("2.400", "2.005")
    inertia = next(r for r in table(content, "Inertias against anthropometry").rows if r[0] == "right upper arm")
    assert inertia[1].startswith("20, 4") and float(inertia[3]) > 20


@pytest.mark.slow
def test_trial_without_plates_and_without_cycles_has_its_page():
    standing = simulated_trial(PERSON, walking(PERSON, 0.6), name="step")
    content = person_content(analyse_person(replace(standing, plates=()), height=1.78, mass=74.0))
    assert any("assumption" in text for text in content.warnings)
    plot = next(p for p in content.plots if p.title == "Knee flexion over the trial")
    assert plot.clock is not None
    assert "motion alone" in render(content)
