"""Criteria with their formulas read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torseur.algebra.graph import Expr
from torseur.analysis.sensitivity.criteria.motion_formulas import read_formula
from torseur.computation.simulation.model.criterion import Criterion
from torseur.computation.simulation.model.system import System
from torseur.errors import TorseurError, UnsupportedError


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
    completed = [c if isinstance(c, Criterion) else Criterion(c) for c in listed]
    completed = [replace(c, kind="integral") if integral and c.kind == "value" else c for c in completed]
    labels = [criterion.label for criterion in completed]
    for label in labels:
        if labels.count(label) > 1:
            raise TorseurError(f"two criteria are called '{label}': give them names.")
    return tuple(completed)


def read_criterion(criterion: Criterion, system: System) -> ReadCriterion:
    """The criterion with its names resolved."""
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
    # Reactions that redundancy leaves open have a formula, but no meaning as a criterion.
    undetermined = getattr(system.quantities, "undetermined", {})
    for name, reason in undetermined.items():
        if name in formula:
            raise UnsupportedError(f"criterion '{formula}': '{name}' is not determined: {reason}.")
    return read.value, read.unit


def _times_second(unit: str) -> str:
    from torseur.description.mechanism.units import si_name, unit_of

    dimension = tuple(a + b for a, b in zip(unit_of(unit).dimension, unit_of("s").dimension, strict=True))
    return si_name(dimension)
