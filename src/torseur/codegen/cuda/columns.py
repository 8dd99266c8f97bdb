"""The columns of -A⁻¹ B, each an expression of its right side and of values that all columns share.

Stages that hold some columns then read the shared values and write solutions: right sides never go through memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from torseur.graph.evaluation import live_nodes
from torseur.graph.expr import Expr, as_expr
from torseur.graph.program import Output, Program, Solved

_ZERO = as_expr(0)


def by_columns(program: Program, solved: Solved, wanted: Collection[Expr]) -> tuple[Program, list[Expr]]:
    """The program with wanted results as columns of the system, and what stands between their two halves.

    These are the values in the middle of the right sides' program, and the factors that columns read.
    """
    factors = _Factors(solved)
    entries = [list(output.entries) for output in program.outputs]
    for column in solved.columns:
        own, across = entries[column.output], program.outputs[column.output].shape[1]
        rows = [i for i, result in enumerate(own[column.number :: across]) if result in wanted]
        side = {i: entry for i, entry in column.entries.items() if i in rows}
        for i, entry in factors.solution(side, rows).items():
            own[i * across + column.number] = entry
    outputs = [Output(o.name, o.shape, tuple(e)) for o, e in zip(program.outputs, entries, strict=True)]
    changed = replace(program, outputs=tuple(outputs), solved=None)
    results = [entry for output in outputs for entry in output.entries]
    nodes = live_nodes(results, ())
    middle = _with_terms([node for node in solved.middle if node in set(nodes)], nodes)
    return changed, list(dict.fromkeys([*middle, *_shared(results, _right_sides(solved) - set(middle))]))


class _Factors:
    """A = Lᵀ D L, from the last row up."""

    def __init__(self, solved: Solved) -> None:
        self.inverse = solved.program.output("inverse").entries
        self.lower: list[dict[int, Expr]] = [{} for _ in self.inverse]
        for (k, i), entry in zip(solved.pattern, solved.program.output("lower").entries, strict=True):
            self.lower[k][i] = entry
        self._found: dict[tuple[int, frozenset[int]], dict[int, Expr]] = {}

    def solution(self, side: Mapping[int, Expr], rows: Sequence[int]) -> dict[int, Expr]:
        """Some rows of -A⁻¹ b: inward along the tree, then outward."""
        b = {i: entry for i, entry in side.items() if not entry.is_zero}
        for k in reversed(rows):
            for i, factor in self.lower[k].items() if k in b else ():
                b[i] = b.get(i, _ZERO) - factor * b[k]
        idle = frozenset(k for k in rows if k not in b)
        x: dict[int, Expr] = {}
        for k in rows:
            rest = -(b[k] * self.inverse[k]) if k in b else _ZERO
            for i, factor in (self._following(k, idle) if k in idle else self.lower[k]).items():
                rest = rest - factor * x[i]
            x[k] = rest
        return x

    def _following(self, k: int, idle: frozenset[int]) -> dict[int, Expr]:
        """Row k of L with idle rows put in: without a right side of its own, a limb follows what carries it."""
        key = k, idle & self._reached[k]
        if key not in self._found:
            row: dict[int, Expr] = {}
            for i, factor in self.lower[k].items():
                if i not in idle:
                    row[i] = row.get(i, _ZERO) + factor
                    continue
                for j, entry in self._following(i, idle).items():
                    row[j] = row.get(j, _ZERO) - factor * entry
            self._found[key] = row
        return self._found[key]

    @cached_property
    def _reached(self) -> list[frozenset[int]]:
        """For each row the rows it depends on, directly or through others."""
        reached: list[frozenset[int]] = []
        for row in self.lower:
            reached.append(frozenset(row).union(*(reached[i] for i in row)))
        return reached


def _right_sides(solved: Solved) -> set[Expr]:
    """The entries of right sides, with and without their signs."""
    entries = [side for column in solved.columns for side in column.entries.values()]
    return {node for side in entries if side.args for node in (side, *(side.args if side.op == "neg" else ()))}


def _with_terms(middle: Sequence[Expr], nodes: Iterable[Expr]) -> list[Expr]:
    """Values and the terms of their sums that others read too: an acceleration, and what it is without gravity."""
    readers = Counter(argument for node in nodes for argument in set(node.args))
    found, pending = dict.fromkeys(middle), list(middle)
    while pending:
        node = pending.pop()
        for term in node.args if node.op in ("add", "sub", "neg") else ():
            if term.args and term not in found:
                pending.append(term)
                if readers[term] > 1:
                    found[term] = None
    return list(found)


def _shared(results: Sequence[Expr], sides: Collection[Expr]) -> list[Expr]:
    """What columns read that does not come from right sides."""
    columns: set[Expr] = set()
    found: dict[Expr, None] = {}
    for node in live_nodes(results, sides):
        if node in sides:
            columns.add(node)
        elif any(argument in columns for argument in node.args):
            columns.add(node)
            found |= dict.fromkeys(a for a in node.args if a.args and a not in columns)
    return list(found)
