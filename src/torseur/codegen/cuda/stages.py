"""A program as stages, each held by one thread in its registers; values that cross go through memory.

A program that fits is one stage. Otherwise results that share no input become stages of their own, then limbs before
the trunk that joins them; derivatives that end with the solution of a system leave its columns in their places, and a
last stage solves them there, one after the other, with the factors in registers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from torseur.codegen.cuda.cutting import cut
from torseur.codegen.cuda.limbs import components, limbs, supports
from torseur.codegen.cuda.recomputing import needed
from torseur.codegen.module import PREPARED
from torseur.codegen.straight import Layout, arranged, fewest_live, most_live, pair_sines, result_orders
from torseur.graph.evaluation import live_nodes
from torseur.graph.expr import Expr, as_expr
from torseur.graph.program import Output, Program, Solved, vector

UNCUT = 340
"""Live values up to which one kernel with spills is faster than stages. A thread has 255 registers.

Values of double precision take two; counting them so cut an arm's gradient into stages that were slower still."""
FEW = 800
"""Operations below which a limb is no stage of its own."""
FACTORS = "factors"
"""The name of the array that holds the factors of a system between stages."""


@dataclass(frozen=True)
class Columns:
    """Right sides with the same rows that are not always zero: (output, column) of each."""

    rows: tuple[int, ...]
    places: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class System:
    """The solution of -A⁻¹ B in place for some rows of B; A = Lᵀ D L.

    `lower` gives the rows (k, i) of the entries of L and `rows` those of 1/D, in the order in which they are stored.
    """

    rows: tuple[int, ...]
    lower: tuple[tuple[int, int], ...]
    columns: tuple[Columns, ...]


@dataclass(frozen=True)
class Plan:
    """The stages of a program: straight-line chunks, then systems solved in place.

    The program of the layout may have one more output than the program that was asked for: the factors.
    """

    layout: Layout
    systems: tuple[System, ...] = ()
    outputs: int = 0
    """How many outputs were asked for."""

    @property
    def scratch(self) -> int:
        """Values per state that go through memory, apart from inputs and outputs."""
        factors = sum(len(output) for output in self.layout.program.outputs[self.outputs :])
        return self.layout.slots + factors

    @property
    def stages(self) -> int:
        return len(self.layout.chunks) + len(self.systems)

    @property
    def operations(self) -> list[int]:
        """Operations of each stage; a column of a system takes two for every entry of L, twice."""
        straight = [len(chunk.operations) for chunk in self.layout.chunks]
        return straight + [
            sum(len(c.places) for c in s.columns) * (4 * len(s.lower) + len(s.rows)) for s in self.systems
        ]


def staged(program: Program, reserved: frozenset[str], uncut: int = UNCUT) -> Plan:
    """The program in few stages with few values between them."""
    order = _scheduled(program.operations, *result_orders(program))
    if most_live(order) <= uncut:
        return Plan(arranged(program, [order], reserved), outputs=len(program.outputs))
    staging = _Staging(program, uncut)
    return Plan(arranged(staging.program, staging.parts, reserved), staging.systems, len(program.outputs))


def _scheduled(operations: Sequence[Expr], *results: Sequence[Expr]) -> list[Expr]:
    return pair_sines(fewest_live(operations, *results))


