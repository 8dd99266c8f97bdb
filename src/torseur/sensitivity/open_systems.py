"""Programs of systems without constraints: slopes of x, and how they change with state and parameters.

For a mechanism the accelerations a satisfy M a + b - Q = 0 =: r, so their changes are -M⁻¹ (r_y u + r_p) at fixed a:
cheaper than differentiating the solution. Backwards, with M x = w, the weights w of the accelerations become -x on r.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from torseur.dynamics import inverse_dynamics
from torseur.formalisms.inertia_tensors import InertiaTensors
from torseur.graph import (
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
from torseur.graph.solve import solve_symmetric
from torseur.sensitivity.tensor_slopes import TensorSlopes
from torseur.sensitivity.variation import Variation
from torseur.tree import regrouped


@dataclass(frozen=True, eq=False)
class OpenPrograms:
    """The programs that the routines of both methods call, for a system without constraints."""

    variation: Variation

    @cached_property
    def slopes(self) -> list[Expr]:
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
        taken = inverse_dynamics(regrouped(equations.tree), layout.coordinates, layout.speeds, layout.accelerations)
        return [as_expr(a) - b for a, b in zip(taken, equations.loads, strict=True)]

    @property
    def leading(self) -> int:
        """How many slopes at the head of x' are states themselves: rates that are the speeds."""
        states, plain = self.variation.states, self._coordinates
        return plain if tuple(self.slopes[:plain]) == states[plain : 2 * plain] else 0

    @cached_property
    def tangent(self) -> Program:
        """x', and its slopes by the states and by the parameters but for the rows at its head that are known."""
        rows = self._changes()[self.leading :]
        by_states = [row[: len(self.variation.states)] for row in rows]
        by_parameters = [row[len(self.variation.states) :] for row in rows]
        outputs = (vector("dy", self.slopes), matrix("by_states", by_states), matrix("by_parameters", by_parameters))
        return Program("tangent", self.variation.rhs.inputs, outputs)

    def _changes(self) -> list[list[Expr]]:
        """Slopes of x' by states and parameters, a row each."""
        plain = self._coordinates
        if not self.is_mechanism:
            return self._by_all(self.slopes)
        equations = self.variation.system.programs.equations  # type: ignore[union-attr]
        layout = equations.layout
        found = dict(zip(layout.accelerations, self._accelerations, strict=True))
        columns = zip(*self._residual_slopes(), strict=True)
        solved = [
            solve_symmetric(equations.mass_matrix, substitute([-e for e in column], found), layout.speed_names)
            for column in columns
        ]
        accelerations = [list(row) for row in zip(*solved, strict=True)]
        return [*self._by_all(self.slopes[:plain]), *accelerations, *self._by_all(self.variation.integrands)]

    def _residual_slopes(self) -> list[list[Expr]]:
        """Slopes of r; by the state without derivation where the equations are written with inertia tensors."""
        equations = self.variation.system.programs.equations  # type: ignore[union-attr]
        by_derivation = self._by_all(self._residual)
        if not isinstance(equations.formulation, InertiaTensors):
            return by_derivation
        tensors = TensorSlopes(equations.formulation)
        if not tensors.is_possible:
            return by_derivation
        of_loads = self.variation.by_states(list(equations.loads))
        states = len(self.variation.states)
        return [
            [*(a - b for a, b in zip(own, loads, strict=True)), *row[states:]]
            for own, loads, row in zip(tensors.residual_slopes(), of_loads, by_derivation, strict=True)
        ]

    def _by_all(self, formulas: Sequence[Expr]) -> list[list[Expr]]:
        by_states, by_parameters = self.variation.by_states(formulas), self.variation.by_parameters(formulas)
        return [a + b for a, b in zip(by_states, by_parameters, strict=True)]

    @cached_property
    def weights(self) -> tuple[Expr, ...]:
        return tuple(symbol(f"weight of slope {k}") for k in range(self.variation.size))

    @cached_property
    def accelerations(self) -> tuple[Expr, ...]:
        """Symbols of the accelerations that are known when slopes are pulled back."""
        return self.variation.system.programs.equations.layout.accelerations if self.is_mechanism else ()  # type: ignore[union-attr]

    @cached_property
    def pulled(self) -> tuple[list[Expr], list[Expr]]:
        """wᵀ x' differentiated by the states and by the parameters, for weights w and known accelerations."""
        variables = [*self.variation.states, *self.variation.moving]
        outputs, weights = list(self.slopes), list(self.weights)
        if self.is_mechanism:
            plain, count = self._coordinates, len(self._residual)
            equations = self.variation.system.programs.equations  # type: ignore[union-attr]
            moved = weights[plain : plain + count]
            pushed = solve_symmetric(equations.mass_matrix, moved, equations.layout.speed_names)
            outputs[plain : plain + count] = self._residual
            weights[plain : plain + count] = [-x for x in pushed]
        found = weighted_gradient(outputs, weights, variables)
        by_constants = dict(zip(self.variation.moving, found[len(self.variation.states) :], strict=True))
        return found[: len(self.variation.states)], self._of_study(by_constants)

    def _of_study(self, by_constants: dict[Expr, Expr]) -> list[Expr]:
        constants = self.variation.constants
        return [
            sum((by_constants[constants[slot]] * weight for slot, weight in parameter.constants), as_expr(0))
            for parameter in self.variation.varied
        ]

    @property
    def _known(self) -> tuple[Input, ...]:
        return (Input("a", self.accelerations),) if self.is_mechanism else ()

    @cached_property
    def pullback(self) -> Program:
        """Weights of x' pulled back to weights of the states and of the parameters."""
        by_states, by_parameters = self.pulled
        inputs = (*self.variation.rhs.inputs, *self._known, Input("w", self.weights))
        return Program("pullback", inputs, (vector("ybar", by_states), vector("pbar", by_parameters)))

    @cached_property
    def settled_change(self) -> Program | None:
        """Changes of a state brought back on its manifold, from changes w of the state before."""
        project = self.variation.system.project
        if project is None:
            return None
        w = tuple(symbol(f"change of state {k}") for k in range(len(self.variation.states)))
        direction = dict(zip(project.input("y").nodes, w, strict=True))
        changed = directional_derivative(list(project.outputs[0].entries), direction)
        return Program("settled_change", (*project.inputs, Input("w", w)), (vector("out", changed),))

    @cached_property
    def settled_weights(self) -> Program | None:
        """Weights w of a settled state pulled back to the state before."""
        project = self.variation.system.project
        if project is None:
            return None
        w = tuple(symbol(f"weight of state {k}") for k in range(len(self.variation.states)))
        pulled = weighted_gradient(list(project.outputs[0].entries), list(w), project.input("y").nodes)
        return Program("settled_weights", (*project.inputs, Input("w", w)), (vector("out", pulled),))

    def curvature(self, directions: int) -> Program:
        """Changes of what `pullback` gives along several directions, made once."""
        if directions not in self._curvatures:
            self._curvatures[directions] = self._curvature(directions)
        return self._curvatures[directions]

    @cached_property
    def _curvatures(self) -> dict[int, Program]:
        return {}

    def _curvature(self, directions: int) -> Program:
        """Changes of what `pullback` gives along several directions of states, accelerations, weights and constants.

        Directions stand side by side: entry k of direction d of a vector at k * directions + d.
        """
        variation = self.variation
        moved = {
            "u": variation.states,
            "b": self.accelerations,
            "v": self.weights,
            "e": variation.moving,
        }
        marks = {
            name: [[symbol(f"{name} {k} {d}") for d in range(directions)] for k in range(len(nodes))]
            for name, nodes in moved.items()
        }
        by_states, by_parameters = self.pulled
        columns = []
        for d in range(directions):
            along = {node: marks[name][k][d] for name, nodes in moved.items() for k, node in enumerate(nodes)}
            columns.append(directional_derivative([*by_states, *by_parameters], along))
        rows = [[column[k] for column in columns] for k in range(len(by_states) + len(by_parameters))]
        inputs = [Input(name, tuple(mark for row in rows for mark in row)) for name, rows in marks.items() if rows]
        count = len(by_states)
        outputs = (matrix("ybar", rows[:count]), matrix("pbar", rows[count:]))
        return Program("curvature", (*self.pullback.inputs, *inputs), outputs)
