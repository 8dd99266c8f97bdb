"""Every mistake of a user ends in one clear message on stderr and an exit code, never in a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.conftest import RUN, command, environment
from torseur.cli.shared.exits import message_of

PENDULUM = "library:pendulum"


@pytest.fixture(autouse=True)
def bad_files(own_folder):
    Path("bad.lsd").write_text(
        "let a = body mass = 3 s end ;\njoin earth and b.frame with revolute(q) end ;", encoding="utf-8"
    )
    Path("binary.lsd").write_bytes(bytes(range(256)) * 20)
    Path("empty.lsd").write_text("", encoding="utf-8")
    Path("page.xml").write_text("<html></html>", encoding="utf-8")
    Path("folder").mkdir()
    Path("there.csv").write_text("kept", encoding="utf-8")
    Path("params.toml").write_text("[params]\nl = 3\n", encoding="utf-8")
    Path("broken.toml").write_text("l = ", encoding="utf-8")
    Path("list.json").write_text("[1, 2]", encoding="utf-8")


MISTAKES = {
    "a report of another kind": (["report", PENDULUM, "-o", "r.pdf"], 1, ".html"),
    "not a number": (["simulate", PENDULUM, "--until", "nan"], 1, "unknown name 'nan'.\n"),
    "more than URDF says": (["convert", "empty.lsd", "e.urdf"], 1, "Write it with --partial"),
    "an option that robot files do not have": (["check", "page.xml?foo=1"], 1, "Options of a robot file: strict"),
    "unknown command": (["frobnicate"], 2, "No such command"),
    "unknown option": (["check", PENDULUM, "--frob"], 2, "No such option"),
    "no file": (["check"], 2, "Missing argument"),
    "nothing moves": (["animate", PENDULUM, "-o", "a.gif", "--until", "0"], 1, "The motion has no length."),
    "no time": (["simulate", PENDULUM], 2, "--until"),
    "a value left out": (["equations", PENDULUM, "--format", "--level", "scalar"], 2, "'--format': a value is missing"),
    "a file left out": (["simulate", PENDULUM, "--until", "1", "--out", "-h"], 2, "'--out': a value is missing"),
    "another format": (["equations", PENDULUM, "--format", "rtf"], 2, "'--format': 'rtf' is not one of 'text'"),
    "wrong level": (["equations", PENDULUM, "--level", "deep"], 2, "matrix"),
    "not a pair": (["check", PENDULUM, "--set", "l"], 2, "NAME=VALUE"),
    "missing file": (["check", "missing.lsd"], 1, "no file 'missing.lsd'"),
    "near file": (["check", "bat.lsd"], 1, "Did you mean 'bad.lsd'?"),
    "near library": (["check", "double_pendulum"], 1, "Did you mean 'library:double_pendulum'?"),
    "wrong text": (["check", "bad.lsd"], 1, "bad.lsd:1:21: expected a mass"),
    "wrong name": (["check", "bad.lsd"], 1, "bad.lsd:2:16: unknown body 'b'"),
    "binary file": (["check", "binary.lsd"], 1, "not UTF-8"),
    "folder": (["check", "folder"], 1, "is a folder"),
    "unknown library": (["report", "library:pendulun"], 1, "Did you mean 'pendulum'?"),
    "unknown parameter": (["simulate", PENDULUM, "--until", "1", "--set", "mm=3"], 1, "Did you mean 'm'?"),
    "wrong unit": (["simulate", PENDULUM, "--until", "1", "--set", "l=3 kg"], 1, "expected a length (m), got a mass"),
    "no number": (["simulate", PENDULUM, "--until", "1", "--set", "l=long"], 1, "expected a number with its unit"),
    "unknown state": (["simulate", PENDULUM, "--until", "1", "--init", "thet=1"], 1, "Did you mean 'theta'?"),
    "unknown output": (["simulate", PENDULUM, "--until", "1", "--output", "enrgy"], 1, "Did you mean 'energy'?"),
    "not a time": (["simulate", PENDULUM, "--until", "3 kg"], 1, "expected a time"),
    "unknown suffix": (["simulate", PENDULUM, "--until", "1", "--out", "m.xls"], 1, ".csv, .nc, .json"),
    "file exists": (["simulate", PENDULUM, "--until", "1", "--out", "there.csv"], 1, "--force"),
    "report exists": (["report", PENDULUM, "-o", "there.csv"], 1, "--force"),
    "no folder": (["report", PENDULUM, "-o", "nowhere/r.html"], 1, "no folder 'nowhere'"),
    "into a folder": (["report", PENDULUM, "-o", "folder"], 1, "is a folder"),
    "undetermined": (["simulate", "library:satellite", "--until", "1"], 1, "--set NAME=VALUE"),
    "unknown formalism": (["equations", PENDULUM, "--formalism", "newton"], 1, "newton_euler"),
    "certify unknown": (["certify", PENDULUM, "--formalism", "lagrang"], 1, "Did you mean 'lagrange'?"),
    "unknown table": (["check", PENDULUM, "--values", "params.toml"], 1, "Did you mean 'parameters'?"),
    "broken values": (["check", PENDULUM, "--values", "broken.toml"], 1, "cannot be read as TOML"),
    "values without tables": (["check", PENDULUM, "--values", "list.json"], 1, "expected tables"),
    "no values file": (["check", PENDULUM, "--values", "none.toml"], 1, "no file 'none.toml'"),
    "unknown format": (["convert", PENDULUM, "arm.step"], 1, ".lsd, .urdf"),
    "not a robot": (["check", "page.xml"], 1, "page.xml"),
    "law without function": (["simulate", PENDULUM, "--until", "1", "--law", "f(x)=x"], 1, "no undetermined functions"),
    "law that is none": (["simulate", PENDULUM, "--until", "1", "--law", "f=x"], 2, "FUNCTION(ARGUMENTS)=FORMULA"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_explained(torseur, mistake):
    arguments, code, message = MISTAKES[mistake]
    result = torseur(*arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr and result.stdout == ""
    assert Path("there.csv").read_text(encoding="utf-8") == "kept"


def test_mistakes_in_json(torseur):
    document = json.loads(torseur("check", "missing.lsd", "--json").stdout)
    assert document["error"]["exit_code"] == 1 and "missing.lsd" in document["error"]["message"]


def test_empty_description_is_a_mechanism_of_nothing(torseur):
    assert "Degree of freedom 0" in torseur("check", "empty.lsd").stdout


def test_motion_that_ends_early_keeps_what_there_is(torseur):
    """A mass pulled into a singular force reaches it: the rows before are kept."""
    Path("fall.lsd").write_text(
        "param k = 1 N*m ; let b = body mass = 1 kg, centre = [0,0,0], inertia = 0 end ; init x = 1 m ;"
        "join earth and b.frame with prismatic(x) along [1,0,0] force = -k / x end ;",
        encoding="utf-8",
    )
    result = torseur("simulate", "fall.lsd", "--until", "10", "--out", "fall.csv")
    assert result.exit_code == 3 and "fall.partial.csv" in result.stderr
    assert len(Path("fall.partial.csv").read_text(encoding="utf-8").splitlines()) > 2
    assert not Path("fall.csv").exists()


def test_fault_of_our_own_is_called_one(torseur, monkeypatch):
    import torseur.presentation.report.compose.account as module

    monkeypatch.setattr(module, "account", lambda *given: 1 / 0)
    result = torseur("check", PENDULUM)
    assert result.exit_code == 70 and "internal error, ZeroDivisionError" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(st.text(max_size=30))
def test_no_value_makes_a_traceback(torseur, text):
    result = torseur("check", PENDULUM, "--set", f"l={text}")
    assert result.exit_code in (0, 1, 2)
    assert "internal error" not in result.stderr


@pytest.mark.slow
def test_closed_pipe_is_quiet():
    program = subprocess.Popen(
        command("simulate", PENDULUM, "--until", "2000", "--out", "-"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    program.stdout.readline()
    program.stdout.close()
    assert program.stderr.read() == b""
    assert program.wait(timeout=60) == 141


TOLD = """
from torseur.computation.simulation.loop.integrator import Integrator
run = Integrator.run
def told(self, problem):
    print("at work", flush=True)
    return run(self, problem)
