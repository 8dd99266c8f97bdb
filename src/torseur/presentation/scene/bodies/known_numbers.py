"""Numbers for a mechanism's formulas: the values of its parameters, where they are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, evaluate, symbols_of
from torseur.derivation.tree import Tree, resolve
from torseur.derivation.tree.flatten import flatten, rebuild
from torseur.derivation.tree.tree import instantiate


@dataclass(frozen=True)
class Numbers:
    """The values of a tree's independent parameters, `changes` by name before those of the description."""

    tree: Tree
    changes: Mapping[str, float]

    @cached_property
    def by_symbol(self) -> dict[Expr, float]:
        """Values by symbol, without those that are missing."""
        given = {p.name: p.value for p in self.tree.mechanism.parameters if p.value is not None}
        values = {p: self.changes.get(str(p.name), given.get(str(p.name))) for p in self.tree.layout.parameters}
        return {symbol: float(value) for symbol, value in values.items() if value is not None}

    @property
    def missing(self) -> list[str]:
        """Names of the parameters without a value."""
        return [str(p.name) for p in self.tree.layout.parameters if p not in self.by_symbol]

    def value(self, formula: Expr) -> float | None:
        """The number a formula of parameters stands for, when it is known."""
        (resolved,) = resolve(self.tree.mechanism, self.tree.definitions, [formula])
        return self._number(resolved)

    def _number(self, resolved: Expr) -> float | None:
        if any(x not in self.by_symbol for x in symbols_of([resolved])):
            return None
        return float(evaluate([resolved], self.by_symbol)[0])

    def described(self, thing: Any) -> Any:
        """A structure of expressions as they are described, dependent parameters among them, in numbers, or None."""
        leaves: list[Any] = list(flatten(thing))
        formulas = [leaf for leaf in leaves if isinstance(leaf, Expr)]
        results = iter(resolve(self.tree.mechanism, self.tree.definitions, formulas))
        return self.of(rebuild(thing, iter([next(results) if isinstance(x, Expr) else x for x in leaves])))

    def of(self, thing: Any) -> Any:
        """A structure of resolved expressions (vector, transform, inertia) in numbers, or None when one is missing."""
        if any(x not in self.by_symbol for x in symbols_of(_expressions(thing))):
            return None
        return instantiate(thing, self.by_symbol)


def _expressions(thing: Any) -> list[Expr]:
    leaves: Iterable[Any] = flatten(thing)
    return [leaf for leaf in leaves if isinstance(leaf, Expr)]
