"""Columns by formulas, and plots of anything over anything."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import torseur as ts

TEXT = """gravity = [0, 0, -9.81] m/s^2 ;
let arm = body mass = 1 kg, centre = [0, 0, -1] m, inertia = 0 end ;
let tilted = [0, 0, -1] ++ (0.3 || [1, 0, 0]) @ arm ;
join earth and arm with revolute(q) about [0, 1, 0] end ;
init q = 2.9, q' = 0 ;
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "arm.lsd"
    path.write_text(TEXT)
    return path


def test_directions_of_axes_are_quantities():
    """Oracle: the rotation matrix of a turn about y, times that of the tilted frame about x, in closed form."""
    names = [f"{frame}.direction.{row}{column}" for frame in ("arm", "tilted") for row in "xyz" for column in "xyz"]
    motion = ts.simulate(ts.parse(TEXT), until=2, samples=9, outputs=[*names, "arm.iframe.position.x"])
    c, s, zero, one = np.cos(motion["q"]), np.sin(motion["q"]), np.zeros(9), np.ones(9)
    turn = np.moveaxis(np.array([[c, zero, s], [zero, one, zero], [-s, zero, c]]), 2, 0)
    tilt = np.array([[1, 0, 0], [0, np.cos(0.3), -np.sin(0.3)], [0, np.sin(0.3), np.cos(0.3)]])
    for frame, expected in (("arm", turn), ("tilted", turn @ tilt)):
        measured = np.array([[motion[f"{frame}.direction.{row}{column}"] for column in "xyz"] for row in "xyz"])
        np.testing.assert_allclose(np.moveaxis(measured, 2, 0), expected, atol=1e-12)
    np.testing.assert_allclose(motion["arm.iframe.position.x"], -s, atol=1e-12)


def test_columns_by_formulas(torseur, file, tmp_path):
    """Oracle: the same in NumPy; an angle from the axes of a frame is the coordinate, modulo a turn."""
    table = tmp_path / "arm.csv"
    outputs = ["--output", "angle = atan2(arm.direction.xz, arm.direction.zz)", "--output", "energy/(1 kg*9.81 m/s^2)"]
    result = torseur("simulate", str(file), "--until", "2", "--samples", "21", *outputs, "--out", str(table))
    assert result.exit_code == 0, result.stderr
    rows = list(csv.reader(table.open()))
    head = [name.partition(" [")[0] for name in rows[0]]
    numbers = np.array(rows[1:], dtype=float)
    column = {name: numbers[:, k] for k, name in enumerate(head)}
    np.testing.assert_allclose(np.sin(column["angle"] - column["q"]), 0, atol=1e-9)
    height = column["q'"] ** 2 / (2 * 9.81) - np.cos(column["q"])
    np.testing.assert_allclose(column["energy/(1 kg*9.81 m/s^2)"], height, atol=1e-9)


def test_a_plot_over_another_quantity(torseur, file, tmp_path):
    """Oracle: the points of a coupler curve lie on the circle that the mass centre moves on."""
    plot = tmp_path / "arm.svg"
    centre = ["--output", "arm.centre.position.z", "--over", "arm.centre.position.x"]
    result = torseur("simulate", str(file), "--until", "2", "--samples", "41", *centre, "--plot", str(plot))
    assert result.exit_code == 0, result.stderr
    svg = ET.parse(plot).getroot()
    texts = [t.text for t in svg.iter() if t.tag.endswith("text")]
    assert "arm.centre.position.x in m" in texts and "arm.centre.position.z" in texts
    (path,) = [p.get("d") for p in svg.iter() if p.tag.endswith("path")]
    points = np.array([pair.split(",") for pair in path.replace("M", " ").replace("L", " ").split()], dtype=float)
    motion = ts.simulate(
        ts.parse(TEXT), until=2, samples=41, outputs=["arm.centre.position.x", "arm.centre.position.z"]
    )
    for k, name in enumerate(("x", "z")):
        values = motion[f"arm.centre.position.{name}"]
        slope, offset = np.polyfit(values, points[:, k], 1)
        np.testing.assert_allclose(slope * values + offset, points[:, k], atol=0.1)


def test_formulas_that_mean_nothing_are_refused(torseur, file):
    unknown = torseur("simulate", str(file), "--until", "1", "--output", "2*foo")
    assert unknown.exit_code == 1 and "unknown quantity 'foo'" in str(unknown.exception or "") + unknown.stderr
    alone = torseur("simulate", str(file), "--until", "1", "--over", "q")
    assert alone.exit_code == 2 and "--over applies only with --plot" in str(alone.exception or "") + alone.stderr


def test_sections_spectra_and_pictures(torseur, file, tmp_path):
    """Oracle: a pendulum that turns back passes the lowest point; its spectrum has the file's frequencies; PNGs are PNGs."""
    section, phase, spectrum = tmp_path / "s.csv", tmp_path / "s.png", tmp_path / "f.csv"
    through = ["--section", "q", "--output", "rate = q'", "--over", "q", "--plot", str(phase)]
    result = torseur("simulate", str(file), "--until", "9", *through, "--out", str(section))
    assert result.exit_code == 0, result.stderr
    rows = list(csv.reader(section.open()))[1:]
    assert len(rows) >= 2 and all(abs(float(row[1])) < 1e-6 and float(row[2]) > 0 for row in rows)
    assert phase.read_bytes()[:4] == b"\x89PNG"
    sampled = ["--samples", "512", "--spectrum", str(spectrum)]
    result = torseur("simulate", str(file), "--until", "9", *sampled)
    assert result.exit_code == 0, result.stderr
    table = np.array(list(csv.reader(spectrum.open()))[1:], dtype=float)
    np.testing.assert_allclose(table[:, 0], np.fft.rfftfreq(512, 9 / 511))
    alone = torseur("simulate", str(file), "--until", "1", "--spectrum", str(tmp_path / "g.csv"))
    assert (
        alone.exit_code == 2 and "--spectrum applies only with --samples" in str(alone.exception or "") + alone.stderr
    )
