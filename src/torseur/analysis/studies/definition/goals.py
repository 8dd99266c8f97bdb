"""What a study asks for beyond numbers: an objective to make small or large, and limits to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.analysis.studies.definition.axes import Vector
from torseur.analysis.studies.definition.study import SweepStudy
from torseur.description.language.formulas.quantities_with_units import number_in
from torseur.errors import TorseurError, unknown_name

WAYS = {"at_most": -1.0, "at_least": 1.0, "equal_to": 0.0}


@dataclass(frozen=True)
class Limit:
    """A criterion that must stay below (sign -1) or above (+1) a number, or be equal to it (0)."""

    criterion: int
    bound: float
    sign: float

    @property
    def size(self) -> float:
        """What a margin is compared with: the bound, or 1 where it vanishes."""
        return abs(self.bound) or 1.0

    def margin(self, values: Vector) -> Vector:
        """How far a criterion is on the right side, for one row of criteria or many."""
        above: Vector = values[..., self.criterion] - self.bound
        return self.sign * above if self.sign else -np.abs(above)

    @property
    def words(self) -> str:
        way = next(name for name, sign in WAYS.items() if sign == self.sign)
        return f"{way.replace('_', ' ')} {self.bound:.6g}"


@dataclass(frozen=True)
class Goal:
    """The criterion to make small (sign 1) or large (-1)."""

    criterion: int
    sign: float


def goal_of(study: SweepStudy) -> Goal:
    """The objective of a study."""
    given, labels = study.tables.get("objective"), [criterion.label for criterion in study.criteria]
    if isinstance(given, str):
        return Goal(_index(study, given, labels, "objective"), 1.0)
    if isinstance(given, Mapping) and len(given) == 1 and next(iter(given)) in ("minimise", "maximise"):
        ((way, name),) = given.items()
        return Goal(_index(study, str(name), labels, f"objective.{way}"), 1.0 if way == "minimise" else -1.0)
    raise TorseurError(f"'{study.path}': objective: expected the name of a criterion, or {{ maximise = \"NAME\" }}.")


def limits_of(study: SweepStudy, units: Sequence[str]) -> list[Limit]:
    """The constraints of a study, in the units of its criteria."""
    labels, limits = [criterion.label for criterion in study.criteria], []
    table = study.tables.get("constraints", {})
    if not isinstance(table, Mapping):
        raise TorseurError(f"'{study.path}': constraints: expected a table, [constraints].")
    for name, bounds in table.items():
        where = f"'{study.path}': constraints.{name}"
        index = _index(study, name, labels, "constraints")
        if not isinstance(bounds, Mapping) or not bounds or set(bounds) - set(WAYS):
            raise TorseurError(
                f"{where}: expected {{ at_most = ... }}, {{ at_least = ... }}, both, or {{ equal_to = ... }}."
            )
        limits += [Limit(index, number_in(given, units[index], where), WAYS[way]) for way, given in bounds.items()]
    return limits


def _index(study: SweepStudy, name: str, labels: Sequence[str], where: str) -> int:
    if name not in labels:
        raise TorseurError(unknown_name("criterion", name, labels, f"'{study.path}': {where}: "))
    return labels.index(name)


def violation(limits: Sequence[Limit], values: Vector) -> float:
    """How far the worst limit is missed, in parts of it; zero when all hold."""
    return max([0.0, *(float(-np.min(limit.margin(values)) / limit.size) for limit in limits)])
