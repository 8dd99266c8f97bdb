"""Straight-line programs printed as C functions: void NAME(const double *in0, ..., double *out0, ...)."""

from __future__ import annotations

import math

from torseur.codegen.c.routine import function_name
from torseur.codegen.c.spelling import RESERVED, double
from torseur.codegen.names import part
from torseur.codegen.straight import Chunk, Layout, layout
from torseur.codegen.tables import Lookups
from torseur.graph.expr import Expr
from torseur.graph.operations import OPERATIONS
from torseur.graph.program import Program

_SPELLING = {name: operation.spelling["c"] for name, operation in OPERATIONS.items()}


def program_source(program: Program, name: str, lookups: Lookups, linkage: str) -> str:
    """The C functions that compute a program; the last one has the given name and linkage."""
    plan = layout(program, RESERVED)
    if len(plan.chunks) == 1:
        return _function(plan, plan.chunks[0], f"{linkage} void {name}", lookups)
    parts = [
        _function(plan, chunk, f"static TORSEUR_NOINLINE void {part(name, k)}", lookups, ["double *restrict scratch"])
        for k, chunk in enumerate(plan.chunks)
    ]
    return "\n".join([*parts, _caller(plan, name, linkage)])


def _parameters(plan: Layout) -> list[str]:
    inputs = len(plan.program.inputs)
    return [f"{'const ' if i < inputs else ''}double *restrict {array}" for i, array in enumerate(plan.arrays)]


def _function(plan: Layout, chunk: Chunk, head: str, lookups: Lookups, extra: list[str] | None = None) -> str:
    lines = [f"{head}({', '.join([*_parameters(plan), *(extra or [])]) or 'void'}) {{"]
    names = plan.names
    lines += [f"  const double {names[node]} = {plan.arrays[i]}[{j}];" for node, (i, j) in chunk.inputs.items()]
    lines += [f"  const double {names[node]} = scratch[{slot}];" for node, slot in chunk.restored.items()]
    for node in chunk.operations:
        lines.append(f"  const double {names[node]} = {_operation(node, names, lookups)};")
        if node in chunk.saved:
            lines.append(f"  scratch[{chunk.saved[node]}] = {names[node]};")
    outputs = plan.arrays[len(plan.program.inputs) :]
    for node, places in chunk.results.items():
        lines += [f"  {outputs[i]}[{j}] = {_reference(node, names)};" for i, j in places]
    return "\n".join([*lines, "}", ""])


def _caller(plan: Layout, name: str, linkage: str) -> str:
    arguments = ", ".join([*plan.arrays, "scratch"])
    calls = "\n".join(f"  {part(name, k)}({arguments});" for k in range(len(plan.chunks)))
    scratch = f"  double scratch[{max(plan.slots, 1)}];"
    return f"{linkage} void {name}({', '.join(_parameters(plan))}) {{\n{scratch}\n{calls}\n}}\n"


def _reference(node: Expr, names: dict[Expr, str]) -> str:
    name = names.get(node)
    if name is not None:
        return name
    return double(math.pi if node.op == "pi" else float(node.data))


def _operation(node: Expr, names: dict[Expr, str], lookups: Lookups) -> str:
    arguments = [_reference(a, names) for a in node.args]
    if node.op == "table":
        return f"{function_name(lookups.function(node.data))}({arguments[0]})"
    return _SPELLING[node.op].format(*arguments)
