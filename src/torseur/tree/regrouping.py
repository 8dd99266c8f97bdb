"""Regrouping of inertial parameters: the same dynamics from fewer of them.

Mass lying on the axis of a revolute joint moves like its parent, so it can be counted there; the rotational inertia of
a body on a sliding joint likewise (Gautier and Khalil 1990). Forces along joints, energies and momenta do not
change; reactions inside the joints concerned would.
"""

from __future__ import annotations

from dataclasses import replace

from torseur.graph import Expr
from torseur.spatial import NULL, Inertia, Symmetric3, Transform, Vec3
from torseur.tree.tree import GROUND, Link, Tree, instantiate


def regrouped(tree: Tree) -> Tree:
    """The tree with the parameters that its joints cannot distinguish moved toward the earth."""
    links = list(tree.links)
    for i in tree.inward():
        moved = _indistinct(links[i])
        if moved is None:
            continue
        links[i] = replace(links[i], inertia=_less(links[i], moved))
        parent = links[i].parent
        if parent != GROUND:
            carried = _at_zero(links[i]).inertia_to_parent(moved)
            links[parent] = replace(links[parent], inertia=links[parent].inertia + carried)
    return replace(tree, links=tuple(links))


def _indistinct(link: Link) -> Inertia | None:
    """The part of a link's inertia that its parent could have instead, or None."""
    if len(link.motion.screws) != 1 or not _scleronomic(link):
        return None
    if all(_is(c, 0) for c in link.motion.screws[0].angular):
        return Inertia(0, NULL, link.inertia.matrix)
    axis = _turning_axis(link)
    return None if axis is None else _on_axis(link.inertia, axis)


def _on_axis(inertia: Inertia, axis: int) -> Inertia:
    """Mass, its moment along the axis z, and ∫z² dm as moments of inertia across: a mass distribution on the axis."""
    moments = [list(inertia.matrix.rows[k])[k] for k in range(3)]
    across = (moments[(axis + 1) % 3] + moments[(axis + 2) % 3] - moments[axis]) / 2
    xx, yy, zz = (0 if k == axis else across for k in range(3))
    moment = [list(inertia.moment)[k] if k == axis else 0 for k in range(3)]
    return Inertia(inertia.mass, Vec3(*moment), Symmetric3(xx, yy, zz, 0, 0, 0))


def _less(link: Link, part: Inertia) -> Inertia:
    """What is left of a link's inertia.

    With no ∫z² dm along a revolute axis, the moment about it is the sum of the others: written as that sum, the
    difference of the two vanishes identically wherever it appears.
    """
    inertia = link.inertia
    rest = Inertia(inertia.mass - part.mass, inertia.moment - part.moment, inertia.matrix - part.matrix)
    axis = _turning_axis(link)
    if axis is None:
        return rest
    moments = [rest.matrix.xx, rest.matrix.yy, rest.matrix.zz]
    moments[axis] = moments[(axis + 1) % 3] + moments[(axis + 2) % 3]
    xx, yy, zz = moments
    return replace(rest, matrix=Symmetric3(xx, yy, zz, rest.matrix.xy, rest.matrix.xz, rest.matrix.yz))


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
