"""Steady states and their derivatives by parameters as formulas, where SymPy solves for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torseur.algebra.graph import Expr, as_expr, substitute, to_sympy
from torseur.analysis.sensitivity.criteria.motion_formulas import read_formula
from torseur.analysis.sensitivity.model.preparation import dependent_parameters
from torseur.computation.simulation.model.first_order_form import system_without_values
from torseur.derivation.equations import Equations
from torseur.derivation.formalisms import derive
from torseur.description.mechanism import Mechanism
from torseur.errors import TorseurError, UnsupportedError, unknown_name


@dataclass(frozen=True, eq=False)
class SteadyFormulas:
    """A steady state as SymPy formulas: `states` that were solved for, a criterion, and its derivatives."""

    states: dict[str, Any]
    criterion: Any
    derivatives: dict[str, Any]


def steady_formulas(
    model: Mechanism | Equations, unknowns: str | Sequence[str], criterion: str, parameters: str | Sequence[str]
) -> SteadyFormulas:
    """A criterion of a steady state, and its derivatives by parameters, as formulas.

    All accelerations vanish, and so do the rates of unknown coordinates and states. The `unknowns` (coordinates,
    speeds, states, and parameters such as the force that drives) are solved for, one per equation; all other quantities
    stay as symbols, such as the speed of a car that is kept. Two solutions, none, or one that SymPy does not find are
    refused.
    """
    import sympy

    equations = model if isinstance(model, Equations) else derive(model)
    if equations.constraints:
        raise UnsupportedError(
            f"'{equations.mechanism.name}' is constrained: its steady states have multipliers. `steady_sensitivity` "
            "gives numbers."
        )
    wanted, varied = _names(unknowns), _names(parameters)
    layout = equations.layout
    by_name = {str(x.name): x for x in layout.parameters}
    known = {str(x.name): x for x in (*layout.coordinates, *layout.speeds)} | by_name
    for name in wanted:
        if name not in known:
            raise TorseurError(unknown_name("coordinate, speed, state or parameter", name, known, "unknowns: "))
        if name in varied:
            raise TorseurError(f"'{name}' is solved for, so it is not available to differentiate with respect to.")
    system = system_without_values(equations)[1]
    fixed = dependent_parameters(system)
    for name in varied:
        if name not in by_name:
            raise TorseurError(fixed.get(name) or unknown_name("parameter", name, by_name))
    rows = _rows(equations, wanted)
    formula = read_formula(criterion, system).value
    translated = to_sympy([*rows, formula, *(known[n] for n in wanted), *(by_name[n] for n in varied)])
    balances = translated[: len(rows)]
    value, *symbols = translated[len(rows) :]
    states, moved = symbols[: len(wanted)], symbols[len(wanted) :]
    if len(balances) != len(states):
        raise TorseurError(
            f"there are {len(balances)} equations for {len(states)} unknowns ({', '.join(wanted)}): name as many "
            "coordinates, speeds, states or parameters as vary from one steady state to another."
        )
    try:
        solutions = sympy.solve(balances, states, dict=True)
    except NotImplementedError as problem:
        raise UnsupportedError(f"SymPy finds no formula for {', '.join(wanted)}: {problem}") from problem
    if len(solutions) != 1 or len(solutions[0]) != len(states):
        raise UnsupportedError(
            f"the steady state has {len(solutions)} solutions for {', '.join(wanted)}, and one formula is for one; "
            "`steady_sensitivity` follows the one that is nearest to a start."
        )
    (solution,) = solutions
    answer = sympy.factor(sympy.simplify(value.subs(solution)))
    return SteadyFormulas(
        {name: sympy.factor(solution[x]) for name, x in zip(wanted, states, strict=True)},
        answer,
        {name: sympy.factor(sympy.diff(answer, x)) for name, x in zip(varied, moved, strict=True)},
    )


def _names(given: str | Sequence[str]) -> list[str]:
    return [name.strip() for name in given.split(",")] if isinstance(given, str) else list(given)


def _rows(equations: Equations, unknowns: Sequence[str]) -> list[Expr]:
    """What vanishes: the balances without accelerations, and the rates of unknown coordinates and states."""
    layout = equations.layout
    still: dict[Expr, Expr] = {a: as_expr(0) for a in layout.accelerations}
    rows = substitute(list(equations.residual), still)
    for q, rate in zip(layout.coordinates, equations.rates, strict=True):
        if str(q.name) not in unknowns:
            continue
        # A coordinate that is solved for stays where it is: a speed of its own is zero, and any other rate vanishes.
        if rate in layout.speeds:
            rows = substitute(rows, {rate: as_expr(0)})
        else:
            rows.append(rate)
    return [row for row in rows if not row.is_zero]
