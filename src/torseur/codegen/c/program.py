"""Straight-line programs printed as C functions: void NAME(const double *in0, ..., double *out0, ...)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from torseur.codegen.c.routine import function_name
from torseur.codegen.c.spelling import RESERVED, double
from torseur.codegen.names import part
from torseur.codegen.straight import WHOLE, Chunk, Layout, layout
from torseur.codegen.straight.turns import turns_of
from torseur.codegen.tables import Lookups
from torseur.graph.expr import Expr
from torseur.graph.operations import OPERATIONS
from torseur.graph.program import Program

_SPELLING = {name: operation.spelling["c"] for name, operation in OPERATIONS.items()}


@cache
def own_text(name: str) -> str:
    """A piece of C that generated sources hold as it is."""
    return files("torseur.codegen.c").joinpath(name).read_text(encoding="ascii")


def turns_text(programs: list[Program]) -> str:
    """What the programs need to compute sines together; nothing when none of them does."""
    if not any(turns_of(program).angles for program in programs):
        return ""
    return own_text("turns.h").replace("@LANES@", own_text("lanes.h"))


def program_source(program: Program, name: str, lookups: Lookups, linkage: str) -> str:
    """The C functions that compute a program; the last one has the given name and linkage."""
    plan = layout(program, RESERVED, together=True, whole=WHOLE)
    if len(plan.chunks) == 1:
        return _function(plan, plan.chunks[0], f"{linkage} void {name}", lookups, first=_turns(plan, lookups))
    extra = ["double *restrict scratch", *(["const double *restrict sines"] if plan.turns.angles else [])]
    parts = [
        _function(plan, chunk, f"static TORSEUR_NOINLINE void {part(name, k)}", lookups, extra)
        for k, chunk in enumerate(plan.chunks)
    ]
    return "\n".join([*parts, _caller(plan, name, linkage, lookups)])


def _parameters(plan: Layout) -> list[str]:
    inputs = len(plan.program.inputs)
    return [f"{'const ' if i < inputs else ''}double *restrict {array}" for i, array in enumerate(plan.arrays)]


def _turns(plan: Layout, lookups: Lookups) -> list[str]:
    """The lines that compute the sines and cosines of all angles at once."""
    turns, names = plan.turns, plan.names
    if not turns.angles:
        return []
    sources = {node: (i, j) for i, group in enumerate(plan.program.inputs) for j, node in enumerate(group.nodes)}
    # Names of values that are used again below are declared there.
    local = {node: f"{plan.arrays[i]}[{j}]" for node, (i, j) in sources.items()}
    lines = []
    for k, node in enumerate(turns.operations):
        lines.append(f"  const double {part('angle', k)} = {operation(node, {**names, **local}, lookups)};")
        local[node] = part("angle", k)
    angles = ", ".join(local[angle] for angle in turns.angles)
    return [
        *lines,
        f"  const double angles[{turns.size}] = {{{angles}}};",
        f"  double sines[{2 * turns.size}];",
        f"  sines_of(angles, sines, {turns.size});",
    ]


def _function(
    plan: Layout,
    chunk: Chunk,
    head: str,
    lookups: Lookups,
    extra: list[str] | None = None,
    first: list[str] | None = None,
) -> str:
    lines = [f"{head}({', '.join([*_parameters(plan), *(extra or [])]) or 'void'}) {{", *(first or [])]
    names = plan.names
    lines += [f"  const double {names[node]} = {plan.arrays[i]}[{j}];" for node, (i, j) in chunk.inputs.items()]
    lines += [f"  const double {names[node]} = sines[{place}];" for node, place in chunk.turned.items()]
    lines += [f"  const double {names[node]} = scratch[{slot}];" for node, slot in chunk.restored.items()]
    for node in chunk.operations:
        lines.append(f"  const double {names[node]} = {operation(node, names, lookups)};")
        if node in chunk.saved:
            lines.append(f"  scratch[{chunk.saved[node]}] = {names[node]};")
    outputs = plan.arrays[len(plan.program.inputs) :]
    for node, places in chunk.results.items():
        lines += [f"  {outputs[i]}[{j}] = {reference(node, names)};" for i, j in places]
    return "\n".join([*lines, "}", ""])


def _caller(plan: Layout, name: str, linkage: str, lookups: Lookups) -> str:
    arguments = ", ".join([*plan.arrays, "scratch", *(["sines"] if plan.turns.angles else [])])
    calls = "\n".join(f"  {part(name, k)}({arguments});" for k in range(len(plan.chunks)))
    first = "\n".join([*_turns(plan, lookups), f"  double scratch[{max(plan.slots, 1)}];"])
    return f"{linkage} void {name}({', '.join(_parameters(plan))}) {{\n{first}\n{calls}\n}}\n"


def reference(node: Expr, names: Mapping[Expr, str]) -> str:
    """A value: its name, or the number it is."""
    name = names.get(node)
    if name is not None:
        return name
    return double(math.pi if node.op == "pi" else float(node.data))


def operation(node: Expr, names: Mapping[Expr, str], lookups: Lookups) -> str:
    """An operation on values."""
    arguments = [reference(a, names) for a in node.args]
    if node.op == "table":
        return f"{function_name(lookups.function(node.data))}({arguments[0]})"
    return _SPELLING[node.op].format(*arguments)
