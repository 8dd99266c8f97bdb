"""Symbolic solutions where they exist: accelerations from the linear system, and motions of linear equations."""

from __future__ import annotations

from typing import Any

from torseur.algebra.graph import Expr, as_expr, jacobian, substitute, symbols_of, to_sympy
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
    """q(t) of linear equations with constant coefficients, with constants C1, C2, ... of the initial state.

    One equation may be driven by time. Of several, and of states, the characteristic polynomial must have factors with
    roots in formulas; the result is then a list, an equation for each coordinate.
    """
    import sympy

    layout = equations.layout
    if equations.is_constrained:
        raise UnsupportedError("a motion in closed form is given for mechanisms without constraints.")
    if len(layout.speeds) != 1 or len(layout.coordinates) != 1:
        return _solve_system(equations)
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


def _solve_system(equations: Equations) -> list[Any]:
    """y = y_s + Σ C_k v_k exp(s_k t) of y' = F y + h, with the roots s_k of det(F - s 1) and v_k from its adjugate."""
    import sympy

    layout = equations.layout
    states, form = [*layout.coordinates, *layout.speeds], equations.state_form
    n, name = len(states), equations.mechanism.name
    gradient = jacobian(list(form.right), states)
    parts = [entry for row in form.matrix for entry in row] + [
        gradient.get((i, j), as_expr(0)) for i in range(n) for j in range(n)
    ]
    if {*states, TIME} & set(symbols_of(parts)):
        raise UnsupportedError(
            f"the equations of '{name}' are not linear with constant coefficients, so no closed form is given."
        )
    rest = substitute(list(form.right), dict.fromkeys(states, as_expr(0)))
    if TIME in symbols_of(rest):
        raise UnsupportedError(f"'{name}' is driven by time: a closed form is then given for one coordinate alone.")
    converted = to_sympy([*parts, *rest])
    A, J = (sympy.Matrix(n, n, converted[k * n * n : (k + 1) * n * n]) for k in range(2))
    inverse = A.inv().applyfunc(sympy.cancel)
    F, h = (inverse * J).applyfunc(sympy.cancel), inverse * sympy.Matrix(converted[2 * n * n :])
    if not h.is_zero_matrix and sympy.cancel(F.det()) == 0:
        raise UnsupportedError(f"'{name}' has no state of rest under its constant forces: no closed form is given.")
    steady = sympy.zeros(n, 1) if h.is_zero_matrix else -F.LUsolve(h)
    t, s = sympy.Symbol("t"), sympy.Symbol("s")
    adjugate = (F - s * sympy.eye(n)).adjugate()
    terms = sympy.zeros(n, 1)
    for k, root in enumerate(_roots(F.charpoly(s).as_expr(), s, name), 1):
        columns = [adjugate[:, j].subs(s, root).applyfunc(sympy.simplify) for j in range(n)]
        shape = next((c for c in columns if not c.is_zero_matrix), None)
        if shape is None:
            raise UnsupportedError(f"two roots of '{name}' coincide: no closed form is given.")
        largest = next(entry for entry in reversed(shape) if entry != 0)
        terms += sympy.Symbol(f"C{k}") * (shape / largest).applyfunc(sympy.simplify) * sympy.exp(root * t)
    names = layout.coordinate_names
    return [sympy.Eq(sympy.Function(q)(t), steady[i] + terms[i]) for i, q in enumerate(names)]


def _roots(polynomial: Any, s: Any, name: str) -> list[Any]:
    """The roots of a characteristic polynomial whose factors are of second degree, in s or in its square."""
    import sympy

    listed = []
    for factor, count in sympy.factor_list(sympy.together(polynomial).as_numer_denom()[0], s)[1]:
        own = sympy.Poly(factor, s)
        if own.degree() == 0:
            continue
        if count > 1:
            raise UnsupportedError(f"two roots of '{name}' coincide: no closed form is given.")
        even = own.degree() == 4 and all(k % 2 == 0 for (k,) in own.monoms())
        if own.degree() > 2 and not even:
            raise UnsupportedError(
                f"the characteristic polynomial of '{name}' has a factor of degree {own.degree()}: its roots would be "
                "read by nobody. torseur modes computes them."
            )
        listed += sympy.solve(factor, s)
    return listed


def _row_in_sympy(row: Expr, states: tuple[Expr, ...]) -> tuple[Any, list[Any]]:
    """The row in SymPy, and the symbols of its states there."""
    formulas = to_sympy([row, *states])
    return formulas[0], formulas[1:]
