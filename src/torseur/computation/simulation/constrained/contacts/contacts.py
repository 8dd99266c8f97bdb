"""Contacts that open and close: which are closed, and what happens when one hits or lets go.

An open contact is a constraint that is switched off. At an impact with restitution e, the rates G v of the gaps that
close become -e G v, by impulses along them that leave all other constraints as they are:

    [M Cᵀ; C 0] [δv; μ] = [0; c],   c = 0 for constraints and closed contacts, -(1 + e) G v for those that are hit
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.model.outputs_and_events import Impact
from torseur.computation.simulation.model.system import Vector
from torseur.errors import SimulationError, TorseurError

# Both in units of the gap's own size, see `_sizes_of_gaps`.
THICKNESS = 1e-12  # of the layer in which a contact closes
TOUCHING = 1e-9  # gap that counts as none
ABOVE_ROUNDING = 1e-14
RESTING = 1e-6  # rate of a gap that ends in contact, where a unit move adds 1 m or 1 rad to it
MOST_AT_ONCE = 200  # changes of contacts at one time


@dataclass
class Contacts:
    """The contacts of one motion. `numbers` knows all constraints; contact k is row first + k among them.

    `lasting` is what the lasting constraints usually add, `own` what the contacts add to them; `gap_sizes` are lengths
    or angles by which gaps are judged small, `rest_speeds` their rates that end in contact. `struck` are contacts that
    the motion starts with an impact on. `pushed` are the rows along which the last change had impulses, and
    `rebounding` the restitution of each contact that was hit in it.
    """

    impacts: tuple[Impact, ...]
    numbers: StateNumbers
    lasting: Vector
    own: Vector
    first: int
    closed: set[int]
    gap_sizes: Vector = field(default_factory=lambda: np.ones(0))
    rest_speeds: Vector = field(default_factory=lambda: np.ones(0))
    struck: tuple[int, ...] = ()
    changes: int = 0
    last_time: float = -np.inf
    pushed: tuple[int, ...] = ()
    rebounding: dict[int, float] = field(default_factory=dict)

    @property
    def usual(self) -> Vector:
        """What each constraint usually adds, contacts behind the lasting holonomic ones."""
        return np.concatenate([self.lasting[: self.first], self.own, self.lasting[self.first :]])

    @property
    def sizes(self) -> Vector:
        """Settings of the solver: squares of what each constraint adds, -1 for open contacts."""
        result: Vector = self.usual**2
        for k in range(len(self.impacts)):
            result[self.first + k] = self.usual[self.first + k] ** 2 if k in self.closed else -1.0
        return result

    @property
    def thickness(self) -> Vector:
        """Depth at which each contact closes: far above rounding, far below anything else."""
        return THICKNESS * self.gap_sizes

    def start(self, t: float, y: Vector) -> None:
        """Finds the contacts that are closed or struck at the start; a state inside one is refused."""
        gaps, rates = self._gaps(t, y)
        self.gap_sizes = np.maximum(self._sizes_of_gaps(t, y), np.abs(gaps))
        touching = np.abs(gaps) <= TOUCHING * self.gap_sizes
        for impact, gap, touches in zip(self.impacts, gaps, touching, strict=True):
            if gap < 0.0 and not touches:
                raise TorseurError(
                    f"impact '{impact.name}': the motion starts {-gap:.4g} inside it, with a gap of {gap:.4g}. "
                    "Start where the gap is zero or more."
                )
        self.rest_speeds = self._speeds_of_rest(t, y)
        slow = np.abs(rates) <= self.rest_speeds
        self.closed = {k for k in range(len(gaps)) if touching[k] and slow[k]}
        self.struck = tuple(k for k in range(len(gaps)) if touching[k] and not slow[k] and rates[k] < 0.0)
        self._release_pulling(t, y)

    def _sizes_of_gaps(self, t: float, y: Vector) -> Vector:
        """What each gap is a difference of: its terms by the coordinates, or what a move by the mechanism's size adds.

        Rounding is in proportion to it: a gap at an angle is judged in radians, and one far from the origin by its
        distance from there.
        """
        programs, count = self.numbers.programs, self.numbers.coordinates
        terms = np.abs(self.numbers.of(programs.gap_gradients, t, y)["gradients"]) @ np.abs(y[:count])
        sizes: Vector = np.maximum(terms, self._unit_moves(t, y))
        return sizes

    def _unit_moves(self, t: float, y: Vector) -> Vector:
        """What a move by 1 rad or the size of the mechanism adds to each gap."""
        rows = self.numbers.of(self.numbers.programs.velocities, t, y)["rows"]
        own = rows[self.first : self.first + len(self.impacts)] * self.numbers.scales
        sizes: Vector = np.abs(own).max(axis=1, initial=0.0)
        return sizes

    def _speeds_of_rest(self, t: float, y: Vector) -> Vector:
        """As given, or by size: what falls through a length L arrives with √(2 g L), so speeds go with the root."""
        usual = RESTING * np.sqrt(self._unit_moves(t, y))
        chosen = [impact.rest_speed for impact in self.impacts]
        return np.array([speed if one is None else one for one, speed in zip(chosen, usual, strict=True)])

    def change(self, t: float, y: Vector, fired: Sequence[int]) -> Vector:
        """The state after contacts have hit or let go; which are closed is updated."""
        self._count(t)
        self.pushed, self.rebounding = (), {}
        letting_go = [k for k in fired if k in self.closed]
        self.closed -= set(letting_go)
        gaps, rates = self._gaps(t, y)
        near = gaps <= TOUCHING * self.gap_sizes
        hit = [k for k in range(len(gaps)) if k not in self.closed and near[k] and rates[k] < 0.0]
        hit = [k for k in hit if k in fired or gaps[k] <= self.thickness[k]]
        if not hit:
            return self._above_layer(t, y, [k for k in fired if k not in letting_go])
        return self._rebound(t, y, hit, rates)

    def flight_time(self, t: float, y: Vector) -> float:
        """About how long the shortest of the gaps that are opening stays open; infinite when none closes again."""
        found = self.numbers.of(self.numbers.programs.dynamics, t, y)
        active = [r for r in range(len(self.usual)) if self.usual[r] > 0.0 and not self._is_open(r, {})]
        a, _ = self._solve(t, y, found["rows"][active], found["force"], found["gamma"][active])
        gaps, rates = self._gaps(t, y)
        bending = (found["rows"] @ a - found["gamma"])[self.first : self.first + len(self.impacts)]
        near = np.abs(gaps) <= TOUCHING * self.gap_sizes
        times = [2 * rate / -bend for rate, bend, n in zip(rates, bending, near, strict=True) if n and rate > 0 > bend]
        return min(times, default=np.inf)

    def _count(self, t: float) -> None:
        self.changes = self.changes + 1 if t - self.last_time <= 1e-12 * max(1.0, abs(t)) else 1
        self.last_time = t
        if self.changes > MOST_AT_ONCE:
            names = ", ".join(f"'{impact.name}'" for impact in self.impacts)
            raise SimulationError(f"contacts ({names}) open and close endlessly at t = {t:.9g} s: raise rest_speed.")

    def _rebound(self, t: float, y: Vector, hit: list[int], rates: Vector) -> Vector:
        back = {k: self.impacts[k].restitution * -rates[k] for k in hit}
        staying = [k for k in hit if back[k] < self.rest_speeds[k]]
        wanted = {k: 0.0 if k in staying else back[k] for k in hit}
        self.rebounding = {k: 0.0 if k in staying else self.impacts[k].restitution for k in hit}
        after = self._after_impulses(t, y, {k: wanted[k] - rates[k] for k in hit})
        self.closed |= set(staying)
        self._release_pulling(t, after)
        return after

    def _above_layer(self, t: float, y: Vector, opening: list[int]) -> Vector:
        """The state with contacts that are opening, but have been found closed again, just out of their layer.

        After a slow rebound a gap grows by less than rounding at first, and would be found closed for ever. Lifting all
        that rebound would keep them from coming to rest: what they fall in addition exceeds their rest_speed.
        """
        if not opening:
            return y
        gaps, _ = self._gaps(t, y)
        rows = self.numbers.of(self.numbers.programs.velocities, t, y)["rows"]
        out = {k: (ABOVE_ROUNDING - THICKNESS) * self.gap_sizes[k] - gaps[k] for k in opening}
        active = [r for r in range(len(rows)) if self.usual[r] > 0.0 and not self._is_open(r, out)]
        target = np.array([out.get(r - self.first, 0.0) for r in active])
        move, _ = self._solve(t, y, rows[active], np.zeros(rows.shape[1]), target)
        return self.numbers.moved(t, y, move / self.numbers.scales)

    def _after_impulses(self, t: float, y: Vector, jumps: dict[int, float]) -> Vector:
        """The state after impulses that change gap rates by the given amounts; closed contacts that pull let go."""
        count = self.numbers.coordinates
        rows = self.numbers.of(self.numbers.programs.velocities, t, y)["rows"]
        while True:
            active = [r for r in range(len(rows)) if self.usual[r] > 0.0 and not self._is_open(r, jumps)]
            target = np.array([jumps.get(r - self.first, 0.0) for r in active])
            change, impulses = self._solve(t, y, rows[active], np.zeros(rows.shape[1]), target)
            pulling = self._closed_among(active, impulses) - jumps.keys()
            if not pulling:
                break
            self.closed -= pulling
        self.pushed = tuple(active)
        after = y.copy()
        after[count:] += change
        return after

    def _closed_among(self, rows: Sequence[int], multipliers: Vector) -> set[int]:
        """Closed contacts whose multiplier means that they pull."""
        pairs = zip(rows, multipliers, strict=True)
        return {row - self.first for row, value in pairs if value > 0.0} & self.closed

    def _is_open(self, row: int, jumps: dict[int, float]) -> bool:
        contact = row - self.first
        return 0 <= contact < len(self.impacts) and contact not in self.closed and contact not in jumps

    def _release_pulling(self, t: float, y: Vector) -> None:
        """Opens closed contacts that would have to pull, the strongest first."""
        while self.closed:
            found = self.numbers.of(self.numbers.programs.dynamics, t, y)
            active = [r for r in range(len(self.usual)) if self.usual[r] > 0.0 and not self._is_open(r, {})]
            _, multipliers = self._solve(t, y, found["rows"][active], found["force"], found["gamma"][active])
            pulling = self._closed_among(active, multipliers)
            if not pulling:
                return
            values = dict(zip(active, multipliers, strict=True))
            self.closed.remove(max(pulling, key=lambda k: values[self.first + k]))

    def _solve(self, t: float, y: Vector, rows: Vector, force: Vector, target: Vector) -> tuple[Vector, Vector]:
        lower = self.numbers.of(self.numbers.programs.positions, t, y)["mass"]
        mass = lower + np.tril(lower, -1).T
        system = np.block([[mass, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
        answer = np.linalg.lstsq(system, np.concatenate([force, target]), rcond=1e-13)[0]
        return answer[: len(mass)], answer[len(mass) :]

    def _gaps(self, t: float, y: Vector) -> tuple[Vector, Vector]:
        found = self.numbers.of(self.numbers.programs.velocities, t, y)
        own = slice(self.first, self.first + len(self.impacts))
        return found["phi"][own], (found["rows"] @ y[self.numbers.coordinates :] + found["drift"])[own]
