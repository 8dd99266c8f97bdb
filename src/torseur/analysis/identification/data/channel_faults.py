"""Faults of recorded channels, each named with its channel, its place and what to do: nothing is repaired."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from torseur.algebra.arrays import Array, Mask, Slots
from torseur.analysis.identification.data.differentiation import Derivatives
from torseur.errors import IdentificationError

_LEVEL = 1e-9  # part of a channel's range within which values count as equal
_LONGEST_PLATEAU = 4
_REFUSE = ("refuse", "leave_out")


@dataclass(frozen=True)
class Treatment:
    """What may be done to recorded channels; by default nothing.

    gaps        "refuse" samples that are not numbers, or "leave_out"
    saturation  "refuse" channels that stay at their own limits, "leave_out" those samples, or "keep" them
    derivatives how speeds and accelerations come from coordinates where they are not recorded
    """

    gaps: str = "refuse"
    saturation: str = "refuse"
    derivatives: Derivatives = field(default_factory=lambda: Derivatives("cross_validated"))

    def __post_init__(self) -> None:
        for kind, how, known in (("gaps", self.gaps, _REFUSE), ("saturation", self.saturation, (*_REFUSE, "keep"))):
            if how not in known:
                raise IdentificationError(f"treatment of {kind}: {' or '.join(map(repr, known))}, not '{how}'.")


@dataclass(frozen=True, eq=False)
class UsableSamples:
    """Samples that may be used, of each channel and of all together, and what is said of those left out."""

    channels: Mapping[str, Mask]
    kept: Mask
    notes: tuple[str, ...]


def usable_samples(name: str, time: Array, channels: Mapping[str, Array], how: Treatment) -> UsableSamples:
    """Which samples may be used, and what was left out."""
    _check_time(name, time)
    good: dict[str, Mask] = {}
    notes: list[str] = []
    for channel, values in channels.items():
        if np.shape(values) != np.shape(time):
            raise IdentificationError(
                f"trial '{name}': channel '{channel}' has {np.size(values)} samples, time has {len(time)}."
            )
        missing = ~np.isfinite(values)
        notes += _omission_notes(missing, name, time, f"channel '{channel}' is not a number", how.gaps)
        held = saturation_mask(np.where(missing, np.nan, values)) & (how.saturation != "keep")
        words = f"channel '{channel}' stays at its limit, as if saturated,"
        notes += _omission_notes(held, name, time, words, how.saturation)
        good[channel] = ~(missing | held)
    notes += (
        [f"trial '{name}': nothing was recorded {words}." for words in _pause_texts(time)]
        if how.gaps != "refuse"
        else []
    )
    kept = np.logical_and.reduce([np.ones(len(time), dtype=bool), *good.values()])
    if not kept.any():
        raise IdentificationError(f"trial '{name}': no sample is left.")
    return UsableSamples(good, kept, tuple(notes))


def pause_mask(time: Array) -> Mask:
    """Samples after which nothing was recorded for longer than usual."""
    steps = np.diff(time)
    return np.append(steps > 1.5 * np.median(steps), False)


def _pause_texts(time: Array) -> list[str]:
    return [f"between t = {time[k]:.6g} s and {time[k + 1]:.6g} s" for k in np.flatnonzero(pause_mask(time))]


def _omission_notes(bad: Mask, name: str, time: Array, what: str, how: str) -> list[str]:
    """Says which samples are left out, or refuses them."""
    if not bad.any():
        return []
    first, count = int(np.argmax(bad)), int(bad.sum())
    where = f"trial '{name}': {what} at {count} of {len(time)} samples, the first at t = {time[first]:.6g} s"
    if how == "refuse":
        raise IdentificationError(f"{where}. Record again, or ask for these samples to be left out.")
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


def saturation_mask(values: Array) -> Mask:
    """Samples where a channel rests exactly at its largest or smallest value, while it moves elsewhere."""
    mask = np.zeros(len(values), dtype=bool)
    good = np.isfinite(values)
    if good.sum() < 20:
        return mask
    low, high = float(np.min(values[good])), float(np.max(values[good]))
    # A channel that never moves is constant, not saturated.
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        return mask
    for limit in (low, high):
        at = good & (np.abs(values - limit) <= _LEVEL * (high - low))
        # A coarse sensor has plateaus everywhere: one at the limit is saturation only if it is far longer.
        other = _longest_run((np.diff(values) == 0) & ~at[1:] & ~at[:-1]) + 1
        long = [run for run in runs(at) if len(run) >= max(_LONGEST_PLATEAU, 3 * other)]
        if any(_arrives_at_speed(values, run) for run in long):
            mask |= at
    return mask


def _arrives_at_speed(values: Array, run: Slots) -> bool:
    """Whether a channel arrives at a plateau at speed, unlike one that comes to rest."""
    steps = np.abs(np.diff(values))
    usual = float(np.median(steps[steps > 0])) if np.any(steps > 0) else 0.0
    edges = [steps[run[0] - 1]] if run[0] > 0 else []
    edges += [steps[run[-1]]] if run[-1] < len(steps) else []
    return bool(edges) and max(edges) > 0.25 * usual


def _longest_run(flags: Mask) -> int:
    return max((len(run) for run in runs(flags)), default=0)


def runs(flags: Mask, breaks: Mask | None = None) -> list[Slots]:
    """Places of consecutive samples that are flagged; `breaks` end a run after them."""
    places = np.flatnonzero(flags)
    ends = np.diff(places) > 1
    if breaks is not None:
        ends = ends | breaks[places[:-1]]
    return [r for r in np.split(places, np.flatnonzero(ends) + 1) if len(r)]


def check_rates(name: str, time: Array, channels: Mapping[str, Array], recorded: Sequence[str]) -> None:
    """Refuses a recorded speed or acceleration that is the rate of what it should be times a constant: wrong units."""
    for c in recorded:
        for lower, upper in ((c, f"{c}'"), (f"{c}'", f"{c}''")):
            if lower not in channels or upper not in channels or len(time) < 10:
                continue
            # Like the rate but of another size or sign: no noise, but units. Differences at the ends are one-sided.
            rate, given = np.gradient(channels[lower], time)[2:-2], channels[upper][2:-2]
            good = np.isfinite(rate) & np.isfinite(given)
            square = float(rate[good] @ rate[good]) * float(given[good] @ given[good])
            alike = float(rate[good] @ given[good]) / np.sqrt(square) if square > 0 else 0.0
            factor = float(np.linalg.norm(given[good])) / max(float(np.linalg.norm(rate[good])), 1e-300)
            # Cosine of the angle between both as vectors of samples: units change lengths, not directions.
            if abs(alike) > 0.9 and (alike < 0 or not 1 / 3 < factor < 3):
                sign = "-" if alike < 0 else ""
                raise IdentificationError(
                    f"trial '{name}': '{upper}' is {sign}{factor:.4g} times the rate of '{lower}'. Wrong units? "
                    "(57.3 is degrees for radians, 1000 is milli.)"
                )
