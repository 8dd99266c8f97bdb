"""Identifiers for generated code: readable, unique, and unable to carry anything but a name."""

from __future__ import annotations

import re
from collections.abc import Iterable

_FOREIGN = re.compile(r"[^A-Za-z0-9_]+")
_LONGEST = 48


def identifier(name: str) -> str:
    """The name with everything but ASCII letters, digits and underscores replaced by underscores."""
    plain = _FOREIGN.sub("_", name).strip("_")[:_LONGEST].rstrip("_")
    if not plain:
        return "v"
    return plain if plain[0].isalpha() else f"v{plain}"


def comment(text: str) -> str:
    """The text as one line of printable ASCII that cannot end a comment."""
    printable = "".join(c if " " <= c <= "~" and c not in "\\?" else "_" for c in text)
    return printable.replace("*/", "*_").replace("/*", "_*")


class Names:
    """Gives each object of one function its own identifier, never a reserved word of the target."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken = set(reserved)
        self._next: dict[str, int] = {}

    def unique(self, name: str) -> str:
        """An identifier close to the name that no other call has returned."""
        stem = identifier(name)
        candidate = stem
        while candidate in self._taken:
            number = self._next[stem] = self._next.get(stem, 1) + 1
            candidate = f"{stem}_{number}"
        self._taken.add(candidate)
        return candidate
