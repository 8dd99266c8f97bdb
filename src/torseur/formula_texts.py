"""Formulas given as texts where values are computed; what reads them is filled in by who knows the language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Set when the package is imported. Simulations cannot import the language, as imports point one way.
_readers: list[Callable[[str, Any], Any]] = []


def set_formula_reader(reader: Callable[[str, Any], Any]) -> None:
    """Names the function that makes an output of a text and a system."""
    _readers[:] = [reader]


def read_output(text: str, system: Any) -> Any:
    """The output that a text such as `camber = angle(...)` describes, of a system."""
    return _readers[0](text, system)
