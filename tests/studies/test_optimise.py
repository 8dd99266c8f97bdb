"""Optimisation with exact gradients: closed forms, constraints, going on after a stop."""

from __future__ import annotations

import json

import numpy as np
import pytest

from torseur.errors import TorseurError
from torseur.studies import optimise

OSCILLATOR = """
mechanism = "library:mass_spring_damper"
until = "1 s"
rtol = 1e-10
{head}

[vary]
k = {{ from = "10 N/m", to = "35 N/m" }}

[criteria]
miss = "(x - 0.05)^2"
speed = "x'"
place = "x"
{more}
"""


def write(folder, head, more=""):
    path = folder / "o.toml"
    path.write_text(OSCILLATOR.format(head=head, more=more))
    return path


def place(k, t=1.0, c=0.5, x0=0.1):
    w = np.sqrt(k - c**2 / 4)
    return x0 * np.exp(-c / 2 * t) * (np.cos(w * t) + c / (2 * w) * np.sin(w * t))


def test_a_target_is_hit(tmp_path):
    """Oracle: the closed form, whose minimum over the box is found by looking everywhere."""
    found = optimise(write(tmp_path, 'objective = "miss"\nstarts = 3'))
    everywhere = np.linspace(10, 35, 200_001)
    best = everywhere[np.argmin((place(everywhere) - 0.05) ** 2)]
    assert found.point["k"] == pytest.approx(best, abs=1e-3) and found.feasible


def test_a_constraint_is_kept(tmp_path):
    """The place is highest at k = 35 of all that leave it below 0.03 there, or where it meets the limit."""
    head = 'objective = { maximise = "place" }\nconstraints = { place = { at_most = 0.03 } }\nstarts = 3'
    found = optimise(write(tmp_path, head))
    assert found.feasible and found.criteria["place"] == pytest.approx(0.03, abs=1e-6)
    assert place(found.point["k"]) == pytest.approx(0.03, abs=1e-6)


def test_a_stopped_search_goes_on(tmp_path):
    study, log = write(tmp_path, 'objective = "miss"'), tmp_path / "log.jsonl"
    whole = optimise(study, log)
    lines = log.read_text().splitlines()
    log.write_text("\n".join(lines[:3]) + '\n{"start": 0, "poi')
    again = optimise(study, log)
    assert again.point["k"] == pytest.approx(whole.point["k"], rel=1e-6)
    assert json.loads(log.read_text().splitlines()[-1])["start"] == 0
    study.write_text(study.read_text().replace("1 s", "2 s"))
    with pytest.raises(TorseurError, match="another study"):
        optimise(study, log)


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ('objective = "mis"', "Did you mean 'miss'"),
        ("objective = 3", "expected the name of a criterion"),
        ('objective = "miss"\nalgorithm = "newton"', "unknown algorithm"),
        ('objective = "miss"\nconstraints = { place = { below = 1 } }', "at_most"),
    ],
)
def test_mistakes(head, words, tmp_path):
    with pytest.raises(TorseurError, match=words):
        optimise(write(tmp_path, head))
