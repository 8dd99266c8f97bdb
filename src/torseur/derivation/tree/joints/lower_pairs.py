"""Joints whose coordinates can be left out of closure equations: lower pairs and their like.

A sequence of motions is such a pair when it amounts to free translations along fixed directions of one side, then
free rotations (or the same seen from the other side), each by a coordinate of its own. What the pair forbids is
then an equation between the two frames, without the pair's coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from torseur.algebra.graph import Expr, gradient, symbols_of
from torseur.algebra.graph import scalar as s
from torseur.algebra.spatial import Vec3
from torseur.description.mechanism import ElementaryMotion, Joint

_SINE_OF_PARALLEL = 1e-12


@dataclass(frozen=True)
class Pair:
    """What a joint leaves free between its frames.

    `before` and `after` are motions without coordinates (offsets, drivers) at either end. Between them the child
    moves along `translations` and turns about `rotations` (three: any rotation). When `late`, the translations
    are along directions fixed in the child, otherwise in the parent.
    """

    before: tuple[ElementaryMotion, ...]
    after: tuple[ElementaryMotion, ...]
    translations: tuple[Vec3, ...]
    rotations: tuple[Vec3, ...]
    late: bool = False


def pair_of(joint: Joint) -> Pair | None:
    """The pair a joint amounts to, or None when its coordinates cannot be left out."""
    coordinates = {c.symbol for c in joint.coordinates}
    if any(motion.kind == "quaternion" for motion in joint.motions):
        return _with_quaternion(joint, coordinates)
    before, moving, after = _split_motions(joint.motions, coordinates)
    if not independent(moving, coordinates):
        return None
    return _pair_from(before, moving, after)


def _with_quaternion(joint: Joint, coordinates: set[Expr]) -> Pair | None:
    """A quaternion allows every rotation; only translations along fixed directions may precede it."""
    *shifts, last = joint.motions
    if last.kind != "quaternion" or any(m.kind != "translation" for m in shifts):
        return None
    if not independent(shifts, coordinates):
        return None
    axes = tuple(Vec3(*m.axis) for m in shifts)
    any_rotation = (Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1))
    return Pair((), (), axes, any_rotation) if _spanning(axes) else None


def _split_motions(
    motions: Sequence[ElementaryMotion], coordinates: set[Expr]
) -> tuple[tuple[ElementaryMotion, ...], ...]:
    """Motions without coordinates at the start, those that move, and those without coordinates at the end."""
    moving = [k for k, motion in enumerate(motions) if coordinates & set(symbols_of([motion.amount]))]
    if not moving:
        return tuple(motions), (), ()
    first, last = moving[0], moving[-1] + 1
    return tuple(motions[:first]), tuple(motions[first:last]), tuple(motions[last:])


def independent(motions: Sequence[ElementaryMotion], coordinates: set[Expr]) -> bool:
    """Whether each amount is a constant times a coordinate of its own, plus something without coordinates."""
    seen: set[Expr] = set()
    for motion in motions:
        own = coordinates & set(symbols_of([motion.amount]))
        if len(own) != 1 or own & seen:
            return False
        (q,) = own
        (partial,) = gradient(motion.amount, [q])
        if not partial.is_constant or partial.is_zero:
            return False
        seen |= own
    return True


def _pair_from(
    before: tuple[ElementaryMotion, ...], moving: tuple[ElementaryMotion, ...], after: tuple[ElementaryMotion, ...]
) -> Pair | None:
    shifts = [(k, Vec3(*m.axis)) for k, m in enumerate(moving) if m.kind == "translation"]
    turns = [(k, Vec3(*m.axis)) for k, m in enumerate(moving) if m.kind == "rotation"]
    translations, rotations = tuple(axis for _, axis in shifts), tuple(axis for _, axis in turns)
    if not _spanning(translations) or not _turning(rotations):
        return None
    # A translation may change places with a rotation about its own direction, and with no other: the translations
    # can all come first (early), or all last (late), when every rotation they would have to pass is parallel to them.
    early = all(parallel(a, d) for k, d in shifts for i, a in turns if i < k)
    late = all(parallel(a, d) for k, d in shifts for i, a in turns if i > k)
    return Pair(before, after, translations, rotations, late and not early) if early or late else None


def _spanning(axes: Sequence[Vec3]) -> bool:
    """Whether directions are independent (at most three, no two parallel, three not in a plane)."""
    if len(axes) == 3:
        volume = axes[0].cross(axes[1]).dot(axes[2])
        return not _vanishes([volume], [_length(axis) for axis in axes])
    return len(axes) < 2 or (len(axes) == 2 and not parallel(*axes))


def _turning(axes: Sequence[Vec3]) -> bool:
    """Whether rotations about the axes reach 1, 2 or all 3 dimensions of rotations, without gaps."""
    if len(axes) == 3:
        # Three angles reach every rotation only if successive axes are orthogonal (Davenport 1973).
        return all(orthogonal(a, b) for a, b in pairwise(axes))
    return len(axes) < 2 or (len(axes) == 2 and not parallel(*axes))


def parallel(a: Vec3, b: Vec3) -> bool:
    """Whether two directions are parallel for certain."""
    return _vanishes(list(a.cross(b)), [_length(a), _length(b)])


def orthogonal(a: Vec3, b: Vec3) -> bool:
    """Whether two directions are orthogonal for certain."""
    return _vanishes([a.dot(b)], [_length(a), _length(b)])


def _vanishes(values: Sequence[Expr], scales: Sequence[Expr]) -> bool:
    """Whether values are zero: exactly, or to rounding when everything is a number."""
    if all(value.is_zero for value in values):
        return True
    if symbols_of([*values, *scales]):
        return False
    size = 1.0
    for scale in scales:
        size *= float(scale)
    return all(abs(float(value)) <= _SINE_OF_PARALLEL * size for value in values)


def _length(axis: Vec3) -> Expr:
    length: Expr = s.sqrt(axis.dot(axis))
    return length
