"""Actuators as loads: a force that is affine in a control, in the length and in the speed of what it drives.

The control is a parameter called after the actuator, zero unless the user sets it. Integrators, filters, cylinders and
muscles have an activation between control and force, a state of the mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from torseur.algebra.graph import Expr, as_expr, scalar
from torseur.description.mechanism import (
    EARTH,
    EARTH_NAME,
    LENGTH,
    LENGTH_RATE,
    AppliedWrench,
    CoordinateForce,
    Frame,
    Sensor,
    State,
    motor,
    parameter,
)
from torseur.description.mechanism.frames import COMPONENTS
from torseur.description.mechanism.quantities import as_vector
from torseur.description.readers.attribute_numbers import choice, number, number_list, numbers
from torseur.description.readers.mjcf.elements.mjcf_activations import Activation
from torseur.description.readers.mjcf.elements.mjcf_actuator_laws import Law, law_of
from torseur.description.readers.mjcf.elements.mjcf_joints import polynomial
from torseur.description.readers.mjcf.elements.mjcf_tendons import pull
from torseur.description.readers.mjcf.elements.reflected_inertia import felt_inertia
from torseur.description.readers.mjcf.mjcf_defaults import ACTUATORS
from torseur.description.readers.mjcf.mjcf_scene import Axis, Scene, Tendon
from torseur.description.readers.robot_file import Control
from torseur.description.readers.xml_document import Element

TRANSMISSIONS = ("joint", "jointinparent", "tendon", "site", "body", "cranksite", "slidersite", "refsite")


@dataclass(frozen=True)
class _Drive:
    """What an actuator acts on: its length and speed, how its force becomes loads, and the joints it moves by gears."""

    length: Expr
    rate: Expr
    push: Callable[[Expr, str], None]
    gears: tuple[tuple[Axis, float], ...] = ()


def read_actuators(root: Element, scene: Scene) -> None:
    """Adds loads for the actuators of the model."""
    before = len(scene.assembly.loads)
    elements = [element for group in root.all("actuator") for element in group.all(*ACTUATORS)]
    for place, element in enumerate(elements):
        actuator = scene.defaults.apply(element, None)
        law = law_of(actuator, (*scene.defaults.actuators_of(element), element))
        if "actuation" in scene.settings.disabled or not _read_actuator(actuator, law, place, scene):
            actuator.take()
    _limit_joint_forces(before, scene)


def _limit_joint_forces(before: int, scene: Scene) -> None:
    """The sum of what actuators do to a joint, kept within the joint's actuatorfrcrange."""
    assembly = scene.assembly
    for joint, (low, high) in scene.force_ranges.items():
        ours = [load for load in assembly.loads[before:] if isinstance(load, CoordinateForce) and load.joint == joint]
        if not ours:
            continue
        total = as_expr(scalar.minimum(scalar.maximum(sum((load.law for load in ours), as_expr(0)), low), high))
        assembly.loads[before:] = [load for load in assembly.loads[before:] if load not in ours]
        assembly.loads.append(replace(ours[0], law=total))


def _read_actuator(element: Element, law: Law | None, place: int, scene: Scene) -> bool:
    """Adds the loads of an actuator; lists it and answers no when it cannot be modelled."""
    drive = None if law is None else _drive(element, law, scene)
    damped = None if law is None or drive is None else _with_damping(law, drive, scene)
    if damped is None or drive is None:
        words = f"actuators of kind <{element.tag}>: such an actuator {_obstacle(law, drive)}."
        scene.assembly.ledger.note_unmodelled(words, element)
        return False
    name = element.text("name") or element.tag
    control = parameter(scene.parameter_names.fresh(f"{name}.control"), 0, "1", f"control of actuator {name}")
    scene.assembly.parameters.append(control)
    u = _control_range(element, Control(name, control.name, place), control.symbol, scene)
    level = u if damped.activation is None else _activation(name, damped.activation, u, scene)
    drive.push(_clamp(element, damped.force(level, drive.length, drive.rate), scene), name)
    return True


