"""How coordinates follow the speeds: q' = W(q, t) v + w(q, t), and derivatives along a motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, as_expr, jacobian, substitute, time_derivative
from torseur.algebra.spatial import REST, Motion, Vec3, quaternion_rate
from torseur.derivation.dynamics import coordinate_rates
from torseur.derivation.tree import Link, Tree, resolve
from torseur.description.mechanism import TIME, body_rotation, body_velocity


@dataclass(frozen=True)
class Rates:
    """The relation between the coordinates' rates q' and the speeds v of a tree."""

    tree: Tree

    @cached_property
    def values(self) -> list[Expr]:
        """q' in terms of q, v and t."""
        return coordinate_rates(self.tree)

    @cached_property
    def directions(self) -> dict[tuple[int, int], Expr]:
        """W: entry (i, k) is the rate of coordinate i per unit of speed k, where it is not zero."""
        layout = self.tree.layout
        return jacobian(self.values[: len(layout.joint_coordinates)], layout.speeds)

    @cached_property
    def moving(self) -> dict[Expr, Expr]:
        """Every coordinate with its rate."""
        return dict(zip(self.tree.layout.coordinates, self.values, strict=True))

    def along(self, covector: Sequence[Expr]) -> list[Expr]:
        """Wᵀ c: components by coordinate turned into components by speed, because δq = W δπ."""
        total = [as_expr(0)] * len(self.tree.layout.speeds)
        for (i, k), direction in self.directions.items():
            total[k] = total[k] + direction * covector[i]
        return total

    def matrix_along(self, matrix: Sequence[Sequence[Expr]]) -> list[list[Expr]]:
        """Wᵀ A W of a symmetric matrix by coordinates."""
        # (Wᵀ (A W)ᵀ)ᵀ: rows first, then columns, each time by the few entries of W that are not zero.
        half = [self.along(row) for row in matrix]
        return [self.along(column) for column in zip(*half, strict=True)]

    def by_coordinate(self, covector: Sequence[Expr]) -> list[Expr]:
        """Yᵀ c: components by speed turned into components by coordinate, because δπ = Y δq."""
        total = [as_expr(0)] * len(self.tree.layout.joint_coordinates)
        for link in self.tree.links:
            for (k, i), form in jacobian(self.definitions(link), link.symbols.rates).items():
                total[link.q.start + i] = total[link.q.start + i] + form * covector[link.v.start + k]
        return total

    def change(self, expressions: Sequence[Any]) -> list[Expr]:
        """d/dt while the speeds stay constant."""
        return time_derivative([as_expr(e) for e in expressions], self.moving, TIME)

    def full_change(self, expressions: Sequence[Any]) -> list[Expr]:
        """d/dt, linear in the symbols v' of the accelerations."""
        accelerating = dict(zip(self.tree.layout.speeds, self.tree.layout.accelerations, strict=True))
        return time_derivative([as_expr(e) for e in expressions], self.moving | accelerating, TIME)

    def in_speeds(self, expressions: Sequence[Expr]) -> list[Expr]:
        """Expressions of the symbols q' rewritten with the speeds."""
        pairs = zip(self.tree.layout.rates, self.values, strict=True)
        return substitute(list(expressions), {rate: value for rate, value in pairs if rate is not value})

    def natural_speeds(self, link: Link) -> list[Expr]:
        """Rates of a joint's ordinary coordinates, then the angular velocity of its quaternion, by the speeds."""
        natural = link.symbols.natural
        if natural == link.symbols.speeds:
            return list(natural)
        return self.in_speeds(natural_from_rates(link))

    def definitions(self, link: Link) -> list[Expr]:
        """The speeds of a joint in terms of q, q' and t: v = Y q' + y."""
        joint, natural = link.joint, natural_from_rates(link)
        if joint.frame_speeds == "body":
            parts = (body_velocity(joint.coordinates, joint.motions), body_rotation(joint.coordinates, joint.motions))
            values = [component for part in parts for component in part]
        elif joint.speeds:
            meaning = dict(zip(link.symbols.natural, natural, strict=True))
            changed = {w: value for w, value in meaning.items() if w is not value}
            values = substitute([speed.value for speed in joint.speeds], changed)
        else:
            values = natural
        return resolve(self.tree.mechanism, dict(self.tree.definitions), values)


def moves_in_own_axes(link: Link) -> bool:
    """Whether quasi-velocities are components of the link's velocity in its own axes: constant unit screws."""
    if not (link.joint.speeds or link.joint.frame_speeds):
        return False
    total = REST
    for screw, speed in zip(link.motion.screws, link.symbols.speeds, strict=True):
        # Compared as nodes: equal expressions are the same object, so that "is" asks for equality of what was built
        # alike.
        total = total + screw * speed
    pairs = zip(components(link.motion.velocity), components(total), strict=True)
    return all(given is along and (given.is_zero or given in link.symbols.speeds) for given, along in pairs)


def components(motion: Motion) -> list[Expr]:
    """Angular x, y, z, then linear x, y, z."""
    return [as_expr(c) for c in (*motion.angular, *motion.linear)]


def natural_from_rates(link: Link) -> list[Expr]:
    """Natural speeds of a joint in terms of q and q'; the quaternion is a unit one, so that ω is 2 q* ∘ q'."""
    ordinary = [rate for _, rate in link.symbols.ordinary]
    if not link.symbols.quaternion:
        return ordinary
    turning = link.symbols.natural[-3:]
    directions = jacobian(quaternion_rate(link.symbols.quaternion, Vec3(*turning)), turning)
    rates = dict(zip(link.symbols.coordinates, link.symbols.rates, strict=True))
    omega = [as_expr(0)] * 3
    # q' = ½ q ∘ ω = D ω with Dᵀ D = ¼ for a unit quaternion, so that ω = 4 Dᵀ q'.
    for (i, k), direction in directions.items():
        omega[k] = omega[k] + 4 * direction * rates[link.symbols.quaternion[i]]
    return [*ordinary, *omega]
