"""A map over two coordinates: where the mechanism can be, and the lines on which inputs or outputs are singular."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.actuation.actuation import coordinate_rows, usual_mobility
from torseur.derivation.loops.actuation.contours import Crossing, at_corners, zero_lines
from torseur.derivation.loops.actuation.line_tracing import Line, Tracer
from torseur.derivation.loops.actuation.map_border import border_lines
from torseur.derivation.loops.actuation.map_slice import Slice
from torseur.derivation.loops.assembly.assembly import closed_state
from torseur.derivation.loops.model.loop_model import loop_system
from torseur.derivation.loops.model.loop_parts import in_own_unit, related_freedoms
from torseur.derivation.loops.model.loop_system import State
from torseur.derivation.loops.model.named_coordinates import coordinates_at
from torseur.derivation.loops.singularities.singularities import coordinates_of
from torseur.description.mechanism import Mechanism
from torseur.edges.budgets import NUMBER, require_memory
from torseur.errors import MechanismError, counted

_NODES = 41
_HALVINGS = 40
_MISSED = 1e-6

Range = tuple[str, float, float]


@dataclass(frozen=True)
class SingularMap:
    """A slice of the configurations: two coordinates over a grid, what else is held, and lines in it (SI).

    `reached[i, j]` tells whether the mechanism closes at (first[i], second[j]) on the branch of the start. `lines` are
    polylines by kind of singularity; where the mechanism can go no further because inputs or outputs are singular,
    their lines are among them. `boundary` are all lines between what is reached and what is not.
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


def singular_map(mechanism: Mechanism, first: Range, second: Range, inputs: Sequence[str],
                 outputs: Sequence[str] = (), *, locked: Sequence[str] = (), at: Mapping[str, float] | None = None,
                 nodes: int = _NODES) -> SingularMap:  # fmt: skip
    """The map over two coordinates, (name, from, to) each in SI, with `locked` ones held where the pose `at` has them.

    The two and the locked ones must be as many as the mobility, and so must inputs and outputs for their kind to be
    drawn.
    """
    if nodes < 2:
        raise MechanismError(f"a map has two nodes at least along each coordinate: nodes = {nodes}.")
    system = loop_system(mechanism, named=[first[0], second[0], *locked, *inputs, *outputs])
    drawn = coordinate_rows(system, [first[0], second[0]], "map")
    names = coordinates_of(mechanism, locked)
    held = coordinate_rows(system, names, "locked")
    into, out = coordinate_rows(system, inputs, "inputs"), coordinate_rows(system, outputs, "outputs")
    part = related_freedoms(system, [*drawn, *held, *into, *out])
    system = in_own_unit(system, part)
    state = closed_state(system, at)
    cut = Slice(system, part, (drawn[0], drawn[1]), held, into, out)
    _require_chart(cut, usual_mobility(system, part, at))
    require_memory(float(nodes) ** 2, NUMBER * system.n, f"a map of {nodes} by {nodes} poses")
    units = system.amounts.units[drawn]
    axes = [np.linspace(low, high, nodes) for _, low, high in (first, second)]
    reached, states = _flood(cut, state, [axis / unit for axis, unit in zip(axes, units, strict=True)])
    borders = border_lines(cut, axes, reached, states)
    lines = _lines(cut, axes, reached, states)
    lines = {kind: (*curves, *(b.points for b in borders if kind in b.kinds)) for kind, curves in lines.items()}
    here = coordinates_at(system, state)
    return SingularMap((first[0], second[0]), axes[0], axes[1], {name: here[name] for name in names}, tuple(inputs),
                       tuple(outputs), reached, lines, tuple(b.points for b in borders))  # fmt: skip


def _require_chart(cut: Slice, mobility: int) -> None:
    """The coordinates that are drawn or locked must be as many as the mobility of their parts, each once."""
    mechanism, given = cut.system.frame.mechanism, [cut.system.frame.freedoms[i].name for i in cut.given_coordinates]
    twice = next((name for name in given if given.count(name) > 1), None)
    if twice is not None:
        raise MechanismError(f"map: '{twice}' is named twice; draw two coordinates and lock others.")
    if len(given) != mobility:
        raise MechanismError(
            f"mechanism '{mechanism.name}' has mobility {mobility}: a map needs {mobility} coordinates, two that it "
            f"draws and the others locked, and has {len(given)}."
        )


def _flood(cut: Slice, state: State, axes: list[Array]) -> tuple[Array, State]:
    """(reached, states): nodes of the grid that the mechanism gets to from neighbours, and its states there."""
    shape = (len(axes[0]), len(axes[1]))
    states = state.repeat(shape[0] * shape[1])
    reached = np.zeros(shape, bool)
    here = state.x[0, list(cut.drawn)]
    i, j = (int(np.argmin(np.abs(axis - value))) for axis, value in zip(axes, here, strict=True))
    # Breadth first, so that each node starts from a neighbour and the branch is kept by small steps.
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


def _walk(cut: Slice, state: State, places: Array) -> tuple[State, Array]:
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


def _lines(cut: Slice, axes: list[Array], reached: Array, states: State) -> dict[str, tuple[Array, ...]]:
    """Singular lines by kind, their points found by halving the edges of the grid that they cross."""
    corners = _corner_states(cut, axes, reached, states)
    units = cut.system.amounts.units[list(cut.drawn)]
    lines: dict[str, tuple[Array, ...]] = {}
    for kind in cut.kinds:
        values = np.stack([np.where(good, cut.indicators(there)[kind], np.nan) for there, good in corners], axis=-1)
        cells = values.reshape(reached.shape[0] - 1, reached.shape[1] - 1, 4)
        pieces = [piece for line in zero_lines(cells) for piece in _refine(cut, kind, line, axes, states)]
        lines[kind] = tuple(curve * units for curve in _tracer(cut, kind, axes).complete(pieces))
    return lines


def _tracer(cut: Slice, kind: str, axes: list[Array]) -> Tracer:
    units = cut.system.amounts.units[list(cut.drawn)]
    ends = (np.array([axis[[0, -1]].min() for axis in axes]), np.array([axis[[0, -1]].max() for axis in axes]))
    cell = np.array([abs(axis[1] - axis[0]) for axis in axes]) / units
    return Tracer(cut.closed, lambda states: cut.indicators(states)[kind], ends[0] / units, ends[1] / units, cell)


def _corner_states(cut: Slice, axes: list[Array], reached: Array, states: State) -> list[tuple[State, Array]]:
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


def _refine(cut: Slice, kind: str, line: list[Crossing], axes: list[Array], states: State) -> list[Line]:
    """The pieces of a line whose points were found between nodes of the grid."""
    units = cut.system.amounts.units[list(cut.drawn)]
    columns = len(axes[1])
    low, high = (np.array([[axes[0][node[0]], axes[1][node[1]]] for node in ends]) / units
                 for ends in zip(*line, strict=True))  # fmt: skip
    near = states.lanes([a[0] * columns + a[1] for a, _ in line])
    start = cut.indicators(near)[kind]
    # The indicator keeps its sign from `low` to where it changes; a place that does not close counts as beyond the
    # line.
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
