"""What a study varies: each axis maps numbers between 0 and 1, or places on a grid, to values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.description.language.formulas.quantities_with_units import number_in
from torseur.edges.budgets import PYTHON_NUMBER, require_memory
from torseur.errors import TorseurError, unknown_name

Vector = NDArray[np.float64]

SHAPES = {
    "values": "a list of values",
    "uniform": "two ends",
    "normal": "mean and standard deviation",
    "lognormal": "median and the standard deviation of the logarithm",
    "triangular": "lowest, likeliest and highest value",
}
KEYS = ("from", "to", "count", *SHAPES)
TOLERANCE_KEYS = ("plus_minus", "distribution", "deviations")


@dataclass(frozen=True)
class Axis:
    """One parameter or initial value ("q1(0)") that varies, in SI, and how."""

    name: str
    unit: str
    shape: str
    numbers: tuple[float, ...]

    @property
    def is_listed(self) -> bool:
        """Whether it has a finite list of values, as a grid needs."""
        return self.shape == "values"

    def at(self, part: Vector) -> Vector:
        """Values at parts of the probability, between 0 and 1."""
        if self.is_listed:
            return np.array(self.numbers)[np.minimum((part * len(self.numbers)).astype(int), len(self.numbers) - 1)]
        from scipy import stats

        quantiles: dict[str, Callable[..., Any]] = {
            "uniform": lambda a, b: a + (b - a) * part,
            "normal": lambda mean, deviation: stats.norm.ppf(part, mean, deviation),
            "lognormal": lambda median, deviation: median * np.exp(deviation * stats.norm.ppf(part)),
            "triangular": lambda low, mode, high: stats.triang.ppf(part, (mode - low) / (high - low), low, high - low),
        }
        return np.asarray(quantiles[self.shape](*self.numbers), dtype=float)


def read_axis(name: str, unit: str, table: Any, where: str) -> Axis:
    """An axis of a study file."""
    if not isinstance(table, Mapping):
        raise TorseurError(f'{where}: expected a table such as {{ from = "1 kg", to = "3 kg", count = 5 }}.')
    for key in table:
        if key not in KEYS:
            raise TorseurError(unknown_name("key", str(key), KEYS, f"{where}: "))
    if "from" in table or "to" in table:
        return Axis(name, unit, *_span(unit, table, where))
    shapes = [key for key in SHAPES if key in table]
    if len(shapes) != 1 or len(table) != 1:
        raise TorseurError(f"{where}: expected from and to, or one of {', '.join(SHAPES)}.")
    (shape,) = shapes
    return Axis(name, unit, shape, _numbers(shape, table[shape], unit, where))


def _span(unit: str, table: Mapping[str, Any], where: str) -> tuple[str, tuple[float, ...]]:
    for key in ("from", "to"):
        if key not in table:
            raise TorseurError(f"{where}: '{key}' is missing.")
    first, last = (number_in(table[key], unit, f"{where}.{key}") for key in ("from", "to"))
    if "count" not in table:
        return "uniform", (first, last)
    count = table["count"]
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise TorseurError(f"{where}: count is {count!r}, expected a whole number of values.")
    require_memory(count, PYTHON_NUMBER, f"{where}: count = {count}")
    return "values", tuple(np.linspace(first, last, count).tolist())


def _numbers(shape: str, given: Any, unit: str, where: str) -> tuple[float, ...]:
    needed = {"values": None, "uniform": 2, "normal": 2, "lognormal": 2, "triangular": 3}[shape]
    if not isinstance(given, list) or not given or (needed is not None and len(given) != needed):
        raise TorseurError(f"{where}: {shape} takes {SHAPES[shape]}, as a list.")
    units = [unit] * len(given)
    if shape == "lognormal":
        units[1] = "1"
    numbers = tuple(number_in(x, u, f"{where}.{shape}") for x, u in zip(given, units, strict=True))
    if shape in ("normal", "lognormal") and not numbers[1] > 0:
        raise TorseurError(f"{where}: the standard deviation is {numbers[1]:g}, expected a positive number.")
    if shape == "triangular" and not numbers[0] <= numbers[1] <= numbers[2] != numbers[0]:
        raise TorseurError(f"{where}: triangular takes {SHAPES[shape]} in this order.")
    return numbers


def read_tolerance(name: str, unit: str, nominal: float, given: Any, where: str) -> Axis:
    """An axis about a nominal value, from the tolerance it is made with: "0.2 mm", "1 %", or a table.

    plus_minus     half the width of the tolerance
    distribution   normal (by default), uniform or triangular
    deviations     of a normal distribution that plus_minus stands for; 3 by default
    """
    table = given if isinstance(given, Mapping) else {"plus_minus": given}
    for key in table:
        if key not in TOLERANCE_KEYS:
            raise TorseurError(unknown_name("key", str(key), TOLERANCE_KEYS, f"{where}: "))
    if "plus_minus" not in table:
        raise TorseurError(f"{where}: 'plus_minus' is missing.")
    width = _width(table["plus_minus"], unit, nominal, where)
    if not width > 0.0:
        raise TorseurError(f"{where}: the tolerance is {width:g} {unit}, expected more than zero.")
    shape = table.get("distribution", "normal")
    if shape == "normal":
        deviations = number_in(table.get("deviations", 3.0), "1", f"{where}.deviations")
        if not deviations > 0.0:
            raise TorseurError(f"{where}.deviations: expected a positive number, got {deviations:g}.")
        return Axis(name, unit, "normal", (nominal, width / deviations))
    if "deviations" in table:
        raise TorseurError(f"{where}.deviations: only a normal distribution has deviations.")
    ends = {"uniform": (nominal - width, nominal + width), "triangular": (nominal - width, nominal, nominal + width)}
    if shape not in ends:
        raise TorseurError(unknown_name("distribution", str(shape), ("normal", *ends), f"{where}: "))
    return Axis(name, unit, str(shape), ends[shape])


def _width(given: Any, unit: str, nominal: float, where: str) -> float:
    """Half a tolerance in SI, from a length, an angle and the like, or from a part of the nominal value in percent."""
    if isinstance(given, str) and given.rstrip().endswith("%"):
        part = number_in(given.rstrip().removesuffix("%").strip(), "1", where)
        return abs(nominal) * part / 100.0
    return number_in(given, unit, where)
