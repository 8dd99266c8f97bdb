"""What a reader of a bad description sees: file, line, column, what was expected, the nearest name."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol

from torseur.errors import TorseurError, nearest

LISTED_NAMES = 12
MOST_DIAGNOSTICS = 50


@dataclass(frozen=True)
class Diagnostic:
    """One fault in a text. Lines and columns count from 1; `end_column` is one past the fault on its first line."""

    file: str
    line: int
    column: int
    end_column: int
    message: str
    hint: str = ""

    def __str__(self) -> str:
        hint = f" {self.hint}" if self.hint else ""
        return f"{self.file}:{self.line}:{self.column}: {self.message}{hint}"


class LanguageError(TorseurError):
    """A description that cannot be read; `diagnostics` lists every independent fault, printed one per line."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(str(diagnostic) for diagnostic in self.diagnostics))


@dataclass(frozen=True)
class Source:
    """A text and the name it is reported under."""

    text: str
    file: str = "<text>"
    line_starts: tuple[int, ...] = field(init=False, repr=False, default=())

    def __post_init__(self) -> None:
        starts = [0, *(i + 1 for i, character in enumerate(self.text) if character == "\n")]
        object.__setattr__(self, "line_starts", tuple(starts))

    def position(self, offset: int) -> tuple[int, int]:
        """(line, column) of an offset in the text."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def excerpt(self, start: int, end: int) -> str:
        """The text between two offsets on one line, shortened when long."""
        text = " ".join(self.text[start:end].split())
        return text if len(text) <= 40 else f"{text[:37]}..."


class Located(Protocol):
    """Anything with a place in the text."""

    @property
    def start(self) -> int: ...


class Report:
    """Collects the faults found in one text."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.noted: dict[tuple[int, str], Diagnostic] = {}
        self._places: list[int] = []

    def add(self, start: int, end: int, message: str, hint: str = "") -> None:
        """Notes a fault between two offsets; the same fault at the same place is noted once."""
        insort(self._places, start)
        if self.is_full:
            return
        line, column = self.source.position(start)
        end_line, end_column = self.source.position(max(start, end))
        if end_line != line:
            line_end = self.source.text.find("\n", start)
            end_column = column + line_end - start
        diagnostic = Diagnostic(self.source.file, line, column, max(end_column, column + 1), message, hint)
        self.noted.setdefault((start, message), diagnostic)

    def include(self, other: Report, at: Located | None = None, used_at: str = "") -> None:
        """Takes over the faults of a part: of this text as they are, of another with the place `at` that uses it."""
        for (start, message), diagnostic in other.noted.items():
            if at is not None:
                start, message = at.start, str(diagnostic)
                diagnostic = replace(diagnostic, hint=f"{diagnostic.hint} Used at {used_at}.".strip())
            insort(self._places, start)
            if not self.is_full:
                self.noted.setdefault((start, message), diagnostic)

    def has(self, start: int, end: int) -> bool:
        """Whether a fault was noted between two offsets."""
        following = bisect_left(self._places, start)
        return following < len(self._places) and self._places[following] <= end

    @property
    def is_full(self) -> bool:
        """Whether so many faults were found that more would help nobody."""
        return len(self.noted) >= MOST_DIAGNOSTICS

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The faults in the order of the text."""
        return [diagnostic for _, diagnostic in sorted(self.noted.items(), key=lambda item: item[0][0])]


def unknown(kind: str, name: str, known: Iterable[str]) -> tuple[str, str]:
    """(message, hint) for a name that is not there: the names there are, and the nearest of them."""
    names = list(dict.fromkeys(known))
    guess = nearest(name, names)
    hint = f"Did you mean '{guess}'?" if guess else ""
    return f"unknown {kind} '{name}'. {listing(kind, names, guess)}", hint


def listing(kind: str, names: list[str], first: str | None = None) -> str:
    """The known names in words: all of them, or the first few with their number."""
    plural = f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
    if not names:
        return f"There are no {plural}."
    shown = names if len(names) <= LISTED_NAMES else names[:LISTED_NAMES]
    if first is not None and first not in shown:
        shown = [first, *shown[:-1]]
    rest = f", ... ({len(names)} in all)" if len(names) > len(shown) else ""
    return f"{plural.capitalize()}: {', '.join(shown)}{rest}."


def one_of(words: Iterable[str]) -> str:
    """a, b or c."""
    listed = list(words)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"
