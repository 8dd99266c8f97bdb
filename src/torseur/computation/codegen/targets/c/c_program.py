"""Straight-line programs printed as C functions: void NAME(const double *in0, ..., double *out0, ...)."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files

from torseur.algebra.graph.expr import Expr
from torseur.algebra.graph.operations import OPERATIONS
from torseur.algebra.graph.program import Program
from torseur.algebra.graph.simd_batching import LANE, PACK, TOTAL, vector_width
from torseur.computation.codegen.sources.identifiers import part
from torseur.computation.codegen.sources.table_lookup import Lookups
from torseur.computation.codegen.straight_line import SCHEDULED, WHOLE, Chunk, Layout, layout
from torseur.computation.codegen.straight_line.sine_cosine_pairs import early_sines_of
from torseur.computation.codegen.targets.c.c_routine import function_name
from torseur.computation.codegen.targets.c.c_spelling import RESERVED, double, parameter_list
from torseur.computation.codegen.targets.c.c_systems import system_source

# SIMD-batched limbs: values of limbs that are alike are lanes of one vector, with a type per width.
GNU = "#if defined(__GNUC__)"
"""Where the compiler has vectors as types."""


@cache
def kind(width: int) -> str:
    """The type of a value with so many lanes."""
    return "double" if width == 1 else f"limbs{vector_width(width)}"


def load_text(width: int, place: str, index: int) -> str:
    """A value in an array, or the vector that begins there."""
    return f"{place}[{index}]" if width == 1 else f"*(const {kind(width)}_at *)({place} + {index})"


def store_text(width: int, place: str, index: int, name: str) -> str:
    """A value written into an array, a vector from there on."""
    return f"{place}[{index}] = {name};" if width == 1 else f"*({kind(width)}_at *)({place} + {index}) = {name};"


def lane_operation(node: Expr, arguments: Sequence[str]) -> str | None:
    """A pack, a lane or a total; None for every other operation."""
    if node.op == LANE:
        return f"{arguments[0]}[{node.data}]"
    if node.op == TOTAL:
        return _total([f"{arguments[0]}[{k}]" for k in range(node.data)])
    if node.op != PACK:
        return None
    filled = [*arguments, *[arguments[-1]] * (vector_width(len(arguments)) - len(arguments))]
    return f"({kind(len(arguments))}){{{', '.join(filled)}}}"


def _total(terms: list[str]) -> str:
    """The sum of some values, by halves: first with last half, as processors add parts of vectors."""
    # 4 terms: (a + c) + (b + d), the order of a horizontal sum of a vector's halves; compilers recognise it.
    while len(terms) > 1:
        half = (len(terms) + 1) // 2
        sums = [f"({a} + {b})" for a, b in zip(terms, terms[half:], strict=False)]
        terms = [*sums, *terms[len(sums) : half]]
    return terms[0]


def vector_types(programs: Iterable[Program]) -> str:
    """The vector types of some programs; those that end with _at lie anywhere in arrays."""
    packs = [node for program in programs for node in program.nodes if node.op == PACK]
    lines = []
    for width in sorted({vector_width(len(node.args)) for node in packs}):
        size, name = f"vector_size({8 * width})", kind(width)
        # The _at type is a vector that lies at any double of an array (aligned(8)) and may overlap doubles (may_alias).
        lines.append(f"typedef double {name} __attribute__(({size}));")
        lines.append(f"typedef double {name}_at __attribute__(({size}, aligned(8), may_alias));")
    return "\n".join([GNU, *lines, "#endif", ""]) if lines else ""


ONE_FOR_CLANG = 3300
"""Operations up to which clang may join the pieces of a function: an arm's derivatives gained a quarter."""

SCALAR_REGISTERS = 14
"""Of the sixteen that x86 and ARM have at least, two for what is on its way. What a routine calls is ordered such that
few values leave them, which keeps equal operations of several lanes side by side: the compiler makes one vector of
them, in all lanes alike. With long chains first, a motion in a lane depended on its neighbours in the last bit."""

_SPELLING = {name: operation.spelling["c"] for name, operation in OPERATIONS.items()}
_INFIX = {name: _SPELLING[name].format("", "") for name in ("add", "sub", "mul", "div")}
"""What stands between the arguments of the operations that most lines hold."""


@cache
def own_text(name: str) -> str:
    """A piece of C that generated sources hold as it is."""
    return files("torseur.computation.codegen.targets.c").joinpath(name).read_text(encoding="ascii")


def vectors_text(programs: list[Program]) -> str:
    """What the programs need to compute in vectors; nothing when none of them does."""
    stages = [program.solved.program if program.solved is not None else program for program in programs]
    stages = [program.simd or program for program in stages]
    solved = any(program.solved is not None for program in programs)
    limbs = vector_types(stages)
    if not solved and not any(early_sines_of(program).angles for program in stages):
        return limbs
    return own_text("sines.h").replace("@LANES@", own_text("lanes.h")) + limbs


