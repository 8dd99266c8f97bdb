"""The tree in which a file describes a mechanism: which joint carries which body, and which close loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torseur.description.mechanism import EARTH_NAME, Joint, Mechanism
from torseur.description.readers.robot_file import Finding
from torseur.errors import UnsupportedError

# What is not written of a mechanism: formats can say less, and some of what they can is not written yet.
LEFT_OUT = "left out"


class LeftOut:
    """Collects what is left out; unless the user accepts it, writing ends in an error that lists it."""

    def __init__(self, file_format: str) -> None:
        self.format = file_format
        self._counts: dict[str, int] = {}
        self._grave: list[str] = []

    def add(self, what: str) -> None:
        """Something without which the motion is another."""
        self.note(what)
        self._grave.append(f"{what} is not written to {self.format}.")

    def note(self, what: str) -> None:
        """Something that does not change the motion; what is said again is counted."""
        message = f"{what} is not written to {self.format}."
        self._counts[message] = self._counts.get(message, 0) + 1

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(Finding(LEFT_OUT, message, count=count) for message, count in self._counts.items())

    def require_nothing(self) -> None:
        if self._grave:
            listing = "\n  ".join(self._grave)
            advice = "Write it with partial=True to leave this out."
            raise UnsupportedError(f"the mechanism says more than a file can hold:\n  {listing}\n{advice}")


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
