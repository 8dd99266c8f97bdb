"""`torseur person`: a trial from file to page, and mistakes."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from torseur.analysis.biomechanics import write_trc
from torseur.analysis.biomechanics.person_model.human36 import human36
from torseur.analysis.biomechanics.simulated_trials import simulated_trial, walking

PERSON = human36(1.7, 60.0, "de_leva_female")
TRIAL = simulated_trial(PERSON, walking(PERSON, 1.5), name="walk")
WHO = ("--height", "1.7", "--mass", "60", "--table", "de_leva_female")


@pytest.fixture
def walk(own_folder):
    c3d = pytest.importorskip("ezc3d")
    from torseur.analysis.biomechanics import write_c3d

    assert c3d
    return write_c3d(own_folder / "walk.c3d", TRIAL)


@pytest.mark.slow
def test_a_trial_becomes_a_page_and_a_table(torseur, walk, own_folder):
    result = torseur("person", "walk.c3d", *WHO, "--report", "walk.html", "--out", "walk.csv")
    assert result.exit_code == 0, result.stderr
    assert "knee flexion" in result.stdout and "ok  Plates and motion agree on the force" in result.stdout
    assert "1.70 m, 60 kg" in (own_folder / "walk.html").read_text()
    with (own_folder / "walk.csv").open() as stream:
        rows = list(csv.reader(stream))
    assert "r_knee_flexion moment [N m]" in rows[0] and len(rows) > 100
    document = json.loads(torseur("person", "walk.c3d", *WHO, "--json").stdout)
    assert document["reactions"] == "force plates" and all(check["ok"] for check in document["checks"])
    assert document["marker_distance"]["rms"] < 1e-5
    assert document["marker_errors"]["deviation"] < 1e-5
    assert 0 <= document["coordinates"]["r_knee_flexion"]["deviation"][0] < 0.01


@pytest.mark.slow
def test_markers_alone_are_enough(torseur, own_folder):
    write_trc(own_folder / "walk.trc", TRIAL.markers)
    result = torseur("person", "walk.trc", "--height", "170 cm", "--mass", "60 kg", "--table", "de_leva_female")
    assert result.exit_code == 0, result.stderr
    assert "reactions from motion alone" in result.stdout and "assumption" in result.stdout


@pytest.mark.slow
def test_gaps_are_filled_on_request_and_said(torseur, own_folder):
    positions = TRIAL.markers.positions.copy()
    hidden = [TRIAL.markers.labels.index(label) for label in ("RHNA", "RHNB", "RFIN")]
    positions[70:74, hidden] = np.nan
    write_trc(own_folder / "walk.trc", replace(TRIAL.markers, positions=positions))
    cut = torseur("person", "walk.trc", *WHO).stdout
    assert "r_wrist_flexion" in cut and "frames 74 to 150 of 151 are used" in cut.replace("\n", " ")
    whole = torseur("person", "walk.trc", *WHO, "--fill", "10").stdout
    assert "gap of 'RFIN'" in whole and "are used" not in whole


@pytest.mark.parametrize(("arguments", "message"), [
    (("--height", "170", "--mass", "60"), "Did you mean 1.7 m"),
    (("--height", "tall", "--mass", "60"), "expected a number with a unit"),
    (("--height", "1.7", "--mass", "60", "--table", "leva"), "unknown anthropometric table 'leva'"),
    (("--height", "1.7", "--mass", "60", "--set", "r_thigh_length"), "expected NAME=VALUE"),
    (("--height", "1.7", "--mass", "60", "--report", "page.pdf"), ".html"),
])  # fmt: skip
def test_mistakes_have_one_clear_message(torseur, own_folder, arguments, message):
    write_trc(own_folder / "walk.trc", TRIAL.markers)
    result = torseur("person", "walk.trc", *arguments)
    assert result.exit_code != 0 and message in result.stderr and "Traceback" not in result.stderr


@pytest.mark.slow
def test_a_limb_is_identified_from_files(torseur, own_folder):
    pytest.importorskip("ezc3d")
    from torseur.analysis.biomechanics import write_c3d
    from torseur.analysis.published_studies import upper_limb

    names = [write_c3d(own_folder / f"{one.name}.c3d", one).name for one in upper_limb.recordings(rate=100.0)]
    who = ("--height", "1.74", "--mass", "63", "--table", "human36", "--rates", "central")
    result = torseur("limb", *names, *who, "--report", "arm.html", "--json")
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["real_body"] and document["difference_percent"]["inertia"] < 0.2
    assert "a person's own inertia" in (own_folder / "arm.html").read_text().replace("&#x27;", "'").replace(
        "&#39;", "'"
    )
    assert "Ixx" in torseur("limb", *names, *who).stdout
    bad = torseur("limb", *names, *who, "--limb", "tail")
    assert bad.exit_code == 1 and "unknown limb 'tail'" in bad.stderr
