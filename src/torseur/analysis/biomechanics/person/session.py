"""Several trials of a person as laboratories report them: curves over cycles, strides, symmetry, work."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.person.motion_cycles import PERCENT, Cycle
from torseur.analysis.biomechanics.person.person_analysis import PersonTrial
from torseur.errors import RecordingError

QUANTITIES = {"angle": "deg", "moment": "N m/kg", "power": "W/kg"}
_FOOT = {"r_": "r_foot", "l_": "l_foot"}


@dataclass(frozen=True, eq=False)
class CycleCurve:
    """A quantity of a coordinate over a cycle in percent: the mean and standard deviation of `count` cycles."""

    coordinate: str
    quantity: str
    unit: str
    mean: Array
    deviation: Array
    count: int

    @property
    def heading(self) -> str:
        return f"{self.coordinate} {self.quantity}"


@dataclass(frozen=True)
class Stride:
    """One cycle of a foot: when and how long, where it goes, and the work of the leg's joints (J/kg)."""

    trial: str
    side: str
    start: float
    duration: float
    length: float
    stance: float
    positive_work: float
    negative_work: float

    @property
    def speed(self) -> float:
        return self.length / self.duration


def quantity_of(trial: PersonTrial, coordinate: str, quantity: str) -> Array:
    """Angle (deg), moment (N m/kg) or power (W/kg) of a coordinate in every frame."""
    if quantity == "angle":
        return np.degrees(trial.motion.of(coordinate))
    values = trial.moment(coordinate) if quantity == "moment" else trial.power(coordinate)
    return values / trial.mass


def cycle_curve(trials: Sequence[PersonTrial], coordinate: str, quantity: str = "angle") -> CycleCurve | None:
    """A quantity over all cycles of all trials; None where there is no whole cycle.

    Coordinates of a side go by the cycles of its foot, the others by those of the right one.
    """
    foot, rows = _FOOT.get(coordinate[:2], "r_foot"), []
    for trial in trials:
        values = quantity_of(trial, coordinate, quantity)
        rows += [over_one(values, trial.motion.time, cycle) for cycle in trial.cycles.get(foot, ())]
    # What a foot beside the plates leaves unknown is no cycle.
    rows = [row for row in rows if np.isfinite(row).all()]
    if not rows:
        return None
    # With one cycle there is no spread; with more the sample's, which strides of a person are.
    spread = np.std(rows, axis=0, ddof=1) if len(rows) > 1 else np.zeros(len(PERCENT))
    return CycleCurve(coordinate, quantity, QUANTITIES[quantity], np.mean(rows, axis=0), spread, len(rows))


def over_one(values: Array, time: Array, cycle: Cycle) -> Array:
    """A quantity at 0, 1, ..., 100 percent of one cycle."""
    return np.interp(cycle.start + PERCENT / 100 * (cycle.end - cycle.start), time, values)


def cycle_curves(trials: Sequence[PersonTrial]) -> list[CycleCurve]:
    """Angles, moments and powers of every coordinate that follows markers, over the cycles of all trials."""
    names = [name for name in trials[0].free if name not in ("pelvis_x", "pelvis_y", "pelvis_z")]
    curves = [cycle_curve(trials, name, quantity) for name in names for quantity in QUANTITIES]
    return [curve for curve in curves if curve is not None]


def strides_of(trials: Sequence[PersonTrial]) -> list[Stride]:
    """Every whole cycle of every foot."""
    return [_stride(trial, cycle) for trial in trials for cycles in trial.cycles.values() for cycle in cycles]


def _stride(trial: PersonTrial, cycle: Cycle) -> Stride:
    side, time = cycle.foot[0], trial.motion.time
    way = trial.feet.middle(cycle.foot) - trial.feet.belt_travel(time)
    parts = [c for c in trial.free if c.startswith((f"{side}_hip", f"{side}_knee", f"{side}_ankle"))]
    inside = slice(cycle.first, cycle.last + 1)
    power = np.array([trial.power(name)[inside] / trial.mass for name in parts]).reshape(len(parts), -1)
    # Joint by joint: what one joint absorbs another one's muscles do not get.
    gained, lost = (
        float(np.trapezoid(part.sum(axis=0), time[inside])) for part in (power.clip(0), power.clip(None, 0))
    )
    gone = (way[cycle.last] - way[cycle.first])[[0, 2]]
    return Stride(
        trial.name, {"r": "right", "l": "left"}[side], cycle.start, cycle.end - cycle.start,
        float(np.linalg.norm(gone)), cycle.stance, gained, lost,
    )  # fmt: skip


