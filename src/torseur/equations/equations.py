"""The equations of motion of a mechanism, the same whatever formalism wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.dynamics import elastic_energy, gravity_energy, kinetic_energy
from torseur.equations.formulation import Formulation, as_expressions
from torseur.graph import Expr, as_expr, directional_derivative, live_nodes
from torseur.mechanism import TIME, Mechanism
from torseur.tree import Layout, Tree


@dataclass(frozen=True)
class Equations:
    """q' = rates(q, v, t),  M(q) v' + bias(q, v) = loads(q, v, t), all as expressions of the layout's symbols.

    Parts are derived when first asked for, so a large mechanism pays only for what is used.
    """

    formulation: Formulation

    @property
    def tree(self) -> Tree:
        return self.formulation.tree

    @property
    def mechanism(self) -> Mechanism:
        return self.tree.mechanism

    @property
    def layout(self) -> Layout:
        return self.tree.layout

    @property
    def formalism(self) -> str:
        return self.formulation.name

    @property
    def time(self) -> Expr:
        return TIME

    @cached_property
    def rates(self) -> tuple[Expr, ...]:
        """q' in terms of q, v and t."""
        return tuple(as_expr(rate) for link in self.tree.links for rate in link.motion.rates)

    @cached_property
    def mass_matrix(self) -> tuple[tuple[Expr, ...], ...]:
        """M, by rows."""
        return tuple(tuple(as_expressions(row)) for row in self.formulation.mass_matrix())

    @cached_property
    def bias(self) -> tuple[Expr, ...]:
        """Centrifugal, Coriolis and gravity terms."""
        return tuple(as_expressions(self.formulation.bias()))

    @cached_property
    def loads(self) -> tuple[Expr, ...]:
        """Generalised forces of the loads."""
        return tuple(as_expressions(self.formulation.loads()))

    @cached_property
    def acceleration(self) -> tuple[Expr, ...]:
        """v' as explicit expressions."""
        return tuple(as_expressions(self.formulation.acceleration()))

    @cached_property
    def residual(self) -> tuple[Expr, ...]:
        """M v' + bias - loads, zero along a motion, with v' as symbols."""
        vdot = self.layout.accelerations
        rows = zip(self.mass_matrix, self.bias, self.loads, strict=True)
        return tuple(sum((m * a for m, a in zip(row, vdot, strict=True)), b - f) for row, b, f in rows)

    @cached_property
    def kinetic_energy(self) -> Expr:
        return as_expr(kinetic_energy(self.tree, self.layout.coordinates, self.layout.speeds))

    @cached_property
    def potential_energy(self) -> Expr:
        """Of gravity and of springs with constant stiffness."""
        q = self.layout.coordinates
        return as_expr(gravity_energy(self.tree, q)) + as_expr(elastic_energy(self.tree, q))

    @cached_property
    def power(self) -> Expr:
        """Rate at which what has no potential adds energy: the loads' power beyond that of springs.

        Along a motion, the rate of kinetic plus potential energy equals it (for joints that do not depend on time).
        """
        given = sum((f * v for f, v in zip(self.loads, self.layout.speeds, strict=True)), as_expr(0))
        elastic = as_expr(elastic_energy(self.tree, self.layout.coordinates))
        motion = dict(zip(self.layout.coordinates, self.rates, strict=True))
        (stored,) = directional_derivative([elastic], motion)
        return given + stored

    @cached_property
    def undetermined(self) -> tuple[Expr, ...]:
        """Undetermined functions that the loads contain, as nodes."""
        return tuple(node for node in live_nodes(self.loads) if node.op == "apply")

    @property
    def objects(self) -> Mapping[str, Any]:
        """Named intermediate results of the formalism."""
        return self.formulation.objects()
