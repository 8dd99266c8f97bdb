"""A Fortran module with one pure subroutine per function, and one more for what depends on parameters only."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from torseur.algebra.graph.expr import Expr
from torseur.algebra.graph.program import Program
from torseur.computation.codegen.sources.identifiers import Names, identifier, part
from torseur.computation.codegen.sources.source_module import (
    Function,
    Module,
    comment_lines,
    function_lines,
    module_lines,
)
from torseur.computation.codegen.straight_line import Chunk, Language, Layout, Spline, Splines, layout, one_based

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


def fold_line(line: str) -> list[str]:
    """A statement cut at spaces into lines that Fortran accepts."""
    deeper = " " * (len(line) - len(line.lstrip()) + 4)
    lines = []
    while len(line) > LONGEST_LINE:
        cut = line.rfind(" ", len(deeper), LONGEST_LINE - 2)
        lines.append(line[:cut] + " &")
        line = deeper + line[cut + 1 :]
    return [*lines, line]


def declarations(kind: str, names: Sequence[str], indent: str) -> list[str]:
    """Declarations of many variables of one kind, several statements of them."""
    groups = [names[i : i + 50] for i in range(0, len(names), 50)]
    return [line for group in groups for line in fold_line(f"{indent}{kind} :: {', '.join(group)}")]


def constants(name: str, numbers: Sequence[float], indent: str) -> list[str]:
    """A constant array, put together from several where one statement would be too long."""
    head = f"{indent}real(dp), parameter :: "
    if len(numbers) <= NUMBERS_PER_STATEMENT:
        return fold_line(f"{head}{name}({len(numbers)}) = [real(dp) :: {literals(numbers)}]")
    parts = [numbers[i : i + NUMBERS_PER_STATEMENT] for i in range(0, len(numbers), NUMBERS_PER_STATEMENT)]
    lines = [line for k, part in enumerate(parts) for line in constants(f"{name}_{k + 1}", part, indent)]
    joined = ", ".join(f"{name}_{k + 1}" for k in range(len(parts)))
    return [*lines, *fold_line(f"{head}{name}({len(numbers)}) = [{joined}]")]


def literals(numbers: Iterable[float]) -> str:
    return ", ".join(literal(number) for number in numbers)


_BODY = """\
    integer :: low, high, middle, power
    low = 1
    high = {intervals} + 1
    do while (high - low > 1)
      middle = (low + high) / 2
      if (x >= knots(middle)) then
        low = middle
      else
        high = middle
      end if
    end do
    y = coefficients({columns} * low)
    do power = {columns} - 1, 1, -1
      y = y * (x - knots(low)) + coefficients({columns} * (low - 1) + power)
    end do"""


def spline_function(name: str, spline: Spline) -> list[str]:
    """A pure function of one number."""
    return [
        f"  pure function {name}(x) result(y)",
        "    real(dp), intent(in) :: x",
        "    real(dp) :: y",
        *constants("knots", spline.knots, "    "),
        *constants("coefficients", spline.flat, "    "),
        _BODY.format(intervals=spline.intervals, columns=spline.columns),
        f"  end function {name}",
    ]


INNER = "    "


def module_files(module: Module) -> dict[str, str]:
    """NAME.f90."""
    names = Names(FORTRAN.reserved, ignore_case=True)
    own = names.unique(module.name)
    functions = module.functions(names, split=True)
    splines = Splines.of(module.programs, names)
    values, sizes = names.unique("parameters"), _sizes(functions, names)
    exported = [*(name for function in functions for name, _ in function.parts), *sizes]
    printer = _Printer(splines, frozenset((*FORTRAN.reserved, own, values, *splines.names.values(), *exported)))
    head = [f"module {own}", "  use, intrinsic :: iso_fortran_env, only: dp => real64", "  implicit none", "  private"]
    head += [f"  public :: {name}" for name in exported]
    head += [f"  integer, parameter :: {name} = {size}" for name, size in sizes.items()]
    head += _values(values, module)
    body = [line for function in functions for line in printer.function(function, module)]
    for name, spline in splines.items():
        body += ["", *spline_function(name, spline)]
    text = [
        *comment_lines(module_lines(module, FORTRAN), FORTRAN),
        "",
        *head,
        "contains",
        *body,
        f"end module {own}",
        "",
    ]
    return {f"{own}.f90": "\n".join(text)}


def _sizes(functions: list[Function], names: Names) -> dict[str, int]:
    """How long the prepared vector of each function is, under a name of its own."""
    split = [(function.name, function.prepare) for function in functions if function.prepare is not None]
    return {names.with_suffix(name, "_prepared_size"): len(prepare.outputs[0]) for name, prepare in split}


def _values(name: str, module: Module) -> list[str]:
    """The parameters' values as a constant, where the description gives all of them."""
    numbers = [value for value in module.values if value is not None]
    if not numbers or len(numbers) < len(module.values):
        return []
    return [f"  public :: {name}", *constants(name, numbers, "  ")]


