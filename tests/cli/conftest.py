"""The command line, run in this process or as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
RUN = "import sys; sys.argv[0] = 'torseur'; from torseur.cli import main; main()"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def torseur(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs a command in this process; the result has exit_code, stdout and stderr."""
    from typer.testing import CliRunner

    from torseur.cli.app import app

    def run(*arguments: str, text: str | None = None) -> Any:
        monkeypatch.setattr(sys, "argv", ["torseur", *arguments])
        return CliRunner().invoke(app, list(arguments), input=text, prog_name="torseur")

    return run


def command(*arguments: str) -> list[str]:
    """The command line of a process of its own."""
    return [sys.executable, "-c", RUN, *arguments]


@pytest.fixture
def process() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command as a process of its own."""

    def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments), capture_output=True, text=True, env=environment(), timeout=120, **options
        )

    return run


COUNTED = """
import sys
from contextlib import suppress
from counting import calls_of
def run():
    with suppress(SystemExit):
        from torseur.cli import main
        main()
file, sys.argv = sys.argv[1], ["torseur", *sys.argv[2:]]
calls = calls_of(run)
print(calls, *sys.modules, file=open(file, "w"))
"""


@pytest.fixture
def work(tmp_path: Path) -> Callable[..., tuple[int, set[str]]]:
    """The calls of functions that a command makes in a process of its own, imports included, and the modules it loads."""

    def run(*arguments: str) -> tuple[int, set[str]]:
        told = tmp_path / "work.txt"
        paths = {"PYTHONPATH": os.pathsep.join((str(SOURCE), str(SOURCE.parent / "tests")))}
        line = [sys.executable, "-c", COUNTED, str(told), *arguments]
        subprocess.run(line, capture_output=True, env=environment() | paths, timeout=120, check=True)
        calls, *modules = told.read_text().split()
        return int(calls), set(modules)

    return run


def environment() -> dict[str, str]:
    """This process's environment, with the sources where Python finds them and its compiled modules kept, as for users."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(SOURCE)}
