"""What functions of a mechanism are differentiated by."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.graph import Expr, Input, symbol

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


def direction_of(variables: Variables) -> Input:
    """The input that says in which direction variables change."""
    names = [str(node) for node in variables.nodes]
    return Input(f"{variables.name}{DIRECTION}", tuple(symbol(f"direction of {name}") for name in names))
