"""The equations of motion as sums of terms, each with its origin and its values along the motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from torseur.algebra.graph import Expr, as_expr, evaluate, substitute
from torseur.computation.simulation import Trajectory
from torseur.derivation.equations import Equations
from torseur.derivation.equations.terms.origins import Share
from torseur.derivation.equations.terms.polynomial import Monomial, Polynomial
from torseur.derivation.equations.terms.short_sum import few_terms
from torseur.derivation.tree import Tree, resolve
from torseur.description.mechanism import TIME
from torseur.presentation.levels.term_origins import TermOrigins
from torseur.presentation.report.page.equation_content import Equation, Origin, Term
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.scene.scene import Array
from torseur.presentation.typesetting.formula import formula
from torseur.presentation.typesetting.formula_tree import Node, Number
from torseur.presentation.typesetting.read_graph import gathered_terms, term
from torseur.presentation.typesetting.reading_order import term_key

ROW_LIMIT, TOTAL_LIMIT, VALUES_LIMIT = 60, 250, 150
FORCE_UNITS = {"m/s": "N", "rad/s": "N m"}
ZERO = formula(Number(Fraction(0)))


@dataclass(frozen=True)
class Samples:
    """Values of time, coordinates, speeds, accelerations and parameters at the samples of a motion."""

    bindings: Mapping[Expr, Array | float]
    count: int
    tree: Tree

    def of(self, polynomial: Polynomial) -> list[Array]:
        """The value of every term at every sample."""
        factors = list({factor for monomial in polynomial for factor, _ in monomial})
        values = dict(zip(factors, self._evaluate(factors), strict=True))
        return [self._term(monomial, float(c), values) for monomial, c in polynomial.items()]

    def values(self, expressions: Sequence[Expr]) -> list[Array]:
        """Expressions at every sample."""
        results = self._evaluate([as_expr(e) for e in expressions])
        return [np.broadcast_to(np.asarray(value, dtype=float), (self.count,)) for value in results]

    def _evaluate(self, expressions: list[Expr]) -> list[Any]:
        # Equations to read have laws and formulas by their names.
        return evaluate(resolve(self.tree.mechanism, self.tree.definitions, expressions), self.bindings)

    def _term(self, monomial: Monomial, coefficient: float, values: Mapping[Expr, Array | float]) -> Array:
        total = np.full(self.count, coefficient)
        for factor, exponent in monomial:
            total = total * np.asarray(values[factor], dtype=float) ** float(exponent)
        return total


def samples_of(equations: Equations, numbers: Numbers, trajectory: Trajectory) -> Samples:
    """The samples of a trajectory that holds the accelerations among its outputs."""
    layout = equations.layout
    symbols = (*layout.coordinates, *layout.speeds, *layout.accelerations)
    bindings: dict[Expr, Array | float] = dict(numbers.by_symbol)
    bindings.update({symbol: np.asarray(trajectory[str(symbol.name)]) for symbol in symbols})
    bindings[TIME] = np.asarray(trajectory.time)
    samples = Samples(bindings, len(trajectory.time), equations.tree)
    return with_multipliers(equations, samples) if equations.constraints else samples


def with_multipliers(equations: Equations, samples: Samples) -> Samples:
    """The samples with the multipliers of least size that satisfy M v' + b + Cᵀ λ = Q best."""
    n, m = len(equations.layout.speeds), len(equations.constraints)
    rows = [entry for constraint in equations.constraints for entry in constraint.row]
    # Without Cᵀ λ the residual is f = M v' + b - Q. Redundant constraints make C rank deficient, so that Cᵀ λ = -f
    # has many
    # solutions; least squares takes the smallest, sample by sample.
    nothing = dict.fromkeys(equations.multipliers, as_expr(0))
    forces = np.stack(samples.values(substitute(equations.residual, nothing)), axis=-1)
    matrices = np.stack(samples.values(rows), axis=-1).reshape(samples.count, m, n)
    multipliers = [np.linalg.lstsq(c.T, -f, rcond=1e-10)[0] for c, f in zip(matrices, forces, strict=True)]
    columns = np.array(multipliers).T
    bindings = {**samples.bindings, **dict(zip(equations.multipliers, columns, strict=True))}
    return replace(samples, bindings=bindings)


@dataclass(frozen=True)
class SharedTerm:
    """One monomial of a row, and the share it belongs to."""

    share: Share
    node: Node
    polynomial: Polynomial


def row_terms(shares: Sequence[Share], row: int, limit: int = ROW_LIMIT) -> list[SharedTerm]:
    """The terms of one equation in reading order; raises TooManyTerms when they are too many to read."""
    terms = []
    for share in shares:
        for monomial, coefficient in few_terms(share.rows[row], limit).items():
            terms.append(SharedTerm(share, term(monomial, coefficient), {monomial: coefficient}))
    return sorted(terms, key=lambda one: term_key(one.node))


def equation(origins: TermOrigins, row: int, samples: Samples | None) -> Equation:
    """0 = the terms of one row, like ones added up, each with its origin and its values."""
    speed = origins.equations.layout.speeds[row]
    polynomial = few_terms(origins.equations.residual[row], ROW_LIMIT)
    gathered = gathered_terms(polynomial)
    remarks = origins.of_terms(row, polynomial, [terms for _, terms in gathered])
    shown = []
    for (node, terms), remark in zip(gathered, remarks, strict=True):
        origin = Origin(remark.meaning, remark.bodies, remark.joints)
        parts = samples.of({own: polynomial[own] for own in terms}) if samples is not None else None
        values = np.sum(parts, axis=0) if parts is not None else None
        shown.append(Term(formula(node), origin, values))
    return Equation(ZERO, tuple(shown), f"Along {str(speed.name).rstrip(chr(39))}", force_unit(speed))


def force_unit(speed: Expr) -> str:
    """The unit of the generalised force along a speed."""
    return FORCE_UNITS.get(speed.data.unit, "")
