"""Units: dimensions as exponents of m, kg, s, A, K, mol and cd, and exact conversion to SI.

Common units are answered from a table; any other word is asked from pint, which takes a third of a second to
load and is therefore loaded only then. Angles carry no dimension but are remembered by their unit name.
Conversion factors are fractions and powers of pi, so that 300 mm is 3/10 m and 60 deg is pi/3.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from torseur.algebra.graph import PI, ExprLike, as_expr, symbol
from torseur.algebra.graph.expr import Expr, Number
from torseur.description.mechanism.quantities import Parameter
from torseur.errors import MechanismError, UnitError

Dimension = tuple[float, ...]
_BASE = ("m", "kg", "s", "A", "K", "mol", "cd")
_PINT_BASE = ("[length]", "[mass]", "[time]", "[current]", "[temperature]", "[substance]", "[luminosity]")
_NONE: Dimension = (0.0,) * 7
_LARGEST_EXPONENT = 99


@dataclass(frozen=True)
class Unit:
    """A unit: its SI value is ratio * pi^turns, with the dimension's exponents of the base units."""

    ratio: Fraction
    turns: float
    dimension: Dimension

    def times(self, other: Unit, power: float) -> Unit:
        """This unit times a power of another."""
        if not _whole(power) and other.ratio != 1:
            raise UnitError(f"a fractional power ({power:g}) is only for SI units.")
        # Ratios stay fractions, so that 1 inch * 1/inch is one and not 0.9999...: only whole powers keep them so.
        ratio = self.ratio if other.ratio == 1 else self.ratio * other.ratio ** round(power)
        exponents = zip(self.dimension, other.dimension, strict=True)
        return Unit(ratio, self.turns + power * other.turns, tuple(a + power * b for a, b in exponents))


def _whole(power: float) -> bool:
    return float(power).is_integer()


def _dimension(**exponents: float) -> Dimension:
    return tuple(float(exponents.get(base, 0)) for base in _BASE)


def _si(ratio: Fraction | int = 1, turns: int = 0, **exponents: float) -> Unit:
    return Unit(Fraction(ratio), turns, _dimension(**exponents))


# Why a table before pint: docs/decisions/0030-units-by-a-table-first.md.
# Units that take the prefixes of _PREFIXES, and units that take none.
_PREFIXED = {
    "m": _si(m=1), "g": _si(Fraction(1, 1000), kg=1), "s": _si(s=1), "A": _si(A=1), "N": _si(kg=1, m=1, s=-2),
    "Pa": _si(kg=1, m=-1, s=-2), "J": _si(kg=1, m=2, s=-2), "W": _si(kg=1, m=2, s=-3), "Hz": _si(s=-1),
    "V": _si(kg=1, m=2, s=-3, A=-1), "C": _si(A=1, s=1), "rad": _si(),
}  # fmt: skip
_PREFIXES = {
    "": Fraction(1), "k": Fraction(1000), "M": Fraction(10**6), "G": Fraction(10**9), "c": Fraction(1, 100),
    "m": Fraction(1, 1000), "µ": Fraction(1, 10**6), "u": Fraction(1, 10**6), "n": Fraction(1, 10**9),
}  # fmt: skip
_PLAIN = {
    "1": _si(), "sr": _si(), "K": _si(K=1), "mol": _si(mol=1), "cd": _si(cd=1), "deg": _si(Fraction(1, 180), 1),
    "°": _si(Fraction(1, 180), 1), "rev": _si(2, 1), "rpm": _si(Fraction(1, 30), 1, s=-1), "min": _si(60, s=1),
    "h": _si(3600, s=1), "bar": _si(10**5, kg=1, m=-1, s=-2), "inch": _si(Fraction(254, 10000), m=1),
}  # fmt: skip
_WORDS = _PLAIN | {
    prefix + name: Unit(unit.ratio * factor, unit.turns, unit.dimension)
    for prefix, factor in _PREFIXES.items()
    for name, unit in _PREFIXED.items()
    if prefix + name not in _PLAIN
}
_TOKEN = re.compile(r"\s*(?:(\*\*|[*/·^()])|(-?\d+(?:\.\d+)?)|([^\W\d_][\w]*|°))")


