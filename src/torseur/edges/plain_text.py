"""Names and texts that others wrote, as terminals and spreadsheets may show them.

A terminal acts on control characters, and shows text after a mark of direction in another order than it is read; a
spreadsheet runs a cell that begins like a formula. Both get the same text with these made visible. What is computed,
and what is written in our own formats, keeps every name as it is.
"""

from __future__ import annotations

import re

# Control characters but tab and line feed (C0, delete, C1), marks of direction and of invisible joining, separators of
# lines and paragraphs, halves of characters.
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")


def visible(text: str) -> str:
    """Text with what a terminal would act on written as escapes: \\x1b, \\u202e."""
    return _HIDDEN.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def cell(text: str) -> str:
    """Text for a cell of a table that a spreadsheet may open: it is shown, never run.

    An apostrophe before it says so to every spreadsheet; `cell_text` takes it off. Numbers are no text and stay as
    they are.
    """
    begins = text.lstrip()
    return f"'{text}" if begins.startswith(_FORMULA) or begins.startswith("'") or text[:1].isspace() else text


def cell_text(written: str) -> str:
    """The text of a cell that `cell` wrote."""
    return written[1:] if written.startswith("'") else written
