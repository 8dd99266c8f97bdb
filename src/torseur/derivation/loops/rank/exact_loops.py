"""Small loops by exact algebra: closure equations as polynomials in cosines and sines, ranks without rounding.

The ring is Q[x, c_i, s_i] / (c_i² + s_i² - 1), one pair per angle. Ranks on the closed configurations come from
Gröbner bases: a minor vanishes there when 1 lies in the ideal of the closures and 1 - y minor (over the complex
numbers, which may have more solutions than the real ones).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from torseur.algebra.graph import Expr, evaluate
from torseur.derivation.loops.closure.constraint_equations import constraint_equations
from torseur.derivation.loops.model.dimensions import fractions, parameter_values, require_values
from torseur.derivation.tree import Tree, build_tree
from torseur.description.mechanism import TIME, Mechanism
from torseur.errors import UnsupportedError

_MOST_VARIABLES = 9  # Gröbner bases grow doubly exponentially with the variables at worst


@dataclass(frozen=True)
class PolynomialLoops:
    """Closure polynomials and the constraint matrix over the tree's coordinates, in SymPy.

    `variables` are the ring's generators, `relations` the c² + s² - 1, `coordinates` the tree's coordinates by name.
    """

    coordinates: tuple[str, ...]
    variables: tuple[Any, ...]
    relations: tuple[Any, ...]
    closures: tuple[Any, ...]
    matrix: Any

    @property
    def size(self) -> int:
        return len(self.coordinates)


def polynomial_loops(mechanism: Mechanism, time: Fraction = Fraction(0)) -> PolynomialLoops:
    """The closure equations of a mechanism as polynomials; raises when they are not."""
    import sympy as sp

    tree = build_tree(mechanism)
    _require_small(tree)
    equations = [e for e in constraint_equations(tree) if e.is_holonomic]
    symbols = [sp.Symbol(f"q{k}") for k in range(len(tree.layout.coordinates))]
    known = _exact_values(tree, symbols, time)
    flat = [e.residual for e in equations] + [entry for e in equations for entry in e.row]
    require_values(mechanism, flat, known)
    values = [sp.sympify(v) for v in evaluate(flat, known)]
    pairs, table = _circular(symbols, values)
    polynomials = [sp.expand(sp.expand_trig(v).subs(table, simultaneous=True)) for v in values]
    variables = [q for q in symbols if q not in pairs] + [v for pair in pairs.values() for v in pair]
    _require_polynomials(mechanism, polynomials, variables)
    relations = tuple(c**2 + s**2 - 1 for c, s in pairs.values())
    polynomials = [_without_cosine_squares(p, relations, variables) for p in polynomials]
    count = len(equations)
    rows = sp.Matrix(count, len(symbols), polynomials[count:])
    return PolynomialLoops(
        tuple(tree.layout.coordinate_names), tuple(variables), relations, tuple(polynomials[:count]), rows
    )


def _exact_values(tree: Tree, symbols: list[Any], time: Fraction) -> dict[Expr, Any]:
    """SymPy values of everything: coordinates as symbols, decimals as fractions."""
    import sympy as sp

    given = parameter_values(tree.mechanism)
    known: dict[Expr, Any] = {TIME: sp.Rational(time.numerator, time.denominator)}
    equations = constraint_equations(tree)
    flat = [e.residual for e in equations] + [entry for e in equations for entry in e.row]
    decimals = fractions(tree.mechanism, [*given.values(), *flat])
    known.update({node: sp.Rational(f.numerator, f.denominator) for node, f in decimals.items()})
    known.update(zip(given, evaluate(list(given.values()), known), strict=True))
    known.update(zip(tree.layout.coordinates, symbols, strict=True))
    return known


def _circular(symbols: list[Any], values: list[Any]) -> tuple[dict[Any, tuple[Any, Any]], dict[Any, Any]]:
    """For each coordinate that appears as an angle: its cosine and sine as variables."""
    import sympy as sp

    angles = {a for v in values for f in v.atoms(sp.cos, sp.sin) for a in f.free_symbols}
    pairs: dict[Any, tuple[Any, Any]] = {}
    table: dict[Any, Any] = {}
    for q in symbols:
        if q in angles:
            c, s = sp.symbols(f"c_{q.name[1:]} s_{q.name[1:]}")
            pairs[q] = (c, s)
            table |= {sp.cos(q): c, sp.sin(q): s}
    return pairs, table


def _without_cosine_squares(polynomial: Any, relations: tuple[Any, ...], variables: list[Any]) -> Any:
    """The polynomial without squares of cosines."""
    import sympy as sp

    return sp.reduced(polynomial, relations, *variables, order="lex")[1] if relations else polynomial


def _require_polynomials(mechanism: Mechanism, polynomials: list[Any], variables: list[Any]) -> None:
    for expression in polynomials:
        if not expression.is_polynomial(*variables) or expression.free_symbols - set(variables):
            raise UnsupportedError(
                f"mechanism '{mechanism.name}': its closure equations are not polynomials in lengths, cosines and "
                "sines, so exact algebra does not apply."
            )


def _require_small(tree: Tree) -> None:
    """Refuses what Gröbner bases cannot do in reasonable time; an angle counts twice."""
    count = sum(2 if q.data.unit == "rad" else 1 for q in tree.layout.coordinates)
    if count > _MOST_VARIABLES:
        raise UnsupportedError(
            f"mechanism '{tree.mechanism.name}': {count} variables are too many for Gröbner bases "
            f"(at most {_MOST_VARIABLES})."
        )


def generic_rank(loops: PolynomialLoops) -> int:
    """The rank over the rational functions of free coordinates: Gauss with half-angle tangents."""
    import sympy as sp
    from sympy.polys.matrices import DomainMatrix

    # cos = (1 - t²)/(1 + t²), sin = 2 t/(1 + t²): with t free the circle relation holds identically.
    table: dict[Any, Any] = {}
    for relation in loops.relations:
        c, s = sorted(relation.free_symbols, key=lambda v: v.name)
        t = sp.Symbol(f"t_{c.name}")
        table |= {c: (1 - t**2) / (1 + t**2), s: 2 * t / (1 + t**2)}
    return int(DomainMatrix.from_Matrix(loops.matrix.subs(table).applyfunc(sp.together)).to_field().rank())


def admissible_rank(loops: PolynomialLoops) -> int:
    """The largest rank on the closed configurations."""
    # From the largest minors down: the first size with one that does not vanish on all closed configurations.
    ideal = [*loops.closures, *loops.relations]
    for size in range(min(loops.matrix.shape), 0, -1):
        if not all(_vanishes(minor, ideal, loops.variables) for minor in _minors(loops.matrix, size)):
            return size
    return 0


def _minors(matrix: Any, size: int) -> list[Any]:
    import sympy as sp

    rows, columns = matrix.shape
    minors = {
        sp.expand(matrix.extract(list(r), list(c)).det())
        for r in combinations(range(rows), size)
        for c in combinations(range(columns), size)
    }
    # Short minors first: the first one that does not vanish ends the search.
    return sorted((m for m in minors if m != 0), key=lambda m: len(m.args))


def _vanishes(polynomial: Any, ideal: list[Any], variables: tuple[Any, ...]) -> bool:
    """Whether a polynomial vanishes wherever the ideal does."""
    import sympy as sp

    if polynomial == 0:
        return True
    # Rabinowitsch: f vanishes on the variety of I exactly when 1 lies in the ideal of I and 1 - y f.
    y = sp.Symbol("y_inverse")
    basis = sp.groebner([*ideal, 1 - y * polynomial], y, *variables, order="grevlex", extension=True)
    return bool(basis.exprs == [1])


@dataclass(frozen=True)
class SyzygyPassage:
    """N as text: a row per coordinate of the tree, a column per motion."""

    coordinates: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def motions(self) -> int:
        return len(self.rows[0]) if self.rows else 0

    def __str__(self) -> str:
        if not self.motions:
            return "no motion is common to all values of the coordinates"
        width = max(len(name) for name in self.coordinates)
        pairs = zip(self.coordinates, self.rows, strict=True)
        lines = [f"  {name:>{width}}'  {' | '.join(row)}" for name, row in pairs]
        return "\n".join(["passage matrix N by syzygies (M N = 0 for all values of the coordinates), by rows:", *lines])


def passage_by_syzygies(loops: PolynomialLoops, closed: bool = False) -> Any:
    """N (SymPy) with M N = 0 for all coordinates, or, with `closed`, modulo the closures too (small loops only)."""
    import sympy as sp

    ring = sp.QQ.old_poly_ring(*loops.variables)
    ideal = [*loops.relations, *(loops.closures if closed else ())]
    quotient = ring / [ring.convert(r) for r in ideal] if ideal else ring
    rows, columns = loops.matrix.shape
    module = quotient.free_module(rows)
    generated = module.submodule(*[[loops.matrix[i, j] for i in range(rows)] for j in range(columns)])
    relations = generated.syzygy_module().gens
    vectors = [[sp.expand(quotient.to_sympy(entry)) for entry in vector] for vector in relations]
    kept = [v for v in vectors if any(entry != 0 for entry in v)]
    return sp.Matrix(columns, len(kept), lambda i, j: kept[j][i])


def readable_passage(loops: PolynomialLoops) -> SyzygyPassage:
    """N in the user's names: cos(alpha) for the cosine of the coordinate alpha."""
    matrix = passage_by_syzygies(loops)
    names = _names(loops)
    rows = [[_text(matrix[i, j], names) for j in range(matrix.cols)] for i in range(matrix.rows)]
    return SyzygyPassage(loops.coordinates, tuple(tuple(row) for row in rows))


def _names(loops: PolynomialLoops) -> dict[Any, Any]:
    """What each variable of the ring stands for."""
    import sympy as sp

    shown = {"c_": "cos({})", "s_": "sin({})", "q": "{}"}
    table = {}
    for variable in loops.variables:
        prefix = variable.name.rstrip("0123456789")
        coordinate = loops.coordinates[int(variable.name.removeprefix(prefix))]
        table[variable] = sp.Symbol(shown[prefix].format(coordinate))
    return table


def _text(entry: Any, names: dict[Any, Any]) -> str:
    return str(entry.subs(names, simultaneous=True)).replace("**", "^")