def _activation(name: str, activation: Activation, u: Expr, scene: Scene) -> Expr:
    """The state between control and force, added to the mechanism."""
    state = State(scene.parameter_names.fresh(f"{name}.activation"), "1", f"activation of actuator {name}")
    scene.assembly.states.append(replace(state, formula=activation.rate(u, state.symbol)))
    return activation.value(state.symbol)


def _obstacle(law: Law | None, drive: _Drive | None) -> str:
    """Why an actuator is not modelled."""
    if law is None:
        return "has a law of its own, or a muscle's force or range of lengths that MuJoCo would compute"
    if drive is None:
        return "holds the angles of a ball, or drives something else than a joint, a site, or a modelled tendon"
    return "is damped by a ratio to an inertia that is not known"


def _with_damping(law: Law, drive: _Drive, scene: Scene) -> Law | None:
    """A servo with its damping in numbers; None when that is not known.

    A positive number in the place of a servo's damping is a damping ratio d: the damping is 2 d √(kp m), m being the
    inertia that the servo feels as the model is written.
    """
    kp, ratio = law.gain[0], law.bias[2]
    if kp != -law.bias[1] or ratio <= 0.0:
        return law
    mass = felt_inertia({axis.joint.name: gear for axis, gear in drive.gears}, scene)
    if mass is None:
        return None
    return replace(law, bias=(law.bias[0], law.bias[1], -2 * ratio * math.sqrt(max(0.0, kp * mass))))


def _drive(element: Element, law: Law, scene: Scene) -> _Drive | None:
    gear = (*(number_list(element, "gear") or (1.0,)), *(0.0,) * 6)[:6]
    if "joint" in element.attributes or "jointinparent" in element.attributes:
        axis = scene.axis(element, "joint" if "joint" in element.attributes else "jointinparent")
        if axis is not None and axis.coordinate is None:
            return _on_freely_turning(element, axis, gear, law, scene)
        return None if axis is None else _on_joint(element, axis, gear[0], scene)
    if "tendon" in element.attributes:
        tendon = scene.tendons.get(element.text("tendon") or "")
        return None if tendon is None else _on_tendon(tendon, gear[0], scene)
    if "site" in element.attributes and "refsite" not in element.attributes:
        site = scene.site(element, "site")
        return None if site is None else _on_site(site, gear, law, scene)
    return None


def _on_joint(element: Element, axis: Axis, gear: float, scene: Scene) -> _Drive:
    q, assembly = axis.coordinate, scene.assembly
    assert q is not None
    added = polynomial(element, "damping")
    assembly.add_spring(axis.joint, q, 0.0, 0.0, added[0] * gear * gear)
    if any(added[1:]):
        assembly.ledger.note_unmodelled("damping of actuators that is not linear.", element)
    assembly.add_armature(axis.joint, number(element, "armature", 0.0) * gear * gear, element)

    def push(force: Expr, name: str) -> None:
        assembly.loads.append(motor(assembly.load_names.fresh(name), axis.joint.name, q.name, gear * force))

    return _Drive(gear * q.symbol, gear * q.rate, push, ((axis, gear),))


def _on_tendon(tendon: Tendon, gear: float, scene: Scene) -> _Drive:
    length, rate = (LENGTH, LENGTH_RATE) if tendon.ends else (tendon.length, tendon.rate)
    gears = tuple((axis, gear * factor) for axis, factor in tendon.terms)
    return _Drive(gear * length, gear * rate, lambda force, name: pull(tendon, -gear * force, scene, name), gears)


def _on_site(site: Frame, gear: Sequence[float], law: Law, scene: Scene) -> _Drive:
    """A force and a moment along axes of the site; its speed is their power at unit force, its length zero."""
    rate = as_expr(0)
    if _feels_speed(law):
        rate = _part(gear[:3], "velocity", site, site, scene) + _part(gear[3:], "rotation", site, site, scene)

    def push(force: Expr, name: str) -> None:
        along, around = ([g * force for g in part] for part in (gear[:3], gear[3:]))
        _add_wrench(name, site, along, around, site, scene)

    return _Drive(as_expr(0), rate, push)


