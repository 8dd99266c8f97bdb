"""Counts and sizes beyond all memory: one line, before anything is taken, with what is needed and what is allowed."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import torseur as ts
from torseur.cli.app import app
from torseur.description import library
from torseur.edges.budgets import BudgetError, allowed_bytes, bounded_bytes, read_size, shown_size
from torseur.errors import TorseurError

STUDY = """
mechanism = "library:mass_spring_damper"
until = "1 s"
{head}
[vary]
{axis}
[criteria]
x = "x"
{more}
"""
SPAN = 'm = { from = "1 kg", to = "2 kg", count = 3 }'
WIDE = 'm = { from = "1 kg", to = "2 kg" }'
STUDIES = {
    "samples": {"head": "samples = 1000000000", "axis": SPAN, "more": '[outputs]\ny = "x"'},
    "count": {"axis": 'm = { from = "1 kg", to = "2 kg", count = 1000000000000 }'},
    "grid": {"axis": "\n".join(f"{n} = {{ from = 1, to = 2, count = 400000 }}" for n in "mkc")},
    "random": {"axis": WIDE, "more": '[design]\nkind = "random"\ncount = 1000000000000000'},
    "latin": {"axis": WIDE, "more": '[design]\nkind = "latin_hypercube"\ncount = 1000000000000'},
    "morris": {"axis": WIDE, "more": '[design]\nkind = "morris"\ncount = 1000000000000'},
    "chunk": {
        "head": "chunk = 1000000000000",
        "axis": WIDE,
        "more": '[design]\nkind = "random"\ncount = 900000000',
        "disk": True,
    },
    "operating": {
        "axis": SPAN,
        "more": "[operating_points]\n" + "\n".join(f"{n} = {{ from = 1, to = 2, count = 400000 }}" for n in "kc"),
    },
}


@pytest.mark.parametrize("case", STUDIES)
def test_studies_beyond_all_memory(case, tmp_path, monkeypatch):
    parts = {"head": "", "axis": "", "more": "", **STUDIES[case]}
    if parts.pop("disk", False):
        monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=10**15))
    (tmp_path / "s.toml").write_text(STUDY.format(**parts))
    monkeypatch.setenv("TORSEUR_MEMORY", "1GB")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BudgetError, match=r"needs (up to )?[0-9.e+]+ [A-Z]B .*(allowed|free)") as told:
        ts.sweep(tmp_path / "s.toml", tmp_path / "s.zarr")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 * 1024  # kilobytes
    assert "\n" not in str(told.value)


COMMANDS = {
    "simulate": ["simulate", "library:pendulum", "--until", "1", "--samples", "1000000000"],
    "sensitivity": [
        "sensitivity",
        "library:pendulum",
        "--criterion",
        "energy",
        "--parameters",
        "m",
        "--until",
        "1",
        "--samples",
        "10000000000",
    ],
    "response": [
        "response",
        "library:mass_spring_damper",
        "--input",
        "x",
        "--output",
        "x",
        "--from",
        "1",
        "--to",
        "2",
        "--points",
        "1000000000",
    ],
    "locus": [
        "locus",
        "library:mass_spring_damper",
        "--over",
        "k",
        "--from",
        "1",
        "--to",
        "2",
        "--points",
        "1000000000",
    ],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_beyond_all_memory(command):
    done = CliRunner().invoke(app, ["--memory", "100 MB", *COMMANDS[command]], env={"TORSEUR_MEMORY": "100 MB"})
    assert done.exit_code in (1, 2), done.output
    assert done.exit_code == 1 and "are allowed" in done.output and len(done.output.splitlines()) == 1, done.output


def test_an_option_allows_more(monkeypatch):
    equations = ts.derive(library.load("pendulum"))
    monkeypatch.setenv("TORSEUR_MEMORY", "1 MB")
    with pytest.raises(BudgetError, match="1 MB are allowed"):
        ts.simulate(equations, until=1, samples=100_000)
    monkeypatch.setenv("TORSEUR_MEMORY", "1 GB")
    assert len(ts.simulate(equations, until=1, samples=100_000).time) == 100_000


def test_sizes_are_read_and_shown(monkeypatch):
    assert [read_size(text, "") for text in ("5", "2 kB", "1.5GB", "3 GiB", "1e3 MB")] == [
        5, 2000, 1_500_000_000, 3_000_000_000, 10**9,
    ]  # fmt: skip
    for wrong in ("", "many", "1 m", "-1 GB", "0", "1e99 TB", "nan"):
        with pytest.raises(TorseurError, match="expected a size"):
            read_size(wrong, "--memory")
    assert shown_size(1.5e9) == "1.5 GB" and shown_size(12) == "12 bytes"
    monkeypatch.delenv("TORSEUR_MEMORY", raising=False)
    assert allowed_bytes() > 10**8


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs an endless device")
@pytest.mark.parametrize("name", ["a.lsd", "a.urdf", "a.xml", "a.xacro", "a.sdf", "a.toml", "a.json"])
def test_a_link_to_an_endless_device(name, tmp_path):
    (tmp_path / name).symlink_to("/dev/zero")
    commands = {
        "a.toml": ["sweep", str(tmp_path / name)],
        "a.json": ["simulate", "library:pendulum", "--until", "1", "--values", str(tmp_path / name)],
    }
    command = commands.get(name, ["check", str(tmp_path / name)])
    done = CliRunner().invoke(app, command, env={"TORSEUR_MEMORY": "100 MB"})
    assert done.exit_code in (1, 2) and "internal" not in done.output, done.output[-300:]


def test_a_file_is_read_no_further_than_allowed(tmp_path):
    (tmp_path / "f").write_bytes(b"x" * 1000)
    assert len(bounded_bytes(tmp_path / "f", 1000)) == 1000
    with pytest.raises(OSError, match="more than 999 bytes"):
        bounded_bytes(tmp_path / "f", 999)


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a = " + "{b=" * 5000, "[" + "a." * 5000 + "a]\nx = 1"])
@pytest.mark.parametrize("command", [["sweep"], ["optimise"], ["identify"]])
def test_documents_nested_too_deeply(text, command, tmp_path):
    (tmp_path / "deep.toml").write_text(text)
    done = CliRunner().invoke(app, [*command, str(tmp_path / "deep.toml")])
    assert done.exit_code in (1, 2) and len(done.output.splitlines()) <= 2, done.output[-500:]


MANY = """
import resource, sys, tempfile, pathlib
from torseur.analysis.studies import read_study, sweep
folder = pathlib.Path(tempfile.mkdtemp())
(folder / "s.toml").write_text(sys.argv[1])
peaks = []
for number in range(25):
    sweep(read_study(folder / "s.toml"), folder / f"{number}.zarr", cores=1)
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print(peaks[4], peaks[-1])
"""


@pytest.mark.slow
def test_a_long_loop_of_sweeps_stays_within_memory():
    """What a sweep leaves behind is less than a megabyte."""
    study = STUDY.format(head="", axis=SPAN, more="")
    done = subprocess.run([sys.executable, "-c", MANY, study], capture_output=True, text=True, check=True)
    early, late = map(int, done.stdout.split())
    assert late - early < 20 * 1024  # kilobytes in twenty sweeps
