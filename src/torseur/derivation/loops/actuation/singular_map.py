"""A map over two coordinates: where the mechanism can be, and the lines on which inputs or outputs are singular."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.actuation.actuation import TYPE_1, TYPE_2, coordinate_rows, usual_mobility
from torseur.derivation.loops.actuation.contours import Crossing, at_corners, zero_lines
from torseur.derivation.loops.actuation.line_tracing import Line, Tracer
from torseur.derivation.loops.assembly.assembly import closed_state
from torseur.derivation.loops.assembly.projection import CLOSED, project
from torseur.derivation.loops.model.loop_model import loop_system
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.model.named_coordinates import coordinates_at
from torseur.description.mechanism import Mechanism
from torseur.errors import MechanismError, counted

_NODES = 41
_HALVINGS = 40
_LARGEST_STEP = 0.8  # rad or units of length: a neighbour further away lies on another branch
_MISSED = 1e-6

Range = tuple[str, float, float]


@dataclass(frozen=True)
class SingularMap:
    """A slice of the configurations: two coordinates over a grid, what else is held, and lines in it (SI).

    `reached[i, j]` tells whether the mechanism closes at (first[i], second[j]) on the branch of the start. `lines` are
    polylines by kind of singularity. `boundary` are lines between what is reached and what is not, to half a cell.
    """

    names: tuple[str, str]
    first: Array
    second: Array
    held: Mapping[str, float]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    reached: Array
    lines: Mapping[str, tuple[Array, ...]]
    boundary: tuple[Array, ...]

    @property
    def share(self) -> float:
        """The part of the map that is reached."""
        return float(np.mean(self.reached))

    def __str__(self) -> str:
        held = f" with {', '.join(f'{q} = {v:.4g}' for q, v in self.held.items())}" if self.held else ""
        lines = [
            f"map over {self.names[0]} from {self.first[0]:.4g} to {self.first[-1]:.4g} and {self.names[1]} from "
            f"{self.second[0]:.4g} to {self.second[-1]:.4g}{held}: {100 * self.share:.0f} % of it is reached"
        ]
        for kind, curves in self.lines.items():
            lines.append(f"  {kind}: {counted(len(curves), 'line') if curves else 'nowhere'}")
            lines += [f"    {_ends(self.names, curve)}" for curve in curves]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "names": list(self.names), "first": self.first.tolist(), "second": self.second.tolist(),
            "held": dict(self.held), "inputs": list(self.inputs), "outputs": list(self.outputs),
            "reached": self.reached.tolist(), "share": self.share,
            "lines": {kind: [curve.tolist() for curve in curves] for kind, curves in self.lines.items()},
            "boundary": [curve.tolist() for curve in self.boundary],
        }  # fmt: skip


def _ends(names: tuple[str, str], curve: Array) -> str:
    closed = " (closed)" if np.allclose(curve[0], curve[-1]) and len(curve) > 2 else ""
    low, high = curve.min(axis=0), curve.max(axis=0)
    spans = [f"{name} {a:.4g} to {b:.4g}" for name, a, b in zip(names, low, high, strict=True)]
    return f"{', '.join(spans)}{closed}"


@dataclass(frozen=True)
class _Slice:
    """The slice in numbers: freedoms drawn, held, driven and looked at; all in the units of the system."""

    system: LoopSystem
    drawn: tuple[int, int]
    held: list[int]
    inputs: list[int]
    outputs: list[int]

    @property
    def given(self) -> list[int]:
        return [*self.drawn, *self.held]

    def closed(self, states: State, places: Array) -> tuple[State, Array]:
        """States near others with the drawn coordinates at places (B, 2), and which of them close there."""
        free = np.ones(self.system.n)
        free[self.given] = 0.0
        x = states.x.copy()
        x[:, list(self.drawn)] = places
        start = State(x, states.balls)
        closed = project(self.system, start, free=free, steps=60)
        jumped = np.max(np.abs(self.system.difference(states, closed.state)), axis=1)
        return closed.state, (closed.gap < self.system.open_limit(CLOSED)) & (jumped < _LARGEST_STEP)

    def indicators(self, states: State) -> dict[str, Array]:
        """Determinants of inputs and outputs per given coordinate: they vanish at singularities of type 2 and 1."""
        count = len(self.given)
        motions = np.linalg.svd(self.system.linearise(states)[1])[2][:, -count:].transpose(0, 2, 1)
        chart = np.linalg.det(motions[:, self.given])
        whole = {TYPE_2: self.inputs, TYPE_1: self.outputs}
        return {
            kind: np.linalg.det(motions[:, rows]) * np.sign(chart) for kind, rows in whole.items() if len(rows) == count
        }


def singular_map(mechanism: Mechanism, first: Range, second: Range, inputs: Sequence[str],
                 outputs: Sequence[str] = (), *, locked: Sequence[str] = (), at: Mapping[str, float] | None = None,
                 nodes: int = _NODES) -> SingularMap:  # fmt: skip
    """The map over two coordinates, (name, from, to) each in SI, with `locked` ones held where the pose `at` has them.

    The two and the locked ones must be as many as the mobility, and so must inputs and outputs for their kind to be
    drawn.
    """
    system = loop_system(mechanism, named=[first[0], second[0], *locked, *inputs, *outputs])
    state = closed_state(system, at)
    drawn = coordinate_rows(system, [first[0], second[0]], "map")
    cut = _Slice(system, (drawn[0], drawn[1]), coordinate_rows(system, locked, "locked"),
                 coordinate_rows(system, inputs, "inputs"), coordinate_rows(system, outputs, "outputs"))  # fmt: skip
    _require_chart(mechanism, cut, usual_mobility(system, at))
    units = system.amounts.units[drawn]
    axes = [np.linspace(low, high, nodes) for _, low, high in (first, second)]
    reached, states = _flood(cut, state, [axis / unit for axis, unit in zip(axes, units, strict=True)])
    lines = _lines(cut, axes, reached, states)
    here = coordinates_at(system, state)
    boundary = tuple(_middles(line, axes) for line in zero_lines(at_corners(np.where(reached, 1.0, -1.0))))
    return SingularMap((first[0], second[0]), axes[0], axes[1], {name: here[name] for name in locked}, tuple(inputs),
                       tuple(outputs), reached, lines, boundary)  # fmt: skip


def _require_chart(mechanism: Mechanism, cut: _Slice, mobility: int) -> None:
    if len(cut.given) != mobility:
        raise MechanismError(
            f"mechanism '{mechanism.name}' has mobility {mobility}: a map needs {mobility} coordinates, two that it "
            f"draws and the others locked, and has {len(cut.given)}."
        )


def _flood(cut: _Slice, state: State, axes: list[Array]) -> tuple[Array, State]:
    """(reached, states): nodes of the grid that the mechanism gets to from neighbours, and its states there."""
    shape = (len(axes[0]), len(axes[1]))
    states = state.repeat(shape[0] * shape[1])
    reached = np.zeros(shape, bool)
    here = state.x[0, list(cut.drawn)]
    i, j = (int(np.argmin(np.abs(axis - value))) for axis, value in zip(axes, here, strict=True))
    front = [((i, j), (i, j))]
    first = True
    while front:
        nodes = np.array([node for node, _ in front])
        sources = np.array([source for _, source in front])
        near = state.repeat(1) if first else states.lanes(sources[:, 0] * shape[1] + sources[:, 1])
        places = np.stack([axes[0][nodes[:, 0]], axes[1][nodes[:, 1]]], axis=1)
        closed, good = _walk(cut, near, places) if first else cut.closed(near, places)
        if first and not good.all():
            raise MechanismError(
                f"mechanism '{cut.system.frame.mechanism.name}': the loops do not close on the map near its start."
            )
        first = False
        kept = nodes[good]
        states = states.with_lanes(kept[:, 0] * shape[1] + kept[:, 1], closed.lanes(good))
        reached[kept[:, 0], kept[:, 1]] = True
        front = _next_front(kept, reached)
    return reached, states


def _walk(cut: _Slice, state: State, places: Array) -> tuple[State, Array]:
    """The state moved to a place in small steps."""
    here = state.x[:, list(cut.drawn)]
    good = np.ones(1, bool)
    for part in np.linspace(0, 1, 21)[1:]:
        state, good = cut.closed(state, here + part * (places - here))
        if not good.all():
            break
    return state, good


def _next_front(kept: Array, reached: Array) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Neighbours that have not been reached, each with one node it can be reached from."""
    front: dict[tuple[int, int], tuple[int, int]] = {}
    for i, j in kept.tolist():
        for node in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
            inside = 0 <= node[0] < reached.shape[0] and 0 <= node[1] < reached.shape[1]
            if inside and not reached[node]:
                front.setdefault(node, (i, j))
    return list(front.items())


