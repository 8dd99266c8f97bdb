"""Arguments and options that several commands share, with their help and completion."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

LIBRARY = "Mechanism"
VALUES = "Values"
OUTPUT = "Output"


def complete_source(incomplete: str) -> list[str]:
    """Library names and description files that begin with what was typed."""
    from torseur.description.library import PREFIX, entries
    from torseur.edges.file_names import ROBOT_SUFFIXES

    named = [f"{PREFIX}{entry.name}" for entry in entries()]
    folder = Path(incomplete).parent if "/" in incomplete else Path(".")
    suffixes = (".lsd", *ROBOT_SUFFIXES)
    files = [str(p) for p in folder.iterdir() if p.suffix in suffixes] if folder.is_dir() else []
    return [name for name in [*named, *files] if name.startswith(incomplete)]


def complete_formalism(incomplete: str) -> list[str]:
    """Names of formalisms that begin with what was typed."""
    from torseur.derivation.formalisms import FORMALISMS

    return [name for name in FORMALISMS if name.startswith(incomplete)]


SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A description (.lsd), a robot (.urdf, .xacro, .sdf, .xml, .osim), library:NAME, or - for standard input.",
        autocompletion=complete_source,
        show_default=False,
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set the value of a parameter, e.g. 'm1=4 kg'. Repeatable.",
                 rich_help_panel=VALUES),
]  # fmt: skip
InitOption = Annotated[
    list[str] | None,
    typer.Option("--init", metavar="NAME=VALUE",
                 help="Set an initial coordinate or speed, e.g. 'q1=45 deg'. Repeatable.",
                 rich_help_panel=VALUES),
]  # fmt: skip
LawOption = Annotated[
    list[str] | None,
    typer.Option("--law", metavar="'F(X)=FORMULA'",
                 help="Formula for a function that the description leaves open. Repeatable.",
                 rich_help_panel=VALUES),
]  # fmt: skip
ValuesOption = Annotated[
    Path | None,
    typer.Option("--values", metavar="FILE",
                 help="Read values from a TOML or JSON file with tables named parameters, initial and laws.",
                 rich_help_panel=VALUES),
]  # fmt: skip
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else.", rich_help_panel=OUTPUT)
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Overwrite an existing output file.", rich_help_panel=OUTPUT)
]
FormalismOption = Annotated[
    str,
    typer.Option(
        "--formalism",
        metavar="NAME",
        help="Formalism by which the equations are derived.",
        autocompletion=complete_formalism,
    ),
]
RtolOption = Annotated[float, typer.Option("--rtol", help="Relative error tolerance per step.")]


class ValueOptions(NamedTuple):
    """What the command line says beside the description: parameters, initial state, laws, and a file with all three."""

    settings: SetOption = None
    starts: InitOption = None
    laws: LawOption = None
    values: ValuesOption = None
