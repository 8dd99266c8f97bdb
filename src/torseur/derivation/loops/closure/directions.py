"""Directions across given ones, with names a user can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torseur.algebra.graph import Expr, as_expr, evaluate, symbols_of
from torseur.algebra.spatial import UNIT, Vec3, unit


@dataclass(frozen=True)
class Direction:
    """A unit vector in the axes of a joint, and what to call it."""

    vector: Vec3
    name: str


AXES = tuple(Direction(axis, name) for axis, name in zip(UNIT, "xyz", strict=True))


def across(given: Sequence[Vec3], values: Mapping[Expr, float]) -> tuple[Direction, ...]:
    """Unit directions orthogonal to the given independent ones: coordinate axes where possible.

    `values` are numbers for parameters, used only to choose well; what is unknown counts as 1.
    """
    numbers = [numerical(vector, values) for vector in given]
    axes = [k for k in range(3) if all(abs(vector[k]) == 0 for vector in numbers)]
    if len(axes) == 3 - len(given) and all(list(vector)[k] in (0, as_expr(0)) for k in axes for vector in given):
        return tuple(AXES[k] for k in axes)
    if len(given) == 2:
        return (_direction(unit(given[0].cross(given[1])), values),)
    (line,) = given
    # Across the component that is least, so that the cross product is long and no case of parallel axes arises.
    weakest = min(range(3), key=lambda k: abs(numbers[0][k]))
    first = unit(line.cross(UNIT[weakest]))
    return _direction(first, values), _direction(unit(line.cross(first)), values)


def numerical(vector: Vec3, values: Mapping[Expr, float]) -> list[float]:
    """The components as numbers, unknown symbols counting as 1."""
    components = [as_expr(component) for component in vector]
    known = {symbol: values.get(symbol, 1.0) for symbol in symbols_of(components)}
    return [float(value) for value in evaluate(components, known)]


def _direction(vector: Vec3, values: Mapping[Expr, float]) -> Direction:
    return Direction(vector, direction_name(numerical(vector, values)))


def direction_name(components: Sequence[float]) -> str:
    """x, y, z, or the components in brackets, with the sign that makes the largest positive."""
    largest = max(components, key=abs)
    shown = [c / largest * abs(largest) for c in components]
    for name, axis in zip("xyz", ((1, 0, 0), (0, 1, 0), (0, 0, 1)), strict=True):
        if all(abs(c - a) < 1e-9 for c, a in zip(shown, axis, strict=True)):
            return name
    return "(" + ", ".join(f"{c + 0.0:.3g}" if abs(c) > 1e-9 else "0" for c in shown) + ")"
