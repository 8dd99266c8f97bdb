"""Derivatives of inverse and forward dynamics by the recursion of their own, where the joints allow it.

Columns that the recursion does not give (by parameters, by quaternions, of joints that are no steps with fixed
screws) come from differentiating the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from torseur.algebra.graph import (
    Expr,
    Input,
    Program,
    Solved,
    as_expr,
    dense_jacobian,
    directional_derivative,
    jacobian,
    live_nodes,
    substitute,
    symbols_of,
)
from torseur.algebra.graph.solve import SymmetricFactors, factorize
from torseur.algebra.spatial import UNIT, Vec3
from torseur.computation.functions.column_systems import System, system
from torseur.computation.functions.differentiation_variables import Rows, Variables
from torseur.computation.functions.mechanism_functions import forces_of, require_open
from torseur.computation.functions.single_precision import spares_digits
from torseur.derivation import dynamics as td
from torseur.derivation.dynamics.fixed_screws import has_steps
from torseur.derivation.dynamics.inverse_dynamics_derivatives import (
    InverseDynamicsDerivatives,
    inverse_dynamics_derivatives,
)
from torseur.derivation.dynamics.mass_matrix_factors import MassMatrixFactors
from torseur.derivation.equations.equations import Equations
from torseur.derivation.equations.formulation import as_expressions
from torseur.derivation.tree import GROUND, Tree

_ZERO = as_expr(0)


class Structure(Protocol):
    """Derivatives of a vector function, one row per entry."""

    def rows(self, by: Variables) -> Rows: ...

    def along(self, direction: Mapping[Expr, Expr]) -> list[Expr]: ...


FEW = 7
"""Speeds up to which both ways are tried."""

FEWEST_TO_SOLVE = 6
"""Speeds from which columns are solved in a loop where the language has loops."""


def operation_count(rows: Rows) -> int:
    """Operations that some results take together."""
    return sum(1 for node in live_nodes([entry for row in rows for entry in row]) if node.args)


def plain_jacobian(equations: Equations, entries: Sequence[Expr], by: Variables) -> Rows:
    """d entries / d variables by differentiating the graph."""
    if not by.along:
        return dense_jacobian(entries, by.nodes)
    places = jacobian(entries, equations.layout.coordinates)
    ways = jacobian(equations.rates, by.nodes)
    rows = [[_ZERO] * len(by.nodes) for _ in entries]
    for (i, k), derivative in places.items():
        for j in range(len(by.nodes)):
            if (k, j) in ways:
                rows[i][j] = rows[i][j] + derivative * ways[k, j]
    return rows


# Operations saved over differentiating the graph: docs/decisions/0010-derivatives-by-composite-bodies.md.
@dataclass(frozen=True)
class ForceDerivatives:
    """Derivatives of the forces τ(q, v, vdot) - loads at given accelerations."""

    equations: Equations
    vdot: tuple[Expr, ...]

    def rows(self, by: Variables) -> Rows:
        """One row per force. For few speeds the graph's derivatives are tried too: parallel axes may favour them."""
        rows = self._recursive(by)
        if len(self.vdot) <= FEW and self.parts is not None:
            rows = min(rows, self._plain(by), key=operation_count)
        loads = plain_jacobian(self.equations, self.equations.loads, by)
        return [[a - b for a, b in zip(*pair, strict=True)] for pair in zip(rows, loads, strict=True)]

    def _recursive(self, by: Variables) -> Rows:
        """By the recursion, and by differentiating the graph what it does not give."""
        rows = [[_ZERO] * len(by.nodes) for _ in self.vdot]
        known = {j: column for j, node in enumerate(by.nodes) if (column := self._column(node, by.along)) is not None}
        for j, column in known.items():
            for row, entry in zip(rows, column, strict=True):
                row[j] = entry
        rest = [j for j in range(len(by.nodes)) if j not in known]
        if rest:
            left = Variables(by.name, tuple(by.nodes[j] for j in rest), along=by.along)
            for row, entries in zip(rows, self._plain(left), strict=True):
                for j, entry in zip(rest, entries, strict=True):
                    row[j] = entry
        return rows

    def along(self, direction: Mapping[Expr, Expr]) -> list[Expr]:
        """The change of the forces along a direction, by one forward sweep."""
        layout = self.equations.layout
        needed = td.inverse_dynamics(self.tree, layout.coordinates, layout.speeds, layout.accelerations)
        forces = [a - b for a, b in zip(as_expressions(needed), self.equations.loads, strict=True)]
        changes = directional_derivative(forces, direction)
        if self.vdot == layout.accelerations:
            return changes
        return substitute(changes, dict(zip(layout.accelerations, self.vdot, strict=True)))

    def _column(self, node: Expr, along: bool) -> list[Expr] | None:
        """The derivative by one variable, if the recursion gives it."""
        if self.parts is None:
            return None
        layout, parts = self.equations.layout, self.parts
        if along:
            return _column_of(parts.by_displacement, layout.speeds.index(node))
        if node in layout.speeds:
            return _column_of(parts.by_speed, layout.speeds.index(node))
        if node in layout.accelerations:
            return _column_of(parts.mass_matrix, layout.accelerations.index(node))
        if node in layout.coordinates:
            rate = self.equations.rates[layout.coordinates.index(node)]
            return _column_of(parts.by_displacement, layout.speeds.index(rate)) if rate in layout.speeds else None
        return None

    def _plain(self, by: Variables) -> Rows:
        """Columns from the graph, the accelerations put in afterwards."""
        layout = self.equations.layout
        forces = td.inverse_dynamics(self.tree, layout.coordinates, layout.speeds, layout.accelerations)
        rows = plain_jacobian(self.equations, as_expressions(forces), by)
        if self.vdot == layout.accelerations:
            return rows
        accelerations = dict(zip(layout.accelerations, self.vdot, strict=True))
        entries = iter(substitute([entry for row in rows for entry in row], accelerations))
        return [[next(entries) for _ in row] for row in rows]

    @cached_property
    def tree(self) -> Tree:
        return self.equations.regrouped_tree

    @cached_property
    def parts(self) -> InverseDynamicsDerivatives | None:
        """What the recursion gives; None where a joint does not allow it."""
        if not has_steps(self.tree):
            return None
        layout = self.equations.layout
        return inverse_dynamics_derivatives(self.tree, layout.coordinates, layout.speeds, self.vdot)


