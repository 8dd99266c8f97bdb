"""Operating points of a study file: a list with names, or every combination of some values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torseur.errors import TorseurError, unknown_name
from torseur.language.quantities import number_in
from torseur.studies.axes import Axis, read_axis
from torseur.studies.design import Design
from torseur.studies.study import OperatingPoints

KEY = "operating_points"


def read_operating_points(given: Any, units: Mapping[str, str], at: Callable[[str], str]) -> OperatingPoints:
    """[operating_points] with values of some parameters, or [[operating_points]] with a name and values each."""
    if isinstance(given, list) and given and all(isinstance(each, Mapping) for each in given):
        return _listed(given, units, at)
    if not isinstance(given, Mapping):
        raise TorseurError(f"{at(KEY)}: expected a table of values, or [[{KEY}]] with a name and values each.")
    if not given:
        return OperatingPoints()
    axes = [read_axis(n, _unit(n, units, at), table, at(f"{KEY}.{n}")) for n, table in given.items()]
    for axis in axes:
        if not axis.is_listed:
            raise TorseurError(f"{at(f'{KEY}.{axis.name}')}: expected from, to and count, or values.")
    rows = tuple(tuple(row) for row in Design("grid").points(axes).tolist())
    names = tuple(", ".join(f"{a.name} = {x:.6g} {a.unit}" for a, x in zip(axes, row, strict=True)) for row in rows)
    return OperatingPoints(tuple(axes), rows, names)


def _listed(given: list[Mapping[str, Any]], units: Mapping[str, str], at: Callable[[str], str]) -> OperatingPoints:
    varied = [name for name in given[0] if name != "name"]
    rows, names = [], []
    for number, point in enumerate(given, 1):
        where = at(f"{KEY} {number}")
        if not isinstance(point.get("name"), str):
            raise TorseurError(f"{where}: expected a name and values.")
        if sorted(point) != sorted(["name", *varied]):
            raise TorseurError(f"{where}: expected values of {', '.join(varied)}, as in the first one.")
        rows.append(tuple(number_in(point[n], _unit(n, units, at), f"{where}: {n}") for n in varied))
        names.append(str(point["name"]))
    if len(set(names)) < len(names):
        raise TorseurError(f"{at(KEY)}: two have the same name.")
    columns = list(zip(*rows, strict=True))
    axes = tuple(Axis(n, units[n], "values", tuple(column)) for n, column in zip(varied, columns, strict=True))
    return OperatingPoints(axes, tuple(rows), tuple(names))


def _unit(name: str, units: Mapping[str, str], at: Callable[[str], str]) -> str:
    if name not in units:
        raise TorseurError(unknown_name("parameter", name, units, f"{at(KEY)}: "))
    return units[name]