def is_usual_unit(word: str) -> bool:
    """Whether a word is one of the units with their prefixes that are known without a registry."""
    return word in _WORDS


@lru_cache(maxsize=1024)
def unit_of(text: str) -> Unit:
    """The unit a text such as "kg*m^2", "N/mm" or "deg" stands for."""
    if len(text) > 100:
        raise UnitError(f"unit '{text[:20]}...' is too long.")
    # Read by hand rather than by pint: exact fractions, bounded, and pint is imported for rare units only.
    tokens = _tokens(text)
    unit = _product(text, tokens)
    if tokens:
        raise _unreadable(text)
    return unit


def _tokens(text: str) -> list[str]:
    """The unit's signs, numbers and words, last first."""
    words, position = [], 0
    stripped = text.strip()
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if match is None:
            raise _unreadable(text)
        words.append("^" if match[1] == "**" else match[0].strip())
        position = match.end()
    return words[::-1]


def _unreadable(text: str) -> UnitError:
    return UnitError(f"unknown unit '{text}'. Units read like kg, m/s^2, N*m, N/mm, deg.")


def _product(text: str, tokens: list[str]) -> Unit:
    total = _PLAIN["1"].times(_atom(text, tokens), _exponent(text, tokens))
    while tokens and tokens[-1] in "*/·":
        sign = -1 if tokens.pop() == "/" else 1
        atom = _atom(text, tokens)
        total = total.times(atom, sign * _exponent(text, tokens))
    return total


def _atom(text: str, tokens: list[str]) -> Unit:
    token = tokens.pop() if tokens else ""
    if token == "(":
        inside = _product(text, tokens)
        if not tokens or tokens.pop() != ")":
            raise _unreadable(text)
        return inside
    return _word(token, text)


def _exponent(text: str, tokens: list[str]) -> float:
    if not tokens or tokens[-1] != "^":
        return 1.0
    tokens.pop()
    token = tokens.pop() if tokens else ""
    if token == "(":
        token = tokens.pop() if tokens else ""
        if not tokens or tokens.pop() != ")":
            raise _unreadable(text)
    # Exponents are bounded, so that no text makes a number that takes the machine's memory.
    if not re.fullmatch(r"-?\d{1,3}(\.\d{1,3})?", token) or abs(float(token)) > _LARGEST_EXPONENT:
        raise _unreadable(text)
    return float(token)


def _word(word: str, text: str) -> Unit:
    if word in _WORDS:
        return _WORDS[word]
    if not re.fullmatch(r"[^\W\d_]\w{0,30}", word) or word in ("pi", "e"):
        raise _unreadable(text)
    return _from_pint(word, text)


@lru_cache(maxsize=1)
def _registry() -> Any:
    import pint

    return pint.UnitRegistry(non_int_type=Fraction)


@lru_cache(maxsize=1024)
def _from_pint(word: str, text: str) -> Unit:
    try:
        # One and two of it: a unit with an offset (degrees Celsius) is not twice as much at two, and is refused.
        one, two = (_registry().Quantity(Fraction(n), word).to_base_units() for n in (1, 2))
        ratio, powers = Fraction(one.magnitude), dict(one.dimensionality)
    except Exception as problem:
        raise _unreadable(text) from problem
    if set(powers) - set(_PINT_BASE) or two.magnitude != 2 * one.magnitude:
        raise UnitError(f"unit '{word}' has a dimension that mechanics does not use.")
    return Unit(ratio, 0, tuple(float(powers.get(base, 0)) for base in _PINT_BASE))


def parse_unit(unit: str) -> tuple[float, Dimension]:
    """(factor to SI, dimension) of a unit such as "kg*m^2", "N/mm" or "deg"."""
    known = unit_of(unit)
    return float(known.ratio) * math.pi**known.turns, known.dimension


_VALUE_AND_UNIT = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*?)\s*")