@dataclass(frozen=True)
class AccelerationDerivatives:
    """d v' / d variables = -M⁻¹ d r / d variables at v', where the residual r of inverse dynamics vanishes.

    M comes with the derivatives of r, and its factors give v' too.
    """

    equations: Equations

    def rows(self, by: Variables) -> Rows:
        forces = forces_of(self.equations)
        if any(node in forces for node in by.nodes):
            columns = self._factors.inverse_columns()
            solved = [columns[forces.index(node)] for node in by.nodes]
        else:
            sides = [[-entry for entry in column] for column in self._right_sides(by)]
            known = [self._known_column(node, by) for node in by.nodes]
            solutions = iter(self._factors.solve_all([b for b, k in zip(sides, known, strict=True) if k is None]))
            solved = [next(solutions) if k is None else k for k in known]
        return [list(row) for row in zip(*solved, strict=True)]

    def column_system(self, inputs: Sequence[Input], ways: Sequence[Variables]) -> Solved | None:
        """The columns of several derivatives as one system -A⁻¹ B; None where straight lines are as short."""
        if len(self.equations.layout.speeds) < FEWEST_TO_SOLVE:
            return None
        system = self.system(ways)
        terms = Program("terms", tuple(inputs), system.outputs)
        entries = [(k, i, entry) for k, row in enumerate(self._matrix) for i, entry in enumerate(row[: k + 1])]
        matrix = tuple(place for place in entries if not place[2].is_zero)
        rest = tuple(-entry for entry in self._pushes)
        return Solved(terms, system.pattern, system.blocks, system.places, self._forces.vdot, matrix, rest)

    def system(self, ways: Sequence[Variables]) -> System:
        """The terms of that system; columns that need no solution stand beside it."""
        sides: list[dict[int, list[Expr]]] = []
        known: dict[tuple[int, int], Expr] = {}
        for k, by in enumerate(ways):
            sides.append({})
            for j, column in enumerate(self._right_sides(by)):
                answer = None if by.nodes[j] in forces_of(self.equations) else self._known_column(by.nodes[j], by)
                if answer is None:
                    sides[k][j] = column
                else:
                    known |= {(k, i * len(by.nodes) + j): entry for i, entry in enumerate(answer)}
        return system(self._factors, sides, known)

    def _right_sides(self, by: Variables) -> list[list[Expr]]:
        """The columns B of -A⁻¹ B."""
        forces = forces_of(self.equations)
        if any(node in forces for node in by.nodes):
            return [[as_expr(-int(node is force)) for force in forces] for node in by.nodes]
        if by not in self._residual_derivatives:
            self._residual_derivatives[by] = [list(column) for column in zip(*self._forces.rows(by), strict=True)]
        return self._residual_derivatives[by]

    @cached_property
    def _residual_derivatives(self) -> dict[Variables, list[list[Expr]]]:
        """Columns that have been found before: results and their linear system ask for the same ones."""
        return {}

    def along(self, direction: Mapping[Expr, Expr]) -> list[Expr]:
        """The change of the accelerations: one solution with the factors that give the accelerations themselves."""
        forces = forces_of(self.equations)
        needed = self._forces.along({node: d for node, d in direction.items() if node not in forces})
        return self._factors.solve([direction.get(f, _ZERO) - r for f, r in zip(forces, needed, strict=True)])

    def _known_column(self, node: Expr, by: Variables) -> list[Expr] | None:
        """A column that needs no solution: those of a free body on the earth, unless loads depend on it."""
        known = self._free.get((node, by.along))
        if known is None or any(symbol in self._load_symbols for symbol in self._symbols_changed_by(node, by)):
            return None
        return known

    def _symbols_changed_by(self, node: Expr, by: Variables) -> list[Expr]:
        """The symbols that change with a variable."""
        if not by.along:
            return [node]
        ways = zip(self.equations.layout.coordinates, self.equations.rates, strict=True)
        return [q for q, rate in ways if node in symbols_of([rate])]

    @cached_property
    def _load_symbols(self) -> set[Expr]:
        return set(symbols_of(self.equations.loads))

    @cached_property
    def _free(self) -> dict[tuple[Expr, bool], list[Expr]]:
        """Columns by displacements and velocities of free bodies with speeds in body axes.

        Their whole tree falls the same way wherever it is and whatever constant velocity is added: displaced, only
        the direction of gravity in body axes changes, and with a velocity u only what w x u takes.
        """
        columns: dict[tuple[Expr, bool], list[Expr]] = {}
        tree, n = self.equations.tree, len(self.equations.layout.speeds)
        for link in tree.links:
            if link.parent != GROUND or link.joint.frame_speeds != "body" or link.reverse:
                continue
            first = range(*link.v.indices(n)).start
            speeds = self.equations.layout.speeds[link.v]
            down, w = link.motion.transform.rotation.to_child(tree.gravity), Vec3(*speeds[3:])
            for k, axis in enumerate(UNIT):
                columns[speeds[k], True] = [_ZERO] * n
                columns[speeds[3 + k], True] = _at(first, down.cross(axis), n)
                columns[speeds[k], False] = _at(first, -w.cross(axis), n)
        return columns

    @cached_property
    def _forces(self) -> ForceDerivatives:
        return ForceDerivatives(self.equations, tuple(self._factors.solve(self._pushes)))

    @cached_property
    def _pushes(self) -> list[Expr]:
        """M v': what pushes, less the bias."""
        layout = self.equations.layout
        bias = td.bias(self.equations.regrouped_tree, layout.coordinates, layout.speeds)
        given = zip(self.equations.loads, forces_of(self.equations), bias, strict=True)
        return [a + b - c for a, b, c in given]

    @cached_property
    def _matrix(self) -> list[list[Expr]]:
        matrix = td.mass_matrix(self.equations.regrouped_tree, self.equations.layout.coordinates)
        return [as_expressions(row) for row in matrix]

    @cached_property
    def _factors(self) -> SymmetricFactors:
        layout = self.equations.layout
        if spares_digits(self.equations):
            return _without_zeros(td.mass_matrix_factors(self.equations.regrouped_tree, layout.coordinates))
        return factorize(self._matrix, layout.speed_names)


