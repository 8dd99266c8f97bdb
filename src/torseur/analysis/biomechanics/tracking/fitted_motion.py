"""The motion of a mechanism that follows a recording of markers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.analysis.biomechanics.recordings.laboratory_axes import NOT_STATED, Axes
from torseur.analysis.identification.data.differentiation import Derivatives
from torseur.errors import RecordingError, unknown_name


@dataclass(frozen=True, eq=False)
class FittedMotion:
    """Coordinates (frames, coordinates) that bring a mechanism's markers nearest to the recorded ones.

    `units` are those of the coordinates. `distances` (frames, markers) in m is what remains, NaN where a marker was not
    seen; `converged` tells for each frame whether the search came to its end, and `rounds` in how many steps.
    Coordinates that the markers seen in a frame do not determine are NaN there, and `notes` say so.
    """

    mechanism: str
    time: Array
    coordinates: tuple[str, ...]
    units: tuple[str, ...]
    q: Array
    labels: tuple[str, ...]
    distances: Array
    converged: Mask
    rounds: Array
    axes: Axes = NOT_STATED
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.time)

    def __str__(self) -> str:
        lines = [
            f"{self.mechanism}: {len(self.coordinates)} coordinates ({', '.join(sorted(set(self.units)))}) in "
            f"{len(self)} frames, {len(self.labels)} markers; {self.axes}",
            f"distance of markers: {1e3 * self.rms:.4g} mm (root mean square), at most {1e3 * self.greatest:.4g} mm",
            *self.notes,
        ]
        return "\n".join(lines)

    @property
    def rms(self) -> float:
        """Root mean square distance of all markers in m."""
        return float(np.sqrt(np.nanmean(self.distances**2)))

    @property
    def greatest(self) -> float:
        """The greatest distance of a marker in m."""
        return float(np.nanmax(self.distances))

    @property
    def rms_by_marker(self) -> dict[str, float]:
        return dict(zip(self.labels, _rms(self.distances).tolist(), strict=True))

    def of(self, coordinate: str) -> Array:
        """One coordinate in every frame."""
        if coordinate not in self.coordinates:
            raise RecordingError(unknown_name("coordinate", coordinate, self.coordinates))
        return self.q[:, self.coordinates.index(coordinate)]

    def rates(self, how: Derivatives | None = None) -> tuple[Array, Array]:
        """First and second derivatives of all coordinates; refused where one is not known throughout."""
        unknown = [name for name, values in zip(self.coordinates, self.q.T, strict=True) if np.isnan(values).any()]
        if unknown:
            raise RecordingError(
                f"coordinate '{unknown[0]}' is not determined in every frame: derivatives need it throughout. Take the "
                "frames in which it is, or record more markers."
            )
        pairs = [(how or Derivatives()).of(self.time, values) for values in self.q.T]
        return np.column_stack([first for first, _ in pairs]), np.column_stack([second for _, second in pairs])

    def channels(self, chosen: Sequence[str] | None = None) -> dict[str, Array]:
        """Coordinates by name, as `make_trial` and the writers of files take them."""
        return {name: self.of(name) for name in chosen or self.coordinates}


def _rms(distances: Array) -> Array:
    count = np.isfinite(distances).sum(axis=0)
    total = np.nansum(distances**2, axis=0)
    return np.sqrt(np.where(count > 0, total / np.maximum(count, 1), np.nan))
