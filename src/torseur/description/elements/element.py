"""An element beyond mechanics: the states, loads, sensors and bodies that it adds to a mechanism, and its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from torseur.algebra.graph import Expr, as_expr
from torseur.description.mechanism.bodies import Body
from torseur.description.mechanism.frames import Sensor
from torseur.description.mechanism.joints import Joint
from torseur.description.mechanism.loads import Load
from torseur.description.mechanism.mechanism import Mechanism
from torseur.description.mechanism.quantities import State


@dataclass(frozen=True)
class Element:
    """What `with_elements` adds; `output` is what the element gives (a torque, a filtered signal, a tension)."""

    name: str
    output: Expr
    states: Mapping[State, Expr] = field(default_factory=dict)
    initial: Mapping[str, float] = field(default_factory=dict)
    loads: tuple[Load, ...] = ()
    sensors: tuple[Sensor, ...] = ()
    bodies: tuple[Body, ...] = ()
    joints: tuple[Joint, ...] = ()


def with_elements(mechanism: Mechanism, *elements: Element) -> Mechanism:
    """The mechanism with motors, muscles, filters and other elements added."""
    own = dict(mechanism.initial)
    given = {name: as_expr(v) for element in elements for name, v in element.initial.items() if name not in own}
    states = [replace(state, formula=rate) for element in elements for state, rate in element.states.items()]
    return replace(
        mechanism,
        bodies=(*mechanism.bodies, *(body for element in elements for body in element.bodies)),
        joints=(*mechanism.joints, *(joint for element in elements for joint in element.joints)),
        loads=(*mechanism.loads, *(load for element in elements for load in element.loads)),
        sensors=(*mechanism.sensors, *(sensor for element in elements for sensor in element.sensors)),
        states=(*mechanism.states, *states),
        initial=tuple({**own, **given}.items()),
    )