def _lines(cut: _Slice, axes: list[Array], reached: Array, states: State) -> dict[str, tuple[Array, ...]]:
    """Singular lines by kind, their points found by halving the edges of the grid that they cross."""
    corners = _corner_states(cut, axes, reached, states)
    units = cut.system.amounts.units[list(cut.drawn)]
    lines: dict[str, tuple[Array, ...]] = {}
    for kind in cut.indicators(states.lane(0)):
        values = np.stack([np.where(good, cut.indicators(there)[kind], np.nan) for there, good in corners], axis=-1)
        cells = values.reshape(reached.shape[0] - 1, reached.shape[1] - 1, 4)
        pieces = [piece for line in zero_lines(cells) for piece in _refine(cut, kind, line, axes, states)]
        lines[kind] = tuple(curve * units for curve in _tracer(cut, kind, axes).complete(pieces))
    return lines


def _tracer(cut: _Slice, kind: str, axes: list[Array]) -> Tracer:
    units = cut.system.amounts.units[list(cut.drawn)]
    ends = (np.array([axis[[0, -1]].min() for axis in axes]), np.array([axis[[0, -1]].max() for axis in axes]))
    cell = np.array([abs(axis[1] - axis[0]) for axis in axes]) / units
    return Tracer(cut.closed, lambda states: cut.indicators(states)[kind], ends[0] / units, ends[1] / units, cell)


