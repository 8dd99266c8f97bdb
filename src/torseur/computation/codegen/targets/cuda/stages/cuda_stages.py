"""A program as stages, each held by one thread in its registers; values that cross go through memory.

A program that fits is one stage. Otherwise results that share no input become stages of their own, then limbs before
the trunk that joins them; derivatives that end with the solution of a system first factor it, then solve limb after
limb the columns that belong to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from torseur.algebra.graph.evaluation import live_nodes
from torseur.algebra.graph.expr import Expr
from torseur.algebra.graph.program import Program
from torseur.computation.codegen.sources.source_module import PREPARED
from torseur.computation.codegen.straight_line import (
    Layout,
    arrange_chunks,
    fewest_live,
    most_live,
    pair_sines,
    result_orders,
)
from torseur.computation.codegen.targets.cuda.stages.cuda_columns import by_columns
from torseur.computation.codegen.targets.cuda.stages.cutting import MOST_LIVE, cut_into_stretches
from torseur.computation.codegen.targets.cuda.stages.recomputation import operations_needed
from torseur.computation.codegen.targets.cuda.stages.result_groups import components, limbs, supports

UNCUT = 400
"""Live values up to which one kernel is faster than stages. A thread has 255 registers, and some shared memory.

Values of double precision take two; counting them so cut an arm's gradient into stages that were slower still."""
WIDER = 1.2
"""How many more live values stages of columns may have than others: parts of them read again what columns share."""
FEW = 6000
"""Operations below which a limb shares its stage with others: what all limbs read is then read less often."""
FEW_DOUBLES = 2500
"""The same in double precision, where a stage holds half as much."""
SMALL = 300
"""Operations below which limbs go with a trunk that fills a stage of its own."""

LONGEST = 12000
"""Operations that a stage has at most, unless nothing can be apart."""
TOGETHER = 5000
"""Operations of one kernel for results that share no input; code beyond is no longer near at hand for a processor."""
JOINED = 2500
"""Operations up to which results that share no input still share a kernel of a longer program."""


@dataclass(frozen=True)
class Plan:
    """The stages of a program: straight-line chunks."""

    layout: Layout

    @property
    def scratch(self) -> int:
        """Values per state that go through memory, apart from inputs and outputs."""
        return self.layout.slots

    @property
    def stages(self) -> int:
        return len(self.layout.chunks)

    @property
    def operations(self) -> list[int]:
        """Operations of each stage."""
        return [len(chunk.operations) for chunk in self.layout.chunks]

    @cached_property
    def fine(self) -> list[set[Expr]]:
        """By stage what is divided by, there or later, and all values of the stage that it comes from.

        The same value may be fine in one stage and computed again, or read, with fewer digits in another.
        """
        fine: list[set[Expr]] = []
        read_later: set[Expr] = set()
        # Backwards, because whether a value needs its digits is decided by who divides by it, here or in a later stage.
        for chunk in reversed(self.layout.chunks):
            here = set(chunk.operations)
            wanted = {node.args[1] for node in chunk.operations if node.op == "div"} | (here & read_later)
            for node in reversed(chunk.operations):
                if node in wanted:
                    wanted.update(node.args)
            fine.append({node for node in wanted if node in here or node in chunk.restored})
            read_later |= fine[-1] - here
        return fine[::-1]

    def spill_scalar(self, stage: int) -> str:
        """The scalar of what a stage spills: F where any of its values is one."""
        inputs = self.layout.chunks[stage].inputs.values()
        prepared = any(self.layout.program.inputs[i].name == PREPARED for i, _ in inputs)
        return "F" if prepared or self.fine[stage] else "T"


def plan_stages(program: Program, reserved: frozenset[str], uncut: int = UNCUT, few: int = FEW) -> Plan:
    """The program in few stages with few values between them; limbs of few operations share one."""
    order = _schedule(program.operations, *result_orders(program))
    if most_live(order) <= uncut and len(order) <= TOGETHER:
        return Plan(arrange_chunks(program, [order], reserved))
    staging = _Staging(program, uncut, few)
    return Plan(arrange_chunks(staging.program, staging.parts, reserved))


def _schedule(operations: Sequence[Expr], *results: Sequence[Expr]) -> list[Expr]:
    return pair_sines(fewest_live(operations, *results))


