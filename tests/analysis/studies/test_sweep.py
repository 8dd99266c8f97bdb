"""Sweeps: values against closed forms, stores that survive, faults that are named."""

from __future__ import annotations

import numpy as np
import pytest

from torseur.analysis.studies import read_study, summarise, sweep
from torseur.analysis.studies.definition.axes import Axis
from torseur.analysis.studies.definition.design import Design
from torseur.analysis.studies.sweeps.result_store import lock
from torseur.analysis.studies.sweeps.sweep_summary import morris_effects, sobol_indices
from torseur.errors import TorseurError

OSCILLATOR = """
mechanism = "library:mass_spring_damper"
until = "2 s"
rtol = 1e-10
chunk = {chunk}

[vary]
m = {{ from = "0.5 kg", to = "2 kg", count = 4 }}
k = {{ values = ["30 N/m", "0.05 N/mm"] }}
"x(0)" = {{ from = "5 cm", to = "20 cm", count = 3 }}

[criteria]
x = "x"
energy = "energy"
sum = {{ integral = "x" }}
{more}
"""


def write(folder, chunk=5, more=""):
    path = folder / "oscillator.toml"
    path.write_text(OSCILLATOR.format(chunk=chunk, more=more))
    return path


def displacement(m, k, x0, t, c=0.5):
    """x'' + c/m x' + k/m x = 0 from rest, and its integral."""
    d, w0 = c / (2 * m), np.sqrt(k / m)
    w = np.sqrt(w0**2 - d**2)
    x = x0 * np.exp(-d * t) * (np.cos(w * t) + d / w * np.sin(w * t))
    v = -x0 * np.exp(-d * t) * w0**2 / w * np.sin(w * t)
    return x, v, -(m * v + c * (x - x0)) / k  # integrated once: m v + c (x - x0) + k sum = 0


def test_every_point_of_a_grid(tmp_path):
    found = sweep(write(tmp_path), cores=1)
    data = found.store.dataset()
    assert data.sizes["point"] == 4 * 2 * 3 and found.computed == 24 and (data["status"] == 1).all()
    x, v, total = displacement(data["m"].values, data["k"].values, data["x(0)"].values, 2.0)
    assert np.allclose(data["x"], x, atol=1e-9) and np.allclose(data["sum"], total, atol=1e-9)
    energy = data["m"].values * v**2 / 2 + data["k"].values * x**2 / 2
    assert np.allclose(data["energy"], energy, atol=1e-9)
    assert data["k"].attrs["units"] == "N/m" and data["sum"].attrs["units"] == "m*s"


def test_any_criterion(tmp_path):
    """The first return through zero is half a period after the first passage."""
    study = write(tmp_path, more='lowest = { minimum = "x" }\ncrossing = { event_time = "x", direction = -1 }')
    data = sweep(study, cores=1).store.dataset()
    m, k, x0 = (data[name].values for name in ("m", "k", "x(0)"))
    d = 0.5 / (2 * m)
    w = np.sqrt(k / m - d**2)
    assert np.allclose(data["crossing"], (np.pi - np.arctan2(w, d)) / w, rtol=1e-8)
    assert np.allclose(data["lowest"], -x0 * np.exp(-d * np.pi / w), rtol=1e-8)


@pytest.mark.slow
def test_threads_give_the_same_numbers(tmp_path):
    one = sweep(write(tmp_path), tmp_path / "one.zarr", cores=1).store.dataset()
    two = sweep(write(tmp_path), tmp_path / "two.zarr", cores=2).store.dataset()
    assert all(np.array_equal(one[name].values, two[name].values) for name in one)


def test_a_failing_point_is_recorded_and_the_rest_goes_on(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        'mechanism = "library:mass_spring_damper"\nuntil = 1\n[vary]\nm = { values = [1, 0, 2] }\n[criteria]\nx = "x"\n'
    )
    found = sweep(path, cores=1)
    summary = summarise(found.store)
    assert summary.done == 2 and summary.failed == 1 and list(found.store.failures()) == [1]
    assert np.isnan(found.store.dataset()["x"].values[1])


def test_a_changed_study_and_a_disk_that_refuses(tmp_path):
    study = write(tmp_path)
    store = sweep(study, cores=1).store
    study.write_text(study.read_text().replace("2 s", "3 s"))
    with pytest.raises(TorseurError, match="another study"):
        sweep(study, store.path)
    with pytest.raises(TorseurError, match="Not a directory|File exists|not a directory"):
        sweep(study, tmp_path / "oscillator.toml" / "inside.zarr", cores=1)
    with lock(store.path):
        assert store.dataset().sizes["point"] == 24


