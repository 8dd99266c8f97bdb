"""One equation or definition at any level of detail: left = right, with what it means and where it comes from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from torseur.algebra.graph import Expr
from torseur.presentation.typesetting.formula_tree import Node, Sum

Rows = tuple[tuple[Node, ...], ...]


@dataclass(frozen=True)
class Remark:
    """What a quantity is: its meaning, its unit, and the bodies and joints it belongs to."""

    meaning: str = ""
    unit: str = ""
    bodies: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """meaning, in unit."""
        return ", in ".join(part for part in (self.meaning, self.unit if self.unit != "1" else "") if part)


def unite(origins: Iterable[Remark]) -> Remark:
    """One origin for several."""
    listed = list(origins)
    meanings = dict.fromkeys(one.meaning for one in listed if one.meaning)
    bodies = dict.fromkeys(body for one in listed for body in one.bodies)
    joints = dict.fromkeys(joint for one in listed for joint in one.joints)
    return Remark("; ".join(meanings), "", tuple(bodies), tuple(joints))


@dataclass(frozen=True)
class Statement:
    """left = matrix, vector or expression; `expressions` are the same entries in the graph, where there are any.

    `name` labels it. An `auxiliary` statement defines an intermediate of others. `summands` are SymPy expressions
    of either side where the statement is one of vectors. `origins` goes with the terms of the right side, term by term.
    """

    name: str
    left: Node
    rows: Rows
    shape: str  # "matrix" (symmetric), "table", "vector", "components" (of a vector), "scalar", or "name" alone
    expressions: tuple[tuple[Expr, ...], ...] = ()
    auxiliary: bool = False
    title: str = ""
    remark: Remark = field(default_factory=Remark)
    summands: tuple[tuple[Any, ...], tuple[Any, ...]] | None = None
    left_origins: tuple[Remark, ...] = ()
    origins: tuple[Remark, ...] = ()

    @property
    def right(self) -> Node:
        """The right side of a scalar statement."""
        return self.rows[0][0]

    @property
    def intrinsic(self) -> tuple[Any, Any] | None:
        """Either side of a statement of vectors as SymPy adds it up, which takes its time."""
        if self.summands is None:
            return None
        left, right = (sum(terms[1:], terms[0]) if terms else 0 for terms in self.summands)
        return left, right


def terms_of(node: Node) -> tuple[Node, ...]:
    """The terms of a sum, or the one node."""
    return node.terms if isinstance(node, Sum) else (node,)
