"""Inputs of parts: parameters of an instance whose values move with the mechanism that uses it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from torseur.algebra.graph import Expr, substitute, symbols_of
from torseur.description.mechanism.dependencies import MovingSymbols
from torseur.description.mechanism.quantities import Parameter
from torseur.description.mechanism.transformations.formula_mapping import map_together


def with_moving_inputs(fields: Mapping[str, Any], brought: Collection[str]) -> dict[str, Any]:
    """The fields of a mechanism in which parameters of parts that were given moving values are those values.

    `use tyre(ground = road(hub.position.x))`: the height is no parameter any more but a formula wherever it stands, and
    so is every parameter of a part that is a formula of it. Whether it may stand there is judged as for any formula.
    """
    inputs = _inputs(fields, [p for p in fields["parameters"] if p.name in brought and p.value is not None])
    if not inputs:
        return dict(fields)
    changing = {kind: value for kind, value in fields.items() if kind != "instances"}
    changing["parameters"] = tuple(p for p in fields["parameters"] if p.symbol not in inputs)
    changed = map_together(tuple(changing.values()), lambda formulas: substitute(formulas, inputs))
    return {**fields, **dict(zip(changing, changed, strict=True))}


def _inputs(fields: Mapping[str, Any], parameters: Collection[Parameter]) -> dict[Expr, Expr]:
    """The parameters that move, and their formulas in what is no such parameter."""
    moving = MovingSymbols(fields["joints"], [s.name for s in fields["sensors"]], fields["laws"], fields["states"])
    inputs: dict[Expr, Expr] = {}
    size = -1
    while size < len(inputs):
        # A part within a part hands its input on: its own parameter moves as soon as the outer one does.
        size = len(inputs)
        for p in parameters:
            assert p.value is not None
            if moving.used_in([p.value]) or any(x in inputs for x in symbols_of([p.value])):
                inputs[p.symbol] = p.value
    for _ in inputs:  # as deep as formulas can follow each other; those that follow themselves are refused later
        if not any(x in inputs for x in symbols_of(list(inputs.values()))):
            break
        inputs = dict(zip(inputs, substitute(list(inputs.values()), inputs), strict=True))
    return inputs
