"""Identifiers for generated code: readable, unique, and unable to carry anything but a name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache

_FOREIGN = re.compile(r"[^A-Za-z0-9_]+")
_GREEK = re.compile(r"GREEK (SMALL|CAPITAL) LETTER (?:FINAL )?([A-Z]+)")
_LONGEST = 44
"""Numbers and suffixes may follow; Fortran takes 63 letters."""


def latin(text: str) -> str:
    """The text with Greek letters spelled out and accents left off; other foreign characters stay."""
    return text if text.isascii() else "".join(c if c.isascii() else _spell(c) for c in text)


def _spell(character: str) -> str:
    if greek := _GREEK.match(unicodedata.name(unicodedata.normalize("NFKC", character)[0], "")):
        return greek[2].capitalize() if greek[1] == "CAPITAL" else greek[2].lower()
    bare = "".join(c for c in unicodedata.normalize("NFKD", character) if not unicodedata.combining(c))
    return bare if bare.isascii() and bare.isalnum() else character


@lru_cache(maxsize=1 << 14)
def identifier(name: str) -> str:
    """The name in ASCII letters, digits and underscores: q' becomes q_dot, θ theta, é e, all else an underscore."""
    dotted = latin(name).replace("''", "_ddot").replace("'", "_dot")
    plain = _FOREIGN.sub("_", dotted).strip("_")[:_LONGEST].rstrip("_")
    if not plain:
        return "v"
    return plain if plain[0].isalpha() else f"v{plain}"


def part(name: str, number: int) -> str:
    """An identifier for a piece of a long function: no other identifier ends with an underscore."""
    return f"{name}_{number}_"


def comment(text: str) -> str:
    """The text as one line of printable ASCII that cannot end a comment."""
    printable = "".join(c if " " <= c <= "~" and c not in "\\?" else "_" for c in latin(text))
    return printable.replace("*/", "*_").replace("/*", "_*")


class Names:
    """Gives each object of one function its own identifier, never a reserved word of the target.

    With `ignore_case`, identifiers differ by more than capitals; all begin with the `prefix`, itself an identifier.
    """

    def __init__(self, reserved: Iterable[str] = (), ignore_case: bool = False, prefix: str = "") -> None:
        self._prefix = prefix
        self._key: Callable[[str], str] | None = str.lower if ignore_case else None
        self._taken = set(map(self._key, reserved) if self._key is not None else reserved)
        self._next: dict[str, int] = {}

    def unique(self, name: str) -> str:
        """An identifier close to the name that no other call has returned."""
        return self._free(self._prefix + identifier(name))

    def with_number(self, letter: str, number: int) -> str:
        """An identifier of a letter and a number, where there is no name."""
        name = f"{self._prefix}{letter}{number}"
        if self._key is not None or name in self._taken:
            return self._free(name)
        self._taken.add(name)
        return name

    def with_suffix(self, own: str, suffix: str) -> str:
        """An identifier made of one of these and a suffix, however long it is."""
        return self._free(own + suffix)

    def _free(self, stem: str) -> str:
        candidate = stem
        while (key := candidate if self._key is None else self._key(candidate)) in self._taken:
            number = self._next[stem] = self._next.get(stem, 1) + 1
            candidate = f"{stem}_{number}"
        self._taken.add(key)
        return candidate
