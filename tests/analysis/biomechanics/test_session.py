"""Trials as laboratories report them: cycles, strides, symmetry, files, tests over subjects."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from analysis.biomechanics.laboratories import HEIGHT, MASS, Laboratory, person, recording
from torseur.analysis.biomechanics import read_motion, simulated_trial, write_c3d
from torseur.analysis.biomechanics.person import analyse_person
from torseur.analysis.biomechanics.person.group_tests import paired_test, sphericity, variance_analysis
from torseur.analysis.biomechanics.person.session import cycle_curve, read_normal, strides_of, symmetry_of, write_cycles
from torseur.analysis.biomechanics.simulated_trials import walking
from torseur.errors import RecordingError

MOTION = walking(person(), 3.9)
TRIAL = simulated_trial(person(), MOTION, noise=0.0003, name="one")


@pytest.fixture(scope="module")
def trials():
    again = simulated_trial(person(), MOTION, noise=0.0003, seed=5, name="two")
    return [analyse_person(one, height=HEIGHT, mass=MASS, mechanism=person()) for one in (TRIAL, again)]


@pytest.mark.slow
def test_cycles_of_all_trials_count(trials):
    """Oracle: the walk repeats itself every 1.2 s, so that all cycles are that of the motion."""
    curve = cycle_curve(trials, "r_knee_flexion")
    start = trials[0].cycles["r_foot"][0].start
    at = start + np.linspace(0, 1.2, 101)
    truth = np.degrees(np.interp(at, MOTION.time, MOTION.of("r_knee_flexion")))
    assert curve.count == sum(len(one.cycles["r_foot"]) for one in trials) >= 4
    # Strikes are known to a frame, in which a knee turns by up to 4 degrees.
    assert np.abs(curve.mean - truth).max() < 5 and curve.deviation.max() < 5 and curve.unit == "deg"


def test_strides_and_symmetry_are_those_of_the_walk(trials):
    strides = strides_of(trials)
    assert np.mean([one.duration for one in strides]) == pytest.approx(1.2, abs=0.01)
    assert np.mean([one.length for one in strides]) == pytest.approx(0.68 * HEIGHT, abs=0.02)
    for one in strides:
        assert one.positive_work > 0 > one.negative_work
    found = {one.quantity: one for one in symmetry_of(trials)}
    assert abs(found["stride length"].index) < 2 and found["stride positive work"].unit == "J/kg"


def test_work_is_the_integral_of_power(trials):
    """Oracle: the sum over the samples of a stride, by hand."""
    one, trial = strides_of(trials)[0], trials[0]
    cycle = trial.cycles["r_foot"][0]
    inside = slice(cycle.first, cycle.last + 1)
    names = [name for name in trial.motion.names if name.startswith(("r_hip", "r_knee", "r_ankle"))]
    total = sum(np.maximum(trial.dynamics.power(name)[inside], 0).sum() * 0.01 for name in names) / MASS
    assert one.side == "right" and one.positive_work == pytest.approx(total, rel=0.02)


def test_curves_are_written_and_read_as_usual_ones(trials, tmp_path):
    write_cycles(tmp_path / "usual.csv", trials)
    normal = read_normal(tmp_path / "usual.csv")
    mean, _ = normal["knee_flexion angle"]
    assert mean.shape == (101,)
    (tmp_path / "bad.csv").write_text("cycle [%],knee\n1,x\n")
    with pytest.raises(RecordingError, match="every column holds numbers"):
        read_normal(tmp_path / "bad.csv")
    (tmp_path / "none.csv").write_text("cycle [%],knee\n1,2\n")
    with pytest.raises(RecordingError, match="no column ends with 'mean'"):
        read_normal(tmp_path / "none.csv")


def test_statistics_are_those_of_textbooks():
    """Oracles: scipy's one-way analysis and paired test; for repeated measures F = t² of two conditions."""
    from scipy import stats

    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 9)) + np.array([[0.0], [0.8], [1.2]])
    one = variance_analysis({"a": a, "b": b, "c": c})
    theirs = stats.f_oneway(a, b, c)
    assert (one.statistic, one.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    pair = paired_test(a, b)
    theirs = stats.ttest_rel(a, b)
    assert (pair.statistic, pair.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    repeated = variance_analysis({"a": a, "b": b}, repeated=True)
    assert (repeated.statistic, repeated.p) == pytest.approx((pair.statistic**2, pair.p))
    assert sphericity(np.stack([a, b])) == pytest.approx(1.0) and 0.5 < sphericity(np.stack([a, b, c])) <= 1
    for wrong in ({"a": a}, {"a": a, "b": [1.0]}):
        with pytest.raises(RecordingError, match="two groups or more"):
            variance_analysis(wrong)
    with pytest.raises(RecordingError, match="the same amount"):
        paired_test([1, 2, 3], [2, 3, 4])


@pytest.mark.slow
def test_commands_report_several_trials(tmp_path, monkeypatch):
    """Two trials of Plug-in-Gait to a page, cycles, strides, and a file with our results that is read again."""
    pytest.importorskip("ezc3d")
    from typer.testing import CliRunner

    from torseur.cli.app import app

    monkeypatch.chdir(tmp_path)
    left_out = ("SACR", "RMKN", "LMKN", "RMED", "LMED")
    for k in (1, 2):
        lab = Laboratory("plug_in_gait_lower", prefix="Anna:", left_out=left_out)
        write_c3d(f"gait{k}.c3d", recording(lab, MOTION, seed=k))
    who = ["--height", "1.78", "--mass", "74", "--marker-set", "plug_in_gait_lower"]
    first = CliRunner().invoke(app, ["person", "gait1.c3d", *who, "--out", "ours.c3d", "--cycles", "usual.csv"])
    assert first.exit_code == 0, first.output
    results = read_motion("ours.c3d").results
    largest = np.degrees(MOTION.of("r_knee_flexion")).max()
    assert np.nanmax(results["RKneeAngles"][:, 0]) == pytest.approx(largest, abs=1.5)
    both = CliRunner().invoke(app, [
        "person", "gait1.c3d", "gait2.c3d", *who, "--report", "gait.html", "--normal", "usual.csv", "--cycles", "c.csv",
        "--strides", "s.csv", "--json",
    ])  # fmt: skip
    assert both.exit_code == 0, both.output
    document = json.loads(both.output)
    assert len(document["trials"]) == 2 and document["symmetry"] and document["strides"]
    with open("s.csv", newline="") as stream:
        assert len(list(csv.reader(stream))) == 1 + len(document["strides"])
    again = CliRunner().invoke(app, ["person", "ours.c3d", *who, "--json"])
    beside = {one["coordinate"]: one for one in json.loads(again.output)["beside_file"] if one["unit"] == "deg"}
    assert beside["r_knee_flexion"]["correlation"] > 0.999 and beside["r_knee_flexion"]["rms"] < 0.2
    refused = CliRunner().invoke(app, ["person", "gait1.c3d", "gait2.c3d", *who, "--out", "a.csv"])
    assert refused.exit_code and "one trial over time" in " ".join(refused.output.split())


def test_moments_beside_the_file_have_its_signs(trials):
    """Results in N mm/kg with the signs of Plug-in-Gait agree with ours, and a shifted angle shows its offset."""
    from torseur.analysis.biomechanics.person.file_results import agreements, own_results

    ours = own_results(trials[0])
    theirs = {"RKneeMoment": 1000 * ours["RKneeMoment"], "LHipAngles": ours["LHipAngles"] - 4.0}
    found = {one.result: one for one in agreements(replace(trials[0], results=theirs), theirs)}
    assert found["RKneeMoment"].correlation == pytest.approx(1) and found["RKneeMoment"].rms < 1e-9
    assert found["LHipAngles"].offset == pytest.approx(4.0)
