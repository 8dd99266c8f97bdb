"""Machine code in memory, whatever made it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Shape(Enum):
    """What a source looks like to a compiler, which decides how much work is worth while."""

    STRAIGHT = "straight"
    LOOPS = "loops"
    LONG_LOOPS = "long loops"


@dataclass(frozen=True, eq=False)
class Library:
    """Loaded code: where its symbols are, what it was made from and how long that took.

    `seconds` is the time to compile, or to load when `cached`. The owner of the code is held as long as this is.
    """

    backend: str
    source: str
    seconds: float
    cached: bool
    owner: Any = field(repr=False)
    lookup: Callable[[Any, str], int] = field(repr=False)

    def function(self, symbol: str, returns: Any, *arguments: Any) -> Any:
        """A callable for an exported function with the given ctypes signature; it keeps the code alive."""
        function = ctypes.CFUNCTYPE(returns, *arguments)(self.lookup(self.owner, symbol))
        function.library = self  # type: ignore[attr-defined]
        return function
