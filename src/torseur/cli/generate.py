"""`torseur generate`: functions of a mechanism as source code, or the mechanism as an FMU."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from torseur.cli.options import ForceOption, InitOption, JsonOption, SetOption, SourceArgument, ValuesOption

if TYPE_CHECKING:
    from torseur.cli.work import Work
    from torseur.codegen.module import Module
    from torseur.graph import Program

FUNCTIONS = (
    "What to write, separated by commas: inverse_dynamics, forward_dynamics, mass_matrix, bias, energies, frame:NAME, "
    "constraint_residuals, ... With /q,v their derivatives by q and v, with /q/q second ones, with /along:q,v those "
    "along a direction."
)
OPEN = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias", "energies")
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
    fmu = "fmu"


def generate(
    source: SourceArgument,
    target: Annotated[Target, typer.Option("--target", help="The language, or fmu.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder to write to.", show_default=False)],
    function: Annotated[list[str] | None, typer.Option("--function", metavar="LIST", help=FUNCTIONS)] = None,
    baked: Annotated[bool, typer.Option("--bake", help="Write the parameters' values into the code.")] = False,
    batch: Annotated[bool, typer.Option("--batch", help="With target c: functions over many states too.")] = False,
    output: Annotated[
        list[str] | None, typer.Option("--output", metavar="NAME", help="A quantity an FMU also gives. Repeatable.")
    ] = None,
    settings: SetOption = None,
    starts: InitOption = None,
    values: ValuesOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Write functions of a mechanism as source code, or the mechanism as an FMU.

    Example: torseur generate library:puma560 --function inverse_dynamics,mass_matrix --target c -o arm
    """
    from time import perf_counter

    from torseur.cli.work import Work
    from torseur.codegen.generation import generate_files

    began = perf_counter()
    work = Work.begin(source, settings, starts, None, values)
    if target is Target.fmu:
        _refuse("--target fmu is the whole mechanism", {"--function": function, "--bake": baked, "--batch": batch})
        _tell(work, target, [], [_write_fmu(work, out, output or [], force)], json)
    else:
        _refuse(f"--target {target} has no initial state and no outputs", {"--output": output, "--init": starts})
        module = _module(work, function, baked, began, target)
        written = _write_all(out, generate_files(module, target.value, batch), force)
        _tell(work, target, [_function(program) for program in module.programs], written, json)


def _refuse(reason: str, given: dict[str, object]) -> None:
    from torseur.cli.exits import USAGE, CommandError

    for option, value in given.items():
        if value:
            raise CommandError(f"{reason}: {option} does not go with it.", USAGE)


def _module(work: Work, function: list[str] | None, baked: bool, began: float, target: Target) -> Module:
    """What the user asked for; by default what every mechanism of its kind has."""
    from torseur.equations.generation import for_target, module_of

    equations = for_target(work.equations("recursive"), target.value)
    asked = function or (CONSTRAINED if equations.is_constrained else OPEN)
    return module_of(equations, ",".join(asked), dict(work.values.parameters), baked, began)


def _function(program: Program) -> dict[str, object]:
    return {
        "name": program.name,
        "operations": len(program.operations),
        "inputs": {group.name: len(group) for group in program.inputs},
        "outputs": {output.name: list(output.shape) for output in program.outputs},
    }


def _write_all(out: Path, files: dict[str, str], force: bool) -> list[str]:
    from torseur.cli.files import require_free, write_text

    for name in files:
        _make_folder((out / name).parent)
        require_free(out / name, force)
    return [str(write_text(out / name, text)) for name, text in files.items()]


def _make_folder(folder: Path) -> None:
    from torseur.cli.exits import CommandError

    if folder.exists() and not folder.is_dir():
        raise CommandError(f"'{folder}' is a file; -o names a folder.")
    folder.mkdir(parents=True, exist_ok=True)


def _write_fmu(work: Work, out: Path, outputs: list[str], force: bool) -> str:
    from torseur.cli.console import remark
    from torseur.cli.files import require_free
    from torseur.codegen.names import identifier
    from torseur.simulation.fmu import write_fmu

    path = out / f"{identifier(work.source.mechanism.name)}.fmu"
    _make_folder(out)
    require_free(path, force)
    values = work.values
    platform = write_fmu(work.equations("recursive"), path, outputs, dict(values.parameters), dict(values.initial))
    if platform is None:
        remark("note: there is no C compiler: the FMU holds no binary, only sources that the environment must compile.")
    return str(path)


def _tell(work: Work, target: Target, functions: list[dict[str, object]], written: list[str], json: bool) -> None:
    from torseur.cli.console import print_json, say

    if json:
        name = work.source.mechanism.name
        print_json({"mechanism": name, "target": target.value, "functions": functions, "written": written})
        return
    for one in functions:
        say(f"{one['name']}: {one['operations']} operations")
    for path in written:
        say(f"written: {path}")
