"""A system with what varies in it, and the integrals that run along with its motion.

The state that is integrated is x = (y, z): the system's own state y, then the integrals z of `integrands`. Its tangents
u by the parameters of the study form a matrix of a row per entry of x and a column per parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.algebra.graph import Expr, Program, as_expr, dense_jacobian, weighted_gradient
from torseur.analysis.sensitivity.model.varied_parameters import Varied
from torseur.computation.simulation.model.system import System, Vector


# Why every criterion is an integrand: docs/decisions/0036-criteria-as-integrands.md.
@dataclass(frozen=True, eq=False)
class Variation:
    """The system, its varied parameters, the integrands, and the tangents `start` of its initial state."""

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
    def initial_tangents(self) -> Vector:
        """u where the motion starts."""
        return np.vstack([self.start, np.zeros((len(self.integrands), self.columns))])

    @cached_property
    def moving(self) -> tuple[Expr, ...]:
        """The constants that some parameter of the study changes."""
        # In the order in which parameters name them, each once: groups may share a constant.
        slots = dict.fromkeys(slot for parameter in self.varied for slot, _ in parameter.constants)
        return tuple(self.constants[slot] for slot in slots)

    def by_parameters(self, formulas: Sequence[Expr]) -> list[list[Expr]]:
        """Derivatives of formulas by the parameters of the study at a fixed state, a row per formula."""
        return [self._of_study(row) for row in dense_jacobian(list(formulas), self.moving)]

    def by_states(self, formulas: Sequence[Expr]) -> list[list[Expr]]:
        """Derivatives of formulas by the states, a row per formula."""
        return dense_jacobian(list(formulas), self.states)

    def gradient(self, formulas: Sequence[Expr], adjoints: Sequence[Expr]) -> tuple[list[Expr], list[Expr]]:
        """Σ adjoint · formula differentiated by the states and by the parameters of the study."""
        entries = weighted_gradient(formulas, adjoints, [*self.states, *self.moving])
        return entries[: len(self.states)], self._of_study(entries[len(self.states) :])

    def _of_study(self, by_constants: Sequence[Expr]) -> list[Expr]:
        """Derivatives by the parameters of the study, from those by the constants that they move."""
        known = dict(zip(self.moving, by_constants, strict=True))
        return [
            sum((known[self.constants[slot]] * weight for slot, weight in parameter.constants), as_expr(0))
            for parameter in self.varied
        ]
