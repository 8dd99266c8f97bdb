"""A tree as the intrinsic algebra sees it: frames, points, axes, masses and inertias by name, with their components.

Every link has an origin O, an angular velocity ω and the way from its parent's origin: a fixed vector p, then moves
s u along and turns s about axes u. Every body has a mass m, a mass centre G at r from O, and an inertia I about G.
`components` gives each of these vectors in earth axes, so that whatever the algebra says can be computed and compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, as_expr, jacobian, time_derivative
from torseur.algebra.intrinsic.operators import TIME as CLOCK
from torseur.algebra.intrinsic.operators import Frame, matrix, vector
from torseur.algebra.spatial import NULL, Rotation, Symmetric3, Transform, Vec3, unit
from torseur.derivation.dynamics import coordinate_rates, link_poses
from torseur.derivation.equations.terms.origins import body_inertia_in_link
from torseur.derivation.equations.terms.trigonometry import vanishes
from torseur.derivation.tree import GROUND, Link, Tree
from torseur.derivation.tree.definitions import resolve_structure
from torseur.derivation.tree.joints.joint_kinematics import displacement, reversed_motions
from torseur.description.mechanism import TIME, Body, ElementaryMotion

EARTH = Frame("earth")


@dataclass(frozen=True)
class Advance:
    """One elementary motion: a turn into the frame `after` or a move in `before`, by `amount` along or about `axis`.

    `partials` are the derivatives of the amount's rate by speed slot. A quaternion has neither axis nor amount, and
    an "offset" is a move that never changes: its axis is the whole vector.
    """

    kind: str
    before: Frame
    after: Frame
    axis: Any = None
    amount: Any = None
    partials: dict[int, Expr] = field(default_factory=dict)

    @cached_property
    def rate(self) -> Any:
        return self.amount.diff(CLOCK)

    @cached_property
    def change_of_rate(self) -> Any:
        return self.amount.diff(CLOCK, 2)


@dataclass(frozen=True)
class Constant:
    """What a symbol stands for, with its components in the axes of `axes` where they are plain."""

    meaning: str
    axes: str = ""
    components: Vec3 | None = None


@dataclass(frozen=True)
class Mass:
    """A body with its mass, the vector from its link's origin to its mass centre (None: it lies there), its inertia."""

    body: str
    link: int
    mass: Any
    centre: Any
    inertia: Any


