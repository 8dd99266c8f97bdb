"""`certify`: one mechanism by every formalism, compared where nothing can hide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from random import Random

from torseur.algebra.graph import PI, Expr, as_expr, live_nodes, substitute
from torseur.derivation.formalisms.catalogue import FORMALISMS
from torseur.derivation.formalisms.certification.comparison import Comparison, derivation
from torseur.derivation.formalisms.certification.from_positions import derivation_from_positions
from torseur.derivation.formalisms.ingredients.speed_span import require_spanning_speeds
from torseur.derivation.tree import build_tree
from torseur.derivation.tree.flatten import flatten, rebuild
from torseur.description.mechanism import Mechanism
from torseur.errors import UnsupportedError


@dataclass(frozen=True)
class Entry:
    """One formalism: its cost and its largest difference from the first one, or why it does not apply."""

    formalism: str
    operations: int = 0
    seconds: float = 0.0
    difference: float = 0.0
    reason: str = ""

    @property
    def applies(self) -> bool:
        return not self.reason


@dataclass(frozen=True)
class Certificate:
    """Whether the formalisms agree on M, b and Q of a mechanism, relative to the size of each.

    `positions` is the same from the places of bodies alone, without the kinematics that the formalisms share.
    `method` says how they were compared; `tolerance` is the largest difference that counts as agreement.
    """

    mechanism: str
    entries: tuple[Entry, ...]
    method: str
    tolerance: float
    positions: Entry

    @property
    def agrees(self) -> bool:
        return self.worst <= self.tolerance

    @property
    def worst(self) -> float:
        return max(entry.difference for entry in (*self.entries, self.positions))

    @property
    def guilty(self) -> tuple[str, ...]:
        """Those that differ from the first formalism by more than the tolerance."""
        differing = (entry for entry in (*self.entries, self.positions) if entry.difference > self.tolerance)
        return tuple(entry.formalism for entry in differing)

    def __str__(self) -> str:
        head = (
            f"{self.mechanism}: {'the formalisms agree' if self.agrees else 'THE FORMALISMS DISAGREE'} ({self.method})"
        )
        rows = [head, f"{'formalism':<22}{'operations':>10}{'seconds':>10}{'difference':>12}"]
        for entry in (*self.entries, self.positions):
            cost = f"{entry.operations:>10}{entry.seconds:>10.4f}{entry.difference:>12.1e}"
            rows.append(f"{entry.formalism:<22}" + (cost if entry.applies else f"  does not apply: {entry.reason}"))
        return "\n".join(rows)


def certify(
    mechanism: Mechanism,
    formalisms: Sequence[str] | None = None,
    *,
    tolerance: float = 1e-11,
    points: int = 2,
    seed: int = 0,
) -> Certificate:
    """Derives a mechanism by every formalism that applies and compares what they give: M, b, Q and accelerations.

    They are also compared with what the places of bodies give when they are differentiated, because the formalisms
    share the kinematics of joints. Numbers of the description are taken exactly. Small equations are compared exactly,
    at random rational points; larger ones, or those with roots and other functions, at random states with 50 digits.
    """
    tree = build_tree(with_exact_numbers(mechanism))
    require_spanning_speeds(tree)
    derivations = [derivation(tree, name) for name in formalisms or FORMALISMS]
    applied = [d for d in derivations if not d.reason]
    if not applied:
        raise UnsupportedError(f"no formalism applies to mechanism '{mechanism.name}': {derivations[0].reason}")
    independent = derivation_from_positions(tree)
    comparison = Comparison(tree, [*applied, *([] if independent.reason else [independent])], Random(seed))
    differences = comparison.differences(points)
    *entries, positions = [
        Entry(d.formalism, comparison.operations(d), d.seconds, differences.get(d.formalism, 0.0), d.reason)
        for d in (*derivations, independent)
    ]
    return Certificate(mechanism.name, tuple(entries), comparison.method(points), tolerance, positions)


def with_exact_numbers(mechanism: Mechanism) -> Mechanism:
    """The same mechanism with every float replaced by the fraction it is, or by the quarter turns it stands for.

    So no formalism rounds on its way to the equations, and a difference between two is one of their principles.
    """
    parts = {field.name: getattr(mechanism, field.name) for field in fields(mechanism) if field.compare}
    leaves = flatten(list(parts.values()))
    expressions = [leaf for leaf in leaves if isinstance(leaf, Expr)]
    rounded = [node for node in live_nodes(expressions) if node.op == "constant" and isinstance(node.data, float)]
    if not rounded:
        return mechanism
    exact = iter(substitute(expressions, {node: _exact(node.data) for node in rounded}))
    values = rebuild(list(parts.values()), iter([next(exact) if isinstance(leaf, Expr) else leaf for leaf in leaves]))
    return Mechanism(**dict(zip(parts, values, strict=True)))


def _exact(value: float) -> Expr:
    quarters = round(value / (math.pi / 2))
    return PI * Fraction(quarters, 2) if value == quarters * (math.pi / 2) else as_expr(Fraction(value))
