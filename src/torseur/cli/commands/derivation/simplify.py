"""`torseur simplify`: equations with fewer terms, and what that costs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from torseur.cli.commands.derivation.equations import Format
from torseur.cli.shared.option_rules import Rule, force_needs, option_rules
from torseur.cli.shared.options import (
    ForceOption,
    FormalismOption,
    JsonOption,
    SetOption,
    SourceArgument,
    ValueOptions,
    ValuesOption,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torseur.algebra.graph import Expr
    from torseur.cli.shared.prepared_model import Work
    from torseur.derivation.equations import Equations
    from torseur.derivation.equations.simplification import Box, SimplifiedEquations
    from torseur.presentation.levels.statement import Statement
    from torseur.presentation.levels.term_origins import TermOrigins

LISTED = 12  # changes printed; --json has all
BOX = (
    "Range of a state, 'q1=-10 deg..10 deg', or of all states of a kind: angles, angular_speeds, "
    "angular_accelerations, lengths, velocities, accelerations, multipliers. Repeatable."
)

CRITERION = "Compare models of decreasing size by this formula over the motion, in one table."
ALLOW = "Take the smallest model whose criterion is within this fraction, e.g. 0.01."


class Method(StrEnum):
    """How an error is bounded."""

    interval = "interval"
    sampling = "sampling"


class SimplifyOptions(NamedTuple):
    """What is neglected, within which error, and how the rest is written."""

    source: SourceArgument
    tolerance: Annotated[
        float | None,
        typer.Option("--tolerance", help="Drop terms that together stay below this fraction of the largest one."),
    ] = None
    box: Annotated[list[str] | None, typer.Option("--box", metavar="NAME=LOW..HIGH", help=BOX)] = None
    method: Annotated[
        Method,
        typer.Option(
            "--method", help="How the error is established: proved with intervals, or observed at sampled states."
        ),
    ] = Method.interval
    hold: Annotated[bool, typer.Option("--hold/--no-hold", help="Replace factors that hardly vary by constants.")] = (
        True
    )
    criterion: Annotated[str | None, typer.Option("--criterion", metavar="EXPR", help=CRITERION)] = None
    until: Annotated[
        str | None, typer.Option("--until", metavar="T", help="Time at which the compared motion ends.")
    ] = None
    allow: Annotated[float | None, typer.Option("--allow", metavar="ERROR", help=ALLOW)] = None
    small: Annotated[
        str | None, typer.Option("--small", metavar="NAMES", help="Coordinates that are small, e.g. q1,q2, or all.")
    ] = None
    order: Annotated[int, typer.Option("--order", help="Order kept in small quantities.")] = 1
    group: Annotated[
        bool, typer.Option("--group", help="Group parameters that always occur together, and define the groups.")
    ] = False
    horner: Annotated[
        str | None,
        typer.Option(
            "--horner",
            metavar="X",
            help="Order the terms by powers of a quantity (Horner form), e.g. q1' or 'cos(q2)'.",
        ),
    ] = None
    form: Annotated[Format, typer.Option("--format", help="Output format; docx needs --out.")] = Format.text
    formalism: FormalismOption = "recursive"
    settings: SetOption = None
    values: ValuesOption = None
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the result to a file.")] = None
    force: ForceOption = False
    json: JsonOption = False


@option_rules(
    Rule("--tolerance", not_with="--criterion", why="models of several tolerances are compared by the criterion"),
    Rule("--criterion", needs="--until", why="a motion has an end"),
    Rule("--until --allow", needs="--criterion", why="it belongs to the comparison of motions by a criterion"),
    Rule("--small", not_with="--criterion", why="an expansion in small quantities has no certified error"),
    Rule("--box --method --hold --set --values", needs="--tolerance --criterion",
         why="it says how much may be neglected, which is decided by numbers; without it the equations hold for all"),
    Rule("--small", not_with="--tolerance", why="an expansion in small quantities has no certified error"),
    Rule("--order", needs="--small", why="it is the order kept in what is small"),
    Rule("--out --format --group --horner", not_with="--criterion", why="a table of models has one form"),
    Rule("--group", not_with="--horner", why="the equations are written in one form or the other"),
    force_needs("--out"),
)  # fmt: skip
def simplify(options: SimplifyOptions) -> None:
    """The equations of motion with fewer terms: neglected with a certified error, small motions, grouped parameters.

    Example: torseur simplify library:double_pendulum --small q1,q2
    """
    from torseur.cli.commands.derivation.equations import require_place, write_file
    from torseur.cli.shared.console import print_json, say, working
    from torseur.cli.shared.output_files import require_free
    from torseur.cli.shared.prepared_model import Work
    from torseur.presentation.levels.write_equations import document, write_statements

    form, out = options.form, options.out
    require_place(form, out)
    if out is not None:
        require_free(out, options.force)
    work = Work.begin(options.source, ValueOptions(options.settings, values=options.values))
    if options.criterion is not None:
        _compare(work, options)
        return
    with working(f"{work.source.mechanism.name}: simplify", quiet=options.json):
        derived = work.equations(options.formalism).in_axes_to_read  # multipliers go by the names that are printed
        rows, origins, simplified = _simplify(derived, work.values.parameters, options)
        statements = _statements(derived, rows, origins, options)
        text = "" if form is Format.docx else write_statements(derived, statements, form.value)
    if out is not None:
        write_file(out, form, text, derived, statements)
    if options.json:
        print_json({
            "mechanism": derived.mechanism.name, "equations": [document(s, form.value) for s in statements],
            "certificate": None if simplified is None else _certificate(simplified),
            "written": None if out is None else str(out),
        })  # fmt: skip
        return
    if simplified is not None:
        say(_account(simplified))
    say(f"written: {out}" if out is not None else text)


def _compare(work: Work, options: SimplifyOptions) -> None:
    """The table of models, and the equations of the one within the error that is allowed."""
    from torseur.analysis.studies.simplified_models import simplified_models
    from torseur.cli.shared.console import print_json, say, working
    from torseur.cli.shared.prepared_model import duration
    from torseur.presentation.levels.levels import residual_statements
    from torseur.presentation.levels.write_equations import document, write_statements

    assert options.criterion is not None and options.until is not None
    derived, values = work.equations(options.formalism).in_axes_to_read, work.values
    with working(f"{work.source.mechanism.name}: models", quiet=options.json):
        box = _box(derived, dict(values.parameters), options, "--box")
        models = simplified_models(
            derived, box, options.criterion, until=duration(options.until), hold=options.hold,
            method=options.method.value, parameters=values.parameters, initial=values.initial,
        )  # fmt: skip
        chosen = None if options.allow is None else models.choose(options.allow)
        listed = [] if chosen is None else residual_statements(derived, chosen.simplified.residual)
    if options.json:
        keys = ("tolerance", "terms", "operations", "bound", "motion_error", "criterion", "criterion_error", "seconds")
        print_json({
            "mechanism": derived.mechanism.name, "criterion": models.criterion.label, "complete": models.complete,
            "models": [{key: getattr(m, key) for key in (*keys, "leaves_box", "refusal")} for m in models.models],
            "chosen": None if chosen is None else chosen.tolerance,
            "equations": [document(s, options.form.value) for s in listed],
        })  # fmt: skip
        return
    say(models.table())
    if chosen is not None:
        say(_account(chosen.simplified))
        say(write_statements(derived, listed, options.form.value))


def _simplify(
    derived: Equations, parameters: Mapping[str, float], options: SimplifyOptions
) -> tuple[Sequence[Expr], TermOrigins, SimplifiedEquations | None]:
    """The rows of the equations after what is neglected, where their terms come from, and the certificate if any."""
    from torseur.presentation.levels.term_origins import TermOrigins

    if options.small is not None:
        truncate = _small(derived, options.small, options.order)
        rows = [truncate(row) for row in derived.residual]
        return rows, TermOrigins(derived, lambda share, k: truncate(share.rows[k])), None
    if options.tolerance is not None:
        simplified = _neglect(derived, dict(parameters), options.tolerance, options)
        return simplified.residual, TermOrigins(derived, simplified.share_of), simplified
    return derived.residual, TermOrigins(derived), None


def _small(derived: Equations, names: str, order: int) -> Callable[[Expr], Expr]:
    """What brings a row to an order in some coordinates and their derivatives."""
    from torseur.derivation.equations.simplification import small_motion_form
    from torseur.errors import TorseurError, unknown_name

    layout = derived.layout
    given = layout.coordinate_names if names == "all" else [name.strip() for name in names.split(",")]
    for name in given:
        if name not in layout.coordinate_names:
            raise TorseurError(unknown_name("coordinate", name, layout.coordinate_names, "--small: "))
    states = (*layout.coordinates, *layout.rates, *layout.speeds, *layout.accelerations)
    chosen = [x for x in states if str(x.name).rstrip("'") in given]
    return lambda row: small_motion_form(row, chosen, order)


def _neglect(
    derived: Equations, parameters: dict[str, float], tolerance: float, options: SimplifyOptions
) -> SimplifiedEquations:
    from torseur.derivation.equations.simplification import simplify as neglect

    box = _box(derived, parameters, options, "--tolerance, --box")
    return neglect(derived, box, tolerance, method=options.method.value, hold=options.hold)


def _box(derived: Equations, parameters: dict[str, float], options: SimplifyOptions, asked: str) -> Box:
    from torseur.cli.shared.exits import CommandError
    from torseur.derivation.equations.simplification import box_of
    from torseur.errors import TorseurError

    try:
        return box_of(derived, dict(_range(text) for text in options.box or ()), parameters)
    except TorseurError as problem:
        raise CommandError(f"{asked}: {str(problem).removeprefix('box: ')}") from problem


def _range(text: str) -> tuple[str, tuple[float, float]]:
    """NAME=LOW..HIGH in SI; a unit after HIGH alone is that of both."""
    from torseur.cli.shared.exits import USAGE, CommandError
    from torseur.description.language.formulas.quantities_with_units import quantity

    name, equals, ends = text.partition("=")
    low, dots, high = ends.partition("..")
    if not equals or not dots:
        raise CommandError(f"--box {text}: expected NAME=LOW..HIGH, such as 'q1=-10 deg..10 deg'.", USAGE)
    # -10..10 deg: a bare number takes the unit of the other end.
    bare = low.strip().lstrip("-").replace(".", "", 1).isdigit()
    unit = high.strip().lstrip("-0123456789.eE ") if bare else ""
    return name.strip(), (quantity(f"{low.strip()} {unit}".strip(), name)[0], quantity(high.strip(), name)[0])


def _statements(
    derived: Equations, rows: Sequence[Expr], origins: TermOrigins, options: SimplifyOptions
) -> list[Statement]:
    from torseur.cli.shared.console import remark
    from torseur.presentation.levels.forms.simplified_statements import grouped_statements, horner_statements
    from torseur.presentation.levels.levels import residual_statements

    if options.group:
        return grouped_statements(derived, rows)
    plain = residual_statements(derived, rows, origins)
    if options.horner is None:
        return plain
    written = horner_statements(derived, rows, options.horner)
    if [one.rows for one in written] == [one.rows for one in plain]:
        remark(
            f"note: --horner {options.horner}: no two terms hold powers of it, so that the equations stay as they are."
        )
    return written


def _certificate(simplified: SimplifiedEquations) -> dict[str, object]:
    from torseur.presentation.levels.forms.simplified_statements import change_text, piece_text

    c, speeds = simplified.certificate, simplified.complete.layout.speed_names
    rows = zip(speeds, c.scales, c.bounds, c.seen, strict=True)
    keys = ("equation", "largest_term", "error_bound", "error_seen")
    return {
        "method": c.method, "proven": c.proven, "tolerance": c.tolerance, "samples": c.samples,
        "terms": len(simplified.pieces), "dropped": len(simplified.dropped), "held": len(simplified.held),
        "equations": [dict(zip(keys, row, strict=True)) for row in rows],
        "kept": [
            {"equation": speeds[piece.row], "term": piece_text(piece), "origin": piece.share.sentence,
             "bodies": piece.share.bodies, "joints": piece.share.joints}
            for piece in simplified.kept
        ],
        "changes": [
            {"equation": speeds[one.piece.row], "kind": one.kind, "term": change_text(one), "bound": one.bound,
             "origin": one.piece.share.sentence}
            for one in simplified.changes
        ],
    }  # fmt: skip


def _account(simplified: SimplifiedEquations) -> str:
    """What was dropped and held, and the error of every equation."""
    from torseur.presentation.levels.forms.simplified_statements import change_text

    c = simplified.certificate
    how = "proven by interval arithmetic" if c.proven else f"observed at {c.samples} states, widened by a quarter"
    counts = f"{len(simplified.pieces)} terms: {len(simplified.dropped)} dropped, {len(simplified.held)} held constant"
    lines = [f"(* {counts}. Errors {how}; seen at {c.samples} random states of the box: *)"]
    if simplified.complete.mechanism.states:
        lines.append("(* Equations of states stay as they are written. *)")
    rows = zip(simplified.complete.layout.speed_names, c.scales, c.bounds, c.seen, strict=True)
    lines += [
        f"(* along {name.rstrip(chr(39))}: error <= {bound:.3g} ({bound / scale if scale else 0:.2%} of the largest "
        f"term, {scale:.3g}), seen {seen:.3g} *)"
        for name, scale, bound, seen in rows
    ]
    largest = sorted(simplified.changes, key=lambda one: -one.bound)[:LISTED]
    lines += [
        f"(* {one.kind}, <= {one.bound:.3g}: {change_text(one)}    {one.piece.share.sentence} *)" for one in largest
    ]
    if len(simplified.changes) > LISTED:
        lines.append(f"(* and {len(simplified.changes) - LISTED} smaller changes; --json lists all *)")
    return "\n".join(lines)
