"""Small loops by exact algebra: closure equations as polynomials in cosines and sines, ranks without rounding.

The ring is Q[x, c_i, s_i] / (c_i² + s_i² - 1), one pair per angle; parameters without a value are variables of it.
Ranks on the closed configurations come from standard bases (over the complex numbers, which may have more solutions
than the real ones).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from torseur.algebra.exact.closed_rank import largest_rank
from torseur.algebra.exact.matrix_rank import gauss_rank
from torseur.algebra.exact.ring import Ring, fractions_of, read
from torseur.algebra.exact.syzygies import relations_among_columns
from torseur.algebra.graph import Expr, evaluate, live_nodes
from torseur.derivation.loops.closure.constraint_equations import ConstraintEquation, constraint_equations
from torseur.derivation.loops.model.dimensions import fractions, parameter_values
from torseur.derivation.tree import Tree, build_tree
from torseur.description.mechanism import TIME, Mechanism
from torseur.errors import MechanismError, UnsupportedError

# Standard bases grow doubly exponentially with the variables at worst; what grows too far is given up on the way, and
# beyond this many variables it is not begun.
MOST_VARIABLES = 24


@dataclass(frozen=True)
class PolynomialLoops:
    """Closure polynomials and the constraint matrix over the tree's coordinates, in SymPy.

    `coordinates` are the tree's, by name, and `parameters` the lengths without a value; `ring` has the variables.
    """

    mechanism: str
    coordinates: tuple[str, ...]
    parameters: tuple[Any, ...]
    ring: Ring = field(repr=False)
    closures: tuple[Any, ...]
    rows: tuple[tuple[Any, ...], ...] = field(repr=False)
    velocity_constraints: int = 0

    @property
    def size(self) -> int:
        return len(self.coordinates)

    @property
    def matrix(self) -> Any:
        import sympy as sp

        return sp.Matrix(len(self.rows), self.size, [x for row in self.rows for x in row])

    @property
    def variables(self) -> tuple[Any, ...]:
        return self.ring.variables

    @property
    def relations(self) -> tuple[Any, ...]:
        return self.ring.relations


def polynomial_loops(mechanism: Mechanism, time: Fraction = Fraction(0), free: Sequence[str] = ()) -> PolynomialLoops:
    """The closure equations of a mechanism as polynomials; raises when they are not.

    Parameters without a value stay symbols, as do those named in `free`.
    """
    import sympy as sp

    tree = build_tree(mechanism)
    # Conditions on velocities alone are no polynomials of the configuration: they are counted and left out.
    every = constraint_equations(tree)
    equations = [e for e in every if e.is_holonomic]
    flat = [e.residual for e in equations] + [entry for e in equations for entry in e.row]
    known, parameters = _exact_values(tree, flat, time, free)
    values = [sp.sympify(v) for v in evaluate(flat, known)]
    _require_small(tree, parameters)
    try:
        made = read(values, [f"mechanism '{mechanism.name}', {place}" for place in _places(equations)])
    except UnsupportedError as reason:
        raise UnsupportedError(
            f"{reason} The closure equations are not polynomials in lengths, cosines and sines, so exact algebra does "
            "not apply."
        ) from reason
    made.ring.require_algebraic(f"mechanism '{mechanism.name}'")
    whole = [_polynomial(v, made.ring) for v in made.values]
    #     flat = [ residuals | row of equation 0 | row of equation 1 | ... ]
    #              count       n                   n
    # read together, so that all entries share one ring.
    count, n = len(equations), len(tree.layout.coordinates)
    rows = tuple(tuple(whole[count + i * n : count + (i + 1) * n]) for i in range(count))
    names = tuple(tree.layout.coordinate_names)
    return PolynomialLoops(mechanism.name, names, parameters, made.ring, tuple(whole[:count]), rows, len(every) - count)


def _places(equations: Sequence[ConstraintEquation]) -> list[str]:
    return [f"closure {e.name}" for e in equations] + [f"row of {e.name}" for e in equations for _ in e.row]


def _exact_values(
    tree: Tree, flat: Sequence[Expr], time: Fraction, free: Sequence[str]
) -> tuple[dict[Expr, Any], tuple[Any, ...]]:
    """SymPy values of everything: coordinates and parameters without a value as symbols, decimals as fractions."""
    import sympy as sp

    given = {node: value for node, value in parameter_values(tree.mechanism).items() if node.name not in free}
    known: dict[Expr, Any] = {TIME: sp.Rational(time.numerator, time.denominator)}
    decimals = fractions(tree.mechanism, [*given.values(), *flat])
    # 0.1 in the description means one tenth: its float would not cancel against 0.3 / 3.
    known.update({node: sp.Rational(f.numerator, f.denominator) for node, f in decimals.items()})
    known.update(zip(given, evaluate(list(given.values()), known), strict=True))
    known.update({q: sp.Symbol(str(q.name)) for q in tree.layout.coordinates})
    parameters = []
    for node in live_nodes(flat, known):
        if node.op == "symbol" and node not in known:
            parameters.append(sp.Symbol(str(node.name)))
            known[node] = parameters[-1]
        if node.op == "apply":
            raise MechanismError(f"mechanism '{tree.mechanism.name}': function '{node.data.name}' has no law.")
    return known, tuple(sorted(parameters, key=lambda p: str(p.name)))


def _polynomial(value: Any, ring: Ring) -> Any:
    """An entry without squares of cosines; a denominator of lengths alone is multiplied away by the caller's zero."""
    import sympy as sp

    above, below = fractions_of([value])[0]
    if below.free_symbols:
        raise UnsupportedError(f"the closure equations have the denominator {below}; give its symbols values.")
    if not ring.relations:
        return sp.expand(above / below)
    # c² + s² = 1 has one normal form per entry in this order, so that equal entries look equal.
    return sp.expand(sp.reduced(above / below, ring.relations, *ring.variables, order="lex")[1])


