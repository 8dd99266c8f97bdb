"""Regrouping of inertial parameters: the same dynamics from fewer of them.

Mass lying on the axis of a revolute joint moves like its parent, so it can be counted there; the rotational inertia of
a body on a sliding joint likewise (Gautier and Khalil 1990). Forces along joints, energies and momenta do not
change; reactions inside the joints concerned would.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext

from torseur.graph import Expr
from torseur.spatial import NULL, SAME, Inertia, Symmetric3, Transform, Vec3
from torseur.tree.constants import inertia_parts, sum_of
from torseur.tree.decimals import DIGITS, as_constants, in_decimals
from torseur.tree.tree import GROUND, Link, Tree, instantiate

_SLIDING = -1


def regrouped(tree: Tree) -> Tree:
    """The tree with the parameters that its joints cannot distinguish moved toward the earth.

    Where everything is numbers, sums and differences are taken in many digits and rounded once: masses on an axis are
    taken out here and put in there, and a light wrist on a long arm would keep what rounding leaves of them.
    """
    moving = [_indistinct(link) for link in tree.links]
    places = [SAME if axis is None else _at_zero(link) for link, axis in zip(tree.links, moving, strict=True)]
    with localcontext(prec=DIGITS):
        inertias, exact = _precise_inertias(tree), in_decimals(places)
        if inertias is None or exact is None:
            kept = _moved_inward(tree, moving, [link.inertia for link in tree.links], places)
        else:
            kept = as_constants(_moved_inward(tree, moving, inertias, exact))
    left = [_summed(inertia, axis) for inertia, axis in zip(kept, moving, strict=True)]
    return replace(tree, links=tuple(replace(link, inertia=i) for link, i in zip(tree.links, left, strict=True)))


def _precise_inertias(tree: Tree) -> list[Inertia] | None:
    """The inertia of each link in many digits, from its bodies; None if some of it is no number."""
    zero = Decimal(0)
    nothing = Inertia(zero, Vec3(zero, zero, zero), Symmetric3(zero, zero, zero, zero, zero, zero))
    found = [nothing] * len(tree.links)
    for body in tree.mechanism.bodies:
        link, *place = tree.places[body.name]
        if link == GROUND:
            continue
        parts = [(formula, in_decimals(given)) for formula, given in inertia_parts(body)]
        frame = in_decimals(place[0])
        if frame is None or any(given is None for _, given in parts):
            return None
        own = sum_of(formula(*given) for formula, given in parts if given is not None)
        found[link] = found[link] + frame.inertia_to_parent(own)
    return found


def _moved_inward(tree: Tree, moving: list[int | None], given: list[Inertia], places: list[Transform]) -> list[Inertia]:
    inertias = list(given)
    for i in tree.inward():
        axis = moving[i]
        if axis is None:
            continue
        moved = (
            Inertia(0 * inertias[i].mass, NULL, inertias[i].matrix) if axis == _SLIDING else _on_axis(inertias[i], axis)
        )
        inertias[i] = _less(inertias[i], moved)
        parent = tree.parent(i)
        if parent != GROUND:
            inertias[parent] = inertias[parent] + places[i].inertia_to_parent(moved)
    return inertias


def _indistinct(link: Link) -> int | None:
    """What of a link's inertia its parent could have instead: that on an axis, all that resists turning, or nothing."""
    if len(link.motion.screws) != 1 or not _scleronomic(link):
        return None
    return _SLIDING if all(_is(c, 0) for c in link.motion.screws[0].angular) else _turning_axis(link)


def _on_axis(inertia: Inertia, axis: int) -> Inertia:
    """Mass, its moment along the axis z, and ∫z² dm as moments of inertia across: a mass distribution on the axis."""
    moments = [list(inertia.matrix.rows[k])[k] for k in range(3)]
    across = (moments[(axis + 1) % 3] + moments[(axis + 2) % 3] - moments[axis]) / 2
    xx, yy, zz = (0 if k == axis else across for k in range(3))
    moment = [list(inertia.moment)[k] if k == axis else 0 for k in range(3)]
    return Inertia(inertia.mass, Vec3(*moment), Symmetric3(xx, yy, zz, 0, 0, 0))


def _less(inertia: Inertia, part: Inertia) -> Inertia:
    return Inertia(inertia.mass - part.mass, inertia.moment - part.moment, inertia.matrix - part.matrix)


def _summed(inertia: Inertia, axis: int | None) -> Inertia:
    """The inertia with its moment about a revolute axis as the sum of the others.

    With no ∫z² dm along the axis it is that sum: so written, the difference of the two vanishes identically wherever
    it appears.
    """
    if axis is None or axis == _SLIDING:
        return inertia
    matrix = inertia.matrix
    moments = [matrix.xx, matrix.yy, matrix.zz]
    moments[axis] = moments[(axis + 1) % 3] + moments[(axis + 2) % 3]
    xx, yy, zz = moments
    return replace(inertia, matrix=Symmetric3(xx, yy, zz, matrix.xy, matrix.xz, matrix.yz))


def _turning_axis(link: Link) -> int | None:
    """The coordinate axis through its origin that the link turns about, if it does."""
    screw = link.motion.screws[0]
    if not all(_is(c, 0) for c in screw.linear):
        return None
    turning = [k for k, component in enumerate(screw.angular) if not _is(component, 0)]
    unit = len(turning) == 1 and any(_is(list(screw.angular)[turning[0]], sign) for sign in (1, -1))
    return turning[0] if unit else None


def _scleronomic(link: Link) -> bool:
    """Whether the joint moves by its coordinate alone: its velocity vanishes with its speed."""
    still = instantiate(link.motion.velocity, {v: 0 * v for v in link.symbols.speeds})
    return all(_is(c, 0) for c in (*still.angular, *still.linear))


def _at_zero(link: Link) -> Transform:
    """The place of the link when its coordinate is zero."""
    place: Transform = instantiate(link.motion.transform, {q: 0 * q for q in link.symbols.coordinates})
    return place


def _is(value: object, number: int) -> bool:
    return value.is_constant and value.value == number if isinstance(value, Expr) else value == number
