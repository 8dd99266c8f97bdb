"""C99 for controllers: one function per program over a workspace of fixed size, in any precision, with its example.

The code is a straight line: every call does the same operations, which the header counts, without loops, allocation or
state. Intermediate values live in the workspace that the caller gives, in as few places as their order allows, so that
neither stack nor heap grows. The type is chosen when it is compiled (-DNAME_REAL=float).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.algebra.graph.expr import Expr
from torseur.algebra.graph.program import Input, Output, Program
from torseur.computation.codegen.sources.identifiers import Names
from torseur.computation.codegen.sources.source_module import Function, Module, comment_lines, module_lines, work
from torseur.computation.codegen.straight_line import (
    Language,
    Splines,
    array_names,
    fewest_live,
    result_orders,
    zero_based,
)
from torseur.computation.codegen.targets.c.c_spelling import RESERVED, double
from torseur.errors import UnsupportedError

WORK = "work"
ROOM = RESERVED | frozenset({WORK, "real", "I"})


def _literal(value: float) -> str:
    """A number in the controller's own precision."""
    return f"R({double(value)})"


C = Language("C99, for controllers,", "c", ("/*", "*/"), ROOM, _literal, zero_based)
NO_TABLES = Splines({})

_HEADER = """\
#ifndef TORSEUR_{GUARD}_H
#define TORSEUR_{GUARD}_H

/* The type of all numbers: -D{GUARD}_REAL=float for a processor with single precision only. */
#ifndef {GUARD}_REAL
#define {GUARD}_REAL double
#endif
typedef {GUARD}_REAL {own}_real;

{sizes}
#ifdef __cplusplus
extern "C" {{
#endif
{prototypes}
#ifdef __cplusplus
}}
#endif

#endif
"""

_EXAMPLE = """\
/* {what} */
#include "{own}.h"
{extra}
/* All memory there is: nothing is allocated. */
static {own}_real {work}[{size}];
{arrays}

{body}
"""

_CMAKE = """\
cmake_minimum_required(VERSION 3.16)
project({own} C)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_STANDARD_REQUIRED ON)

add_library({own} {own}.c)
target_include_directories({own} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
target_link_libraries({own} PUBLIC m)

add_executable({own}_example example.c)
target_link_libraries({own}_example PRIVATE {own})

# What a microcontroller takes: single precision throughout, here compiled to objects that its own main links.
add_library({own}_microcontroller OBJECT {own}.c microcontroller.c)
target_compile_definitions({own}_microcontroller PRIVATE {GUARD}_REAL=float)
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options({own}_microcontroller PRIVATE -Os -Wdouble-promotion)
endif()
"""


def module_files(module: Module) -> dict[str, str]:
    """NAME.h, NAME.c, example.c, microcontroller.c and CMakeLists.txt."""
    for program in module.programs:
        if program.tables:
            raise UnsupportedError(
                f"{program.name} looks up a table, whose search takes longer for some states than for others. "
                "Target 'c' writes it."
            )
    own = Names(ROOM).unique(module.name)
    names = Names(ROOM, prefix=f"{own}_")
    functions = module.functions(names, split=True)
    routines = [_routine(name, program) for function in functions for name, program in function.parts]
    heading = "\n".join(comment_lines(module_lines(module, C), C))
    sizes, prototypes = _declarations(own, functions, routines)
    header = _HEADER.format(own=own, GUARD=own.upper(), sizes=sizes, prototypes=prototypes)
    head = [heading, "#include <tgmath.h>", "", f'#include "{own}.h"', "", f"#define R(number) (({own}_real)(number))"]
    body = [_function_text(routine, own) for routine in routines]
    return {
        f"{own}.h": f"{heading}\n{header}",
        f"{own}.c": "\n".join([*head, "", *body]),
        "example.c": _example(own, functions, routines, module),
        "microcontroller.c": _microcontroller(own, functions, routines, module),
        "CMakeLists.txt": _CMAKE.format(own=own, GUARD=own.upper()),
    }


