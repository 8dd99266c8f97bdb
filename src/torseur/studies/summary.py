"""What a finished sweep says: spread of the criteria with confidence, Sobol's indices, Morris' effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.studies.axes import Vector
from torseur.studies.store import DONE, FAILED, Store

CONFIDENCE = 1.96
"""Half width of a 95 % interval, in standard errors."""


@dataclass(frozen=True)
class Spread:
    """A criterion over all points that succeeded."""

    name: str
    unit: str
    mean: float
    error: float
    deviation: float
    lowest: float
    highest: float
    quantiles: tuple[float, float, float]


@dataclass(frozen=True)
class Influence:
    """What one axis does to one criterion: by Sobol first order and total, by Morris mean and spread of effects."""

    criterion: str
    axis: str
    first: float
    second: float


@dataclass(frozen=True)
class Summary:
    """A sweep in numbers."""

    points: int
    done: int
    failed: int
    spreads: tuple[Spread, ...]
    influences: tuple[Influence, ...]
    method: str


def summarise(store: Store) -> Summary:
    """The summary of what a store holds so far."""
    status = store.group["status"][:]
    columns = {c.label: np.asarray(store.group[c.label][:]) for c in store.study.criteria}
    good = status == DONE
    spreads = tuple(
        _spread(name, str(store.group[name].attrs["units"]), values[good])
        for name, values in columns.items()
        if good.any()
    )
    kind = store.study.design.kind
    influences: tuple[Influence, ...] = ()
    if good.all() and kind in ("saltelli", "morris"):
        influences = _influences(store, columns, kind)
    return Summary(len(status), int(good.sum()), int((status == FAILED).sum()), spreads, influences, kind)


def _spread(name: str, unit: str, values: Vector) -> Spread:
    deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    low, middle, high = np.quantile(values, [0.025, 0.5, 0.975]).tolist()
    return Spread(
        name, unit, float(values.mean()), CONFIDENCE * deviation / np.sqrt(len(values)), deviation,
        float(values.min()), float(values.max()), (low, middle, high),
    )  # fmt: skip


def _influences(store: Store, columns: dict[str, Vector], kind: str) -> tuple[Influence, ...]:
    axes = store.study.axes
    found: list[Influence] = []
    for name, values in columns.items():
        if kind == "saltelli":
            pairs: Any = sobol_indices(values, len(axes))
        else:
            points = np.column_stack([np.asarray(store.group[axis.name][:]) for axis in axes])
            pairs = morris_effects(values, points)
        found += [Influence(name, axis.name, *pair) for axis, pair in zip(axes, pairs, strict=True)]
    return tuple(found)


def sobol_indices(values: Vector, axes: int) -> list[tuple[float, float]]:
    """First-order and total index of each axis (Saltelli 2010, Jansen 1999), from the design `saltelli`."""
    blocks = values.reshape(axes + 2, -1)
    a, b, mixed = blocks[0], blocks[1], blocks[2:]
    variance = np.concatenate([a, b]).var()
    if variance == 0.0:
        return [(0.0, 0.0)] * axes
    first = [float(np.mean(b * (one - a)) / variance) for one in mixed]
    total = [float(np.mean((a - one) ** 2) / 2.0 / variance) for one in mixed]
    return list(zip(first, total, strict=True))


def morris_effects(values: Vector, points: Vector) -> list[tuple[float, float]]:
    """Mean of |effect| and its standard deviation for each axis, over its whole range, from the design `morris`."""
    axes = points.shape[1]
    effects: list[list[float]] = [[] for _ in range(axes)]
    for start in range(0, len(values), axes + 1):
        for k in range(start, start + axes):
            moved = np.flatnonzero(points[k + 1] != points[k])
            if len(moved) == 1:
                axis = int(moved[0])
                span = np.ptp(points[:, axis]) or 1.0
                effects[axis].append(
                    float((values[k + 1] - values[k]) * span / (points[k + 1, axis] - points[k, axis]))
                )
    return [(float(np.mean(np.abs(e))), float(np.std(e))) if e else (0.0, 0.0) for e in effects]
