"""`torseur sweep` and `torseur optimise` as people run them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from torseur.analysis.studies import sweep
from torseur.cli.app import app
from torseur.cli.shared.progress import Lines, Pace, duration
from torseur.errors import TorseurError

STUDY = """
mechanism = "library:mass_spring_damper"
until = "1 s"
chunk = 4
[vary]
m = { uniform = ["0.5 kg", "2 kg"] }
k = { uniform = ["30 N/m", "50 N/m"] }
[design]
kind = "saltelli"
count = 4
[criteria]
place = "x"
[constraints]
place = { at_least = "0 m" }
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(STUDY)
    return path


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words], prog_name="torseur")


def test_sweep_prints_tables_and_writes_a_page(study, tmp_path):
    found = run("sweep", study, "--cores", 2, "--report", tmp_path / "s.html")
    assert found.exit_code == 0, found.output
    for words in ("16 of 16 points done", "first order", "constraints kept by", "threads, compiled", "written: "):
        assert words in found.output
    assert (tmp_path / "s.html").read_text().startswith("<!doctype html>")
    document = json.loads(run("sweep", study, "--json").stdout)
    assert document["computed"] == 0 and document["done"] == 16 and len(document["influences"]) == 2


def test_optimise_prints_units(tmp_path):
    path = tmp_path / "o.toml"
    path.write_text(
        'mechanism = "library:mass_spring_damper"\nuntil = "1 s"\nobjective = { maximise = "place" }\n'
        '[vary]\nk = { from = "10 N/m", to = "35 N/m" }\n[criteria]\nplace = "x"\n'
    )
    found = run("optimise", path, "--report", tmp_path / "o.html")
    assert found.exit_code == 0 and "N/m" in found.output and "start 1" in found.output


@pytest.mark.parametrize(
    "words", [("sweep", "nothing.toml"), ("optimise", "nothing.toml"), ("sweep", "library:nothing")]
)
def test_a_mistake_is_one_line(words):
    """The command's own message, without a traceback."""
    found = run(*words)
    assert found.exit_code != 0
    assert isinstance(found.exception, (SystemExit, TorseurError)) and "Traceback" not in found.output


def test_rate_and_remaining_time(monkeypatch, capsys):
    clock = iter([0.0, 0.0, 10.0, 40.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    pace = Pace()
    assert pace.words(100, 10_100) == ""
    monkeypatch.setattr("time.monotonic", lambda: 10.0)
    assert pace.words(1100, 10_100) == "100 a second, 90 s left" or "2 min left" in pace.words(1100, 10_100)
    assert [duration(s) for s in (5.0, 600.0, 7200.0, 1e6)] == ["5 s", "10 min", "2.0 h", "11.6 days"]
    monkeypatch.setattr("time.monotonic", lambda: 0.0)
    lines = Lines("s.toml")
    lines.follow(0, 100)
    monkeypatch.setattr("time.monotonic", lambda: 31.0)
    lines.follow(50, 100)
    assert "s.toml: 50 of 100 points, 2 a second, 31 s left" in capsys.readouterr().err


@pytest.mark.slow
def test_a_scheduler_by_its_address(study, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        there = sweep(study, tmp_path / "there.zarr", scheduler=cluster.scheduler_address)
        shared = sweep(study, tmp_path / "shared.zarr", scheduler=cluster.scheduler_address, shared=True)
    assert there.computed == shared.computed == 16 and "dask cluster" in there.workers
    here = sweep(study, tmp_path / "here.zarr", cores=1).store.dataset()
    for other in (there.store.dataset(), shared.store.dataset()):
        assert all(np.array_equal(here[name].values, other[name].values) for name in here)


@pytest.mark.slow
def test_no_scheduler_there(study):
    pytest.importorskip("distributed")
    with pytest.raises(TorseurError, match=r"no dask scheduler at 'tcp://127.0.0.1:1'"):
        sweep(study, scheduler="tcp://127.0.0.1:1")
