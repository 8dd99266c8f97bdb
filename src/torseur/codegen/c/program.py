"""Straight-line programs printed as C functions: void NAME(const double *in0, ..., double *out0, ...)."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files

from torseur.codegen.c.abreast import GNU, abreast_text, kind, lane_operation, loaded, stored
from torseur.codegen.c.routine import function_name
from torseur.codegen.c.solved import solved_source
from torseur.codegen.c.spelling import RESERVED, double, parameter_list
from torseur.codegen.names import part
from torseur.codegen.straight import SCHEDULED, WHOLE, Chunk, Layout, layout
from torseur.codegen.straight.turns import turns_of
from torseur.codegen.tables import Lookups
from torseur.graph.expr import Expr
from torseur.graph.operations import OPERATIONS
from torseur.graph.program import Program

ONE_FOR_CLANG = 3300
"""Operations up to which clang may join the pieces of a function: an arm's derivatives gained a quarter."""

_SPELLING = {name: operation.spelling["c"] for name, operation in OPERATIONS.items()}
_INFIX = {name: _SPELLING[name].format("", "") for name in ("add", "sub", "mul", "div")}
"""What stands between the arguments of the operations that most lines hold."""


@cache
def own_text(name: str) -> str:
    """A piece of C that generated sources hold as it is."""
    return files("torseur.codegen.c").joinpath(name).read_text(encoding="ascii")


def vectors_text(programs: list[Program]) -> str:
    """What the programs need to compute in vectors; nothing when none of them does."""
    stages = [program.solved.program if program.solved is not None else program for program in programs]
    stages = [program.abreast or program for program in stages]
    solved = any(program.solved is not None for program in programs)
    limbs = abreast_text(stages)
    if not solved and not any(turns_of(program).angles for program in stages):
        return limbs
    return own_text("turns.h").replace("@LANES@", own_text("lanes.h")) + limbs


def program_source(program: Program, name: str, lookups: Lookups, linkage: str, portable: bool = False) -> str:
    """The C functions that compute a program; the last one has the given name and linkage.

    What is `portable` needs no compiler with vectors, though it uses them where they are.
    """
    if program.solved is not None:
        first = program_source(program.solved.program, f"{name}_terms", lookups, "static TORSEUR_NOINLINE", portable)
        return first + solved_source(program, program.solved, name, linkage)
    if program.abreast is None:
        return _straight(program, name, lookups, linkage)
    abreast = _straight(program.abreast, name, lookups, linkage)
    if not portable:
        return abreast
    why = "/* Limbs that are alike are computed side by side; below, one by one for compilers without vectors. */"
    return "\n".join([GNU, why, abreast, "#else", _straight(program, name, lookups, linkage), "#endif", ""])


def _straight(program: Program, name: str, lookups: Lookups, linkage: str) -> str:
    plan = layout(program, RESERVED, together=True, whole=WHOLE, scheduled=SCHEDULED)
    plan = replace(plan, names=_Spelled(plan.names))
    if len(plan.chunks) == 1:
        return _function(plan, plan.chunks[0], f"{linkage} void {name}", lookups, first=_turns(plan, lookups))
    extra = ["double *restrict scratch", *(["const double *restrict sines"] if plan.turns.angles else [])]
    size = sum(len(chunk.operations) for chunk in plan.chunks)
    separate = "static TORSEUR_PIECE" if size <= ONE_FOR_CLANG else "static TORSEUR_NOINLINE"
    parts = [
        _function(plan, chunk, f"{separate} void {part(name, k)}", lookups, extra)
        for k, chunk in enumerate(plan.chunks)
    ]
    return "\n".join([*parts, _caller(plan, name, linkage, lookups)])


def _turns(plan: Layout, lookups: Lookups) -> list[str]:
    """The lines that compute the sines and cosines of all angles at once."""
    turns, names = plan.turns, plan.names
    if not turns.angles:
        return []
    # Names of values that are used again below are declared there.
    local = {node: f"{plan.arrays[i]}[{j}]" for node, (i, j) in plan.program.sources.items()}
    seen = ChainMap(local, names)
    lines = []
    for k, node in enumerate(turns.operations):
        lines.append(f"  const double {part('angle', k)} = {operation(node, seen, lookups)};")
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
    lines = [
        f"{head}({', '.join([*parameter_list(plan.arrays, len(plan.program.inputs)), *(extra or [])]) or 'void'}) {{",
        *(first or []),
    ]
    names, widths = plan.names, plan.widths
    held = [(node, plan.arrays[i], j) for node, (i, j) in chunk.inputs.items()]
    held += [(node, "sines", place) for node, place in chunk.turned.items()]
    held += [(node, "scratch", place) for node, place in chunk.restored.items()]
    for node, array, place in held:
        lines.append(f"  const {kind(widths[node])} {names[node]} = {loaded(widths[node], array, place)};")
    lines += _computed(plan, chunk, lookups)
    outputs = plan.arrays[len(plan.program.inputs) :]
    for node, places in chunk.results.items():
        lines += [f"  {outputs[i]}[{j}] = {reference(node, names)};" for i, j in places]
    return "\n".join([*lines, "}", ""])


def _computed(plan: Layout, chunk: Chunk, lookups: Lookups) -> list[str]:
    """The operations of a chunk, and the values that it leaves behind."""
    lines: list[str] = []
    spelled, widths, saved = plan.names, plan.widths, chunk.saved
    for node in chunk.operations:
        sign, name = _INFIX.get(node.op), spelled[node]
        declared = "double" if widths[node] == 1 else kind(widths[node])
        if sign is not None:
            x, y = node.args
            lines.append(f"  const {declared} {name} = {spelled[x]}{sign}{spelled[y]};")
        else:
            lines.append(f"  const {declared} {name} = {operation(node, spelled, lookups)};")
        if node in saved:
            lines.append(f"  {stored(widths[node], 'scratch', saved[node], name)}")
    return lines


def _caller(plan: Layout, name: str, linkage: str, lookups: Lookups) -> str:
    arguments = ", ".join([*plan.arrays, "scratch", *(["sines"] if plan.turns.angles else [])])
    calls = "\n".join(f"  {part(name, k)}({arguments});" for k in range(len(plan.chunks)))
    first = "\n".join([*_turns(plan, lookups), f"  double scratch[{max(plan.slots, 1)}];"])
    parameters = ", ".join(parameter_list(plan.arrays, len(plan.program.inputs)))
    return f"{linkage} void {name}({parameters}) {{\n{first}\n{calls}\n}}\n"


class _Spelled(dict[Expr, str]):
    """Values by their names; numbers are spelled when they are first met."""

    def __missing__(self, node: Expr) -> str:
        self[node] = reference(node, {})
        return self[node]


def reference(node: Expr, names: Mapping[Expr, str]) -> str:
    """A value: its name, or the number it is."""
    name = names.get(node)
    if name is not None:
        return name
    return double(math.pi if node.op == "pi" else float(node.data))


def operation(node: Expr, names: Mapping[Expr, str], lookups: Lookups) -> str:
    """An operation on values."""
    arguments = [names.get(a) or reference(a, names) for a in node.args]
    if node.op == "table":
        return f"{function_name(lookups.function(node.data))}({arguments[0]})"
    return lane_operation(node, arguments) or _SPELLING[node.op].format(*arguments)
