"""Roads of ISO 8608 against the limits of their class, by an estimate of their spectrum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import welch

import torseur as ts
from torseur import vehicles


@pytest.mark.parametrize("kind", ["A", "C", "F"])
def test_spectrum_lies_within_its_class(kind):
    """Oracle: Welch's estimate in octaves, between half and twice the geometric mean of the class (ISO 8608)."""
    road = vehicles.road_profile(kind, length=2000.0, spacing=0.1, seed=3, flat=0.0)
    n, density = welch(road.height, fs=10.0, nperseg=4096)
    mean = {"A": 16e-6, "C": 256e-6, "F": 16384e-6}[kind]
    for centre in 2.0 ** np.arange(-5, 2):
        band = (n >= centre / np.sqrt(2)) & (n < centre * np.sqrt(2))
        smooth = np.mean(density[band] / (mean * (n[band] / 0.1) ** -2))
        assert 0.5 < smooth < 2.0


def test_the_same_seed_is_the_same_road(tmp_path):
    first, again, other = (vehicles.road_profile("B", 50.0, seed=seed).height for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert first[0] == 0.0
    saved = vehicles.road_profile("B", 50.0, seed=1).save(tmp_path / "road.csv")
    np.testing.assert_array_equal(np.loadtxt(saved, delimiter=",")[:, 1], first)


def test_a_road_in_a_file_is_driven_over_and_ends(tmp_path):
    """Oracle: a wheel held on the road follows its heights; past the end a motion says so."""
    road = vehicles.road_profile("C", 20.0, seed=1)
    road.save(tmp_path / "road.csv")
    text = """
    table road in m = "road.csv" ;
    let wheel = body mass = 1 kg, centre = 0, inertia = 0 end ;
    join earth and wheel with link(s) dof = [s, 0, road(s)] end ;
    init s' = 5 m/s ;
    """
    (tmp_path / "drive.lsd").write_text(text)
    drive = ts.load(tmp_path / "drive.lsd")
    motion = ts.simulate(drive, 3.0, samples=7, outputs=["wheel.position.z"])
    np.testing.assert_allclose(motion["wheel.position.z"], np.interp(motion["s"], road.way, road.height), atol=2e-3)
    assert any("road" in note and "beyond" in note for note in ts.simulate(drive, 6.0).notes)


def test_a_class_that_is_none():
    with pytest.raises(ts.TorseurError, match="unknown class of road 'K'"):
        vehicles.road_profile("K")