def _corner_states(cut: _Slice, axes: list[Array], reached: Array, states: State) -> list[tuple[State, Array]]:
    """States at the four corners of every cell, reached from its first corner, and whether they close there."""
    # A leg that has passed through length zero is the same in the plane with another sign: nodes that the flood reached
    # on different ways may differ so, and only what is carried along within a cell can be compared.
    rows, columns = reached.shape
    first = np.array([(i, j) for i in range(rows - 1) for j in range(columns - 1)])
    units = cut.system.amounts.units[list(cut.drawn)]
    whole = np.all(at_corners(reached), axis=-1).reshape(-1)
    start = states.lanes(first[:, 0] * columns + first[:, 1])
    found = [(start, whole)]
    for di, dj in ((1, 0), (1, 1), (0, 1)):
        places = np.stack([axes[0][first[:, 0] + di], axes[1][first[:, 1] + dj]], axis=1) / units
        there, good = cut.closed(start, places)
        found.append((there, good & whole))
    return found


def _refine(cut: _Slice, kind: str, line: list[Crossing], axes: list[Array], states: State) -> list[Line]:
    """The pieces of a line whose points were found between nodes of the grid."""
    units = cut.system.amounts.units[list(cut.drawn)]
    columns = len(axes[1])
    low, high = (np.array([[axes[0][node[0]], axes[1][node[1]]] for node in ends]) / units
                 for ends in zip(*line, strict=True))  # fmt: skip
    near = states.lanes([a[0] * columns + a[1] for a, _ in line])
    start = cut.indicators(near)[kind]
    sign = start > 0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        closed, good = cut.closed(near, middle)
        same = (cut.indicators(closed)[kind] > 0) == sign
        keep = good & same
        low, high = np.where(keep[:, None], middle, low), np.where(keep[:, None], high, middle)
        near = near.with_lanes(keep, closed.lanes(keep))
    # A determinant that changes sign by a jump is no line of zeros: another branch lies beside.
    vanishes = np.abs(cut.indicators(near)[kind]) < np.maximum(_MISSED * np.abs(start), 1e-9)
    breaks = np.flatnonzero(np.diff(np.concatenate([[False], vanishes, [False]]).astype(int)))
    runs = [(a, b) for a, b in zip(breaks[::2], breaks[1::2], strict=True) if b - a > 1]
    return [Line(low[a:b], near.lane(a), near.lane(b - 1)) for a, b in runs]


def _middles(line: list[Crossing], axes: list[Array]) -> Array:
    points = [[(axes[0][a[0]] + axes[0][b[0]]) / 2, (axes[1][a[1]] + axes[1][b[1]]) / 2] for a, b in line]
    return np.array(points)
