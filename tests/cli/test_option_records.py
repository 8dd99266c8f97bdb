"""Commands that take records of options are, for Typer, commands that take the options one by one.

Oracle: the same command written with one parameter per option.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import pytest
import typer
from typer.testing import CliRunner

from torseur.cli.shared.option_records import expand_options

NameArgument = Annotated[str, typer.Argument(metavar="NAME")]
SizeOption = Annotated[float, typer.Option("--size", help="How large.")]
TagOption = Annotated[list[str] | None, typer.Option("--tag", help="A word. Repeatable.")]
TwiceOption = Annotated[bool, typer.Option("--twice", help="Once more.")]


class Look(NamedTuple):
    """A record within a record."""

    size: SizeOption = 1.5
    tag: TagOption = None


class Things(NamedTuple):
    """What the command is given."""

    name: NameArgument
    look: Look = Look()
    twice: TwiceOption = False


def by_record(things: Things) -> None:
    """Print what was given."""
    print(things.name, things.look.size, things.look.tag or [], things.twice)


def one_by_one(name: NameArgument, size: SizeOption = 1.5, tag: TagOption = None, twice: TwiceOption = False) -> None:
    """Print what was given."""
    print(name, size, tag or [], twice)


def output(command, *words: str) -> str:
    app = typer.Typer()
    app.command("show")(command)
    return CliRunner().invoke(app, [*words], env={"COLUMNS": "100"}).output


@pytest.mark.parametrize(
    "words",
    [("--help",), ("a",), ("a", "--size", "3", "--twice"), ("a", "--tag", "x", "--tag", "y"), (), ("a", "--size", "x")],
)
def test_record_reads_as_its_fields(words):
    assert output(expand_options(by_record), *words) == output(one_by_one, *words)


def test_two_records_with_one_name_are_refused():
    class Other(NamedTuple):
        size: SizeOption = 2.0

    def command(look: Look, other: Other) -> None: ...

    command.__annotations__ = {"look": Look, "other": Other}
    with pytest.raises(ValueError, match="size"):
        expand_options(command)


@pytest.mark.parametrize(("text", "value"), [("155mm", 0.155), ("155 mm", 0.155), ("1.78", 1.78), ("1e-2 m", 0.01)])
def test_a_unit_may_stand_close_to_its_number(text, value):
    from torseur.cli.shared.exits import CommandError
    from torseur.cli.shared.value_options import si_number

    assert si_number("--width", text, "m") == pytest.approx(value)
    with pytest.raises(CommandError, match="expected a number with a unit"):
        si_number("--width", "wide", "m")
