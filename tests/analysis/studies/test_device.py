"""Sweeps on a GPU: the text that runs there compiled as plain C++, against the CPU's own integrator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from torseur.analysis.sensitivity.model.initial_derivatives import initial_tangents
from torseur.analysis.studies import read_study, sweep
from torseur.analysis.studies.sweeps.evaluation import Evaluator
from torseur.errors import TorseurError

STUDY = """
mechanism = "library:double_pendulum"
until = "1 s"
rtol = 1e-10
backend = "cuda"
{more}
[gpu]
{gpu}
[vary]
m1 = {{ values = ["3 kg", "5 kg"] }}
"q1(0)" = {{ values = ["30 deg", "60 deg"] }}
[criteria]
q1_end = "q1"
energy_end = "energy"
work = {{ integral = "kinetic_energy" }}
swing = {{ minimum = "q2" }}
fastest = {{ maximum = "q1' * q1'" }}
passage = {{ event_time = "q1 - 0.45", direction = -1 }}
there = {{ event = "q2", when = "q1 - 0.45" }}
"""
FOUR_BAR = """
mechanism = "library:four_bar"
until = "2 s"
rtol = 1e-9
{more}
[gpu]
{gpu}
[vary]
a = {{ values = ["0.38 m", "0.41 m"] }}
rho = {{ values = ["2 kg/m", "3 kg/m"] }}
[criteria]
alpha_end = "alpha"
work = {{ integral = "kinetic_energy" }}
fastest = {{ maximum = "kinetic_energy" }}
load = {{ maximum = "A.force.y" }}
passage = {{ event_time = "alpha - 2.2", occurrence = 2 }}
"""
SLIDER_CRANK = """
mechanism = "library:slider_crank"
until = "1 s"
rtol = 1e-9
derivatives = ["r", "theta(0)", "k"]
[gpu]
method = "dopri5"
[vary]
r = {{ values = ["0.09 m", "0.1 m"] }}
"theta(0)" = {{ values = ["50 deg", "70 deg"] }}
[criteria]
turned = "theta"
fastest = {{ maximum = "kinetic_energy" }}
"""
ANDREWS = """
mechanism = "library:andrews_squeezer"
until = "20 ms"
rtol = 1e-8
[gpu]
method = "dopri5"
[vary]
m3 = {{ values = ["0.03 kg", "0.04 kg"] }}
[criteria]
beta_end = "beta"
lowest = {{ minimum = "gamma" }}
work = {{ integral = "kinetic_energy" }}
"""


def both(folder, text, **words):
    """What the GPU's text and the CPU find at all points of a study."""
    path = folder / "s.toml"
    path.write_text(text.format(**words))
    study = read_study(path)
    points = study.points()
    there, here = Evaluator(study.on("cuda"))(points), Evaluator(study.on("cpu"))(points)
    assert not there.failures and not here.failures
    return there, here


def agree(there, here, limit):
    size = np.abs(here.values).max(axis=0) + 1e-6
    assert np.abs((there.values - here.values) / size).max() < limit
    assert np.abs(there.outputs - here.outputs).max(initial=0.0) < limit


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "gpu"),
    [
        ('derivatives = ["m2", "q2(0)"]\noutputs = { a = "q2" }\nsamples = 5', 'method = "dopri5"'),
        ('outputs = { a = "q2" }\nsamples = 5', 'step = "0.5 ms"'),
        pytest.param('derivatives = ["m1", "q1(0)"]', 'step = "0.5 ms"', marks=pytest.mark.slow),
    ],
)
def test_the_same_numbers_as_on_the_cpu(more, gpu, tmp_path, emulated):
    agree(*both(tmp_path, STUDY, more=more, gpu=gpu), 1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "gpu"),
    [
        ('derivatives = ["a", "alpha(0)"]\noutputs = { w = "beta" }\nsamples = 5', 'method = "dopri5"'),
        pytest.param("", 'step = "1 ms"', marks=pytest.mark.slow),
    ],
)
def test_closed_loops(more, gpu, tmp_path, emulated):
    """Every design is assembled by itself; reactions and derivatives through the assembly go along."""
    agree(*both(tmp_path, FOUR_BAR, more=more, gpu=gpu), 1e-6)


@pytest.mark.slow
def test_closed_loops_that_start_at_given_angles(tmp_path, emulated):
    agree(*both(tmp_path, SLIDER_CRANK), 1e-7)


@pytest.mark.slow
def test_closed_loops_whose_given_angles_move_slightly(tmp_path, emulated):
    """All seven angles are given, with the digits of the printed benchmark."""
    agree(*both(tmp_path, ANDREWS), 1e-6)


