"""The layout: the only place where names meet slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from torseur.errors import MechanismError, unknown_name
from torseur.graph import Expr, symbol
from torseur.mechanism.quantities import per_second


@dataclass(frozen=True)
class Layout:
    """Symbols of the coordinates q, their rates, the speeds v and the parameters p, each in slot order."""

    coordinates: tuple[Expr, ...]
    rates: tuple[Expr, ...]
    speeds: tuple[Expr, ...]
    parameters: tuple[Expr, ...]

    @cached_property
    def accelerations(self) -> tuple[Expr, ...]:
        """Symbols of v'."""
        return tuple(symbol(f"{v.data.name}'", per_second(v.data.unit), f"rate of {v.data.name}") for v in self.speeds)

    @property
    def coordinate_names(self) -> list[str]:
        return [str(q.name) for q in self.coordinates]

    @property
    def speed_names(self) -> list[str]:
        return [str(v.name) for v in self.speeds]

    @property
    def parameter_names(self) -> list[str]:
        return [str(p.name) for p in self.parameters]

    def slot(self, kind: str, name: str) -> int:
        """The slot of a coordinate, speed or parameter by name."""
        names = {
            "coordinate": self.coordinate_names,
            "speed": self.speed_names,
            "parameter": self.parameter_names,
        }[kind]
        if name not in names:
            raise MechanismError(unknown_name(kind, name, names))
        return names.index(name)

    def vector(self, kind: str, values: Mapping[str, float], defaults: Sequence[float]) -> list[float]:
        """Values in slot order: the defaults, overridden by name."""
        result = list(defaults)
        for name, value in values.items():
            result[self.slot(kind, name)] = value
        return result
