"""`torseur equations`: the equations of motion, to read or to copy."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from torseur.cli.shared.option_rules import Rule, force_needs, option_rules
from torseur.cli.shared.options import ForceOption, FormalismOption, JsonOption, SourceArgument
from torseur.cli.shared.robot_options import RobotOptions, SymbolicOption, with_robot_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torseur.derivation.equations import Equations
    from torseur.presentation.levels.statement import Statement

LEVELS = (
    "intrinsic: forces and accelerations as vectors; recursive: named intermediates in order; "
    "matrix: M v' + b = Q, the default; scalar: one equation per speed."
)
FORMAT = "Output format: latex is a fragment to paste, tex a whole document; docx needs --out."
STEPS = "Intrinsic level: how far accelerations are expanded, 0 (defined below) to 3 (in rates of coordinates)."


COLLECT = "Scalar level: collect by accelerations and products of speeds, in the most factored form."
DEPTH = "Replace parts below this depth by names, defined in a table underneath: 0 sides, 1 terms, 2 factors, ..."
SIZE = "Replace parts with more than this many symbols by names."
PART = "Give a part a name, e.g. 'A=m2*l2^2'. Repeatable."
OPEN = "Write the part of this name out, e.g. P3. Repeatable."
ELIMINATE = "Scalar level: eliminate the multipliers; the equations are in the independent speeds."
SOLVE = "Scalar level: eliminate the multipliers and solve for the accelerations."
INDEPENDENT = "With --eliminate, --solve or --linear: speeds to keep as independent, e.g. \"phi',x'\"."
LINEAR = "The equations of small motions about a steady state, multipliers eliminated."
ABOUT = "With --linear: a coordinate or speed of that state, e.g. 'theta=pi' or \"x'=v\". Repeatable."
ENERGY = "Print the kinetic energy instead, as a sum of squares."
SENSITIVITY = "Write the sensitivity system of the motion instead: direct (tangent) or adjoint."
CRITERION = "With --sensitivity: the formula whose derivatives are wanted; the adjoint system needs one."
KIND = "What the criterion is: value, integral, maximum, minimum, event or 'event time' (with --when)."
PARAMETERS = "With --sensitivity: m1, q1(0), arm.mass, l=l1+r2; by default all parameters."


class Level(StrEnum):
    """How far the equations are expanded."""

    intrinsic = "intrinsic"
    recursive = "recursive"
    matrix = "matrix"
    scalar = "scalar"


class SensitivityMethod(StrEnum):
    """Which system of a sensitivity study."""

    direct = "direct"
    adjoint = "adjoint"


class Format(StrEnum):
    """How they are written."""

    text = "text"
    latex = "latex"
    tex = "tex"
    mathml = "mathml"
    sympy = "sympy"
    omml = "omml"
    docx = "docx"


class EquationsOptions(NamedTuple):
    """Which equations, at which level of detail, how folded, and how written."""

    source: SourceArgument
    level: Annotated[Level | None, typer.Option("--level", help=LEVELS, show_default=False)] = None
    form: Annotated[Format, typer.Option("--format", help=FORMAT)] = Format.text
    formalism: FormalismOption = "recursive"
    symbolic: SymbolicOption = None
    collect: Annotated[bool, typer.Option("--collect", help=COLLECT)] = False
    eliminate: Annotated[bool, typer.Option("--eliminate", help=ELIMINATE)] = False
    solve: Annotated[bool, typer.Option("--solve", help=SOLVE)] = False
    linear: Annotated[bool, typer.Option("--linear", help=LINEAR)] = False
    about: Annotated[list[str] | None, typer.Option("--about", metavar="NAME=FORMULA", help=ABOUT)] = None
    independent: Annotated[str | None, typer.Option("--independent", metavar="SPEEDS", help=INDEPENDENT)] = None
    kinetic_energy: Annotated[bool, typer.Option("--kinetic-energy", help=ENERGY)] = False
    sensitivity: Annotated[SensitivityMethod | None, typer.Option("--sensitivity", help=SENSITIVITY)] = None
    parameters: Annotated[str | None, typer.Option("--parameters", metavar="A,B", help=PARAMETERS)] = None
    criterion: Annotated[str | None, typer.Option("--criterion", metavar="EXPR", help=CRITERION)] = None
    kind: Annotated[str, typer.Option("--kind", metavar="KIND", help=KIND)] = "value"
    when: Annotated[str, typer.Option("--when", metavar="EXPR", help="Formula that is zero at the event.")] = ""
    second_order: Annotated[
        bool, typer.Option("--second-order", help="With --sensitivity: second derivatives as well.")
    ] = False
    steps: Annotated[int, typer.Option("--steps", min=0, max=3, help=STEPS)] = 0
    depth: Annotated[int | None, typer.Option("--fold", metavar="DEPTH", min=0, help=DEPTH)] = None
    size: Annotated[int | None, typer.Option("--fold-size", metavar="N", min=2, help=SIZE)] = None
    parts: Annotated[list[str] | None, typer.Option("--fold-as", metavar="NAME=PART", help=PART)] = None
    opened: Annotated[list[str] | None, typer.Option("--open", metavar="NAME", help=OPEN)] = None
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the result to a file.")] = None
    force: ForceOption = False
    json: JsonOption = False

    @property
    def detail(self) -> str:
        """The level that is written."""
        scalar = self.collect or self.eliminate or self.solve or self.linear
        return self.level.value if self.level is not None else "scalar" if scalar else "matrix"


@option_rules(
    Rule("--collect", not_with="--level=intrinsic --level=recursive --level=matrix --kinetic-energy",
         why="it collects the terms of the scalar equations"),
    Rule("--eliminate --solve",
         not_with="--level=intrinsic --level=recursive --level=matrix --kinetic-energy --collect",
         why="multipliers are eliminated from the scalar equations"),
    Rule("--solve", not_with="--eliminate", why="what is solved for the accelerations has no multipliers either"),
    Rule("--linear", not_with="--level=intrinsic --level=recursive --kinetic-energy --collect --eliminate --solve",
         why="the equations of small motions are written one by one or as matrices"),
    Rule("--about", needs="--linear", why="it says which state is linearised about"),
    Rule("--independent", needs="--eliminate --solve --linear", why="it chooses the independent speeds"),
    Rule("--level --formalism", not_with="--kinetic-energy",
         why="the kinetic energy has no levels and is the same by every formalism"),
    Rule("--parameters --criterion --second-order", needs="--sensitivity", why="it belongs to a sensitivity study"),
    Rule("--kind --when", needs="--criterion", why="it says what kind of criterion the formula is"),
    Rule("--sensitivity", not_with="--collect --eliminate --solve --kinetic-energy --steps",
         why="the derivatives of a motion obey a system of their own"),
    Rule("--steps", needs="--level=intrinsic", why="accelerations are expanded in steps where they are vectors"),
    Rule("--open", needs="--fold --fold-size", why="it leaves open a part that folding would name"),
    force_needs("--out"),
)  # fmt: skip
def equations(options: EquationsOptions) -> None:
    """Write the equations of motion M v' + b = Q, or their direct or adjoint sensitivity equations.

    Example: torseur equations library:double_pendulum --level scalar --format latex
    """
    from torseur.cli.shared.console import remark, working
    from torseur.cli.shared.output_files import require_free
    from torseur.cli.shared.prepared_model import Work
    from torseur.presentation.levels.levels import size_note
    from torseur.presentation.levels.write_equations import write_statements

    form, out = options.form, options.out
    require_place(form, out)
    if out is not None:
        require_free(out, options.force)
    work = Work.begin(with_robot_options(options.source, RobotOptions(symbolic=options.symbolic)))
    with working(f"{work.source.mechanism.name}: equations", quiet=options.json):
        derived = work.equations(options.formalism)
        unfolded = _statements(derived, options)
        note = "" if options.linear else size_note(unfolded)  # coefficients have names there however short
        statements = _fold(derived, unfolded, options)
        text = "" if form is Format.docx else write_statements(derived, statements, form.value)
    if note and not options.json:
        remark(f"note: {note}")
    if out is not None:
        write_file(out, form, text, derived, statements)
    _tell(options, derived, statements, text, note)


def _statements(derived: Equations, options: EquationsOptions) -> list[Statement]:
    from torseur.presentation.levels.forms.collected_form import collected_statements
    from torseur.presentation.levels.forms.energy_squares import kinetic_energy_statements
    from torseur.presentation.levels.levels import statements

    if options.sensitivity is not None:
        return _sensitivity(derived, options)
    kept = [name.strip() for name in (options.independent or "").split(",") if name.strip()]
    if options.linear:
        from torseur.cli.shared.value_options import state_formulas
        from torseur.presentation.levels.forms.simplified_statements import linear_statements

        about = state_formulas(derived.mechanism, "--about", options.about)
        return linear_statements(derived.linearised(about, kept), options.detail)
    if options.eliminate or options.solve:
        from torseur.presentation.levels.forms.reduced_form import reduced_statements

        return reduced_statements(derived, kept, options.solve)
    if options.kinetic_energy:
        return kinetic_energy_statements(derived)
    return collected_statements(derived) if options.collect else statements(derived, options.detail, options.steps)


def _sensitivity(derived: Equations, options: EquationsOptions) -> list[Statement]:
    """The direct or the adjoint system of a study."""
    from torseur.analysis.sensitivity.model.sensitivity_equations import sensitivity_equations
    from torseur.computation.simulation.model.criterion import Criterion
    from torseur.presentation.levels.forms.sensitivity_form import sensitivity_statements

    assert options.sensitivity is not None
    wanted = None if options.criterion is None else Criterion(options.criterion, options.kind, when=options.when)
    system = sensitivity_equations(derived, options.parameters, wanted)
    return sensitivity_statements(system, options.sensitivity.value, options.detail, options.second_order)


def _fold(derived: Equations, statements: list[Statement], options: EquationsOptions) -> list[Statement]:
    """The statements with parts written by names, where that is asked for."""
    from torseur.cli.shared.console import remark
    from torseur.cli.shared.exits import CommandError
    from torseur.errors import TorseurError
    from torseur.presentation.levels.folding import Fold, fold_parts, require_foldable
    from torseur.presentation.levels.term_origins import PartOrigins

    if options.depth is None and options.size is None and not options.parts and not options.opened:
        return statements
    require_foldable(options.detail, options.form.value)
    fold = Fold(options.depth, options.size, _names_of_parts(options.parts or []), tuple(options.opened or ()))
    try:
        folded = fold_parts(statements, fold, PartOrigins(derived))
    except TorseurError as problem:
        raise CommandError(f"--fold-as, --open: {str(problem).removeprefix('fold: ')}") from problem
    if len(folded) == len(statements):
        remark("note: no part is that deep or that large; nothing is written by a name.")
    return folded


def _names_of_parts(parts: Sequence[str]) -> dict[str, str]:
    """NAME=PART by name."""
    from torseur.cli.shared.exits import USAGE, CommandError

    named = {}
    for text in parts:
        name, equals, part = (piece.strip() for piece in text.partition("="))
        if not (name and equals and part):
            raise CommandError(f"--fold-as {text}: expected NAME=PART, such as 'A=m2*l2^2'.", USAGE)
        named[name] = part
    return named


def _tell(
    options: EquationsOptions, derived: Equations, statements: Sequence[Statement], text: str, note: str | None
) -> None:
    from torseur.cli.shared.console import print_json, say
    from torseur.presentation.levels.write_equations import document

    out, form = options.out, options.form.value
    if not options.json:
        say(f"written: {out}" if out is not None else text)
        return
    print_json({
        "mechanism": derived.mechanism.name, "formalism": options.formalism, "level": options.detail,
        "format": form, "speeds": derived.layout.speed_names, "equations": [document(s, form) for s in statements],
        "size": note, "written": None if out is None else str(out),
    })  # fmt: skip


def require_place(form: Format, out: Path | None) -> None:
    from torseur.cli.shared.exits import USAGE, CommandError

    if form is Format.docx and out is None:
        raise CommandError("--format docx is a file: say where with --out equations.docx.", USAGE)
    if out is not None and (out.suffix == ".docx") != (form is Format.docx):
        expected = "expected a name that ends in .docx" if form is Format.docx else "add --format docx for a Word file"
        raise CommandError(f"--format {form.value} --out {out}: {expected}.", USAGE)


def write_file(out: Path, form: Format, text: str, derived: Equations, statements: Sequence[Statement]) -> None:
    from torseur.cli.shared.output_files import write_text
    from torseur.presentation.levels.write_equations import write_word

    if form is Format.docx:
        mechanism = derived.mechanism
        write_word(out, mechanism.meaning or mechanism.name, statements)
    else:
        write_text(out, text)
