"""Which parameter is worth changing: influence on each criterion over all points of a sweep, against its cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.analysis.studies.definition.axes import Vector
from torseur.analysis.studies.definition.study import SweepStudy
from torseur.analysis.studies.sweeps.result_store import DONE, Store
from torseur.computation.simulation import System
from torseur.derivation.equations.parameter_values import known_values


@dataclass(frozen=True)
class Ranked:
    """A parameter's influence on a criterion over all points that succeeded, in the order of merit.

    `change` is what 1 % of the parameter makes of the criterion, the root mean square over the points, `largest` the
    largest of them, `merit` the change per cost. `first` is the part of the points at which no other parameter changes
    the criterion more per cost.
    """

    criterion: str
    parameter: str
    unit: str
    change: float
    largest: float
    cost: float
    merit: float
    first: float


def rank_parameters(store: Store) -> tuple[Ranked, ...]:
    """Parameters of a study with derivatives, ranked for each criterion by their influence per cost."""
    study, good = store.study, store.column("status") == DONE
    names = [name for name in study.differentiate_by if "=" not in name]  # one value has no per cent of a group
    if not names or not good.any():
        return ()
    # As in the sensitivities of one motion: 1 % of the value, or of 1 where it vanishes.
    sizes = np.array([0.01 * (np.abs(value) + (value == 0.0)) for value in (_values(store, n)[good] for n in names)])
    costs = np.array([study.costs.get(name, 1.0) for name in names])
    ranked: list[Ranked] = []
    for criterion in study.criteria:
        slopes = np.array([store.column(f"{criterion.label} by {name}")[good] for name in names])
        changes = np.abs(slopes) * sizes
        leaders = np.argmax(changes / costs[:, None], axis=0)
        rows = [
            Ranked(
                criterion.label, name, store.unit(criterion.label), float(np.sqrt(np.mean(change**2))),
                float(change.max()), float(cost), float(np.sqrt(np.mean(change**2)) / cost),
                float(np.mean(leaders == k)),
            )
            for k, (name, change, cost) in enumerate(zip(names, changes, costs, strict=True))
        ]  # fmt: skip
        ranked += sorted(rows, key=lambda row: -row.merit)
    return tuple(ranked)


def _values(store: Store, name: str) -> Vector:
    """The value of a parameter at all points: where it varies its own, elsewhere that of the study or mechanism."""
    study = store.study
    if name in [axis.name for axis in study.all_axes]:
        return store.column(name)
    value = study.values.get(name, study.initial.get(name.removesuffix("(0)")))
    return np.full(study.size, _nominal(study, name) if value is None else value)


def _nominal(study: SweepStudy, name: str) -> float:
    model = study.model
    if isinstance(model, System):
        names = [quantity.name for quantity in model.parameters]
        return model.values[names.index(name)] if name in names else 0.0
    return known_values(model, study.values).get(name) or 0.0