class _Staging:
    """A program on its way to stages."""

    def __init__(self, program: Program, uncut: int, few: int) -> None:
        self.uncut, self.few = uncut, few
        self.parts: list[list[Expr]] = []
        self.known: set[Expr] = set()
        self.stored: set[Expr] = set()
        self.given = {node for group in program.inputs for node in group.nodes}
        self.places = _places(program)
        self.program = program
        between: list[Expr] = []
        # Three rounds: components that fit one thread as they are; then what all columns of the system share; then the
        # rest. Each round sees what earlier stages have stored.
        wide = self._take_what_fits(program)
        if wide and program.solved is not None:
            self.program, between = by_columns(program, program.solved, set(wide))
            self.uncut = int(WIDER * uncut)
        self._take(between, ())
        self._take(_results(self.program), between)

    def _take_what_fits(self, program: Program) -> list[Expr]:
        """Components that one thread can hold become stages; gives the results of the others."""
        wide: list[Expr] = []
        results = _results(program)
        apart = components(results, supports(program.nodes, _states(program)))
        for group in self._together(apart):
            order = _schedule(operations_needed(group, (), (), self.given), group)
            if most_live(order) <= self.uncut and len(order) <= LONGEST:
                self._append(order, group)
            else:
                wide += group
        return wide

    def _together(self, groups: Iterable[list[Expr]]) -> list[list[Expr]]:
        """Groups of results, those of few operations joined."""
        joined: list[list[Expr]] = []
        waiting: list[Expr] = []
        # Small ones first, so that as many as possible share a kernel.
        for group in sorted(groups, key=self._size):
            if waiting and self._size([*waiting, *group]) > JOINED:
                joined.append(waiting)
                waiting = []
            waiting = [*waiting, *group]
        return [*joined, waiting]

    def _take(self, results: Sequence[Expr], between: Collection[Expr]) -> None:
        """Stages for some results: one, or limb after limb, then what joins them. What is between is there already."""
        left = [node for node in results if node not in self.known and node.args and node not in self.given]
        if not left or self._append_whole(left):
            return
        support = supports(live_nodes(left, self.given | set(between)), self.places, between)
        *apart, trunk = limbs(left, support)
        waiting: list[Expr] = []
        # Large limbs first: they fill stages by themselves, and the small ones then share the last.
        for group in sorted(apart, key=self._size, reverse=True):
            waiting += group
            if len(self._operations_for(waiting)) >= self.few:
                self._append_stages(waiting)
                waiting = []
        if self._size(waiting) >= SMALL and self._size(trunk) >= self.few:
            self._append_stages(waiting)
            waiting = []
        self._append_stages([*waiting, *trunk])

    def _operations_for(self, results: Sequence[Expr]) -> list[Expr]:
        return operations_needed(results, self.known, self.stored, self.given)

    def _size(self, results: Sequence[Expr]) -> int:
        return len(live_nodes(results, self.known | self.given))

    def _append_whole(self, results: Sequence[Expr]) -> bool:
        """Whether some results fit one stage, which they then are."""
        operations = self._operations_for(results)
        if len(operations) > LONGEST:
            return False
        order = _schedule(operations, results, results[::-1])
        fits = most_live(order) <= self.uncut
        if fits:
            self._append(order, results)
        return fits

    def _append_stages(self, results: Sequence[Expr]) -> None:
        """One stage for some results, or several where they do not fit."""
        if self._append_whole(results):
            return
        order = _schedule(self._operations_for(results), results, results[::-1])
        for part in cut_into_stretches(order, set(results), min(MOST_LIVE, self.uncut)):
            if used := self._still_read(part):
                self._append(used, [node for node in part if node in set(results)])

    def _still_read(self, part: Sequence[Expr]) -> list[Expr]:
        """A part without what was to be computed again for the parts behind it, which read it from memory."""
        read: set[Expr] = set()
        kept = []
        for node in reversed(part):
            if node not in self.known or node in read:
                kept.append(node)
                read.update(node.args)
        return kept[::-1]

    def _append(self, order: list[Expr], results: Iterable[Expr]) -> None:
        here = set(order)
        # What a stage reads of earlier ones is in memory from now on: reading it again costs one word, not two.
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
