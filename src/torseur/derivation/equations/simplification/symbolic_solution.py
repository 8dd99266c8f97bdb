"""Symbolic solutions where they exist: accelerations from the linear system, and motions of linear equations."""

from __future__ import annotations

from typing import Any

from torseur.algebra.graph import Expr, jacobian, symbols_of, to_sympy
from torseur.derivation.equations.equations import Equations
from torseur.derivation.equations.terms.polynomial import TooManyTerms, expand, expression_of
from torseur.derivation.equations.terms.trigonometry import shorten_by_trigonometry
from torseur.description.mechanism import TIME
from torseur.errors import UnsupportedError

MOST_SPEEDS = 4  # beyond, the formulas are longer than anyone reads
FACTORED = 2  # up to here they are multiplied out and factored, which takes SymPy minutes for three


def solve_accelerations(equations: Equations) -> dict[str, Any]:
    """v' = M⁻¹ (Q - b) as SymPy formulas by the name of the acceleration, each over a common denominator."""
    import sympy

    n = len(equations.layout.speeds)
    if equations.is_constrained or n > MOST_SPEEDS:
        reason = (
            "it is constrained" if equations.is_constrained else f"it has {n} speeds, and {MOST_SPEEDS} can be read"
        )
        raise UnsupportedError(
            f"no formula is given for the accelerations of '{equations.mechanism.name}': {reason}. "
            "`Equations.acceleration` holds them as straight-line expressions where they exist."
        )
    entries = [entry for row in equations.mass_matrix for entry in row]
    forces = [q - b for q, b in zip(equations.loads, equations.bias, strict=True)]
    formulas = to_sympy([_short(e) for e in (*entries, *forces)])
    mass, right = sympy.Matrix(n, n, formulas[: n * n]), sympy.Matrix(n, 1, formulas[n * n :])
    names = [str(a.name) for a in equations.layout.accelerations]
    solved = _by_adjugate(mass, right) if n <= FACTORED else _by_minors(mass, right)
    return dict(zip(names, solved, strict=True))


def _short(expression: Expr) -> Expr:
    """The expression as a short sum, where it has one."""
    try:
        return expression_of(shorten_by_trigonometry(expand(expression)))
    except TooManyTerms:
        return expression


def _by_adjugate(mass: Any, right: Any) -> list[Any]:
    """Numerators multiplied out and factored over the factored determinant."""
    import sympy

    expanded, forces = mass.applyfunc(sympy.expand), right.applyfunc(sympy.expand)
    determinant = sympy.factor(expanded.det())
    return [sympy.factor(sympy.expand(e)) / determinant for e in expanded.adjugate() * forces]


def _by_minors(mass: Any, right: Any) -> list[Any]:
    """Minors of a matrix of plain letters, into which the entries are put: nothing is multiplied out."""
    import sympy

    n = mass.rows
    letters = sympy.Matrix(n, n, lambda i, j: sympy.Symbol(f"M_{min(i, j)}_{max(i, j)}") if mass[i, j] != 0 else 0)
    meaning = {letters[i, j]: mass[i, j] for i in range(n) for j in range(n) if mass[i, j] != 0}
    determinant = letters.det(method="berkowitz").xreplace(meaning)
    minors = letters.adjugate().applyfunc(lambda e: e.xreplace(meaning))
    return [sum(minors[i, j] * right[j] for j in range(n)) / determinant for i in range(n)]


def solve_motion(equations: Equations) -> Any:
    """q(t) of one linear equation with constant coefficients, with the constants C1, C2 of its initial state."""
    import sympy

    layout = equations.layout
    if len(layout.speeds) != 1 or equations.is_constrained:
        raise UnsupportedError("a motion in closed form is given for one coordinate without constraints.")
    states = (layout.coordinates[0], layout.speeds[0], layout.accelerations[0])
    (row,) = equations.residual
    derivatives = [entry for (_, _), entry in sorted(jacobian([row], list(states)).items())]
    if any(x in states for x in symbols_of(derivatives)):
        raise UnsupportedError(
            f"the equation of '{layout.coordinate_names[0]}' is not linear, so no closed form is given."
        )
    t = sympy.Symbol("t")
    function = sympy.Function(layout.coordinate_names[0])
    placed = _row_in_sympy(row, states)
    given = {old: function(t).diff(t, k) if k else function(t) for k, old in enumerate(placed[1])}
    equation = placed[0].subs(given).subs(sympy.Symbol(str(TIME.name), real=True), t)
    return sympy.dsolve(equation, function(t))


def _row_in_sympy(row: Expr, states: tuple[Expr, ...]) -> tuple[Any, list[Any]]:
    """The row in SymPy, and the symbols of its states there."""
    formulas = to_sympy([row, *states])
    return formulas[0], formulas[1:]