def _require_small(tree: Tree, parameters: Sequence[Any]) -> None:
    """Refuses what standard bases cannot do in reasonable time; an angle counts twice."""
    count = len(parameters) + sum(2 if q.data.unit == "rad" else 1 for q in tree.layout.coordinates)
    if count > MOST_VARIABLES:
        raise UnsupportedError(
            f"mechanism '{tree.mechanism.name}': {count} variables are too many for standard bases "
            f"(at most {MOST_VARIABLES}). Lock coordinates or give lengths values; methods 'modular' and 'precise' "
            "take larger loops."
        )


def generic_rank(loops: PolynomialLoops) -> int:
    """The rank over the rational functions of free coordinates: Gauss with half-angle tangents."""
    return gauss_rank(loops.rows, loops.ring) if loops.rows else 0


def admissible_rank(loops: PolynomialLoops) -> int:
    """The largest rank on the closed configurations."""
    return largest_rank(loops.rows, loops.closures, loops.ring) if loops.rows else 0


@dataclass(frozen=True)
class SyzygyPassage:
    """N as text: a row per coordinate of the tree, a column per motion."""

    coordinates: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    closed: bool = False

    @property
    def motions(self) -> int:
        return len(self.rows[0]) if self.rows else 0

    def __str__(self) -> str:
        if not self.motions:
            return "no motion is common to all " + (
                "closed configurations" if self.closed else "values of the coordinates"
            )
        width = max(len(name) for name in self.coordinates)
        pairs = zip(self.coordinates, self.rows, strict=True)
        lines = [f"  {name:>{width}}'  {' | '.join(row)}" for name, row in pairs]
        where = "where the loops are closed" if self.closed else "for all values of the coordinates"
        return "\n".join([f"passage matrix N by syzygies (M N = 0 {where}), by rows:", *lines])


def passage_by_syzygies(loops: PolynomialLoops, closed: bool = False) -> Any:
    """N (SymPy) with M N = 0 for all coordinates, or, with `closed`, modulo the closures too."""
    return relations_among_columns(loops.rows, loops.closures if closed else (), loops.ring)


def readable_passage(loops: PolynomialLoops, closed: bool = False) -> SyzygyPassage:
    """N in the user's names: cos(alpha) for the cosine of the coordinate alpha."""
    matrix = passage_by_syzygies(loops, closed)
    rows = [[str(matrix[i, j]).replace("**", "^") for j in range(matrix.cols)] for i in range(matrix.rows)]
    return SyzygyPassage(loops.coordinates, tuple(tuple(row) for row in rows), closed)
