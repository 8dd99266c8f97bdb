"""Values of the parameters of equations: those of the description, with a user's changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import nan

from torseur.algebra.graph import Expr, symbols_of
from torseur.derivation.equations.equations import Equations
from torseur.description.mechanism.units import value_in_si
from torseur.description.mechanism.validation import check_masses
from torseur.errors import TorseurError, unknown_name


def parameter_values(equations: Equations, changes: Mapping[str, float]) -> dict[str, float]:
    """Values of the independent parameters; those without a value are named in one message."""
    values = known_values(equations, changes)
    _refuse_missing(equations, [name for name, value in values.items() if value is None])
    return {name: value for name, value in values.items() if value is not None}


def motion_values(equations: Equations, changes: Mapping[str, float]) -> dict[str, float]:
    """Values of the independent parameters, nan for those that nobody gives and no motion depends on.

    The mass centre of a body that only translates is such a parameter.
    """
    _refuse_missing(equations, missing_values(equations, changes))
    if changes:
        values = known_values(equations, changes)
        check_masses(equations.mechanism, {name: value for name in changes if (value := values[name]) is not None})
    return {name: nan if value is None else value for name, value in known_values(equations, changes).items()}


def values_for(equations: Equations, formulas: Iterable[Expr], changes: Mapping[str, float]) -> list[float]:
    """Values of the independent parameters in their order, 0 for those that nobody gives and no formula holds."""
    values = known_values(equations, changes)
    needed = {str(x.name) for x in symbols_of(list(formulas))} if None in values.values() else set()
    _refuse_missing(equations, [name for name, value in values.items() if value is None and name in needed])
    return [0.0 if value is None else value for value in values.values()]


def missing_values(equations: Equations, changes: Mapping[str, float]) -> list[str]:
    """Parameters that nobody gives and that a motion depends on."""
    missing = [name for name, value in known_values(equations, changes).items() if value is None]
    needed = {x.name for x in symbols_of(equations.formulas)} if missing else set()
    return [name for name in missing if name in needed]


def known_values(equations: Equations, changes: Mapping[str, float]) -> dict[str, float | None]:
    """Values of the independent parameters, None for those that nobody gives."""
    layout, mechanism = equations.layout, equations.mechanism
    given = {p.name: p.value for p in mechanism.parameters if p.value is not None}
    dependent = {str(symbol.name) for symbol in equations.tree.definitions}
    for name in changes:
        if name in dependent:
            raise TorseurError(f"parameter '{name}' follows from others ({given[name]}) and cannot be set by itself.")
        if name not in layout.parameter_names:
            raise TorseurError(unknown_name("parameter", name, layout.parameter_names))
    values = {name: changes.get(name, given.get(name)) for name in layout.parameter_names}
    units = {str(p.name): p.data.unit for p in layout.parameters}
    return {
        name: None if value is None else value_in_si(value, units[name], f"parameter '{name}'")
        for name, value in values.items()
    }


def _refuse_missing(equations: Equations, missing: Sequence[str]) -> None:
    own = [name for name in missing if name.removesuffix("'") in equations.layout.coordinate_names]
    if own:
        raise TorseurError(
            f"{equations.mechanism.name}: a symbol named '{own[0]}' is not that of the coordinate. Take it from "
            "its joint: mechanism.joint(...).coordinate(...).symbol, or .rate."
        )
    if missing:
        listing = ", ".join(f"'{name}'" for name in missing)
        raise TorseurError(
            f"{equations.mechanism.name}: no value is given for {listing}. Give it in the description or with "
            f"parameters={{'{missing[0]}': ...}}."
        )
