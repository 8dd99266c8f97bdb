"""A mechanism with markers, compiled to follow recordings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf, nan

import numpy as np

from torseur.algebra.arrays import Array, Mask, Slots
from torseur.analysis.biomechanics.tracking.frame_fit import RESULTS, Bounds, Recording, Search, Tracks, track
from torseur.analysis.biomechanics.tracking.marker_equations import MarkerEquations
from torseur.computation.codegen import CompiledRoutine, Kernel, compile_program, compile_routine
from torseur.computation.simulation.model.initial_state import initial_state
from torseur.derivation.equations.parameter_values import known_values
from torseur.derivation.formalisms import derive
from torseur.derivation.tree import GROUND
from torseur.description.mechanism import Frame, Mechanism
from torseur.errors import RecordingError, UnsupportedError, unknown_name

Limits = Mapping[str, tuple[float, float]]
ROUNDS = 200
NULL = 1e-9  # part of a matrix's scaled eigenvalues that counts as none


@dataclass(frozen=True, eq=False)
class TrackedFrames:
    """Coordinates, and for each frame: whether it converged, in how many rounds, and its weakest pivot."""

    q: Array
    converged: Mask
    rounds: Array
    weakest: Array


class MarkerModel:
    """A mechanism whose named frames are markers, ready to follow any number of recordings."""

    def __init__(self, mechanism: Mechanism, places: Mapping[str, Frame], parameters: Mapping[str, float]) -> None:
        if not places:
            raise RecordingError(f"no marker has a place on '{mechanism.name}'.")
        self.mechanism = mechanism
        self.equations = MarkerEquations(derive(mechanism), dict(places))
        self.layout = self.equations.equations.layout
        self.parameters = self._values(parameters)

    def _values(self, changes: Mapping[str, float]) -> Array:
        values = known_values(self.equations.equations, changes)
        missing = [name for name in self.equations.needed_parameters if values[name] is None]
        if missing:
            raise RecordingError(
                f"{self.mechanism.name}: where its markers are depends on '{missing[0]}', which has no value. Give "
                "it in the description, or as one of the `parameters` in Python."
            )
        return np.array([nan if value is None else value for value in values.values()])

    @cached_property
    def _statics(self) -> dict[str, int]:
        return {"N": len(self.layout.speeds), "NQ": len(self.layout.coordinates), "NM": len(self.equations.places)}

    @cached_property
    def _track(self) -> CompiledRoutine:
        return compile_routine(track, self._statics, {"normal": self.equations.normal, "step": self.equations.step})

    @cached_property
    def _positions(self) -> Kernel:
        return compile_program(self.equations.positions, parameters=["p"])

    @cached_property
    def _normal(self) -> Kernel:
        return compile_program(self.equations.normal, parameters=["p"])

    def start(self, given: Mapping[str, float]) -> Array:
        """Coordinates where the mechanism starts, with these changes."""
        values = dict(zip(self.layout.parameter_names, self.parameters.tolist(), strict=True))
        return np.array(initial_state(self.equations.equations, values, given)[: len(self.layout.coordinates)])

    def positions(self, time: Array, q: Array) -> Array:
        """Places of the markers (frames, markers, 3) in the laboratory."""
        rows = [self._positions(t=[t], q=row, p=self.parameters)["x"] for t, row in zip(time, q, strict=True)]
        return np.array(rows).reshape(len(q), -1, 3)

    def track(self, time: Array, points: Array, weights: Array, start: Array, limits: Limits, tolerance: float
              ) -> TrackedFrames:  # fmt: skip
        """Follows the frames from `start` on."""
        low, high, slots = self.bounds(limits)
        rows = (np.ascontiguousarray(x, dtype=float).reshape(len(time), -1) for x in (points, weights))
        recording = Recording.bound(self._statics)(_flat(time), *rows, count=len(time))
        bounds = Bounds.bound(self._statics)(low, high, slots, self._above)
        q, quality = np.zeros((len(time), len(start))), np.zeros((len(time), RESULTS))
        search = Search.bound(self._statics)(tolerance=tolerance, rounds=ROUNDS)
        self._track(recording, self.parameters, bounds, search, start.copy(), Tracks.bound(self._statics)(q, quality))
        return TrackedFrames(q, quality[:, 0] > 0, quality[:, 1], quality[:, 3])

    def bounds(self, limits: Limits) -> tuple[Array, Array, Slots]:
        """Limits by speed, and the coordinate that each limited speed is the rate of (-1: none)."""
        n = len(self.layout.speeds)
        low, high, slots = np.full(n, -inf), np.full(n, inf), np.full(n, -1)
        for name, (least, greatest) in limits.items():
            if name not in self.layout.coordinate_names:
                raise RecordingError(unknown_name("coordinate", name, self.layout.coordinate_names, "limits: "))
            if not least <= greatest:
                raise RecordingError(f"limits of '{name}': {least:g} is greater than {greatest:g}.")
            k = self._speed_of(name)
            low[k], high[k], slots[k] = least, greatest, self.layout.coordinate_names.index(name)
        return low, high, slots

    def _speed_of(self, coordinate: str) -> int:
        """The speed that is the coordinate's rate."""
        rate = self.layout.rates[self.layout.coordinate_names.index(coordinate)]
        if rate not in self.layout.speeds:
            raise UnsupportedError(
                f"coordinate '{coordinate}' cannot be limited or held: its rate is no speed of '{self.mechanism.name}'."
            )
        return self.layout.speeds.index(rate)

    @cached_property
    def _above(self) -> Slots:
        """The next speed towards the earth; all before it where loops couple the branches."""
        tree = self.equations.tree
        if self.equations.closures:
            return np.arange(-1, len(self.layout.speeds) - 1)
        ends: dict[int, int] = {GROUND: -1}
        above = np.full(len(self.layout.speeds), -1)
        for i, link in enumerate(tree.links):
            above[link.v] = np.arange(link.v.start - 1, link.v.stop - 1)
            if link.v.stop > link.v.start:
                above[link.v.start] = ends[link.parent]
            ends[i] = link.v.stop - 1 if link.v.stop > link.v.start else ends[link.parent]
        return above

    def undetermined_coordinates(self, t: float, q: Array, points: Array, weights: Array, limits: Limits) -> Slots:
        """Slots of coordinates that can move, alone or with others, without any marker seen moving."""
        n = len(self.layout.speeds)
        low, high, _ = self.bounds(limits)
        triangle = self._normal(t=[t], q=q, p=self.parameters, points=_flat(points), weights=weights)["matrix"]
        matrix = np.zeros((n, n))
        matrix[np.tril_indices(n)] = triangle
        matrix += np.tril(matrix, -1).T
        free = np.flatnonzero(low < high)
        # A unit diagonal, so that metres and radians compare; small eigenvalues are motions that no marker follows.
        scale = 1 / np.sqrt(np.maximum(np.diag(matrix)[free], 1e-300))
        scale = np.where(scale > 1e100, 0.0, scale)
        # The Gauss-Newton matrix without the recorded points' pull: its null space is what the markers leave free.
        values, vectors = np.linalg.eigh(matrix[np.ix_(free, free)] * np.outer(scale, scale))
        loose = np.any(np.abs(vectors[:, values < NULL]) > 1e-4, axis=1)
        return self._slots_of_speeds(set(free[loose].tolist()))

    def _slots_of_speeds(self, speeds: set[int]) -> Slots:
        """Slots of the coordinates that these speeds change: their own, or all of a joint with speeds of its own."""
        slots = []
        for link in self.equations.tree.links:
            own = {self.layout.rates[k]: k for k in range(link.q.start, link.q.stop)}
            for v in set(range(link.v.start, link.v.stop)) & speeds:
                rate = self.layout.speeds[v]
                slots += [own[rate]] if rate in own else list(own.values())
        return np.array(sorted(set(slots)), dtype=np.intp)


def _flat(values: Array) -> Array:
    return np.ascontiguousarray(values, dtype=float).reshape(-1)
