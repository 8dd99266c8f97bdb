"""The systems that derivatives of a motion by a parameter x obey, from A(y, t, x) y' = f(y, t, x), as expressions.

The state is y = (q, v, Λ): coordinates, speeds, and the integrals Λ of the multipliers, Λ' = λ, on which nothing
depends. With them A is square, and what Sandel (2007) writes for mechanisms without constraints holds for all:

    direct    A u' = (J - B) u + f_x - A_x y',                u = dy/dx
    adjoint   Aᵀ λ' + (A'ᵀ + Jᵀ - Bᵀ) λ = (∂p/∂y)ᵀ,          Aᵀ λ = -(∂g/∂y)ᵀ at the end

with J = ∂f/∂y and the columns (∂A/∂y_i) y' of B. The columns of Λ in J and B are zero; the last rows of the adjoint
system then say (C λ_v)' = 0, and its end condition that C λ_v = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from torseur.algebra.graph import Expr, as_expr, dense_jacobian, directional_derivative, jacobian, time_derivative
from torseur.derivation.equations.equations import Equations
from torseur.description.mechanism import TIME

Rows = tuple[tuple[Expr, ...], ...]
Direction = Mapping[Expr, Expr | float | int]  # a parameter of a study: the symbols that change with it, and how fast


@dataclass(frozen=True, eq=False)
class SensitivityElements:
    """A, f and their derivatives, in the symbols of the layout, of its accelerations and of the multipliers."""

    equations: Equations

    @cached_property
    def matrix(self) -> Rows:
        """A."""
        return self.equations.state_form.matrix

    @cached_property
    def right(self) -> tuple[Expr, ...]:
        """f."""
        return self.equations.state_form.right

    @property
    def size(self) -> int:
        return len(self.right)

    @property
    def states(self) -> tuple[Expr, ...]:
        """The entries of y that something depends on: q and v."""
        return (*self.equations.layout.coordinates, *self.equations.layout.speeds)

    @property
    def rates(self) -> tuple[Expr, ...]:
        """y' = (q', v', λ), in which q' are formulas of q, v and t except where equations of states couple them."""
        equations = self.equations
        own = list(equations.rates)
        for slot in equations.coupled_slots:
            own[slot] = equations.layout.rates[slot]
        return (*own, *equations.layout.accelerations, *equations.multipliers)

    @cached_property
    def unknown_slots(self) -> tuple[int, ...]:
        """The places in y' of its unknowns: coupled rates of states, v' and λ."""
        return (*self.equations.coupled_slots, *range(len(self.equations.rates), self.size))

    @property
    def rate_symbols(self) -> tuple[Expr, ...]:
        """The entries of y' that are unknowns."""
        rates = self.rates
        return tuple(rates[slot] for slot in self.unknown_slots)

    @cached_property
    def jacobian(self) -> Rows:
        """J = ∂f/∂y."""
        return self._pad(dense_jacobian(list(self.right), self.states))

    # The rows of A that belong to q' given by formulas are constant: B needs no more than the unknowns of y'.
    @cached_property
    def mass_forces(self) -> tuple[Expr, ...]:
        """A y', row by row, less what formulas of q' contribute."""
        pairs = list(zip(self.unknown_slots, self.rate_symbols, strict=True))
        return tuple(sum((row[slot] * z for slot, z in pairs), as_expr(0)) for row in self.matrix)

    @cached_property
    def mass_jacobian(self) -> Rows:
        """B, whose column i is (∂A/∂y_i) y'."""
        return self._pad(dense_jacobian(list(self.mass_forces), self.states))

    def _pad(self, rows: Sequence[Sequence[Expr]]) -> Rows:
        """The rows with columns of zeros for Λ."""
        nothing = [as_expr(0)] * len(self.equations.multipliers)
        return tuple((*row, *nothing) for row in rows)

    @cached_property
    def matrix_rate(self) -> Rows:
        """A', the rate of A along the motion."""
        moving = dict(zip(self.states, self.rates, strict=False))
        flat = time_derivative([entry for row in self.matrix for entry in row], moving, TIME)
        return tuple(tuple(flat[i * self.size : (i + 1) * self.size]) for i in range(self.size))

    def matrix_by(self, direction: Direction) -> Rows:
        """∂A/∂x."""
        flat = directional_derivative([entry for row in self.matrix for entry in row], direction)
        return tuple(tuple(flat[i * self.size : (i + 1) * self.size]) for i in range(self.size))

    def right_by(self, direction: Direction) -> tuple[Expr, ...]:
        """∂f/∂x."""
        return tuple(directional_derivative(list(self.right), direction))

    def forcing(self, direction: Direction) -> tuple[Expr, ...]:
        """f_x - A_x y', what drives the tangents."""
        moved = directional_derivative(list(self.mass_forces), direction)
        return tuple(f - a for f, a in zip(self.right_by(direction), moved, strict=True))

    def second_forcing(self, first: Tangent, second: Tangent) -> tuple[Expr, ...]:
        """s of A u_jk' = (J - B) u_jk + s_jk, the second derivatives of f - A y' along two tangents."""
        # d²(A y' - f)/dx_j dx_k = 0. Its terms with second derivatives of y are (A u_jk' - (J - B) u_jk); all others
        # are second derivatives of A y' - f at y, y', x along (u_j, u_j', e_j) and (u_k, u_k', e_k).
        # y' among the symbols: A(y) y' - f(y) is differentiated as a function of y, y' and x that are independent.
        rows = [f - a for f, a in zip(self.right, self.mass_forces, strict=True)]
        once = directional_derivative(rows, self.along(first))
        return tuple(directional_derivative(once, self.along(second)))

    def along(self, tangent: Tangent) -> dict[Expr, Expr | float | int]:
        """What changes with a parameter along the motion: y, y' and the symbols of the parameter itself."""
        moved = dict(zip(self.states, tangent.states, strict=False))
        moved |= {z: tangent.rates[slot] for slot, z in zip(self.unknown_slots, self.rate_symbols, strict=True)}
        return {**moved, **tangent.direction}

    def second_derivative(self, formula: Expr, first: Tangent, second: Tangent) -> Expr:
        """The second derivatives of a formula of the motion along two tangents, less what u_jk contributes."""
        (once,) = directional_derivative([formula], self.along(first))
        return directional_derivative([once], self.along(second))[0]


