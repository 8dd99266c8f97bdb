"""Programs of constrained mechanisms: residuals, constraints at each level, integrands, and their slopes.

At a state, accelerations a and multipliers l satisfy r = M a + Cᵀ l - f = 0 and c = C a - γ = 0. Their changes solve
K [a'; l'] = -[r_y u + r_p; c_y u + c_p] with K = [M Cᵀ; C 0], at fixed a and l in the slopes. Backwards, with
K [x; m] = [weights of a; weights of l], these weights become -x on r and -m on c.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.graph import (
    Expr,
    Input,
    Program,
    as_expr,
    directional_derivative,
    jacobian,
    matrix,
    symbol,
    vector,
    weighted_gradient,
)
from torseur.sensitivity.variation import Variation
from torseur.simulation.programs import MechanismPrograms


@dataclass(frozen=True, eq=False)
class ConstrainedPrograms:
    """The programs that the routines of both methods call, for a mechanism with constraints."""

    variation: Variation

    @property
    def programs(self) -> MechanismPrograms:
        programs = self.variation.system.programs
        assert programs is not None
        return programs

    @property
    def _inputs(self) -> tuple[Input, ...]:
        return (*self.programs.inputs, *self.programs.solution)

    @cached_property
    def _rates(self) -> list[Expr]:
        return list(self.programs.equations.rates)

    @cached_property
    def equations_of_motion(self) -> list[Expr]:
        """r, then c."""
        return self.programs.residuals

    @cached_property
    def slopes(self) -> tuple[Program, Program]:
        """The terms of the motion, then slopes of rates, of r and c, and of the integrands.

        Slopes have a row per state and then per parameter.
        """
        groups = (
            ("rate_slopes", self._rates),
            ("slopes", self.equations_of_motion),
            ("integrand_slopes", self._integrands),
        )
        slopes = Program("slopes", self._inputs, tuple(self._by_variables(name, e) for name, e in groups))
        return sharing(self.programs.dynamics, slopes)

    @cached_property
    def equation_slopes(self) -> Program:
        """Slopes of r and c alone, a row per state and then per parameter."""
        return Program("equation_slopes", self._inputs, (self._by_variables("slopes", self.equations_of_motion),))

    def formula_slopes(self, formulas: Sequence[Expr]) -> Program:
        """Formulas with their slopes by states, parameters and multipliers, a row each."""
        multipliers = self.programs.multipliers
        found = jacobian(list(formulas), multipliers)
        rows = [[found.get((i, j), as_expr(0)) for j in range(len(multipliers))] for i in range(len(formulas))]
        outputs = (
            vector("values", list(formulas)),
            matrix("by_states", self.variation.by_states(formulas)),
            matrix("by_parameters", self.variation.by_parameters(formulas)),
            matrix("by_multipliers", rows),
        )
        return Program("formula_slopes", self._inputs, outputs)

    def _by_variables(self, name: str, formulas: Sequence[Expr]) -> Any:
        by_states = self.variation.by_states(formulas)
        by_parameters = self.variation.by_parameters(formulas)
        rows = [a + b for a, b in zip(by_states, by_parameters, strict=True)]
        columns = len(self.variation.states) + self.variation.columns
        return matrix(name, [[row[j] for row in rows] for j in range(columns)])

    @property
    def _integrands(self) -> tuple[Expr, ...]:
        return self.variation.integrands

    @cached_property
    def integrands(self) -> Program:
        """The integrands, and their slopes by accelerations and multipliers, a row per integrand."""
        known = [node for group in self.programs.solution for node in group.nodes]
        found = jacobian(list(self._integrands), known)
        rows = [[found.get((i, j), as_expr(0)) for j in range(len(known))] for i in range(len(self._integrands))]
        return Program("integrands", self._inputs, (vector("values", self._integrands), matrix("by_solution", rows)))

    @cached_property
    def pulled(self) -> tuple[Program, Program]:
        """The terms of the motion, then weights pulled back to states and parameters."""
        return sharing(self.programs.dynamics, self.pulled_alone)

    @cached_property
    def pulled_alone(self) -> Program:
        """Weights w of x', and x of r and c, pulled back to states and parameters."""
        size = len(self._rates) + len(self.programs.equations.layout.speeds) + len(self._integrands)
        w = tuple(symbol(f"weight of slope {k}") for k in range(size))
        x = tuple(symbol(f"weight of equation {k}") for k in range(len(self.equations_of_motion)))
        coordinates, count = len(self._rates), len(self._integrands)
        formulas = [*self._rates, *self._integrands, *self.equations_of_motion]
        weights = [*w[:coordinates], *w[size - count :], *(-e for e in x)]
        ybar, pbar = self._gradient(formulas, weights)
        inputs = (*self._inputs, Input("w", w), Input("x", x))
        return Program("pulled", inputs, (vector("ybar", ybar), vector("pbar", pbar)))

    def _gradient(self, formulas: Sequence[Expr], weights: Sequence[Expr]) -> tuple[list[Expr], list[Expr]]:
        variation = self.variation
        found = weighted_gradient(formulas, weights, [*variation.states, *variation.moving])
        by_constants = dict(zip(variation.moving, found[len(variation.states) :], strict=True))
        by_parameters = [
            sum((by_constants[variation.constants[slot]] * weight for slot, weight in parameter.constants), as_expr(0))
            for parameter in variation.varied
        ]
        return found[: len(variation.states)], by_parameters

    @cached_property
    def levels(self) -> tuple[list[Expr], list[Expr]]:
        """Constraints on positions (0 for those on velocities only), and on velocities: C v + drift."""
        speeds = self.programs.equations.layout.speeds
        constraints = self.programs.constraints
        phi = [c.residual if c.is_holonomic else as_expr(0) for c in constraints]
        slip = [sum((a * v for a, v in zip(c.row, speeds, strict=True)), c.drift) for c in constraints]
        return phi, slip

    @cached_property
    def level_slopes(self) -> Program:
        """Slopes of the constraints on positions and on velocities, and N of q' = N v + n (a row per coordinate)."""
        phi, slip = self.levels
        speeds = self.programs.equations.layout.speeds
        found = jacobian(self._rates, speeds)
        shape = range(len(self._rates)), range(len(speeds))
        reach = [[found.get((i, j), as_expr(0)) for j in shape[1]] for i in shape[0]]
        outputs = (
            self._by_variables("phi_slopes", phi),
            self._by_variables("slip_slopes", slip),
            matrix("reach", reach),
        )
        return Program("level_slopes", self.programs.inputs, outputs)

    @cached_property
    def normalised_change(self) -> Program:
        """Changes of a state whose quaternions are brought to length one, from changes w of the state before."""
        program, w = self.programs.normalised, self._marks("change")
        direction = dict(zip(self.variation.states, w, strict=True))
        changed = directional_derivative(list(program.outputs[0].entries), direction)
        return Program("normalised_change", (*program.inputs, Input("w", w)), (vector("out", changed),))

    @cached_property
    def normalised_weights(self) -> Program:
        """Weights w of a state whose quaternions were brought to length one, pulled back to the state before."""
        program, w = self.programs.normalised, self._marks("weight")
        pulled = weighted_gradient(list(program.outputs[0].entries), list(w), self.variation.states)
        return Program("normalised_weights", (*program.inputs, Input("w", w)), (vector("out", pulled),))

    def _marks(self, what: str) -> tuple[Expr, ...]:
        return tuple(symbol(f"{what} of state {k}") for k in range(len(self.variation.states)))


def sharing(first: Program, second: Program) -> tuple[Program, Program]:
    """Both programs, the first with an output `s` of values that the second then takes instead of computing them."""
    common = set(first.operations) & set(second.operations)
    rest = [node for node in second.operations if node not in common]
    read = {a for node in rest for a in node.args if a in common}
    read |= {entry for output in second.outputs for entry in output.entries if entry in common}
    shared = tuple(sorted(read, key=lambda node: node.serial))
    giver = Program("motion_terms", first.inputs, (*first.outputs, vector("s", shared)))
    return giver, Program(second.name, (*second.inputs, Input("s", shared)), second.outputs)