class _Staging:
    """A program on its way to stages."""

    def __init__(self, program: Program, uncut: int) -> None:
        self.uncut = uncut
        self.parts: list[list[Expr]] = []
        self.known: set[Expr] = set()
        self.stored: set[Expr] = set()
        self.given = {node for group in program.inputs for node in group.nodes}
        self.places = _places(program)
        wide = self._take_what_fits(program)
        self.program: Program = program
        self.systems: tuple[System, ...] = ()
        middle: list[Expr] = []
        if wide and program.solved is not None:
            self.program, self.systems, middle = _unsolved(program, program.solved, wide)
        self._take(middle, ())
        self._take(_results(self.program), middle)

    def _take_what_fits(self, program: Program) -> list[Expr]:
        """Components that one thread can hold become stages; gives the results of the others."""
        wide: list[Expr] = []
        results = _results(program)
        for group in components(results, supports(program.nodes, _states(program))):
            order = _scheduled(needed(group, (), (), self.given), group)
            if most_live(order) <= self.uncut:
                self._append(order, group)
            else:
                wide += group
        return wide

    def _take(self, results: Sequence[Expr], middle: Collection[Expr]) -> None:
        """Stages for some results: limb after limb, then what joins them. What is in the middle is there already."""
        left = [node for node in results if node not in self.known and node.args and node not in self.given]
        if not left:
            return
        support = supports(live_nodes(left, self.given | set(middle)), self.places, middle)
        waiting: list[Expr] = []
        groups = limbs(left, support)
        for k, group in enumerate(groups):
            waiting += group
            operations = needed(waiting, self.known, self.stored, self.given)
            if len(operations) < FEW and k + 1 < len(groups):
                continue
            self._append_cut(operations, waiting)
            waiting = []

    def _append_cut(self, operations: list[Expr], results: list[Expr]) -> None:
        order = _scheduled(operations, results, results[::-1])
        if most_live(order) <= self.uncut:
            self._append(order, results)
            return
        for part in cut(order, set(results)):
            self._append(part, [node for node in part if node in set(results)])

    def _append(self, order: list[Expr], results: Iterable[Expr]) -> None:
        here = set(order)
        self.stored |= {a for node in order for a in node.args if a in self.known and a not in here}
        self.parts.append(order)
        self.known |= here
        self.stored |= set(results)


def _places(program: Program) -> tuple[Expr, ...]:
    """The inputs that tell limbs apart: the first vector, which is that of the coordinates; speeds would do as well."""
    vectors = [group.nodes for group in program.inputs if group.name != PREPARED and len(group) > 1]
    return vectors[0] if vectors else ()


def _states(program: Program) -> list[Expr]:
    return [node for group in program.inputs if group.name != PREPARED for node in group.nodes]


def _results(program: Program) -> list[Expr]:
    """What is written out, each value once, by columns from the last to the first."""
    entries = result_orders(program)[-1]
    return list(dict.fromkeys(node for node in entries if node.args))


def _unsolved(
    program: Program, solved: Solved, wide: Collection[Expr]
) -> tuple[Program, tuple[System, ...], list[Expr]]:
    """The program with right sides in the places of wide results, the systems to solve, the values in the middle."""
    wanted = set(wide)
    entries = [list(output.entries) for output in program.outputs]
    rows: set[int] = set()
    columns: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for column in solved.columns:
        side, across = column.entries, program.outputs[column.output].shape[1]
        results = entries[column.output][column.number :: across]
        mine = [i for i, result in enumerate(results) if result in wanted]
        for i in mine:
            entries[column.output][i * across + column.number] = side.get(i, as_expr(0))
        if mine:
            rows.update(mine)
            pattern = tuple(i for i in mine if i in side and not side[i].is_zero)
            columns.setdefault(pattern, []).append((column.output, column.number))
    lower = tuple((k, i) for k, i in solved.pattern if k in rows)
    place = {pair: e for e, pair in enumerate(solved.pattern)}
    factors = [solved.program.output("lower").entries[place[pair]] for pair in lower]
    factors += [solved.program.output("inverse").entries[k] for k in sorted(rows)]
    outputs = [Output(o.name, o.shape, tuple(e)) for o, e in zip(program.outputs, entries, strict=True)]
    system = System(tuple(sorted(rows)), lower, tuple(Columns(p, tuple(c)) for p, c in columns.items()))
    changed = replace(program, outputs=(*outputs, vector(FACTORS, factors)), solved=None)
    reached = set(live_nodes([node for output in changed.outputs for node in output.entries], ()))
    return changed, (system,), [node for node in solved.middle if node in reached]
