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

THICKNESS = 1e-12  # of the layer in which a contact closes, in units of the mechanism
TOUCHING = 1e-9  # gap in units of the mechanism that counts as none when a motion starts
MOST_AT_ONCE = 200  # changes of contacts at one time


@dataclass
class Contacts:
    """The contacts of one motion. `numbers` knows all constraints; contact k is row first + k among them.

    `lasting` is what the lasting constraints usually add, `own` what the contacts add to them. `pushed` are the rows
    along which the last change had impulses, and `rebounding` the restitution of each contact that was hit in it.
    """

    impacts: tuple[Impact, ...]
    numbers: StateNumbers
    lasting: Vector
    own: Vector
    first: int
    closed: set[int]
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

    def start(self, t: float, y: Vector) -> None:
        """Finds the contacts that are closed at the start; a state inside one is refused."""
        gaps, rates = self._gaps(t, y)
        for impact, gap in zip(self.impacts, gaps, strict=True):
            if gap < -TOUCHING * self.numbers.length:
                raise TorseurError(f"impact '{impact.name}': the motion starts with a gap of {gap:.4g}, inside it.")
        touching = np.abs(gaps) <= TOUCHING * self.numbers.length
        slow = [abs(rate) <= impact.rest_speed for impact, rate in zip(self.impacts, rates, strict=True)]
        self.closed = {k for k in range(len(gaps)) if touching[k] and slow[k]}
        self._release_pulling(t, y)

    def change(self, t: float, y: Vector, fired: Sequence[int]) -> Vector:
        """The state after contacts have hit or let go; which are closed is updated."""
        self._count(t)
        self.pushed, self.rebounding = (), {}
        letting_go = [k for k in fired if k in self.closed]
        self.closed -= set(letting_go)
        gaps, rates = self._gaps(t, y)
        near = gaps <= TOUCHING * self.numbers.length
        hit = [k for k in range(len(gaps)) if k not in self.closed and near[k] and rates[k] < 0.0]
        hit = [k for k in hit if k in fired or gaps[k] <= THICKNESS * self.numbers.length]
        if not hit:
            return y
        return self._rebound(t, y, hit, rates)

    def flight_time(self, t: float, y: Vector) -> float:
        """About how long the shortest of the gaps that are opening stays open; infinite when none closes again."""
        found = self.numbers.of(self.numbers.programs.dynamics, t, y)
        active = [r for r in range(len(self.usual)) if self.usual[r] > 0.0 and not self._is_open(r, {})]
        a, _ = self._solved(t, y, found["rows"][active], found["force"], found["gamma"][active])
        gaps, rates = self._gaps(t, y)
        bending = (found["rows"] @ a - found["gamma"])[self.first : self.first + len(self.impacts)]
        near = np.abs(gaps) <= TOUCHING * self.numbers.length
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
        staying = [k for k in hit if back[k] < self.impacts[k].rest_speed]
        wanted = {k: 0.0 if k in staying else back[k] for k in hit}
        self.rebounding = {k: 0.0 if k in staying else self.impacts[k].restitution for k in hit}
        after = self._pushed(t, y, {k: wanted[k] - rates[k] for k in hit})
        self.closed |= set(staying)
        self._release_pulling(t, after)
        return after

    def _pushed(self, t: float, y: Vector, jumps: dict[int, float]) -> Vector:
        """The state after impulses that change gap rates by the given amounts; closed contacts that pull let go."""
        count = self.numbers.coordinates
        rows = self.numbers.of(self.numbers.programs.velocities, t, y)["rows"]
        while True:
            active = [r for r in range(len(rows)) if self.usual[r] > 0.0 and not self._is_open(r, jumps)]
            target = np.array([jumps.get(r - self.first, 0.0) for r in active])
            change, impulses = self._solved(t, y, rows[active], np.zeros(rows.shape[1]), target)
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
            _, multipliers = self._solved(t, y, found["rows"][active], found["force"], found["gamma"][active])
            pulling = self._closed_among(active, multipliers)
            if not pulling:
                return
            values = dict(zip(active, multipliers, strict=True))
            self.closed.remove(max(pulling, key=lambda k: values[self.first + k]))

    def _solved(self, t: float, y: Vector, rows: Vector, force: Vector, target: Vector) -> tuple[Vector, Vector]:
        lower = self.numbers.of(self.numbers.programs.positions, t, y)["mass"]
        mass = lower + np.tril(lower, -1).T
        system = np.block([[mass, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
        answer = np.linalg.lstsq(system, np.concatenate([force, target]), rcond=1e-13)[0]
        return answer[: len(mass)], answer[len(mass) :]

    def _gaps(self, t: float, y: Vector) -> tuple[Vector, Vector]:
        found = self.numbers.of(self.numbers.programs.velocities, t, y)
        own = slice(self.first, self.first + len(self.impacts))
        return found["phi"][own], (found["rows"] @ y[self.numbers.coordinates :] + found["drift"])[own]
