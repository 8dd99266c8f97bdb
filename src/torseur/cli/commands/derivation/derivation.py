"""`torseur derivation`: how the equations come about, step by step."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from torseur.cli.shared.option_rules import Rule, force_needs, option_rules
from torseur.cli.shared.options import ForceOption, JsonOption, SourceArgument

INDEPENDENT = "For closed loops: speeds to keep as independent, e.g. \"phi',x'\"."


class PageFormat(StrEnum):
    """How the steps are written."""

    text = "text"
    latex = "latex"
    tex = "tex"
    mathml = "mathml"
    html = "html"


class DerivationOptions(NamedTuple):
    """Of which mechanism, and how written."""

    source: SourceArgument
    form: Annotated[PageFormat, typer.Option("--format", help="html is a page whose steps fold.")] = PageFormat.text
    independent: Annotated[str | None, typer.Option("--independent", metavar="SPEEDS", help=INDEPENDENT)] = None
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the derivation to a file.")] = (
        None
    )
    force: ForceOption = False
    json: JsonOption = False


@option_rules(
    Rule("--format --out", not_with="--json", why="the document holds the steps as text"),
    force_needs("--out"),
)
def derivation(options: DerivationOptions) -> None:
    """Show step by step how the equations are derived: bodies, joints, mass blocks, passage matrices, closed loops.

    Example: torseur derivation library:slider_crank --format html -o steps.html
    """
    from torseur.cli.shared.console import print_json, say, working
    from torseur.cli.shared.output_files import require_free, write_text
    from torseur.cli.shared.prepared_model import Work
    from torseur.presentation.levels.forms.generation_form import generation_steps, write_generation
    from torseur.presentation.levels.write_equations import document

    if options.out is not None:
        require_free(options.out, options.force)
    work = Work.begin(options.source)
    kept = [name.strip() for name in (options.independent or "").split(",") if name.strip()]
    work.require_constraints("--independent", bool(kept))
    with working(f"{work.source.mechanism.name}: derivation", quiet=options.json):
        derived = work.equations("recursive")
        steps = generation_steps(derived, kept) if options.json else []
        text = "" if options.json else write_generation(derived, options.form.value, kept)
    if options.json:
        print_json({
            "mechanism": derived.mechanism.name,
            "steps": [
                {"title": step.title, "account": step.account,
                 "statements": [document(s, "text") for s in step.statements]}
                for step in steps
            ],
        })  # fmt: skip
        return
    if options.out is not None:
        write_text(options.out, text)
    say(f"written: {options.out}" if options.out is not None else text)
