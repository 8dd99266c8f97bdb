"""Which of many triangles is seen in each pixel: the nearest one, also where they pass through each other.

Triangles are looked at in square tiles of pixels, many tiles in one array operation; what passes all tests is written
in the order of nearness, so that the nearest is written last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from torseur.presentation.scene.scene import Array

Integers = npt.NDArray[np.int64]
TILE = 8  # pixels each way
LEAST_AREA = 1e-9  # twice the area, in pixels, below which a triangle is a line
TILES_AT_ONCE = 20_000  # of which one operation takes some ten megabytes


@dataclass(frozen=True, eq=False)
class Faces:
    """Triangles on the screen: corners in pixels, how near these are, and red, green, blue (to 255) and opacity."""

    corners: Array
    nearness: Array
    colours: Array


def paint_faces(pixels: Array, faces: Faces, size: tuple[int, int]) -> None:
    """Draws triangles over the pixels, row after row: opaque ones by nearness, then clear ones, far first."""
    buffer = DepthBuffer.empty(*size)
    opaque = faces.colours[:, 3] >= 1.0
    buffer.draw(faces.corners[opaque], faces.nearness[opaque])
    drawn = buffer.face >= 0
    pixels[drawn] = faces.colours[opaque][buffer.face[drawn], :3]
    clear = np.flatnonzero(~opaque)
    for k in clear[np.argsort(faces.nearness[clear].mean(axis=1), kind="stable")]:
        over, weight = buffer.over(faces.corners[k], faces.nearness[k]), faces.colours[k, 3]
        pixels[over] += weight * (faces.colours[k, :3] - pixels[over])


@dataclass(frozen=True, eq=False)
class DepthBuffer:
    """The nearest face at every pixel, row after row, and how near it is; -1 and minus infinity where there is none."""

    width: int
    height: int
    face: Array
    nearness: Array

    @staticmethod
    def empty(width: int, height: int) -> DepthBuffer:
        count = width * height
        return DepthBuffer(width, height, np.full(count, -1), np.full(count, -np.inf))

    def draw(self, corners: Array, nearness: Array) -> None:
        """Puts triangles in: corners (n, 3, 2) in pixels, and a nearness (n, 3) that is linear on the screen."""
        for pixels, near, faces in self._fragments(corners, nearness):
            order = np.argsort(near, kind="stable")
            self.nearness[pixels[order]] = near[order]
            self.face[pixels[order]] = faces[order]

    def over(self, corners: Array, nearness: Array) -> Integers:
        """The pixels in which one triangle lies before everything drawn so far."""
        parts = [pixels for pixels, _, _ in self._fragments(corners[None], nearness[None])]
        return np.concatenate([np.zeros(0, dtype=int), *parts])

    def _fragments(self, corners: Array, nearness: Array) -> Iterator[tuple[Integers, Array, Integers]]:
        """Pixels inside of triangles and before what is drawn there, with their nearness and the triangle."""
        size = np.array([self.width, self.height])
        first = np.clip(np.floor(corners.min(axis=1)), 0, size).astype(int) // TILE
        last = np.clip(np.ceil(corners.max(axis=1)), 0, size - 1).astype(int) // TILE
        area = _cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        across = np.where(np.abs(area) > LEAST_AREA, last[:, 0] - first[:, 0] + 1, 0)
        counts = across * (last[:, 1] - first[:, 1] + 1)
        ends = np.cumsum(counts)
        planes = _planes(corners, nearness, np.where(np.abs(area) > LEAST_AREA, area, 1.0))
        for begin in range(0, int(ends[-1]) if len(ends) else 0, TILES_AT_ONCE):
            tile = np.arange(begin, min(begin + TILES_AT_ONCE, int(ends[-1])))
            face = np.searchsorted(ends, tile, side="right")
            within = tile - (ends[face] - counts[face])
            left = TILE * (first[face, 0] + within % across[face])
            top = TILE * (first[face, 1] + within // across[face])
            yield self._inside(planes[face], left, top, face)

    def _inside(self, planes: Array, left: Integers, top: Integers, face: Integers) -> tuple[Integers, Array, Integers]:
        x, y = (axis.ravel() for axis in np.meshgrid(np.arange(TILE), np.arange(TILE)))
        # Every value is one at the tile's corner, and rises by as much for every pixel to the right and downward.
        start = planes[:, :, 0] * (left[:, None] + 0.5) + planes[:, :, 1] * (top[:, None] + 0.5) + planes[:, :, 2]
        rises = planes[:, :, :2] @ np.stack([x, y]).astype(float)
        seen = np.all(rises[:, :3] >= -start[:, :3, None], axis=1)
        tile, place = np.nonzero(seen)
        columns, rows = left[tile] + x[place], top[tile] + y[place]
        near = start[tile, 3] + rises[tile, 3, place]
        pixels = rows * self.width + columns
        kept = (columns < self.width) & (rows < self.height)
        kept[kept] = near[kept] > self.nearness[pixels[kept]]
        return pixels[kept], near[kept], face[tile[kept]]


def _planes(corners: Array, nearness: Array, area: Array) -> Array:
    """Coefficients (n, 4, 3) of x, y and 1: of the three weights of the corners, and of the nearness they weigh."""
    planes = np.empty((len(corners), 4, 3))
    for k in range(3):
        one, other = corners[:, (k + 1) % 3], corners[:, (k + 2) % 3]
        edge = (other - one) / area[:, None]
        # The part of the area across from corner k: positive inside, one at the corner.
        planes[:, k] = np.stack([-edge[:, 1], edge[:, 0], edge[:, 1] * one[:, 0] - edge[:, 0] * one[:, 1]], axis=1)
    planes[:, 3] = np.einsum("nk,nkc->nc", nearness, planes[:, :3])
    return planes


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
