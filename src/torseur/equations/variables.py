"""What functions of a mechanism are differentiated by."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.graph import Expr

Rows = list[list[Expr]]


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
