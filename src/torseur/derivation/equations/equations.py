"""The equations of motion of a mechanism, the same whatever formalism wrote them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any

from torseur.algebra.graph import Expr, ExprLike, as_expr, live_nodes, time_derivative
from torseur.algebra.graph.solve import solve_symmetric
from torseur.algebra.spatial import Force
from torseur.derivation.dynamics import (
    coordinate_rates,
    coriolis_matrix,
    coupled_rates,
    elastic_energy,
    gravity_energy,
    gravity_forces,
    inverse_dynamics,
    kinetic_energy,
    momentum,
)
from torseur.derivation.dynamics.constrained.elimination_order import is_sparse
from torseur.derivation.equations.driving_power import power_of_drifts
from torseur.derivation.equations.formulation import Formulation, OnUnitSphere, as_expressions
from torseur.derivation.equations.multipliers import multiplier_of
from torseur.derivation.equations.named_formulas import with_named_formulas
from torseur.derivation.equations.random_states import multiple_precision_values, rational_state
from torseur.derivation.tree import CoupledStates, Layout, Tree, reframe, regroup
from torseur.description.mechanism import TIME, Mechanism
from torseur.display import Displayed
from torseur.errors import TorseurError, UnsupportedError, counted

if TYPE_CHECKING:
    from torseur.derivation.equations.elimination import ReducedEquations
    from torseur.derivation.equations.linear_equations import LinearEquations
    from torseur.derivation.equations.sympy_form import SympyEquations
    from torseur.derivation.loops import ConstraintEquation


@dataclass(frozen=True)
class StateForm:
    """A z = f for z = (q', v', λ): the rates of the state y = (q, v), and multipliers where there are constraints.

    | 1  0  0  | | q' |   | rates(q, v, t) |
    | 0  M  Cᵀ | | v' | = | Q - b          |
    | 0  C  0  | | λ  |   | γ              |

    Where equations between rates of states stand in place of rates, their matrix stands in place of ones.
    """

    matrix: tuple[tuple[Expr, ...], ...]
    right: tuple[Expr, ...]


ATTEMPTS, SAME = 5, 1e-11  # numbers of the description are rounded when formalisms fold them in their own orders
NOTHING: Mapping[str, ExprLike] = {}


@dataclass(frozen=True, repr=False)
class Equations(Displayed):
    """q' = rates(q, v, t),  M(q) v' + bias(q, v) + Cᵀ λ = loads(q, v, t),  C v' = γ, in the layout's symbols.

    The rows of C are the constraints: closed loops, rolling, and equations of the user; λ are their
    multipliers. Parts are derived when first asked for, so a large mechanism pays only for what is used.
    """

    formulation: Formulation
    few_digits: bool = False
    """Whether code is for single precision: it is then written so that digits are not lost where masses differ much."""
    reference: Formulation | None = None
    """The formulation whose expressions people read, where it gives the same M, b and Q."""
    closes_to_read: bool = False
    """Whether loops close in the axes that are shortest to write, not in those for computing."""

    def __repr__(self) -> str:
        kind = type(self.formulation).__name__
        return f"Equations of '{self.mechanism.name}' ({kind}): {counted(len(self.layout.speeds), 'speed')}"

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
    def regrouped_tree(self) -> Tree:
        """The tree with fewer inertial parameters and the same dynamics, for computing.

        Its frames are turned along the joints' axes where inverse dynamics becomes shorter by that.
        """
        plain, turned = regroup(self.tree), reframe(self.tree)
        if turned is self.tree:
            return plain
        return min(plain, regroup(turned), key=_inverse_dynamics_work)

    @property
    def is_reframed(self) -> bool:
        """Whether the frames of the tree for computing are not those of the tree."""
        return self.regrouped_tree.places is not self.tree.places

    @cached_property
    def rates(self) -> tuple[Expr, ...]:
        """q' in terms of q, v and t."""
        return tuple(coordinate_rates(self.tree))

    @cached_property
    def coupled_states(self) -> CoupledStates | None:
        """A z' = f of the states whose rates equations share, as these stand; `rates` are its solution."""
        return coupled_rates(self.tree)

    @cached_property
    def coupled_slots(self) -> tuple[int, ...]:
        """The places of these states among the coordinates."""
        shared = () if self.coupled_states is None else self.coupled_states.states
        names = self.layout.coordinate_names
        return tuple(names.index(state.name) for state in shared)

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
    def constraints(self) -> tuple[ConstraintEquation, ...]:
        """Loop closures and constraints, each with its row C v + drift = 0 and C v' = γ."""
        if not self.is_constrained:
            return ()
        from torseur.derivation.loops import constraint_equations

        return constraint_equations(self.tree, self.closes_to_read)

    @cached_property
    def is_sparse(self) -> bool:
        """Whether there are many constraints, and each ties few bodies: these are then eliminated along the tree."""
        return self.is_constrained and is_sparse(self.regrouped_tree, *self.rows_and_groups)

    @property
    def rows_and_groups(self) -> tuple[list[list[Expr]], list[list[int]]]:
        """C, and the numbers of its rows by the joints that they close."""
        from torseur.derivation.loops.closure.constraint_equations import rows_by_owner

        return [as_expressions(c.row) for c in self.constraints], rows_by_owner(self.constraints)

    @cached_property
    def formulas(self) -> tuple[Expr, ...]:
        """Everything that a motion depends on: rates, M, bias, loads, constraints."""
        matrix = [entry for row in self.mass_matrix for entry in row]
        constraints = [e for c in self.constraints for e in (c.residual, *c.row, c.drift, c.gamma)]
        return (*self.rates, *matrix, *self.bias, *self.loads, *constraints)

    @property
    def is_constrained(self) -> bool:
        return bool(self.tree.loops or self.mechanism.constraints)

    # Which sign multipliers have: docs/decisions/0027-one-sign-of-multipliers.md.
    @cached_property
    def multipliers(self) -> tuple[Expr, ...]:
        """Symbols of the multipliers λ."""
        return tuple(multiplier_of(constraint) for constraint in self.constraints)

    @cached_property
    def acceleration(self) -> tuple[Expr, ...]:
        """v' as explicit expressions."""
        # Not `is_constrained`: loops that hold whatever the coordinates, as coaxial hinges, leave no row.
        if self.constraints:
            owners = ", ".join(dict.fromkeys(c.owner for c in self.constraints))
            raise UnsupportedError(
                f"mechanism '{self.mechanism.name}' is constrained ({owners}): its accelerations and multipliers are "
                "solved together at each state, from M v' + b + Cᵀ λ = Q and C v' = γ, and have no formula."
            )
        vdot = self.formulation.acceleration()
        if vdot is None:
            forces = [q - b for q, b in zip(self.loads, self.bias, strict=True)]
            vdot = solve_symmetric(self.mass_matrix, forces, self.layout.speed_names)
        return tuple(as_expressions(vdot))

    @cached_property
    def residual(self) -> tuple[Expr, ...]:
        """M v' + bias + Cᵀ λ - loads, zero along a motion, with v' and λ as symbols."""
        vdot = self.layout.accelerations
        rows = zip(self.mass_matrix, self.bias, self.loads, strict=True)
        total = [sum((m * a for m, a in zip(row, vdot, strict=True)), b - f) for row, b, f in rows]
        for constraint, multiplier in zip(self.constraints, self.multipliers, strict=True):
            total = [r + c * multiplier for r, c in zip(total, constraint.row, strict=True)]
        return tuple(total)

    @cached_property
    def state_form(self) -> StateForm:
        """A y' = f, y = (q, v); with constraints the multipliers stand beside y'.

        Equations between rates of states stand as they were given: the rows of A are theirs.
        """
        nq, nc = len(self.rates), len(self.constraints)
        one, zero = as_expr(1), as_expr(0)
        rows = [c.row for c in self.constraints]
        # One row of blocks after the other, as StateForm draws them.
        upper = [tuple(one if i == j else zero for j in range(nq + len(self.loads) + nc)) for i in range(nq)]
        middle = [(*([zero] * nq), *row, *(c[k] for c in rows)) for k, row in enumerate(self.mass_matrix)]
        lower = [(*([zero] * nq), *row, *([zero] * nc)) for row in rows]
        forces = [f - b for f, b in zip(self.loads, self.bias, strict=True)]
        known = list(self.rates)
        if self.coupled_states is not None:
            for slot, row, right in zip(
                self.coupled_slots, self.coupled_states.matrix, self.coupled_states.right, strict=True
            ):
                own = dict(zip(self.coupled_slots, row, strict=True))
                upper[slot] = tuple(own.get(j, zero) for j in range(nq + len(self.loads) + nc))
                known[slot] = right
        return StateForm((*upper, *middle, *lower), (*known, *forces, *(c.gamma for c in self.constraints)))

    @cached_property
    def coriolis_matrix(self) -> tuple[tuple[Expr, ...], ...]:
        """C with M' - 2 C skew; bias = C v + gravity, for joints that do not depend on time."""
        rows = coriolis_matrix(self.tree, self.layout.coordinates, self.layout.speeds)
        return tuple(tuple(as_expressions(row)) for row in rows)

    @cached_property
    def gravity(self) -> tuple[Expr, ...]:
        """Generalised forces that hold the mechanism against gravity: the bias at rest."""
        return tuple(as_expressions(gravity_forces(self.tree, self.layout.coordinates)))

    @cached_property
    def _momentum(self) -> Force:
        return momentum(self.tree, self.layout.coordinates, self.layout.speeds)

    @property
    def linear_momentum(self) -> tuple[Expr, ...]:
        """Of all bodies, in earth axes."""
        return tuple(as_expressions([*self._momentum.force]))

    @property
    def angular_momentum(self) -> tuple[Expr, ...]:
        """Of all bodies about the earth's origin, in earth axes."""
        return tuple(as_expressions([*self._momentum.moment]))

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

        Along a motion, the rate of kinetic plus potential energy equals it, plus `driving_power`.
        """
        given = sum((f * v for f, v in zip(self.loads, self.layout.speeds, strict=True)), as_expr(0))
        elastic = as_expr(elastic_energy(self.tree, self.layout.coordinates))
        (stored,) = time_derivative([elastic], dict(zip(self.layout.coordinates, self.rates, strict=True)), TIME)
        return given + stored

    @cached_property
    def driving_power(self) -> Expr:
        """Rate at which joints and constraints that depend on time add energy, with v' and λ as symbols."""
        pairs = zip(self.constraints, self.multipliers, strict=True)
        return sum((c.drift * multiplier for c, multiplier in pairs), power_of_drifts(self.tree))

    @cached_property
    def power_balance(self) -> Expr:
        """Rate of kinetic plus potential energy less all power, with v' and λ as symbols: zero along a motion."""
        moving = dict(zip(self.layout.coordinates, self.rates, strict=True))
        moving |= dict(zip(self.layout.speeds, self.layout.accelerations, strict=True))
        (rate,) = time_derivative([self.kinetic_energy + self.potential_energy], moving, TIME)
        return rate - self.power - self.driving_power

    @cached_property
    def undetermined(self) -> tuple[Expr, ...]:
        """Undetermined functions that the loads contain, as nodes."""
        return tuple(node for node in live_nodes(self.loads) if node.op == "apply")

    # Why the recursion's writing: docs/decisions/0070-one-text-for-all-formalisms.md.
    @cached_property
    def as_read(self) -> Equations:
        """The same equations in the writing that people read, whatever formalism derived them.

        Lagrange's derivatives hold sin² + cos² in every term, the recursion's body axes none: the shortest is read,
        once both were compared at a random state. Named laws and parameters stay by name, quaternions have length one.
        """
        if isinstance(self.formulation, OnUnitSphere):
            return self
        named = self.in_one_writing.with_named_formulas
        sphere = OnUnitSphere(named.tree, named.formulation)
        return replace(named, formulation=sphere, reference=None) if sphere.quaternions else named

    @cached_property
    def with_named_formulas(self) -> Equations:
        """The same equations with laws, and parameters that formulas define, by their names; loops close to be read."""
        tree = with_named_formulas(self.tree)
        named = self if tree is self.tree else Equations(type(self.formulation)(tree), self.few_digits)
        return named.in_axes_to_read

    # Computed in those of the body that carries both sides, a Bennett linkage gains 3e-6 J in 100 s instead of 1e-9.
    @cached_property
    def in_axes_to_read(self) -> Equations:
        """The same equations with loops closed in the axes in which that is shortest to write."""
        return self if self.closes_to_read or not self.tree.loops else replace(self, closes_to_read=True)

    @cached_property
    def in_one_writing(self) -> Equations:
        """The same equations by the formulation that is read, where it gives the same M, b and Q; laws are put in."""
        if self.reference is None or type(self.reference) is type(self.formulation):
            return self
        other = Equations(self.reference, self.few_digits)
        return other if same_values(self, other) else self

    def without_multipliers(self, independent: Collection[str] = ()) -> ReducedEquations:
        """Nᵀ (M v' + b - Q) = 0 in the independent speeds, which may be chosen by name, and what the others are."""
        from torseur.derivation.equations.elimination import eliminate_multipliers

        return eliminate_multipliers(self.as_read, independent)

    def linearised(self, about: Mapping[str, ExprLike] = NOTHING, independent: Collection[str] = ()) -> LinearEquations:
        """M δv' + D δv + K δq = f about a steady state, coefficients as formulas.

        It is the initial state, with values of coordinates and speeds replaced by formulas of the parameters. Laws are
        put in; `independent` names coordinates and speeds that stay where multipliers are eliminated.
        """
        from torseur.derivation.equations.linear_equations import linearise_equations

        return linearise_equations(self.in_one_writing.in_axes_to_read, about, independent)

    def sympy(self, named: bool = True) -> SympyEquations:
        """The equations as SymPy objects: residuals, M, b, Q, constraints and energies over functions of t.

        Laws and parameters that formulas define stay by name, unless `named` is False: their formulas are then put in.
        """
        from torseur.derivation.equations.sympy_form import sympy_form

        return sympy_form(self.as_read if named else self.in_one_writing.in_axes_to_read)

    @property
    def objects(self) -> Mapping[str, Any]:
        """Named intermediate results of the formalism."""
        return self.formulation.objects()


