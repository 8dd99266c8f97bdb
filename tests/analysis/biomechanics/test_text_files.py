"""TRC, MOT and CSV files, read and written, and what is wrong with them."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from analysis.biomechanics import walking
from torseur.analysis.biomechanics import (
    OPENSIM_AXES,
    Z_UP,
    FittedMotion,
    Markers,
    PlateRecord,
    read_csv,
    read_mot,
    read_motion,
    read_trc,
    write_csv,
    write_mot,
    write_trc,
)
from torseur.analysis.biomechanics.files import plates_from_mot, write_forces_mot
from torseur.errors import RecordingError, TorseurError

TRC = """PathFileType\t4\t(X/Y/Z)\tarm.trc
DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames
100\t100\t3\t2\tmm\t100\t1\t3
Frame#\tTime\tSHO\t\t\tELB\t\t
\t\tX1\tY1\tZ1\tX2\tY2\tZ2

1\t0.00\t100\t1400\t10\t120\t1100\t20
2\t0.01\t101\t1401\t11\t\t\t
3\t0.02\t102\t1402\t12\t122\t1102\t22
"""


def test_trc_by_hand(tmp_path):
    (tmp_path / "arm.trc").write_text(TRC)
    read = read_trc(tmp_path / "arm.trc")
    assert read.labels == ("SHO", "ELB") and read.axes == OPENSIM_AXES
    assert np.allclose(read.of("SHO")[1], [0.101, 1.401, 0.011])
    assert [(gap.label, gap.first, gap.last) for gap in read.gaps()] == [("ELB", 1, 1)]


@pytest.mark.parametrize(("old", "new", "note"), [
    ("100\t100\t3\t2", "100\t100\t9\t2", "NumFrames is 9, but the file holds 3 frames"),
    ("100\t100\t3\t2", "100\t100\t3\t5", "NumMarkers is 5, but the headings name 2"),
    ("100\t100\t3", "200\t100\t3", "DataRate is 200 Hz, but the times are 100 frames a second"),
    ("100\t100\t3\t2\t", "100\t\t100\t\t3\t\t2\t\t", ""),
    ("\t", ",", ""),
])  # fmt: skip
def test_trc_headers_that_were_not_brought_up_to_date(tmp_path, old, new, note):
    """What the data hold counts, and is said; more tabs than one and commas separate as well."""
    plain, other = (tmp_path / name for name in ("arm.trc", "other.trc"))
    plain.write_text(TRC)
    other.write_text(TRC.replace(old, new) if old == "\t" else TRC.replace(old, new, 1))
    first, second = read_trc(plain), read_trc(other)
    assert np.array_equal(first.positions, second.positions, equal_nan=True) and first.labels == second.labels
    assert (note in " ".join(second.notes)) and bool(second.notes) == bool(note)


def test_trc_that_was_broken_off_is_refused(tmp_path):
    """The last row of fewer frames than the header counts ends in its middle."""
    file = tmp_path / "cut.trc"
    lines = TRC.replace("100\t100\t3", "100\t100\t9", 1).rstrip("\n").split("\n")
    file.write_text("\n".join([*lines[:-1], "3\t0.0"]))
    with pytest.raises(RecordingError, match="NumFrames is 9, but it holds 3 frames, the last of them broken off"):
        read_trc(file)


@pytest.mark.parametrize(("old", "new", "message"), [
    ("\tmm\t", "\tm\t", "markers lie within .* m: millimetres read as metres"),
    ("\tmm\t", "\tpounds\t", "pounds"),
    ("\tmm\t", "\t\t", "no value for Units"),
    ("1401", "14o1", "line 8: '14o1' is not a number"),
    ("22\n", "22\t5\n", "line 9: 9 cells, the headings have 8"),
    ("PathFileType", "Something", "is not a TRC file"),
])  # fmt: skip
def test_trc_refuses(tmp_path, old, new, message):
    (tmp_path / "arm.trc").write_text(TRC.replace(old, new, 1))
    with pytest.raises(RecordingError, match=message):
        read_trc(tmp_path / "arm.trc")


@pytest.mark.parametrize(("write", "suffix"), [(write_trc, ".trc"), (write_csv, ".csv")])
def test_markers_are_read_as_they_were_written(tmp_path, write, suffix):
    markers = walking.markers()
    read = read_motion(
        write(tmp_path / f"walk{suffix}", markers), axes=OPENSIM_AXES if suffix == ".trc" else Z_UP
    ).markers
    expected = markers.along(OPENSIM_AXES) if suffix == ".trc" else markers
    assert read.labels == markers.labels and read.gaps() == markers.gaps()
    assert np.nanmax(np.abs(read.positions - expected.positions)) < 1e-9


@pytest.mark.parametrize(("text", "message"), [
    ("time [s],A.x [mm],A.y [mm]\n0,1,2\n", "marker 'A' has no column 'A.z'"),
    ("time [s],A.x,A.y,A.z\n0,1,2,3\n", r"need one unit \(stated: none\)"),
    ("t [s],A.x [m],A.y [m],A.z [m]\n0,1,2,3\n", r"has no column 'time \[s\]'"),
    ("time [s],A [m]\n0,1\n", "has no markers"),
    ("time [s],A.x [m],A.y [m],A.z [m],B.x [m],B.y [m],B.z [m]\n0,1000,0,0,0,0,0\n", "millimetres read as metres"),
    ("time [s],A.x [kg],A.y [kg],A.z [kg]\n0,1,2,3\n", "the unit kg is that of a mass"),
    ("time [s],A.x [m],A.y [m],A.z [m]\n0,1,zwei,3\n", "'zwei' in column 'A.y' is not a number"),
])  # fmt: skip
def test_csv_refuses(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(TorseurError, match=message):
        read_csv(tmp_path / "a.csv")


def pendulum() -> ts.Mechanism:
    bob = ts.body("bob", mass=1)
    return ts.Mechanism("p", bodies=[bob], joints=[ts.cylindrical("j", ts.EARTH, bob, "angle", "shift")])


def test_mot_converts_degrees_of_known_angles_only(tmp_path):
    time = np.arange(4) / 50
    q = np.column_stack([np.linspace(0, np.pi, 4), np.linspace(0.1, 0.4, 4)])
    motion = FittedMotion(
        "p", time, ("angle", "shift"), ("rad", "m"), q, ("M",), np.zeros((4, 1)), np.ones(4, bool), np.ones(4)
    )
    table = read_mot(write_mot(tmp_path / "p.mot", motion))
    assert table.in_degrees and np.allclose(table.of("angle"), [0, 60, 120, 180])
    found = table.coordinates(pendulum())
    assert np.allclose(found["angle"], q[:, 0]) and np.allclose(found["shift"], q[:, 1])


def test_ground_forces_through_mot(tmp_path):
    time, (force, place, torque) = walking.analog_time(), walking.steps()[0]
    plate = PlateRecord(time, force, np.cross(place, force) + torque, place, walking.corners(0.0), axes=OPENSIM_AXES)
    (read,) = plates_from_mot(read_mot(write_forces_mot(tmp_path / "grf.mot", [plate])))
    assert np.allclose(read.force, force, atol=1e-6)
    assert np.allclose(read.moment_about_origin, plate.moment_about_origin, atol=1e-6)
    assert read.name == "1_ground_force"


@pytest.mark.parametrize(("text", "message"), [
    ("time a\n0 1\n", "no line 'endheader'"),
    ("x\nnRows=3\nendheader\ntime a\n0 1\n", "lies about its size: nrows is 3, but it holds 1"),
    ("x\nnColumns=5\nendheader\ntime a\n0 1\n", "lies about its size: ncolumns is 5, but it holds 2"),
    ("x\nendheader\na time\n0 1\n", "the first column is time, not 'a'"),
    ("x\nendheader\ntime a\n0\n", "line 4: 1 cells, the headings have 2"),
])  # fmt: skip
def test_mot_refuses(tmp_path, text, message):
    (tmp_path / "a.mot").write_text(text)
    with pytest.raises(RecordingError, match=message):
        read_mot(tmp_path / "a.mot")


def test_other_suffixes_and_binary_text(tmp_path):
    with pytest.raises(RecordingError, match="read from .c3d, .trc, .csv files"):
        read_motion(tmp_path / "walk.bvh")
    (tmp_path / "a.trc").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(RecordingError, match="is not a text file"):
        read_trc(tmp_path / "a.trc")


def test_a_plate_is_interpolated_and_filtered():
    """Oracle: a slow sine passes the filter and a fast one does not; the centre of pressure stays."""
    time = np.arange(2000) / 1000
    slow, fast = 500 + 100 * np.sin(2 * np.pi * time), 50 * np.sin(2 * np.pi * 200 * time)
    force = np.column_stack([0 * time, 0 * time, slow + fast])
    place = np.array([0.3, 0.05, 0.0])
    plate = PlateRecord(time, force, np.cross(place, force), np.tile(place, (2000, 1)), walking.corners(0.0))
    quiet = plate.low_pass(20.0)
    assert np.abs(quiet.force[200:-200, 2] - slow[200:-200]).max() < 0.5
    assert np.abs(quiet.centre_of_pressure - place).max() < 1e-9
    assert quiet.notes == ("low-pass filter at 20 Hz, order 4",)
    frames = plate.at(np.arange(0, 1.9, 0.01))
    # Thinned to 100 Hz, what is faster than half of that would come back as something slow: it is filtered first.
    assert len(frames) == 190 and np.abs(frames.force[20:-20, 2] - slow[200:1700:10]).max() < 0.5
    with pytest.raises(RecordingError, match="was recorded from 0 to 1.999 s, not from 0 to 5 s"):
        plate.at(np.array([0.0, 5.0]))
    with pytest.raises(RecordingError, match="between 0 and half the sampling rate"):
        plate.low_pass(800.0)


def test_one_marker_alone_is_judged_by_its_path(tmp_path):
    path = write_csv(
        tmp_path / "one.csv",
        Markers(np.arange(3) / 10, ("A",), np.array([[[0, 0, 0]], [[900.0, 0, 0]], [[1800.0, 0, 0]]])),
    )
    with pytest.raises(RecordingError, match="millimetres read as metres"):
        read_csv(path)