class _Printer:
    """Prints functions; `taken` are the names that no value may have."""

    def __init__(self, splines: Splines, taken: frozenset[str]) -> None:
        self.splines = splines
        self.taken = taken

    def function(self, function: Function, module: Module) -> list[str]:
        """A subroutine, its preparation before it, under a description."""
        lines = ["", *comment_lines(function_lines(function, module, FORTRAN), FORTRAN, "  ")]
        for name, program in function.parts:
            lines += self.subroutines(name, _with_other_outputs(program, name))
        return lines[:-1]

    def subroutines(self, name: str, program: Program) -> list[str]:
        """One subroutine, or several over a scratch array with one that calls them."""
        plan = layout(program, self.taken, ignore_case=True)
        if len(plan.chunks) == 1:
            return self.subroutine(plan, plan.chunks[0], name)
        lines: list[str] = []
        for k, chunk in enumerate(plan.chunks):
            lines += self.subroutine(plan, chunk, part(name, k), plan.slots)
        arguments = ", ".join([*plan.arrays, "scratch"])
        calls = [
            line for k in range(len(plan.chunks)) for line in fold_line(f"{INNER}call {part(name, k)}({arguments})")
        ]
        # Without "recursive" a compiler may give a large array a fixed place, which two threads would share.
        head = [*fold_line(f"  pure recursive subroutine {name}({', '.join(plan.arrays)})"), *_declarations(plan)]
        scratch = f"{INNER}real(dp) :: scratch({max(plan.slots, 1)})"
        return [*lines, *head, scratch, *calls, f"  end subroutine {name}", ""]

    def subroutine(self, plan: Layout, chunk: Chunk, name: str, slots: int | None = None) -> list[str]:
        arguments = [*plan.arrays, *(["scratch"] if slots is not None else [])]
        intent = "out" if slots is None else "inout"
        lines = [*fold_line(f"  pure subroutine {name}({', '.join(arguments)})"), *_declarations(plan, intent)]
        if slots is not None:
            lines.append(f"{INNER}real(dp), intent(inout) :: scratch({max(slots, 1)})")
        values = [*chunk.inputs, *chunk.restored, *chunk.operations]
        lines += declarations("real(dp)", [plan.names[node] for node in values], INNER)
        for statement in self.statements(plan, chunk):
            lines += fold_line(f"{INNER}{statement}")
        return [*lines, f"  end subroutine {name}", ""]

    def statements(self, plan: Layout, chunk: Chunk) -> list[str]:
        names = plan.names
        lines = [f"{names[node]} = {plan.arrays[i]}({j + 1})" for node, (i, j) in chunk.inputs.items()]
        lines += [f"{names[node]} = scratch({slot + 1})" for node, slot in chunk.restored.items()]
        for node in chunk.operations:
            lines.append(f"{names[node]} = {self.operation(node, names)}")
            if node in chunk.saved:
                lines.append(f"scratch({chunk.saved[node] + 1}) = {names[node]}")
        results = plan.arrays[len(plan.program.inputs) :]
        for node, places in chunk.results.items():
            for i, j in places:
                place = _place(plan.program.outputs[i].shape, j)
                lines.append(f"{results[i]}{place} = {FORTRAN.reference(node, names)}")
        return lines

    def operation(self, node: Expr, names: dict[Expr, str]) -> str:
        """The operation; a whole power is an integer, because a real one needs a positive base."""
        if node.op == "pow" and isinstance(node.args[1].data, int) and abs(node.args[1].data) < 1 << 31:
            exponent = node.args[1].data
            return f"({FORTRAN.reference(node.args[0], names)}) ** {exponent if exponent >= 0 else f'({exponent})'}"
        return FORTRAN.operation(node, names, self.splines)


def _with_other_outputs(program: Program, name: str) -> Program:
    """The program with no output called as its subroutine, which Fortran forbids."""
    renamed = [replace(o, name=f"{o.name}_value") if identifier(o.name) == name else o for o in program.outputs]
    return replace(program, outputs=tuple(renamed))


def _declarations(plan: Layout, intent: str = "out") -> list[str]:
    """The arguments: vectors, and results in their own shape."""
    inputs, outputs = plan.program.inputs, plan.program.outputs
    lines = [f"{INNER}real(dp), intent(in) :: {a}({len(g)})" for a, g in zip(plan.arrays, inputs, strict=False)]
    for array, output in zip(plan.arrays[len(inputs) :], outputs, strict=True):
        shape = f"({', '.join(str(n) for n in output.shape)})" if output.shape else ""
        lines.append(f"{INNER}real(dp), intent({intent}) :: {array}{shape}")
    return lines


def _place(shape: tuple[int, ...], index: int) -> str:
    """The subscripts of an entry counted in row-major order."""
    if not shape:
        return ""
    # Only the place in memory is Fortran's (first index fastest): subscripts mean what they mean in Python.
    subscripts = [index // math.prod(shape[k + 1 :]) % shape[k] + 1 for k in range(len(shape))]
    return f"({', '.join(str(s) for s in subscripts)})"
