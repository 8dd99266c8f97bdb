"""The spanning tree: which joints carry bodies and which close loops."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from torseur.errors import MechanismError
from torseur.mechanism import EARTH_NAME, Joint, Mechanism


@dataclass(frozen=True)
class Branch:
    """A joint of the tree: it carries `child` from `parent`; reversed when the description runs the other way."""

    joint: Joint
    parent: str
    child: str
    reverse: bool


@dataclass(frozen=True)
class SpanningTree:
    """Branches from the earth outward (parents first), and the joints that close loops."""

    branches: tuple[Branch, ...]
    loops: tuple[Joint, ...]


def spanning_tree(mechanism: Mechanism) -> SpanningTree:
    """Bodies reached from the earth breadth first, in the order joints were written.

    A joint whose role is "loop" never carries a body; one whose role is "tree" is preferred.
    """
    waiting = deque([EARTH_NAME])
    reached = {EARTH_NAME}
    branches: list[Branch] = []
    candidates = sorted(mechanism.joints, key=lambda joint: joint.role != "tree")
    while waiting:
        body = waiting.popleft()
        for joint in candidates:
            branch = _branch(joint, body)
            if branch is not None and branch.child not in reached and joint.role != "loop":
                reached.add(branch.child)
                branches.append(branch)
                waiting.append(branch.child)
    _require_all(mechanism, reached)
    carried = {branch.joint.name for branch in branches}
    return SpanningTree(tuple(_depth_first(branches)), tuple(j for j in mechanism.joints if j.name not in carried))


def _branch(joint: Joint, body: str) -> Branch | None:
    if joint.parent.body == body:
        return Branch(joint, body, joint.child.body, False)
    if joint.child.body == body:
        return Branch(joint, body, joint.parent.body, True)
    return None


def _depth_first(branches: list[Branch]) -> list[Branch]:
    """The same tree limb by limb: neighbours in the numbering are neighbours in the mechanism."""
    children: dict[str, list[Branch]] = {}
    for branch in branches:
        children.setdefault(branch.parent, []).append(branch)
    ordered: list[Branch] = []
    stack = list(reversed(children.get(EARTH_NAME, [])))
    while stack:
        branch = stack.pop()
        ordered.append(branch)
        stack.extend(reversed(children.get(branch.child, [])))
    return ordered


def _require_all(mechanism: Mechanism, reached: set[str]) -> None:
    lost = [body.name for body in mechanism.bodies if body.name not in reached]
    if lost:
        listing = ", ".join(f"'{name}'" for name in lost)
        raise MechanismError(
            f"no chain of joints leads from the earth to {listing}. Join one of them to 'earth' "
            "(with a free joint if it floats)."
        )
