"""A C source and its header: one function per program, and one more for what depends on parameters only."""

from __future__ import annotations

from torseur.algebra.graph.program import Program
from torseur.computation.codegen.sources.identifiers import Names
from torseur.computation.codegen.sources.source_module import (
    PREPARED,
    Function,
    Module,
    comment_lines,
    function_lines,
    module_lines,
)
from torseur.computation.codegen.sources.table_lookup import Lookups
from torseur.computation.codegen.straight_line import Language, array_names, zero_based
from torseur.computation.codegen.targets.c.batch.c_batch import Batch
from torseur.computation.codegen.targets.c.batch.c_batch_module import batch_sources
from torseur.computation.codegen.targets.c.c_program import program_source, vectors_text
from torseur.computation.codegen.targets.c.c_routine import PRELUDE, RoutinePrinter, Tables
from torseur.computation.codegen.targets.c.c_spelling import RESERVED, double
from torseur.computation.codegen.targets.c.c_unit import HEAD, no_external

C = Language("C", "c", ("/*", "*/"), RESERVED, double, zero_based)


def module_files(module: Module) -> dict[str, str]:
    """NAME.c and NAME.h; every name in them begins with NAME."""
    own = Names(RESERVED).unique(module.name)
    names = Names(RESERVED, prefix=f"{own}_")  # C has no name spaces
    functions = module.functions(names, split=True, vectors=True)
    constants = [*_sizes(functions, names), *_values(names, module)]
    source = _source(module, functions, own)
    heading = "\n".join(comment_lines(module_lines(module, C), C))
    return {f"{own}.h": f"{heading}\n{_header(own, functions, constants)}", f"{own}.c": f"{heading}\n{source}"}


def batch_files(module: Module) -> dict[str, str]:
    """NAME_batch.c, NAME_batch.h and NAME_lanes.h: the same functions over many states at once."""
    own = Names(RESERVED).unique(module.name)
    names = Names(RESERVED, prefix=f"{own}_")
    functions = module.functions(names, split=True, vectors=True)
    batches = []
    for function in functions:
        shared = (PREPARED,) if function.prepare is not None else ()
        batches.append(Batch(names.with_suffix(function.name, "_batch"), function.evaluate, shared))
    return batch_sources(own, batches, "\n".join(comment_lines(module_lines(module, C), C)))


def _source(module: Module, functions: list[Function], own: str) -> str:
    lookups, tables = Lookups(), Tables()
    bodies = []
    for function in functions:
        described = "\n".join(comment_lines(function_lines(function, module, C), C))
        parts = [program_source(part, name, lookups, "TORSEUR_EXPORT", portable=True) for name, part in function.parts]
        bodies.append("\n".join([described, *parts]))
    searches = [RoutinePrinter(function, no_external, tables).text() for function in lookups.functions]
    vectors = vectors_text([program for function in functions for _, program in function.parts])
    head = [HEAD, f'#include "{own}.h"', vectors, PRELUDE if searches else "", tables.text()]
    return "\n".join([*head, *searches, *bodies])


def _header(own: str, functions: list[Function], constants: list[str]) -> str:
    guard = f"TORSEUR_{own.upper()}_H"
    prototypes = [_prototype(name, program) for function in functions for name, program in function.parts]
    opened = [f"#ifndef {guard}", f"#define {guard}", "", *constants, ""]
    opened += ["#ifdef __cplusplus", 'extern "C" {', "#endif"]
    closed = ["#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    return "\n".join([*opened, *prototypes, *closed])


def _prototype(name: str, program: Program) -> str:
    arrays = array_names(program, Names(RESERVED))
    given = len(program.inputs)
    parameters = [f"{'const ' if i < given else ''}double *{array}" for i, array in enumerate(arrays)]
    return f"void {name}({', '.join(parameters) or 'void'});"


def _sizes(functions: list[Function], names: Names) -> list[str]:
    """How long the prepared vector of each function is."""
    split = [(function.name, function.prepare) for function in functions if function.prepare is not None]
    return [f"enum {{ {names.with_suffix(name, '_prepared_size')} = {len(p.outputs[0])} }};" for name, p in split]


def _values(names: Names, module: Module) -> list[str]:
    """The parameters' values as a constant, where the description gives all of them."""
    numbers = [value for value in module.values if value is not None]
    if not numbers or len(numbers) < len(module.values):
        return []
    listing = ", ".join(double(number) for number in numbers)
    return [f"static const double {names.unique('parameters')}[{len(numbers)}] = {{{listing}}};"]