def _without_zeros(factors: MassMatrixFactors) -> SymmetricFactors:
    """The factors without entries that are always zero."""
    rows = [{i: as_expr(entry) for i, entry in row.items()} for row in factors.lower]
    lower = [{i: entry for i, entry in row.items() if not entry.is_zero} for row in rows]
    return SymmetricFactors(tuple(lower), tuple(as_expressions(factors.inverse)))


def _inverse(equations: Equations) -> Structure:
    require_open(equations, "inverse_dynamics")
    return ForceDerivatives(equations, equations.layout.accelerations)


def _forward(equations: Equations) -> Structure:
    require_open(equations, "forward_dynamics")
    return AccelerationDerivatives(equations)


def _at(first: int, values: Vec3, n: int) -> list[Expr]:
    """A column with three entries from a place on."""
    column = [_ZERO] * n
    column[first : first + 3] = as_expressions([*values])
    return column


def _column_of(matrix: Sequence[Sequence[object]], j: int) -> list[Expr]:
    return as_expressions([row[j] for row in matrix])


STRUCTURED: dict[str, Callable[[Equations], Structure]] = {"inverse_dynamics": _inverse, "forward_dynamics": _forward}
"""Functions whose derivatives have a way of their own."""

VECTORS = {"inverse_dynamics": "tau", "forward_dynamics": "vdot"}
"""What these functions give: one entry per speed."""
