"""Dependent parameters and laws, expanded to independent parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torseur.errors import MechanismError
from torseur.graph import Expr, live_nodes, substitute, symbols_of
from torseur.mechanism import Mechanism, Parameter, apply_laws
from torseur.tree.flatten import flatten, rebuild


def definitions_of(mechanism: Mechanism) -> dict[Expr, Expr]:
    """Parameters given by expressions of other parameters, each expanded to independent ones."""
    dependent = {p.symbol: p.value for p in mechanism.parameters if p.value is not None and _depends(p)}
    resolved = dict(dependent)
    for _ in range(len(dependent) + 1):
        left = [s for s, value in resolved.items() if any(x in dependent for x in symbols_of([value]))]
        if not left:
            return resolved
        expanded = substitute([resolved[s] for s in left], dependent)
        resolved.update(zip(left, expanded, strict=True))
    raise MechanismError(f"parameter '{left[0].name}' is defined by itself.")


def _depends(parameter: Parameter) -> bool:
    return parameter.value is not None and bool(symbols_of([parameter.value]))


def resolve(mechanism: Mechanism, definitions: Mapping[Expr, Expr], expressions: list[Expr]) -> list[Expr]:
    """Expressions with laws and dependent parameters replaced by their formulas."""
    if mechanism.laws:
        expressions = apply_laws(expressions, mechanism.laws)
    present = {n for n in live_nodes(expressions) if n in definitions} if definitions else ()
    return substitute(expressions, {s: definitions[s] for s in present}) if present else expressions


def resolved(mechanism: Mechanism, definitions: Mapping[Expr, Expr], thing: Any) -> Any:
    """A structure of expressions with laws and dependent parameters replaced by their formulas."""
    if not mechanism.laws and not definitions:
        return thing
    leaves = flatten(thing)
    results = iter(resolve(mechanism, definitions, [leaf for leaf in leaves if isinstance(leaf, Expr)]))
    return rebuild(thing, iter([next(results) if isinstance(leaf, Expr) else leaf for leaf in leaves]))
