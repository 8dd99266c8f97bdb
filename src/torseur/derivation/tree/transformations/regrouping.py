"""Regrouping of inertial parameters: the same dynamics from fewer of them.

Mass lying on the axis of a revolute joint moves like its parent, so it can be counted there; the rotational inertia of
a body on a sliding joint likewise (Gautier and Khalil 1990). Forces along joints, energies and momenta do not
change; reactions inside the joints concerned would.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.spatial import NULL, SAME, Inertia, Symmetric3, Transform, Vec3
from torseur.derivation.tree.body_constants import inertia_parts, sum_of
from torseur.derivation.tree.flatten import flatten, rebuild
from torseur.derivation.tree.tree import GROUND, Link, Tree, instantiate

# Why sums of constants are rounded once: docs/decisions/0020-constants-are-rounded-once.md.
DIGITS = 60
_NOTHING = Decimal(10) ** -40


def in_decimals(thing: Any) -> Any | None:
    """The structure with decimals for its numbers; None if something in it is none: a symbol, or an exact sqrt(2).

    Plain integers stay what they are: exact zeros, ones, and numbers of axes.
    """
    numbers = [_decimal(leaf) for leaf in flatten(thing)]
    return None if any(number is None for number in numbers) else rebuild(thing, iter(numbers))


def _decimal(leaf: Any) -> Decimal | int | None:
    if isinstance(leaf, int):
        return leaf
    number = leaf
    if isinstance(leaf, Expr):
        number = leaf.value if leaf.is_constant else None
    if number is None or isinstance(number, (int, float)):
        return None if number is None else Decimal(number)
    return Decimal(number.numerator) / Decimal(number.denominator)


def as_constants(thing: Any) -> Any:
    """The structure with exact constants for its decimals; what is nothing beside the largest of them is zero.

    Constants keep all digits, so that equations agree in any precision; they are rounded where code is written.
    """
    leaves = flatten(thing)
    largest = max((abs(leaf) for leaf in leaves if isinstance(leaf, Decimal)), default=Decimal(0))
    return rebuild(thing, iter([_constant(leaf, largest * _NOTHING) for leaf in leaves]))


def _constant(leaf: Any, nothing: Decimal) -> Any:
    if not isinstance(leaf, Decimal):
        return leaf
    return as_expr(0 if abs(leaf) <= nothing else Fraction(leaf))


_SLIDING = -1


# Why a tree becomes a tree, and who uses it: docs/decisions/0006-regrouping-maps-tree-to-tree.md.
def regroup(tree: Tree) -> Tree:
    """The tree with the parameters that its joints cannot distinguish moved toward the earth.

    Where everything is numbers, sums and differences are taken in many digits and rounded once: masses on an axis are
    taken out here and put in there, and a light wrist on a long arm would keep what rounding leaves of them.
    """
    moving = [_indistinct(link) for link in tree.links]
    places = [SAME if axis is None else _at_zero(link) for link, axis in zip(tree.links, moving, strict=True)]
    with localcontext(prec=DIGITS):
        inertias, exact = _precise_inertias(tree), in_decimals(places)
        if inertias is None or exact is None:
            kept = _move_inward(tree, moving, [link.inertia for link in tree.links], places)
        else:
            kept = as_constants(_move_inward(tree, moving, inertias, exact))
    left = [_with_summed_moment(inertia, axis) for inertia, axis in zip(kept, moving, strict=True)]
    return replace(tree, links=tuple(replace(link, inertia=i) for link, i in zip(tree.links, left, strict=True)))


def _precise_inertias(tree: Tree) -> list[Inertia] | None:
    """The inertia of each link in many digits, from its bodies; None if some of it is no number."""
    zero = Decimal(0)
    nothing = Inertia(zero, Vec3(zero, zero, zero), Symmetric3(zero, zero, zero, zero, zero, zero))
    inertias = [nothing] * len(tree.links)
    for body in tree.mechanism.bodies:
        link, *place = tree.places[body.name]
        if link == GROUND:
            continue
        parts = [(formula, in_decimals(given)) for formula, given in inertia_parts(body)]
        frame = in_decimals(place[0])
        if frame is None or any(given is None for _, given in parts):
            return None
        own = sum_of(formula(*given) for formula, given in parts if given is not None)
        inertias[link] = inertias[link] + frame.inertia_to_parent(own)
    return inertias


def _move_inward(tree: Tree, moving: list[int | None], given: list[Inertia], places: list[Transform]) -> list[Inertia]:
    # From the tips to the earth: what a link passes on, its parent may pass on in turn.
    inertias = list(given)
    for i in tree.inward():
        axis = moving[i]
        if axis is None:
            continue
        moved = (
            Inertia(0 * inertias[i].mass, NULL, inertias[i].matrix) if axis == _SLIDING else _on_axis(inertias[i], axis)
        )
        # On the axis a mass m at height z has the tensor m z² across and nothing along: it turns with nothing.
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
    # ∫z² = (I_xx + I_yy - I_zz) / 2 for the axis z.
    moments = [list(inertia.matrix.rows[k])[k] for k in range(3)]
    across = (moments[(axis + 1) % 3] + moments[(axis + 2) % 3] - moments[axis]) / 2
    xx, yy, zz = (0 if k == axis else across for k in range(3))
    moment = [list(inertia.moment)[k] if k == axis else 0 for k in range(3)]
    return Inertia(inertia.mass, Vec3(*moment), Symmetric3(xx, yy, zz, 0, 0, 0))


def _less(inertia: Inertia, part: Inertia) -> Inertia:
    return Inertia(inertia.mass - part.mass, inertia.moment - part.moment, inertia.matrix - part.matrix)


def _with_summed_moment(inertia: Inertia, axis: int | None) -> Inertia:
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
    # A driven joint moves at v = 0 too: mass on its axis need not move like its parent.
    still = instantiate(link.motion.velocity, {v: 0 * v for v in link.symbols.moving})
    return all(_is(c, 0) for c in (*still.angular, *still.linear))


def _at_zero(link: Link) -> Transform:
    """The place of the link when the coordinate that moves it, its own or one that it follows, is zero."""
    coordinates = (*link.symbols.coordinates, *(q for q, _ in link.symbols.followed))
    place: Transform = instantiate(link.motion.transform, {q: 0 * q for q in coordinates})
    return place


def _is(value: object, number: int) -> bool:
    return value.is_constant and value.value == number if isinstance(value, Expr) else value == number
