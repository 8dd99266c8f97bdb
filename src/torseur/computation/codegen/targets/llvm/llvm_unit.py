"""One LLVM module: lookups, programs, routines and the exported entry.

The context that calls share is a block of words: the failure flag, one pointer per prepared vector, one per callback.
"""

from __future__ import annotations

from collections.abc import Mapping

from torseur.algebra.graph.program import Program
from torseur.computation.codegen.kernels.linking import LinkedProgram, LinkedUnit
from torseur.computation.codegen.routine.nodes import CallExternal, Function
from torseur.computation.codegen.routine.routine_language import Kind
from torseur.computation.codegen.sources.table_lookup import Lookups
from torseur.computation.codegen.targets.llvm.llvm_expressions import function_name
from torseur.computation.codegen.targets.llvm.llvm_function import FunctionBuilder
from torseur.computation.codegen.targets.llvm.llvm_module import Declarations
from torseur.computation.codegen.targets.llvm.llvm_program import program_source
from torseur.computation.codegen.targets.llvm.llvm_routine import RoutinePrinter
from torseur.computation.codegen.targets.llvm.llvm_spelling import ABI_TYPES, ALIAS_CLASS, TYPES

_POINTER = ALIAS_CLASS[Kind.ARRAY]


def unit_source(linked: LinkedUnit, symbol: str) -> str:
    """The whole module; `symbol` is the exported function, which takes callbacks and a failure flag at its end."""
    module, lookups = Declarations(), Lookups()
    programs = "\n".join(_program(program, lookups, module) for program in linked.programs.values())
    routines = _routines((*lookups.functions, *linked.unit.functions), linked, module)
    entry = _entry(linked, symbol)
    return "\n".join([programs, routines, entry, module.text()])


def programs_source(programs: Mapping[str, Program]) -> str:
    """A module that exports programs under the given symbols."""
    module, lookups = Declarations(), Lookups()
    functions = [
        program_source(program, symbol, lookups, module, "", "nounwind") for symbol, program in programs.items()
    ]
    searches = [RoutinePrinter(function, _no_external, module).text() for function in lookups.functions]
    return "\n".join([*searches, *functions, module.text()])


def _no_external(code: FunctionBuilder, call: CallExternal, arguments: list[str]) -> str:
    raise AssertionError(f"a table lookup calls '{call.name}'")


def _program(linked: LinkedProgram, lookups: Lookups, module: Declarations) -> str:
    attributes = "alwaysinline nounwind" if linked.is_small else "noinline nounwind"
    text = program_source(linked.program, linked.name, lookups, module, "internal ", attributes)
    if linked.prepare is not None:
        text += program_source(
            linked.prepare, f"{linked.name}_prepare", lookups, module, "internal ", "noinline nounwind"
        )
    return text


def _routines(functions: tuple[Function, ...], linked: LinkedUnit, module: Declarations) -> str:
    # The printer of routines knows externals by name only; here a name becomes a program's function or a callback's
    # word.
    words = _words(linked)

    def external(code: FunctionBuilder, call: CallExternal, arguments: list[str]) -> str:
        program = linked.programs.get(call.name)
        if program is not None:
            _call_program(code, program, arguments, words)
            return ""
        return _call_back(code, call, arguments, words)

    return "\n".join(RoutinePrinter(function, external, module).text() for function in functions)


def _words(linked: LinkedUnit) -> dict[str, int]:
    """Where in the context each prepared vector and callback stands."""
    # Words of the context, on the stack of the entry function, so that several threads may run the same code:
    #     [ failed | prepared vector of each program that has one | address of each callback ]
    names = [f"{program.name}_prepared" for program in linked.prepared_programs]
    names += [bound.external.name for bound in linked.callbacks]
    return {name: k for k, name in enumerate(names, start=1)}


def _word(code: FunctionBuilder, context: str, index: int) -> str:
    return code.value(f"getelementptr inbounds ptr, ptr {context}, i64 {index}")


