"""The most factored scalar form: Σ_j a_ij q_j'' + Σ_jk Γ_i,jk q_j' q_k' + weight = loads, each coefficient by itself.

It is the form that comes out of the inertia tensors, a_ij = tr K_ij and Γ_i,jk = φ̃_j : K_ik, whatever the formalism.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from torseur.equations import Equations
from torseur.equations.terms.polynomial import Monomial, Polynomial, monomial
from torseur.graph import Expr, as_expr
from torseur.report.expression import Name, Node, Number, Power, Product, Sum
from torseur.report.levels.levels import RESIDUAL
from torseur.report.levels.statement import Statement
from torseur.report.reading.read_graph import factored, few_terms, named, readable

ZERO = Number(Fraction(0))
ONE = Number(Fraction(1))


def collected_statements(equations: Equations) -> list[Statement]:
    """One equation per speed: coefficients of accelerations, then of products of speeds, then the rest = loads."""
    names = [f"{RESIDUAL}{name.rstrip(chr(39))}" for name in equations.layout.speed_names]
    found = []
    for k, name in enumerate(names):
        parts = [*_accelerations(equations, k), *by_speeds(few_terms(equations.bias[k]), equations.layout.speeds)]
        left: Node = ZERO if not parts else parts[0] if len(parts) == 1 else Sum(tuple(parts))
        found.append(Statement(name, left, ((_forces(equations, k),),), "scalar"))
    return found


def _accelerations(equations: Equations, row: int) -> Iterable[Node]:
    for entry, acceleration in zip(equations.mass_matrix[row], equations.layout.accelerations, strict=True):
        if not entry.is_zero:
            yield _times(readable(entry), [named(str(acceleration.name))])


def by_speeds(bias: Polynomial, speeds: Sequence[Expr]) -> Iterable[Node]:
    """Γ q_j' q_k' for every product of speeds, squares first; what has none comes last."""
    order = {speed: place for place, speed in enumerate(speeds)}
    by_motion: dict[Monomial, dict[Monomial, Fraction | float | int]] = {}
    for term, coefficient in bias.items():
        moving = monomial({f: e for f, e in term if f in order})
        rest = monomial({f: e for f, e in term if f not in order})
        by_motion.setdefault(moving, {})[rest] = coefficient
    for moving in sorted(by_motion, key=lambda m: (not m, [order[f] for f, _ in m])):
        yield _times(factored(by_motion[moving]), [_power(f, e) for f, e in moving])


def _power(speed: Expr, exponent: int) -> Node:
    name: Name = named(str(speed.name))
    return name if exponent == 1 else Power(name, Number(Fraction(exponent)))


def _times(coefficient: Node, motion: Sequence[Node]) -> Node:
    """A coefficient before what it multiplies; a sum in brackets."""
    if not motion:
        return coefficient
    if coefficient == ONE:
        return motion[0] if len(motion) == 1 else Product(tuple(motion))
    factors = coefficient.factors if isinstance(coefficient, Product) else (coefficient,)
    return Product((*factors, *motion))


def _forces(equations: Equations, row: int) -> Node:
    """Loads and constraint forces -Cᵀ λ."""
    total = equations.loads[row]
    for constraint, multiplier in zip(equations.constraints, equations.multipliers, strict=True):
        total = total - constraint.row[row] * multiplier
    return readable(as_expr(total))
