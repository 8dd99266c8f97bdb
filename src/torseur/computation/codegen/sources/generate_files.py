"""Sources for use elsewhere: a module of functions in the language a user asks for, or one program for reading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from torseur.algebra.graph.program import Program
from torseur.computation.codegen.kernels.backends import target as compiled_target
from torseur.computation.codegen.sources.identifiers import Names, comment
from torseur.computation.codegen.sources.source_module import Module
from torseur.computation.codegen.targets.c.c_spelling import RESERVED
from torseur.computation.codegen.targets.python.python_program import FUNCTIONS, program_source
from torseur.errors import UnsupportedError, unknown_name

TARGETS = {
    "c": "torseur.computation.codegen.targets.c.c_module",
    "cpp": "torseur.computation.codegen.targets.cpp.cpp_module",
    "fortran": "torseur.computation.codegen.targets.fortran.fortran_module",
    "python": "torseur.computation.codegen.targets.python.python_module",
    "cuda": "torseur.computation.codegen.targets.cuda.cuda_module",
    "jax": "torseur.computation.codegen.targets.jax.jax_module",
    "controller": "torseur.computation.codegen.targets.c.c_controller",
    "matlab": "torseur.computation.codegen.targets.matlab.matlab_module",
}
"""The module that prints for each target; its `module_files` does. Imported when asked for."""

_COMMENTS = {"c": ("/* ", " */"), "llvm": ("; ", ""), "python": ("# ", "")}


def generate_files(module: Module, target: str, batch: bool = False) -> dict[str, str]:
    """The files of a target by their path in the folder they belong in. All text is ASCII.

    With `batch`, C gets functions over many states at once too.
    """
    if target not in TARGETS:
        raise UnsupportedError(unknown_name("target", target, TARGETS))
    if batch and target != "c":
        raise UnsupportedError(f"target '{target}' has no functions over batches of states; target 'c' has.")
    printer = import_module(TARGETS[target])
    print_files: Callable[[Module], dict[str, str]] = printer.module_files
    return print_files(module) | (printer.batch_files(module) if batch else {})


def generate_source(program: Program, target: str, name: str | None = None) -> str:
    """The program as a self-contained source of the target language, its function called as asked or as the program."""
    if target not in _COMMENTS:
        raise UnsupportedError(unknown_name("target", target, _COMMENTS))
    symbol = Names(RESERVED).unique(name or program.name)
    if target != "python":
        return header(target, describe(program)) + compiled_target(target).programs_source({symbol: program})
    if any(node.op == "table" for node in program.operations):
        raise UnsupportedError(
            f"program '{program.name}' reads a table, which a Python source cannot hold. Use target 'c'."
        )
    imports = f"from numpy import {', '.join(FUNCTIONS)}  # noqa: F401\n\n\n"
    return header(target, describe(program)) + imports + program_source(program, symbol)


def describe(program: Program) -> list[str]:
    """What a program computes and how much work it is, in a few lines."""
    counts = ", ".join(f"{n} {kind}" for kind, n in sorted(program.counts.items(), key=lambda item: -item[1]))
    return [
        program.name,
        f"inputs: {', '.join(f'{group.name}[{len(group)}]' for group in program.inputs)}",
        f"outputs: {', '.join(f'{output.name}{list(output.shape)}' for output in program.outputs)}",
        f"{len(program.operations)} operations: {counts}",
    ]


def header(target: str, lines: Sequence[str]) -> str:
    """The lines as comments of the target language.

    A comment in the first two lines of a Python source could declare its encoding, so they hold no names.
    """
    start, end = _COMMENTS[target]
    first = "# Generated code.\n# Arguments and results are sequences.\n" if target == "python" else ""
    return first + "".join(f"{start}{comment(line)}{end}\n" for line in lines)
