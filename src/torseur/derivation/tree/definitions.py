"""Dependent parameters and laws, expanded to independent parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torseur.algebra.graph import Expr, live_nodes, substitute, symbols_of
from torseur.derivation.tree.flatten import flatten, rebuild
from torseur.description.mechanism import Mechanism, Parameter, apply_laws
from torseur.errors import MechanismError


def definitions_of(mechanism: Mechanism) -> dict[Expr, Expr]:
    """Parameters given by expressions of other parameters, each expanded to independent ones."""
    dependent = {p.symbol: p.value for p in mechanism.parameters if p.value is not None and _depends(p)}
    independent = dict(dependent)
    # Each pass takes one level of definitions away; more passes than definitions mean that one refers to itself.
    for _ in range(len(dependent) + 1):
        left = [s for s, value in independent.items() if any(x in dependent for x in symbols_of([value]))]
        if not left:
            return independent
        expanded = substitute([independent[s] for s in left], dependent)
        independent.update(zip(left, expanded, strict=True))
    raise MechanismError(f"parameter '{left[0].name}' is defined in terms of itself.")


def _depends(parameter: Parameter) -> bool:
    return parameter.value is not None and bool(symbols_of([parameter.value]))


def resolve(mechanism: Mechanism, definitions: Mapping[Expr, Expr], expressions: list[Expr]) -> list[Expr]:
    """Expressions with laws and dependent parameters replaced by their formulas."""
    if mechanism.laws:
        expressions = apply_laws(expressions, mechanism.laws)
    # Substitution walks the whole graph, so it is asked for what occurs only.
    present = {n for n in live_nodes(expressions) if n in definitions} if definitions else ()
    return substitute(expressions, {s: definitions[s] for s in present}) if present else expressions


def resolve_structure(mechanism: Mechanism, definitions: Mapping[Expr, Expr], thing: Any) -> Any:
    """A structure of expressions with laws and dependent parameters replaced by their formulas."""
    if not mechanism.laws and not definitions:
        return thing
    leaves = flatten(thing)
    results = iter(resolve(mechanism, definitions, [leaf for leaf in leaves if isinstance(leaf, Expr)]))
    return rebuild(thing, iter([next(results) if isinstance(leaf, Expr) else leaf for leaf in leaves]))


def undetermined_functions(mechanism: Mechanism) -> tuple[str, ...]:
    """Functions in the loads that have neither a law nor a formula; a motion needs them."""
    known = {law.name for law in mechanism.laws}
    formulas = [leaf for leaf in flatten(list(mechanism.loads)) if isinstance(leaf, Expr)]
    names = [node.data.function.name for node in live_nodes(formulas) if node.op == "apply"]
    return tuple(dict.fromkeys(name for name in names if name not in known))
