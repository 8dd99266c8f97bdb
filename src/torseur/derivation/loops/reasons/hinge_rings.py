"""Rings of hinges: their lengths, twists and offsets, and the families that move by special dimensions.

Axis i is followed by the common normal to axis i + 1, of length a_i; α_i is the angle between both axes, R_i the
distance on axis i between its two normals (Denavit and Hartenberg).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array

_SAME = 1e-6


@dataclass(frozen=True)
class HingeRing:
    """Lengths a, twists α (rad, up to the sense of the axes), offsets R; lengths in the unit of the lines.

    An offset between parallel normals is not determined; it is nan.
    """

    lengths: Array
    twists: Array
    offsets: Array

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def size(self) -> float:
        return float(
            np.max(np.abs(self.lengths), initial=0.0) + np.max(np.abs(np.nan_to_num(self.offsets)), initial=0.0)
        )

    @property
    def sines(self) -> Array:
        sines: Array = np.abs(np.sin(self.twists))
        return sines

    @property
    def has_no_offsets(self) -> bool:
        return bool(np.all(np.abs(self.offsets) < _SAME * self.size))

    def same(self, *values: float) -> bool:
        """Whether lengths agree."""
        return max(values) - min(values) < _SAME * max(self.size, 1e-300)


def hinge_ring(screws: Array) -> HingeRing:
    """Dimensions of a ring of hinges from their screws (n, 6) in order, at any position."""
    axes = screws[:, :3] / np.linalg.norm(screws[:, :3], axis=1, keepdims=True)
    # With v = p x a at the origin, a x v = p - (a·p) a is the axis' point nearest to it.
    points = np.cross(axes, screws[:, 3:] / np.linalg.norm(screws[:, :3], axis=1, keepdims=True))
    count = len(screws)
    normals = [_normal(axes, points, k, (k + 1) % count) for k in range(count)]
    offsets = [_offset(axes[k], normals[k - 1], normals[k]) for k in range(count)]
    return HingeRing(np.array([n.length for n in normals]), np.array([n.twist for n in normals]), np.array(offsets))


@dataclass(frozen=True)
class _Normal:
    """The common normal of two axes: its feet on them (none if they are parallel), its length, the twist about it."""

    first: Array | None
    second: Array | None
    length: float
    twist: float


def _normal(axes: Array, points: Array, i: int, j: int) -> _Normal:
    across = np.cross(axes[i], axes[j])
    sine, apart = float(np.linalg.norm(across)), points[j] - points[i]
    if sine < _SAME:
        away = apart - axes[i] * (axes[i] @ apart)
        return _Normal(None, None, float(np.linalg.norm(away)), 0.0 if axes[i] @ axes[j] > 0 else float(np.pi))
    unit = across / sine
    # p_i + s a_i + gap n = p_j + t a_j.
    s, t, gap = np.linalg.solve(np.stack([axes[i], -axes[j], unit], axis=1), apart)
    # The normal points from the first axis to the second; the twist about it has then a sign.
    twist = float(np.arctan2(sine, axes[i] @ axes[j])) * (1.0 if gap >= 0 else -1.0)
    return _Normal(points[i] + s * axes[i], points[j] + t * axes[j], abs(float(gap)), twist)


def _offset(axis: Array, before: _Normal, after: _Normal) -> float:
    if before.second is None or after.first is None:
        return float("nan")
    return float(axis @ (after.first - before.second))


def hinge_family(ring: HingeRing) -> str | None:
    """The family of a ring of hinges that moves by its dimensions alone, in words; None for any other."""
    families = {4: (_bennett,), 5: (_myard, _goldberg), 6: (_trihedral,)}.get(len(ring), ())
    return next((text for family in families if (text := family(ring)) is not None), None)


def _ratios(ring: HingeRing, links: Sequence[int]) -> bool:
    """Whether length / sin(twist) is the same for links (Bennett's condition)."""
    if any(ring.sines[k] < _SAME for k in links):
        return False
    return ring.same(*(float(ring.lengths[k] / ring.sines[k]) for k in links))


def _bennett(ring: HingeRing) -> str | None:
    a, sines = ring.lengths, ring.sines
    opposite = ring.same(a[0], a[2]) and ring.same(a[1], a[3])
    twists = abs(sines[0] - sines[2]) < _SAME and abs(sines[1] - sines[3]) < _SAME
    # Reversing an axis reverses two cosines: the sign of their product is that of the ring.
    if (
        opposite
        and twists
        and np.prod(np.cos(ring.twists)) > -_SAME
        and ring.has_no_offsets
        and _ratios(ring, range(4))
    ):
        return "Bennett's linkage: opposite links are equal, and length / sin(twist) is the same for all"
    return None


def _orders(count: int) -> list[list[int]]:
    """Numbers of links around a ring, from every link, both ways."""
    return [[(start + sign * k) % count for k in range(count)] for start in range(count) for sign in (1, -1)]


def _myard(ring: HingeRing) -> str | None:
    for link in _orders(5):
        zero, long1, short1, short2, long2 = (float(ring.lengths[k]) for k in link)
        right = abs(ring.sines[link[1]] - 1) < _SAME and abs(ring.sines[link[4]] - 1) < _SAME
        mirrored = ring.same(long1, long2) and ring.same(short1, short2)
        ratio = ring.same(short1, long1 * float(ring.sines[link[2]]))
        if zero < _SAME * ring.size and right and mirrored and ratio and ring.has_no_offsets:
            return "Myard's linkage: two mirrored Bennett loops with right twists, their common links taken out"
    return None


def _goldberg(ring: HingeRing) -> str | None:
    for link in _orders(5):
        fused, side1, part1, part2, side2 = (float(ring.lengths[k]) for k in link)
        sum_or_difference = ring.same(fused, part1 + part2) or ring.same(fused, abs(part1 - part2))
        if ring.same(side1, side2) and sum_or_difference and ring.has_no_offsets and _ratios(ring, link[1:]):
            return (
                "Goldberg's linkage: two Bennett loops with one length / sin(twist), their common link taken out and "
                "two links in line made one"
            )
    return None


def _trihedral(ring: HingeRing) -> str | None:
    a = ring.lengths
    right = bool(np.all(np.abs(ring.sines - 1) < _SAME)) and ring.has_no_offsets
    squares = abs(float(np.sum(a[::2] ** 2) - np.sum(a[1::2] ** 2))) < _SAME * ring.size**2
    if right and squares and np.prod(np.sign(ring.twists)) < 0:
        return (
            "Bricard's trihedral linkage: neighbouring axes are at right angles, and the squares of every second link "
            "add up to those of the others"
        )
    return None
