"""Programs printed as C over many states at once: a vector of states per value, arrays row by row.

An array of the program becomes one row per entry, a row holding that entry for all states, `stride` numbers from one
row to the next. Inputs that all states share (prepared parameters) stay plain vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from torseur.algebra.graph.expr import Expr
from torseur.algebra.graph.operations import OPERATIONS
from torseur.algebra.graph.program import Program, Solved
from torseur.computation.codegen.sources.identifiers import Names, part
from torseur.computation.codegen.sources.table_lookup import Lookups
from torseur.computation.codegen.straight_line import CHUNK, Chunk, Layout, array_names, layout
from torseur.computation.codegen.targets.c.c_program import operation, own_text, reference
from torseur.computation.codegen.targets.c.c_routine import function_name
from torseur.computation.codegen.targets.c.c_spelling import RESERVED, double

_PLAIN = ("add", "sub", "mul", "div", "neg", "both", "invert")
"""Operations that C spells the same for vectors."""

_SUMS = {"add", "sub"}

SCHEDULED = 30_000
"""Operations up to which they are ordered such that few values are stored for later: each store costs two cycles."""

# What limits batches, and how orders are compared: docs/decisions/0015-batches-with-vectors-of-states.md.
REGISTERS = 28
"""Of the 32 registers of AVX-512, those that compilers find for values that stay."""

CHUNKS = {4000: 4000, 10_000: 1600, 100_000: 800}
"""Operations up to which a program comes in functions of so many."""

STRAIGHT = 10_000
"""Operations up to which systems with many right sides are part of the straight code. An arm's (5,000) lose a hundredth
when they are solved by limbs, a quadruped's (18,000) gain as much and compile in half the time, a humanoid's (92,000)
gain a sixth."""

_CONSTANT = ("constant", "pi")

_OWN = (
    *("LANE", "LANES_ALL", "LANES_ONCE", "LANES_BEYOND", "begin", "end", "stride", "threads", "count"),
    *("i", "j", "l", "row", "rows", "turned", "values", "result"),
    *("matrix", "rest", "solution", "middle", "shared", "right", "inverse", "follow", "path"),
)
_WORDS = RESERVED | {*_OWN, *(f"lanes_{op}" for op in (*OPERATIONS, "load", "store", "sines"))}

NATIVE = """\
#if defined(__GNUC__) && !defined(__FAST_MATH__)
#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif
#else
#define LANES 1
#endif
"""
"""As many states as a vector of the processor holds that the compiler was told to write for."""


@dataclass(frozen=True)
class Batch:
    """A program whose states lie side by side; `shared` names the inputs that all states have in common.

    `local` names arrays that hold one vector of states: their rows stand behind one another.
    """

    name: str
    program: Program
    shared: tuple[str, ...] = ()
    local: tuple[str, ...] = ()

    @property
    def is_state(self) -> list[bool]:
        """For each array, inputs first, whether it has a row per entry."""
        inputs = [group.name not in self.shared for group in self.program.inputs]
        return [*inputs, *[True] * len(self.program.outputs)]

    @property
    def limb_system(self) -> Solved | None:
        """The system to solve by limbs; None where straight code is as fast."""
        return self.program.solved if len(self.program.operations) > STRAIGHT else None

    @cached_property
    def arrays(self) -> tuple[str, ...]:
        """Identifiers of the inputs, then of the outputs."""
        return array_names(self.program, Names(_WORDS))

    @property
    def parameters(self) -> str:
        """The arrays as parameters of a C function, behind the stride."""
        inputs = len(self.program.inputs)
        arrays = [f"{'const ' if i < inputs else ''}double *restrict {array}" for i, array in enumerate(self.arrays)]
        return ", ".join(["ptrdiff_t stride", *arrays])

    @cached_property
    def steps(self) -> list[str]:
        """For each array, inputs first, the distance of its rows."""
        names = [group.name for group in self.program.inputs] + [output.name for output in self.program.outputs]
        return ["LANES" if name in self.local else "stride" for name in names]

    @cached_property
    def shared_products(self) -> set[Expr]:
        """Products that several sums read and nothing else."""
        readers: dict[Expr, list[str]] = {}
        for node in self.program.operations:
            for argument in node.args:
                if argument.op == "mul":
                    readers.setdefault(argument, []).append(node.op)
        # One product read by two sums: as fused multiply-adds it would be computed twice, in registers that are short.
        return {node for node, ops in readers.items() if len(ops) > 1 and set(ops) <= _SUMS}

    @cached_property
    def plan(self) -> Layout:
        size = next((chunk for most, chunk in CHUNKS.items() if len(self.program.operations) <= most), CHUNK)
        return layout(
            self.program,
            _WORDS,
            chunk=size,
            together=True,
            scheduled=SCHEDULED,
            registers=REGISTERS,
        )

    @cached_property
    def results(self) -> dict[Expr, tuple[int, int]]:
        """Where each result stands first: those that later functions read are read there."""
        places: dict[Expr, tuple[int, int]] = {}
        for i, output in enumerate(self.program.outputs):
            for j, entry in enumerate(output.entries):
                places.setdefault(entry, (i, j))
        return places

    def row(self, i: int, j: int) -> str:
        """Where a row of an array begins; inputs are counted first."""
        return f"{self.arrays[i]} + {j} * {self.steps[i]}"

    @property
    def constants(self) -> list[tuple[int, dict[int, float]]]:
        """For each output that has some, the entries that are the same in every state."""
        constants = []
        for i, output in enumerate(self.program.outputs):
            same = {j: float(entry) for j, entry in enumerate(output.entries) if entry.op in _CONSTANT}
            if same:
                constants.append((i, same))
        return constants


def lanes_text(batches: Sequence[Batch]) -> str:
    """The type `lanes`, and the functions of it that the programs use; the macro LANES must be defined before."""
    used = {node.op for batch in batches for node in batch.program.operations}
    functions = [_lane_function(op) for op in sorted(used) if op in OPERATIONS and op not in _PLAIN]
    return "\n".join([own_text("batch/batch_lanes.h").replace("@LANES@", own_text("lanes.h")), *functions])


def _lane_function(op: str) -> str:
    """An operation on vectors, lane by lane; compilers use vector instructions where there are some."""
    names = "abc"[: OPERATIONS[op].arity]
    value = OPERATIONS[op].spelling["c"].format(*[f"LANE({name}, i)" for name in names])
    parameters = ", ".join(f"lanes {name}" for name in names)
    return (
        f"static TORSEUR_INLINE lanes lanes_{op}({parameters}) {{\n  lanes result;\n"
        f"  for (int i = 0; i < LANES; i++) LANE(result, i) = {value};\n  return result;\n}}\n"
    )


def block_source(batch: Batch, function: str, lookups: Lookups) -> str:
    """static void FUNCTION_block(stride, arrays): one vector of states."""
    plan = batch.plan
    pieces = [_piece(batch, plan, chunk, part(function, k), lookups) for k, chunk in enumerate(plan.chunks)]
    return "\n".join([*pieces, _block(plan, batch, function, lookups)])


def constants_source(batch: Batch, function: str, local: bool = False) -> str:
    """static void FUNCTION(begin, end, stride, arrays): writes the entries that are the same in every state.

    With `local`, only of arrays that hold one vector of states.
    """
    arrays, inputs = batch.arrays, len(batch.program.inputs)
    unused = ", ".join(f"(void){name}" for name in ("begin", "end", "stride", *arrays))
    lines = [f"static void {function}(ptrdiff_t begin, ptrdiff_t end, {batch.parameters}) {{", f"  {unused};"]
    for i, same in batch.constants:
        if local and batch.program.outputs[i].name not in batch.local:
            continue
        values = ", ".join(double(value) for value in same.values())
        lines += [
            "  {",
            f"    static const int rows[{len(same)}] = {{{', '.join(map(str, same))}}};",
            f"    static const double values[{len(same)}] = {{{values}}};",
            f"    for (int j = 0; j < {len(same)}; j++) {{",
            f"      double *const row = {arrays[inputs + i]} + rows[j] * stride;",
            "      for (ptrdiff_t i = begin; i < end; i++) row[i] = values[j];",
            "    }",
            "  }",
        ]
    return "\n".join([*lines, "}", ""])


def parameters_of(batch: Batch) -> str:
    """The arrays as parameters of a C function."""
    arrays, inputs = batch.arrays, len(batch.program.inputs)
    return ", ".join(f"{'const ' if i < inputs else ''}double *{array}" for i, array in enumerate(arrays))


def _piece(batch: Batch, plan: Layout, chunk: Chunk, function: str, lookups: Lookups) -> str:
    own = "lanes *restrict scratch, const lanes *restrict sines"
    head = f"static TORSEUR_NOINLINE void {function}({batch.parameters}, {own}) {{"
    unused = ", ".join(f"(void){name}" for name in ("stride", *plan.arrays, "scratch", "sines"))
    lines = [head, f"  {unused};", *_Statements(batch, plan, chunk, lookups).lines()]
    return "\n".join([*lines, "}", ""])


class _Statements:
    """The statements of a chunk: values are loaded right before their first use and results stored when they are known.

    Compilers keep what is loaded early in registers, or copy it elsewhere in memory when these run out.
    """

    def __init__(self, batch: Batch, plan: Layout, chunk: Chunk, lookups: Lookups) -> None:
        self.batch, self.chunk, self.names, self.lookups = batch, chunk, plan.names, lookups
        self.inputs = len(batch.program.inputs)
        self.loads = {node: _load(plan, batch, i, j) for node, (i, j) in chunk.inputs.items()}
        self.loads |= {node: f"sines[{place}]" for node, place in chunk.early_sines.items()}
        self.loads |= {node: f"scratch[{slot}]" for node, slot in chunk.restored.items()}
        for node in chunk.restored:
            # A result that a later chunk reads is in memory already: read there, it needs no slot of scratch.
            if node in batch.results:
                i, j = batch.results[node]
                self.loads[node] = f"lanes_load({batch.row(self.inputs + i, j)})"

    def lines(self) -> Iterable[str]:
        computed: set[Expr] = set()
        for k, node in enumerate(self.chunk.operations):
            if node in computed:
                continue
            following = self.chunk.operations[k + 1 : k + 2]
            together = [
                node,
                *(n for n in following if _is_circular(n) and _is_circular(node) and n.args == node.args),
            ]
            yield from self._load_lines(node.args)
            yield from self._operation_lines(node, together)
            computed.update(together)
            for value in together:
                yield from self._save_lines(value)
        for node in self.chunk.results:
            if node not in computed and node.op not in _CONSTANT:
                yield from self._load_lines([node])
                yield from self._store_lines(node)

    def _load_lines(self, nodes: Iterable[Expr]) -> Iterable[str]:
        for node in nodes:
            if node in self.loads:
                yield f"  const lanes {self.names[node]} = {self.loads.pop(node)};"

    def _operation_lines(self, node: Expr, together: list[Expr]) -> Iterable[str]:
        name = self.names[node]
        if _is_circular(node):
            yield _sine_and_cosine(node, together, self.names)
        elif node.op == "table":
            lookup = function_name(self.lookups.function(node.data))
            yield f"  lanes {name};"
            argument = f"LANE({_vector(node.args[0], self.names)}, i)"
            yield f"  for (int i = 0; i < LANES; i++) LANE({name}, i) = {lookup}({argument});"
        # Compilers would multiply again inside each sum, as a fused multiply-add; a product that several sums read is
        # cheaper once. LANES_ONCE hides it from them.
        elif node in self.batch.shared_products:
            yield f"  lanes {name} = {_operation(node, self.names, self.lookups)};"
            yield f"  LANES_ONCE({name});"
        else:
            yield f"  const lanes {name} = {_operation(node, self.names, self.lookups)};"

    def _save_lines(self, node: Expr) -> Iterable[str]:
        if node in self.chunk.saved and node not in self.batch.results:
            yield f"  scratch[{self.chunk.saved[node]}] = {self.names[node]};"
        yield from self._store_lines(node)

    def _store_lines(self, node: Expr) -> Iterable[str]:
        for i, j in self.chunk.results.get(node, ()):
            yield f"  lanes_store({self.batch.row(self.inputs + i, j)}, {_vector(node, self.names)});"


def _is_circular(node: Expr) -> bool:
    return node.op in ("sin", "cos")


def _sine_and_cosine(node: Expr, together: list[Expr], names: dict[Expr, str]) -> str:
    """Sine and cosine of one angle come together; the one that is not used costs little."""
    pair = f"{names[node]}_"
    given = f"(const double *)(lanes[1]){{{_vector(node.args[0], names)}}}"
    both = [f"  lanes {pair}[2];", f"  lanes_sines({given}, LANES, (const int[1]){{0}}, {pair}, 1, 1);"]
    return "\n".join([*both, *(f"  const lanes {names[n]} = {pair}[{int(n.op == 'cos')}];" for n in together)])


def _early_sines(plan: Layout, batch: Batch, lookups: Lookups) -> list[str]:
    """The lines that compute the sines and cosines of all angles."""
    early = plan.early_sines
    if not early.angles:
        return ["  lanes *const sines = 0;"]
    lines, source, rows = _angles(plan, batch, lookups)
    table = f"  static const int turned[{len(rows)}] = {{{', '.join(map(str, rows))}}};"
    call = f"  lanes_sines({source}, turned, sines, {len(rows)}, {early.size});"
    return [*lines, table, f"  lanes sines[{2 * early.size}];", call]


def _angles(plan: Layout, batch: Batch, lookups: Lookups) -> tuple[list[str], str, list[int]]:
    """Where the angles are: lines that compute them, the array with its stride, and their rows there.

    Angles that are entries of one input are read where they stand; others are put in an array.
    """
    angles, inputs = plan.early_sines.angles, plan.program.inputs
    for i, group in enumerate(inputs):
        row = {node: j for j, node in enumerate(group.nodes)}
        # Most angles are coordinates: these need no copy, only the numbers of their rows.
        if batch.is_state[i] and all(angle in row for angle in angles):
            return [], f"{plan.arrays[i]}, stride", [row[angle] for angle in angles]
    local = {node: _load(plan, batch, i, j) for i, group in enumerate(inputs) for j, node in enumerate(group.nodes)}
    lines = []
    for k, node in enumerate(plan.early_sines.operations):
        lines.append(f"  const lanes {part('angle', k)} = {_operation(node, {**plan.names, **local}, lookups)};")
        local[node] = part("angle", k)
    lines.append(f"  const lanes angles[{len(angles)}] = {{{', '.join(local[angle] for angle in angles)}}};")
    return lines, "(const double *)angles, LANES", list(range(len(angles)))


def _load(plan: Layout, batch: Batch, i: int, j: int) -> str:
    """An entry of an input."""
    array = plan.arrays[i]
    return f"lanes_load({batch.row(i, j)})" if batch.is_state[i] else f"LANES_ALL({array}[{j}])"


def _operation(node: Expr, names: dict[Expr, str], lookups: Lookups) -> str:
    if node.op in _PLAIN:
        # An operation of constants alone (2/3 π) is a number, which no vector of the compiler begins with.
        plain = operation(node, names, lookups)
        return plain if any(a in names for a in node.args) else f"LANES_ALL({plain})"
    return f"lanes_{node.op}({', '.join(_vector(a, names) for a in node.args)})"


def _vector(node: Expr, names: dict[Expr, str]) -> str:
    return names[node] if node in names else f"LANES_ALL({reference(node, names)})"


def _block(plan: Layout, batch: Batch, function: str, lookups: Lookups) -> str:
    """One vector of states."""
    arguments = ", ".join(["stride", *plan.arrays, "scratch", "sines"])
    calls = [f"  {part(function, k)}({arguments});" for k in range(len(plan.chunks))]
    head = f"static void {function}_block({batch.parameters}) {{"
    return "\n".join(
        [head, *_early_sines(plan, batch, lookups), f"  lanes scratch[{max(plan.slots, 1)}];", *calls, "}", ""]
    )


def range_source(batch: Batch, function: str) -> str:
    """static void FUNCTION(begin, end, stride, arrays): the states from begin to before end.

    Whole vectors in place; what is left over is copied to a vector of its own, filled up with the last state.

    Results are copied there too, because not all entries are written.
    """
    states, inputs = batch.is_state, len(batch.program.inputs)
    sizes = [*map(len, batch.program.inputs), *map(len, batch.program.outputs)]
    shifted = [f"{a} + i" if state else a for a, state in zip(batch.arrays, states, strict=True)]
    local = [f"rest_{k}_" if state else a for k, (a, state) in enumerate(zip(batch.arrays, states, strict=True))]
    lines = [
        f"static void {function}(ptrdiff_t begin, ptrdiff_t end, {batch.parameters}) {{",
        "  ptrdiff_t i = begin;",
        f"  for (; i + LANES <= end; i += LANES) {function}_block({', '.join(['stride', *shifted])});",
        "  if (i >= end) return;",
    ]
    moved = [(k, a, n) for k, (a, n) in enumerate(zip(batch.arrays, sizes, strict=True)) if states[k]]
    lines += [f"  double rest_{k}_[{max(n, 1)} * LANES];" for k, _, n in moved]
    for k, array, n in moved:
        # Filled up with the last state, not with zeros: a zero may be where the equations are singular, and what it
        # raises there (infinities, slow paths of sines) would cost time for nothing.
        last = "(i + l < end ? i + l : end - 1)"
        lines.append(f"  for (int j = 0; j < {n}; j++)")
        lines.append(f"    for (int l = 0; l < LANES; l++) rest_{k}_[j * LANES + l] = {array}[j * stride + {last}];")
    lines.append(f"  {function}_block({', '.join(['LANES', *local])});")
    # Only the states that exist: the vector's other lanes hold copies of the last one.
    for k, array, n in (m for m in moved if m[0] >= inputs):
        lines.append(f"  for (int j = 0; j < {n}; j++)")
        lines.append(f"    for (int l = 0; i + l < end; l++) {array}[j * stride + i + l] = rest_{k}_[j * LANES + l];")
    return "\n".join([*lines, "}", ""])
