"""Names, strings and numbers as they are written."""

from __future__ import annotations

import re
from fractions import Fraction

from torseur.algebra.graph import PI, Expr
from torseur.description.language.syntax.grammar import grammar
from torseur.description.language.syntax.lexer import LONGEST_NAME, NAME_PATTERN
from torseur.description.mechanism import in_si
from torseur.description.mechanism.units import unit_of
from torseur.errors import UnsupportedError

_NAME = re.compile(NAME_PATTERN)
_MOST_DIGITS = 20
_FINER = {"m": "mm", "m/s": "mm/s", "s": "ms", "N*m": "mN*m"}


def name_text(name: str) -> str:
    """A name, in backquotes where it would not be read as one."""
    parts = name.split(".")
    if len(name) <= LONGEST_NAME and all(_NAME.fullmatch(p) and p not in grammar().keywords for p in parts):
        return name
    if "`" in name or "\n" in name or not 0 < len(name) <= LONGEST_NAME:
        raise UnsupportedError(
            f"the name {name!r} cannot be written: it is too long or holds a backquote or a line break."
        )
    return f"`{name}`"


def string_text(text: str) -> str:
    """A string in quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def meaning_text(meaning: str) -> str:
    """A meaning after a definition, with the space before it; nothing when there is none."""
    return f" {string_text(meaning)}" if meaning else ""


def fold_line(line: str, width: int) -> str:
    """A long line broken at commas or between parts of a placement, the rest indented further; strings stay whole."""
    indent = len(line) - len(line.lstrip()) + 4
    lines = []
    while len(line) > width and (stop := _best_break(line, width, indent)) is not None:
        lines.append(line[:stop].rstrip())
        line = " " * indent + line[stop:].lstrip()
    return "\n".join([*lines, line])


def _best_break(line: str, width: int, indent: int) -> int | None:
    """Where to break a line: the last place outside most brackets that lets it fit, else the first one beyond."""
    places = [(depth, stop) for depth, stop in _breaks(line) if stop > indent]
    fitting = [place for place in places if place[1] <= width]
    if not fitting:
        return min((stop for _, stop in places), default=None)
    least = min(depth for depth, _ in fitting)
    return max(stop for depth, stop in fitting if depth == least)


def _breaks(line: str) -> list[tuple[int, int]]:
    """(bracket depth, offset) after each comma and before each joining word, outside strings."""
    breaks, depth, quote = [], 0, ""
    for i, character in enumerate(line):
        if quote:
            quote = "" if character == quote and line[i - 1] != "\\" else quote
        elif character in '"`':
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif line.startswith(", ", i):
            breaks.append((depth, i + 1))
        elif line.startswith((" ++ ", " at ", " * (", " between ", " on ", " in "), i):
            breaks.append((depth, i))
    return breaks


def number_text(value: int | float | Fraction) -> str:
    """A number that reads back as the same number; fractions as p/q."""
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    return repr(value)


def measured_text(value: int | float | Fraction, unit: str) -> str:
    """An SI number with its unit after it; a fraction in a finer unit, or as 1 m / 3."""
    if value == 0 or unit == "1":
        return number_text(value)
    if isinstance(value, Fraction):
        finer = _FINER.get(unit)
        if finer is not None and (value * 1000).denominator == 1:
            return f"{value * 1000} {finer}"
        return f"{value.numerator} {unit} / {value.denominator}"
    return f"{number_text(value)} {unit}"


def number_in(value: Expr, unit: str) -> str | None:
    """An SI value as one number in the given unit, such that it reads back exactly; None when there is none."""
    known = unit_of(unit)
    coefficient = _coefficient(value, known.turns)
    if coefficient is None:
        return None
    exact = Fraction(coefficient) / known.ratio
    for text in _candidates(exact, isinstance(coefficient, float)):
        if in_si(text, unit) is value:
            return text
    return None


def _coefficient(value: Expr, turns: float) -> int | float | Fraction | None:
    """The number in front of pi^turns."""
    if not turns or value.is_zero:
        return value.value if value.is_constant else None
    if turns == 1 and value is PI:
        return 1
    is_multiple = turns == 1 and value.op == "mul" and value.args[0].is_constant and value.args[1] is PI
    return value.args[0].value if is_multiple else None


def _candidates(exact: Fraction, rounded: bool) -> list[str]:
    """Ways to write a number: as an integer, or with more and more digits."""
    texts = [str(exact.numerator)] if exact.denominator == 1 and abs(exact) < 10**15 else []
    if rounded:
        texts += [repr(float(exact))]
        texts += [_decimal(exact, digits) for digits in range(1, _MOST_DIGITS)]
    return texts


def _decimal(exact: Fraction, digits: int) -> str:
    """The exact value rounded to so many digits, always with a decimal point."""
    if exact == 0:
        return "0.0"
    power = len(str(abs(exact.numerator))) - len(str(exact.denominator)) - digits
    scaled = round(exact / Fraction(10) ** power)
    return f"{scaled}.0e{power}"
