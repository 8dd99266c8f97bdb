"""`torseur recording` and `torseur kinematics`."""

from __future__ import annotations

import json

import numpy as np
import pytest

from torseur.analysis.biomechanics import Axes, MotionTrial, write_c3d, write_csv
from torseur.analysis.published_studies import marker_count

pytest.importorskip("ezc3d")


@pytest.fixture
def corners(own_folder):
    return write_c3d(own_folder / "corners.c3d", MotionTrial(marker_count.box_markers()))


def test_a_recording_is_told(torseur, corners):
    result = torseur("recording", "corners.c3d", "--segment", "box=P1,P2,P3,P4")
    assert result.exit_code == 0
    assert "8 markers, 201 frames at 100 Hz" in result.stdout and "z up" in result.stdout
    document = json.loads(torseur("recording", "corners.c3d", "--json").stdout)
    assert document["markers"] == list(marker_count.CORNERS) and document["unit"] == "m"


def test_a_box_is_followed(torseur, corners, own_folder):
    """Oracle: the simulated motion the markers come from."""
    result = torseur("kinematics", "library:box_on_string", "corners.c3d", "--out", "motion.csv", "--weight", "P1=2")
    assert result.exit_code == 0, result.stderr
    table = np.genfromtxt(own_folder / "motion.csv", delimiter=",", skip_header=1)
    exact = marker_count.box_markers().of("P1")
    assert np.abs(table[:, 1:4] - exact).max() < 1e-6
    assert torseur("kinematics", "library:box_on_string", "corners.c3d", "--out", "motion.mot").exit_code == 0
    assert "inDegrees=yes" in (own_folder / "motion.mot").read_text()


@pytest.mark.parametrize(("arguments", "message"), [
    (("recording", "absent.c3d"), "there is no file 'absent.c3d'"),
    (("recording", "corners.c3d", "--unit", "m"), "millimetres read as metres"),
    (("recording", "corners.c3d", "--up", "w"), "expected x, y, z"),
    (("recording", "corners.c3d", "--segment", "box"), "expected NAME=LABELS"),
    (("recording", "corners.c3d", "--segment", "box=P1,P2"), "carries 2 markers"),
    (("kinematics", "library:pendulum", "corners.c3d"), "none of the recorded markers is a frame of 'pendulum'"),
    (("kinematics", "library:box_on_string", "corners.c3d", "--weight", "P1"), "expected LABEL=NUMBER"),
    (("kinematics", "library:box_on_string", "corners.c3d", "--limit", "x=1"), "expected NAME=FROM..TO"),
    (("kinematics", "library:box_on_string", "corners.c3d", "--out", "a.xls"), "unknown format"),
])  # fmt: skip
def test_mistakes_are_named(torseur, corners, arguments, message):
    result = torseur(*arguments)
    assert result.exit_code in (1, 2)
    assert message in result.stderr and "Traceback" not in result.stderr


def test_vertical_axis_can_be_told(torseur, own_folder):
    write_csv(own_folder / "a.csv", marker_count.box_markers())
    assert "y up" in torseur("recording", "a.csv", "--up", "y").stdout
    assert Axes(y="up").upward.tolist() == [0, 1, 0]
