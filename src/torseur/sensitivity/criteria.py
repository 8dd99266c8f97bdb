"""Criteria: numbers that a motion is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torseur.errors import TorseurError, UnsupportedError, unknown_name
from torseur.graph import Expr
from torseur.sensitivity.formulas import read_formula
from torseur.simulation.system import System

KINDS = ("value", "integral", "maximum", "minimum", "event", "event time")


@dataclass(frozen=True)
class Criterion:
    """A formula over the motion, and how it becomes a number.

    kind   "value": the formula itself, at each sample; "integral": its integral from the start to each sample;
           "maximum" or "minimum": the largest or smallest value over the motion; "event": the formula where `when`
           changes sign; "event time": the time when it does (the formula is not used)
    when   formula whose change of sign is the event; `direction` +1 or -1 chooses rising or falling ones, and
           `occurrence` which of them, from 1 on
    """

    formula: str | Expr
    kind: str = "value"
    name: str = ""
    unit: str = ""
    when: str | Expr = ""
    direction: int = 0
    occurrence: int = 1

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise TorseurError(unknown_name("kind of criterion", self.kind, KINDS))
        if self.kind.startswith("event") and self.when == "":
            raise TorseurError(f"criterion '{self.label}': say when, such as when=\"q1\" for where q1 changes sign.")
        if self.occurrence < 1:
            raise TorseurError(f"criterion '{self.label}': occurrence is {self.occurrence}, expected 1 or more.")

    @property
    def label(self) -> str:
        """The name in tables and plots."""
        return (
            self.name
            or {
                "value": f"{self.formula}",
                "integral": f"integral of {self.formula}",
                "maximum": f"maximum of {self.formula}",
                "minimum": f"minimum of {self.formula}",
                "event": f"{self.formula} where {self.when} = 0",
                "event time": f"time when {self.when} = 0",
            }[self.kind]
        )

    @property
    def is_over_time(self) -> bool:
        """Whether it has a value at every sample."""
        return self.kind in ("value", "integral")


@dataclass(frozen=True)
class ReadCriterion:
    """A criterion with its formulas as expressions in the system's inputs."""

    criterion: Criterion
    formula: Expr
    unit: str
    when: Expr | None = None

    @property
    def label(self) -> str:
        return self.criterion.label

    @property
    def kind(self) -> str:
        return self.criterion.kind


def as_criteria(criteria: str | Criterion | Sequence[str | Criterion], integral: bool = False) -> tuple[Criterion, ...]:
    """Criteria with plain formulas completed."""
    listed = [criteria] if not isinstance(criteria, Sequence) or isinstance(criteria, str) else list(criteria)
    for entry in listed:
        if not isinstance(entry, str | Criterion):
            raise TorseurError(f"a criterion is a formula or a Criterion, not {entry!r}.")
    if not listed:
        raise TorseurError('no criterion is given, such as "kinetic_energy".')
    found = [c if isinstance(c, Criterion) else Criterion(c) for c in listed]
    found = [replace(c, kind="integral") if integral and c.kind == "value" else c for c in found]
    labels = [criterion.label for criterion in found]
    for label in labels:
        if labels.count(label) > 1:
            raise TorseurError(f"two criteria are called '{label}': give them names.")
    return tuple(found)


def read_criterion(criterion: Criterion, system: System) -> ReadCriterion:
    """The criterion with its names settled."""
    when = None if criterion.when == "" else _expression(criterion.when, system)[0]
    if criterion.kind == "event time":
        return ReadCriterion(criterion, when if when is not None else _expression("t", system)[0], "s", when)
    formula, unit = _expression(criterion.formula, system)
    unit = criterion.unit or (_times_second(unit) if criterion.kind == "integral" else unit)
    return ReadCriterion(criterion, formula, unit, when)


def _expression(formula: str | Expr, system: System) -> tuple[Expr, str]:
    if isinstance(formula, Expr):
        return (formula if system.resolve is None else system.resolve(formula)), "1"
    read = read_formula(formula, system)
    undetermined = getattr(system.quantities, "undetermined", {})
    for name, reason in undetermined.items():
        if name in formula:
            raise UnsupportedError(f"criterion '{formula}': '{name}' is not determined: {reason}.")
    return read.value, read.unit


def _times_second(unit: str) -> str:
    from torseur.mechanism.units import si_name, unit_of

    dimension = tuple(a + b for a, b in zip(unit_of(unit).dimension, unit_of("s").dimension, strict=True))
    return si_name(dimension)
