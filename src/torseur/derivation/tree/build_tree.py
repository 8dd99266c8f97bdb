"""From a mechanism to its tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torseur.algebra.graph import Expr, symbols_of
from torseur.algebra.spatial import NO_INERTIA, SAME, Inertia, Transform, Vec3
from torseur.derivation.tree.body_constants import body_inertia, mass_centre, transform_of
from torseur.derivation.tree.definitions import definitions_of, resolve_structure
from torseur.derivation.tree.flatten import flatten
from torseur.derivation.tree.joints.joint_kinematics import joint_kinematics, joint_symbols
from torseur.derivation.tree.spanning_tree import Branch, spanning_tree
from torseur.derivation.tree.state_rates import state_rates
from torseur.derivation.tree.tree import GROUND, Layout, Link, Tree, far_side
from torseur.derivation.tree.unknowns import solved_unknowns
from torseur.description.mechanism import (
    EARTH_NAME,
    LENGTH,
    LENGTH_RATE,
    TIME,
    Body,
    Mechanism,
    followed_coordinates,
    require_mechanism,
)


def build_tree(mechanism: Mechanism) -> Tree:
    """The tree of a mechanism: spanning tree, rigid groups, numbering, joint kinematics."""
    require_mechanism(mechanism)
    spanning = spanning_tree(mechanism)
    builder = _Builder(mechanism)
    for branch in spanning.branches:
        builder.add(branch)
    return builder.finish(spanning.loops)


class _Builder:
    """Collects links while walking outward; bodies on fixed joints join the link that carries them."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.definitions = definitions_of(mechanism)
        self.definitions |= solved_unknowns(mechanism, self.definitions)
        self.followed = followed_coordinates(mechanism)
        self.links: list[Link] = []
        self.inertias: list[Inertia] = []
        self.places: dict[str, tuple[int, Transform]] = {EARTH_NAME: (GROUND, SAME)}
        self.far_sides: dict[str, int] = {}
        self.q_count = self.v_count = 0

    def add(self, branch: Branch) -> None:
        near, far = branch.joint.parent, branch.joint.child
        if branch.reverse:
            near, far = far, near
        parent, reference = self.places[branch.parent]
        base = reference.then(self.local(branch.parent, near.base, near.placement))
        # A closing joint that keeps its coordinates: a massless link, so that its far side has a place of its own.
        if branch.closes:
            self.links.append(replace(self.link(branch, parent, base), name=branch.joint.name))
            self.inertias.append(NO_INERTIA)
            self.far_sides[branch.joint.name] = len(self.links) - 1
            return
        body = self.mechanism.body(branch.child)
        body_in_joint = self.local(branch.child, far.base, far.placement).inverse
        # A fixed joint makes no link: its body adds its inertia to the link that carries it.
        if not branch.joint.motions:
            self.attach(body, parent, base.then(body_in_joint))
            return
        self.links.append(self.link(branch, parent, base))
        self.inertias.append(NO_INERTIA)
        self.attach(body, len(self.links) - 1, body_in_joint)

    def local(self, body: str, base: str, placement: Any) -> Transform:
        """A frame of a body in the body's reference frame."""
        offset = transform_of(placement)
        return offset if base == "frame" else mass_centre(self.mechanism.body(body)).then(offset)

    def attach(self, body: Body, link: int, place: Transform) -> None:
        """A body fixed in a link at a place."""
        self.places[body.name] = (link, place)
        if link != GROUND:
            self.inertias[link] = self.inertias[link] + place.inertia_to_parent(body_inertia(body))

    def link(self, branch: Branch, parent: int, base: Transform) -> Link:
        joint = branch.joint
        followed = self.followed.get(joint.name, ())
        symbols = joint_symbols(joint, followed)
        # A law may hide a coordinate that is followed: it is expanded before anything is differentiated.
        expanded = replace(joint, motions=self.resolve(joint.motions)) if followed else joint
        motion = joint_kinematics(expanded, symbols, branch.reverse)
        placed = replace(motion, transform=base.then(motion.transform))
        q = slice(self.q_count, self.q_count + len(symbols.coordinates))
        v = slice(self.v_count, self.v_count + len(symbols.speeds))
        self.q_count, self.v_count = q.stop, v.stop
        return Link(branch.child, parent, joint, symbols, branch.reverse, placed, NO_INERTIA, q, v, base)

    def finish(self, loops: tuple[Any, ...]) -> Tree:
        """Substitutes laws and dependent parameters everywhere and numbers what is left."""
        # A joint may follow one that comes after it in the tree: slots are known when all links are there.
        slots = {rate: k for k, rate in enumerate(x for link in self.links for x in link.symbols.speeds)}
        links = [
            replace(
                link,
                motion=self.resolve(link.motion),
                inertia=self.resolve(inertia),
                base=self.resolve(link.base),
                followed=tuple(slots[rate] for _, rate in link.symbols.followed),
            )
            for link, inertia in zip(self.links, self.inertias, strict=True)
        ]
        # Laws and dependent parameters are expanded once here, and nowhere in the algorithms.
        gravity = self.resolve(Vec3(*self.mechanism.gravity))
        places = {
            body.name: (link, self.resolve(place), self.resolve(place.then(mass_centre(body))))
            for body in self.mechanism.bodies
            for link, place in [self.places[body.name]]
        }
        places |= {far_side(joint): (link, SAME, SAME) for joint, link in self.far_sides.items()}
        loads = self.resolve(_expressions(self.mechanism.loads))
        rates_of_states = state_rates(self.mechanism, self.definitions)
        layout = self.layout(
            [link.motion for link in links],
            [link.inertia for link in links],
            gravity,
            list(places.values()),
            loads,
            self.resolve(_expressions([self.mechanism.constraints, loops])),
            list(rates_of_states.values()),
        )
        definitions = self.definitions
        return Tree(self.mechanism, tuple(links), layout, gravity, places, loops, definitions, rates_of_states, {})

    def resolve(self, thing: Any) -> Any:
        """A structure of expressions with laws and dependent parameters expanded."""
        return resolve_structure(self.mechanism, self.definitions, thing)

    def layout(self, *constants: Any) -> Layout:
        """State symbols by link; declared parameters, then the symbols of what was not given."""
        symbols = [link.symbols for link in self.links]
        coordinates, rates, speeds, natural = (
            tuple(x for group in symbols for x in getattr(group, kind))
            for kind in ("coordinates", "rates", "speeds", "natural")
        )
        # Order matters: generated functions take parameters in this order, declared ones as the user wrote them.
        declared = [p.symbol for p in self.mechanism.parameters if p.symbol not in self.definitions]
        measured = {sensor.symbol for sensor in self.mechanism.sensors}
        closing = {x for joint in self.mechanism.joints for c in joint.coordinates for x in (c.symbol, c.rate)}
        # States come after the coordinates of the joints: like those of a quaternion, they have no speeds of their own
        # (docs/decisions/0073-states-stand-after-the-coordinates.md).
        states = [state for state in self.mechanism.states if state.symbol not in self.definitions]
        coordinates = (*coordinates, *(state.symbol for state in states))
        rates = (*rates, *(state.rate for state in states))
        known = {*coordinates, *rates, *speeds, *natural, *declared, *measured, *closing, TIME, LENGTH, LENGTH_RATE}
        implicit = [x for x in symbols_of(_expressions(constants)) if x not in known]
        return Layout(coordinates, rates, speeds, (*declared, *implicit), len(states))


def _expressions(thing: Any) -> list[Expr]:
    return [leaf for leaf in flatten(thing) if isinstance(leaf, Expr)]
