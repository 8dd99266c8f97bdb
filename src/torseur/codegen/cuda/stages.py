"""A program cut into stages that one thread can hold in its registers; values that cross go through memory."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.codegen.straight import Layout, arranged, fewest_live, most_live, pair_sines
from torseur.graph.expr import Expr
from torseur.graph.program import Program

MOST_LIVE = 225
"""Values that may be live at once. A thread has 255 registers, some of which hold addresses."""
GRAIN = 256
"""Stages grow by so many operations."""


def staged(program: Program, reserved: frozenset[str], live: int = MOST_LIVE) -> Layout:
    """The program in an order with few live values, in as few stages as the limit allows."""
    results = [entry for output in program.outputs for entry in output.entries]
    order = pair_sines(fewest_live(program.operations, results))
    return arranged(program, _stages(order, set(results), live) if most_live(order) > live else [order], reserved)


def _stages(order: Sequence[Expr], results: set[Expr], live: int) -> list[list[Expr]]:
    found: list[list[Expr]] = []
    start = 0
    while start < len(order):
        stage = list(order[start : start + GRAIN])
        while start + len(stage) < len(order):
            longer = _ordered(order[start : start + len(stage) + GRAIN], order, start, results)
            if most_live(longer) > live:
                break
            stage = longer
        found.append(stage)
        start += len(stage)
    return found


def _ordered(part: Sequence[Expr], order: Sequence[Expr], start: int, results: set[Expr]) -> list[Expr]:
    """A stretch of the order, scheduled by itself; what is read later leaves as results do."""
    later = {a for node in order[start + len(part) :] for a in node.args}
    return pair_sines(fewest_live(part, [node for node in part if node in results or node in later]))
