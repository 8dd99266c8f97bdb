"""The tree: links numbered from the earth outward, with everything the algorithms of dynamics ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, as_expr, evaluate, symbol
from torseur.algebra.spatial import SAME, Inertia, Scalar, Transform, Vec3
from torseur.derivation.tree.body_constants import transform_of
from torseur.derivation.tree.definitions import resolve_structure
from torseur.derivation.tree.flatten import flatten, rebuild
from torseur.derivation.tree.joints.joint_kinematics import JointKinematics, JointSymbols
from torseur.description.mechanism import EARTH_NAME, TIME, Frame, Joint, Mechanism
from torseur.description.mechanism.quantities import per_second
from torseur.errors import MechanismError, unknown_name


# The only place where names meet slots: everything else counts.
@dataclass(frozen=True)
class Layout:
    """Symbols of the coordinates q, their rates, the speeds v and the parameters p, each in slot order.

    The last coordinates are states beyond mechanics, `state_count` of them: they move nothing and have no speeds.
    """

    coordinates: tuple[Expr, ...]
    rates: tuple[Expr, ...]
    speeds: tuple[Expr, ...]
    parameters: tuple[Expr, ...]
    state_count: int = 0

    @property
    def joint_coordinates(self) -> tuple[Expr, ...]:
        """The coordinates that move something."""
        return self.coordinates[: len(self.coordinates) - self.state_count]

    @property
    def joint_rates(self) -> tuple[Expr, ...]:
        """The rates of the coordinates that move something."""
        return self.rates[: len(self.rates) - self.state_count]

    @property
    def joint_coordinate_names(self) -> list[str]:
        return [str(q.name) for q in self.joint_coordinates]

    @property
    def states(self) -> tuple[Expr, ...]:
        """The coordinates that are states beyond mechanics."""
        return self.coordinates[len(self.coordinates) - self.state_count :]

    @cached_property
    def accelerations(self) -> tuple[Expr, ...]:
        """Symbols of v'."""
        return tuple(symbol(f"{v.data.name}'", per_second(v.data.unit), f"rate of {v.data.name}") for v in self.speeds)

    @property
    def coordinate_names(self) -> list[str]:
        return [str(q.name) for q in self.coordinates]

    @property
    def speed_names(self) -> list[str]:
        return [str(v.name) for v in self.speeds]

    @property
    def parameter_names(self) -> list[str]:
        return [str(p.name) for p in self.parameters]

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(
            str(x.name) for part in (self.coordinates, self.rates, self.speeds, self.parameters) for x in part
        )

    def fresh_symbol(self, name: str, unit: str, meaning: str) -> Expr:
        """A symbol for an unknown of a formalism; a user may have called a coordinate or parameter just so."""
        while name in self._names:
            name += "_"
        return symbol(name, unit, meaning)

    def slot(self, kind: str, name: str) -> int:
        """The slot of a coordinate, speed or parameter by name."""
        names = {
            "coordinate": self.coordinate_names,
            "speed": self.speed_names,
            "parameter": self.parameter_names,
        }[kind]
        if name not in names:
            raise MechanismError(unknown_name(kind, name, names))
        return names.index(name)

    def vector(self, kind: str, values: Mapping[str, float], defaults: Sequence[float]) -> list[float]:
        """Values in slot order: the defaults, overridden by name."""
        result = list(defaults)
        for name, value in values.items():
            result[self.slot(kind, name)] = value
        return result


# The earth is no link: it has no joint, no inertia and no slots, and every walk inward ends here.
GROUND = -1


def far_side(joint: str) -> str:
    """The name under which a tree places the far side of a joint that closes a loop but keeps its coordinates."""
    return f"far side of {joint}"


