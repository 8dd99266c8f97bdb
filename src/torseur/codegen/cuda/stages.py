"""A program cut into stages that one thread can hold in its registers; values that cross go through memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    last = {argument: k for k, node in enumerate(order) for argument in node.args}
    found: list[list[Expr]] = []
    start = 0
    while start < len(order):
        stage = _longest(order, start, last, results, live)
        found.append(stage)
        start += len(stage)
    return found


def _longest(order: Sequence[Expr], start: int, last: Mapping[Expr, int], results: set[Expr], live: int) -> list[Expr]:
    """The longest stretch from a place on that fits, found by doubling and halving; one grain is always taken."""
    most = -(-(len(order) - start) // GRAIN)
    best, fits, fails = list(order[start : start + GRAIN]), 1, most + 1
    while fails - fits > 1:
        grains = min(2 * fits, most) if fails > most else (fits + fails) // 2
        stretch = _ordered(order[start : start + grains * GRAIN], start, last, results)
        if most_live(stretch) <= live:
            best, fits = stretch, grains
        else:
            fails = grains
    return best


def _ordered(part: Sequence[Expr], start: int, last: Mapping[Expr, int], results: set[Expr]) -> list[Expr]:
    """A stretch of the order, scheduled by itself; what is read later leaves as results do."""
    end = start + len(part)
    return pair_sines(fewest_live(part, [node for node in part if node in results or last.get(node, 0) >= end]))
