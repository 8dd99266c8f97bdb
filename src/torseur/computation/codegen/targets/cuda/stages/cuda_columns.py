"""The columns of -A⁻¹ B, each an expression of its right side and of values that all columns share.

Stages that hold some columns then read the shared values and write solutions: right sides never go through memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from torseur.algebra.graph.evaluation import live_nodes
from torseur.algebra.graph.expr import Expr, as_expr
from torseur.algebra.graph.program import Output, Program, Solved
from torseur.algebra.graph.solve import SymmetricFactors

_ZERO = as_expr(0)


# Why columns are solved in the stage that makes them: docs/decisions/0022-gpu-columns-solved-where-made.md.
def by_columns(program: Program, solved: Solved, wanted: Collection[Expr]) -> tuple[Program, list[Expr]]:
    """The program with wanted results as columns of the system, and what stands between their two halves.

    These are the values in the middle of the right sides' program, and the factors that columns read.
    """
    entries = [list(output.entries) for output in program.outputs]
    for column, solution in zip(solved.columns, _solutions(solved), strict=True):
        own, across = entries[column.output], program.outputs[column.output].shape[1]
        for i, entry in enumerate(solution):
            place = i * across + column.number
            own[place] = entry if own[place] in wanted else own[place]
    outputs = [Output(o.name, o.shape, tuple(e)) for o, e in zip(program.outputs, entries, strict=True)]
    changed = replace(program, outputs=tuple(outputs), solved=None)
    results = [entry for output in outputs for entry in output.entries]
    nodes = live_nodes(results, ())
    middle = _with_terms([node for node in solved.middle if node in set(nodes)], nodes)
    return changed, list(dict.fromkeys([*middle, *_shared_values(results, _right_sides(solved) - set(middle))]))


def _solutions(solved: Solved) -> list[list[Expr]]:
    """The columns of -A⁻¹ B, all rows of each."""
    inverse = solved.program.output("inverse").entries
    lower: list[dict[int, Expr]] = [{} for _ in inverse]
    for (k, i), entry in zip(solved.pattern, solved.program.output("lower").entries, strict=True):
        lower[k][i] = entry
    # `inverse` is 1/D: with -1/D in its place the solver gives the columns of -A⁻¹ B.
    factors = SymmetricFactors(tuple(lower), tuple(-entry for entry in inverse))
    return factors.solve_all([[column.entries.get(k, _ZERO) for k in range(len(inverse))] for column in solved.columns])


def _right_sides(solved: Solved) -> set[Expr]:
    """The entries of right sides, with and without their signs."""
    entries = [side for column in solved.columns for side in column.entries.values()]
    return {node for side in entries if side.args for node in (side, *(side.args if side.op == "neg" else ()))}


def _with_terms(middle: Sequence[Expr], nodes: Iterable[Expr]) -> list[Expr]:
    """Values and the terms of their sums that others read too: an acceleration, and what it is without gravity."""
    readers = Counter(argument for node in nodes for argument in set(node.args))
    chosen, pending = dict.fromkeys(middle), list(middle)
    while pending:
        node = pending.pop()
        for term in node.args if node.op in ("add", "sub", "neg") else ():
            if term.args and term not in chosen:
                pending.append(term)
                if readers[term] > 1:
                    chosen[term] = None
    return list(chosen)


def _shared_values(results: Sequence[Expr], sides: Collection[Expr]) -> list[Expr]:
    """What columns read that does not come from right sides."""
    columns: set[Expr] = set()
    shared: dict[Expr, None] = {}
    for node in live_nodes(results, sides):
        if node in sides:
            columns.add(node)
        elif any(argument in columns for argument in node.args):
            columns.add(node)
            shared |= dict.fromkeys(a for a in node.args if a.args and a not in columns)
    return list(shared)
