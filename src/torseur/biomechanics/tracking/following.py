"""A recording followed from end to end: where to begin, and which way to go."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import pi

import numpy as np

from torseur.biomechanics.tracking.marker_model import Limits, MarkerModel, Tracked
from torseur.identification.arrays import Array

TRIES = 24  # orientations of the root from which a frame is sought
_AS_GOOD = 1.01  # cost that counts as no greater


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
        ahead = self.frames(slice(first, None))._tracked(begin)
        before = self.frames(slice(first, None, -1))._tracked(begin)
        pairs = ((getattr(before, name)[:0:-1], getattr(ahead, name)) for name in vars(ahead))
        return Tracked(*(np.concatenate(pair) for pair in pairs))

    def best_fit(self, start: Array) -> Array:
        """The best fit of one frame, the root being turned many ways at the start.

        Angles have several values for one rotation: among fits as good as the best, the nearest to the start wins.
        """
        fits = np.array([self._tracked(q).q[0] for q in _turned_starts(self.model, start)])
        gaps = self.model.positions(np.repeat(self.time, len(fits)), fits) - self.points
        costs = np.sum(self.weights * np.sum(gaps**2, axis=2), axis=1)
        good = np.flatnonzero(costs <= _AS_GOOD * costs.min() + 1e-12)
        return np.asarray(fits[min(good, key=lambda k: float(np.linalg.norm(fits[k] - start)))])

    def _tracked(self, start: Array) -> Tracked:
        return self.model.track(self.time, self.points, self.weights, start, self.limits, self.tolerance)


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