@dataclass
class FramesCatalogue:
    """Names and components; built by walking the tree once."""

    tree: Tree
    frames: dict[int, Frame] = field(default_factory=lambda: {GROUND: EARTH})
    bases: dict[int, Any] = field(default_factory=dict)  # p by link, None where it vanishes
    advances: dict[int, list[Advance]] = field(default_factory=dict)
    components: dict[Any, Any] = field(default_factory=dict)  # by symbol: Vec3, Symmetric3 or Expr, in earth axes
    fixed: dict[Any, Constant] = field(default_factory=dict)  # what the fixed vectors and tensors are

    def __post_init__(self) -> None:
        for i, link in enumerate(self.tree.links):
            self._follow(i, link)
        if any(not as_expr(x).is_zero for x in self.tree.gravity):
            self.components[self.gravity] = self.tree.gravity
            self.fixed[self.gravity] = Constant("gravity", "earth", self.tree.gravity)

    @cached_property
    def gravity(self) -> Any:
        return vector("g", constant=True, frame=EARTH)

    @property
    def has_gravity(self) -> bool:
        return self.gravity in self.components

    @cached_property
    def poses(self) -> list[Transform]:
        layout = self.tree.layout
        return link_poses(self.tree.at(layout.coordinates, layout.speeds))

    def pose(self, link: int) -> Transform:
        return Transform(Rotation(), NULL) if link == GROUND else self.poses[link]

    @cached_property
    def rates(self) -> dict[Expr, Expr]:
        """What time does to coordinates and speeds."""
        layout = self.tree.layout
        moving = dict(zip(layout.coordinates, coordinate_rates(self.tree), strict=True))
        return moving | dict(zip(layout.speeds, layout.accelerations, strict=True))

    def changes(self, expressions: Sequence[Any]) -> list[Expr]:
        """Time derivatives."""
        return time_derivative([as_expr(e) for e in expressions], self.rates, TIME)

    @cached_property
    def masses(self) -> list[Mass]:
        """The bodies that move and have inertia."""
        bodies = [self._mass(body) for body in self.tree.mechanism.bodies if self.tree.places[body.name][0] != GROUND]
        return [one for one in bodies if one.mass != 0 or one.inertia is not None]

    def masses_beyond(self, link: int) -> list[Mass]:
        """The masses that a link's joint moves."""
        return [one for one in self.masses if one.link in self.tree.subtrees[link]]

    def _mass(self, body: Body) -> Mass:
        link = self.tree.places[body.name][0]
        turn = self.poses[link].rotation
        inertia, centre = body_inertia_in_link(self.tree, body)
        return Mass(
            body.name,
            link,
            self._number(f"m_{body.name}", as_expr(inertia.mass)),
            self._centre(body.name, link, centre) if not as_expr(inertia.mass).is_zero else None,
            self._inertia(f"I_{body.name}", _central(inertia.matrix, inertia.mass, centre), turn, link),
        )

    def _centre(self, body: str, link: int, local: Vec3) -> Any:
        meaning = f"from O_{self.tree.links[link].name} to the mass centre of {body}"
        return self._fixed_vector(f"r_{body}", local, link, meaning)

    def _number(self, name: str, value: Expr) -> Any:
        """A scalar: 0 and 1 as they are, a symbol by its own name, anything else by the given one."""
        import sympy

        if value.is_zero:
            return sympy.S.Zero
        shown = sympy.Symbol(str(value.name) if value.op == "symbol" else name)
        self.components[shown] = value
        return shown

    def _fixed_vector(self, name: str, local: Vec3, link: int, meaning: str) -> Any:
        """A vector fixed in a link, or None where it vanishes."""
        if all(vanishes(as_expr(x)) for x in local):
            return None
        made = vector(name, constant=True, frame=self.frames[link])
        self.components[made] = self.pose(link).rotation.to_parent(local)
        self.fixed[made] = Constant(meaning, self.frames[link].name, local)
        return made

    def _inertia(self, name: str, central: Symmetric3, turn: Rotation, link: int) -> Any:
        if all(vanishes(as_expr(x)) for x in central):
            return None
        made = matrix(name, symmetric=True, constant=True, frame=self.frames[link])
        self.components[made] = turn.tensor_to_parent(central)
        self.fixed[made] = Constant(f"inertia of {name.removeprefix('I_')} about its mass centre")
        return made

    def _follow(self, i: int, link: Link) -> None:
        """The joint of a link, motion by motion."""
        near = link.joint.child if link.reverse else link.joint.parent
        parent, base = self.tree.place(near)
        origin = "the earth's origin" if parent == GROUND else f"O_{self.tree.links[parent].name}"
        meaning = f"from {origin} to joint {link.joint.name}"
        self.bases[i] = self._fixed_vector(f"p_{link.name}", base.position, parent, meaning)
        place, frame = self.pose(parent).then(base), self.frames[link.parent]
        advances: list[Advance] = []
        walked = reversed_motions(link.joint.motions) if link.reverse else link.joint.motions
        motions = [resolve_structure(self.tree.mechanism, self.tree.definitions, motion) for motion in walked]
        turns = [m for m in motions if m.kind != "translation" and not self._still(m)]
        for number, motion in enumerate(motions):
            if not self._still(motion):
                name = link.name if turns and motion is turns[-1] else f"{link.name}.{number + 1}"
                advances.append(self._advance(i, link, motion, place, frame, name, alone=len(turns) == 1))
                frame = advances[-1].after
            elif motion.kind == "translation":
                advances += self._offset(f"c_{link.name}", motion, place, frame)
            place = place.then(displacement(motion, link.symbols.quaternion))
        self.advances[i], self.frames[i] = advances, frame

    def _still(self, motion: ElementaryMotion) -> bool:
        return motion.kind in ("rotation", "translation") and self.changes([motion.amount])[0].is_zero

    def _advance(
        self, i: int, link: Link, motion: ElementaryMotion, place: Transform, frame: Frame, name: str, *, alone: bool
    ) -> Advance:
        if motion.kind not in ("rotation", "translation"):
            local = link.motion.velocity.angular if alone else self._turning(link, motion)
            turn = displacement(motion, link.symbols.quaternion).rotation
            return self._quaternion(link, frame, name, place.rotation.then(turn), local)
        after = Frame(name, frame) if motion.kind == "rotation" else frame
        amount = self._amount(motion.amount, link, name)
        axis = vector(f"u_{str(amount.func) if amount.is_Function else name}", unit=True, constant=True, frame=frame)
        self.components[axis] = place.rotation.to_parent(unit(Vec3(*motion.axis)))
        what = "axis" if motion.kind == "rotation" else "direction"
        self.fixed[axis] = Constant(f"{what} of {axis.name.removeprefix('u_')}, of unit length, in {link.joint.name}")
        (rate,) = self.changes([motion.amount])
        slots = self.tree.layout.speeds
        partials = {k: entry for (_, k), entry in jacobian([rate], slots).items()}
        sign, positive = amount.as_coeff_Mul()
        if sign == -1:  # a joint walked from its child: turn by q about the opposite axis
            self.components[axis] = -self.components[axis]
            amount, partials = positive, {k: -entry for k, entry in partials.items()}
        return Advance(motion.kind, frame, after, axis, amount, partials)

    def _offset(self, name: str, motion: ElementaryMotion, place: Transform, frame: Frame) -> list[Advance]:
        """A constant part of the way through a joint."""
        import sympy

        local = unit(Vec3(*motion.axis)) * motion.amount
        if all(vanishes(as_expr(x)) for x in local):
            return []
        whole = vector(name, constant=True, frame=frame)
        self.components[whole] = place.rotation.to_parent(local)
        self.fixed[whole] = Constant(f"constant part of the way to O_{name.removeprefix('c_')}")
        return [Advance("offset", frame, frame, whole, sympy.S.One)]

    def _quaternion(self, link: Link, frame: Frame, name: str, turn: Rotation, local: Vec3) -> Advance:
        """A turn by a quaternion, its angular velocity Ω in the axes it leads to."""
        after = Frame(name, frame)
        self.components[after.omega] = turn.to_parent(local)
        self.fixed[after.omega] = Constant(f"angular velocity of {name} in joint {link.joint.name}", name, local)
        change = vector(after.omega.name, frame=after, dots=1)
        self.components[change] = turn.to_parent(Vec3(*self.changes([*local])))
        return Advance("quaternion", frame, after)

    def _turning(self, link: Link, motion: ElementaryMotion) -> Vec3:
        """The angular velocity 2 q* q' of a quaternion among other turns; the other way round -2 q' q*."""
        rates = dict(zip(link.symbols.coordinates, link.motion.rates, strict=True))
        (a, *v), (b, *u) = link.symbols.quaternion, [as_expr(rates[x]) for x in link.symbols.quaternion]
        spin = Vec3(*u) * a - Vec3(*v) * b
        crossed = Vec3(*v).cross(Vec3(*u))
        return (spin - crossed) * 2 if motion.kind == "quaternion" else -(spin + crossed) * 2

    def _amount(self, amount: Expr, link: Link, name: str) -> Any:
        """The amount as a function of time: a coordinate by its name, a formula by one of its own."""
        import sympy

        sign, bare = (-1, amount.args[0]) if amount.op == "neg" else (1, amount)
        shown = sympy.Function(str(bare.name) if bare.op == "symbol" else f"s_{name.replace('.', '_')}")(CLOCK)
        value = bare
        for order in range(3):
            self.components[shown.diff(CLOCK, order) if order else shown] = value
            (value,) = self.changes([value])
        return sign * shown


def _central(matrix: Symmetric3, mass: Any, centre: Vec3) -> Symmetric3:
    """The inertia about the mass centre, from the one about the origin."""
    x, y, z = centre
    return matrix - Symmetric3(
        mass * (y * y + z * z), mass * (x * x + z * z), mass * (x * x + y * y), -mass * (x * y), -mass * (x * z),
        -mass * (y * z),
    )  # fmt: skip
