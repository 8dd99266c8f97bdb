"""The programs of a large constrained mechanism: bodies and loops eliminated one after the other, M and C never formed.

What depends on the state alone is computed once (`eliminated`, `closing`) and kept in an array of factors, with which
`solved` answers every right side of M v' + Cᵀ λ = f, C v' = γ: accelerations, corrections, tangents and adjoints.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from torseur.algebra.graph import Expr, Input, Program, as_expr, scalar, symbol, vector
from torseur.algebra.graph.program import Output
from torseur.derivation.dynamics.constrained.constrained_bodies import ConstrainedBodies
from torseur.derivation.dynamics.constrained.elimination_steps import Pivots
from torseur.derivation.equations import Equations
from torseur.derivation.equations.formulation import as_expressions
from torseur.derivation.loops import ConstraintEquation
from torseur.derivation.loops.closure.constraint_equations import rows_by_owner

DEPENDENT = 1e-16  # square of the sine of the angle to the rows before, below which a row depends on them
TINY = 1e-300
VANISHING = 3e-5  # part of its usual pivot below which a constraint is not solved for the acceleration across it


@dataclass
class SelectedRows(Pivots):
    """Rows that are known beforehand to be independent; the others take no part.

    `usual` are the pivots that they usually have, 0 or less for rows that are not selected. Below `least` of its usual
    pivot a row is left out, while a singular configuration is passed.
    """

    usual: tuple[Expr, ...]
    least: Expr

    def __post_init__(self) -> None:
        self.left: dict[int, Expr] = {}
        self.distance: Expr = as_expr(1)
        self.smallest: Expr = as_expr(1)

    def scale(self, row: int, whole: Expr) -> Expr:
        return as_expr(1)

    def inverse(self, row: int, left: Expr, whole: Expr) -> Expr:
        usual = self.usual[row]
        self.left[row] = left
        selected = scalar.less(0, usual)
        part = scalar.where(selected, left / scalar.where(selected, usual, 1), 1)
        self.distance = as_expr(scalar.minimum(self.distance, part))
        self.smallest = as_expr(
            scalar.minimum(self.smallest, scalar.where(selected, left / scalar.maximum(whole, TINY), 1))
        )
        kept = scalar.both(selected, scalar.less(scalar.maximum(DEPENDENT * whole, self.least * usual), left))
        return as_expr(scalar.where(kept, 1 / scalar.where(kept, left, 1), 0))


@dataclass(frozen=True)
class EliminationPrograms:
    """What the routines of the solver call where a mechanism has many constraints."""

    equations: Equations
    constraints: tuple[ConstraintEquation, ...]
    inputs: tuple[Input, ...]
    force: tuple[Expr, ...]  # f in M v' + Cᵀ λ = f

    @cached_property
    def _sizes(self) -> Input:
        return Input("sizes", tuple(symbol(f"usual pivot {k}") for k in range(len(self.constraints))))

    @cached_property
    def _least(self) -> Input:
        return Input("least", (symbol("least part of a pivot"),))

    @cached_property
    def _pivots(self) -> SelectedRows:
        return SelectedRows(self._sizes.nodes, self._least.nodes[0])

    @cached_property
    def _bodies(self) -> ConstrainedBodies:
        equations, constraints = self.equations, self.constraints
        rows = [as_expressions(c.row) for c in constraints]
        return ConstrainedBodies(equations.regrouped_tree, rows, rows_by_owner(constraints), self._pivots)

    @cached_property
    def _inputs(self) -> tuple[Input, ...]:
        return (*self.inputs, self._sizes, self._least)

    @cached_property
    def _right(self) -> tuple[Input, Input]:
        speeds, rows = self.equations.layout.speeds, self.constraints
        force = Input("force", tuple(symbol(f"force along {v.name}") for v in speeds))
        return force, Input("gamma", tuple(symbol(f"right side of {c.name}") for c in rows))

    @cached_property
    def _held_accelerations(self) -> Input:
        return Input("held", tuple(symbol(f"held {v.name}") for v in self.equations.layout.speeds))

    @cached_property
    def _solution(self) -> tuple[Output, Output]:
        force, gamma = self._right
        solution = self._bodies.solve(force.nodes, gamma.nodes)
        return vector("a", solution.accelerations), vector("l", solution.multipliers)

    @cached_property
    def _solution_beside(self) -> Output:
        force, gamma = (group.nodes for group in self._right)
        held = self._held_accelerations.nodes
        kept = [
            g - sum((as_expr(e) * a for e, a in zip(c.row, held, strict=True) if not as_expr(e).is_zero), as_expr(0))
            for g, c in zip(gamma, self.constraints, strict=True)
        ]
        usual = self._sizes.nodes
        solution = self._bodies.solve(
            force, gamma, lambda row, inverse: as_expr(scalar.less(1, VANISHING * usual[row] * inverse)), kept
        )
        return vector("a", solution.accelerations)

    @cached_property
    def _rest(self) -> tuple[Output, Output]:
        """What accelerations and multipliers leave of the right sides."""
        needed, across = self._bodies.product(*(group.nodes for group in self._answer))
        force, gamma = (group.nodes for group in self._right)
        return (
            vector("force_left", [f - n for f, n in zip(force, needed, strict=True)]),
            vector("gamma_left", [g - a for g, a in zip(gamma, across, strict=True)]),
        )

    @cached_property
    def _answer(self) -> tuple[Input, Input]:
        layout = self.equations.layout
        return Input("a", layout.accelerations), Input(
            "l", tuple(symbol(f"multiplier {k}") for k in range(len(self.constraints)))
        )

    @cached_property
    def _factors(self) -> Output:
        """All values of the state that solutions need."""
        outputs = (*self._solution, _rename(self._solution_beside, "beside"), *self._rest)
        whole = Program("whole", (*self._inputs, *self._right, self._held_accelerations, *self._answer), outputs)
        return whole.split([group.name for group in self._inputs], "factors")[0].outputs[0]

    @property
    def count(self) -> int:
        """How many numbers the factors are."""
        return len(self._factors)

    @property
    def externals(self) -> dict[str, Program]:
        """What the routines call, by the names of their externals."""
        own = (self.eliminated, self.closing, self.levels, self.solved, self.solved_beside, self.unsolved)
        return {program.name: program for program in own}

    @cached_property
    def eliminated(self) -> Program:
        """Rates, f, γ and the factors, then how far a singular configuration is and how good the factors are."""
        gamma = vector("gamma", [c.gamma for c in self.constraints])
        outputs = (vector("rates", self.equations.rates), vector("force", self.force), gamma)
        return Program("eliminated", self._inputs, (*outputs, self._factors, self._distance))

    @cached_property
    def closing(self) -> Program:
        """Φ and the factors, then how far a singular configuration is and how good the factors are."""
        phi = [c.residual if c.is_holonomic else 0 for c in self.constraints]
        return Program("closing", self._inputs, (vector("phi", phi), self._factors, self._distance))

    @property
    def _distance(self) -> Output:
        """The smallest pivot in units of its usual value, and in units of its whole row."""
        return vector("distance", [self._pivots.distance, self._pivots.smallest])

    @cached_property
    def pivots(self) -> Program:
        """What each row adds to those eliminated before it: the square of a length in the metric of the masses."""
        left = [self._pivots.left[k] for k in range(len(self.constraints))] if self._bodies else []
        return Program("pivots", self._inputs, (vector("left", left),))

    @cached_property
    def solved(self) -> Program:
        """v' and λ from the factors, a force and γ."""
        return Program("solved", (self._factor_input, *self._right), self._solution)

    @cached_property
    def solved_beside(self) -> Program:
        """v' beside a singular configuration: across constraints that all but vanish, the held accelerations go on."""
        return Program(
            "solved_beside", (self._factor_input, *self._right, self._held_accelerations), (self._solution_beside,)
        )

    @cached_property
    def unsolved(self) -> Program:
        """What a solution leaves of a force and of γ."""
        return Program("unsolved", (self._factor_input, *self._right, *self._answer), self._rest)

    @property
    def _factor_input(self) -> Input:
        return Input("factors", self._factors.entries)

    @cached_property
    def levels(self) -> Program:
        """Φ, C v + drift, and how much each constraint changes when everything moves by its scale."""
        layout = self.equations.layout
        scales = Input("scales", tuple(symbol(f"scale of {v.name}") for v in layout.speeds))
        phi, slip, reach = [], [], []
        for c in self.constraints:
            entries = [(as_expr(e), v, s) for e, v, s in zip(c.row, layout.speeds, scales.nodes, strict=True)]
            entries = [entry for entry in entries if not entry[0].is_zero]
            phi.append(c.residual if c.is_holonomic else as_expr(0))
            slip.append(sum((e * v for e, v, _ in entries), c.drift))
            reach.append(sum((scalar.absolute(e) * s for e, _, s in entries), as_expr(0)))
        outputs = (vector("phi", phi), vector("slip", slip), vector("reach", reach))
        return Program("levels", (*self.inputs, scales), outputs)


def _rename(output: Output, name: str) -> Output:
    return Output(name, output.shape, output.entries)
