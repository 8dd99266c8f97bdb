"""`torseur simplify`: equations with fewer terms, and what that costs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from torseur.cli.equations import Format
from torseur.cli.options import ForceOption, FormalismOption, JsonOption, SetOption, SourceArgument, ValuesOption

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torseur.equations import Equations
    from torseur.equations.simplification import Simplified
    from torseur.graph import Expr
    from torseur.report.levels.statement import Statement
    from torseur.report.levels.term_origins import TermOrigins

LISTED = 12  # changes printed; --json has all
BOX = (
    "Range of a state, 'q1=-10 deg..10 deg', or of all states of a kind: angles, angular_speeds, "
    "angular_accelerations, lengths, velocities, accelerations. Repeatable."
)


class Method(StrEnum):
    """How an error is bounded."""

    interval = "interval"
    sampling = "sampling"


def simplify(
    source: SourceArgument,
    tolerance: Annotated[
        float | None,
        typer.Option("--tolerance", help="Drop terms that together stay below this fraction of the largest one."),
    ] = None,
    box: Annotated[list[str] | None, typer.Option("--box", metavar="NAME=LOW..HIGH", help=BOX)] = None,
    method: Annotated[Method, typer.Option("--method", help="Proof by intervals, or observation.")] = Method.interval,
    hold: Annotated[bool, typer.Option("--hold/--no-hold", help="Hold factors constant that hardly vary.")] = True,
    small: Annotated[
        str | None, typer.Option("--small", metavar="NAMES", help="Coordinates that are small, e.g. q1,q2, or all.")
    ] = None,
    order: Annotated[int, typer.Option("--order", help="Order kept in small quantities.")] = 1,
    group: Annotated[bool, typer.Option("--group", help="Group parameters, with their definitions.")] = False,
    horner: Annotated[
        str | None, typer.Option("--horner", metavar="X", help="By powers of a quantity, e.g. q1' or 'cos(q2)'.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How they are written; docx needs --out.")] = Format.text,
    formalism: FormalismOption = "recursive",
    settings: SetOption = None,
    values: ValuesOption = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write them to a file.")] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """The equations of motion with fewer terms: neglected with a certified error, small motions, grouped parameters.

    Example: torseur simplify library:double_pendulum --small q1,q2
    """
    from torseur.cli.console import print_json, say, working
    from torseur.cli.equations import require_place, write_statements
    from torseur.cli.files import require_free
    from torseur.cli.work import Work
    from torseur.report.levels.term_origins import TermOrigins
    from torseur.report.levels.writing import document, written

    require_place(form, out)
    _require_consistent(tolerance, box, small)
    if out is not None:
        require_free(out, force)
    work = Work.begin(source, settings, None, None, values)
    with working(f"{work.source.mechanism.name}: simplify", quiet=json):
        derived = work.equations(formalism)
        rows: Sequence[Expr] = derived.residual
        found, origins = None, TermOrigins(derived)
        if small is not None:
            change = _small(derived, small, order)
            rows, origins = [change(row) for row in rows], TermOrigins(derived, lambda share, k: change(share.rows[k]))
        if tolerance is not None:
            found = _neglected(derived, dict(work.values.parameters), box or [], (tolerance, method.value, hold))
            rows, origins = found.residual, TermOrigins(derived, found.share_of)
        listed = _statements(derived, rows, origins, group, horner)
        text = "" if form is Format.docx else written(derived, listed, form.value)
    if out is not None:
        write_statements(out, form, text, derived, listed)
    if json:
        print_json({
            "mechanism": derived.mechanism.name, "equations": [document(s, form.value) for s in listed],
            "certificate": None if found is None else _certificate(found), "written": None if out is None else str(out),
        })  # fmt: skip
        return
    if found is not None:
        say(_account(found))
    say(f"written: {out}" if out is not None else text)


def _require_consistent(tolerance: float | None, box: list[str] | None, small: str | None) -> None:
    from torseur.cli.exits import USAGE, CommandError

    if tolerance is None and box:
        raise CommandError("--box goes with --tolerance, which says how much may be neglected in it.", USAGE)
    if tolerance is not None and small is not None:
        raise CommandError("--small has no certificate; give either --small or --tolerance with a box.", USAGE)


def _small(derived: Equations, names: str, order: int) -> Callable[[Expr], Expr]:
    """What brings a row to an order in some coordinates and their derivatives."""
    from torseur.equations.simplification import small_motion_form
    from torseur.errors import TorseurError, unknown_name

    layout = derived.layout
    given = layout.coordinate_names if names == "all" else [name.strip() for name in names.split(",")]
    for name in given:
        if name not in layout.coordinate_names:
            raise TorseurError(unknown_name("coordinate", name, layout.coordinate_names, "--small: "))
    states = (*layout.coordinates, *layout.rates, *layout.speeds, *layout.accelerations)
    chosen = [x for x in states if str(x.name).rstrip("'") in given]
    return lambda row: small_motion_form(row, chosen, order)


def _neglected(
    derived: Equations, parameters: dict[str, float], box: Iterable[str], how: tuple[float, str, bool]
) -> Simplified:
    from torseur.equations.simplification import box_of
    from torseur.equations.simplification import simplify as neglect

    tolerance, method, hold = how
    ranges = dict(_range(text) for text in box)
    return neglect(derived, box_of(derived, ranges, parameters), tolerance, method=method, hold=hold)


def _range(text: str) -> tuple[str, tuple[float, float]]:
    """NAME=LOW..HIGH in SI; a unit after HIGH alone is that of both."""
    from torseur.cli.exits import USAGE, CommandError
    from torseur.language.quantities import quantity

    name, equals, ends = text.partition("=")
    low, dots, high = ends.partition("..")
    if not equals or not dots:
        raise CommandError(f"--box {text}: expected NAME=LOW..HIGH, such as 'q1=-10 deg..10 deg'.", USAGE)
    bare = low.strip().lstrip("-").replace(".", "", 1).isdigit()
    unit = high.strip().lstrip("-0123456789.eE ") if bare else ""
    return name.strip(), (quantity(f"{low.strip()} {unit}".strip(), name)[0], quantity(high.strip(), name)[0])


def _statements(
    derived: Equations, rows: Sequence[Expr], origins: TermOrigins, group: bool, horner: str | None
) -> list[Statement]:
    from torseur.report.levels.levels import residual_statements
    from torseur.report.levels.simplified import grouped_statements, horner_statements

    if horner is not None:
        return horner_statements(derived, rows, horner)
    return grouped_statements(derived, rows) if group else residual_statements(derived, rows, origins)


def _certificate(found: Simplified) -> dict[str, object]:
    from torseur.report.levels.simplified import change_text, piece_text

    c, speeds = found.certificate, found.equations.layout.speed_names
    rows = zip(speeds, c.scales, c.bounds, c.seen, strict=True)
    keys = ("equation", "largest_term", "error_bound", "error_seen")
    return {
        "method": c.method, "proven": c.proven, "tolerance": c.tolerance, "samples": c.samples,
        "terms": len(found.pieces), "dropped": len(found.dropped), "held": len(found.held),
        "equations": [dict(zip(keys, row, strict=True)) for row in rows],
        "kept": [
            {"equation": speeds[piece.row], "term": piece_text(piece), "origin": piece.share.sentence,
             "bodies": piece.share.bodies, "joints": piece.share.joints}
            for piece in found.kept
        ],
        "changes": [
            {"equation": speeds[one.piece.row], "kind": one.kind, "term": change_text(one), "bound": one.bound,
             "origin": one.piece.share.sentence}
            for one in found.changes
        ],
    }  # fmt: skip


def _account(found: Simplified) -> str:
    """What was dropped and held, and the error of every equation."""
    from torseur.report.levels.simplified import change_text

    c = found.certificate
    how = "proven by interval arithmetic" if c.proven else f"observed at {c.samples} states, widened by a quarter"
    counts = f"{len(found.pieces)} terms: {len(found.dropped)} dropped, {len(found.held)} held constant"
    lines = [f"(* {counts}. Errors {how}; seen at {c.samples} random states of the box: *)"]
    rows = zip(found.equations.layout.speed_names, c.scales, c.bounds, c.seen, strict=True)
    lines += [
        f"(* along {name.rstrip(chr(39))}: error <= {bound:.3g} ({bound / scale if scale else 0:.2%} of the largest "
        f"term, {scale:.3g}), seen {seen:.3g} *)"
        for name, scale, bound, seen in rows
    ]
    largest = sorted(found.changes, key=lambda one: -one.bound)[:LISTED]
    lines += [
        f"(* {one.kind}, <= {one.bound:.3g}: {change_text(one)}    {one.piece.share.sentence} *)" for one in largest
    ]
    if len(found.changes) > LISTED:
        lines.append(f"(* and {len(found.changes) - LISTED} smaller changes; --json lists all *)")
    return "\n".join(lines)