def test_sobol_and_morris_against_closed_forms():
    """f = x1 + 2 x2 + x1 x3 on the unit cube: variances 1/12 (3/2)², 4/12, 1/12 (1/2)², interaction 1/144."""
    axes = [Axis(name, "1", "uniform", (0.0, 1.0)) for name in "abc"]
    points = Design("saltelli", 2**13, 3).points(axes)
    values = points[:, 0] + 2 * points[:, 1] + points[:, 0] * points[:, 2]
    parts = np.array([9 / 48, 4 / 12, 1 / 48])
    whole = parts.sum() + 1 / 144
    first = parts / whole
    total = (parts + np.array([1, 0, 1]) / 144) / whole
    assert np.allclose(sobol_indices(values, 3), np.column_stack([first, total]), atol=0.01)
    points = Design("morris", 200, 3).points(axes)
    values = 3 * points[:, 0] - 2 * points[:, 1] + 0 * points[:, 2]
    effects = np.array(morris_effects(values, points))
    assert np.allclose(effects[:, 0], [3 * np.ptp(points[:, 0]), 2 * np.ptp(points[:, 1]), 0])
    assert np.allclose(effects[:, 1], [effects[0, 1], effects[1, 1], 0])


def test_designs_have_the_moments_of_their_distributions():
    axes = [
        Axis("a", "1", "normal", (2.0, 0.5)),
        Axis("b", "1", "triangular", (0.0, 1.0, 3.0)),
        Axis("c", "1", "lognormal", (2.0, 0.3)),
    ]
    for kind in ("sobol", "latin_hypercube"):
        points = Design(kind, 4096, 1).points(axes)
        assert np.allclose(points.mean(axis=0), [2.0, 4 / 3, 2 * np.exp(0.045)], atol=5e-3)
        assert points[:, 0].std() == pytest.approx(0.5, abs=5e-3)


MISTAKES = {
    "unit": ('m = { from = "1 m", to = "2 m", count = 2 }', "expected a mass"),
    "name": ("mm = { values = [1] }", "unknown parameter 'mm'"),
    "key": ("m = { form = 1, to = 2 }", "Did you mean 'from'"),
    "missing": ("m = { from = 1 }", "'to' is missing"),
    "grid": ("m = { from = 1, to = 2 }", "a grid needs"),
    "list": ("m = { normal = [1] }", "mean and standard deviation"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case, tmp_path):
    line, words = MISTAKES[case]
    path = tmp_path / "s.toml"
    path.write_text(f'mechanism = "library:mass_spring_damper"\nuntil = 1\n[vary]\n{line}\n[criteria]\nx = "x"\n')
    with pytest.raises(TorseurError, match=words):
        sweep(path, cores=1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mechanism = ", "Invalid value"),
        ("mechanism = 'nothing.lsd'\nuntil = 1", "no file 'nothing.lsd'"),
        ("mechanims = 'x'", "Did you mean 'mechanism'"),
        ("mechanism = 'library:pendulum'\n[vary]\nl={values=[1]}\n[criteria]\nx='theta'", "'until' is missing"),
        ("mechanism = 'library:pendulum'\nuntil=1\n[vary]\nl={values=[1]}", "no criterion"),
        ("mechanism = 'library:pendulum'\nuntil='1 kg'\n[vary]\nl={values=[1]}\n[criteria]\nx='theta'", "expected a time"),
    ],
)  # fmt: skip
def test_files_that_are_wrong(text, words, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(TorseurError, match=words):
        read_study(path)


def test_a_misspelt_quantity_is_told_with_its_place(tmp_path):
    with pytest.raises(TorseurError, match=r"oscillator\.toml': criteria\.fast: unknown quantity 'xx'"):
        sweep(write(tmp_path, more='fast = "xx"'), cores=1)


def test_derivatives_of_loads_that_switch(tmp_path):
    """Oracle: pushed by F until T, x = F/m (T t - T²/2)."""
    (tmp_path / "pushed.lsd").write_text(
        """param m = 2 kg, F = 3 N, T = 0.4 s ; let block = body mass = m, centre = [0, 0, 0], inertia = 0 end ;
        join earth and block.frame as rail with prismatic(x) force = where(t < T, F, 0) end ;"""
    )
    path = tmp_path / "pushed.toml"
    vary = '[vary]\nT = { values = ["0.3 s", "0.5 s"] }\n[criteria]\nx = "x"\n'
    path.write_text(f'mechanism = "pushed.lsd"\nuntil = 1\nderivatives = ["T", "F"]\n{vary}')
    data = sweep(path, cores=1).store.dataset()
    T = data["T"].values
    assert np.allclose(data["x by T"], 1.5 * (1 - T), rtol=1e-7)
    assert np.allclose(data["x by F"], (T - T * T / 2) / 2, rtol=1e-7)