@dataclass(frozen=True)
class Link:
    """Bodies that move as one, carried by one joint.

    Its frame is the child frame of the joint. `q` and `v` are its slots in the state. `base` is the joint's own
    frame in the parent link; `motion` begins with it. `copies` is how many such links, SIMD-batched, the parent
    carries in this one's place. `followed` are the speed slots of other joints that move this one too.
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
    copies: int = 1
    followed: tuple[int, ...] = ()

    @property
    def slots(self) -> tuple[int, ...]:
        """The speed slots of its screws, in their order: its own, then those that it follows."""
        return (*range(self.v.start, self.v.stop), *self.followed)


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

    def evaluate(self, thing: Any) -> Any:
        """A structure of expressions at this state."""
        return thing if self.values is None else instantiate(thing, self.values)

    def place(self, frame: Frame) -> tuple[int, Transform]:
        """The link a frame is fixed in (GROUND for the earth) and its place there."""
        link, place = self.tree.place(frame)
        return link, self.evaluate(place)


@dataclass(frozen=True)
class Tree:
    """Links with parents before children; constants and joint kinematics are expressions of the layout's symbols.

    `places` gives each body's frame (and mass centre frame) in its link; `loops` are the joints that close cycles. One
    that keeps its coordinates has a massless link of its own, placed under `far_side(joint)`.
    `state_rates` gives the rates of states beyond mechanics, in coordinates, their rates, sensors and states.
    `parameters` binds parameter symbols to values of any scalar for evaluation; empty, they stay symbols.
    """

    mechanism: Mechanism
    links: tuple[Link, ...]
    layout: Layout
    gravity: Vec3
    places: Mapping[str, tuple[int, Transform, Transform]]
    loops: tuple[Joint, ...]
    definitions: Mapping[Expr, Expr]
    state_rates: Mapping[Expr, Expr]
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

    @cached_property
    def wheels(self) -> frozenset[int]:
        """Links on the earth that carry nothing and follow one coordinate of another joint, as rotors do."""
        alone = {i for i, group in enumerate(self.subtrees) if len(group) == 1 and self.parent(i) == GROUND}
        return frozenset(i for i in alone if len(self.links[i].slots) == len(self.links[i].followed) == 1)

    @cached_property
    def is_coupled(self) -> bool:
        """Whether a joint, not only of a wheel, follows coordinates of others: one speed moves several joints."""
        return any(link.followed for i, link in enumerate(self.links) if i not in self.wheels)

    @cached_property
    def moved_by(self) -> list[list[int]]:
        """For each speed slot, the links whose joints it moves: one, and those that follow it."""
        moved: list[list[int]] = [[] for _ in self.layout.speeds]
        for i, link in enumerate(self.links):
            for k in link.slots:
                moved[k].append(i)
        return moved

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
        # Children come after their parents, so going inward every list is complete when it is handed on.
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
        # The links hold expressions of just these symbols: substituting each by itself would only cost time.
        if own and v is not None and all(a is b for a, b in zip(v, layout.speeds, strict=True)) and t in (None, TIME):
            return Snapshot(self, links, self.gravity, None)
        still = [as_expr(0) if own else 0] * len(layout.speeds)
        symbolic = all(isinstance(x, Expr) for x in q)
        values = self.bindings(q, still if v is None else v, t if t is not None else TIME if symbolic else 0)
        moving, gravity = instantiate((links, self.gravity), values)
        return Snapshot(self, moving, gravity, values)

    def place(self, frame: Frame) -> tuple[int, Transform]:
        """The link a frame is fixed in (GROUND for the earth) and its place there."""
        # A placement may hold parameters of its own, which the tree has expanded everywhere else.
        offset = resolve_structure(self.mechanism, self.definitions, transform_of(frame.placement))
        if frame.body == EARTH_NAME:
            return GROUND, offset
        if frame.body not in self.places:
            raise MechanismError(unknown_name("body", frame.body, [EARTH_NAME, *self.places]))
        link, reference, centre = self.places[frame.body]
        base = reference if frame.base == "frame" else centre
        return link, base if offset == SAME else base.then(offset)
