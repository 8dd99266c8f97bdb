"""Equations without multipliers, and solved for the accelerations, as statements."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from torseur.algebra.graph import Expr, as_expr, symbol
from torseur.derivation.equations import Equations
from torseur.derivation.equations.elimination import (
    ReducedEquations,
    forces_without_multipliers,
)
from torseur.derivation.equations.terms.polynomial import TooManyTerms
from torseur.derivation.equations.terms.short_sum import few_terms
from torseur.presentation.levels.conditions import NOT_ZERO, assumptions
from torseur.presentation.levels.forms.solved_form import solved_statements
from torseur.presentation.levels.levels import RESIDUAL, ZERO, beside
from torseur.presentation.levels.statement import Remark, Statement
from torseur.presentation.typesetting.formula_tree import Name, Node, Number, Power, Product, reciprocal, split_sign
from torseur.presentation.typesetting.read_graph import read_name, readable_or_literal_form

NOTHING, DEPENDENT = Remark(), Remark("by the constraints")
MOST_TERMS = 20  # of an equation whose factors N are multiplied out


def reduced_statements(equations: Equations, independent: Collection[str] = (), solve: bool = False) -> list[Statement]:
    """One equation per independent speed, then what the dependent speeds are and what was divided by.

    Multiplied out where that is short, and otherwise Nᵀ F = 0 with F = M v' + b - Q and N written by their names. With
    `solve` each is solved for its acceleration.
    """
    reduced = equations.without_multipliers(independent)
    first = solved_statements(reduced) if solve else _zeros(reduced)
    dependent = [_equal(str(v.name), read_name(str(v.name)), value, DEPENDENT) for v, value in reduced.speeds.items()]
    written = [*first, *dependent, *_assumptions(reduced)]
    return [*written, *assumptions(equations, written), *beside(equations, multipliers=False)]


def _equal(
    name: str, left: Node, value: Expr, remark: Remark = NOTHING, auxiliary: bool = False, node: Node | None = None
) -> Statement:
    written = readable_or_literal_form(value) if node is None else node
    return Statement(name, left, ((written,),), "scalar", ((value,),), remark=remark, auxiliary=auxiliary)


def _zeros(reduced: ReducedEquations) -> list[Statement]:
    """0 = Nᵀ F, row by row."""
    names = [f"{RESIDUAL}{_bare(speed)}" for speed in reduced.independent]
    try:
        for row in reduced.residuals:
            few_terms(row, MOST_TERMS)
    except TooManyTerms:
        return _by_factors(reduced, names)
    return [_equal(name, ZERO, row) for name, row in zip(names, reduced.residuals, strict=True)]


def _by_factors(reduced: ReducedEquations, names: Sequence[str]) -> list[Statement]:
    """0 = F_1 + N_21 F_2 + ..., with F the forces and N the dependent speeds by the independent ones."""
    equations = reduced.equations
    along = [_bare(speed) for speed in equations.layout.speeds]
    forces = [symbol(f"F_{name}") for name in along]
    factors: dict[Expr, tuple[str, Expr]] = {}
    results = []
    for i, (name, speed) in enumerate(zip(names, reduced.independent, strict=True)):
        total = as_expr(0)
        for k, force in enumerate(forces):
            entry = reduced.projection[k][i]
            if entry.args and not entry.is_constant:
                label = f"N_{along[k]}_{_bare(speed)}"
                factors[symbol(label)] = (label, entry)
                entry = symbol(label)
            total = total + entry * force
        results.append(_equal(name, ZERO, total))
    listed = [_equal(label, Name(label), value, auxiliary=True) for label, value in factors.values()]
    rows = [
        _equal(f"F_{name}", Name(f"F_{name}"), row, Remark(f"M v' + b - Q along {name}"), auxiliary=True)
        for name, row in zip(along, forces_without_multipliers(equations), strict=True)
    ]
    accelerations = [
        _equal(str(a.name), read_name(str(a.name)), value, DEPENDENT) for a, value in reduced.accelerations.items()
    ]
    return [*listed, *rows, *results, *accelerations]


def _bare(speed: Expr) -> str:
    return str(speed.name).rstrip("'")


def assumed_not_to_vanish(divisors: Sequence[Expr]) -> list[Statement]:
    """What was divided by, factor by factor."""
    listed = dict[Node, None]()
    for divisor in divisors:
        size = split_sign(readable_or_literal_form(divisor))[1]
        for factor in size.factors if isinstance(size, Product) else (size,):
            inverse = reciprocal(factor) or factor
            listed[inverse.base if isinstance(inverse, Power) else inverse] = None
    return [
        Statement("", node, ((ZERO,),), "name", remark=Remark(NOT_ZERO))
        for node in listed
        if not isinstance(node, Number)
    ]


def _assumptions(reduced: ReducedEquations) -> list[Statement]:
    return assumed_not_to_vanish(reduced.pivots) + [
        Statement("", Name(name), ((ZERO,),), "name", remark=Remark("follows from the other constraints"))
        for name in reduced.redundant
    ]
