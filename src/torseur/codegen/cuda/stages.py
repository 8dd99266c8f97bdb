"""A program as stages, each held by one thread in its registers; values that cross go through memory.

A program that fits is one stage. Otherwise results that share no input become stages of their own, then limbs before
the trunk that joins them; derivatives that end with the solution of a system first factor it, then solve limb after
limb the columns that belong to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from torseur.codegen.cuda.columns import by_columns
from torseur.codegen.cuda.cutting import cut
from torseur.codegen.cuda.limbs import components, limbs, supports
from torseur.codegen.cuda.recomputing import needed
from torseur.codegen.module import PREPARED
from torseur.codegen.straight import Layout, arranged, fewest_live, most_live, pair_sines, result_orders
from torseur.graph.evaluation import live_nodes
from torseur.graph.expr import Expr
from torseur.graph.program import Program

UNCUT = 400
"""Live values up to which one kernel is faster than stages. A thread has 255 registers, and some shared memory.

Values of double precision take two; counting them so cut an arm's gradient into stages that were slower still."""
FEW = 6000
"""Operations below which a limb shares its stage with others: what all limbs read is then read less often."""

LONGEST = 16000
"""Operations that a stage has at most, unless nothing can be apart."""


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


def staged(program: Program, reserved: frozenset[str], uncut: int = UNCUT) -> Plan:
    """The program in few stages with few values between them."""
    order = _scheduled(program.operations, *result_orders(program))
    if most_live(order) <= uncut:
        return Plan(arranged(program, [order], reserved))
    staging = _Staging(program, uncut)
    return Plan(arranged(staging.program, staging.parts, reserved))


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
        self.program = program
        between: list[Expr] = []
        wide = self._take_what_fits(program)
        if wide and program.solved is not None:
            self.program, between = by_columns(program, program.solved, set(wide))
        self._take(between, ())
        self._take(_results(self.program), between)

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

    def _take(self, results: Sequence[Expr], between: Collection[Expr]) -> None:
        """Stages for some results: one, or limb after limb, then what joins them. What is between is there already."""
        left = [node for node in results if node not in self.known and node.args and node not in self.given]
        if not left or self._append_whole(self._needed(left), left):
            return
        support = supports(live_nodes(left, self.given | set(between)), self.places, between)
        *apart, trunk = limbs(left, support)
        waiting: list[Expr] = []
        for group in [*sorted(apart, key=self._size, reverse=True), trunk]:
            waiting += group
            operations = self._needed(waiting)
            if group is trunk or len(operations) >= FEW:
                self._append_cut(operations, waiting)
                waiting = []

    def _needed(self, results: Sequence[Expr]) -> list[Expr]:
        return needed(results, self.known, self.stored, self.given)

    def _size(self, results: Sequence[Expr]) -> int:
        return len(live_nodes(results, self.known | self.given))

    def _append_whole(self, operations: list[Expr], results: Sequence[Expr]) -> bool:
        """Whether some results fit one stage, which they then are."""
        if len(operations) > LONGEST:
            return False
        order = _scheduled(operations, results, results[::-1])
        fits = most_live(order) <= self.uncut
        if fits:
            self._append(order, results)
        return fits

    def _append_cut(self, operations: list[Expr], results: Sequence[Expr]) -> None:
        """One stage for some results, or several where they do not fit."""
        if self._append_whole(operations, results):
            return
        for part in cut(_scheduled(operations, results, results[::-1]), set(results)):
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
