"""Structures of scalars (vectors, motions, transforms, lists, ...) as flat lists, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any


def flatten(thing: Any) -> list[Any]:
    """The scalars of a structure of tuples, lists and dataclasses, in order."""
    leaves: list[Any] = []
    _collect(thing, leaves)
    return leaves


def _collect(thing: Any, leaves: list[Any]) -> None:
    kind = thing.__class__
    names = _field_names(kind)
    if names is not None:
        for name in names:
            _collect(getattr(thing, name), leaves)
    elif _is_sequence(kind):
        for item in thing:
            _collect(item, leaves)
    else:
        leaves.append(thing)


def rebuild(thing: Any, leaves: Iterator[Any]) -> Any:
    """The structure with its scalars replaced, in order."""
    kind = thing.__class__
    names = _field_names(kind)
    if names is not None:
        return kind(*[rebuild(getattr(thing, name), leaves) for name in names])
    if _is_sequence(kind):
        return kind([rebuild(item, leaves) for item in thing])
    return next(leaves)


@cache
def _field_names(kind: type) -> tuple[str, ...] | None:
    """The fields of a dataclass, None for every other type. Asked of each object, it took half of the time."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


@cache
def _is_sequence(kind: type) -> bool:
    return issubclass(kind, (tuple, list))
