"""The formulas in a value, wherever they stand in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from torseur.algebra.graph import Expr

T = TypeVar("T")


def map_formulas(thing: T, change: Callable[[Expr], Expr]) -> T:
    """A structure of tuples and frozen values with every formula in it changed."""
    result: Any = thing
    if isinstance(thing, Expr):
        result = change(thing)
    elif isinstance(thing, tuple):
        result = tuple(map_formulas(item, change) for item in thing)
    elif is_dataclass(thing) and not isinstance(thing, type):
        changes = {f.name: map_formulas(getattr(thing, f.name), change) for f in fields(thing) if f.init}
        same = all(changes[name] is getattr(thing, name) for name in changes)
        result = thing if same else replace(thing, **changes)
    return result


def map_together(thing: T, change: Callable[[Sequence[Expr]], Sequence[Expr]]) -> T:
    """The same, by a function that takes all formulas at once: what they share is changed once."""
    formulas: dict[Expr, Expr] = {}

    def collect(formula: Expr) -> Expr:
        formulas[formula] = formula
        return formula

    map_formulas(thing, collect)
    changed = dict(zip(formulas, change(list(formulas)), strict=True))
    return map_formulas(thing, changed.__getitem__)
