"""The tree in which a file describes a mechanism: which joint carries which body, and which close loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torseur.errors import UnsupportedError
from torseur.mechanism import EARTH_NAME, Joint, Mechanism


@dataclass(frozen=True)
class Limb:
    """A joint that carries a body from its parent; reversed when the mechanism describes it the other way round."""

    joint: Joint
    parent: str
    body: str
    reverse: bool


@dataclass(frozen=True)
class Outline:
    """Limbs with parents before children, depth first, and the joints that close loops."""

    limbs: tuple[Limb, ...]
    loops: tuple[Joint, ...]

    def on(self, body: str) -> list[Limb]:
        """What a body carries."""
        return [limb for limb in self.limbs if limb.parent == body]


def outline(mechanism: Mechanism, can_close: Callable[[Joint], bool]) -> Outline:
    """The tree of a mechanism; where it has loops, joints that can close them are cut."""
    limbs: list[Limb] = []
    used: set[str] = set()
    reached = {EARTH_NAME}
    while True:
        joint = _next(mechanism, reached, used, can_close)
        if joint is None:
            break
        reverse = joint.parent.body not in reached
        parent, body = (joint.child.body, joint.parent.body) if reverse else (joint.parent.body, joint.child.body)
        limbs.append(Limb(joint, parent, body, reverse))
        used.add(joint.name)
        reached.add(body)
    lost = [body.name for body in mechanism.bodies if body.name not in reached]
    if lost:
        raise UnsupportedError(f"no chain of joints leads from the earth to '{lost[0]}'.")
    return Outline(_depth_first(limbs), tuple(j for j in mechanism.joints if j.name not in used))


def _next(mechanism: Mechanism, reached: set[str], used: set[str], can_close: Callable[[Joint], bool]) -> Joint | None:
    """The best joint that leads from what is reached to something new."""
    waiting = [
        joint
        for joint in mechanism.joints
        if joint.name not in used
        and joint.role != "loop"
        and (joint.parent.body in reached) != (joint.child.body in reached)
    ]
    return min(waiting, key=lambda joint: (joint.role != "tree", can_close(joint)), default=None)


def _depth_first(limbs: list[Limb]) -> tuple[Limb, ...]:
    carried: dict[str, list[Limb]] = {}
    for limb in limbs:
        carried.setdefault(limb.parent, []).append(limb)
    ordered, waiting = [], list(reversed(carried.get(EARTH_NAME, [])))
    while waiting:
        limb = waiting.pop()
        ordered.append(limb)
        waiting.extend(reversed(carried.get(limb.body, [])))
    return tuple(ordered)
