"""`torseur identify` from study files: results, page, description, and every mistake named on one line."""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray
from typer.testing import CliRunner

import torseur as ts
from analysis.identification.recordings import sines
from torseur.algebra.graph import evaluate
from torseur.analysis.identification.segments import MechanismMotion, poinsot_matrix, trial_of_mechanism
from torseur.cli.app import app
from torseur.derivation.dynamics import inverse_dynamics

LSD = """mechanism arm "two-link arm" ;
param g = 9.81 m/s^2, l1 = 0.5 m ;
gravity = [0, -g, 0] ;
let upper = body mass = 3 kg, centre = [0.22, 0.01, 0] m, inertia = diag(0.01 kg*m^2, 0.08 kg*m^2, 0.08 kg*m^2) end ;
let fore = body mass = 2 kg, centre = [0.2, 0, 0] m, inertia = diag(0.005 kg*m^2, 0.04 kg*m^2, 0.04 kg*m^2) end ;
join earth and upper.frame as shoulder with revolute(q1) about [0, 0, 1] end ;
join [l1, 0, 0] ++ 1 @ upper and fore.frame as elbow with revolute(q2) about [0, 0, 1] end ;
"""
STUDY = """
mechanism = "arm.lsd"
method = "consistent"

[data]
trials = ["run1.csv", "run2.nc"]
validation = ["run3.csv"]

[data.forces]
q1 = "tau1"
q2 = "tau2"

[parameters]
viscous = "all"

[treatment]
window = 9
order = 5

[options]
cross = true
"""
HEADINGS = ["time [s]", "q1 [deg]", "q2 [deg]", "tau1 [N*m]", "tau2 [kN*m]"]


def values() -> dict[str, float]:
    return {"g": 9.81, "l1": 0.5}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("study")
    (place / "arm.lsd").write_text(LSD)
    (place / "study.toml").write_text(STUDY)
    arm = ts.parse(LSD)
    bound = ts.Mechanism("bound", bodies=arm.bodies, joints=arm.joints, parameters=arm.parameters, gravity=arm.gravity)
    for number in (1, 2, 3):
        t, q, v, a = sines(2, 500, seed=number)
        tau = numbers(bound, q, v, a) + 0.4 * v + 0.05 * np.random.default_rng(number).normal(size=q.shape)
        table = np.column_stack([t, np.degrees(q), tau[:, 0], tau[:, 1] / 1000])
        write_csv(place / f"run{number}.csv", HEADINGS, table)
        data = {
            h.split(" [")[0]: ("time", c, {"units": h.split("[")[1][:-1]})
            for h, c in zip(HEADINGS[1:], table.T[1:], strict=True)
        }
        xarray.Dataset(data, coords={"time": ("time", t, {"units": "s"})}).to_netcdf(place / f"run{number}.nc")
    return place


def numbers(mechanism, q, v, a) -> np.ndarray:
    """Forces with the description's parameters at their values."""
    tree = ts.build_tree(mechanism).with_parameters(values())
    found = inverse_dynamics(tree, list(q.T), list(v.T), list(a.T))
    return np.stack([np.broadcast_to(x, len(q)) for x in found], axis=1)


def write_csv(path: Path, headings: list[str], rows) -> None:
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(headings)
        table.writerows(np.asarray(rows).tolist())


def run(monkeypatch, folder: Path, *words: str):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["torseur", *words])
    return CliRunner().invoke(app, list(words), prog_name="torseur")


