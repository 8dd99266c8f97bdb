"""Every example runs, and every command and program in the documentation does what the page says: it works."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((PROJECT / "examples").glob("*.py"))
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"`(\w+\.\w+)`:?\s*$")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the file name that the sentence before it ends with."""

    language: str
    text: str
    file: str | None


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        named = FILE_NAME.search(text[: match.start()].rstrip())
        found.append(Block(match[1], match[2], named[1] if named else None))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_demo_ends_with_the_path_of_a_report(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    demo = re.search(r"^DEMO := (\S+)$", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[1]
    runpy.run_path(str(PROJECT / demo), run_name="__main__")
    path = Path(capsys.readouterr().out.split()[-1])
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_page_tells_the_truth(page, tmp_path, monkeypatch):
    """Blocks run in the order of the page, in one folder: files are written, commands and programs run."""
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in blocks(page):
        if block.file and block.language in ("lsd", "toml", "json", "xml"):
            Path(block.file).write_text(block.text, encoding="utf-8")
        if block.language == "lsd" and page.name != "language.md":
            read(block.text)
        elif block.language == "sh":
            for line in block.text.splitlines():
                run(line, monkeypatch)
        elif block.language == "python":
            exec(compile(block.text, str(page), "exec"), names)


def read(text: str) -> None:
    import torseur

    torseur.parse(text)


def run(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line of a shell block: a target of make exists, a command of torseur ends well, pipes included."""
    text: str | None = None
    if line.startswith("make "):
        assert re.search(rf"^{line.split()[1]}:", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        return
    for part in line.split(" | "):
        text = torseur_output(shlex.split(part), text, monkeypatch)


def torseur_output(words: list[str], text: str | None, monkeypatch: pytest.MonkeyPatch) -> str:
    from typer.testing import CliRunner

    from torseur.cli.app import app

    assert words[0] == "torseur", f"only torseur and make are run from pages, not {words[0]}"
    monkeypatch.setattr(sys, "argv", words)
    result = CliRunner().invoke(app, words[1:], input=text, prog_name="torseur")
    assert result.exit_code == 0, result.output
    return result.stdout


def test_gallery_shows_the_whole_library():
    from torseur.description.library import entries

    text = (PROJECT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert [entry.name for entry in entries() if f"library:{entry.name}" not in text] == []