def program_source(
    program: Program, name: str, lookups: Lookups, linkage: str, portable: bool = False, registers: int = 0
) -> str:
    """The C functions that compute a program; the last one has the given name and linkage.

    What is `portable` needs no compiler with vectors, though it uses them where they are. `registers` as in `layout`.
    """
    if program.solved is not None:
        terms = f"{name}_terms"
        first = program_source(program.solved.program, terms, lookups, "static TORSEUR_NOINLINE", portable, registers)
        return first + system_source(program, program.solved, name, linkage)
    if program.simd is None:
        return _straight_line(program, name, lookups, linkage, registers)
    simd = _straight_line(program.simd, name, lookups, linkage, registers)
    if not portable:
        return simd
    why = "/* Limbs that are alike are computed side by side; below, one by one for compilers without vectors. */"
    other = _straight_line(program, name, lookups, linkage, registers)
    return "\n".join([GNU, why, simd, "#else", other, "#endif", ""])


def _straight_line(program: Program, name: str, lookups: Lookups, linkage: str, registers: int) -> str:
    plan = layout(program, RESERVED, together=True, whole=WHOLE, scheduled=SCHEDULED, registers=registers)
    plan = replace(plan, names=_ValueNames(plan.names))
    if len(plan.chunks) == 1:
        return _function(plan, plan.chunks[0], f"{linkage} void {name}", lookups, first=_early_sines(plan, lookups))
    extra = ["double *restrict scratch", *(["const double *restrict sines"] if plan.early_sines.angles else [])]
    size = sum(len(chunk.operations) for chunk in plan.chunks)
    # TORSEUR_PIECE leaves it to the compiler (c_unit.HEAD): clang joins the pieces again, gcc calls them.
    separate = "static TORSEUR_PIECE" if size <= ONE_FOR_CLANG else "static TORSEUR_NOINLINE"
    parts = [
        _function(plan, chunk, f"{separate} void {part(name, k)}", lookups, extra)
        for k, chunk in enumerate(plan.chunks)
    ]
    return "\n".join([*parts, _caller(plan, name, linkage, lookups)])


def _early_sines(plan: Layout, lookups: Lookups) -> list[str]:
    """The lines that compute the sines and cosines of all angles at once."""
    early, names = plan.early_sines, plan.names
    if not early.angles:
        return []
    # Names of values that are used again below are declared there.
    local = {node: f"{plan.arrays[i]}[{j}]" for node, (i, j) in plan.program.sources.items()}
    seen = ChainMap(local, names)
    lines = []
    for k, node in enumerate(early.operations):
        lines.append(f"  const double {part('angle', k)} = {operation(node, seen, lookups)};")
        local[node] = part("angle", k)
    angles = ", ".join(local[angle] for angle in early.angles)
    return [
        *lines,
        f"  const double angles[{early.size}] = {{{angles}}};",
        f"  double sines[{2 * early.size}];",
        f"  sines_of(angles, sines, {early.size});",
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
    held += [(node, "sines", place) for node, place in chunk.early_sines.items()]
    held += [(node, "scratch", place) for node, place in chunk.restored.items()]
    for node, array, place in held:
        lines.append(f"  const {kind(widths[node])} {names[node]} = {load_text(widths[node], array, place)};")
    lines += _operation_lines(plan, chunk, lookups)
    outputs = plan.arrays[len(plan.program.inputs) :]
    for node, places in chunk.results.items():
        lines += [f"  {outputs[i]}[{j}] = {reference(node, names)};" for i, j in places]
    return "\n".join([*lines, "}", ""])


def _operation_lines(plan: Layout, chunk: Chunk, lookups: Lookups) -> list[str]:
    """The operations of a chunk, and the values that it leaves behind."""
    lines: list[str] = []
    names, widths, saved = plan.names, plan.widths, chunk.saved
    for node in chunk.operations:
        sign, name = _INFIX.get(node.op), names[node]
        declared = "double" if widths[node] == 1 else kind(widths[node])
        if sign is not None:
            x, y = node.args
            lines.append(f"  const {declared} {name} = {names[x]}{sign}{names[y]};")
        else:
            lines.append(f"  const {declared} {name} = {operation(node, names, lookups)};")
        if node in saved:
            lines.append(f"  {store_text(widths[node], 'scratch', saved[node], name)}")
    return lines


def _caller(plan: Layout, name: str, linkage: str, lookups: Lookups) -> str:
    arguments = ", ".join([*plan.arrays, "scratch", *(["sines"] if plan.early_sines.angles else [])])
    calls = "\n".join(f"  {part(name, k)}({arguments});" for k in range(len(plan.chunks)))
    first = "\n".join([*_early_sines(plan, lookups), f"  double scratch[{max(plan.slots, 1)}];"])
    parameters = ", ".join(parameter_list(plan.arrays, len(plan.program.inputs)))
    return f"{linkage} void {name}({parameters}) {{\n{first}\n{calls}\n}}\n"


class _ValueNames(dict[Expr, str]):
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
