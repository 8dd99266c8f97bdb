"""Programs of constrained mechanisms: residuals, constraints at each level, integrands, and their derivatives.

At a state, accelerations a and multipliers l satisfy r = M a + Cᵀ l - f = 0 and c = C a - γ = 0. Their tangents solve
K [a'; l'] = -[r_y u + r_p; c_y u + c_p] with K = [M Cᵀ; C 0], at fixed a and l in the derivatives. Backwards, with
K [x; m] = [adjoints of a; adjoints of l], these adjoints become -x on r and -m on c.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.algebra.graph import (
    Expr,
    Input,
    Program,
    as_expr,
    dense_jacobian,
    directional_derivative,
    matrix,
    symbol,
    vector,
    weighted_gradient,
)
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.computation.simulation.constrained.contacts.friction_rows import pressing, sliding_law
from torseur.computation.simulation.model.motion_programs import MechanismPrograms


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
    def _motion(self) -> Program:
        """The terms of the motion, or what eliminating bodies and loops makes of them."""
        constrained = self.variation.system.constrained
        is_recursive = constrained is not None and constrained.is_recursive
        return self.programs.elimination.eliminated if is_recursive else self.programs.dynamics

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
    def motion_derivatives(self) -> tuple[Program, Program]:
        """The terms of the motion, then derivatives of rates, of r and c, and of the integrands.

        Derivatives have a row per state and then per parameter.
        """
        groups = (
            ("rate_derivatives", self._rates),
            ("equation_derivatives", self.equations_of_motion),
            ("integrand_derivatives", self._integrands),
        )
        # The terms of the motion (M, C, f, γ) and these derivatives have much in common, but between the two calls
        # stands the solution of K: what the second program would compute again is handed over in `s`.
        derivatives = Program(
            "motion_derivatives", self._inputs, tuple(self._by_variables(name, e) for name, e in groups)
        )
        return sharing(self._motion, derivatives)

    @cached_property
    def equation_derivatives(self) -> Program:
        """Derivatives of r and c alone, a row per state and then per parameter."""
        return Program(
            "equation_derivatives",
            self._inputs,
            (self._by_variables("equation_derivatives", self.equations_of_motion),),
        )

    @cached_property
    def state_rate_derivatives(self) -> Program:
        """Derivatives of the rates of states beyond mechanics, a row per state and then per parameter."""
        rates = self._rates[len(self.programs.equations.layout.joint_coordinates) :]
        return Program("state_rates", self._inputs, (self._by_variables("state_rate_derivatives", rates),))

    def formula_derivatives(self, formulas: Sequence[Expr]) -> Program:
        """Formulas with their derivatives by states, parameters and multipliers, a row each."""
        outputs = (
            vector("values", list(formulas)),
            matrix("by_states", self.variation.by_states(formulas)),
            matrix("by_parameters", self.variation.by_parameters(formulas)),
            matrix("by_multipliers", dense_jacobian(list(formulas), self.programs.multipliers)),
        )
        return Program("formula_derivatives", self._inputs, outputs)

    def _by_variables(self, name: str, formulas: Sequence[Expr]) -> Any:
        by_states = self.variation.by_states(formulas)
        by_parameters = self.variation.by_parameters(formulas)
        rows = [a + b for a, b in zip(by_states, by_parameters, strict=True)]
        columns = len(self.variation.states) + self.variation.columns
        # Transposed, a row per variable: the routines run over formulas within a variable, along memory.
        #
        #     [ ∂/∂y_0 of all formulas | ∂/∂y_1 … | ∂/∂p_0 … ]
        return matrix(name, [[row[j] for row in rows] for j in range(columns)])

    @property
    def _integrands(self) -> tuple[Expr, ...]:
        return self.variation.integrands

    @cached_property
    def friction_inputs(self) -> tuple[Input, Input]:
        """Directions of what slides and speeds of creeping, as the settings of the solver hold them."""
        friction = self.programs.friction
        directions = tuple(symbol(f"direction of {row.name}") for element in friction for row in element.rows)
        return Input("sliding", directions), Input("creep", tuple(symbol(f"creep of {e.name}") for e in friction))

    @cached_property
    def friction_laws(self) -> list[Expr]:
        """What the multiplier of each row of friction is while it slides."""
        by_name = dict(zip([c.name for c in self.programs.constraints], self.programs.multipliers, strict=True))
        directions, creep = (list(group.nodes) for group in self.friction_inputs)
        laws: list[Expr] = []
        for element, little in zip(self.programs.friction, creep, strict=True):
            normal = pressing(element, self.programs.contacts, self.programs.equations.constraints, by_name)
            laws += sliding_law(element, normal, directions[len(laws) :], little)
        return laws

    @cached_property
    def friction_derivatives(self) -> Program:
        """Derivatives of these laws by states and then parameters, a row each, and by the multipliers."""
        outputs = (
            self._by_variables("law_derivatives", self.friction_laws),
            matrix("by_multipliers", dense_jacobian(self.friction_laws, self.programs.multipliers)),
        )
        known = Input("l", self.programs.multipliers)
        return Program("friction_derivatives", (*self.programs.inputs, known, *self.friction_inputs), outputs)

    @cached_property
    def integrands(self) -> Program:
        """The integrands, and their derivatives by accelerations and multipliers, a row per integrand."""
        known = [node for group in self.programs.solution for node in group.nodes]
        by_solution = matrix("by_solution", dense_jacobian(list(self._integrands), known))
        return Program("integrands", self._inputs, (vector("values", self._integrands), by_solution))

    @cached_property
    def pullback(self) -> tuple[Program, Program]:
        """The terms of the motion, then adjoints pulled back to states and parameters."""
        return sharing(self._motion, self.pullback_alone)

    @cached_property
    def pullback_alone(self) -> Program:
        """Adjoints w of x', and x of r and c, pulled back to states and parameters."""
        size = len(self._rates) + len(self.programs.equations.layout.speeds) + len(self._integrands)
        w = tuple(symbol(f"adjoint of derivative {k}") for k in range(size))
        x = tuple(symbol(f"adjoint of equation {k}") for k in range(len(self.equations_of_motion)))
        coordinates, count = len(self._rates), len(self._integrands)
        # w = [ of the rates | of the accelerations | of the integrals ]. Accelerations have no formula: their part of w
        # went into K [x; m] = …, and weighs r and c by -x and -m.
        formulas = [*self._rates, *self._integrands, *self.equations_of_motion]
        adjoints = [*w[:coordinates], *w[size - count :], *(-e for e in x)]
        ybar, pbar = self.variation.gradient(formulas, adjoints)
        inputs = (*self._inputs, Input("w", w), Input("x", x))
        return Program("equations_pullback", inputs, (vector("ybar", ybar), vector("pbar", pbar)))

    @cached_property
    def levels(self) -> tuple[list[Expr], list[Expr]]:
        """Constraints on positions (0 for those on velocities only), and on velocities: C v + drift."""
        speeds = self.programs.equations.layout.speeds
        constraints = self.programs.constraints
        # Numbered like the rows of C, so that one mask selects constraints at both levels; velocity constraints have no
        # residual.
        phi = [c.residual if c.is_holonomic else as_expr(0) for c in constraints]
        slip = [sum((a * v for a, v in zip(c.row, speeds, strict=True)), c.drift) for c in constraints]
        return phi, slip

    @cached_property
    def level_derivatives(self) -> Program:
        """Derivatives of the constraints on positions and on velocities; N of q' = N v + n, a row per coordinate."""
        phi, slip = self.levels
        layout = self.programs.equations.layout
        # Projections move the joints' coordinates along the speeds; states beyond mechanics stay where they are.
        reach = dense_jacobian(self._rates[: len(layout.joint_coordinates)], layout.speeds)
        reach += [[as_expr(0)] * len(layout.speeds)] * layout.state_count
        outputs = (
            self._by_variables("phi_derivatives", phi),
            self._by_variables("slip_derivatives", slip),
            matrix("reach", reach),
        )
        return Program("level_derivatives", self.programs.inputs, outputs)

    @cached_property
    def normalised_tangent(self) -> Program:
        """Tangents of a state whose quaternions are brought to length one, from tangents w of the state before."""
        program, w = self.programs.normalised, self._marks("tangent")
        direction = dict(zip(self.variation.states, w, strict=True))
        tangents = directional_derivative(list(program.outputs[0].entries), direction)
        return Program("normalised_tangent", (*program.inputs, Input("w", w)), (vector("out", tangents),))

    @cached_property
    def normalised_adjoint(self) -> Program:
        """Adjoints w of a state whose quaternions were brought to length one, pulled back to the state before."""
        program, w = self.programs.normalised, self._marks("adjoint")
        pullback = weighted_gradient(list(program.outputs[0].entries), list(w), self.variation.states)
        return Program("normalised_adjoint", (*program.inputs, Input("w", w)), (vector("out", pullback),))

    def _marks(self, what: str) -> tuple[Expr, ...]:
        return tuple(symbol(f"{what} of state {k}") for k in range(len(self.variation.states)))


def sharing(first: Program, second: Program) -> tuple[Program, Program]:
    """Both programs, the first with an output `s` of values that the second then takes instead of computing them."""
    common = set(first.operations) & set(second.operations)
    rest = [node for node in second.operations if node not in common]
    read = [a for node in rest for a in node.args if a in common]
    read += [entry for output in second.outputs for entry in output.entries if entry in common]
    # Only values that the rest of the second program reads directly: what lies below them is not needed any more.
    shared = tuple(dict.fromkeys(read))
    giver = Program("motion_terms", first.inputs, (*first.outputs, vector("s", shared)))
    return giver, Program(second.name, (*second.inputs, Input("s", shared)), second.outputs)
