"""`torseur equations`: the equations of motion, to read or to copy."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from torseur.cli.options import ForceOption, FormalismOption, JsonOption, SourceArgument

LEVELS = "recursive: named intermediates in order; matrix: M v' + b = Q; scalar: one equation per speed."


class Level(StrEnum):
    """How far the equations are expanded."""

    recursive = "recursive"
    matrix = "matrix"
    scalar = "scalar"


class Format(StrEnum):
    """How they are written."""

    text = "text"
    latex = "latex"
    mathml = "mathml"
    sympy = "sympy"


def equations(
    source: SourceArgument,
    level: Annotated[Level, typer.Option("--level", help=LEVELS)] = Level.matrix,
    form: Annotated[Format, typer.Option("--format", help="How they are written.")] = Format.text,
    formalism: FormalismOption = "recursive",
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write them to a file.")] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """The equations of motion M v' + b = Q.

    Example: torseur equations library:double_pendulum --level scalar --format latex
    """
    from torseur.cli.console import print_json, say, working
    from torseur.cli.files import require_free, write_text
    from torseur.cli.work import Work
    from torseur.cli.writing import statements, written

    if out is not None:
        require_free(out, force)
    work = Work.begin(source)
    with working(f"{work.source.mechanism.name}: equations", quiet=json):
        derived = work.equations(formalism)
        listed = statements(derived, level.value)
        text = written(derived, listed, form.value)
    if out is not None:
        write_text(out, text)
    if json:
        print_json({
            "mechanism": derived.mechanism.name, "formalism": formalism, "level": level.value, "format": form.value,
            "speeds": derived.layout.speed_names, "equations": [s.document(form.value) for s in listed],
            "written": None if out is None else str(out),
        })  # fmt: skip
    else:
        say(f"written: {out}" if out is not None else text)