def value_in_si(given: object, unit: str, where: str) -> float:
    """A finite number in SI: a number, which is in SI already, or one with a unit that fits, "5 kg"."""
    value: object = given
    if isinstance(given, str):
        match = _VALUE_AND_UNIT.fullmatch(given)
        if match is None:
            raise UnitError(f"{where} is '{given}': expected a number in {unit}, or one with its unit, such as '5 kg'.")
        factor, dimension = parse_unit(match[2]) if match[2] else (1.0, parse_unit(unit)[1])
        if dimension != parse_unit(unit)[1]:
            wanted, got = kind_of(parse_unit(unit)[1]), kind_of(dimension)
            raise UnitError(f"{where} is '{given}', a {got}: expected a {wanted} ({unit}).")
        value = float(match[1]) * factor
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise MechanismError(f"{where} is {str(given)[:40]}: expected a finite number.")
    return number


def in_si(value: Number | str, unit: str) -> Expr:
    """A value given in a unit, in SI: exact for integers and fractions, correctly rounded for decimals.

    The value may be a number as written, "12.5".
    """
    if unit == "1":
        return as_expr(_number(value) if isinstance(value, str) else value)
    known = unit_of(unit)
    # A decimal is converted as the fraction that was written and rounded once: 9.3 mm is 0.0093 m to the last bit.
    text = repr(value) if isinstance(value, float) else str(value)
    rounded = any(mark in text for mark in ".eE")
    exact = Fraction(text) * known.ratio
    # What was written without a point stays exact, so that 60 deg is pi/3 and its sine can be simplified.
    coefficient = as_expr(float(exact) if rounded else exact)
    return coefficient * PI ** as_expr(known.turns) if known.turns else coefficient


def _number(text: str) -> int | float:
    return int(text) if text.isdigit() else float(text)


def si_name(dimension: Dimension) -> str:
    """A readable SI unit of that dimension."""
    for name, known in _NAMED.items():
        if known == dimension:
            return name
    top = [_power(b, e) for b, e in zip(_BASE, dimension, strict=True) if e > 0]
    bottom = [_power(b, -e) for b, e in zip(_BASE, dimension, strict=True) if e < 0]
    return "/".join(["*".join(top) or "1", *bottom])


def _power(base: str, exponent: float) -> str:
    return base if exponent == 1 else f"{base}^{exponent:g}"


_NAMED: dict[str, Dimension] = {
    name: unit_of(name).dimension
    for name in (
        "1", "kg", "m", "s", "m/s", "m/s^2", "1/s", "1/s^2", "N", "N*m", "N/m", "N*s/m", "N*m*s", "W", "kg*m",
        "kg*m^2", "kg/m^3", "kg/m^2", "kg/m", "m^2", "m^3", "Pa", "A", "K",
    )
}  # fmt: skip

_KINDS = {
    "1": "number or angle", "kg": "mass", "m": "length", "s": "time", "m/s": "speed", "m/s^2": "acceleration",
    "1/s": "rate", "N": "force", "N*m": "moment or energy", "N/m": "stiffness", "N*s/m": "damping",
    "kg*m^2": "moment of inertia", "kg/m^3": "density", "W": "power", "N*m*s": "angular damping",
}  # fmt: skip


def kind_of(dimension: Dimension) -> str:
    """What a dimension is called: length, mass, ..."""
    name = si_name(dimension)
    return _KINDS.get(name, f"quantity in {name}")


def si_unit_of(unit: str) -> str:
    """The SI unit a value in this unit is converted to; angles stay in radians by name."""
    known = unit_of(unit)
    # Angles and numbers have one dimension; only the word tells them apart in tables.
    if known.dimension == _NONE and unit != "1":
        return "rad"
    return unit if known.ratio == 1 and not known.turns else si_name(known.dimension)


def parameter(name: str, value: ExprLike | None = None, unit: str = "1", meaning: str = "") -> Parameter:
    """A parameter given in any unit; a value that is an expression of other parameters is in SI already."""
    given = None if value is None else _in_unit(value, unit)
    return Parameter(symbol(name, si_unit_of(unit), meaning), given, unit)


def _in_unit(value: ExprLike, unit: str) -> Expr:
    return in_si(value, unit) if isinstance(value, (int, float, Fraction)) else as_expr(value)
