"""`torseur generate`: functions of a mechanism as source code, or the mechanism as an FMU."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from torseur.cli.shared.option_rules import Rule, option_rules
from torseur.cli.shared.options import (
    ForceOption,
    InitOption,
    JsonOption,
    SetOption,
    SourceArgument,
    ValueOptions,
    ValuesOption,
)

if TYPE_CHECKING:
    from torseur.algebra.graph import Program
    from torseur.cli.shared.prepared_model import Work
    from torseur.computation.codegen.sources.source_module import Module

FUNCTIONS = (
    "What to write, separated by commas: inverse_dynamics, forward_dynamics, mass_matrix, bias, energies, frame:NAME, "
    "constraint_residuals, ... With /q,v their derivatives by q and v, with /q/q second ones, with /along:q,v those "
    "along a direction. Laws of control: computed_torque, pd_with_gravity."
)
PLACE = "Folder to write to; with target fmu also the name of the file, NAME.fmu."
OPEN = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias", "energies")
SOURCE_SUFFIXES = (".c", ".h", ".cpp", ".hpp", ".cu", ".cuh", ".f90", ".py", ".m", ".fmu")
CONSTRAINED = ("mass_matrix", "bias", "loads", "constraint_residuals", "constraint_jacobian", "constraint_gamma")


class Target(StrEnum):
    """The language of the sources."""

    c = "c"
    cpp = "cpp"
    cuda = "cuda"
    fortran = "fortran"
    python = "python"
    jax = "jax"
    matlab = "matlab"
    controller = "controller"
    fmu = "fmu"


class GenerateOptions(NamedTuple):
    """Which functions, in which language, and with which values."""

    source: SourceArgument
    target: Annotated[
        Target,
        typer.Option(
            "--target", help="The language, controller (C99 with a fixed workspace), or fmu.", show_default=False
        ),
    ]
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help=PLACE, show_default=False)]
    function: Annotated[list[str] | None, typer.Option("--function", metavar="LIST", help=FUNCTIONS)] = None
    baked: Annotated[
        bool, typer.Option("--bake", help="Write the values of the parameters into the code as constants.")
    ] = False
    batch: Annotated[
        bool, typer.Option("--batch", help="With target c: also write functions over many states at once.")
    ] = False
    output: Annotated[
        list[str] | None, typer.Option("--output", metavar="NAME", help="Additional output of the FMU. Repeatable.")
    ] = None
    settings: SetOption = None
    starts: InitOption = None
    values: ValuesOption = None
    force: ForceOption = False
    json: JsonOption = False


@option_rules(
    Rule("--function --bake --batch", not_with="--target=fmu", why="an FMU is the whole mechanism with its parameters"),
    Rule(
        "--output --init", needs="--target=fmu", why="functions have no initial state and give what they are asked for"
    ),
    Rule("--batch", needs="--target=c", why="the other languages have loops or arrays of their own for that"),
)
def generate(options: GenerateOptions) -> None:
    """Write functions of a mechanism as source code, or the mechanism as an FMU.

    Example: torseur generate library:puma560 --function inverse_dynamics,mass_matrix --target c -o arm
    """
    from time import perf_counter

    from torseur.cli.shared.console import remark
    from torseur.cli.shared.prepared_model import Work
    from torseur.computation.codegen.sources.generate_files import generate_files

    began = perf_counter()
    target = options.target
    work = Work.begin(options.source, ValueOptions(options.settings, options.starts, values=options.values))
    if target is Target.fmu:
        functions, files = [], [_write_fmu(work, options)]
    else:
        _require_folder(options.out, target)
        module = _module(work, options)
        functions = [_function(program) for program in module.programs]
        files = _write_all(options.out, generate_files(module, target.value, options.batch), options.force)
    _tell(work, target, functions, files, options.json)
    # Beside the files and not inside them: the same mechanism gives the same bytes.
    remark(f"in {1e3 * (perf_counter() - began):.1f} ms")


def _require_folder(out: Path, target: Target) -> None:
    """Refuses the name of a source file, which would become a folder."""
    from torseur.cli.shared.exits import USAGE, CommandError

    if out.suffix in SOURCE_SUFFIXES and not out.is_dir():
        reason = f"target {target.value} writes its files into a folder"
        raise CommandError(f"--out {out}: {reason}. Give its name, such as --out {out.with_suffix('')}.", USAGE)


def _module(work: Work, options: GenerateOptions) -> Module:
    """What the user asked for; by default what every mechanism of its kind has."""
    from torseur.computation.functions.generate_sources import for_target, module_of

    equations = for_target(work.equations("recursive"), options.target.value)
    functions = options.function or (CONSTRAINED if equations.is_constrained else OPEN)
    return module_of(equations, ",".join(functions), dict(work.values.parameters), options.baked)


def _function(program: Program) -> dict[str, object]:
    return {
        "name": program.name,
        "operations": len(program.operations),
        "inputs": {group.name: len(group) for group in program.inputs},
        "outputs": {output.name: list(output.shape) for output in program.outputs},
    }


def _write_all(out: Path, files: dict[str, str], force: bool) -> list[str]:
    from torseur.cli.shared.output_files import require_free, write_text

    for name in files:
        _make_folder((out / name).parent)
        require_free(out / name, force)
    return [str(write_text(out / name, text)) for name, text in files.items()]


def _make_folder(folder: Path) -> None:
    from torseur.cli.shared.exits import CommandError

    if folder.exists() and not folder.is_dir():
        raise CommandError(f"'{folder}' is a file; -o names a folder.")
    folder.mkdir(parents=True, exist_ok=True)


def _write_fmu(work: Work, options: GenerateOptions) -> str:
    from torseur.cli.shared.console import remark
    from torseur.cli.shared.output_files import require_free
    from torseur.computation.codegen.sources.identifiers import identifier
    from torseur.computation.simulation.fmu import write_fmu

    # NAME.fmu is the file itself, as whoever types it expects; any other name is the folder it goes to.
    is_file = options.out.suffix == ".fmu" and not options.out.is_dir()
    path = options.out if is_file else options.out / f"{identifier(work.source.mechanism.name)}.fmu"
    _make_folder(path.parent)
    require_free(path, options.force)
    values = work.values
    equations, outputs = work.equations("recursive"), options.output or []
    platform = write_fmu(equations, path, outputs, dict(values.parameters), dict(values.initial)).platform
    if platform is None:
        remark("note: there is no C compiler: the FMU holds no binary, only sources that the environment must compile.")
    return str(path)


def _tell(work: Work, target: Target, functions: list[dict[str, object]], files: list[str], json: bool) -> None:
    from torseur.cli.shared.console import print_json, say

    if json:
        name = work.source.mechanism.name
        print_json({"mechanism": name, "target": target.value, "functions": functions, "written": files})
        return
    for one in functions:
        say(f"{one['name']}: {one['operations']} operations")
    for path in files:
        say(f"written: {path}")
