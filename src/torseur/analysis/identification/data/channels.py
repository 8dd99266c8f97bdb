"""From channels by name to the coordinates, rates and speeds they stand for; what is missing is differentiated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array, Mask, Slots
from torseur.algebra.graph import as_expr
from torseur.analysis.identification.data.channel_faults import Treatment, UsableSamples, check_rates, pause_mask, runs
from torseur.analysis.identification.data.differentiation import Derivatives
from torseur.analysis.identification.data.whole_states import RecordedStates
from torseur.analysis.identification.model.coordinate_rates import CoordinateRates
from torseur.analysis.identification.model.linear_model import LinearModel
from torseur.derivation.tree import Link
from torseur.errors import IdentificationError

_LENGTH = 0.05  # how far from one a recorded quaternion's length may be


def channel_names(model: LinearModel) -> list[str]:
    """Names of coordinates with first and second rates, and of speeds with their rates."""
    layout = model.equations.layout
    rates = [f"{c}{dots}" for c in layout.coordinate_names for dots in ("", "'", "''")]
    return list(dict.fromkeys([*rates, *layout.speed_names, *(str(a.name) for a in layout.accelerations)]))


@dataclass(frozen=True, eq=False)
class _ChannelDerivatives:
    """Derivatives of channels within their runs of usable samples; `kept` loses the samples that have none.

    At the ends of a run derivatives are extrapolated: residuals there are many times those inside.
    """

    name: str
    time: Array
    channels: Mapping[str, Array]
    good: UsableSamples
    how: Derivatives
    gaps: str
    kept: Mask

    def derivatives(self, channel: str) -> tuple[Array, Array]:
        """First and second derivative of a channel, run by run."""
        if self.how.method == "fourier" and not self.good.channels[channel].all():
            raise IdentificationError(
                f"trial '{self.name}': '{channel}' has gaps, and a Fourier series needs the whole period. "
                "Take derivatives = 'savitzky_golay' or 'spline'."
            )
        first, second = np.full((2, len(self.time)), np.nan)
        breaks = pause_mask(self.time) if self.gaps == "leave_out" else None
        for run in runs(self.good.channels[channel], breaks):
            if len(run) < self.how.least_samples:
                continue
            one, two = self._differentiate(channel, run)
            # Long runs lose their ends: derivatives there come from one side, with residuals many times those inside.
            inner = run[self._inside(len(run))]
            first[inner], second[inner] = one[self._inside(len(run))], two[self._inside(len(run))]
        # A sample without a derivative is lost for the whole trial: equations need all channels at once.
        self.kept[~np.isfinite(first)] = False
        if not self.kept.any():
            raise IdentificationError(
                f"trial '{self.name}': between its gaps, '{channel}' has no {self.how.least_samples} samples in a row "
                f"to differentiate by {self.how.words}. Choose another method, or record speeds and accelerations."
            )
        return first, second

    def _inside(self, count: int) -> slice:
        """Samples of a run but for its ends, where it is long enough to do without them."""
        margin = self.how.margin if count > 4 * self.how.margin else 0
        return slice(margin, count - margin)

    def _differentiate(self, channel: str, run: Slots) -> tuple[Array, Array]:
        try:
            return self.how.of(self.time[run], self.channels[channel][run])
        except IdentificationError as problem:
            raise IdentificationError(f"trial '{self.name}', channel '{channel}': {problem}") from problem

    def rates_of(self, channel: str) -> tuple[Array, Array]:
        """First and second rate of a channel, recorded or differentiated from the highest one recorded."""
        first, second = (self.channels.get(f"{channel}{dots}") for dots in ("'", "''"))
        if first is not None and second is not None:
            return first, second
        if first is not None:
            return first, self.derivatives(f"{channel}'")[0]
        one, two = self.derivatives(channel)
        return one, two if second is None else second

    def missing(self, channels: Sequence[str]) -> list[str]:
        return [c for c in channels if not {f"{c}'", f"{c}''"} <= self.channels.keys()]


def states_from_channels(
    model: LinearModel, name: str, time: Array, channels: Mapping[str, Array], treatment: Treatment, good: UsableSamples
) -> tuple[RecordedStates, Mask, list[str]]:
    """What channels tell of the motion at the samples that are left, which those are, and what is to be said."""
    layout = model.equations.layout
    names, speeds = layout.coordinate_names, layout.speed_names
    count, notes = len(time), list[str]()
    how = treatment.derivatives
    work = _ChannelDerivatives(name, time, channels, good, how, treatment.gaps, good.kept.copy())
    q, rates, second = (np.zeros((count, len(names))) for _ in range(3))
    v, vdot = np.zeros((count, len(speeds))), np.zeros((count, len(speeds)))
    coordinates = [k for k, c in enumerate(names) if c in channels]
    check_rates(name, time, channels, [names[k] for k in coordinates])
    # Per joint: speeds that were recorded themselves win over rates of coordinates, if all of the joint are there.
    spoken = [s for link in model.equations.tree.links for s in _own_speeds(link, channels)]
    rated = [k for link in model.equations.tree.links for k in _coordinates_with_rates(link, names, channels)]
    for k in coordinates:
        q[:, k] = channels[names[k]]
    derived = work.missing([names[k] for k in rated])
    if derived:
        notes.append(f"speeds and accelerations of {', '.join(derived)} by {how.words}")
    for k in rated:
        rates[:, k], second[:, k] = work.rates_of(names[k])
    for speed in spoken:
        k = speeds.index(speed)
        v[:, k] = channels[speed]
        vdot[:, k] = channels[f"{speed}'"] if f"{speed}'" in channels else work.derivatives(speed)[0]
    if lost := int((good.kept & ~work.kept).sum()):
        notes.append(f"{lost} samples beside ends and gaps were left out, where derivatives would be extrapolated")
    q, said = _normalise_quaternions(CoordinateRates(model), name, q, coordinates)
    slots = tuple(coordinates), tuple(rated), tuple(speeds.index(speed) for speed in spoken)
    whole = RecordedStates(np.asarray(time, dtype=float), q, rates, second, v, vdot, *slots)
    return whole.part(work.kept), work.kept, [*notes, *said]


def _own_speeds(link: Link, channels: Mapping[str, Array]) -> list[str]:
    """Speeds of a joint that are no rates of coordinates, where all of them were recorded."""
    plain = {as_expr(rate) for rate in link.motion.rates}
    own = [str(v.name) for v in link.symbols.speeds if v not in plain]
    return own if all(name in channels for name in own) else []


def _coordinates_with_rates(link: Link, names: Sequence[str], channels: Mapping[str, Array]) -> list[int]:
    """Recorded coordinates of a joint whose rates tell its speeds."""
    speeds, direct = set(link.symbols.speeds), bool(_own_speeds(link, channels))
    pairs = zip(link.symbols.coordinates, link.motion.rates, strict=True)
    wanted = [str(q.name) for q, rate in pairs if as_expr(rate) in speeds or not direct]
    return [names.index(c) for c in wanted if c in channels]


def _normalise_quaternions(
    rates: CoordinateRates, name: str, q: Array, recorded: Sequence[int]
) -> tuple[Array, list[str]]:
    """Coordinates with recorded quaternions at length one; refused where they are no rotations."""
    result, notes = q.copy(), []
    for slots in rates.quaternions:
        if not set(slots) <= set(recorded):
            continue
        lengths = np.linalg.norm(q[:, slots], axis=1)
        off = np.abs(lengths - 1)
        words = ", ".join(rates.model.equations.layout.coordinate_names[k] for k in slots)
        if np.nanmax(off) > _LENGTH:
            worst = int(np.nanargmax(off))
            raise IdentificationError(
                f"trial '{name}': the quaternion ({words}) has the length {lengths[worst]:.4g}, not 1, "
                f"at sample {worst}."
            )
        if np.nanmax(off) > 1e-9:
            notes.append(f"the quaternion ({words}) was brought to length one (it was off by {np.nanmax(off):.2g})")
            result[:, slots] = q[:, slots] / lengths[:, None]
    return result, notes
