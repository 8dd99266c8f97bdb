"""Programs of systems without constraints: x' and its derivatives by state and parameters.

For a mechanism the accelerations a satisfy M a + b - Q = 0 =: r, so their tangents are -M⁻¹ (r_y u + r_p) at fixed a:
cheaper than differentiating the solution. Backwards, with M x = w, the adjoints w of the accelerations become -x on r.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from torseur.algebra.graph import (
    Expr,
    Input,
    Program,
    as_expr,
    directional_derivative,
    matrix,
    substitute,
    symbol,
    vector,
    weighted_gradient,
)
from torseur.algebra.graph.solve import solve_symmetric
from torseur.analysis.sensitivity.model.tensor_derivatives import TensorDerivatives
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.derivation.dynamics import inverse_dynamics
from torseur.derivation.formalisms.inertia_tensors import InertiaTensors
from torseur.derivation.tree import regroup


@dataclass(frozen=True, eq=False)
class OpenPrograms:
    """The programs that the routines of both methods call, for a system without constraints."""

    variation: Variation

    @cached_property
    def rhs(self) -> list[Expr]:
        """x' as formulas."""
        own = list(self.variation.rhs.outputs[0].entries)
        if self.is_mechanism:
            own = [*own[: self._coordinates], *self._accelerations]
        return [*own, *self.variation.integrands]

    @property
    def is_mechanism(self) -> bool:
        return self.variation.system.programs is not None

    @property
    def _coordinates(self) -> int:
        return self.variation.system.coordinates

    @cached_property
    def _accelerations(self) -> list[Expr]:
        """M⁻¹ (Q - b), which shares its factors with everything that is solved for beside it."""
        equations = self.variation.system.programs.equations  # type: ignore[union-attr]
        forces = [q - b for q, b in zip(equations.loads, equations.bias, strict=True)]
        return solve_symmetric(equations.mass_matrix, forces, equations.layout.speed_names)

    @cached_property
    def _residual(self) -> list[Expr]:
        """r(y, p, a), with a as symbols."""
        equations = self.variation.system.programs.equations  # type: ignore[union-attr]
        layout = equations.layout
        # Newton-Euler with a as symbols: no entry of M is formed, so that there is less to differentiate.
        taken = inverse_dynamics(regroup(equations.tree), layout.coordinates, layout.speeds, layout.accelerations)
        return [as_expr(a) - b for a, b in zip(taken, equations.loads, strict=True)]

    @property
    def leading(self) -> int:
        """How many entries at the head of x' are states themselves: rates that are the speeds."""
        states, plain = self.variation.states, self._coordinates
        return plain if tuple(self.rhs[:plain]) == states[plain : 2 * plain] else 0

    @cached_property
    def tangent(self) -> Program:
        """x', and its derivatives by the states and by the parameters but for the rows at its head that are known."""
        rows = self._derivative_rows()[self.leading :]
        by_states = [row[: len(self.variation.states)] for row in rows]
        by_parameters = [row[len(self.variation.states) :] for row in rows]
        outputs = (vector("dy", self.rhs), matrix("by_states", by_states), matrix("by_parameters", by_parameters))
        return Program("tangent", self.variation.rhs.inputs, outputs)

    def _derivative_rows(self) -> list[list[Expr]]:
        """Derivatives of x' by states and parameters, a row each."""
        plain = self._coordinates
        if not self.is_mechanism:
            return self._by_variables(self.rhs)
        equations = self.variation.system.programs.equations  # type: ignore[union-attr]
        layout = equations.layout
        # Derivatives are taken at fixed a, and only then a becomes its formula: all columns are solved with the same
        # factors of M as the motion itself, which common subexpressions then share.
        solution = dict(zip(layout.accelerations, self._accelerations, strict=True))
        columns = zip(*self._residual_derivatives(), strict=True)
        solved = [
            solve_symmetric(equations.mass_matrix, substitute([-e for e in column], solution), layout.speed_names)
            for column in columns
        ]
        accelerations = [list(row) for row in zip(*solved, strict=True)]
        return [
            *self._by_variables(self.rhs[:plain]),
            *accelerations,
            *self._by_variables(self.variation.integrands),
        ]

    def _residual_derivatives(self) -> list[list[Expr]]:
        """Derivatives of r; by the state without derivation where the equations are written with inertia tensors."""
        equations = self.variation.system.programs.equations  # type: ignore[union-attr]
        by_derivation = self._by_variables(self._residual)
        if not isinstance(equations.formulation, InertiaTensors):
            return by_derivation
        tensors = TensorDerivatives(equations.formulation)
        if not tensors.is_possible:
            return by_derivation
        # Tensors give M a + b only; loads, and derivatives by parameters, are differentiated in any case.
        of_loads = self.variation.by_states(list(equations.loads))
        states = len(self.variation.states)
        return [
            [*(a - b for a, b in zip(own, loads, strict=True)), *row[states:]]
            for own, loads, row in zip(tensors.residual_derivatives(), of_loads, by_derivation, strict=True)
        ]

    def _by_variables(self, formulas: Sequence[Expr]) -> list[list[Expr]]:
        by_states, by_parameters = self.variation.by_states(formulas), self.variation.by_parameters(formulas)
        return [a + b for a, b in zip(by_states, by_parameters, strict=True)]

    @cached_property
    def adjoints(self) -> tuple[Expr, ...]:
        return tuple(symbol(f"adjoint of derivative {k}") for k in range(self.variation.size))

    @cached_property
    def accelerations(self) -> tuple[Expr, ...]:
        """Symbols of the accelerations that are known when derivatives are pulled back."""
        return self.variation.system.programs.equations.layout.accelerations if self.is_mechanism else ()  # type: ignore[union-attr]

    @cached_property
    def pullback_formulas(self) -> tuple[list[Expr], list[Expr]]:
        """wᵀ x' differentiated by the states and by the parameters, for adjoints w and known accelerations."""
        outputs, adjoints = list(self.rhs), list(self.adjoints)
        if self.is_mechanism:
            plain, count = self._coordinates, len(self._residual)
            equations = self.variation.system.programs.equations  # type: ignore[union-attr]
            # wᵀ a with M a = Q - b: instead of the solution, r = M a + b - Q is differentiated, weighed by -x with M x
            # = w.
            of_accelerations = adjoints[plain : plain + count]
            x = solve_symmetric(equations.mass_matrix, of_accelerations, equations.layout.speed_names)
            outputs[plain : plain + count] = self._residual
            adjoints[plain : plain + count] = [-e for e in x]
        return self.variation.gradient(outputs, adjoints)

    @property
    def _known_accelerations(self) -> tuple[Input, ...]:
        return (Input("a", self.accelerations),) if self.is_mechanism else ()

    @cached_property
    def pullback(self) -> Program:
        """Adjoints of x' pulled back to adjoints of the states and of the parameters."""
        by_states, by_parameters = self.pullback_formulas
        inputs = (*self.variation.rhs.inputs, *self._known_accelerations, Input("w", self.adjoints))
        return Program("pullback", inputs, (vector("ybar", by_states), vector("pbar", by_parameters)))

    @cached_property
    def settled_tangent(self) -> Program | None:
        """Tangents of a state brought back on its manifold, from tangents w of the state before."""
        project = self.variation.system.project
        if project is None:
            return None
        w = tuple(symbol(f"tangent of state {k}") for k in range(len(self.variation.states)))
        direction = dict(zip(project.input("y").nodes, w, strict=True))
        tangents = directional_derivative(list(project.outputs[0].entries), direction)
        return Program("settled_tangent", (*project.inputs, Input("w", w)), (vector("out", tangents),))

    @cached_property
    def settled_adjoint(self) -> Program | None:
        """Adjoints w of a settled state pulled back to the state before."""
        project = self.variation.system.project
        if project is None:
            return None
        w = tuple(symbol(f"adjoint of state {k}") for k in range(len(self.variation.states)))
        adjoints = weighted_gradient(list(project.outputs[0].entries), list(w), project.input("y").nodes)
        return Program("settled_adjoint", (*project.inputs, Input("w", w)), (vector("out", adjoints),))

    def curvature(self, directions: int) -> Program:
        """Derivatives of what `pullback` gives along several directions, made once."""
        if directions not in self._curvatures:
            self._curvatures[directions] = self._curvature(directions)
        return self._curvatures[directions]

    @cached_property
    def _curvatures(self) -> dict[int, Program]:
        return {}

    def _curvature(self, directions: int) -> Program:
        """Derivatives of what `pullback` gives along directions of states, accelerations, adjoints and constants.

        Directions stand side by side: entry k of direction d of a vector at k * directions + d.
        """
        variation = self.variation
        varying = {
            "u": variation.states,
            "b": self.accelerations,
            "v": self.adjoints,
            "e": variation.moving,
        }
        marks = {
            name: [[symbol(f"{name} {k} {d}") for d in range(directions)] for k in range(len(nodes))]
            for name, nodes in varying.items()
        }
        by_states, by_parameters = self.pullback_formulas
        columns = []
        for d in range(directions):
            along = {node: marks[name][k][d] for name, nodes in varying.items() for k, node in enumerate(nodes)}
            columns.append(directional_derivative([*by_states, *by_parameters], along))
        rows = [[column[k] for column in columns] for k in range(len(by_states) + len(by_parameters))]
        inputs = [Input(name, tuple(mark for row in rows for mark in row)) for name, rows in marks.items() if rows]
        count = len(by_states)
        outputs = (matrix("ybar", rows[:count]), matrix("pbar", rows[count:]))
        return Program("curvature", (*self.pullback.inputs, *inputs), outputs)
