"""A mechanism with its decimal numbers taken exactly, so that no formalism rounds on its way to the equations."""

from __future__ import annotations

import math
from dataclasses import fields
from fractions import Fraction

from torseur.graph import PI, Expr, as_expr, live_nodes, substitute
from torseur.mechanism import Mechanism
from torseur.tree.flatten import flatten, rebuild


def with_exact_numbers(mechanism: Mechanism) -> Mechanism:
    """The same mechanism with every float replaced by the fraction it is, or by the quarter turns it stands for."""
    parts = {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}
    leaves = flatten(list(parts.values()))
    expressions = [leaf for leaf in leaves if isinstance(leaf, Expr)]
    rounded = [node for node in live_nodes(expressions) if node.op == "constant" and isinstance(node.data, float)]
    if not rounded:
        return mechanism
    found = iter(substitute(expressions, {node: _exact(node.data) for node in rounded}))
    values = rebuild(list(parts.values()), iter([next(found) if isinstance(leaf, Expr) else leaf for leaf in leaves]))
    return Mechanism(**dict(zip(parts, values, strict=True)))


def _exact(value: float) -> Expr:
    quarters = round(value / (math.pi / 2))
    return PI * Fraction(quarters, 2) if value == quarters * (math.pi / 2) else as_expr(Fraction(value))
