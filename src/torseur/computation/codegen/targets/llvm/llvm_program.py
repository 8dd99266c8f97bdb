"""Straight-line programs printed as LLVM functions with the same arguments as in C."""

from __future__ import annotations

import math
import re

from torseur.algebra.graph.expr import Expr
from torseur.algebra.graph.operations import OPERATIONS
from torseur.algebra.graph.program import Program
from torseur.computation.codegen.sources.table_lookup import Lookups
from torseur.computation.codegen.straight_line import Chunk, Layout, layout
from torseur.computation.codegen.targets.llvm.llvm_expressions import function_name
from torseur.computation.codegen.targets.llvm.llvm_module import Declarations
from torseur.computation.codegen.targets.llvm.llvm_spelling import FLAGS, double

_ARITHMETIC = re.compile(r"^(fadd|fsub|fmul|fdiv|fneg) double")
_CALL = re.compile(r"^call double @([\w.]+)\(")


def _with_flags(spelling: str) -> str:
    return _ARITHMETIC.sub(rf"\1 {FLAGS} double", spelling)


_SPELLING = {name: _with_flags(operation.spelling["llvm"]) for name, operation in OPERATIONS.items()}
_INSTRUCTION = {name: _SPELLING[name].removesuffix("{0}, {1}") for name in ("add", "sub", "mul", "div")}
"""The operations that most lines hold, without their two arguments."""

_CHUNK = 200
"""Operations per function of a long program: in pieces of 400 LLVM takes up to a quarter longer for code as fast."""

_CALLED = {name: match[1] for name, text in _SPELLING.items() if (match := _CALL.match(text)) is not None}


def program_source(
    program: Program, name: str, lookups: Lookups, module: Declarations, linkage: str, attributes: str
) -> str:
    """The LLVM functions that compute a program; the last one has the given name, linkage and attributes."""
    # `entry` is the label of the first block, which LLVM keeps in one name space with values.
    plan = layout(program, ("scratch", "entry"), chunk=_CHUNK)
    # Functions that a spelling calls are declared before any is printed: `declare` lines stand once in the module.
    for node in program.operations:
        if node.op in _CALLED:
            module.declare_call(_CALLED[node.op], len(node.args))
    if len(plan.chunks) == 1:
        return _function(plan, plan.chunks[0], f"define {linkage}void @{name}", lookups, attributes)
    parts = [
        _function(plan, chunk, f"define internal void @{name}_{k}", lookups, "noinline nounwind", [_SCRATCH])
        for k, chunk in enumerate(plan.chunks)
    ]
    return "\n".join([*parts, _caller(plan, name, linkage, attributes)])


# noalias is a promise: no output may overlap an input or another output. Kernels check it for given arrays
# (kernel._check_output), routines refuse it when they are translated (calls._refuse_overlap).
_NOALIAS = "ptr noalias nocapture "
_SCRATCH = _NOALIAS + "%scratch"


def _parameters(plan: Layout) -> list[str]:
    return [f"{_NOALIAS}%{array}" for array in plan.arrays]


def _function(
    plan: Layout, chunk: Chunk, head: str, lookups: Lookups, attributes: str, extra: list[str] | None = None
) -> str:
    lines = [f"{head}({', '.join([*_parameters(plan), *(extra or [])])}) {attributes} {{", "entry:"]
    # One function of a long program:
    #     inputs that it reads     from their arrays
    #     values of other chunks   from scratch
    #     operations               in order; those that later chunks read go to scratch at once
    #     results                  to their arrays, at the end
    names, values = plan.names, _Values(plan.names)
    for node, (i, j) in chunk.inputs.items():
        lines += _load(names[node], plan.arrays[i], j)
    for node, slot in chunk.restored.items():
        lines += _load(names[node], "scratch", slot)
    for node in chunk.operations:
        instruction = _INSTRUCTION.get(node.op)
        if instruction is not None:
            x, y = node.args
            lines.append(f"  %{names[node]} = {instruction}{values[x]}, {values[y]}")
        else:
            lines += _operation(node, names[node], values, lookups)
        if node in chunk.saved:
            lines += _store(f"%{names[node]}", f"{names[node]}.saved", "scratch", chunk.saved[node])
    outputs = plan.arrays[len(plan.program.inputs) :]
    for node, places in chunk.results.items():
        for i, j in places:
            lines += _store(values[node], f"{outputs[i]}.{j}", outputs[i], j)
    return "\n".join([*lines, "  ret void", "}", ""])


def _load(name: str, array: str, index: int) -> list[str]:
    return [
        f"  %{name}.at = getelementptr inbounds double, ptr %{array}, i64 {index}",
        f"  %{name} = load double, ptr %{name}.at, align 8, !tbaa !1",
    ]


def _store(value: str, address: str, array: str, index: int) -> list[str]:
    return [
        f"  %{address} = getelementptr inbounds double, ptr %{array}, i64 {index}",
        f"  store double {value}, ptr %{address}, align 8, !tbaa !1",
    ]


def _caller(plan: Layout, name: str, linkage: str, attributes: str) -> str:
    arguments = ", ".join(f"ptr %{array}" for array in (*plan.arrays, "scratch"))
    calls = [f"  call void @{name}_{k}({arguments})" for k in range(len(plan.chunks))]
    head = f"define {linkage}void @{name}({', '.join(_parameters(plan))}) {attributes} {{"
    # On the stack of the call, so that threads can run one kernel at the same time.
    scratch = f"  %scratch = alloca double, i64 {max(plan.slots, 1)}, align 8"
    return "\n".join([head, "entry:", scratch, *calls, "  ret void", "}", ""])


class _Values(dict[Expr, str]):
    """How values are referred to: by their names, or as the numbers they are; each spelled when it is first met."""

    def __init__(self, names: dict[Expr, str]) -> None:
        self.names = names

    def __missing__(self, node: Expr) -> str:
        name = self.names.get(node)
        self[node] = f"%{name}" if name is not None else double(math.pi if node.op == "pi" else float(node.data))
        return self[node]


def _operation(node: Expr, name: str, values: _Values, lookups: Lookups) -> list[str]:
    arguments = [values[a] for a in node.args]
    if node.op == "table":
        return [f"  %{name} = call double @{function_name(lookups.function(node.data))}(double {arguments[0]})"]
    text = _SPELLING[node.op].format(*arguments)
    if text.startswith("fcmp"):
        return [f"  %{name}.test = {text}", f"  %{name} = uitofp i1 %{name}.test to double"]
    return [f"  %{name} = {text}"]