@dataclass(frozen=True)
class Routine:
    """A program as statements over a workspace of `size` places."""

    name: str
    program: Program
    arrays: tuple[str, ...]
    lines: tuple[str, ...]
    size: int

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """(const or nothing, array) for inputs, then results."""
        given = len(self.program.inputs)
        return [("const " if i < given else "", array) for i, array in enumerate(self.arrays)]


def _routine(name: str, program: Program) -> Routine:
    """Operations in the order in which fewest values live, each in the place that became free last."""
    arrays = tuple(array_names(program, Names(ROOM)))
    order = fewest_live(program.operations, *result_orders(program))
    names = {node: f"{arrays[i]}[{j}]" for i, group in enumerate(program.inputs) for j, node in enumerate(group.nodes)}
    results: dict[Expr, list[str]] = {}
    for array, output in zip(arrays[len(program.inputs) :], program.outputs, strict=True):
        for j, entry in enumerate(output.entries):
            results.setdefault(entry, []).append(f"{array}[{j}]")
    # Register allocation over an array: places[node] is free again after the last reader of the node. A place is freed
    # before the reader's own result takes one, so that `work[3] = work[3] * work[5];` is usual and safe: C evaluates
    # the right side first.
    last = {argument: k for k, node in enumerate(order) for argument in node.args}
    lines: list[str] = []
    free: list[int] = []
    places: dict[Expr, int] = {}
    size = 0
    for k, node in enumerate(order):
        text = C.operation(node, names, NO_TABLES)
        for argument in dict.fromkeys(node.args):
            if argument in places and last[argument] == k:
                free.append(places[argument])
        if not free:
            free.append(size)
            size += 1
        places[node] = free.pop()
        names[node] = f"{WORK}[{places[node]}]"
        lines.append(f"{names[node]} = {text};")
        lines += [f"{place} = {names[node]};" for place in results.get(node, [])]
        if node not in last:
            free.append(places[node])
    done = set(order)
    for entry, where in results.items():
        if entry not in done:
            lines += [f"{place} = {C.reference(entry, names)};" for place in where]
    return Routine(name, program, arrays, tuple(lines), size)


def _function_text(routine: Routine, own: str) -> str:
    unused = [array for (const, array), group in zip(routine.parameters, routine.program.inputs, strict=False)
              if const and not any(node in routine.program.nodes for node in group.nodes)]  # fmt: skip
    silent = [f"  (void){array};" for array in [*unused, *([WORK] if not routine.size else [])]]
    return "\n".join([_prototype(routine, own) + " {", *silent, *(f"  {line}" for line in routine.lines), "}", ""])


def _prototype(routine: Routine, own: str) -> str:
    arrays = [f"{const}{own}_real *restrict {array}" for const, array in routine.parameters]
    return f"void {routine.name}({', '.join([*arrays, f'{own}_real *restrict {WORK}'])})"


def _declarations(own: str, functions: Sequence[Function], routines: Sequence[Routine]) -> tuple[str, str]:
    """Sizes of arrays, and prototypes under what each call costs at most."""
    sizes = [f"enum {{ {own}_work_size = {_work_size(routines)} }};"]
    sizes += [
        f"enum {{ {function.name}_prepared_size = {len(function.prepare.outputs[0])} }};"
        for function in functions
        if function.prepare is not None
    ]
    lines = []
    for routine in routines:
        told = [
            f"{routine.name}: {work(routine.program)}.",
            "The most that a call takes, and the least: a straight line, without loops, allocation or state.",
            f"It uses {routine.size} of the {own}_work_size places of {WORK}, whose contents need not be kept.",
        ]
        plain = _prototype(routine, own).replace(" *restrict ", " *")
        lines += ["", *comment_lines(told, C), f"{plain};"]
    return "\n".join(sizes), "\n".join(lines)


