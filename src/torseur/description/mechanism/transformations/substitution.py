"""Coordinates given by formulas of others: gears and mimic joints without constraints, joints locked at a value.

A coordinate s = f(q) leaves the mechanism. Its joint moves by f(q), its rate is f' q', and a force F along s does the
work F s' = (F ∂f/∂q) q', which makes it a force along each q that f depends on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import atan2
from typing import TypeVar

from torseur.algebra.graph import Expr, ExprLike, as_expr, directional_derivative, gradient, substitute, symbols_of
from torseur.algebra.spatial import Rotation, Vec3, about, unit
from torseur.description.mechanism.constraints import Constraint, Equation
from torseur.description.mechanism.contacts import Bound, Contact, Switching, Update
from torseur.description.mechanism.frames import Placement, Turn
from torseur.description.mechanism.joints import ElementaryMotion, Joint
from torseur.description.mechanism.loads import CoordinateForce, CoordinateSpring, JointWrench, Load
from torseur.description.mechanism.mechanism import Mechanism
from torseur.description.mechanism.quantities import TIME, Coordinate
from torseur.description.mechanism.speeds import quaternion_coordinates
from torseur.description.mechanism.transformations.formula_mapping import map_formulas
from torseur.description.mechanism.validation import constant_in, implied_speeds
from torseur.errors import MechanismError, unknown_name

T = TypeVar("T")


def substitute_coordinates(mechanism: Mechanism, formulas: Mapping[str, ExprLike]) -> Mechanism:
    """The mechanism in which the named coordinates are formulas of others, of time, or constants.

    substitute_coordinates(hand, {"finger2": hand.joint("finger1").coordinate("finger1") * 0.5, "thumb": 0.3}): finger2
    follows finger1 and the thumb is locked. The equations have no constraint for it. Initial values of these
    coordinates are left out; a constraint that they fulfil identically goes.
    """
    return _Substitution(mechanism, _independent(mechanism, formulas)).result() if formulas else mechanism


def _independent(mechanism: Mechanism, formulas: Mapping[str, ExprLike]) -> dict[str, Expr]:
    """The formulas with each other put in, so that they hold coordinates that stay."""
    known = {q.name: q for joint in mechanism.joints for q in joint.coordinates}
    for name in formulas:
        if name not in known:
            raise MechanismError(unknown_name("coordinate", name, known))
    values = {name: as_expr(formula) for name, formula in formulas.items()}
    by_symbol = {known[name].symbol: value for name, value in values.items()}
    for _ in values:
        values = dict(zip(values, substitute(list(values.values()), by_symbol), strict=True))
    for name, value in values.items():
        circular = [x for x in symbols_of([value]) if x in by_symbol]
        if circular:
            raise MechanismError(f"coordinate '{name}' follows itself, through '{circular[0].name}'.")
        if any(x.name == f"{q}'" for x in symbols_of([value]) for q in known):
            raise MechanismError(f"coordinate '{name}' may follow coordinates, time and parameters, not rates.")
    return values


@dataclass(frozen=True)
class _Substitution:
    """A mechanism and the formulas, by name, of the coordinates that leave it."""

    mechanism: Mechanism
    formulas: Mapping[str, Expr]

    @cached_property
    def owners(self) -> dict[str, tuple[Joint, Coordinate]]:
        return {q.name: (joint, q) for joint in self.mechanism.joints for q in joint.coordinates}

    @cached_property
    def stays(self) -> dict[Expr, Expr]:
        """(coordinate: rate) of those that stay."""
        return {q.symbol: q.rate for name, (_, q) in self.owners.items() if name not in self.formulas}

    @cached_property
    def values(self) -> dict[str, Expr]:
        """What stands for the coordinates that leave, for their rates and for speeds of locked joints, by name."""
        rates = directional_derivative(list(self.formulas.values()), self.stays | {TIME: as_expr(1)})
        names = [f"{name}'" for name in self.formulas]
        locked = [joint for joint in self.mechanism.joints if self.locks(joint)]
        still = [name for joint in locked for name in (*implied_speeds(joint), *(u.name for u in joint.speeds))]
        return {**self.formulas, **dict(zip(names, rates, strict=True)), **dict.fromkeys(still, as_expr(0))}

    def locks(self, joint: Joint) -> bool:
        """Whether the formulas leave a joint that moved without any motion: its own, or one that it followed."""
        values = [self.formulas.get(q.name) for q in joint.coordinates]
        if any(value is None for value in values) or not joint.motions:
            return False
        amounts = [motion.amount for motion in joint.motions]
        given = {self.owners[name][1].symbol: value for name, value in self.formulas.items()}
        moving, left = {*self.stays, TIME}, [*substitute(amounts, given), *(x for x in values if x is not None)]
        followed = bool(set(given) & set(symbols_of(amounts)))
        return (bool(values) or followed) and not moving & set(symbols_of(left))

    def result(self) -> Mechanism:
        mechanism = self.mechanism
        return replace(
            mechanism,
            joints=tuple(self.joint(joint) for joint in mechanism.joints),
            loads=tuple(new for load in mechanism.loads for new in self.loads(load)),
            constraints=tuple(self.constraints),
            laws=self.put_in(mechanism.laws),
            states=self.put_in(mechanism.states),
            drawings=self.put_in(mechanism.drawings),
            contacts=tuple(element for element in self.put_in(mechanism.contacts) if self.switches(element)),
            state_equations=self.put_in(mechanism.state_equations),
            initial=tuple((name, value) for name, value in mechanism.initial if name not in self.values),
            guesses=tuple(name for name in mechanism.guesses if name not in self.values),
        )

    def switches(self, element: Switching) -> bool:
        """Whether something is left that a bound or friction could act on; a bound broken for good is refused."""
        moving = {*self.stays, *self.stays.values(), *(sensor.symbol for sensor in self.mechanism.sensors), TIME}
        if isinstance(element, (Contact, Update)):
            return True
        if not isinstance(element, Bound):
            return bool(moving & set(symbols_of(list(element.slip))))
        gap = constant_in(self.mechanism, element.gap)
        if gap is not None and gap < 0.0:
            raise MechanismError(
                f"bound '{element.name}' cannot hold with {', '.join(self.formulas)} as given: {gap:g}."
            )
        return bool(moving & set(symbols_of([element.gap])))

    @property
    def constraints(self) -> list[Constraint]:
        """The constraints that still say something."""
        constraints = [self.put_in(constraint) for constraint in self.mechanism.constraints]
        equations = [c for c in constraints if isinstance(c, Equation)]
        for equation in equations:
            if equation.residual.is_constant and not equation.residual.is_zero:
                raise MechanismError(
                    f"constraint '{equation.name}' cannot hold with {', '.join(self.formulas)} as given: it leaves "
                    f"0 = {equation.residual}."
                )
        return [c for c in constraints if c not in equations or not c.residual.is_zero]

    def put_in(self, thing: T) -> T:
        """A structure with the formulas in it."""
        return map_formulas(thing, self.value)

    def value(self, formula: Expr) -> Expr:
        # By name: the symbol of a speed has a meaning that only its tree knows.
        present = {x: self.values[str(x.name)] for x in symbols_of([formula]) if str(x.name) in self.values}
        return substitute([formula], present)[0] if present else formula

    def joint(self, joint: Joint) -> Joint:
        """A joint with its remaining coordinates; without any, and without motion, a fixed one."""
        gone = [q for q in joint.coordinates if q.name in self.formulas]
        if self.locks(joint):
            return self._hold(joint)
        if gone:
            self._require_ordinary(joint, gone)
        motions = tuple(replace(motion, amount=self.value(motion.amount)) for motion in joint.motions)
        if all(new.amount is old.amount for new, old in zip(motions, joint.motions, strict=True)):
            return joint
        left = tuple(q for q in joint.coordinates if q.name not in self.formulas)
        return replace(joint, kind="link", coordinates=left, motions=motions)

    def _require_ordinary(self, joint: Joint, gone: list[Coordinate]) -> None:
        """Part of a quaternion, or of a joint with declared speeds, cannot be taken away alone."""
        quaternion: tuple[Coordinate, ...] = ()
        if any(motion.kind == "quaternion" for motion in joint.motions):
            quaternion = tuple(quaternion_coordinates(joint.coordinates, joint.motions))
        reason = "has speeds of its own" if joint.speeds or joint.frame_speeds else ""
        reason = "turns by a quaternion" if any(q in quaternion for q in gone) else reason
        if reason:
            raise MechanismError(
                f"coordinate '{gone[0].name}' cannot be given by a formula: joint '{joint.name}' {reason}. Lock all of "
                "its coordinates at constants, or write a constraint."
            )

    def _hold(self, joint: Joint) -> Joint:
        """A joint held where its constants put it: the way through it becomes part of the parent's frame."""
        position = Vec3(*joint.parent.placement.position)
        turns = list(joint.parent.placement.rotation)
        quaternion = [self.formulas[q.name] for q in self._quaternion(joint)]
        for motion in joint.motions:
            if motion.kind == "translation":
                step = unit(Vec3(*motion.axis)) * self.value(motion.amount)
                position = position + _rotation(turns).to_parent(step)
            else:
                turns += _turns(motion, self.value(motion.amount), quaternion, joint)
        x, y, z = (as_expr(c) for c in position)
        parent = replace(joint.parent, placement=Placement((x, y, z), tuple(turns)))
        return Joint(joint.name, parent, joint.child, "fixed", (), (), role=joint.role, within=joint.within)

    @staticmethod
    def _quaternion(joint: Joint) -> list[Coordinate]:
        has_one = any(motion.kind == "quaternion" for motion in joint.motions)
        return list(quaternion_coordinates(joint.coordinates, joint.motions)) if has_one else []

    def loads(self, load: Load) -> Iterator[Load]:
        """What a load becomes: one along a coordinate that leaves acts along those that its formula depends on."""
        if isinstance(load, JointWrench) and self.locks(self.mechanism.joint(load.joint)):
            return  # between bodies that are one now it does nothing
        if not isinstance(load, (CoordinateForce, CoordinateSpring)) or load.coordinate not in self.formulas:
            yield self.put_in(load)
            return
        formula = self.formulas[load.coordinate]
        leaders = [x for x in symbols_of([formula]) if x in self.stays]
        taken = {other.name for other in self.mechanism.loads}
        for number, x in enumerate(leaders):
            name = load.name if number == 0 else f"{load.name}.{x.name}"
            while number and name in taken:
                name += "_"
            yield self._along(replace(load, name=name), formula, x, len(leaders) == 1)

    def _along(self, load: CoordinateForce | CoordinateSpring, formula: Expr, leader: Expr, alone: bool) -> Load:
        """The load along one leader."""
        joint, q = self.owners[str(leader.name)]
        (ratio,) = gradient(formula, [leader])
        if isinstance(load, CoordinateSpring):
            start = substitute([formula], {leader: as_expr(0)})[0]
            if alone and not {*self.stays, TIME} & set(symbols_of([ratio, start])):
                # -k (r q + o - rest) r - c r² q': a spring again, so that its energy counts.
                stiffness, rest, damping = (self.value(x) for x in (load.stiffness, load.rest, load.damping))
                origin = (rest - start) / ratio
                square = ratio * ratio
                return CoordinateSpring(load.name, joint.name, q.name, stiffness * square, origin, damping * square)
            own = self.owners[load.coordinate][1]
            law = -load.stiffness * (own.symbol - load.rest) - load.damping * own.rate
        else:
            law = load.law
        return CoordinateForce(load.name, joint.name, q.name, self.value(law) * ratio)


def _rotation(turns: list[Turn]) -> Rotation:
    rotation = Rotation()
    for turn in turns:
        rotation = rotation.then(about(Vec3(*turn.axis), turn.angle))
    return rotation


def _turns(motion: ElementaryMotion, amount: Expr, quaternion: list[Expr], joint: Joint) -> list[Turn]:
    """A rotation by a constant; a quaternion must be numbers, for its axis has no formula where it does not turn."""
    if motion.kind == "rotation":
        return [] if amount.is_zero else [Turn(amount, motion.axis)]
    if not all(value.is_constant for value in quaternion):
        raise MechanismError(f"joint '{joint.name}': the quaternion at which it is locked must be numbers.")
    w, *vector = (float(value) for value in quaternion)
    size = sum(c * c for c in vector) ** 0.5
    if size == 0.0:
        return []
    return [Turn(as_expr(2 * atan2(size, w)), tuple(as_expr(c) for c in vector))]  # type: ignore[arg-type]
