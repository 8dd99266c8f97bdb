"""The elementary motions of a joint as transforms, one step each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torseur.graph import as_expr
from torseur.graph import scalar as s
from torseur.mechanism import ElementaryMotion
from torseur.spatial import NULL, Rotation, Transform, Vec3, about, from_quaternion
from torseur.tree.tree import Link


def step_of(link: Link, motion: ElementaryMotion) -> Transform:
    """The displacement of one elementary motion."""
    if motion.kind == "translation":
        return Transform(Rotation(), unit_vector(motion.axis) * motion.amount)
    if motion.kind == "rotation":
        return Transform(about(Vec3(*motion.axis), motion.amount), NULL)
    turn = from_quaternion(*link.symbols.quaternion)
    return Transform(turn if motion.kind == "quaternion" else turn.inverse, NULL)


def way_back(motions: Sequence[ElementaryMotion]) -> list[ElementaryMotion]:
    """From child to parent: the opposite motions, last first."""
    return [
        replace(m, kind="inverse quaternion") if m.kind == "quaternion" else replace(m, amount=-m.amount)
        for m in reversed(motions)
    ]


def unit_vector(axis: Sequence[Any]) -> Vec3:
    """The axis at length one."""
    direction = Vec3(*axis)
    square = direction.dot(direction)
    return direction if square is as_expr(1) else direction * (1 / s.sqrt(square))
