"""How values show themselves in notebooks; what they show is filled in by the rooms that make pictures and formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Set when the package is imported. Values of lower rooms cannot import what draws them, as imports point one way.
_painters: list[Callable[[Any], dict[str, str]]] = []


def set_painter(painter: Callable[[Any], dict[str, str]]) -> None:
    """Names the function that gives the contents of a value by MIME type, for all values."""
    _painters[:] = [painter]


class Displayed:
    """A value that a notebook shows as HTML or LaTeX; a terminal shows its `repr`."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        shown = {"text/plain": repr(self)}
        for painter in _painters:
            shown |= painter(self)
        return shown

    def _repr_html_(self) -> str | None:
        return self._repr_mimebundle_().get("text/html")

    def _repr_latex_(self) -> str | None:
        return self._repr_mimebundle_().get("text/latex")
