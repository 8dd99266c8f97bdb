"""What functions of a mechanism are differentiated by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.algebra.graph import Expr, Input, directional_derivative, symbol

Rows = list[list[Expr]]
DIRECTION = "_direction"


@dataclass(frozen=True)
class Variables:
    """What to differentiate by: an input, or one entry of it, which then adds no dimension to the result.

    With `along`, the nodes are speeds, and the derivative is by a displacement along them: by the configuration, but
    in the directions of the speeds. For a coordinate whose rate is the speed that is the same.
    """

    name: str
    nodes: tuple[Expr, ...]
    single: bool = False
    along: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return () if self.single else (len(self.nodes),)


@dataclass(frozen=True)
class Direction:
    """A direction in which variables change together; `number` tells it from that of another differentiation."""

    ways: tuple[Variables, ...]
    number: int = 1

    @property
    def name(self) -> str:
        return "_".join(way.name for way in self.ways)

    @property
    def inputs(self) -> list[Input]:
        """Their tangents, one vector for each: q_direction, v_direction; of a second direction q_direction2, ..."""
        return [Input(f"{way.name}{DIRECTION}{self._mark}", self._tangents(way)) for way in self.ways]

    def tangents(self, coordinates: Sequence[Expr], rates: Sequence[Expr]) -> dict[Expr, Expr]:
        """How much each node changes; coordinates by a displacement as by rates with these speeds."""
        by_node: dict[Expr, Expr] = {}
        for way in self.ways:
            given = dict(zip(way.nodes, self._tangents(way), strict=True))
            by_node |= dict(zip(coordinates, directional_derivative(rates, given), strict=True)) if way.along else given
        return by_node

    def _tangents(self, way: Variables) -> tuple[Expr, ...]:
        which = "direction" if self.number == 1 else f"direction {self.number}"
        kind = "displacement along" if way.along else "of"
        return tuple(symbol(f"{which} {kind} {node}", _unit(node)) for node in way.nodes)

    @property
    def _mark(self) -> str:
        return "" if self.number == 1 else str(self.number)


def _unit(node: Expr) -> str:
    return str(node.data.unit) if node.op == "symbol" else "1"
