"""Trials: recorded motion and forces of a mechanism, checked and in SI.

Nothing is repaired in silence: samples with gaps or saturated channels are refused, or left out on request and counted
in the trial's notes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from torseur.errors import IdentificationError, unknown_name
from torseur.identification.arrays import Array, Mask, Slots
from torseur.identification.differentiation import Derivatives
from torseur.identification.linear_model import LinearModel
from torseur.identification.projector import Projector

_LEVEL = 1e-9  # part of a channel's range within which values count as equal
_LONGEST_PLATEAU = 4


@dataclass(frozen=True, eq=False)
class Trial:
    """One recording: time (s), coordinates, speeds, accelerations and forces (SI), one row per sample.

    `measured` tells which columns of `tau` were recorded; the others are zero and count as passive only where loops
    need them. `payload` names the load carried in this trial.
    """

    name: str
    time: Array
    q: Array
    v: Array
    vdot: Array
    tau: Array
    measured: tuple[bool, ...]
    payload: str | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.time)

    def part(self, chosen: slice | Array | Mask) -> Trial:
        """Some of the samples."""
        fields = {name: getattr(self, name)[chosen] for name in ("time", "q", "v", "vdot", "tau")}
        return replace(self, **fields)


@dataclass(frozen=True)
class Treatment:
    """What may be done to recorded channels; by default nothing.

    gaps        "refuse" samples that are not numbers, or "leave_out"
    saturation  "refuse" channels that stay at their own limits, "leave_out" those samples, or "keep" them
    derivatives how speeds and accelerations come from coordinates where they are not recorded
    """

    gaps: str = "refuse"
    saturation: str = "refuse"
    derivatives: Derivatives = field(default_factory=Derivatives)


def make_trial(
    model: LinearModel,
    time: Array,
    channels: Mapping[str, Array],
    forces: Mapping[str, Array],
    *,
    name: str = "trial",
    payload: str | None = None,
    treatment: Treatment | None = None,
) -> Trial:
    """A trial from channels by name (`q1`, `q1'`, `q1''`) and forces by coordinate, all in SI.

    Speeds and accelerations that are not among the channels come from the coordinates. Coordinates that are not
    recorded follow from the loops.
    """
    others = {f"force on {k}": x for k, x in forces.items()}
    motion, kept = recorded_motion(model, time, channels, others, name, treatment or Treatment())
    tau, measured = _forces(model, name, len(time), forces)
    _check_payload(model, name, payload)
    whole = replace(motion, tau=tau, measured=measured, payload=payload)
    return whole if kept.all() else whole.part(kept)


def recorded_motion(
    model: LinearModel,
    time: Array,
    channels: Mapping[str, Array],
    others: Mapping[str, Array],
    name: str,
    how: Treatment,
) -> tuple[Trial, Mask]:
    """The motion of a recording, still without forces, and the samples that may be used.

    `others` are channels that were recorded besides the motion: their faults count too.
    """
    layout = model.equations.layout
    known = {*layout.coordinate_names, *layout.speed_names, *(str(a.name) for a in layout.accelerations)}
    for given in channels:
        if given not in known:
            raise IdentificationError(unknown_name("channel", given, sorted(known), f"trial '{name}': "))
    kept, notes = _usable(name, time, {**channels, **others}, how)
    motion = {key: np.asarray(values, dtype=float) for key, values in channels.items()}
    q, v, vdot, more = _states(model, name, time, motion, how.derivatives, kept)
    n = len(layout.speeds)
    whole = Trial(
        name, np.asarray(time, dtype=float), q, v, vdot, np.zeros((len(time), n)), (False,) * n,
        notes=(*notes, *more),
    )  # fmt: skip
    return whole, kept & np.isfinite(np.hstack([q, v, vdot])).all(axis=1)


def _check_payload(model: LinearModel, name: str, payload: str | None) -> None:
    loads = [column.owner for column in model.columns if column.kind == "payload"]
    if payload is not None and payload not in loads:
        raise IdentificationError(unknown_name("payload", payload, dict.fromkeys(loads), f"trial '{name}': "))


def _usable(name: str, time: Array, channels: Mapping[str, Array], how: Treatment) -> tuple[Mask, list[str]]:
    """Which samples may be used, and what was left out."""
    _check_time(name, time)
    kept, notes = np.ones(len(time), dtype=bool), []
    for channel, values in channels.items():
        if np.shape(values) != np.shape(time):
            raise IdentificationError(
                f"trial '{name}': channel '{channel}' has {np.size(values)} samples, time has {len(time)}."
            )
        missing = ~np.isfinite(values)
        notes += _without(kept, missing, name, time, f"channel '{channel}' is not a number", how.gaps)
        held = saturated(np.where(missing, np.nan, values))
        if how.saturation != "keep":
            words = f"channel '{channel}' stays at its limit, as if saturated,"
            notes += _without(kept, held, name, time, words, how.saturation)
    if not kept.any():
        raise IdentificationError(f"trial '{name}': no sample is left.")
    return kept, notes


def _without(kept: Mask, bad: Mask, name: str, time: Array, what: str, how: str) -> list[str]:
    """Leaves out samples, or refuses them."""
    if how not in ("refuse", "leave_out", "keep"):
        raise IdentificationError(f"a treatment is 'refuse', 'leave_out' or 'keep', not '{how}'.")
    if not bad.any():
        return []
    first, count = int(np.argmax(bad)), int(bad.sum())
    where = f"trial '{name}': {what} at {count} of {len(time)} samples, the first at t = {time[first]:.6g} s"
    if how == "refuse":
        raise IdentificationError(f"{where}. Record again, or ask for these samples to be left out.")
    kept &= ~bad
    return [f"{where}; they were left out."]


def _check_time(name: str, time: Array) -> None:
    if np.ndim(time) != 1 or len(time) < 2 or not np.all(np.isfinite(time)):
        raise IdentificationError(f"trial '{name}': time needs at least two samples, all of them numbers.")
    steps = np.diff(time)
    if np.any(steps <= 0):
        late = int(np.argmax(steps <= 0))
        raise IdentificationError(
            f"trial '{name}': time does not increase after t = {time[late]:.6g} s (sample {late})."
        )


def saturated(values: Array) -> Mask:
    """Samples where a channel rests exactly at its largest or smallest value, while it moves elsewhere."""
    found = np.zeros(len(values), dtype=bool)
    good = np.isfinite(values)
    if good.sum() < 20:
        return found
    low, high = float(np.min(values[good])), float(np.max(values[good]))
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        return found
    for limit in (low, high):
        at = good & (np.abs(values - limit) <= _LEVEL * (high - low))
        other = _longest((np.diff(values) == 0) & ~at[1:] & ~at[:-1]) + 1
        long = [run for run in _runs(at) if len(run) >= max(_LONGEST_PLATEAU, 3 * other)]
        if any(_abrupt(values, run) for run in long):
            found |= at
    return found


def _abrupt(values: Array, run: Slots) -> bool:
    """Whether a channel arrives at a plateau at speed, unlike one that comes to rest."""
    steps = np.abs(np.diff(values))
    usual = float(np.median(steps[steps > 0])) if np.any(steps > 0) else 0.0
    edges = [steps[run[0] - 1]] if run[0] > 0 else []
    edges += [steps[run[-1]]] if run[-1] < len(steps) else []
    return bool(edges) and max(edges) > 0.25 * usual


def _longest(flags: Mask) -> int:
    return max((len(run) for run in _runs(flags)), default=0)


def _runs(flags: Mask) -> list[Slots]:
    places = np.flatnonzero(flags)
    return [r for r in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if len(r)]


def _states(
    model: LinearModel, name: str, time: Array, channels: Mapping[str, Array], how: Derivatives, kept: Mask
) -> tuple[Array, Array, Array, list[str]]:
    """q, v, v̇ of every coordinate, from what was recorded."""
    layout = model.equations.layout
    recorded = [c for c in layout.coordinate_names if c in channels]
    notes: list[str] = []
    columns: dict[str, Array] = dict(channels)
    derived = [c for c in recorded if f"{c}'" not in columns or f"{c}''" not in columns]
    if derived:
        if not kept.all():
            raise IdentificationError(
                f"trial '{name}': speeds or accelerations of {', '.join(derived)} are to be derived, which needs a "
                "recording without gaps. Split it into trials, or record them."
            )
        notes.append(f"speeds and accelerations of {', '.join(derived)} by {how.words}")
    _check_rates(name, time, channels, recorded)
    for c in derived:
        speed, acceleration = how.of(time, channels[c])
        columns.setdefault(f"{c}'", speed)
        columns.setdefault(f"{c}''", acceleration)
    missing = [c for c in layout.coordinate_names if c not in recorded]
    if missing and not model.is_constrained:
        raise IdentificationError(f"trial '{name}': coordinate{_s(missing)} {', '.join(missing)} not recorded.")
    return *_assembled(model, time, columns, recorded), notes


def _check_rates(name: str, time: Array, channels: Mapping[str, Array], recorded: list[str]) -> None:
    """Refuses a recorded speed or acceleration that is the rate of what it should be times a constant: wrong units."""
    for c in recorded:
        for lower, upper in ((c, f"{c}'"), (f"{c}'", f"{c}''")):
            if lower not in channels or upper not in channels or len(time) < 10:
                continue
            rate, given = np.gradient(channels[lower], time)[2:-2], channels[upper][2:-2]
            good = np.isfinite(rate) & np.isfinite(given)
            square = float(rate[good] @ rate[good]) * float(given[good] @ given[good])
            alike = float(rate[good] @ given[good]) / np.sqrt(square) if square > 0 else 0.0
            factor = float(np.linalg.norm(given[good])) / max(float(np.linalg.norm(rate[good])), 1e-300)
            if abs(alike) > 0.9 and (alike < 0 or not 1 / 3 < factor < 3):
                sign = "-" if alike < 0 else ""
                raise IdentificationError(
                    f"trial '{name}': '{upper}' is {sign}{factor:.4g} times the rate of '{lower}'. Wrong units? "
                    "(57.3 is degrees for radians, 1000 is milli.)"
                )


def _s(names: list[str]) -> str:
    return "s" if len(names) > 1 else ""


def _assembled(
    model: LinearModel, time: Array, columns: Mapping[str, Array], recorded: list[str]
) -> tuple[Array, Array, Array]:
    layout = model.equations.layout
    zero = np.zeros(len(time))
    accelerations = [str(a.name) for a in layout.accelerations]
    groups = (layout.coordinate_names, layout.speed_names, accelerations)
    q, v, vdot = (np.column_stack([columns.get(name, zero) for name in names]) for names in groups)
    if not model.is_constrained:
        absent = [name for names in groups[1:] for name in names if name not in columns]
        if absent:
            raise IdentificationError(
                f"channels {', '.join(absent)} are needed and cannot be derived from coordinates."
            )
        return q, v, vdot
    projector = Projector.of(model)
    if len(recorded) < len(layout.coordinates):
        known = tuple(layout.coordinate_names.index(c) for c in recorded)
        q, v, vdot = projector.completed(time, q, v, vdot, known)
    else:
        projector.require_closed(time, q, tolerance=1e-3)
    return q, v, vdot


def _forces(model: LinearModel, name: str, count: int, forces: Mapping[str, Array]) -> tuple[Array, tuple[bool, ...]]:
    layout = model.equations.layout
    slots = {speed.removesuffix("'"): k for k, speed in enumerate(layout.speed_names)}
    slots |= {speed: k for k, speed in enumerate(layout.speed_names)}
    tau, measured = np.zeros((count, len(layout.speeds))), [False] * len(layout.speeds)
    for coordinate, values in forces.items():
        if coordinate not in slots:
            names = [speed.removesuffix("'") for speed in layout.speed_names]
            raise IdentificationError(unknown_name("coordinate", coordinate, names, f"trial '{name}', forces: "))
        tau[:, slots[coordinate]] = values
        measured[slots[coordinate]] = True
    if not any(measured):
        raise IdentificationError(f"trial '{name}': no force is recorded.")
    return tau, tuple(measured)
