"""A system with what varies in it, and the integrals that run along with its motion.

The state that is integrated is x = (y, z): the system's own state y, then the integrals z of `integrands`. Its changes
u by the parameters of the study form a matrix of a row per entry of x and a column per parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.graph import Expr, Program, as_expr, jacobian
from torseur.sensitivity.parameters import Varied
from torseur.simulation.system import System, Vector


@dataclass(frozen=True, eq=False)
class Variation:
    """The system, its varied parameters, the integrands, and the changes `start` of its initial state."""

    system: System
    varied: tuple[Varied, ...]
    start: Vector
    integrands: tuple[Expr, ...] = ()

    @property
    def rhs(self) -> Program:
        assert isinstance(self.system.rhs, Program)
        return self.system.rhs

    @property
    def states(self) -> tuple[Expr, ...]:
        return self.rhs.input("y").nodes

    @property
    def constants(self) -> tuple[Expr, ...]:
        return self.rhs.input("p").nodes if any(group.name == "p" for group in self.rhs.inputs) else ()

    @property
    def size(self) -> int:
        """Entries of x."""
        return len(self.states) + len(self.integrands)

    @property
    def columns(self) -> int:
        return len(self.varied)

    @property
    def initial(self) -> Vector:
        """x where the motion starts."""
        return np.concatenate([self.system.initial, np.zeros(len(self.integrands))])

    @cached_property
    def initial_changes(self) -> Vector:
        """u where the motion starts."""
        return np.vstack([self.start, np.zeros((len(self.integrands), self.columns))])

    @cached_property
    def moving(self) -> tuple[Expr, ...]:
        """The constants that some parameter of the study changes."""
        slots = dict.fromkeys(slot for parameter in self.varied for slot, _ in parameter.constants)
        return tuple(self.constants[slot] for slot in slots)

    def by_parameters(self, formulas: Sequence[Expr]) -> list[list[Expr]]:
        """Slopes of formulas by the parameters of the study at a fixed state, a row per formula."""
        slopes = jacobian(list(formulas), self.moving)
        places = {node: place for place, node in enumerate(self.moving)}
        return [
            [
                sum(
                    (
                        slopes.get((row, places[self.constants[slot]]), as_expr(0)) * weight
                        for slot, weight in parameter.constants
                    ),
                    as_expr(0),
                )
                for parameter in self.varied
            ]
            for row in range(len(formulas))
        ]

    def by_states(self, formulas: Sequence[Expr]) -> list[list[Expr]]:
        """Slopes of formulas by the states, a row per formula."""
        slopes = jacobian(list(formulas), self.states)
        columns = range(len(self.states))
        return [[slopes.get((row, j), as_expr(0)) for j in columns] for row in range(len(formulas))]
