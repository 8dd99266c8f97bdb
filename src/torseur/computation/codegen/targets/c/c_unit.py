"""One C translation unit: context, lookups, programs, routines and the exported entry."""

from __future__ import annotations

from collections.abc import Mapping

from torseur.algebra.graph.program import Program
from torseur.computation.codegen.kernels.linking import LinkedProgram, LinkedUnit
from torseur.computation.codegen.routine.nodes import CallExternal, Function
from torseur.computation.codegen.routine.routine_language import External, Kind
from torseur.computation.codegen.sources.identifiers import Names, identifier
from torseur.computation.codegen.sources.table_lookup import Lookups
from torseur.computation.codegen.targets.c.c_program import SCALAR_REGISTERS, program_source, vectors_text
from torseur.computation.codegen.targets.c.c_routine import PRELUDE, RoutinePrinter, Tables, function_name
from torseur.computation.codegen.targets.c.c_spelling import RESERVED, TYPES

HEAD = """\
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(_WIN32)
#define TORSEUR_EXPORT __declspec(dllexport)
#else
#define TORSEUR_EXPORT __attribute__((visibility("default")))
#endif
#define TORSEUR_NOINLINE __attribute__((noinline))
#define TORSEUR_INLINE inline __attribute__((always_inline))
#if defined(__clang__) /* which compiles a few thousand operations in one piece well, and faster code comes out */
#define TORSEUR_PIECE TORSEUR_INLINE
#else
#define TORSEUR_PIECE TORSEUR_NOINLINE
#endif
"""
_PLAIN = {Kind.BOOL: "int64_t"}


def unit_source(linked: LinkedUnit, symbol: str) -> str:
    """The whole source; `symbol` is the exported function, which takes callbacks and a failure flag at its end."""
    tables, lookups = Tables(), Lookups()
    programs = "\n".join(_program(program, lookups) for program in linked.programs.values())
    searches = _routines(lookups.functions, linked, tables)
    routines = _routines(linked.unit.functions, linked, tables)
    context = _context(linked)
    vectors = vectors_text([program.program for program in linked.programs.values()])
    return "\n".join(
        [HEAD, PRELUDE, vectors, tables.text(), context, searches, programs, routines, _entry(linked, symbol)]
    )


def programs_source(programs: Mapping[str, Program]) -> str:
    """A source that exports programs under the given symbols."""
    tables, lookups = Tables(), Lookups()
    functions = [program_source(program, symbol, lookups, "TORSEUR_EXPORT") for symbol, program in programs.items()]
    searches = [RoutinePrinter(function, no_external, tables).text() for function in lookups.functions]
    vectors = vectors_text(list(programs.values()))
    return "\n".join([HEAD, vectors, PRELUDE if searches else "", tables.text(), *searches, *functions])


def no_external(call: CallExternal, arguments: list[str]) -> str:
    raise AssertionError(f"a table lookup calls '{call.name}'")


def _program(linked: LinkedProgram, lookups: Lookups) -> str:
    linkage = "static TORSEUR_INLINE" if linked.is_small else "static TORSEUR_NOINLINE"
    text = program_source(linked.program, linked.name, lookups, linkage, registers=SCALAR_REGISTERS)
    if linked.prepare is not None:
        text += program_source(linked.prepare, f"{linked.name}_prepare", lookups, "static TORSEUR_NOINLINE")
    return text


def _routines(functions: tuple[Function, ...], linked: LinkedUnit, tables: Tables) -> str:
    def external(call: CallExternal, arguments: list[str]) -> str:
        program = linked.programs.get(call.name)
        if program is None:
            return f"ctx->{identifier(call.name)}({', '.join([*arguments, '&ctx->failed'])})"
        return _program_call(program, arguments)

    return "\n".join(RoutinePrinter(function, external, tables).text() for function in functions)


def _program_call(linked: LinkedProgram, arguments: list[str]) -> str:
    kinds = [p.kind for p in linked.external.parameters]
    given = []
    for position in linked.inputs:
        if position is None:
            given.append(f"ctx->{linked.name}_prepared")
        else:
            value = arguments[position]
            # Programs take arrays only; a compound literal is an array of one number that lives until the end of the
            # call's block.
            given.append(f"(const double[1]){{{value}}}" if kinds[position] is Kind.FLOAT else value)
    return f"{linked.name}({', '.join([*given, *[arguments[i] for i in linked.outputs]])})"


def _context(linked: LinkedUnit) -> str:
    """What calls share: the failure flag, prepared vectors and callbacks."""
    members = ["  int64_t failed;"]
    members += [f"  const double *{program.name}_prepared;" for program in linked.prepared_programs]
    members += [f"  {_pointer(bound.external, identifier(bound.external.name))};" for bound in linked.callbacks]
    return "\n".join(["typedef struct context {", *members, "} context;", ""])


def _pointer(external: External, name: str) -> str:
    kinds = [_PLAIN.get(p.kind, TYPES[p.kind]) for p in external.parameters]
    returns = _PLAIN.get(external.returns, TYPES[external.returns])
    return f"{returns} (*{name})({', '.join([*kinds, 'int64_t *'])})"


def _entry(linked: LinkedUnit, symbol: str) -> str:
    entry = linked.entry
    names = Names(RESERVED | {"callbacks", "failed", "result", "unit"})
    own = {p.name: names.unique(p.name) for p in entry.parameters}
    parameters = [f"{_PLAIN.get(p.kind, TYPES[p.kind])} {own[p.name]}" for p in entry.parameters]
    returns = _PLAIN.get(entry.returns, TYPES[entry.returns])
    lines = [
        f"TORSEUR_EXPORT {returns} {symbol}({', '.join([*parameters, 'void **callbacks', 'int64_t *failed'])}) {{",
        "  context unit = {0};",
        "  (void)callbacks;",
    ]
    for k, bound in enumerate(linked.callbacks):
        name = identifier(bound.external.name)
        lines.append(f"  unit.{name} = ({_pointer(bound.external, '')})callbacks[{k}];")
    for program in linked.prepared_programs:
        vector = f"{program.name}_prepared"
        lines += [
            f"  double {vector}[{max(program.prepared_size, 1)}];",
            f"  {program.name}_prepare({', '.join([*[own[n] for n in program.prepared_from], vector])});",
            f"  unit.{vector} = {vector};",
        ]
    call = f"{function_name(entry)}({', '.join([*own.values(), *(['&unit'] if entry.uses_context else [])])})"
    if entry.returns is Kind.NONE:
        lines += [f"  {call};", "  *failed = unit.failed;", "}", ""]
    else:
        lines += [f"  {returns} result = {call};", "  *failed = unit.failed;", "  return result;", "}", ""]
    return "\n".join(lines)
