"""The mirror image of a mechanism.

Let S = diag(±1) change the sign of one axis. Every body keeps its own axes E and its image has E' = R E S in a space
reflected by R, so that all frames stay right-handed and local components change by S alone:

    vectors (positions, velocities, forces)        v' =  S v
    axial vectors (rotations, moments, axes of turns)  w' = -S w
    tensors (inertias, stiffnesses)                T' =  S T S
    turns about an axis                    S Rot(u, a) S =  Rot(-S u, a)

The image of a joint moves by the same amounts about the images of its axes: coordinates that are equal are symmetric
motions. What is left are quantities whose components have names: of quaternions, of speeds in a body's axes, of
sensors, and what a body leaves open (arm.centre.y). Where S changes one, it stands with a minus in every formula.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from torseur.algebra.graph import PI, Expr, as_expr, substitute, symbols_of
from torseur.description.mechanism.bodies import Body, InertiaMatrix
from torseur.description.mechanism.constraints import Constraint, Rolling
from torseur.description.mechanism.contacts import Contact, Switching
from torseur.description.mechanism.drawings import ON, Drawing, place_of_frames
from torseur.description.mechanism.frames import COMPONENTS, Frame, Placement, Sensor, Turn
from torseur.description.mechanism.joints import ElementaryMotion, Joint, Speed, X
from torseur.description.mechanism.loads import (
    AppliedWrench,
    Bushing,
    CoordinateForce,
    CoordinateSpring,
    JointWrench,
    Load,
    PointSpring,
)
from torseur.description.mechanism.mechanism import Mechanism
from torseur.description.mechanism.quantities import Law, Vector
from torseur.description.mechanism.solids import Solid
from torseur.description.mechanism.speeds import body_speeds, quaternion_coordinates
from torseur.description.mechanism.transformations.formula_mapping import map_together
from torseur.description.mechanism.validation import implied_speeds
from torseur.errors import MechanismError, UnsupportedError

T = TypeVar("T")
# Joints whose image is one of their own kind; the image of others is a sequence of motions.
_SAME_KIND = ("fixed", "revolute", "prismatic", "helical", "universal", "spherical_quaternion", "link")
_FROM_ORIGIN = ("rod", "cone", "arrow")  # shapes that start at their origin, so that an image along z points back


def reflect(mechanism: Mechanism, axis: int) -> Mechanism:
    """The image of a mechanism in the plane across one axis (0, 1, 2) of the earth, and of every body.

    Coordinates and values of parameters are the same; what belongs to the earth alone, such as gravity, is reflected
    too.
    """
    if axis not in (0, 1, 2):
        raise MechanismError(f"reflect: the axis is {axis!r}: expected 0, 1 or 2, for x, y or z.")
    return _Reflection(axis).image(mechanism)


def reflect_placement(placement: Placement, axis: int) -> Placement:
    """The image of a placement, by the same rules."""
    return _Reflection(axis).placement(placement)


def component_signs(mechanism: Mechanism, axis: int) -> dict[str, int]:
    """The names of a mechanism that are components of something, with the sign that each has in the image."""
    return dict(_Reflection(axis).signs(mechanism))


class _Reflection:
    def __init__(self, axis: int) -> None:
        self.axis = axis
        self.polar = tuple(-1 if k == axis else 1 for k in range(3))
        self.axial = tuple(-sign for sign in self.polar)

    def image(self, mechanism: Mechanism) -> Mechanism:
        signs = dict(self.signs(mechanism))
        # Formulas first: vectors are reflected below, of formulas in which every name means the image's own.
        parts = {
            name: self._substitute(getattr(mechanism, name), signs)
            for name in ("bodies", "joints", "gravity", "loads", "constraints", "states", "state_equations", "frames",
                         "drawings", "sensors", "contacts", "measures")
        }  # fmt: skip
        values = tuple(p.value for p in mechanism.parameters)
        parameters = [
            replace(p, value=None if value is None else _with_sign(value, signs.get(p.name, 1)))
            for p, value in zip(mechanism.parameters, self._substitute(values, signs), strict=True)
        ]
        initial = self._substitute(mechanism.initial, signs)
        return replace(
            mechanism,
            parameters=tuple(parameters),
            bodies=tuple(self.body(body) for body in parts["bodies"]),
            joints=tuple(self.joint(joint) for joint in parts["joints"]),
            gravity=self.vector(parts["gravity"]),
            loads=tuple(self.load(load, signs) for load in parts["loads"]),
            constraints=tuple(self.constraint(constraint) for constraint in parts["constraints"]),
            laws=tuple(self._law(law, signs) for law in mechanism.laws),
            sensors=tuple(self.sensor(sensor) for sensor in parts["sensors"]),
            frames=tuple((name, self.frame(frame)) for name, frame in parts["frames"]),
            initial=tuple((name, _with_sign(value, signs.get(name, 1))) for name, value in initial),
            states=parts["states"],
            measures=parts["measures"],
            contacts=tuple(self.contact(element) for element in parts["contacts"]),
            state_equations=parts["state_equations"],
            drawings=tuple(self.drawing(drawing) for drawing in parts["drawings"]),
            instances=(),
        )

    # Names whose values change sign

    def signs(self, mechanism: Mechanism) -> Iterator[tuple[str, int]]:
        """(name, sign) of named components; what is not named here is the same in the image."""
        for body in mechanism.bodies:
            yield from ((f"{body.name}.centre.{c}", self.polar[k]) for k, c in enumerate(COMPONENTS))
            for a, b in ((0, 1), (0, 2), (1, 2)):
                yield f"{body.name}.I{COMPONENTS[a]}{COMPONENTS[b]}", self.polar[a] * self.polar[b]
        for joint in mechanism.joints:
            yield from self._joint_signs(joint)
        for sensor in mechanism.sensors:
            signs = self.axial if sensor.kind.startswith("rotation") else self.polar
            sign = 1
            for component in sensor.component:  # a direction cosine has two: of the frame's axis, and along which
                sign *= signs[COMPONENTS.index(component)]
            yield sensor.name, sign

    def _joint_signs(self, joint: Joint) -> Iterator[tuple[str, int]]:
        if any(motion.kind == "quaternion" for motion in joint.motions):
            # (cos a/2, sin a/2 u): the vector part is an axial vector.
            _, *vector = quaternion_coordinates(joint.coordinates, joint.motions)
            for q, sign in zip(vector, self.axial, strict=True):
                yield from ((q.name, sign), (f"{q.name}'", sign))
        if joint.frame_speeds == "body":
            names = [speed.name for speed in joint.speeds] or implied_speeds(joint)
            yield from zip(names, (*self.polar, *self.axial), strict=True)
        else:
            yield from zip(implied_speeds(joint), self.axial, strict=False)

    def _substitute(self, thing: T, signs: dict[str, int], hidden: Sequence[Expr] = ()) -> T:
        def change(formulas: Sequence[Expr]) -> Sequence[Expr]:
            # By name: the symbol of a speed has a meaning that only its tree knows.
            changed = {x: -x for x in symbols_of(formulas) if x not in hidden and signs.get(str(x.name), 1) < 0}
            return substitute(formulas, changed)

        return map_together(thing, change)

    def _law(self, law: Law, signs: dict[str, int]) -> Law:
        return replace(law, formula=self._substitute(law.formula, signs, law.arguments))

    # Vectors and places

    def vector(self, v: Vector) -> Vector:
        x, y, z = (_with_sign(c, sign) for c, sign in zip(v, self.polar, strict=True))
        return x, y, z

    def axial_vector(self, w: Vector) -> Vector:
        x, y, z = (_with_sign(c, sign) for c, sign in zip(w, self.axial, strict=True))
        return x, y, z

    def placement(self, placement: Placement) -> Placement:
        turns = tuple(Turn(turn.angle, self.axial_vector(turn.axis)) for turn in placement.rotation)
        return Placement(self.vector(placement.position), turns)

    def frame(self, frame: Frame) -> Frame:
        return replace(frame, placement=self.placement(frame.placement))

    # Things

    def body(self, body: Body) -> Body:
        return replace(
            body,
            iframe=None if body.iframe is None else self.placement(body.iframe),
            inertia=None if body.inertia is None else self._inertia(body.inertia),
            solids=tuple(self._solid(solid) for solid in body.solids),
        )

    def _inertia(self, matrix: InertiaMatrix) -> InertiaMatrix:
        x, y, z = self.polar
        # T' = S T S: a product of inertia changes its sign with one of its two axes.
        signs = (1, 1, 1, x * y, x * z, y * z)
        about = matrix.about if isinstance(matrix.about, str) else self.placement(matrix.about)
        return InertiaMatrix(tuple(_with_sign(c, s) for c, s in zip(matrix.components, signs, strict=True)), about)

    def _solid(self, solid: Solid) -> Solid:
        placed = self.placement(solid.placement)
        return replace(solid, placement=self._pointing_back(placed) if solid.shape in _FROM_ORIGIN else placed)

    def _pointing_back(self, placement: Placement) -> Placement:
        """The place of a shape of revolution that starts at its origin: half a turn stands for a reflection along z."""
        if self.polar[2] > 0:
            return placement
        # A solid of revolution along z looks the same after S in x or y, and after half a turn about x where S turns z.
        return replace(placement, rotation=(*placement.rotation, Turn(PI, X)))

    def joint(self, joint: Joint) -> Joint:
        motions = tuple(self._motion(motion, joint.kind) for motion in joint.motions)
        kind = joint.kind if joint.kind in _SAME_KIND else "link"
        speeds = self._speeds(joint, motions)
        parent, child = self.frame(joint.parent), self.frame(joint.child)
        return replace(joint, parent=parent, child=child, kind=kind, motions=motions, speeds=speeds)

    def _motion(self, motion: ElementaryMotion, kind: str) -> ElementaryMotion:
        if motion.kind == "quaternion":
            return motion
        if motion.kind == "rotation":
            return replace(motion, axis=self.axial_vector(motion.axis))
        if kind == "helical":
            # A screw turns and moves along one axis; its image has the other hand, a pitch of the other sign.
            return replace(motion, axis=self.axial_vector(motion.axis), amount=-motion.amount)
        return replace(motion, axis=self.vector(motion.axis))

    def _speeds(self, joint: Joint, motions: Sequence[ElementaryMotion]) -> tuple[Speed, ...]:
        """Speeds in the body's axes are those of the image; formulas of rates stay what they are."""
        if joint.frame_speeds != "body" or not joint.speeds:
            return joint.speeds
        names = [speed.name for speed in joint.speeds]
        velocity = body_speeds(names[:3], "velocity", joint.coordinates, motions)
        return (*velocity, *body_speeds(names[3:], "rotation", joint.coordinates, motions))

    def load(self, load: Load, signs: dict[str, int]) -> Load:
        if isinstance(load, CoordinateForce):
            return replace(load, law=_with_sign(load.law, signs.get(load.coordinate, 1)))
        if isinstance(load, CoordinateSpring):
            return replace(load, rest=_with_sign(load.rest, signs.get(load.coordinate, 1)))
        if isinstance(load, (PointSpring, Bushing)):
            return replace(load, first=self.frame(load.first), second=self.frame(load.second))
        force, moment = self.vector(load.force), self.axial_vector(load.moment)
        if isinstance(load, JointWrench):
            return replace(load, force=force, moment=moment)
        assert isinstance(load, AppliedWrench)
        return replace(load, on=self.frame(load.on), axes=self.frame(load.axes), force=force, moment=moment)

    def constraint(self, constraint: Constraint) -> Constraint:
        frames = {name: self.frame(value) for name, value in vars(constraint).items() if isinstance(value, Frame)}
        normal = {"normal": self.vector(constraint.normal)} if isinstance(constraint, Rolling) else {}
        return replace(constraint, **frames, **normal)  # type: ignore[arg-type]

    def contact(self, element: Switching) -> Switching:
        """The image of a bound, of friction or of a contact, whose shapes are their own images."""
        if not isinstance(element, Contact):
            return element
        if element.height is not None:
            raise UnsupportedError(f"contact '{element.name}': a height field has no image. Give the contact outside.")
        normal = None if element.normal is None else self.vector(element.normal)
        return replace(element, frame=self.frame(element.frame), ground=self.frame(element.ground), normal=normal)

    def sensor(self, sensor: Sensor) -> Sensor:
        return replace(sensor, of=self.frame(sensor.of), axes=self.frame(sensor.axes))

    def drawing(self, drawing: Drawing) -> Drawing:
        frames = tuple(self.frame(frame) for frame in drawing.frames)
        if place_of_frames(drawing.kind, len(frames)) == ON and drawing.kind in _FROM_ORIGIN:
            frames = tuple(replace(frame, placement=self._pointing_back(frame.placement)) for frame in frames)
        sizes = self._mesh_scales(drawing) if drawing.kind == "mesh" else drawing.sizes
        return replace(drawing, frames=frames, sizes=sizes)

    def _mesh_scales(self, drawing: Drawing) -> tuple[tuple[str, Expr], ...]:
        """A mesh has a hand: its scales, of which one is negative."""
        given = dict(drawing.sizes)
        overall = given.get("scale", as_expr(1))
        scales = [given.get(f"scale_{c}", overall) for c in COMPONENTS]
        return tuple(
            (f"scale_{c}", _with_sign(s, sign)) for c, s, sign in zip(COMPONENTS, scales, self.polar, strict=True)
        )


def _with_sign(value: Expr, sign: int) -> Expr:
    return value if sign > 0 else -value