def _on_freely_turning(element: Element, axis: Axis, gear: Sequence[float], law: Law, scene: Scene) -> _Drive | None:
    """A moment between the bodies of a ball, along axes of the child or (jointinparent) of the parent.

    A free body has a force along the world's axes as well, at its origin. None for servos of a ball's angles.
    """
    joint = axis.joint
    child, parent = joint.child, joint.parent
    axes = child if "joint" in element.attributes else parent
    if axis.kind == "free":
        forces, moments = gear[:3], gear[3:]
    elif law.gain[1] or law.bias[1] or law.curves is not None:
        return None
    else:
        forces, moments = (0.0,) * 3, gear[:3]
    rate = as_expr(0)
    if _feels_speed(law):
        rate = _part(forces, "velocity", child, EARTH, scene) + _part(moments, "rotation", child, axes, scene)
        if parent.body != EARTH_NAME:
            rate = rate - _part(moments, "rotation", parent, axes, scene)

    def push(force: Expr, name: str) -> None:
        still = [as_expr(0)] * 3
        if any(forces):
            _add_wrench(name, child, [g * force for g in forces], still, EARTH, scene)
        turning = [g * force for g in moments]
        if any(moments):
            _add_wrench(name, child, still, turning, axes, scene)
        if any(moments) and parent.body != EARTH_NAME:
            _add_wrench(name, parent, still, [-part for part in turning], axes, scene)

    return _Drive(as_expr(0), rate, push)


def _feels_speed(law: Law) -> bool:
    return bool(law.gain[2] or law.bias[2] or law.curves)


def _add_wrench(name: str, on: Frame, along: Sequence[Expr], around: Sequence[Expr], axes: Frame, scene: Scene) -> None:
    force, moment = as_vector(along, name), as_vector(around, name)
    scene.assembly.loads.append(AppliedWrench(scene.assembly.load_names.fresh(name), on, force, moment, axes))


def _part(gear: Sequence[float], kind: str, of: Frame, axes: Frame, scene: Scene) -> Expr:
    """The sum of gears times components of a frame's velocity or angular velocity, as measured by sensors."""
    total = as_expr(0)
    for factor, component in zip(gear, COMPONENTS, strict=True):
        if factor:
            name = scene.parameter_names.fresh(f"{of.body}.{kind}.{component}")
            sensor = Sensor(name, kind, of, component, axes)
            scene.assembly.sensors.append(sensor)
            total = total + factor * sensor.symbol
    return total


def _is_limited(element: Element, switch: str, values: str, scene: Scene) -> bool:
    """Whether a range applies: said so, or implied by giving it."""
    said = choice(element, switch, ("false", "true", "auto"), "auto")
    return said == "true" or (said == "auto" and scene.settings.automatic_limits and values in element.attributes)


def _clamp(element: Element, force: Expr, scene: Scene) -> Expr:
    low, high = numbers(element, "forcerange", 2, (0.0, 0.0))
    if not _is_limited(element, "forcelimited", "forcerange", scene):
        return force
    return scalar.minimum(scalar.maximum(force, low), high)


def _control_range(element: Element, control: Control, u: Expr, scene: Scene) -> Expr:
    """The control within its range, which is kept beside it."""
    inherited = _inherited_range(element, scene)
    low, high = inherited or numbers(element, "ctrlrange", 2, (0.0, 0.0))
    limited = inherited is not None or _is_limited(element, "ctrllimited", "ctrlrange", scene)
    scene.assembly.controls.append(replace(control, lower=low, upper=high) if limited else control)
    if not limited or "clampctrl" in scene.settings.disabled:
        return u
    return as_expr(scalar.minimum(scalar.maximum(u, low), high))


def _inherited_range(element: Element, scene: Scene) -> tuple[float, float] | None:
    """The part of the joint's range, about its middle, that a position servo's control has by `inheritrange`."""
    if element.tag != "position" or "joint" not in element.attributes or "ctrlrange" in element.attributes:
        return None
    share, axis = number(element, "inheritrange", 0.0), scene.axis(element, "joint")
    limits = [] if axis is None else [one for one in scene.assembly.limits if one.joint == axis.joint.name]
    if share <= 0.0 or not limits or limits[0].lower is None or limits[0].upper is None:
        return None
    middle, half = (limits[0].lower + limits[0].upper) / 2, (limits[0].upper - limits[0].lower) / 2
    return middle - share * half, middle + share * half
