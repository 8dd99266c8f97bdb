"""`certify`: one mechanism by every formalism, compared where nothing can hide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from torseur.errors import UnsupportedError
from torseur.formalisms.catalogue import FORMALISMS
from torseur.formalisms.comparison import Comparison, derivation
from torseur.formalisms.exact_numbers import with_exact_numbers
from torseur.formalisms.spanning import require_spanning_speeds
from torseur.mechanism import Mechanism
from torseur.tree import build_tree


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

    `method` says how they were compared; `tolerance` is the largest difference that counts as agreement.
    """

    mechanism: str
    entries: tuple[Entry, ...]
    method: str
    tolerance: float

    @property
    def agrees(self) -> bool:
        return all(entry.difference <= self.tolerance for entry in self.entries)

    @property
    def worst(self) -> float:
        return max((entry.difference for entry in self.entries), default=0.0)

    def __str__(self) -> str:
        head = (
            f"{self.mechanism}: {'the formalisms agree' if self.agrees else 'THE FORMALISMS DISAGREE'} ({self.method})"
        )
        rows = [head, f"{'formalism':<22}{'operations':>10}{'seconds':>10}{'difference':>12}"]
        for entry in self.entries:
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

    Numbers of the description are taken exactly. Small equations are compared exactly, at random rational
    points; larger ones, or those with roots and other functions, at random states with 50 digits.
    """
    tree = build_tree(with_exact_numbers(mechanism))
    require_spanning_speeds(tree)
    derivations = [derivation(tree, name) for name in formalisms or FORMALISMS]
    applied = [d for d in derivations if not d.reason]
    if not applied:
        raise UnsupportedError(f"no formalism applies to mechanism '{mechanism.name}': {derivations[0].reason}")
    comparison = Comparison(tree, applied, Random(seed))
    differences = comparison.differences(points)
    entries = [
        Entry(d.formalism, comparison.operations(d), d.seconds, differences.get(d.formalism, 0.0), d.reason)
        for d in derivations
    ]
    return Certificate(mechanism.name, tuple(entries), comparison.method(points), tolerance)
