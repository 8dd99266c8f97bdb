"""How numbers, names and lines are written in Fortran 2008, free form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from torseur.codegen.straight import Language, one_based

LONGEST_LINE = 120  # the standard allows 132
NUMBERS_PER_STATEMENT = 250  # the standard allows 255 continuation lines; a number may take one

RESERVED = frozenset((
    "abs", "acos", "aint", "allocatable", "allocate", "and", "asin", "associate", "atan", "atan2", "backspace", "bind",
    "block", "call", "case", "character", "class", "close", "common", "complex", "contains", "continue", "cos", "cosh",
    "critical", "cycle", "data", "deallocate", "default", "dimension", "do", "dp", "double", "elemental", "else",
    "elseif", "elsewhere", "end", "enddo", "endif", "entry", "enum", "equivalence", "error", "exit", "exp", "external",
    "false", "final", "flush", "forall", "format", "function", "generic", "goto", "if", "implicit", "import", "include",
    "inquire", "integer", "intent", "interface", "intrinsic", "iso_fortran_env", "kind", "log", "logical", "max",
    "merge", "min", "module", "namelist", "none", "nullify", "only", "open", "operator", "optional", "parameter",
    "pointer", "precision", "print", "private", "procedure", "program", "protected", "public", "pure", "read", "real",
    "real64", "recursive", "result", "return", "rewind", "save", "scratch", "select", "selectcase", "sequence", "sin",
    "sinh", "size", "sqrt", "stop", "subroutine", "tan", "tanh", "target", "then", "to", "true", "type", "use", "value",
    "volatile", "wait", "where", "while", "write",
))  # fmt: skip


def literal(value: float) -> str:
    """A double precision number; negative ones in parentheses."""
    text = f"{float(value)!r}_dp"
    return text if not text.startswith("-") else f"({text})"


FORTRAN = Language("Fortran", "fortran", ("!", ""), RESERVED, literal, one_based, ignore_case=True)


def folded(line: str) -> list[str]:
    """A statement cut at spaces into lines that Fortran accepts."""
    deeper = " " * (len(line) - len(line.lstrip()) + 4)
    lines = []
    while len(line) > LONGEST_LINE:
        cut = line.rfind(" ", len(deeper), LONGEST_LINE - 2)
        lines.append(line[:cut] + " &")
        line = deeper + line[cut + 1 :]
    return [*lines, line]


def declared(kind: str, names: Sequence[str], indent: str) -> list[str]:
    """Declarations of many variables of one kind, several statements of them."""
    groups = [names[i : i + 50] for i in range(0, len(names), 50)]
    return [line for group in groups for line in folded(f"{indent}{kind} :: {', '.join(group)}")]


def constants(name: str, numbers: Sequence[float], indent: str) -> list[str]:
    """A constant array, put together from several where one statement would be too long."""
    head = f"{indent}real(dp), parameter :: "
    if len(numbers) <= NUMBERS_PER_STATEMENT:
        return folded(f"{head}{name}({len(numbers)}) = [real(dp) :: {listed(numbers)}]")
    parts = [numbers[i : i + NUMBERS_PER_STATEMENT] for i in range(0, len(numbers), NUMBERS_PER_STATEMENT)]
    lines = [line for k, part in enumerate(parts) for line in constants(f"{name}_{k + 1}", part, indent)]
    joined = ", ".join(f"{name}_{k + 1}" for k in range(len(parts)))
    return [*lines, *folded(f"{head}{name}({len(numbers)}) = [{joined}]")]


def listed(numbers: Iterable[float]) -> str:
    return ", ".join(literal(number) for number in numbers)
