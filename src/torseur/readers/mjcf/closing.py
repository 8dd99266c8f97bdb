"""Joints that close loops as pairs of points or frames that MuJoCo holds together."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.mechanism import Joint
from torseur.readers.writing.steps import Motion, Offset, split
from torseur.readers.writing.values import Values
from torseur.spatial import SAME, Rotation, Transform

ROTATIONS = {0: "weld", 1: "connect", 3: "connect"}


@dataclass(frozen=True)
class Closure:
    """An equality constraint (connect or weld) between a frame of the joint's parent and one of its child."""

    kind: str
    first: Transform
    second: Transform


def can_close(joint: Joint) -> bool:
    """Whether MuJoCo can close a loop with the joint: it only turns, not at all, about one axis, or any way."""
    kinds = [motion.kind for motion in joint.motions]
    if kinds == ["quaternion"]:
        return True
    return (
        all(kind == "rotation" for kind in kinds) and len(kinds) in ROTATIONS and len(kinds) == len(joint.coordinates)
    )


def closures(joint: Joint, values: Values) -> list[Closure]:
    """The constraints that close a loop with the joint; a hinge is two points of its axis, one metre apart."""
    steps = split(joint, values)
    near, far = values.frame(joint.parent), values.frame(joint.child)
    turns = [step for step in steps if isinstance(step, Motion)]
    for step in steps:
        if isinstance(step, Offset):
            near = near.then(step.place)
    kind = "connect" if turns else "weld"
    points = [SAME] if len(turns) != 1 or turns[0].kind == "ball" else [SAME, Transform(Rotation(), turns[0].axis)]
    return [Closure(kind, near.then(point), far.then(point)) for point in points]
