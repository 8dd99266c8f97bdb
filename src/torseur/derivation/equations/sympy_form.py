"""The equations of motion as SymPy objects, as short as they are printed, ready to solve, lambdify or typeset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.graph.sympy.sympy_bridge import to_sympy
from torseur.derivation.equations.terms.equal_values import merge_equal_values
from torseur.derivation.equations.terms.short_sum import short_expression
from torseur.description.mechanism import TIME

if TYPE_CHECKING:
    from torseur.derivation.equations.equations import Equations


@dataclass(frozen=True)
class SympyEquations:
    """M v' + b + Cᵀ λ = Q and the constraints, over functions of t and their derivatives.

    The functions are those that sympy.physics.mechanics calls dynamicsymbols: theta(t) for a coordinate theta.

    `residuals` are M v' + b + Cᵀ λ - Q; `constraints` are the positions Φ(q, t), or the rates of constraints between
    speeds. `speeds` are what stands for v: derivatives of the coordinates, or functions of their own, whose relation
    to the coordinates is in `rates` (q' - rates(q, v) = 0). Masses are positive, other parameters real.
    """

    residuals: Any
    mass_matrix: Any
    bias: Any
    loads: Any
    constraints: Any
    rates: tuple[Any, ...]
    kinetic_energy: Any
    potential_energy: Any
    coordinates: tuple[Any, ...]
    speeds: tuple[Any, ...]
    accelerations: tuple[Any, ...]
    multipliers: tuple[Any, ...]
    parameters: dict[str, Any]


def sympy_form(equations: Equations) -> SympyEquations:
    """Every part in SymPy: coordinates q(t), speeds q'(t) as their derivatives, parameters as symbols."""
    import sympy

    replaced = _names(equations)

    def convert(entries: Sequence[Expr]) -> list[Any]:
        shortened = [short_expression(entry) for entry in merge_equal_values([as_expr(entry) for entry in entries])]
        return [value.xreplace(replaced) for value in to_sympy(shortened)]

    n, layout = len(equations.bias), equations.layout
    rows = equations.mass_matrix
    matrix = convert([entry for row in rows for entry in row])
    positions = [c.residual for c in equations.constraints]
    symbols = to_sympy([*layout.coordinates, *layout.speeds, *layout.accelerations, *equations.multipliers])
    shown = iter([symbol.xreplace(replaced) for symbol in symbols])
    coordinates = tuple(next(shown) for _ in layout.coordinates)
    speeds = tuple(next(shown) for _ in layout.speeds)
    accelerations = tuple(next(shown) for _ in layout.accelerations)
    pairs = [(q, rate) for q, rate in zip(coordinates, convert(equations.rates), strict=True)]
    time = sympy.Symbol("t")
    energies = convert([equations.kinetic_energy, equations.potential_energy])
    return SympyEquations(
        residuals=sympy.Matrix(convert(equations.residual)),
        mass_matrix=sympy.Matrix(n, n, matrix),
        bias=sympy.Matrix(convert(equations.bias)),
        loads=sympy.Matrix(convert(equations.loads)),
        constraints=sympy.Matrix(convert(positions)) if positions else sympy.Matrix(0, 1, []),
        rates=tuple(sympy.diff(q, time) - rate for q, rate in pairs if sympy.diff(q, time) != rate),
        kinetic_energy=energies[0],
        potential_energy=energies[1],
        coordinates=coordinates,
        speeds=speeds,
        accelerations=accelerations,
        multipliers=tuple(shown),
        parameters={str(p.name): to_sympy([p])[0].xreplace(replaced) for p in layout.parameters},
    )


def _names(equations: Equations) -> dict[Any, Any]:
    """What stands for the graph's symbols: functions of time and their derivatives, positive masses."""
    import sympy

    layout = equations.layout
    time = sympy.Symbol("t")
    replaced = {to_sympy([TIME])[0]: time}
    moving: dict[str, Any] = {}
    for q in (*layout.coordinates, *layout.speeds):
        name = str(q.name)
        bare = name.rstrip("'")
        function = moving.setdefault(bare, sympy.Function(bare)(time))
        dots = len(name) - len(bare)
        (symbol,) = to_sympy([q])
        replaced[symbol] = sympy.diff(function, time, dots) if dots else function
    for speed, rate in zip(layout.speeds, layout.accelerations, strict=True):
        below, above = to_sympy([speed, rate])
        replaced[above] = sympy.diff(replaced[below], time)
    for multiplier in equations.multipliers:
        (symbol,) = to_sympy([multiplier])
        replaced[symbol] = sympy.Symbol(_identifier(str(multiplier.name)), real=True)
    for parameter in layout.parameters:
        if parameter.data.unit == "kg":
            (symbol,) = to_sympy([parameter])
            replaced[symbol] = sympy.Symbol(symbol.name, positive=True)
    return replaced


def _identifier(name: str) -> str:
    from torseur.derivation.equations.multipliers import multiplier_display_name

    return multiplier_display_name(name) or name
