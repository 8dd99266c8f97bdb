"""A recording followed from end to end: where to begin, which way to go, and what to do when the mechanism is lost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import pi

import numpy as np

from torseur.biomechanics.markers import runs
from torseur.biomechanics.tracking.marker_model import Limits, MarkerModel, Tracked
from torseur.identification.arrays import Array

TRIES = 24  # orientations of the root from which a frame is sought
FAR = 0.05  # m: root mean square distance of markers from which a frame may have been lost
_AS_GOOD = 1.01  # cost that counts as no greater
_MUCH_BETTER = 0.25


@dataclass(frozen=True, eq=False)
class Following:
    """Recorded points and weights of a model's markers by frame (no NaN), with limits and tolerance of the search."""

    model: MarkerModel
    time: Array
    points: Array
    weights: Array
    limits: Limits
    tolerance: float

    def frames(self, chosen: slice) -> Following:
        return replace(self, time=self.time[chosen], points=self.points[chosen], weights=self.weights[chosen])

    def whole(self, start: Array) -> Tracked:
        """Forward and backward from the first frame in which most markers were seen."""
        first = int(np.argmax((self.weights > 0).sum(axis=1)))
        begin = self.frames(slice(first, first + 1)).best_fit(start)
        ahead = self.frames(slice(first, None)).onward(begin)
        before = self.frames(slice(first, None, -1)).onward(begin)
        return _joined(_backward(before), ahead, first)

    def onward(self, start: Array) -> Tracked:
        """Frame after frame; where the markers are suddenly far away, the mechanism is sought anew.

        So a person who turned round during a gap is found again. Frames that stay far are left as they are.
        """
        found, k = self._tracked(start), 0
        while (lost := self._next_lost(found.q, k)) is not None:
            rest = self.frames(slice(lost, None))
            again = rest.frames(slice(0, 1)).best_fit(found.q[max(lost - 1, 0)])
            before, after = (rest.frames(slice(0, 1)).costs(q[None])[0] for q in (found.q[lost], again))
            if after < _MUCH_BETTER * before:
                found = _joined(found, rest._tracked(again), lost)
            k = lost + 1
        return found

    def best_fit(self, start: Array) -> Array:
        """The best fit of one frame, the root being turned many ways at the start.

        Angles have several values for one rotation: among fits as good as the best, the nearest to the start wins.
        """
        fits = np.array([self._tracked(q).q[0] for q in _turned_starts(self.model, start)])
        costs = self.costs(fits)
        good = np.flatnonzero(costs <= _AS_GOOD * costs.min() + 1e-12)
        return np.asarray(fits[min(good, key=lambda k: float(np.linalg.norm(fits[k] - start)))])

    def costs(self, q: Array) -> Array:
        """Σ w |m - x(q)|² of configurations, one per frame or all of one frame."""
        time = np.broadcast_to(self.time, len(q))
        gaps = np.sum((self.model.positions(time, q) - self.points) ** 2, axis=2)
        return np.asarray(np.sum(self.weights * gaps, axis=1))

    def _tracked(self, start: Array) -> Tracked:
        return self.model.track(self.time, self.points, self.weights, start, self.limits, self.tolerance)

    def _next_lost(self, q: Array, first: int) -> int | None:
        """The first frame of the next run in which markers lie far from the mechanism."""
        mean = self.costs(q) / np.maximum(self.weights.sum(axis=1), 1e-300)
        return next((a for a, _ in runs(mean > FAR**2) if a >= first), None)


def _turned_starts(model: MarkerModel, start: Array) -> list[Array]:
    """The start, and others with random angles in the joint at the root (a fixed sequence)."""
    link = model.equations.tree.links[0]
    symbols = model.layout.coordinates[link.q]
    turning = [link.q.start + k for k, x in enumerate(symbols) if x.data.unit == "rad" or x in link.symbols.quaternion]
    rng, starts = np.random.default_rng(0), [start]
    for _ in range(TRIES if turning else 0):
        q = start.copy()
        q[turning] = rng.normal(size=len(turning)) if link.symbols.quaternion else rng.uniform(-pi, pi, len(turning))
        quaternion = [link.q.start + symbols.index(x) for x in link.symbols.quaternion]
        q[quaternion] /= np.linalg.norm(q[quaternion]) if quaternion else 1.0
        starts.append(q)
    return starts


def _backward(tracked: Tracked) -> Tracked:
    return Tracked(tracked.q[::-1], tracked.converged[::-1], tracked.rounds[::-1], tracked.weakest[::-1])


def _joined(first: Tracked, then: Tracked, at: int) -> Tracked:
    """The first up to a frame, the other from there on."""
    return Tracked(
        np.concatenate([first.q[:at], then.q]),
        np.concatenate([first.converged[:at], then.converged]),
        np.concatenate([first.rounds[:at], then.rounds]),
        np.concatenate([first.weakest[:at], then.weakest]),
    )