def _work_size(routines: Sequence[Routine]) -> int:
    return max([1, *(routine.size for routine in routines)])


def _arrays(own: str, functions: Sequence[Function], routines: Sequence[Routine], module: Module) -> list[str]:
    """Static arrays for everything that the functions take and give, under names of their own."""
    known: dict[str, str] = {}
    for routine in routines:
        groups: list[Input | Output] = [*routine.program.inputs, *routine.program.outputs]
        for (_, array), group in zip(routine.parameters, groups, strict=True):
            name = _own_name(routine, array, functions)
            values = module.parameters is not None and group.name == module.parameters.name and module.values
            numbers = [v for v in module.values if v is not None] if values else []
            given = ", ".join(f"({own}_real){double(v)}" for v in numbers) if len(numbers) == len(group) else ""
            text = f" = {{{given}}}" if given else ""
            known.setdefault(name, f"static {own}_real {name}[{max(len(group), 1)}]{text};")
    return list(known.values())


def _own_name(routine: Routine, array: str, functions: Sequence[Function]) -> str:
    """What is prepared belongs to one function; other arrays mean the same to all."""
    for function in functions:
        if function.prepare is not None and array == "prepared" and routine.name in (
            function.name, function.prepare_name
        ):  # fmt: skip
            return f"prepared_{function.program.name.replace(':', '_').replace('/', '_')}"
    return array


def _call(routine: Routine, functions: Sequence[Function]) -> str:
    arguments = [_own_name(routine, array, functions) for _, array in routine.parameters]
    return f"{routine.name}({', '.join([*arguments, WORK])});"


def _split(functions: Sequence[Function], routines: Sequence[Routine]) -> tuple[list[str], list[str]]:
    """Calls of preparations, and of the functions themselves."""
    prepared = {function.prepare_name for function in functions if function.prepare is not None}
    before = [_call(r, functions) for r in routines if r.name in prepared]
    return before, [_call(r, functions) for r in routines if r.name not in prepared]


def _example(own: str, functions: Sequence[Function], routines: Sequence[Routine], module: Module) -> str:
    before, calls = _split(functions, routines)
    last = routines[-1]
    result = last.arrays[-1]
    body = [
        "int main(void) {",
        *(f"  {line}" for line in before),
        "  for (int sample = 0; sample < 1000; sample++) { /* read the sensors into q and v, then: */",
        *(f"    {line}" for line in calls),
        "  }",
        f'  for (int i = 0; i < {len(last.program.outputs[-1])}; i++) printf("%.9g\\n", (double){result}[i]);',
        "  return 0;",
        "}",
    ]
    what = "A control loop on a computer: it prints the last result."
    arrays = "\n".join(_arrays(own, functions, routines, module))
    return _EXAMPLE.format(
        what=what, own=own, extra="#include <stdio.h>\n", work=WORK, size=f"{own}_work_size", arrays=arrays,
        body="\n".join(body),
    )  # fmt: skip


def _microcontroller(own: str, functions: Sequence[Function], routines: Sequence[Routine], module: Module) -> str:
    before, calls = _split(functions, routines)
    body = [
        "/* Called once after reset. */",
        "void controller_begin(void) {",
        *(f"  {line}" for line in before or ["/* nothing to prepare */"]),
        "}",
        "",
        "/* Called by the timer's interrupt, once per sampling period. */",
        "void controller_sample(void) {",
        "  /* q, v and what is wanted come from encoders and the path; the results go to the motors. */",
        *(f"  {line}" for line in calls),
        "}",
    ]
    what = "A control loop on a microcontroller; compile it with single precision, and without an operating system."
    prototypes = "\nvoid controller_begin(void);\nvoid controller_sample(void);\n"
    arrays = "\n".join(_arrays(own, functions, routines, module))
    return _EXAMPLE.format(
        what=what, own=own, extra=prototypes, work=WORK, size=f"{own}_work_size", arrays=arrays, body="\n".join(body)
    )