@dataclass(frozen=True)
class Tangent:
    """u = dy/dx and u' as symbols, a value per entry of y, with what the parameter x itself changes."""

    states: tuple[Expr, ...]
    rates: tuple[Expr, ...]
    direction: Direction


@dataclass(frozen=True, eq=False)
class CriterionTerms:
    """A formula p(y, y', t, x) of the motion and its derivatives by y, by y', and by parameters."""

    elements: SensitivityElements
    formula: Expr

    @cached_property
    def by_states(self) -> tuple[Expr, ...]:
        """∂p/∂y."""
        entries = jacobian([self.formula], self.elements.states)
        count = len(self.elements.states)
        own = tuple(entries.get((0, k), as_expr(0)) for k in range(count))
        return (*own, *(as_expr(0) for _ in self.elements.equations.multipliers))

    @cached_property
    def by_rates(self) -> tuple[Expr, ...]:
        """∂p/∂y', not zero where accelerations or multipliers are in the formula."""
        entries = jacobian([self.formula], self.elements.rate_symbols)
        own = {slot: entries.get((0, k), as_expr(0)) for k, slot in enumerate(self.elements.unknown_slots)}
        return tuple(own.get(slot, as_expr(0)) for slot in range(self.elements.size))

    @property
    def has_rates(self) -> bool:
        return any(not entry.is_zero for entry in self.by_rates)

    def by(self, direction: Direction) -> Expr:
        """∂p/∂x."""
        return directional_derivative([self.formula], direction)[0]

    @cached_property
    def time_derivative(self) -> Expr:
        """p' along the motion, of a formula without accelerations and multipliers."""
        moving = dict(zip(self.elements.states, self.elements.rates, strict=False))
        return time_derivative([self.formula], moving, TIME)[0]
