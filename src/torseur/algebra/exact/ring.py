"""Entries of matrices as rational functions: of free symbols, of cosines and sines of angles, of roots of numbers.

The ring is Q[x, c_i, s_i, w] / (c_i² + s_i² - 1, p(w)): a pair of variables per angle, and one w, with its minimal
polynomial p, for all algebraic numbers among the coefficients. Undetermined functions such as x(t) are variables too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from torseur.algebra.graph import Expr, to_sympy
from torseur.algebra.graph.construction.decimals import as_written
from torseur.errors import UnsupportedError

LARGEST_MULTIPLE = 1000  # of an angle: cos(1000 q) is a polynomial of degree 1000, expanded in a second


@dataclass(frozen=True)
class Ring:
    """Variables (SymPy symbols), the relations among them, and the pairs (cosine, sine) of angles.

    `root` is the variable of the algebraic numbers with the number that it stands for; `mixed` are symbols that occur
    as an angle and outside of sines and cosines. `meanings` are what variables stand for that people did not write.
    """

    variables: tuple[Any, ...] = ()
    relations: tuple[Any, ...] = ()
    pairs: tuple[tuple[Any, Any], ...] = ()
    root: tuple[Any, Any] | None = None
    mixed: tuple[str, ...] = ()
    meanings: tuple[tuple[Any, Any], ...] = field(default=(), repr=False)

    def expression(self, value: Any) -> Any:
        """A polynomial or matrix in the variables of the ring as people wrote it: cos(q), x(t), pi, sqrt(2)."""
        return value.xreplace(dict(self.meanings))

    def require_algebraic(self, what: str) -> None:
        """Refuses symbols that are an angle here and a length there: no polynomial ties them together."""
        if self.mixed:
            raise UnsupportedError(
                f"{what}: '{self.mixed[0]}' occurs as an angle and outside of sines and cosines (as in a screw), so "
                "that the equations are not algebraic. Give it a value, or use numbers (method 'numeric' of loops)."
            )


@dataclass(frozen=True)
class Reading:
    """Expressions over a ring."""

    ring: Ring
    values: tuple[Any, ...] = field(repr=False)


def as_sympy(value: Any, place: str) -> Any:
    """A number or expression in SymPy, decimals as the fractions they are written as."""
    import sympy as sp

    if isinstance(value, str | bool) or value is None:
        raise UnsupportedError(
            f"{place}: {value!r} is neither a number nor an expression; make symbols with ts.symbol or SymPy."
        )
    if isinstance(value, Fraction):
        return sp.Rational(value.numerator, value.denominator)
    if isinstance(value, sp.Equality):
        value = value.lhs - value.rhs
    try:
        made = (
            to_sympy(value) if isinstance(value, Expr) or hasattr(value, "__expr__") else sp.sympify(value, strict=True)
        )
    except (sp.SympifyError, TypeError) as error:
        raise UnsupportedError(f"{place}: {type(value).__name__} is neither a number nor an expression.") from error
    if not isinstance(made, sp.Expr) or made.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
        raise UnsupportedError(f"{place}: {made} is no finite number and no expression.")
    return made.xreplace({x: _rational(x, place) for x in made.atoms(sp.Float)})


def _rational(number: Any, place: str) -> Any:
    import sympy as sp

    fraction = as_written(float(number))
    return sp.Rational(fraction.numerator, fraction.denominator)


def read(expressions: Sequence[Any], places: Sequence[str]) -> Reading:
    """Expressions over one ring; raises UnsupportedError with the place of what is no rational function."""
    import sympy as sp

    values = _one_symbol_a_name([as_sympy(v, place) for v, place in zip(expressions, places, strict=True)])
    functions = _named_functions(values)
    # In this order: functions get names before angles are looked for, since x(t) may be one; pi becomes a variable only
    # after the angles, which may hold parts of it; roots last, since cos(pi/8) makes some.
    values = [_without_quotients_of_circles(v).xreplace(functions) for v in values]
    angles = _angles(values, places)
    values, pairs, circular = _in_pairs(values, angles)
    values = [v.xreplace({sp.pi: symbol_of_pi()}) for v in values]
    values, root, minimal = _with_one_root(values)
    for value, place in zip(values, places, strict=True):
        _require_rational(value, place)
    cosines = [v for pair in pairs for v in pair]
    # Free symbols first, then angles, then the root: the order decides which variables a basis solves for.
    free = _symbols(values, without={*cosines, *([root[0]] if root else ())})
    mixed = tuple(str(q) for q in angles if any(str(v) == str(q) for v in free))
    relations = [c**2 + s**2 - 1 for c, s in pairs] + ([minimal] if root else [])
    variables = (*free, *cosines, *([root[0]] if root else ()))
    meanings = (
        *circular,
        *((name, f) for f, name in functions.items()),
        (symbol_of_pi(), sp.pi),
        *([root] if root else ()),
    )
    return Reading(Ring(variables, tuple(relations), tuple(pairs), root, mixed, meanings), tuple(values))


def symbol_of_pi() -> Any:
    """The variable of pi: no polynomial with rational coefficients vanishes there, so that it is as good as free."""
    import sympy as sp

    return sp.Symbol("pi", positive=True)


def _one_symbol_a_name(values: Sequence[Any]) -> list[Any]:
    """The first symbol of each name for all of that name: ours are real in SymPy, those of people often are not."""
    import sympy as sp

    first: dict[str, Any] = {}
    for value in values:
        for node in sp.preorder_traversal(value):
            if isinstance(node, sp.Symbol):
                first.setdefault(node.name, node)
    return [v.xreplace({x: first[x.name] for x in v.atoms(sp.Symbol)}) for v in values]


def _symbols(values: Iterable[Any], without: set[Any]) -> list[Any]:
    """Symbols by name, so that orders do not depend on hashes."""
    return sorted({x for v in values for x in v.free_symbols} - without, key=lambda v: (len(v.name), v.name))


def _without_quotients_of_circles(value: Any) -> Any:
    import sympy as sp

    return value.replace(sp.tan, lambda a: sp.sin(a) / sp.cos(a)).replace(sp.cot, lambda a: sp.cos(a) / sp.sin(a))


def _named_functions(values: Sequence[Any]) -> dict[Any, Any]:
    """x(t) and its derivatives as symbols of that name: they are free."""
    import sympy as sp
    from sympy.core.function import AppliedUndef

    kinds = (sp.Derivative, AppliedUndef)
    functions = sorted({f for v in values for kind in kinds for f in v.atoms(kind)}, key=str)
    return {f: sp.Symbol(str(f)) for f in functions}


def _angles(values: Sequence[Any], places: Sequence[str]) -> dict[Any, int]:
    """Symbols that occur as angles, each with the least common denominator of its factors: 2 for cos(q/2)."""
    import sympy as sp

    angles: dict[Any, int] = {}
    for value, place in zip(values, places, strict=True):
        for function in sorted(value.atoms(sp.sin, sp.cos), key=str):
            for term in sp.Add.make_args(sp.expand(function.args[0])):
                factor, rest = term.as_coeff_Mul()
                if rest.is_Symbol and factor.is_Rational:
                    # cos(q/2) and cos(q/3) are both polynomials in the pair of q/6.
                    angles[rest] = int(sp.ilcm(angles.get(rest, 1), factor.q))
                    if abs(factor.p) * angles[rest] > LARGEST_MULTIPLE:
                        raise UnsupportedError(
                            f"{place}: {function} is a polynomial of too high a degree in the cosine and sine of "
                            f"{rest}; multiples and parts up to {LARGEST_MULTIPLE} are expanded. Name the angle by a "
                            "symbol."
                        )
                    continue
                if rest is sp.pi or (term.is_number and not sp.expand_trig(sp.cos(term)).has(sp.sin, sp.cos)):
                    continue  # cos(2 atan(1/2)) is 3/5
                raise UnsupportedError(
                    f"{place}: {function} is no trigonometric polynomial; an angle is a sum of symbols with rational "
                    "factors and of parts of pi. Name the angle by a symbol."
                )
    return dict(sorted(angles.items(), key=lambda item: (len(item[0].name), item[0].name)))


def _in_pairs(
    values: Sequence[Any], angles: Mapping[Any, int]
) -> tuple[list[Any], list[tuple[Any, Any]], list[tuple[Any, Any]]]:
    """Sines and cosines of sums and multiples as polynomials in one pair per angle; the pairs, and their meanings."""
    import sympy as sp

    # A unit stands for the smallest part of its angle: in units all multiples are whole, as expand_trig needs them.
    # Dummies keep what is meant as an angle apart from a symbol of the same name outside of sines.
    units = {q: sp.Dummy(q.name, real=True) for q in angles}
    pairs: list[tuple[Any, Any]] = []
    meanings: list[tuple[Any, Any]] = []
    table: dict[Any, Any] = {}
    for q, denominator in angles.items():
        name = q.name if denominator == 1 else f"{q.name}/{denominator}"
        pair = sp.Symbol(f"cos({name})"), sp.Symbol(f"sin({name})")
        pairs.append(pair)
        meanings += [(pair[0], sp.cos(q / denominator)), (pair[1], sp.sin(q / denominator))]
        table |= {sp.cos(units[q]): pair[0], sp.sin(units[q]): pair[1]}
    whole = {q: angles[q] * u for q, u in units.items()}

    def expanded(function: Any) -> Any:
        inner = sp.expand(function.args[0]).xreplace(whole)
        return sp.expand_trig(function.func(inner)).xreplace(table)

    written = [v.xreplace({f: expanded(f) for f in v.atoms(sp.sin, sp.cos)}) for v in values]
    return written, pairs, meanings


def _with_one_root(values: Sequence[Any]) -> tuple[list[Any], tuple[Any, Any] | None, Any]:
    """Algebraic numbers (roots, cosines of parts of pi) as polynomials in one variable, with its minimal polynomial."""
    import sympy as sp

    def is_root(x: Any) -> bool:
        power = isinstance(x, sp.Pow) and x.exp.is_Rational and not x.exp.is_Integer
        return bool(x.is_number and (power or isinstance(x, sp.sin | sp.cos) or x is sp.I))

    numbers = sorted({x for v in values for x in sp.preorder_traversal(v) if is_root(x)}, key=str)
    if not numbers:
        return [*values], None, None
    # One primitive element for all roots (sqrt(2), sqrt(3) and sqrt(6) are polynomials in it). A variable for each
    # would leave hidden relations among them, such as sqrt(2) sqrt(3) = sqrt(6), and zeros that nobody sees.
    domain, elements = sp.construct_domain(numbers, extension=True)
    if not domain.is_Algebraic:
        return [*values], None, None
    w = sp.Symbol(str(domain.ext.as_expr()))  # no name that anybody's symbol has
    table: dict[Any, Any] = {}
    for number, element in zip(numbers, elements, strict=True):
        table[number] = sum(sp.Rational(str(c)) * w**k for k, c in enumerate(reversed(element.to_list())))
    minimal = sum(sp.Rational(str(c)) * w**k for k, c in enumerate(reversed(domain.mod.to_list())))
    return [v.xreplace(table) for v in values], (w, domain.ext.as_expr()), minimal


def _expressions(value: Any) -> Iterator[Any]:
    """The parts of an expression that are expressions; conditions of a Piecewise are not."""
    import sympy as sp

    return (part for part in sp.preorder_traversal(value) if isinstance(part, sp.Expr))


def _require_rational(value: Any, place: str) -> None:
    import sympy as sp

    if value.has(sp.zoo, sp.nan):  # roots that cancel are seen here
        raise UnsupportedError(f"{place}: it divides by an expression that is zero.")
    symbols = value.free_symbols
    if value.is_rational_function(*symbols) if symbols else value.is_Rational or sp.simplify(value).is_Rational:
        return
    culprit = next((x for x in _expressions(value) if not x.is_rational_function()), value)
    for part in _expressions(value):
        innermost = (part.is_Function or part.is_Pow) and all(
            isinstance(a, sp.Expr) and a.is_rational_function() for a in part.args
        )
        if innermost and not part.is_rational_function():
            culprit = part
    raise UnsupportedError(
        f"{place}: {culprit} is no rational function of symbols, sines and cosines. Name it by a symbol of its own, "
        "which then is free."
    )


def fractions_of(values: Iterable[Any]) -> list[tuple[Any, Any]]:
    """(numerator, denominator) of each, without common factors."""
    import sympy as sp

    return [sp.fraction(sp.cancel(sp.together(v))) for v in values]


def matrix_entries(matrix: Any, what: str = "matrix") -> tuple[int, int, list[Any], list[str]]:
    """Rows, columns, entries by rows and their places, of nested lists, a NumPy array or a SymPy matrix."""
    rows = matrix.tolist() if hasattr(matrix, "tolist") else matrix
    if isinstance(rows, str) or not isinstance(rows, Sequence) or not rows:
        raise UnsupportedError(f"{what}: expected a matrix by rows, such as [[x, 1], [0, y]].")
    lines = [[*row] if isinstance(row, Sequence) and not isinstance(row, str) else None for row in rows]
    widths = [None if line is None else len(line) for line in lines]
    if None in widths or len({*widths}) != 1 or widths[0] == 0:
        raise UnsupportedError(
            f"{what}: its rows are lists of one length; got lengths {widths}.".replace("None", "no list")
        )
    m, n = len(lines), len(lines[0] or [])
    places = [f"{what}, row {i + 1}, column {j + 1}" for i in range(m) for j in range(n)]
    return m, n, [x for line in lines for x in line or []], places
