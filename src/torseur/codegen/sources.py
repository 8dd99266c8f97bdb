"""Generated sources for reading or for use elsewhere, under a header that says what they compute."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.codegen.backends import target as compiled_target
from torseur.codegen.c.spelling import RESERVED
from torseur.codegen.names import Names, comment
from torseur.codegen.python.program import FUNCTIONS, program_source
from torseur.errors import UnsupportedError, unknown_name
from torseur.graph.program import Program

_COMMENTS = {"c": ("/* ", " */"), "llvm": ("; ", ""), "python": ("# ", "")}


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