def _call_program(code: FunctionBuilder, linked: LinkedProgram, arguments: list[str], words: dict[str, int]) -> None:
    given = []
    for position in linked.inputs:
        if position is None:
            address = _word(code, "%ctx", words[f"{linked.name}_prepared"])
            given.append(code.value(f"load ptr, ptr {address}, align 8, {_POINTER}"))
        elif linked.external.parameters[position].kind is Kind.FLOAT:
            # Programs take arrays only: a number goes through memory, which is gone again once the call is inlined.
            slot = code.slot("double")
            code.effect(f"store double {arguments[position]}, ptr {slot}, align 8")
            given.append(slot)
        else:
            given.append(arguments[position])
    given += [arguments[i] for i in linked.outputs]
    code.effect(f"call void @{linked.name}({', '.join(f'ptr {g}' for g in given)})")


def _call_back(code: FunctionBuilder, call: CallExternal, arguments: list[str], words: dict[str, int]) -> str:
    address = _word(code, "%ctx", words[call.name])
    function = code.value(f"load ptr, ptr {address}, align 8, {_POINTER}")
    given = []
    for argument, node in zip(arguments, call.args, strict=True):
        # Callbacks are ctypes' functions: a truth value is a whole word there, an i1 would leave its other bits open.
        value = code.value(f"zext i1 {argument} to i64") if node.kind is Kind.BOOL else argument
        given.append(f"{ABI_TYPES[node.kind]} {value}")
    text = f"call {ABI_TYPES[call.kind]} {function}({', '.join([*given, 'ptr %ctx'])})"
    if call.kind is Kind.NONE:
        code.effect(text)
        return ""
    result = code.value(text)
    return code.value(f"icmp ne i64 {result}, 0") if call.kind is Kind.BOOL else result


def _entry(linked: LinkedUnit, symbol: str) -> str:
    entry, code = linked.entry, FunctionBuilder()
    names = {p.name: f"%a{k}" for k, p in enumerate(entry.parameters)}
    context = _fill_context(linked, code, names)
    arguments = []
    for p in entry.parameters:
        value = code.value(f"icmp ne i64 {names[p.name]}, 0") if p.kind is Kind.BOOL else names[p.name]
        arguments.append(f"{TYPES[p.kind]} {value}")
    if entry.uses_context:
        arguments.append(f"ptr {context}")
    text = f"call {TYPES[entry.returns]} @{function_name(entry)}({', '.join(arguments)})"
    result = "" if entry.returns is Kind.NONE else code.value(text)
    if entry.returns is Kind.NONE:
        code.effect(text)
    code.effect(f"store i64 {code.value(f'load i64, ptr {context}, align 8')}, ptr %failed, align 8")
    if entry.returns is Kind.BOOL:
        result = code.value(f"zext i1 {result} to i64")
    code.leave(f"ret {ABI_TYPES[entry.returns]} {result}".rstrip())
    parameters = [f"{ABI_TYPES[p.kind]} {names[p.name]}" for p in entry.parameters]
    head = f"{', '.join([*parameters, 'ptr %callbacks', 'ptr %failed'])}"
    return code.text(f"define {ABI_TYPES[entry.returns]} @{symbol}({head}) nounwind")


def _fill_context(linked: LinkedUnit, code: FunctionBuilder, names: dict[str, str]) -> str:
    words = _words(linked)
    # The flag first, at the context's own address: `StopIfFailed` and the callbacks' trampolines find it without an
    # offset.
    context = code.slot("ptr", 1 + len(words))
    code.effect(f"store i64 0, ptr {context}, align 8")
    for program in linked.prepared_programs:
        vector = code.slot("double", max(program.prepared_size, 1))
        given = [*[names[name] for name in program.prepared_from], vector]
        code.effect(f"call void @{program.name}_prepare({', '.join(f'ptr {g}' for g in given)})")
        address = _word(code, context, words[f"{program.name}_prepared"])
        code.effect(f"store ptr {vector}, ptr {address}, align 8, {_POINTER}")
    for k, bound in enumerate(linked.callbacks):
        pointer = code.value(f"load ptr, ptr {_word(code, '%callbacks', k)}, align 8, {_POINTER}")
        address = _word(code, context, words[bound.external.name])
        code.effect(f"store ptr {pointer}, ptr {address}, align 8, {_POINTER}")
    return context
