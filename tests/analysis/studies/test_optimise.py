"""Optimisation with exact gradients: closed forms, constraints, going on after a stop."""

from __future__ import annotations

import json

import numpy as np
import pytest

from torseur.analysis.studies import optimise
from torseur.analysis.studies.sweeps.result_store import lock
from torseur.errors import TorseurError

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
    assert all(message.startswith("converged") for message in found.messages)  # in words, not in an algorithm's own


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


@pytest.mark.parametrize("algorithm", ["SLSQP", "trust-constr"])
def test_every_algorithm_keeps_constraints(algorithm, tmp_path):
    """The place falls with k on this box and must be zero: the first zero of the closed form."""
    head = f'algorithm = "{algorithm}"\nobjective = "speed"\nconstraints = {{ place = {{ equal_to = "0 m" }} }}'
    found = optimise(write(tmp_path, head))
    zeros = [k for k in np.linspace(10, 35, 25_001) if abs(place(k)) < 2e-6]
    assert found.feasible and min(abs(found.point["k"] - zero) for zero in zeros) < 2e-2
    assert found.messages[0].startswith("converged")


def test_operating_points_are_averaged_and_limits_hold_in_each(tmp_path):
    """Oracle: the mean and the larger of two closed forms, by looking everywhere."""
    more = (
        '[[operating_points]]\nname = "near"\n"x(0)" = "10 cm"\n[[operating_points]]\nname = "far"\n"x(0)" = "14 cm"\n'
    )
    head = 'objective = { maximise = "place" }\nconstraints = { place = { at_most = "3 cm" } }'
    found = optimise(write(tmp_path, head, more))
    everywhere = np.linspace(10, 35, 100_001)
    near, far = place(everywhere, x0=0.1), place(everywhere, x0=0.14)
    allowed = np.maximum(near, far) <= 0.03
    best = np.max(0.5 * (near + far)[allowed])
    assert found.feasible and found.objective == pytest.approx(best, abs=1e-6)


@pytest.mark.slow
def test_starts_at_once_give_the_same(tmp_path, monkeypatch):
    study = write(tmp_path, 'objective = "miss"\nstarts = 3')
    alone = optimise(study, tmp_path / "a.jsonl", cores=1)
    monkeypatch.setattr("torseur.analysis.studies.optimisation.optimisation.WORTH_PROCESSES", -1.0)
    seen = []
    together = optimise(study, tmp_path / "b.jsonl", cores=2, progress=lambda *told: seen.append(told))
    assert together.point == alone.point and len(together.messages) == 3
    assert {start for start, _, _ in seen} == {0, 1, 2}


def test_two_at_once_are_refused(tmp_path):
    study, log = write(tmp_path, 'objective = "miss"'), tmp_path / "log.jsonl"
    with lock(log), pytest.raises(TorseurError, match="another optimisation"):
        optimise(study, log)


def test_a_motion_that_fails_ends_its_start_with_words(tmp_path):
    (tmp_path / "o.toml").write_text(
        'mechanism = "library:mass_spring_damper"\nuntil = 1\nobjective = "x"\n'
        '[vary]\nm = { from = -1, to = 1 }\n[criteria]\nx = "x"\n'
    )
    with pytest.raises(TorseurError, match="no start has a motion. a motion failed: .*cannot start"):
        optimise(tmp_path / "o.toml")


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (
            'objective = "miss"\nalgorithm = "L-BFGS-B"\nconstraints = { place = { at_most = 1 } }',
            "cannot handle constraints",
        ),
        ('objective = "miss"\nstarts = 0', "expected a whole number from 1 on"),
        ('objective = "miss"\nconstraints = { place = { at_most = "1 kg" } }', "expected a length"),
        ('objective = "mis"', "Did you mean 'miss'"),
        ("objective = 3", "expected the name of a criterion"),
        ('objective = "miss"\nalgorithm = "newton"', "unknown algorithm"),
        ('objective = "miss"\nconstraints = { place = { below = 1 } }', "at_most"),
    ],
)
def test_mistakes(head, words, tmp_path):
    with pytest.raises(TorseurError, match=words):
        optimise(write(tmp_path, head))
