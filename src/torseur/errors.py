"""Errors that a user can act on: what is wrong, where, what was expected, the nearest fix."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

MOST_NAMES = 8
"""A message lists so many names at most."""


class TorseurError(Exception):
    """Base of every error raised on purpose; its text is a complete message for a user."""


class MechanismError(TorseurError):
    """The description contradicts itself or names something that does not exist."""


class UnitError(MechanismError):
    """A quantity has the wrong dimension or an unknown unit."""


class UnsupportedError(TorseurError):
    """The description is right, but this operation does not cover it."""


class CompilationError(TorseurError):
    """A target's compiler failed or is missing."""


class IdentificationError(TorseurError):
    """Measured data cannot be used as they are, or do not determine what is asked of them."""


class RecordingError(TorseurError):
    """A recording of markers, force plates or other channels cannot be used as it is."""


class SimulationError(TorseurError):
    """A motion could not be computed to its end; `trajectory` holds the valid part."""

    def __init__(self, message: str, trajectory: object | None = None) -> None:
        super().__init__(message)
        self.trajectory = trajectory


SEAMS = ("_", "-", "/", ".", ":", " ")
"""What stands between the parts of a name."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name closest to a misspelt one, or None when nothing is close, or when it is no name at all."""
    if not isinstance(name, str):
        return None
    # 'hand' of 'panda_hand': the one name that ends in it behind a prefix.
    names = list(known)
    endings = [known for known in names if known.lower().endswith(name.lower()) and known[: -len(name)].endswith(SEAMS)]
    if name and len(endings) == 1:
        return endings[0]
    matches = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return matches[0] if matches else None


def plural_of(word: str) -> str:
    """bodies, axes, criteria, frames or bodies, options of a robot file, joints with one coordinate."""
    for inside in (" or ", " of ", " with "):
        if inside in word:
            first, _, rest = word.partition(inside)
            return plural_of(first) + inside + (plural_of(rest) if inside == " or " else rest)
    if word.endswith("criterion"):
        return word[:-2] + "a"
    if word.endswith("axis"):
        return word[:-2] + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith("s") else "s")


def counted(number: int, word: str) -> str:
    """1 joint, 3 joints."""
    return f"{number} {word if number == 1 else plural_of(word)}"


def list_names(names: Sequence[str]) -> str:
    """Names in quotes, the first few of many: 'a', 'b' and 12 more."""
    shown = ", ".join(f"'{name}'" for name in names[:MOST_NAMES])
    rest = len(names) - MOST_NAMES
    return f"{shown} and {rest} more" if rest > 0 else shown


def unknown_name(kind: str, name: str, known: Iterable[str], where: str = "") -> str:
    """Message for a name that is not there: "unknown body 'copler'. Bodies: ... Did you mean 'coupler'?"."""
    names = list(dict.fromkeys(known))
    plural = plural_of(kind)
    listing = f" {plural.capitalize()}: {', '.join(names)}." if names else f" There are no {plural}."
    guess = nearest(name, names)
    hint = f" Did you mean '{guess}'?" if guess else ""
    return f"{where}unknown {kind} '{name}'.{listing}{hint}"
