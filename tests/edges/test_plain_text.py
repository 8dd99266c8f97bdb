"""Names that others wrote: a terminal and a spreadsheet show them and never act on them; none is lost or mistaken."""

from __future__ import annotations

import asyncio
import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import torseur as ts
from torseur.analysis.biomechanics import Markers
from torseur.analysis.biomechanics.files.marker_csv import read_csv, write_csv
from torseur.cli.app import app
from torseur.description.language import parse, to_text
from torseur.edges.plain_text import cell, cell_text, visible
from torseur.errors import TorseurError

HOSTILE = ["\x1b[31mred", "\x1b]0;title\x07", "\x9b2J", "a\u202eb", "b\x08\x08", "\x7f", "x\u2028y", "\u200bz", "\x00"]
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0", "\t=1", " =1", "'quoted", "%x", "|y"]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_reaches_a_terminal_that_it_acts_on(text):
    shown = visible(text)
    assert shown != text and shown.isprintable()
    assert visible("plain é Ω 𝔘 日本\n\ttext [x]") == "plain é Ω 𝔘 日本\n\ttext [x]"


def text_with(name, meaning="m"):
    return (
        f'param `{name}` = 2 kg "{meaning}" ; let b = body mass = `{name}` end ; '
        "join earth and b.frame with prismatic(x) end ;"
    )


@pytest.mark.parametrize("name", ["\x1b[31mred", "a\u202eb", "\x9b2J", "\x07"])
@pytest.mark.parametrize("command", [["check"], ["check", "--json"], ["equations"], ["objects"]])
def test_commands_show_names_escaped(name, command, tmp_path):
    """Whether a name is accepted or refused, what is shown of it is plain."""
    (tmp_path / "a.lsd").write_text(text_with(name, name), encoding="utf-8")
    done = CliRunner().invoke(app, [command[0], str(tmp_path / "a.lsd"), *command[1:]])
    assert visible(done.output) == done.output and done.exit_code in (0, 1)
    if command[1:] and done.exit_code == 0:
        assert name in json.dumps(json.loads(done.stdout), ensure_ascii=False) or "\\" in done.stdout


@pytest.mark.parametrize("text", FORMULAS)
def test_a_cell_is_shown_and_not_run(text):
    written = cell(text)
    assert written.startswith("'") and cell_text(written) == text
    assert cell("time [s]") == "time [s]" == cell_text("time [s]")


@pytest.mark.parametrize("name", ["=1+1", "+x", "@a", "-q", "=cmd|' /C calc'!A0"])
def test_headings_of_a_motion_are_neutral_and_read_back(name, tmp_path):
    mechanism = parse(f"let b = body mass = 1 kg end ; join earth and b.frame with prismatic(`{name}`) end ;")
    motion = ts.simulate(ts.derive(mechanism), until=0.1, samples=3)
    path = motion.save(tmp_path / "m.csv")
    with open(path, newline="", encoding="utf-8") as file:
        headings = next(csv.reader(file))
    assert not any(heading.startswith(("=", "+", "-", "@")) for heading in headings)
    read = ts.Trajectory.load(path)
    assert [column.quantity.name for column in read.columns] == [column.quantity.name for column in motion.columns]


def test_labels_of_markers_are_neutral_and_read_back(tmp_path):
    labels = ("=LASI", "+A", "@B")
    positions = 1.0 + np.random.default_rng(0).random((4, 3, 3))
    write_csv(tmp_path / "m.csv", Markers(np.arange(4) / 100, labels, positions))
    assert "\n=" not in (tmp_path / "m.csv").read_text() and ",=" not in (tmp_path / "m.csv").read_text()
    assert read_csv(tmp_path / "m.csv").labels == labels


@pytest.mark.parametrize("name", ["q'", "a''", "'"])
def test_names_ending_in_a_prime_are_refused_or_kept(name):
    """In a formula a prime is a derivative: there they are refused; names of bodies and joints are kept."""
    join = "join earth and b.frame with prismatic(x) end ;"
    for text in (
        text_with(name),
        f"let b = body mass = 1 kg end ; join earth and b.frame with revolute(`{name}`) end ;",
        f"let b = body mass = 1 kg end ; {join} measure `{name}` = position.x of [0, 0, 0] m @ b in earth ;",
    ):
        with pytest.raises(TorseurError, match="ends in a prime"):
            parse(text)
    for text in (
        f"let `{name}` = body mass = 1 kg end ; join earth and `{name}`.frame with prismatic(x) end ;",
        f"let b = body mass = 1 kg end ; join earth and b.frame as `{name}` with prismatic(x) end ;",
    ):
        mechanism = parse(text)
        assert parse(to_text(mechanism)) == mechanism


class Page:
    """The other end of a socket."""

    def __init__(self):
        self.heard = []

    async def send_text(self, text):
        self.heard.append(json.loads(text))


def test_half_a_character_leaves_the_socket_open(tmp_path):
    """A text that no file can hold is kept, and refused where it is saved; the next one is saved."""
    from torseur.presentation.studio.guard import Guard
    from torseur.presentation.studio.server import Studio
    from torseur.presentation.studio.session import Session

    studio = Studio(Session(tmp_path / "a.lsd", folder=tmp_path), Guard("token", ("localhost",)))
    studio.page = page = Page()
    keep = '{"kind": "keep", "state": {"text": "%s", "revision": 2}}'
    for text in ("a \\ud800 b", "mechanism m ;"):
        asyncio.run(studio._hear(keep % text))
        asyncio.run(studio._hear('{"kind": "save", "overwrite": true}'))
    assert [message["kind"] for message in page.heard] == ["kept", "refusal", "kept", "saved"]
    assert "half of a character" in page.heard[1]["reason"]
    assert studio.session.state.text == "mechanism m ;"
