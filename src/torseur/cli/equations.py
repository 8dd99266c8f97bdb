"""`torseur equations`: the equations of motion, to read or to copy."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from torseur.cli.options import ForceOption, FormalismOption, JsonOption, SourceArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torseur.equations import Equations
    from torseur.report.levels.statement import Statement

LEVELS = (
    "intrinsic: forces and accelerations as vectors; recursive: named intermediates in order; "
    "matrix: M v' + b = Q; scalar: one equation per speed."
)
STEPS = "Of the intrinsic level: how far accelerations are expanded, 0 (defined below) to 3 (in rates of coordinates)."


COLLECT = "Of the scalar level: by accelerations and products of speeds, the most factored form."
DEPTH = "Write parts deeper than this by names, with a table under them: 0 sides, 1 terms, 2 factors, ..."
SIZE = "Write parts of more than this many symbols by names."
PART = "Give a part a name, e.g. 'A=m2*l2^2'. Repeatable."
OPEN = "Leave the part of this name as it is, e.g. P3. Repeatable."
ENERGY = "The kinetic energy instead, as a sum of squares."


class Level(StrEnum):
    """How far the equations are expanded."""

    intrinsic = "intrinsic"
    recursive = "recursive"
    matrix = "matrix"
    scalar = "scalar"


class Format(StrEnum):
    """How they are written."""

    text = "text"
    latex = "latex"
    mathml = "mathml"
    sympy = "sympy"
    omml = "omml"
    docx = "docx"


def equations(
    source: SourceArgument,
    level: Annotated[Level, typer.Option("--level", help=LEVELS)] = Level.matrix,
    form: Annotated[Format, typer.Option("--format", help="How they are written; docx needs --out.")] = Format.text,
    formalism: FormalismOption = "recursive",
    collect: Annotated[bool, typer.Option("--collect", help=COLLECT)] = False,
    kinetic_energy: Annotated[bool, typer.Option("--kinetic-energy", help=ENERGY)] = False,
    steps: Annotated[int, typer.Option("--steps", min=0, max=3, help=STEPS)] = 0,
    depth: Annotated[int | None, typer.Option("--fold", metavar="DEPTH", min=0, help=DEPTH)] = None,
    size: Annotated[int | None, typer.Option("--fold-size", metavar="N", min=2, help=SIZE)] = None,
    parts: Annotated[list[str] | None, typer.Option("--fold-as", metavar="NAME=PART", help=PART)] = None,
    opened: Annotated[list[str] | None, typer.Option("--open", metavar="NAME", help=OPEN)] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write them to a file.")] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """The equations of motion M v' + b = Q.

    Example: torseur equations library:double_pendulum --level scalar --format latex
    """
    from torseur.cli.console import print_json, remark, say, working
    from torseur.cli.files import require_free
    from torseur.cli.work import Work
    from torseur.report.levels.folding import Fold, folded, require_foldable
    from torseur.report.levels.levels import size_note
    from torseur.report.levels.part_origins import PartOrigins
    from torseur.report.levels.writing import document, written

    require_place(form, out)
    if out is not None:
        require_free(out, force)
    work = Work.begin(source)
    with working(f"{work.source.mechanism.name}: equations", quiet=json):
        derived = work.equations(formalism)
        listed = _listed(derived, level.value, steps, collect, kinetic_energy)
        note = size_note(listed)
        if depth is not None or size is not None or parts or opened:
            require_foldable(level.value, form.value)
            listed = folded(listed, Fold(depth, size, _named(parts or []), tuple(opened or ())), PartOrigins(derived))
        text = "" if form is Format.docx else written(derived, listed, form.value)
    if note and not json:
        remark(f"note: {note}")
    if out is not None:
        write_statements(out, form, text, derived, listed)
    if json:
        print_json({
            "mechanism": derived.mechanism.name, "formalism": formalism, "level": level.value, "format": form.value,
            "speeds": derived.layout.speed_names, "equations": [document(s, form.value) for s in listed],
            "size": note, "written": None if out is None else str(out),
        })  # fmt: skip
    else:
        say(f"written: {out}" if out is not None else text)


def _named(parts: Sequence[str]) -> dict[str, str]:
    """NAME=PART by name."""
    from torseur.cli.exits import USAGE, CommandError

    found = {}
    for text in parts:
        name, equals, part = (piece.strip() for piece in text.partition("="))
        if not (name and equals and part):
            raise CommandError(f"--fold-as {text}: expected NAME=PART, such as 'A=m2*l2^2'.", USAGE)
        found[name] = part
    return found


def _listed(derived: Equations, level: str, steps: int, collect: bool, kinetic_energy: bool) -> list[Statement]:
    from torseur.report.levels.collected import collected_statements
    from torseur.report.levels.energy import kinetic_energy_statements
    from torseur.report.levels.levels import statements

    if kinetic_energy:
        return kinetic_energy_statements(derived)
    return collected_statements(derived) if collect else statements(derived, level, steps)


def require_place(form: Format, out: Path | None) -> None:
    from torseur.cli.exits import USAGE, CommandError

    if form is Format.docx and out is None:
        raise CommandError("--format docx is a file: say where with --out equations.docx.", USAGE)


def write_statements(out: Path, form: Format, text: str, derived: Equations, listed: Sequence[Statement]) -> None:
    from torseur.cli.files import write_text
    from torseur.report.levels.word import write_word

    if form is Format.docx:
        mechanism = derived.mechanism
        write_word(out, mechanism.meaning or mechanism.name, listed)
    else:
        write_text(out, text)