@pytest.mark.slow
def test_designs_are_assembled_as_one_by_one(tmp_path):
    """Oracle: the start of a single motion, over lengths that reach to where the loop no longer closes."""
    path = tmp_path / "s.toml"
    text = FOUR_BAR.format(more='derivatives = ["a", "b"]', gpu='method = "dopri5"')
    path.write_text(text.replace('values = ["0.38 m", "0.41 m"]', 'from = "0.2 m", to = "1.6 m", count = 15'))
    evaluator = Evaluator(read_study(path))
    starts, points = evaluator._starts, evaluator.study.points()
    given = starts.parameters(points)
    states = starts.states(points, given)
    changes = starts.tangents(points, given, states).reshape(len(points), -1, 2)[:, :6]
    closes = np.isfinite(states).all(axis=1)
    assert 0 < closes.sum() < len(points)
    for row, point in enumerate(points):
        try:
            ready = evaluator.single._ready(point)
        except TorseurError as problem:
            assert not closes[row] and starts.problem(point) == str(problem)
            continue
        assert np.allclose(states[row], ready.system.initial, atol=1e-9)
        if row % 7 == 0:
            own = replace(starts.variation, system=ready.system, integrands=())
            assert np.allclose(changes[row], initial_tangents(own, ready.initial, 0.0), atol=1e-8)


def test_unusual_starts_are_found_one_by_one(tmp_path, monkeypatch):
    """What is done together where it can be gives the same by itself."""
    path = tmp_path / "s.toml"
    path.write_text(FOUR_BAR.format(more='derivatives = ["a", "alpha(0)"]', gpu='method = "dopri5"'))
    found = []
    for usual in (True, False):
        monkeypatch.setattr("torseur.analysis.studies.batch.batch_closing.Closing._is_usual", usual)
        starts = Evaluator(read_study(path))._starts
        points = read_study(path).points()
        given = starts.parameters(points)
        states = starts.states(points, given)
        found.append((states, starts.tangents(points, given, states)))
    assert np.allclose(found[0][0], found[1][0], atol=1e-9) and np.allclose(found[0][1], found[1][1], atol=1e-7)


@pytest.mark.slow
def test_what_fails_says_why(tmp_path, emulated):
    path = tmp_path / "s.toml"
    text = FOUR_BAR.format(more="", gpu='method = "dopri5"').replace('"0.41 m"', '"1.5 m"')
    path.write_text(text.replace("alpha - 2.2", "alpha - 9"))
    study = read_study(path)
    failures = Evaluator(study.on("cuda"))(study.points()).failures
    assert "the event of passage did not happen until t = 2 s" in failures[0]
    assert "violates the constraints" in failures[2]


MISTAKES = {
    "step": ("", "", "give the length of a step"),
    "whole": ("", 'step = "0.3 s"', "does not divide"),
    "samples": ("outputs = { a = 'q1' }\nsamples = [0.1, 0.2]", 'step = "1 ms"', "even times"),
    "unit": ("", 'step = "1 m"', "expected a time"),
    "group": ('derivatives = ["both = m1 + m2"]', 'method = "dopri5"', "one by one, not 'both = m1"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case, tmp_path):
    more, gpu, words = MISTAKES[case]
    path = tmp_path / "s.toml"
    path.write_text(STUDY.format(more=more, gpu=gpu))
    with pytest.raises(TorseurError, match=words):
        _ = Evaluator(read_study(path)).device


def test_what_a_gpu_does_not_do_is_said(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        'mechanism = "library:roll_yaw_vehicle"\nuntil = 1\n[vary]\nh = { values = [0.4] }\n[criteria]\nx = "r"\n'
    )
    with pytest.raises(TorseurError, match="is a system of the library, and backend 'cuda' needs a mechanism"):
        sweep(path, backend="cuda")
    path.write_text(STUDY.format(more="", gpu='method = "dopri5"'))
    with pytest.raises(TorseurError, match="Did you mean 'cuda'"):
        sweep(path, backend="cud")


@pytest.mark.slow
def test_a_whole_sweep(tmp_path, emulated):
    """Through the store, as the command does it."""
    path = tmp_path / "s.toml"
    path.write_text(STUDY.format(more="", gpu='method = "dopri5"'))
    swept = sweep(path)
    assert swept.workers == "a GPU" and swept.computed == 4
    assert np.isfinite(swept.store.dataset()["swing"].values).all()


def test_without_a_device_it_is_said_and_no_store_is_left(tmp_path):
    try:
        import cupy

        if cupy.cuda.runtime.getDeviceCount():
            pytest.skip("there is a device")
    except Exception:
        pass
    path = tmp_path / "s.toml"
    path.write_text(STUDY.format(more="", gpu='method = "dopri5"'))
    with pytest.raises(TorseurError, match=r"(?i)gpu|cupy|cuda"):
        sweep(path)
    assert not (tmp_path / "s.zarr").exists()