@dataclass(frozen=True)
class Symmetry:
    """A quantity of both sides, and the symmetry index (Robinson et al. 1987): their difference over their mean, %."""

    quantity: str
    unit: str
    right: float
    left: float

    @property
    def index(self) -> float:
        mean = (abs(self.right) + abs(self.left)) / 2
        return 100 * (self.right - self.left) / mean if mean else 0.0


def symmetry_of(trials: Sequence[PersonTrial]) -> list[Symmetry]:
    """Strides and the ranges of the legs' angles and moments, right beside left."""
    found, strides = [], strides_of(trials)
    sides = {side: [one for one in strides if one.side == side] for side in ("right", "left")}
    if all(sides.values()):
        for name, unit in (("duration", "s"), ("length", "m"), ("stance", ""), ("positive_work", "J/kg")):
            right, left = (float(np.mean([getattr(one, name) for one in sides[side]])) for side in ("right", "left"))
            found.append(Symmetry(f"stride {name.replace('_', ' ')}", unit, right, left))
    for curve in cycle_curves(trials):
        if curve.coordinate.startswith(("r_hip_flexion", "r_knee", "r_ankle_flexion")) and curve.quantity != "power":
            other = cycle_curve(trials, "l_" + curve.coordinate[2:], curve.quantity)
            if other is not None:
                name = f"range of {curve.coordinate[2:].replace('_', ' ')} {curve.quantity}"
                found.append(Symmetry(name, curve.unit, float(np.ptp(curve.mean)), float(np.ptp(other.mean))))
    return found


def write_cycles(path: Path, trials: Sequence[PersonTrial]) -> None:
    """Mean and standard deviation of every curve by percent of the cycle, with units in the headings (CSV)."""
    curves = cycle_curves(trials)
    if not curves:
        raise RecordingError("no foot makes a whole cycle in these trials: there is nothing to write by cycles.")
    columns = {"cycle [%]": PERCENT}
    for curve in curves:
        columns[f"{curve.heading} mean [{curve.unit}]"] = curve.mean
        columns[f"{curve.heading} sd [{curve.unit}]"] = curve.deviation
    _write_csv(path, list(columns), zip(*columns.values(), strict=True))


def write_strides(path: Path, trials: Sequence[PersonTrial]) -> None:
    """One row for every cycle of every foot (CSV)."""
    headings = ["trial", "side", "start [s]", "duration [s]", "length [m]", "stance", "positive work [J/kg]",
                "negative work [J/kg]", "speed [m/s]"]  # fmt: skip
    _write_csv(path, headings, ([*vars(one).values(), one.speed] for one in strides_of(trials)))


def _write_csv(path: Path, headings: Sequence[str], rows: Iterator[object] | Sequence[object]) -> None:
    from torseur.edges.plain_text import cell

    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(map(cell, headings))
        for row in rows:
            writer.writerow([cell(x) if isinstance(x, str) else repr(float(x)) for x in row])  # type: ignore[attr-defined]


def read_normal(path: Path) -> dict[str, tuple[Array, Array]]:
    """Usual curves by "knee_flexion angle": mean and standard deviation over a cycle, from a file like `--cycles`.

    Columns are `cycle [%]`, `knee_flexion angle mean [deg]` and `knee_flexion angle sd [deg]`; a side may stand before.
    """
    if not path.is_file():
        raise RecordingError(f"there is no file '{path}' with usual curves.")
    with path.open(newline="", encoding="utf-8") as stream:
        headings, *rows = list(csv.reader(stream)) or [[]]
    try:
        table = np.array([[float(x) for x in row] for row in rows if row])
    except ValueError as problem:
        raise RecordingError(f"'{path}': {problem}; every column holds numbers.") from problem
    names = [heading.partition(" [")[0] for heading in headings]
    if table.ndim != 2 or table.shape[1] != len(names) or "cycle" not in names:
        raise RecordingError(
            f"'{path}': usual curves have a column 'cycle [%]' and as many numbers as headings in a row."
        )
    percent, found = table[:, names.index("cycle")], {}
    for name in names:
        if name.endswith(" mean"):
            spread = name.removesuffix("mean") + "sd"
            deviation = table[:, names.index(spread)] if spread in names else np.zeros(len(table))
            pair = tuple(np.interp(PERCENT, percent, column) for column in (table[:, names.index(name)], deviation))
            key = name.removesuffix(" mean")
            found[key[2:] if key[:2] in _FOOT else key] = pair
    if not found:
        raise RecordingError(f"'{path}': no column ends with 'mean', such as 'knee_flexion angle mean [deg]'.")
    return {key: (pair[0], pair[1]) for key, pair in found.items()}