@pytest.mark.slow
def test_study_from_csv_and_netcdf(folder, monkeypatch):
    result = run(monkeypatch, folder, "identify", "study.toml", "--report", "page.html", "--out", "found.lsd", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    by_name = {row["name"]: row for row in found["parameters"]}
    assert by_name["fore.h.x"]["value"] == pytest.approx(0.4, abs=0.01)
    assert by_name["q1.viscous"]["value"] == pytest.approx(0.4, abs=0.05)
    assert by_name["upper.h.x"]["stands_for"] == "upper.h.x + l1*fore.mass"
    assert found["validation"]["run3.csv"] < 0.05
    assert set(found["crossed"]) == {"run1.csv", "run2.nc"} and max(found["crossed"].values()) < 0.05
    page = (folder / "page.html").read_text()
    assert "Identified parameters" in page and "Residuals" in page and "fore.h.x" in page
    again = ts.load(folder / "found.lsd")
    assert float(again.body("fore").mass) == pytest.approx(2, rel=0.1)


def test_text_methods_and_base(folder, monkeypatch):
    result = run(monkeypatch, folder, "identify", "study.toml", "--method", "weighted")
    assert result.exit_code == 0 and "held out, run3.csv" in result.stdout
    base = run(monkeypatch, folder, "identify", "study.toml", "--base")
    assert base.stdout.startswith("8 base parameters of 22")


def test_output_error_study(folder, monkeypatch):
    motion = ts.simulate(ts.parse(LSD), 1.0, samples=51)
    write_csv(
        folder / "fall.csv",
        ["time [s]", "q1 [rad]", "q2 [rad]"],
        np.column_stack([motion.time, motion["q1"], motion["q2"]]),
    )
    (folder / "fall.toml").write_text(
        'mechanism = "arm.lsd"\nmethod = "output_error"\n[data]\ntrials = ["fall.csv"]\n[unknown]\nl1 = 0.55\n'
    )
    result = run(monkeypatch, folder, "identify", "fall.toml", "--json", "--report", "fall.html", "--out", "fall.lsd")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["parameters"][0]["value"] == pytest.approx(0.5, abs=1e-6)
    assert float(ts.load(folder / "fall.lsd").parameter("l1").value) == pytest.approx(0.5, abs=1e-6)
    assert "Convergence" in (folder / "fall.html").read_text()


@pytest.mark.slow
def test_segments_study(folder, monkeypatch):
    """Oracle: the matrix of the two links written out, and the wrench at the base by the momenta of their points."""
    t, q, v, a = sines(2, 400, seed=5)
    arm = ts.parse(LSD)
    tree = ts.build_tree(arm).with_parameters(values())
    J = np.array([[float(x) for x in evaluate(row, dict(tree.parameters))] for row in poinsot_matrix(tree)])
    empty = np.zeros((400, 3))
    trial = trial_of_mechanism(arm, MechanismMotion(q, v, a), empty, empty)
    T = trial.residual(J)
    force, moment = T[:, :3, 3], np.stack([T[:, 2, 1], T[:, 0, 2], T[:, 1, 0]], 1)
    assert np.allclose(moment[:, 2], numbers(arm, q, v, a)[:, 0])  # the shoulder's torque, by inverse dynamics
    table = np.column_stack([t, q, v, a, force, moment])
    motion = [
        f"{name}{prime} [{unit}]"
        for prime, unit in (("", "rad"), ("'", "rad/s"), ("''", "rad/s^2"))
        for name in ("q1", "q2")
    ]
    write_csv(
        folder / "base.csv",
        ["time [s]", *motion, *(f"F{c} [N]" for c in "xyz"), *(f"M{c} [N*m]" for c in "xyz")],
        table,
    )
    (folder / "base.toml").write_text(
        'mechanism = "arm.lsd"\nmethod = "segments"\n[data]\ntrials = ["base.csv"]\n'
        '[data.wrench]\nforce = ["Fx", "Fy", "Fz"]\nmoment = ["Mx", "My", "Mz"]\n'
    )
    result = run(monkeypatch, folder, "identify", "base.toml", "--json", "--report", "base.html")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert np.array(found["J"])[6, 6] == pytest.approx(5.0, abs=1e-6)
    assert np.array(found["J"])[0, 6] == pytest.approx(0.4, abs=1e-6)
    assert any("does not excite" in text for text in found["warnings"])
    assert found["rows"] == ["fore.x", "fore.y", "fore.z", "upper.x", "upper.y", "upper.z", "1"]
    assert found["units"][0][6] == "kg*m" and found["certificate"]["holds"] and all(c["ok"] for c in found["checks"])
    assert "best one of real bodies" in (folder / "base.html").read_text()
    told = run(monkeypatch, folder, "identify", "base.toml").stdout
    assert "fore.x" in told and "±" in told and "kg m²" in told


MISTAKES = {
    "unknown entry": ("study.toml", "methd", 'methd = "x"\n', "unknown entry 'methd'"),
    "unknown method": ('method = "consistent"', "", 'method = "magic"', "unknown method 'magic'"),
    "missing file": ('"run1.csv"', "", '"run9.csv"', "there is no file"),
    "wrong column": ('q1 = "tau1"', "", 'q1 = "torque"', "unknown column 'torque'"),
    "wrong unit": ("[data.forces]", "", '[data.units]\ntau1 = "kg"\n\n[data.forces]', "the unit kg is that of a mass"),
    "wrong table": (
        "[treatment]",
        "",
        '[treatment]\ngaps = "mend"\n',
        "treatment of gaps: 'refuse' or 'leave_out', not 'mend'",
    ),
    "wrong body": ("[treatment]", "", "[limits.hand]\nmass = [0, 1]\n[treatment]", "unknown body 'hand'"),
    "no mechanism": ('mechanism = "arm.lsd"', "", "", "which mechanism"),
    "no forces": ("[data.forces]", "", "[data.payload]", "which columns are forces"),
    "bad toml": ('method = "consistent"', "", "method = consistent", "cannot be read as TOML"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(folder, monkeypatch, mistake):
    old, _, new, words = MISTAKES[mistake]
    text = STUDY.replace(old, new) if old in STUDY else new + STUDY
    (folder / "wrong.toml").write_text(text)
    result = run(monkeypatch, folder, "identify", "wrong.toml")
    assert result.exit_code == 1
    assert words in result.stderr and "Traceback" not in result.stderr


CELLS = {
    "text": ("abc", "'abc' in column 'tau1' is not a number"),
    "gap": ("", "channel 'force on q1' is not a number at 1 of 500 samples"),
}


@pytest.mark.parametrize("cell", CELLS)
def test_cells_are_named(folder, monkeypatch, cell):
    text, words = CELLS[cell]
    lines = (folder / "run1.csv").read_text().splitlines()
    cells = lines[40].split(",")
    cells[3] = text
    (folder / "bad.csv").write_text("\n".join([*lines[:40], ",".join(cells), *lines[41:]]))
    (folder / "wrong.toml").write_text(STUDY.replace('"run1.csv"', '"bad.csv"'))
    result = run(monkeypatch, folder, "identify", "wrong.toml")
    assert result.exit_code == 1 and words in result.stderr


def test_files_are_not_replaced(folder, monkeypatch):
    (folder / "there.html").write_text("mine")
    result = run(monkeypatch, folder, "identify", "study.toml", "--report", "there.html")
    assert result.exit_code == 1 and "exists already" in result.stderr
    assert (folder / "there.html").read_text() == "mine"


def test_failed_checks_end_with_one(folder, monkeypatch):
    """Forces that have nothing to do with the motion: a result is printed, and is not to be trusted."""
    rows = np.genfromtxt(folder / "run1.csv", delimiter=",", skip_header=1)
    rows[:, 3:] = np.random.default_rng(0).normal(size=(len(rows), 2))
    write_csv(folder / "noise.csv", HEADINGS, rows)
    text = (folder / "study.toml").read_text().replace('trials = ["run1.csv", "run2.nc"]', 'trials = ["noise.csv"]')
    (folder / "noise.toml").write_text(text.replace('validation = ["run3.csv"]', "").replace("cross = true", ""))
    result = run(monkeypatch, folder, "identify", "noise.toml", "--method", "weighted", "--json")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert not document["trusted"] and any(not check["ok"] for check in document["checks"])
    assert "not to be trusted, failed: The forces are explained" in result.stderr


@pytest.mark.parametrize(
    ("method", "entry", "words"),
    [
        ("weighted", "[prior]\nweight = 2.0\n", r"\[prior\] does not apply to the method weighted, only to consistent"),
        ("weighted", "[options]\niterations = 5\n", r"\[options\]: iterations does not apply to the method weighted"),
        ("consistent", "[unknown]\nm = 1.0\n", r"\[unknown\] does not apply to the method consistent"),
        ("segments", "[options]\nbootstrap = 5\n", "does not apply to the method segments"),
    ],
)
def test_entries_without_effect_are_refused(folder, monkeypatch, method, entry, words):
    text = STUDY.replace('method = "consistent"', f'method = "{method}"').replace("[options]\ncross = true\n", entry)
    (folder / "useless.toml").write_text(text)
    result = run(monkeypatch, folder, "identify", "useless.toml")
    assert result.exit_code == 1 and re.search(words, result.stderr), result.stderr


def test_a_check_that_costs_nothing_is_not_left_out(folder, monkeypatch):
    result = run(monkeypatch, folder, "identify", "study.toml", "--no-verify")
    assert result.exit_code == 2 and "--no-verify is for output-error fits" in result.stderr
