"""Expressions as flat rows, so that pickling a deep graph meets no recursion limit.

The receiving process builds the nodes again through the folds, so they are shared with those it already has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torseur.algebra.graph.construction.folding import build
from torseur.algebra.graph.evaluation import live_nodes
from torseur.algebra.graph.expr import Expr, constant, intern

Row = tuple[str, tuple[int, ...], Any]


@dataclass(frozen=True)
class Packed:
    """Nodes by their position in rows of (operation, positions of arguments, data)."""

    rows: tuple[Row, ...]
    positions: tuple[int, ...]


def pack(nodes: Sequence[Expr]) -> Packed:
    """The nodes with everything they depend on."""
    position: dict[Expr, int] = {}
    rows: list[Row] = []
    for node in live_nodes(nodes):
        position[node] = len(rows)
        rows.append((node.op, tuple(position[a] for a in node.args), node.data))
    return Packed(tuple(rows), tuple(position[node] for node in nodes))


def unpack(packed: Packed) -> list[Expr]:
    """The nodes of this process that equal the packed ones."""
    built: list[Expr] = []
    for op, arguments, data in packed.rows:
        built.append(_node(op, tuple(built[i] for i in arguments), data))
    return [built[i] for i in packed.positions]


def unpack_one(packed: Packed) -> Expr:
    return unpack(packed)[0]


def _node(op: str, arguments: tuple[Expr, ...], data: Any) -> Expr:
    if op == "constant":
        return constant(data)
    if data is not None or not arguments:
        return intern(op, arguments, data)
    # Through the folds, not `intern`: a newer version may fold what an older one packed.
    return build(op, arguments)
