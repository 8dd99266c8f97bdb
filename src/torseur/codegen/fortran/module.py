"""A Fortran module with one pure subroutine per function, and one more for what depends on parameters only."""

from __future__ import annotations

import math
from dataclasses import replace

from torseur.codegen.fortran.language import FORTRAN, constants, declared, folded
from torseur.codegen.fortran.splines import spline_function
from torseur.codegen.module import Function, Module, commented, function_lines, module_lines
from torseur.codegen.names import Names, identifier, part
from torseur.codegen.straight import Chunk, Layout, Splines, layout
from torseur.graph.expr import Expr
from torseur.graph.program import Program

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
    text = [*commented(module_lines(module, FORTRAN), FORTRAN), "", *head, "contains", *body, f"end module {own}", ""]
    return {f"{own}.f90": "\n".join(text)}


def _sizes(functions: list[Function], names: Names) -> dict[str, int]:
    """How long the prepared vector of each function is, under a name of its own."""
    split = [(function.name, function.prepare) for function in functions if function.prepare is not None]
    return {names.derived(name, "_prepared_size"): len(prepare.outputs[0]) for name, prepare in split}


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
        lines = ["", *commented(function_lines(function, module, FORTRAN), FORTRAN, "  ")]
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
        calls = [line for k in range(len(plan.chunks)) for line in folded(f"{INNER}call {part(name, k)}({arguments})")]
        # Without "recursive" a compiler may give a large array a fixed place, which two threads would share.
        head = [*folded(f"  pure recursive subroutine {name}({', '.join(plan.arrays)})"), *_declarations(plan)]
        scratch = f"{INNER}real(dp) :: scratch({max(plan.slots, 1)})"
        return [*lines, *head, scratch, *calls, f"  end subroutine {name}", ""]

    def subroutine(self, plan: Layout, chunk: Chunk, name: str, slots: int | None = None) -> list[str]:
        arguments = [*plan.arrays, *(["scratch"] if slots is not None else [])]
        intent = "out" if slots is None else "inout"
        lines = [*folded(f"  pure subroutine {name}({', '.join(arguments)})"), *_declarations(plan, intent)]
        if slots is not None:
            lines.append(f"{INNER}real(dp), intent(inout) :: scratch({max(slots, 1)})")
        values = [*chunk.inputs, *chunk.restored, *chunk.operations]
        lines += declared("real(dp)", [plan.names[node] for node in values], INNER)
        for statement in self.statements(plan, chunk):
            lines += folded(f"{INNER}{statement}")
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
    subscripts = [index // math.prod(shape[k + 1 :]) % shape[k] + 1 for k in range(len(shape))]
    return f"({', '.join(str(s) for s in subscripts)})"
