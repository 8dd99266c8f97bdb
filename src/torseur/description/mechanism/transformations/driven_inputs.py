"""Inputs of a mechanism as coordinates of it: what a parameter was, moves, and a force holds it where it is.

The mechanism gets a light body that turns by the value u of the input, which stands wherever the parameter stood: the
equations of all else are those of the mechanism whose input is u(t), with its rate and acceleration where a joint
follows it. The row of u itself only says what force that takes. So steady states, small motions and responses to an
input need no method of their own. Why so: docs/decisions/0096-inputs-are-coordinates.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from torseur.algebra.graph import Expr, as_expr
from torseur.description.mechanism.bodies import body, inertia
from torseur.description.mechanism.constraints import Equation
from torseur.description.mechanism.frames import EARTH, Sensor
from torseur.description.mechanism.joints import revolute
from torseur.description.mechanism.loads import AppliedWrench, CoordinateForce, JointWrench, motor
from torseur.description.mechanism.mechanism import Mechanism
from torseur.description.mechanism.quantities import Coordinate, Parameter, State
from torseur.description.mechanism.transformations.moving_inputs import with_moving_inputs
from torseur.errors import MechanismError, TorseurError, unknown_name


@dataclass(frozen=True)
class DrivenInput:
    """A mechanism with one of its inputs as a coordinate, and the state that is the force holding it."""

    mechanism: Mechanism
    name: str
    coordinate: Coordinate
    hold: State


def driven_input(mechanism: Mechanism, name: str, hold_rate: Expr | None = None) -> DrivenInput:
    """The mechanism whose input `name` is a coordinate: a parameter, a law, a load or an equation between coordinates.

    An input that is a law is added to it, u(t) more than it says; of a load it is the part by which it is larger; of an
    equation it is what its right side is more. `hold_rate` is the rate of the force that holds the input.
    """
    prepared, parameter = _as_parameter(mechanism, name)
    coordinate = Coordinate(f"{name}.input", str(parameter.symbol.data.unit), f"input {name}")
    hold = State(f"{name}.hold", "N*m", "holds the input", as_expr(0) if hold_rate is None else hold_rate)
    light = body(f"{name}.input", mass=1, centre=(0, 0, 0), inertia=inertia(1, 1, 1))
    joint = revolute(f"{name}.input", EARTH, light, coordinate)
    now: dict[str, Any] = {field.name: getattr(prepared, field.name) for field in fields(prepared)}
    now["joints"] = (*now["joints"], joint)
    moving = [replace(p, value=coordinate.symbol) if p.name == parameter.name else p for p in now["parameters"]]
    put_in = with_moving_inputs({**now, "parameters": tuple(moving), "initial": ()}, {p.name for p in moving})
    whole = {
        **put_in,
        "bodies": (*put_in["bodies"], light),
        # Parameters stay: the input starts from its own, and initial values may be formulas of them.
        "parameters": now["parameters"],
        "initial": (*now["initial"], (coordinate.name, parameter.symbol)),
        "loads": (*put_in["loads"], motor(f"{name}.hold", joint.name, coordinate.name, hold)),
        "states": (*put_in["states"], hold),
        "instances": (),
    }
    try:
        return DrivenInput(Mechanism(**whole), name, coordinate, hold)
    except MechanismError as problem:
        reason = str(problem).replace(f"the coordinate '{coordinate.name}'", "an input")
        raise MechanismError(f"'{name}' cannot be an input: {reason}") from problem


def with_sensors(mechanism: Mechanism, sensors: Iterable[Sensor], parameters: Iterable[Parameter] = ()) -> Mechanism:
    """The mechanism with more measures and parameters, for formulas that need them; those it has are not repeated."""
    known = {sensor.name for sensor in mechanism.sensors}
    more = tuple(sensor for sensor in sensors if sensor.name not in known)
    return replace(
        mechanism, sensors=(*mechanism.sensors, *more), parameters=(*mechanism.parameters, *parameters), instances=()
    )


def _as_parameter(mechanism: Mechanism, name: str) -> tuple[Mechanism, Parameter]:
    """The mechanism with the input as a parameter of it."""
    for p in mechanism.parameters:
        if p.name == name:
            return mechanism, p
    for kind, put in (("laws", _in_law), ("loads", _in_load), ("constraints", _in_constraint)):
        things: Sequence[Any] = getattr(mechanism, kind)
        for thing in things:
            if thing.name == name:
                unit, changed = put(thing, Parameter(_symbol(name, thing), as_expr(0), "1"))
                parameter = Parameter(_symbol(name, thing), as_expr(0), unit)
                kept = tuple(changed if other is thing else other for other in things)
                more: dict[str, Any] = {kind: kept, "parameters": (*mechanism.parameters, parameter)}
                return replace(mechanism, instances=(), **more), parameter
    known = [
        thing.name for kind in ("parameters", "laws", "loads", "constraints") for thing in getattr(mechanism, kind)
    ]
    raise TorseurError(unknown_name("parameter, law, load or constraint", name, known, "input: "))


def _symbol(name: str, thing: Any) -> Expr:
    from torseur.algebra.graph import symbol

    unit = thing.function.unit if hasattr(thing, "function") else "1"
    return symbol(f"{name}.more", unit, f"more than {name} says")


def _in_law(law: Any, more: Parameter) -> tuple[str, Any]:
    return str(law.function.unit), replace(law, formula=law.formula + more.symbol)


def _in_load(load: Any, more: Parameter) -> tuple[str, Any]:
    larger = as_expr(1) + more.symbol
    if isinstance(load, CoordinateForce):
        return "1", replace(load, law=load.law * larger)
    if isinstance(load, (AppliedWrench, JointWrench)):
        x, y, z, *m = (larger * c for c in (*load.force, *load.moment))
        return "1", replace(load, force=(x, y, z), moment=(m[0], m[1], m[2]))
    raise TorseurError(
        f"input '{load.name}': a spring or bushing cannot be an input; its stiffness or rest length can."
    )


def _in_constraint(constraint: Any, more: Parameter) -> tuple[str, Any]:
    if not isinstance(constraint, Equation):
        raise TorseurError(f"input '{constraint.name}': only an equation of coordinates can be an input.")
    return "1", replace(constraint, residual=constraint.residual + more.symbol)
