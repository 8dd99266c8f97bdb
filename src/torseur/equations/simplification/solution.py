"""Symbolic solutions where they exist: accelerations from the linear system, and motions of linear equations."""

from __future__ import annotations

from typing import Any

from torseur.equations.equations import Equations
from torseur.errors import UnsupportedError
from torseur.graph import Expr, jacobian, symbols_of, to_sympy
from torseur.mechanism import TIME

MOST_SPEEDS = 4  # beyond, the formulas are longer than anyone reads


def solved_accelerations(equations: Equations) -> dict[str, Any]:
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
    found = to_sympy([*entries, *forces])
    mass = sympy.Matrix(n, n, [sympy.expand(e) for e in found[: n * n]])
    right = sympy.Matrix(n, 1, [sympy.expand(e) for e in found[n * n :]])
    determinant = sympy.factor(mass.det())
    solved = mass.adjugate() * right
    names = [str(a.name) for a in equations.layout.accelerations]
    return {name: sympy.factor(sympy.expand(e)) / determinant for name, e in zip(names, solved, strict=True)}


def solved_motion(equations: Equations) -> Any:
    """q(t) of one linear equation with constant coefficients, with the constants C1, C2 of its initial state."""
    import sympy

    layout = equations.layout
    if len(layout.speeds) != 1 or equations.is_constrained:
        raise UnsupportedError("a motion in closed form is given for one coordinate without constraints.")
    states = (layout.coordinates[0], layout.speeds[0], layout.accelerations[0])
    (row,) = equations.residual
    slopes = [entry for (_, _), entry in sorted(jacobian([row], list(states)).items())]
    if any(x in states for x in symbols_of(slopes)):
        raise UnsupportedError(
            f"the equation of '{layout.coordinate_names[0]}' is not linear, so no closed form is given."
        )
    t = sympy.Symbol("t")
    function = sympy.Function(layout.coordinate_names[0])
    placed = _placed(row, states)
    given = {old: function(t).diff(t, k) if k else function(t) for k, old in enumerate(placed[1])}
    equation = placed[0].subs(given).subs(sympy.Symbol(str(TIME.name), real=True), t)
    return sympy.dsolve(equation, function(t))


def _placed(row: Expr, states: tuple[Expr, ...]) -> tuple[Any, list[Any]]:
    """The row in SymPy, and the symbols of its states there."""
    found = to_sympy([row, *states])
    return found[0], found[1:]
