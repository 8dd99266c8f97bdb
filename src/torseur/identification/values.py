"""Values of a tree's parameters, those that nobody gave left out."""

from __future__ import annotations

from collections.abc import Mapping

from torseur.errors import IdentificationError, unknown_name
from torseur.graph import evaluate
from torseur.tree import Tree


def given_values(tree: Tree, changes: Mapping[str, float] | None = None) -> dict[str, float]:
    """Parameters by name in SI: those of the description with the changes."""
    known = tree.layout.parameter_names
    values = {
        p.name: float(evaluate([p.value], {})[0])
        for p in tree.mechanism.parameters
        if p.value is not None and p.name in known
    }
    for name in changes or {}:
        if name not in known:
            raise IdentificationError(unknown_name("parameter", name, known))
    return values | dict(changes or {})