Integrator.run = told
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_interrupt_is_quiet():
    program = subprocess.Popen(
        [sys.executable, "-c", TOLD + RUN, "simulate", "library:pendulum_chain?n=20", "--until", "100000", "--out", "q.csv"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True,
    )  # fmt: skip
    assert "at work" in program.stdout.readline()
    program.send_signal(signal.SIGINT)
    errors = program.communicate(timeout=120)[1]
    assert program.returncode == 130
    assert "interrupted" in errors and "Traceback" not in errors
    assert not Path("q.csv").exists()


@pytest.mark.slow
def test_help_loads_no_numbers(work, torseur):
    """Of what takes long to import there is nothing, and the calls are a third of those of the smallest command."""
    assert "Examples:" in torseur("--help").stdout
    calls, modules = work("--help")
    assert 0.1e6 < calls < 0.7e6
    assert not modules & {"numpy", "scipy", "sympy", "llvmlite", "matplotlib", "xarray", "pandas", "mpmath"}


@pytest.mark.parametrize(
    ("shell", "words"), [("bash", "complete -o default -F"), ("zsh", "#compdef"), ("fish", "complete --command")]
)
def test_shells_can_complete(shell, words, monkeypatch):
    """The script that a shell asks for by name, whatever shell is above this process."""
    monkeypatch.setenv("_TORSEUR_COMPLETE", f"source_{shell}")
    script = subprocess.run(command(), capture_output=True, text=True, env=environment(), timeout=120).stdout
    assert words in script and "_TORSEUR_COMPLETE=complete" in script


@pytest.mark.parametrize(
    "draft", [".m-86ae1cb6bd984df48f7265a5950a254a.csv", ".m.csv-86ae1cb6bd984df48f7265a5950a254a"]
)
def test_a_failed_file_is_called_as_it_was_asked_for(draft):
    assert (
        message_of(PermissionError(13, "Permission denied", f"/a/{draft}")) == "torseur: '/a/m.csv': Permission denied."
    )


def test_a_folder_that_is_not_open_to_writing(torseur, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    result = torseur("report", PENDULUM, "-o", "r.html")
    assert result.exit_code == 1 and "'.' is not open to writing" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("simulate",),
        ("simulate", "--samples", "3"),
        ("sensitivity", "--criterion", "theta", "--parameters", "l"),
        ("report", "-o", "page.html"),
    ],
)
def test_a_motion_of_no_length_is_its_start(words, torseur):
    command, *options = words
    assert torseur(command, PENDULUM, "--until", "0", *options).exit_code == 0
