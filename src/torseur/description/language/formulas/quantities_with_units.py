"""Numbers with units outside descriptions, in files and on command lines: 4, "4 kg", "30 deg", "2*pi rad/s"."""

from __future__ import annotations

import re
from math import inf, isfinite
from typing import Any

from torseur.algebra.graph import symbols_of
from torseur.description.mechanism.units import kind_of, parse_unit
from torseur.errors import TorseurError

_PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def number_in(given: Any, unit: str, where: str) -> float:
    """A value in SI; a plain number is in SI already, and a unit must fit."""
    value, own_unit = quantity(given, where)
    if own_unit is not None and parse_unit(own_unit)[1] != parse_unit(unit)[1]:
        wanted = kind_of(parse_unit(unit)[1])
        raise TorseurError(
            f"{where}: expected a {wanted} ({unit}), got {given!r} ({kind_of(parse_unit(own_unit)[1])})."
        )
    return value


def quantity(given: Any, where: str) -> tuple[float, str | None]:
    """A finite value in SI and its SI unit; None for a plain number, which is in SI already."""
    try:
        value, unit = _quantity(given, where)
    except OverflowError:  # an integer, or a quotient of them, beyond the largest number
        value, unit = inf, None
    if not isfinite(value):
        raise TorseurError(f"{where}: expected a finite number, got {str(given)[:40]}.")
    return value, unit


def _quantity(given: Any, where: str) -> tuple[float, str | None]:
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        raise TorseurError(f"{where}: expected a number with its unit, got {given!r}.")
    if not isinstance(given, str):
        return float(given), None
    text = given.strip()
    return (float(text), None) if _PLAIN.fullmatch(text) else _read_formula(text, where)


def _read_formula(text: str, where: str) -> tuple[float, str | None]:
    """A formula of numbers, units and pi, read as the language reads it."""
    from torseur.description.language import LanguageError, parse

    expected = f"{where}: expected a number with its unit, such as 4 kg, 45 deg or pi/4, got '{text}'"
    try:
        (parameter,) = parse(f"param value = {text} ;").parameters
    except LanguageError as problem:
        reason = problem.diagnostics[0].message.removesuffix(" Names: value.")
        raise TorseurError(f"{expected}; {reason}") from problem
    except ValueError as problem:
        raise TorseurError(f"{expected}.") from problem
    if parameter.value is None or symbols_of([parameter.value]):
        raise TorseurError(f"{expected}.")
    return float(parameter.value), None if parameter.si_unit == "1" else parameter.si_unit
