"""The most factored scalar form: Σ_j a_ij q_j'' + Σ_jk Γ_i,jk q_j' q_k' + weight = loads, each coefficient by itself.

It is the form that comes out of the inertia tensors, a_ij = tr K_ij and Γ_i,jk = φ̃_j : K_ik, whatever the formalism.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from torseur.algebra.graph import Expr, as_expr
from torseur.derivation.equations import Equations
from torseur.derivation.equations.terms.equal_values import merge_equal_values
from torseur.derivation.equations.terms.polynomial import Monomial, Polynomial, TooManyTerms, monomial
from torseur.derivation.equations.terms.short_sum import few_terms
from torseur.derivation.equations.terms.trigonometry import vanishes
from torseur.presentation.levels.conditions import assumptions
from torseur.presentation.levels.levels import RESIDUAL, beside, definition_statements, row_remarks
from torseur.presentation.levels.statement import Statement, terms_of
from torseur.presentation.typesetting.formula_tree import Name, Node, Number, Power, Product, Sum
from torseur.presentation.typesetting.read_graph import factored_form, read_name, readable_form
from torseur.presentation.typesetting.recursion import definitions

ZERO = Number(Fraction(0))
ONE = Number(Fraction(1))


def collected_statements(equations: Equations) -> list[Statement]:
    """One equation per speed: coefficients of accelerations, then of products of speeds, then the rest = loads.

    Coefficients that are long in any writing are broken up by named intermediates, which come first.
    """
    shared = equations.as_read
    try:
        listed = [_statement(shared, k, _parts(shared, k), _forces(shared, k)) for k in _rows(shared)]
    except TooManyTerms:
        listed = _by_intermediates(shared)
    return [*listed, *assumptions(shared, listed), *beside(equations)]


def _rows(equations: Equations) -> range:
    return range(len(equations.layout.speeds))


def _parts(equations: Equations, k: int) -> list[Node]:
    weighted = zip(equations.mass_matrix[k], equations.layout.accelerations, strict=True)
    terms = [times(readable_form(entry), [read_name(str(a.name))]) for entry, a in weighted if not vanishes(entry)]
    return [*terms, *by_speeds(few_terms(equations.bias[k]), equations.layout.speeds)]


def _statement(equations: Equations, k: int, parts: Sequence[Node], forces: Expr | Node) -> Statement:
    left: Node = ZERO if not parts else parts[0] if len(parts) == 1 else Sum(tuple(parts))
    right = readable_form(forces) if isinstance(forces, Expr) else forces
    name = f"{RESIDUAL}{equations.layout.speed_names[k].rstrip(chr(39))}"
    return Statement(name, left, ((right,),), "scalar", remark=row_remarks(equations)[name])


def _by_intermediates(equations: Equations) -> list[Statement]:
    """M q'' + b = loads row by row, with every entry in terms of named intermediates."""
    # Row by row, then the forces:  [ M_11 ... M_1n  b_1 | M_21 ... M_2n  b_2 | ... | Q_1 ... Q_n ]
    n = len(equations.layout.speeds)
    entries = [e for k in _rows(equations) for e in (*equations.mass_matrix[k], equations.bias[k])]
    entries += [_forces(equations, k) for k in _rows(equations)]
    lines, nodes = definitions(merge_equal_values(entries))
    statements = definition_statements(equations, lines)
    accelerations = [read_name(str(a.name)) for a in equations.layout.accelerations]
    for k in _rows(equations):
        *weights, rest = nodes[k * (n + 1) : (k + 1) * (n + 1)]
        parts = [times(w, [a]) for w, a in zip(weights, accelerations, strict=True) if w != ZERO]
        parts += terms_of(rest) if rest != ZERO else ()
        statements.append(_statement(equations, k, parts, nodes[n * (n + 1) + k]))
    return statements


def by_speeds(bias: Polynomial, speeds: Sequence[Expr]) -> Iterable[Node]:
    """Γ q_j' q_k' for every product of speeds, squares first; what has none comes last."""
    order = {speed: place for place, speed in enumerate(speeds)}
    by_motion: dict[Monomial, dict[Monomial, Fraction | float | int]] = {}
    for term, coefficient in bias.items():
        # A term of b splits into its speeds and its coefficient; terms of the same speeds are collected.
        moving = monomial({f: e for f, e in term if f in order})
        rest = monomial({f: e for f, e in term if f not in order})
        by_motion.setdefault(moving, {})[rest] = coefficient
    for moving in sorted(by_motion, key=lambda m: (not m, [order[f] for f, _ in m])):
        yield times(factored_form(by_motion[moving]), [_power(f, e) for f, e in moving])


def _power(speed: Expr, exponent: int) -> Node:
    name: Name = read_name(str(speed.name))
    return name if exponent == 1 else Power(name, Number(Fraction(exponent)))


def times(coefficient: Node, motion: Sequence[Node]) -> Node:
    """A coefficient before what it multiplies; a sum in brackets."""
    if not motion:
        return coefficient
    if coefficient == ONE:
        return motion[0] if len(motion) == 1 else Product(tuple(motion))
    factors = coefficient.factors if isinstance(coefficient, Product) else (coefficient,)
    return Product((*factors, *motion))


def _forces(equations: Equations, row: int) -> Expr:
    """Loads and constraint forces -Cᵀ λ."""
    total = equations.loads[row]
    for constraint, multiplier in zip(equations.constraints, equations.multipliers, strict=True):
        total = total - constraint.row[row] * multiplier
    return as_expr(total)
