"""Whether the quasi-velocities of a joint span its motions."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from torseur.algebra.graph import dense_jacobian
from torseur.derivation.equations.random_states import (
    multiple_precision,
    multiple_precision_values,
    rational_state,
)
from torseur.derivation.formalisms.ingredients.coordinate_rates import Rates
from torseur.derivation.tree import Link, Tree
from torseur.errors import MechanismError


def require_spanning_speeds(tree: Tree) -> None:
    """Refuses declared speeds v = Y q' + y with dependent rows of Y, naming one that follows from the others."""
    for link in tree.links:
        if link.joint.speeds:
            _require_independent(tree, link)


def _require_independent(tree: Tree, link: Link) -> None:
    rows = dense_jacobian(Rates(tree).definitions(link), link.symbols.rates)
    # At one random rational state: a determinant that is not zero as a function is not zero there but by a rare chance.
    entries = multiple_precision_values([entry for row in rows for entry in row], rational_state(tree, Random(1)))
    width = len(link.symbols.rates)
    dependent = _first_dependent([entries[k : k + width] for k in range(0, len(entries), width)])
    if dependent is not None:
        names = [speed.name for speed in link.joint.speeds]
        others = ", ".join(f"'{name}'" for name in names[:dependent])
        cause = f"is a combination of {others}" if others else "is zero"
        rates = ", ".join(str(rate.name) for rate in link.symbols.rates)
        raise MechanismError(
            f"joint '{link.joint.name}': its speeds do not span its motions, because '{names[dependent]}' {cause}. "
            f"Give {len(names)} independent combinations of {rates}."
        )


def _first_dependent(rows: Sequence[Sequence[Any]]) -> int | None:
    """The first row that is a combination of those before it, by orthogonalisation."""
    kept: list[list[Any]] = []
    with multiple_precision():
        for k, row in enumerate(rows):
            rest = list(row)
            for direction in kept:
                part = sum(a * b for a, b in zip(rest, direction, strict=True))
                rest = [a - part * b for a, b in zip(rest, direction, strict=True)]
            square = sum(a * a for a in rest)
            if square < 1e-60:  # 50 digits leave 1e-100 of a dependent row
                return k
            kept.append([a / square**0.5 for a in rest])
    return None
