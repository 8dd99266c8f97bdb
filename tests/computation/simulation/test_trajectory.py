"""Trajectories as tables, datasets and files."""

import json
import subprocess
import sys

import numpy as np
import pytest
import xarray

from computation.simulation.systems import oscillator
from torseur.computation.simulation import Event, Trajectory, simulate
from torseur.errors import TorseurError


@pytest.fixture(scope="module")
def motion():
    return simulate(oscillator(), 3.0, samples=31, outputs=["energy"], events=[Event("x")])


def test_columns(motion):
    assert motion.q.shape == motion.v.shape == motion.outputs.shape == (31, 1)
    assert np.array_equal(motion["x"], motion.q[:, 0])
    assert np.array_equal(motion["time"], np.linspace(0.0, 3.0, 31))
    assert len(motion) == 31
    with pytest.raises(TorseurError, match="Did you mean 'energy'"):
        motion["enrgy"]


def test_values_cannot_be_changed(motion):
    with pytest.raises(ValueError, match="read-only"):
        motion["x"][0] = 2.0


def test_dataset(motion):
    dataset = motion.dataset
    assert isinstance(dataset, xarray.Dataset)
    assert dataset["x"].attrs["units"] == "m" and dataset["x"].attrs["long_name"] == "position"
    assert dataset["time"].attrs["units"] == "s"
    assert float(dataset["x"].interp(time=1.0)) == pytest.approx(np.cos(1.0), abs=1e-2)
    assert dataset.attrs["title"] == "oscillator"


@pytest.mark.parametrize("suffix", [".nc", ".json"])
def test_everything_comes_back(motion, tmp_path, suffix):
    path = motion.save(tmp_path / f"motion{suffix}")
    back = Trajectory.load(path)
    assert np.array_equal(back.time, motion.time) and np.array_equal(back.values, motion.values)
    assert back.columns == motion.columns and back.name == motion.name
    assert back.events == motion.events and back.statistics == motion.statistics


def test_csv_comes_back_with_units(motion, tmp_path):
    path = motion.to_csv(tmp_path / "motion.csv")
    assert path.read_text().splitlines()[0] == "time [s],x [m],v [m/s],energy [J/kg]"
    back = Trajectory.load(path)
    assert np.array_equal(back.time, motion.time) and np.array_equal(back.values, motion.values)
    assert [column.quantity.unit for column in back.columns] == ["m", "m/s", "J/kg"]


def test_not_finite_numbers_survive_json(tmp_path, motion):
    values = motion.values.copy()
    values[3, 1] = np.nan
    odd = Trajectory(time=motion.time.copy(), values=values, columns=motion.columns)
    path = odd.to_json(tmp_path / "odd.json")
    json.loads(path.read_text(), parse_constant=pytest.fail)
    assert np.array_equal(Trajectory.load(path).values, values, equal_nan=True)


def test_no_file_is_overwritten_unasked(motion, tmp_path):
    path = tmp_path / "motion.csv"
    path.write_text("precious")
    with pytest.raises(TorseurError, match="exists already"):
        motion.to_csv(path)
    assert path.read_text() == "precious"
    motion.to_csv(path, overwrite=True)
    assert path.read_text().startswith("time [s]")


def test_a_failed_write_leaves_nothing(motion, tmp_path, monkeypatch):
    def broken(*arguments, **options):
        raise OSError("disk full")

    monkeypatch.setattr("torseur.computation.simulation.output.trajectory_files.json.dumps", broken)
    with pytest.raises(OSError, match="disk full"):
        motion.to_json(tmp_path / "motion.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("motion.xls", "", "cannot tell the format"),
        ("missing.csv", None, "there is no file"),
        ("motion.csv", "a,b\n1,2\n", "heading 'a' is not of the form"),
        ("motion.csv", "time [s],x [m]\n1\n", "is not a trajectory"),
        ("motion.json", "{}", "'format' is not"),
        ("motion.json", "{", "is not a trajectory"),
        ("motion.nc", "nonsense", "is not a trajectory"),
    ],
)
def test_unreadable_files(tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises(TorseurError, match=message):
        Trajectory.load(path)


def test_unwritable_places(motion, tmp_path):
    with pytest.raises(TorseurError, match="there is no folder"):
        motion.save(tmp_path / "nowhere" / "motion.csv")
    with pytest.raises(TorseurError, match=r"expected one of the suffixes \.csv, \.nc, \.json"):
        motion.save(tmp_path / "motion.txt")


def test_without_dense_output_only_samples_are_known(motion):
    with pytest.raises(TorseurError, match="dense=True"):
        motion.state_at(1.0)


@pytest.mark.slow
def test_simulating_does_not_import_xarray():
    program = "import sys, torseur.computation.simulation; sys.exit('xarray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
