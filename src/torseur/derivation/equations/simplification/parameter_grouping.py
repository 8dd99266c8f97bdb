"""Parameters grouped: every combination that multiplies a function of the state gets one name and one definition."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

from torseur.algebra.graph import Expr, symbol, symbols_of
from torseur.algebra.graph.expr import Number
from torseur.derivation.equations.terms.polynomial import Monomial, Polynomial, monomial, product

LETTER = "J"


@dataclass(frozen=True)
class GroupedParameters:
    """The equations in grouped parameters, and what each of these stands for."""

    rows: tuple[Polynomial, ...]
    definitions: tuple[tuple[Expr, Polynomial], ...]


def group_parameters(rows: Sequence[Polynomial], parameters: Collection[Expr]) -> GroupedParameters:
    """Rows as sums of (grouped parameter) x (function of the state).

    Combinations that differ by a number only share a name. A single parameter or a number keeps its own.
    """
    constant = set(parameters)
    names: dict[tuple[tuple[Monomial, Number], ...], Expr] = {}
    made = [_row(row, constant, names) for row in rows]
    return GroupedParameters(tuple(made), tuple((name, dict(key)) for key, name in names.items()))


def _row(row: Polynomial, constant: set[Expr], names: dict[tuple[tuple[Monomial, Number], ...], Expr]) -> Polynomial:
    by_state: dict[Monomial, dict[Monomial, Number]] = {}
    for term, coefficient in row.items():
        fixed, state = _split_factors(term, constant)
        by_state.setdefault(state, {})[fixed] = coefficient
    terms: dict[Monomial, Number] = {}
    for state, combination in by_state.items():
        factor, number = _name_combination(combination, names)
        terms[product(state, factor)] = number
    return terms


def _split_factors(term: Monomial, constant: set[Expr]) -> tuple[Monomial, Monomial]:
    """The factors that depend on parameters only, and the others."""
    fixed = {f: e for f, e in term if all(x in constant for x in symbols_of([f]))}
    return monomial(fixed), monomial({f: e for f, e in term if f not in fixed})


def _name_combination(
    combination: dict[Monomial, Number], names: dict[tuple[tuple[Monomial, Number], ...], Expr]
) -> tuple[Monomial, Number]:
    """A combination as a name and a number in front of it."""
    ordered = sorted(combination.items(), key=lambda item: [(f.rank, e) for f, e in item[0]])
    if len(ordered) == 1 and sum(abs(e) for _, e in ordered[0][0]) <= 1:
        return ordered[0]
    # By the first coefficient: combinations that differ by a number become the same key.
    first = ordered[0][1]
    key = tuple((term, _ratio(c, first)) for term, c in ordered)
    if key not in names:
        names[key] = symbol(f"{LETTER}_{len(names) + 1}", "1", "grouped parameter")
    return ((names[key], 1),), first


def _ratio(a: Number, b: Number) -> Number:
    if isinstance(a, float) or isinstance(b, float):
        return float(a) / float(b)
    return Fraction(a) / Fraction(b)