def same_values(first: Equations, second: Equations) -> bool:
    """Whether two derivations of one tree have the same M, b and Q at a random state, to what rounding allows."""
    n, random = len(first.bias), Random(0)
    parts = [(*(e for row in one.mass_matrix for e in row), *one.bias, *one.loads) for one in (first, second)]
    for _ in range(ATTEMPTS):
        try:
            values = multiple_precision_values([*parts[0], *parts[1]], rational_state(first.tree, random))
            break
        except TorseurError:  # a pole of angles or a spring of no length: another state has a value
            continue
    else:
        return False
    ours, theirs = values[: len(parts[0])], values[len(parts[0]) :]
    for part in (slice(0, n * n), slice(n * n, None)):
        size = max((abs(value) for value in theirs[part]), default=0)
        if any(abs(a - b) > SAME * size for a, b in zip(ours[part], theirs[part], strict=True)):
            return False
    return True


def _inverse_dynamics_work(tree: Tree) -> int:
    """Operations of inverse dynamics."""
    layout = tree.layout
    forces = inverse_dynamics(tree, layout.coordinates, layout.speeds, layout.accelerations)
    return sum(1 for node in live_nodes(as_expressions(forces)) if node.args)


def require_equations(given: object) -> None:
    """Refuses anything but equations."""
    if not isinstance(given, Equations):
        raise TorseurError(f"expected equations, got {type(given).__name__}. torseur.derive(mechanism) gives them.")
