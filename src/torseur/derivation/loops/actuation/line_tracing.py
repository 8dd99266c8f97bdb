"""Singular lines of a map followed beyond the ends that its grid gives them, and joined where they meet.

Near a leg of length zero the leg turns quickly, so that no corner of a cell can be compared with another. Along the
line itself it does not turn: steps along the line pass such places, from one end to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.model.loop_system import State

_PARTS = (1.0, 0.5, 0.25, 1.5, 2.0)  # of the usual step, tried in turn: larger ones step over a place that others miss
_MOST_STEPS = 400
_SECANTS = 60
_VANISHED = 1e-9  # of the values on both sides

Closer = Callable[[State, Array], tuple[State, Array]]
Indicator = Callable[[State], Array]


@dataclass(frozen=True)
class Line:
    """Points of a singular line (P, 2), in the units of the system, and the states at its first and last point."""

    points: Array
    first: State
    last: State

    @property
    def is_closed(self) -> bool:
        return len(self.points) > 2 and bool(np.allclose(self.points[0], self.points[-1]))

    def reversed(self) -> Line:
        return Line(self.points[::-1], self.last, self.first)


@dataclass(frozen=True)
class Tracer:
    """What closes a state at a place, what vanishes on the line, and the map: (low, high) of both axes, size of a cell.

    All in the units of the system.
    """

    closed: Closer
    indicator: Indicator
    low: Array
    high: Array
    cell: Array

    def complete(self, lines: list[Line]) -> list[Array]:
        """The lines followed from both ends until they close, leave the map, meet the next or can go no further."""
        left = list(lines)
        whole = []
        while left:
            line = left.pop(0)
            for _ in range(2):
                line, left = self._follow(line, left)
                line = line.reversed()
            whole.append(line.points)
        return whole

    def _follow(self, line: Line, others: list[Line]) -> tuple[Line, list[Line]]:
        """The line followed from its last point; lines whose ends it meets become part of it."""
        for _ in range(_MOST_STEPS):
            if line.is_closed or len(line.points) < 2 or self._at_border(line.points[-1]):
                break
            following = self._step(line)
            if following is None:
                break
            place, state = following
            if self._is_outside(place):
                end = self._on_border(line.points[-1], place, state)
                return (line if end is None else Line(np.vstack([line.points, end[0]]), line.first, end[1])), others
            if self._near(place, line.points[0]) and len(line.points) > 4:
                return Line(np.vstack([line.points, place, line.points[0]]), line.first, line.first), others
            line = Line(np.vstack([line.points, place]), line.first, state)
            met = next(((k, one) for k, other in enumerate(others) for one in (other, other.reversed())
                        if self._goes_on(line, one)), None)  # fmt: skip
            if met is not None:
                k, other = met
                line = Line(np.vstack([line.points, other.points]), line.first, other.last)
                others = others[:k] + others[k + 1 :]
        return line, others

    def _step(self, line: Line) -> tuple[Array, State] | None:
        """The next point of the line and the state there."""
        along = line.points[-1] - line.points[-2]
        # Lengths are counted in cells, so that the axes may have any units.
        along = along / max(float(np.linalg.norm(along / self.cell)), 1e-300)
        steps = (self._on_line(line.points[-1], line.last, along * part / 2) for part in _PARTS)
        return next((step for step in steps if step is not None), None)

    def _on_line(self, place: Array, state: State, along: Array) -> tuple[Array, State] | None:
        """The point of the line across the end of a step: where the indicator vanishes between two sides of it."""
        # At a right angle in cells, not in the coordinates' own units.
        across = np.array([-along[1] * self.cell[0] / self.cell[1], along[0] * self.cell[1] / self.cell[0]]) / 2
        return self._between(state, place + along + np.stack([across, -across]))

    def _on_border(self, inside: Array, outside: Array, state: State) -> tuple[Array, State] | None:
        """The point of the line on the border of the map, which lies between two of its points."""
        edge = np.clip(outside, self.low, self.high)
        parts = [(edge[k] - inside[k]) / (outside[k] - inside[k]) if edge[k] != outside[k] else 1.0 for k in range(2)]
        first = int(np.argmin(parts))
        crossing = inside + parts[first] * (outside - inside)
        aside = np.where(np.arange(2) == first, 0.0, self.cell / 4)
        return self._between(state, crossing + np.stack([aside, -aside]))

    def _between(self, state: State, sides: Array) -> tuple[Array, State] | None:
        """The place between two others (2, 2) where the indicator vanishes, and the state closed there."""
        there, good = self.closed(state.repeat(2), sides)
        values = self.indicator(there)
        if not good.all() or values[0] * values[1] >= 0:
            return None
        (a, b), (low, high), near = (0.0, 1.0), (float(values[0]), float(values[1])), there.lane(0)
        limit = _VANISHED * max(abs(low), abs(high))
        # Regula falsi; an end that stays has its value halved (Illinois), so that both close in.
        for _ in range(_SECANTS):
            middle = (a * high - b * low) / (high - low)
            here = sides[0] + middle * (sides[1] - sides[0])
            moved, fine = self.closed(near, here[None])
            if not fine[0]:
                return None
            near, value = moved, float(self.indicator(moved)[0])
            if abs(value) <= limit:
                return here, near
            if value * high < 0:
                a, low = b, high
            else:
                low = low / 2
            b, high = middle, value
        return None

    def _goes_on(self, line: Line, other: Line) -> bool:
        """Whether another line begins where this one ends, in its direction: lines may cross."""
        directions = [(points[1] - points[0]) / self.cell for points in (line.points[-2:], other.points)]
        sizes = [float(np.linalg.norm(d)) for d in directions]
        same = float(directions[0] @ directions[1]) > 0.5 * sizes[0] * sizes[1]
        return same and self._near(line.points[-1], other.points[0])

    def _near(self, first: Array, second: Array) -> bool:
        return float(np.linalg.norm((first - second) / self.cell)) < 0.75

    def _is_outside(self, place: Array) -> bool:
        return bool(np.any(place < self.low) or np.any(place > self.high))

    def _at_border(self, place: Array) -> bool:
        room = np.minimum(place - self.low, self.high - place) / self.cell
        return bool(np.min(room) < 1e-6)
