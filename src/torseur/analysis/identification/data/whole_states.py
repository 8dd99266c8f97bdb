"""Whole states of a mechanism from what was recorded of its motion.

Rates of quaternions and the like become speeds; coordinates that were not recorded follow from the loops or, where
only rolling ties them, by integrating along the motion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.analysis.identification.model.constraint_projector import Projector, least_norm, null_space, ranks
from torseur.analysis.identification.model.coordinate_rates import CoordinateRates
from torseur.derivation.loops.mobility.partition import independent_rows
from torseur.errors import IdentificationError

_STEPS = 20


@dataclass(frozen=True, eq=False)
class RecordedStates:
    """What was recorded, one row per sample and zero where nothing was.

    coordinates  slots of coordinates in `q`; `rated` are those whose q' and q'' are in `rates` and `second`
    speeds       slots of speeds that were recorded themselves, with their rates: `v` and `vdot`
    """

    time: Array
    q: Array
    rates: Array
    second: Array
    v: Array
    vdot: Array
    coordinates: tuple[int, ...]
    rated: tuple[int, ...]
    speeds: tuple[int, ...]

    def part(self, chosen: Mask) -> RecordedStates:
        """Some of the samples."""
        return replace(self, **{n: getattr(self, n)[chosen] for n in ("time", "q", "rates", "second", "v", "vdot")})

    def states(self, model_rates: CoordinateRates) -> tuple[Array, Array, Array]:
        """q, v and v̇ where every joint was recorded."""
        v, vdot = model_rates.speeds_of(self.time, self.q, self.rates, self.second)
        v, vdot = v.copy(), vdot.copy()
        taken = [] if model_rates.are_speeds else list(self.speeds)
        v[:, taken], vdot[:, taken] = self.v[:, taken], self.vdot[:, taken]
        return self.q, v, vdot


@dataclass(frozen=True, eq=False)
class Completion:
    """The way from recorded coordinates to whole states on the constraints."""

    projector: Projector
    recorded: RecordedStates

    def states(self, near: Array | None = None, steps: int = 1) -> tuple[Array, Array, Array]:
        """q, v and v̇ at every sample; loops are closed from `near` in some steps, or from the description's branch."""
        given, rates, projector = self.recorded, self.projector.rates, self.projector
        q = self._along() if near is None else self._closed_near(near, steps)
        projector.require_closed(given.time, q)
        here = projector.at(given.time, q)
        # [ C          ]       [ -drift          ]
        # [ E, rated   ] v  =  [ q' - n          ]    and with v̇ the same rows, γ and q'' - bias and v̇ to the right
        # [ 1, spoken  ]       [ recorded speeds ]
        rows = self._rows(here.matrix, rates.at(given.time, q).matrix)
        v = least_norm(rows, self._right(-here.drift, given.rates - rates.at(given.time, q).drift, given.v))
        moving, turning = projector.at(given.time, q, v), rates.at(given.time, q, v)
        vdot = least_norm(rows, self._right(moving.gamma, given.second - turning.bias, given.vdot))
        return q, v, vdot

    def _along(self) -> Array:
        return self._integrate_rolling() if self.rolls else self._follow_loops()

    @cached_property
    def rolls(self) -> bool:
        """Whether some coordinates follow from rolling alone; refused where nothing determines the motion."""
        now = self.projector.at(self.recorded.time[:1], self._start)
        E = self.projector.rates.at(self.recorded.time[:1], self._start).matrix
        rows = self._rows(now.matrix, E)
        count = rows.shape[2]
        if ranks(rows)[0] < count:
            self._refuse_open(rows, null_space(now.matrix).shape[2])
        places = np.concatenate(
            [now.matrix[:, self.projector.holonomic], E[:, list(self.recorded.coordinates)]], axis=1
        )
        return bool(ranks(places)[0] < count)

    def _refuse_open(self, rows: Array, freedoms: int) -> None:
        names = self.projector.model.equations.layout.speed_names
        missing = [names[k].removesuffix("'") for k in independent_rows(null_space(rows)[0])]
        raise IdentificationError(
            f"{len(self.recorded.coordinates)} coordinates are recorded and the constraints leave {freedoms} free: "
            f"record also {', '.join(missing)}, or all coordinates."
        )

    def _rows(self, C: Array, E: Array) -> Array:
        """What determines the speeds: constraints, recorded rates and recorded speeds."""
        own = np.broadcast_to(
            np.eye(C.shape[2])[list(self.recorded.speeds)], (len(C), len(self.recorded.speeds), C.shape[2])
        )
        return np.concatenate([C, E[:, list(self.recorded.rated)], own], axis=1)

    def _right(self, constraints: Array, rates: Array, speeds: Array) -> Array:
        return np.hstack([constraints, rates[:, list(self.recorded.rated)], speeds[:, list(self.recorded.speeds)]])

    @cached_property
    def _start(self) -> Array:
        """A closed configuration with the known coordinates of the first sample, on the description's branch."""
        known, target = list(self.recorded.coordinates), self.recorded.q[:1]
        start = self.projector.assembled_coordinates[None, :].copy()
        for slots in self.projector.rates.quaternions:  # q and -q are the same rotation: the recorded sign stays
            if set(slots) <= set(known) and float(start[0, slots] @ target[0, slots]) < 0:
                start[:, slots] *= -1
        # Small steps keep the branch the description begins on.
        # The last 1/left of the way each time: steps of equal length.
        for left in range(_STEPS, 0, -1):
            guess = start.copy()
            guess[:, known] += (target[:, known] - guess[:, known]) / left
            start = self.projector.close(self.recorded.time[:1], self.projector.rates.unit(guess), tuple(known))
        return start

    def _follow_loops(self) -> Array:
        """Coordinates closed one sample after the other, each from where the last was, so that the branch is kept."""
        given, known = self.recorded, list(self.recorded.coordinates)
        place, places = self._start, []
        for k in range(len(given.time)):
            guess = place.copy()
            guess[:, known] = given.q[k, known]
            place = self.projector.close(given.time[k : k + 1], guess, given.coordinates)
            places.append(place[0])
        return np.array(places)

    def _closed_near(self, places: Array, steps: int) -> Array:
        """All samples closed at once, led in steps from places on the right branch."""
        known, target = list(self.recorded.coordinates), self.recorded.q
        for left in range(steps, 0, -1):
            guess = places.copy()
            guess[:, known] += (target[:, known] - guess[:, known]) / left
            places = self.projector.close(self.recorded.time, guess, self.recorded.coordinates)
            self.projector.require_closed(self.recorded.time, places)
        return places

    def _integrate_rolling(self) -> Array:
        """Coordinates integrated from the description's initial ones by the Runge-Kutta method of order four.

        Between samples, recorded coordinates are quintic polynomials and recorded speeds cubic ones.
        """
        given, known = self.recorded, list(self.recorded.coordinates)
        middles, place, places = _midpoints(given), self._start, [self._start[0]]
        for k in range(len(given.time) - 1):
            h = float(given.time[k + 1] - given.time[k])
            k1 = self._rates_at(given, k, place)
            k2 = self._rates_at(middles, k, place + h / 2 * k1)
            k3 = self._rates_at(middles, k, place + h / 2 * k2)
            k4 = self._rates_at(given, k + 1, place + h * k3)
            place = self.projector.rates.unit(place + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
            place[:, known] = given.q[k + 1, known]
            place = self.projector.close(given.time[k + 1 : k + 2], place, given.coordinates)
            places.append(place[0])
        return np.array(places)

    def _rates_at(self, at: RecordedStates, k: int, place: Array) -> Array:
        """q' at one place, with what was recorded for sample k."""
        time, q = at.time[k : k + 1], place.copy()
        q[:, list(at.coordinates)] = at.q[k, list(at.coordinates)]
        here, E = self.projector.at(time, q), self.projector.rates.at(time, q)
        right = self._right(-here.drift, at.rates[k : k + 1] - E.drift, at.v[k : k + 1])
        v = least_norm(self._rows(here.matrix, E.matrix), right)
        return np.einsum("tij,tj->ti", E.matrix, v) + E.drift


def _midpoints(given: RecordedStates) -> RecordedStates:
    """What was recorded, half-way between the samples, from values and derivatives at both ends."""
    h = np.diff(given.time)[:, None]
    first, last = slice(None, -1), slice(1, None)
    q, r, s, v, a = given.q, given.rates, given.second, given.v, given.vdot
    return RecordedStates(
        time=given.time[first] + h[:, 0] / 2,
        # Hermite's interpolation at the middle, quintic from q, q', q'' and cubic from v, v̇ at both ends.
        q=(q[first] + q[last]) / 2 + 5 * h / 32 * (r[first] - r[last]) + h**2 / 64 * (s[first] + s[last]),
        rates=15 / 8 * (q[last] - q[first]) / h - 7 / 16 * (r[first] + r[last]) + h / 32 * (s[last] - s[first]),
        second=(s[first] + s[last]) / 2,
        v=(v[first] + v[last]) / 2 + h / 8 * (a[first] - a[last]),
        vdot=(a[first] + a[last]) / 2,
        coordinates=given.coordinates,
        rated=given.rated,
        speeds=given.speeds,
    )
