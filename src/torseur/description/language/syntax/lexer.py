"""From text to tokens, in one pass of linear time, with exact positions.

Comments `(* ... *)` nest. A unit belongs to the number or bracket before it: it stands on the same line and is
written without spaces (`2 N*m`), so that `2 N * m` is a product with something called m.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from torseur.description.language.description_errors import Report, Source
from torseur.description.mechanism.solids import SHAPES

LETTERS = "A-Za-z_\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff\u0370-\u03ff\u1f00-\u1fff"
NAME_PATTERN = f"[{LETTERS}][{LETTERS}0-9]*"
LONGEST_NAME = 100
LONGEST_NUMBER = 400
LARGEST_POWER_OF_TEN = 400
DEEPEST_BRACKETS = 100

# `t` is time, never the tonne: 2 rad/s*t is an angle.
_FACTOR = r"(?!t(?![A-Za-zµμ°]))[A-Za-zµμ°]++(?:\^-?\d{1,3}(?:\.\d{1,3})?)?"
_NOT_MORE = r"(?![\w(.'`])"
_UNIT = re.compile(rf"[ \t]*+((?:1/)?{_FACTOR}(?:[*/·]{_FACTOR}{_NOT_MORE})*){_NOT_MORE}")
_DEFINED = re.compile(r"\s*=")
_TOKEN = re.compile(
    rf"(?P<SPACE>\s+)|(?P<COMMENT>\(\*)|(?P<NUMBER>(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    rf"|(?P<NAME>{NAME_PATTERN})|(?P<QUOTED>`[^`\n]*`)|(?P<FRESH>\?(?:{NAME_PATTERN}|`[^`\n]*`))"
    r'|(?P<STRING>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<SIGN>\+\+|\|\||\.\.|<=|>=|[-+*/^()\[\],;:@.'=<>])"
)
_COMMENT_MARK = re.compile(r"\(\*|\*\)")


class Token(NamedTuple):
    """A piece of the text: its kind (NAME, NUMBER, UNIT, STRING, FRESH or SIGN), its value and its place."""

    kind: str
    value: str
    start: int
    end: int
    quoted: bool = False


def tokens(source: Source, report: Report, keywords: frozenset[str]) -> list[Token]:
    """The tokens of a text; what cannot be one is reported and left out."""
    accepted: list[Token] = []
    depth = 0
    for token in _scan(source, report, keywords):
        if token.kind == "SIGN" and token.value in "([":
            depth += 1
            if depth > DEEPEST_BRACKETS:
                report.add(token.start, token.end, f"brackets are nested deeper than {DEEPEST_BRACKETS}.")
                return []
        elif token.kind == "SIGN" and token.value in ")];":
            depth = 0 if token.value == ";" else max(0, depth - 1)
        accepted.append(token)
    return accepted


_TYPOGRAPHIC = dict.fromkeys("’‘′´", "the plain prime '") | dict.fromkeys("“”„«»", 'the plain quotation mark "')
_TYPOGRAPHIC |= dict.fromkeys("−–—", "the minus -") | dict.fromkeys("×·∙", "*") | {"÷": "/", "²": "^2", "³": "^3"}


def _scan(source: Source, report: Report, keywords: frozenset[str]) -> Iterator[Token]:
    text, position, opening, last = source.text, 0, "", ""
    diagonals: list[bool] = []  # of the round brackets that are open, whether they are those of diag(...)
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            position = _bad_character(text, position, report)
            continue
        kind = match.lastgroup or ""
        if kind == "COMMENT":
            position = _comment_end(text, position, report)
            continue
        position = match.end()
        if kind == "SPACE" or not _acceptable(kind, match[0], match.start(), report):
            continue
        opening = "" if match[0] == ";" else opening or match[0]
        yield _token(kind, match)
        if match[0] == "(":
            diagonals.append(last == "diag")
        is_diagonal = match[0] == ")" and bool(diagonals) and diagonals.pop()
        last = match[0]
        # Units are found here because a unit ends at a space, which the grammar does not see.
        if kind == "NUMBER" or match[0] == "]" or is_diagonal:
            unit = _unit_after(position, text, keywords, in_equation=opening in ("constrain", "equation"))
            if unit is not None:
                yield unit
                position = unit.end


def _token(kind: str, match: re.Match[str]) -> Token:
    value, start, end = match[0], match.start(), match.end()
    if kind == "QUOTED":
        return Token("NAME", value[1:-1], start, end, quoted=True)
    if kind == "FRESH":
        return Token("FRESH", value[1:].strip("`"), start, end)
    return Token(kind, value, start, end)


def _acceptable(kind: str, value: str, start: int, report: Report) -> bool:
    """Whether a token keeps the limits on its size; reports when not."""
    end = start + len(value)
    if kind == "NUMBER":
        power = re.search(r"[eE]([+-]?\d+)$", value)
        if len(value) > LONGEST_NUMBER or (power and abs(int(power[1][:6])) > LARGEST_POWER_OF_TEN):
            report.add(start, end, "this number has too many digits or too large a power of ten.")
            return False
    elif kind in ("NAME", "QUOTED", "FRESH") and not 0 < len(value.strip("`?")) <= LONGEST_NAME:
        report.add(start, end, f"a name has 1 to {LONGEST_NAME} characters.")
        return False
    return True


def _comment_end(text: str, start: int, report: Report) -> int:
    """The offset after the comment that opens at `start`, comments inside it included."""
    depth, position = 1, start + 2
    while depth:
        mark = _COMMENT_MARK.search(text, position)
        if mark is None:
            report.add(start, start + 2, "this comment is never closed.", "Close it with '*)'.")
            return len(text)
        depth += 1 if mark[0] == "(*" else -1
        position = mark.end()
    return position


def _bad_character(text: str, position: int, report: Report) -> int:
    """Reports what is no token and steps over it."""
    character = text[position]
    if character == '"':
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        report.add(position, end, "this string is never closed.", "A string ends on its own line with '\"'.")
        return end
    if character == "`":
        report.add(position, position + 1, "this name is never closed.", "A quoted name ends with '`' on its own line.")
        end = text.find("\n", position)
        return len(text) if end < 0 else end
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    plain = _TYPOGRAPHIC.get(character)
    hint = f"Write {plain} instead." if plain else "Comments are written between (* and *)." if character == "#" else ""
    report.add(position, position + 1, f"unexpected character '{shown}'.", hint)
    return position + 1


def _unit_after(position: int, text: str, keywords: frozenset[str], in_equation: bool) -> Token | None:
    """The unit after a number or bracket; a word that an equals sign follows is the next property instead."""
    match = _UNIT.match(text, position)
    if match is None or (not in_equation and _DEFINED.match(text, match.end())):
        return None
    if not _may_be_unit(match[1], keywords):
        return None
    return Token("UNIT", match[1].replace("μ", "µ"), match.start(1), match.end(1))


def is_unit(text: str, keywords: frozenset[str]) -> bool:
    """Whether a unit can stand after a number as it is."""
    return bool(re.fullmatch(_UNIT, f" {text}")) and _may_be_unit(text, keywords)


def _may_be_unit(text: str, keywords: frozenset[str]) -> bool:
    word = re.match(r"(?:1/)?([A-Za-zµμ°]+)", text)
    return word is not None and word[1] not in keywords and word[1] not in SHAPES
