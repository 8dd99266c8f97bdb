"""The spanning tree: which joints carry bodies and which close loops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush

from torseur.algebra.graph import Expr, as_expr, symbols_of
from torseur.derivation.tree.flatten import flatten
from torseur.derivation.tree.joints.lower_pairs import pair_of
from torseur.description.mechanism import (
    EARTH_NAME,
    Coordinate,
    CoordinateForce,
    CoordinateSpring,
    Joint,
    Mechanism,
    followed_coordinates,
)
from torseur.errors import MechanismError


@dataclass(frozen=True)
class Branch:
    """A joint of the tree: it carries `child` from `parent`; reversed when the description runs the other way.

    A branch that `closes` carries no body but the far side of a joint whose coordinates are kept although it
    closes a loop; `child` is then the body that the far side must meet.
    """

    joint: Joint
    parent: str
    child: str
    reverse: bool
    closes: bool = False


@dataclass(frozen=True)
class SpanningTree:
    """Branches from the earth outward (parents first), and the joints that close loops."""

    branches: tuple[Branch, ...]
    loops: tuple[Joint, ...]


def spanning_tree(mechanism: Mechanism) -> SpanningTree:
    """Bodies reached from the earth, each by the most useful joint at hand and by few joints.

    A joint whose role is "loop" never carries a body; one whose role is "tree" is preferred. Then come joints whose
    coordinates are used by loads, constraints, contacts, states or the initial state, joints that closure equations
    cannot do without coordinates, and joints with few freedoms. Joints left over close loops.
    """
    # Prim's algorithm with a heap; the key orders joints by usefulness, then by distance from the earth, then as
    # written, so that the same description gives the same tree wherever it is read.
    usefulness, touching = _Usefulness(mechanism), _touching(mechanism)
    waiting: list[tuple[tuple[int, ...], Branch]] = []
    reached = {EARTH_NAME: 0}
    branches: list[Branch] = []

    def look_around(body: str) -> None:
        for order, joint in touching.get(body, ()):
            branch = _branch(joint, body)
            if branch is not None and branch.child not in reached and joint.role != "loop":
                heappush(waiting, ((*usefulness.rank(joint), reached[body], order), branch))

    look_around(EARTH_NAME)
    while waiting:
        _, branch = heappop(waiting)
        if branch.child not in reached:
            reached[branch.child] = reached[branch.parent] + 1
            branches.append(branch)
            look_around(branch.child)
    _require_all(mechanism, set(reached))
    carried = {branch.joint.name for branch in branches}
    loops = tuple(j for j in mechanism.joints if j.name not in carried)
    kept = [Branch(j, j.parent.body, j.child.body, False, closes=True) for j in loops if usefulness.keeps(j)]
    return SpanningTree(tuple(_depth_first([*branches, *kept], mechanism)), loops)


def with_stated(mechanism: Mechanism, names: Iterable[str]) -> Mechanism:
    """The mechanism that keeps the coordinates of a joint that closes a loop where one of these names is among them.

    They are coordinates, rates or speeds that start with values given elsewhere: stated here, they are in the state.
    """
    stated = {name for name, _ in mechanism.initial}
    wanted = [name for name in names if name not in stated]
    closing = {joint.name: _names_of_state(joint) for joint in spanning_tree(mechanism).loops} if wanted else {}
    added = [(name, as_expr(0)) for name in wanted if any(name in own for own in closing.values())]
    if not added:
        return mechanism
    # With the roles said, a value does not move the cut to another joint: the state only gains coordinates.
    joints = tuple(replace(j, role="loop" if j.name in closing else "tree") for j in mechanism.joints)
    return replace(mechanism, joints=joints, initial=(*mechanism.initial, *added))


def _names_of_state(joint: Joint) -> set[str]:
    """What an initial value of a joint may be called: its coordinates, their rates, its speeds."""
    own = {name for c in joint.coordinates for name in (c.name, f"{c.name}'")} | {s.name for s in joint.speeds}
    return own | {f"{joint.name}.{part}{axis}" for part in "vw" for axis in "xyz"}


@dataclass(frozen=True)
class _Usefulness:
    """Why a joint should rather carry a body than close a loop."""

    mechanism: Mechanism

    def rank(self, joint: Joint) -> tuple[int, ...]:
        """Smaller is more useful in the tree."""
        return (
            joint.role != "tree",
            not self.is_used(joint),
            not self.is_given(joint),
            pair_of(joint) is not None,
            len(joint.coordinates),
        )

    def keeps(self, joint: Joint) -> bool:
        """Whether a joint that closes a loop needs its coordinates in the state."""
        return self.is_used(joint) or self.is_given(joint) or pair_of(joint) is None or joint.name in self._followers

    def is_given(self, joint: Joint) -> bool:
        """Whether an initial value is stated for it: in the state it is kept, compared with the others, or a guess."""
        return bool(_names_of_state(joint) & self._stated_names)

    @cached_property
    def _stated_names(self) -> set[str]:
        return {name for name, _ in self.mechanism.initial}

    def is_used(self, joint: Joint) -> bool:
        """Whether loads, constraints, contacts or states refer to the joint's coordinates, rates or speeds."""
        own = {c.symbol for c in joint.coordinates} | {c.rate for c in joint.coordinates}
        names = {speed.name for speed in joint.speeds}
        return (
            joint.name in self._joints_with_loads
            or bool(own & self._symbols)
            or any(x.name in names for x in self._symbols)
        )

    @cached_property
    def _joints_with_loads(self) -> set[str]:
        return {load.joint for load in self.mechanism.loads if isinstance(load, (CoordinateForce, CoordinateSpring))}

    @cached_property
    def _followers(self) -> dict[str, tuple[Coordinate, ...]]:
        return followed_coordinates(self.mechanism)

    @cached_property
    def _symbols(self) -> set[Expr]:
        whole = self.mechanism
        formulas = flatten([whole.loads, whole.constraints, whole.contacts, whole.states, whole.state_equations,
                            [law.formula for law in whole.laws]])  # fmt: skip
        led = [q.symbol for followed in self._followers.values() for q in followed]
        return set(symbols_of([*(leaf for leaf in formulas if isinstance(leaf, Expr)), *led]))


def _touching(mechanism: Mechanism) -> dict[str, list[tuple[int, Joint]]]:
    """The joints at each body, numbered as they were written."""
    at_body: dict[str, list[tuple[int, Joint]]] = {}
    for order, joint in enumerate(mechanism.joints):
        for body in (joint.parent.body, joint.child.body):
            at_body.setdefault(body, []).append((order, joint))
    return at_body


def _branch(joint: Joint, body: str) -> Branch | None:
    if joint.parent.body == body:
        return Branch(joint, body, joint.child.body, False)
    if joint.child.body == body:
        return Branch(joint, body, joint.parent.body, True)
    return None


def _depth_first(branches: list[Branch], mechanism: Mechanism) -> list[Branch]:
    """The tree limb by limb, in the order joints were written: neighbours in number are neighbours in the mechanism."""
    written = {joint.name: order for order, joint in enumerate(mechanism.joints)}
    children: dict[str, list[Branch]] = {}
    for branch in sorted(branches, key=lambda b: (b.joint.role != "tree", written[b.joint.name])):
        children.setdefault(branch.parent, []).append(branch)
    # A stack takes the last first: children go on it in reverse.
    ordered: list[Branch] = []
    stack = list(reversed(children.get(EARTH_NAME, [])))
    while stack:
        branch = stack.pop()
        ordered.append(branch)
        if not branch.closes:
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
