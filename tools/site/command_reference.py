"""The command reference: every command, argument and option, as the program itself declares them."""

from __future__ import annotations

import inspect
import re
from typing import Any

INTRODUCTION = """# Command reference

Every command with its arguments and options, as the program itself declares them (`torseur COMMAND --help` prints the
same). [The command line](../docs/command_line.md) explains how values, units, files and exit codes work.

"""


def command_page() -> str:
    import typer

    from torseur.cli.app import app

    group: Any = typer.main.get_command(app)
    names = list(group.commands)
    listing = "".join(f"| [`torseur {n}`](#torseur-{n}) | {first_line(group.commands[n])} |\n" for n in names)
    overview = f"| command | what it does |\n| --- | --- |\n{listing}\n"
    own = f"## Options before the command\n\n{options_table(group)}\n"
    return INTRODUCTION + overview + own + "".join(section(name, group.commands[name]) for name in names)


def first_line(command: Any) -> str:
    return cell(inspect.cleandoc(command.help or "").partition("\n")[0])


def section(name: str, command: Any) -> str:
    usage = " ".join(["torseur", name, "[OPTIONS]", *(argument_word(p) for p in command.params if is_argument(p))])
    head = f"(torseur-{name})=\n\n## {name}\n\n```text\n{usage}\n```\n"
    return f"{head}\n{prose(command.help)}\n\n{options_table(command)}\n"


def prose(text: str | None) -> str:
    """A help text as paragraphs; its example as a block of its own."""
    paragraphs = inspect.cleandoc((text or "").replace("\b", "")).split("\n\n")
    parts = [re.fullmatch(r"(.*?)(?:Example: (torseur .*))?", " ".join(p.split())) for p in paragraphs]
    blocks = [f"{cell(p[1])}\n\n" + (f"```sh\n{p[2]}\n```\n\n" if p[2] else "") for p in parts if p]
    return "".join(blocks).strip()


def is_argument(parameter: Any) -> bool:
    return parameter.param_type_name == "argument"


def argument_word(parameter: Any) -> str:
    word = parameter.metavar or parameter.name.upper()
    word = word.strip("[]") + ("..." if parameter.nargs == -1 and not word.endswith("...") else "")
    return word if parameter.required else f"[{word}]"


def options_table(command: Any) -> str:
    """One row per argument and option: how it is spelt, what it means and its default, as the help has them."""
    context = command.context_class(command)
    records = [p.get_help_record(context) for p in command.params if not getattr(p, "hidden", False)]
    rows = [f"| {spelling(record[0])} | {cell(record[1])} |\n" for record in records if record]
    return "| argument or option | meaning |\n| --- | --- |\n" + "".join(rows) if rows else ""


def spelling(words: str) -> str:
    """`--out, -o <path>` is more readable as `--out`, `-o` *path*."""
    names, _, value = words.partition(" <")
    value = value.rstrip(">").replace("|", " \\| ")
    spelt = ", ".join(f"`{name}`" for name in re.split(r", | / ", names))
    return spelt if value in ("", "str", "boolean") else f"{spelt} *{value}*"


def cell(text: str) -> str:
    """Text that may stand in a table: on one line, nothing in it taken for markup except backticks."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    plain = [
        re.sub(r"([\\*_<>\[\]|$~#])", r"\\\1", p) if i % 2 == 0 else p.replace("|", "\\|") for i, p in enumerate(parts)
    ]
    return "".join(plain)
