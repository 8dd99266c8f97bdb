"""Structures of scalars (vectors, motions, transforms, lists, ...) as flat lists, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any


def flatten(thing: Any) -> list[Any]:
    """The scalars of a structure of tuples, lists and dataclasses, in order."""
    if isinstance(thing, (tuple, list)):
        return [leaf for item in thing for leaf in flatten(item)]
    if is_dataclass(thing) and not isinstance(thing, type):
        return [leaf for field in fields(thing) for leaf in flatten(getattr(thing, field.name))]
    return [thing]


def rebuild(thing: Any, leaves: Iterator[Any]) -> Any:
    """The structure with its scalars replaced, in order."""
    if isinstance(thing, (tuple, list)):
        return type(thing)(rebuild(item, leaves) for item in thing)
    if is_dataclass(thing) and not isinstance(thing, type):
        return type(thing)(*[rebuild(getattr(thing, field.name), leaves) for field in fields(thing)])
    return next(leaves)
