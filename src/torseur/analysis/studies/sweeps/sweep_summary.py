"""What a finished sweep says: spread of the criteria with confidence, yield, Sobol's indices, Morris' effects."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from torseur.analysis.studies.definition.axes import Vector
from torseur.analysis.studies.definition.goals import limits_of
from torseur.analysis.studies.sweeps.parameter_ranking import Ranked, rank_parameters
from torseur.analysis.studies.sweeps.result_store import DONE, FAILED, Store

CONFIDENCE = 0.95
NORMAL = 1.959964  # half width of that interval, in standard errors
RESAMPLED = 200  # drawings of the points behind the intervals of Sobol's indices

Interval = tuple[float, float]


@dataclass(frozen=True)
class Spread:
    """A criterion over all points that succeeded, at one operating point.

    `error` is half the 95 % interval of the mean, nan where points are no random sample; `quantiles` are those
    of 2.5, 50 and 97.5 %, with intervals.
    """

    name: str
    unit: str
    mean: float
    error: float
    deviation: float
    deviation_interval: Interval
    lowest: float
    highest: float
    quantiles: tuple[float, float, float]
    quantile_intervals: tuple[Interval, Interval, Interval]
    operating_point: str = ""


@dataclass(frozen=True)
class Influence:
    """What one axis does to one criterion: by Sobol first order and total, by Morris mean and spread of effects.

    The errors are half the 95 % intervals; nan where none is known.
    """

    criterion: str
    axis: str
    first: float
    second: float
    first_error: float = float("nan")
    second_error: float = float("nan")
    operating_point: str = ""


@dataclass(frozen=True)
class Yield:
    """The part of all motions that keep the constraints, with its 95 % interval (Wilson's)."""

    part: float
    interval: Interval
    operating_point: str = ""


@dataclass(frozen=True)
class Summary:
    """A sweep in numbers."""

    points: int
    done: int
    failed: int
    spreads: tuple[Spread, ...]
    influences: tuple[Influence, ...]
    yields: tuple[Yield, ...]
    method: str
    ranking: tuple[Ranked, ...] = ()


def summarise(store: Store) -> Summary:
    """The summary of what a store holds so far."""
    study, status = store.study, store.column("status")
    columns = {column.label: store.column(column.label) for column in store.columns}
    axes = {axis.name: store.column(axis.name) for axis in study.axes}
    good, kind = status == DONE, study.design.kind
    spreads: list[Spread] = []
    influences: list[Influence] = []
    yields: list[Yield] = []
    for name, part in _parts(store):
        own = {label: values[part] for label, values in columns.items()}
        if good[part].any():
            own_spreads = [spread_of(n, store.unit(n), values[good[part]], name) for n, values in own.items()]
            is_sample = kind not in ("grid", "morris")
            spreads += own_spreads if is_sample else [replace(s, error=float("nan")) for s in own_spreads]
            yields += _yield(store, own, status[part], name)
        if good[part].all() and kind in ("saltelli", "morris"):
            points = np.column_stack([values[part] for values in axes.values()])
            influences += _influences(list(axes), own, points, kind, name)
    counts = int(good.sum()), int((status == FAILED).sum())
    return Summary(len(status), *counts, tuple(spreads), tuple(influences), tuple(yields), kind, rank_parameters(store))


def _parts(store: Store) -> list[tuple[str, slice]]:
    """The points that are summed up together: those of each operating point, or all where that has only one."""
    block, names = store.study.design.size(store.study.axes), store.study.operating.names
    if block == 1:
        return [("", slice(None))]
    return [(name, slice(k * block, (k + 1) * block)) for k, name in enumerate(names)]


def spread_of(name: str, unit: str, values: Vector, operating_point: str = "") -> Spread:
    """A criterion's values as mean, deviation and quantiles with their intervals."""
    # From the first value, so that equal values deviate by zero and not by the rounding of their mean.
    deviation = float((values - values[0]).std(ddof=1)) if len(values) > 1 else 0.0
    parts = (0.025, 0.5, 0.975)
    low, middle, high = np.quantile(values, parts).tolist()
    ordered = np.sort(values)
    first, second, third = (_quantile_interval(ordered, part) for part in parts)
    return Spread(
        name, unit, float(values.mean()), NORMAL * deviation / np.sqrt(len(values)), deviation,
        _deviation_interval(deviation, len(values)), float(values.min()), float(values.max()), (low, middle, high),
        (first, second, third), operating_point,
    )  # fmt: skip


def _deviation_interval(deviation: float, count: int) -> Interval:
    """The 95 % interval of a standard deviation of normal values, from the chi-square distribution."""
    if count < 2:
        return (0.0, float("inf"))
    from scipy.stats import chi2

    tail, free = 0.5 * (1.0 - CONFIDENCE), count - 1
    low, high = (deviation * np.sqrt(free / chi2.ppf(part, free)) for part in (1.0 - tail, tail))
    return (float(low), float(high))


def _quantile_interval(ordered: Vector, part: float) -> Interval:
    """The 95 % interval of a quantile, between two of the ordered values: how many lie below it is binomial."""
    from scipy.stats import binom

    tail, count = 0.5 * (1.0 - CONFIDENCE), len(ordered)
    # Distribution-free: the number of values below the quantile is binomial, whatever their distribution.
    low, high = int(binom.ppf(tail, count, part)) - 1, int(binom.ppf(1.0 - tail, count, part))
    return (float(ordered[max(low, 0)]), float(ordered[min(high, count - 1)]))


def _yield(store: Store, columns: dict[str, Vector], status: Any, name: str) -> list[Yield]:
    """How many motions keep the limits; those that failed do not."""
    labels = [criterion.label for criterion in store.study.criteria]
    limits = limits_of(store.study, [store.unit(label) for label in labels])
    counted = (status == DONE) | (status == FAILED)
    if not limits or not counted.any():
        return []
    values = np.column_stack([columns[label] for label in labels])[counted]
    with np.errstate(invalid="ignore"):
        kept = np.all([limit.margin(values) >= 0.0 for limit in limits], axis=0)
    return [Yield(float(kept.mean()), wilson(int(kept.sum()), len(kept)), name)]


def wilson(successes: int, count: int) -> Interval:
    """The 95 % interval of a probability (Wilson 1927)."""
    part, z = successes / count, NORMAL
    middle = (part + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * np.sqrt(part * (1 - part) / count + z * z / (4 * count * count))
    return (float(max(middle - half, 0.0)), float(min(middle + half, 1.0)))


def _influences(
    axes: list[str], columns: dict[str, Vector], points: Vector, kind: str, operating_point: str
) -> list[Influence]:
    influences: list[Influence] = []
    for name, values in columns.items():
        if kind == "saltelli":
            pairs, errors = sobol_indices(values, len(axes)), sobol_errors(values, len(axes))
        else:
            pairs, errors = morris_effects(values, points), [(float("nan"), float("nan"))] * len(axes)
        rows = zip(axes, pairs, errors, strict=True)
        influences += [Influence(name, axis, *pair, *error, operating_point) for axis, pair, error in rows]
    return influences


def sobol_indices(values: Vector, axes: int) -> list[tuple[float, float]]:
    """First-order and total index of each axis (Saltelli 2010, Jansen 1999), from the design `saltelli`."""
    blocks = values.reshape(axes + 2, -1)
    return list(zip(*(part.tolist() for part in _indices(blocks)), strict=True))


def _indices(blocks: Vector) -> tuple[Vector, Vector]:
    a, b, mixed = blocks[0], blocks[1], blocks[2:]
    both = np.concatenate([a, b])
    variance = both.var()
    if variance == 0.0:
        return np.zeros(len(mixed)), np.zeros(len(mixed))
    # The mean taken off first: it cancels in exact arithmetic, and a large one would drown the differences.
    first = np.mean((b - both.mean()) * (mixed - a), axis=1) / variance
    total = np.mean((a - mixed) ** 2, axis=1) / 2.0 / variance
    return first, total


def sobol_errors(values: Vector, axes: int) -> list[tuple[float, float]]:
    """Half the 95 % intervals of Sobol's indices, from drawing the sampled points again with replacement."""
    blocks = values.reshape(axes + 2, -1)
    random = np.random.default_rng(0)
    drawn = [_indices(blocks[:, random.integers(0, blocks.shape[1], blocks.shape[1])]) for _ in range(RESAMPLED)]
    deviations = np.std(np.array(drawn), axis=0)  # (first or total, axis)
    return [(float(NORMAL * first), float(NORMAL * total)) for first, total in deviations.T]


def morris_effects(values: Vector, points: Vector) -> list[tuple[float, float]]:
    """Mean of |effect| and its standard deviation for each axis, over its whole range, from the design `morris`."""
    axes = points.shape[1]
    effects: list[list[float]] = [[] for _ in range(axes)]
    for start in range(0, len(values), axes + 1):
        for k in range(start, start + axes):
            moved = np.flatnonzero(points[k + 1] != points[k])
            if len(moved) == 1:
                axis = int(moved[0])
                # Effects per whole range of the axis, so that axes of different units compare (Morris 1991).
                step = (points[k + 1, axis] - points[k, axis]) / (np.ptp(points[:, axis]) or 1.0)
                effects[axis].append(float((values[k + 1] - values[k]) / step))
    return [(float(np.mean(np.abs(e))), float(np.std(e))) if e else (0.0, 0.0) for e in effects]
