"""The tree: links numbered from the earth outward, with everything the algorithms of dynamics ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from torseur.errors import MechanismError, unknown_name
from torseur.graph import Expr, as_expr, evaluate
from torseur.mechanism import EARTH_NAME, TIME, Frame, Joint, Mechanism
from torseur.spatial import SAME, Inertia, Scalar, Transform, Vec3
from torseur.tree.constants import transform_of
from torseur.tree.definitions import resolved
from torseur.tree.flatten import flatten, rebuild
from torseur.tree.joint_kinematics import JointKinematics, JointSymbols
from torseur.tree.layout import Layout

GROUND = -1


def far_side(joint: str) -> str:
    """The name under which a tree places the far side of a joint that closes a loop but keeps its coordinates."""
    return f"far side of {joint}"


@dataclass(frozen=True)
class Link:
    """Bodies that move as one, carried by one joint.

    Its frame is the child frame of the joint. `q` and `v` are its slots in the state. `base` is the joint's own
    frame in the parent link; `motion` begins with it. `alike` is how many such links, computed abreast, the parent
    carries in this one's place.
    """

    name: str
    parent: int
    joint: Joint
    symbols: JointSymbols
    reverse: bool
    motion: JointKinematics
    inertia: Inertia
    q: slice
    v: slice
    base: Transform = SAME
    alike: int = 1


@dataclass(frozen=True)
class Moving:
    """What the algorithms need of a link at one state, in any scalar."""

    motion: JointKinematics
    inertia: Inertia


def instantiate(thing: Any, values: Mapping[Expr, Any]) -> Any:
    """Any structure of expressions (tuples, vectors, transforms, inertias) with values for its symbols."""
    leaves = flatten(thing)
    results = iter(evaluate([leaf for leaf in leaves if isinstance(leaf, Expr)], values))
    return rebuild(thing, iter([next(results) if isinstance(leaf, Expr) else leaf for leaf in leaves]))


@dataclass(frozen=True)
class Snapshot:
    """A tree at one state: its links, gravity, and any other constant in the same scalar."""

    tree: Tree
    links: tuple[Moving, ...]
    gravity: Vec3
    values: Mapping[Expr, Any] | None

    @cached_property
    def rates(self) -> dict[Expr, Any]:
        """The rate of each coordinate, by its symbol."""
        pairs = [
            (link.symbols.rates, moving.motion.rates) for link, moving in zip(self.tree.links, self.links, strict=True)
        ]
        return {symbol: rate for symbols, rates in pairs for symbol, rate in zip(symbols, rates, strict=True)}

    def evaluated(self, thing: Any) -> Any:
        """A structure of expressions at this state."""
        return thing if self.values is None else instantiate(thing, self.values)

    def place(self, frame: Frame) -> tuple[int, Transform]:
        """The link a frame is fixed in (GROUND for the earth) and its place there."""
        link, place = self.tree.place(frame)
        return link, self.evaluated(place)


@dataclass(frozen=True)
class Tree:
    """Links with parents before children; constants and joint kinematics are expressions of the layout's symbols.

    `places` gives each body's frame (and mass centre frame) in its link; `loops` are the joints that close cycles. One
    that keeps its coordinates has a massless link of its own, placed under `far_side(joint)`.
    `parameters` binds parameter symbols to values of any scalar for evaluation; empty, they stay symbols.
    """

    mechanism: Mechanism
    links: tuple[Link, ...]
    layout: Layout
    gravity: Vec3
    places: Mapping[str, tuple[int, Transform, Transform]]
    loops: tuple[Joint, ...]
    definitions: Mapping[Expr, Expr]
    parameters: Mapping[Expr, Any]

    def __len__(self) -> int:
        return len(self.links)

    def outward(self) -> range:
        """Link indices, parents before children."""
        return range(len(self.links))

    def inward(self) -> range:
        """Link indices, children before parents."""
        return range(len(self.links) - 1, -1, -1)

    def parent(self, link: int) -> int:
        return self.links[link].parent

    def path(self, link: int) -> list[int]:
        """The links from this one to the earth, itself first."""
        path = []
        while link != GROUND:
            path.append(link)
            link = self.links[link].parent
        return path

    @cached_property
    def subtrees(self) -> list[list[int]]:
        """For each link, itself and everything it carries."""
        carried: list[list[int]] = [[i] for i in self.outward()]
        for i in self.inward():
            if self.links[i].parent != GROUND:
                carried[self.links[i].parent] += carried[i]
        return [sorted(group) for group in carried]

    def with_parameters(self, values: Mapping[str, Any]) -> Tree:
        """The tree with values for its parameters, by name, in any scalar."""
        bound = {self.layout.parameters[self.layout.slot("parameter", name)]: value for name, value in values.items()}
        return replace(self, parameters={**self.parameters, **bound})

    def bindings(self, q: Sequence[Scalar], v: Sequence[Scalar], t: Scalar) -> dict[Expr, Any]:
        """Values of time, coordinates, speeds and parameters at a state."""
        values = dict(self.parameters)
        values.update(zip(self.layout.coordinates, q, strict=True))
        values.update(zip(self.layout.speeds, v, strict=True))
        values[TIME] = t
        return values

    def at(self, q: Sequence[Scalar], v: Sequence[Scalar] | None = None, t: Scalar | None = None) -> Snapshot:
        """The tree at a state, at rest when no speeds are given; time stays a symbol for expressions, else starts at 0.

        With the layout's own symbols and no parameter values nothing is evaluated.
        """
        layout = self.layout
        own = all(a is b for a, b in zip(q, layout.coordinates, strict=True)) and not self.parameters
        links = tuple(Moving(link.motion, link.inertia) for link in self.links)
        if own and v is not None and all(a is b for a, b in zip(v, layout.speeds, strict=True)) and t in (None, TIME):
            return Snapshot(self, links, self.gravity, None)
        still = [as_expr(0) if own else 0] * len(layout.speeds)
        symbolic = all(isinstance(x, Expr) for x in q)
        values = self.bindings(q, still if v is None else v, t if t is not None else TIME if symbolic else 0)
        moving, gravity = instantiate((links, self.gravity), values)
        return Snapshot(self, moving, gravity, values)

    def place(self, frame: Frame) -> tuple[int, Transform]:
        """The link a frame is fixed in (GROUND for the earth) and its place there."""
        offset = resolved(self.mechanism, self.definitions, transform_of(frame.placement))
        if frame.body == EARTH_NAME:
            return GROUND, offset
        if frame.body not in self.places:
            raise MechanismError(unknown_name("body", frame.body, [EARTH_NAME, *self.places]))
        link, reference, centre = self.places[frame.body]
        base = reference if frame.base == "frame" else centre
        return link, base if offset == SAME else base.then(offset)
