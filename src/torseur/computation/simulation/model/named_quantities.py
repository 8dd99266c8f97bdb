"""What can be asked of a mechanism by name besides its states, derived when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

from torseur.algebra.graph import Expr, as_expr, substitute, symbols_of
from torseur.computation.simulation.model.energy_accounts import (
    applied_component,
    body_kinetic_energy,
    body_potential_energy,
    joint_power,
    load_power,
    quaternion_of,
    spring_length,
    spring_tension,
)
from torseur.computation.simulation.model.joint_reactions import COMPONENTS as REACTIONS
from torseur.computation.simulation.model.joint_reactions import UNITS as UNITS_OF_REACTIONS
from torseur.computation.simulation.model.joint_reactions import Reaction, reaction
from torseur.computation.simulation.model.motion_programs import MechanismPrograms
from torseur.computation.simulation.model.system import Quantity
from torseur.derivation.dynamics import acceleration, sensor_value
from torseur.derivation.dynamics.loads.frames_in_motion import MovingFrames
from torseur.derivation.dynamics.loads.sensor_values import law_values
from torseur.description.mechanism import AppliedWrench, Frame, Measure, PointSpring, Sensor
from torseur.description.mechanism.frames import QUANTITIES, components_of

Named = tuple[Quantity, Expr]


class NamedQuantities(Mapping[str, Named]):
    """Energies and power, rates, accelerations (`q1''`), algebraic unknowns, sensors, motions of frames, reactions.

    The last two are not listed one by one: `arm.position.x`, `arm.centre.velocity.y`, `arm.rotation.z` and so on, in
    earth axes, `wheel.direction.xy`, the part along x of the wheel's y axis, and `wheel.quaternion.w`; `elbow.force.x`,
    `elbow.moment.z` in the axes of the joint's child frame, `gust.force.x` of an applied load in earth axes. Nor are
    `arm.kinetic_energy`, `arm.potential_energy`, `elbow.power` (of the reaction and what drives the joint),
    `strut.power`, and `strut.length`, `strut.tension` of a spring between points. `undetermined` says why a quantity
    that was asked for has no value.
    """

    def __init__(self, programs: MechanismPrograms) -> None:
        self.programs = programs
        self.equations = programs.equations
        self.undetermined: dict[str, str] = {}

    def __getitem__(self, name: str) -> Named:
        if name in self._makers:
            return self._makers[name]()
        sensor = self._sensor_of_motion(name)
        if sensor is not None:
            return self._measurement(sensor)
        quaternion = self._quaternion_of(name)
        if quaternion is not None:
            return self._quaternion(name, *quaternion)
        owned = self._account_of(name)
        if owned is not None:
            return owned(self, name.rpartition(".")[0])
        applied = self._applied_by(name)
        if applied is not None:
            return applied_component(self, *applied)
        if self._reaction_of(name) is None:
            raise KeyError(name)
        return self._reaction(name)

    def __contains__(self, name: object) -> bool:
        if name in self._makers:
            return True
        if not isinstance(name, str):
            return False
        ways = (self._sensor_of_motion, self._quaternion_of, self._account_of, self._applied_by, self._reaction_of)
        return any(way(name) is not None for way in ways)

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    @cached_property
    def _makers(self) -> dict[str, Callable[[], Named]]:
        equations, layout = self.equations, self.equations.layout
        makers: dict[str, Callable[[], Named]] = {
            "kinetic_energy": lambda: (Quantity("kinetic_energy", "J"), equations.kinetic_energy),
            "potential_energy": lambda: (Quantity("potential_energy", "J"), equations.potential_energy),
            "energy": self._energy,
            "power": lambda: (Quantity("power", "W", "power of loads without potential"), equations.power),
        }
        for slot, symbol in enumerate(layout.rates):
            makers[str(symbol.name)] = partial(self._entry, "rates", slot, symbol)
        for slot, symbol in enumerate(layout.accelerations):
            makers[str(symbol.name)] = partial(self._acceleration, slot, symbol)
        for state in equations.mechanism.states:
            if state.symbol in equations.tree.definitions:
                makers[state.name] = partial(self._unknown, state.symbol)
        for sensor in equations.mechanism.sensors:
            makers[sensor.name] = partial(self._measurement, sensor)
        for measure in equations.mechanism.measures:
            makers[measure.name] = partial(self._measure, measure)
        return makers

    @cached_property
    def _frames(self) -> dict[str, Frame]:
        mechanism = self.equations.mechanism
        centres = {
            f"{body.name}.{word}": body.centre_frame for body in mechanism.bodies for word in ("centre", "iframe")
        }
        own = {name: body.frame for body in mechanism.bodies for name in (body.name, f"{body.name}.frame")}
        return own | centres | dict(mechanism.frames)

    def _energy(self) -> Named:
        total = self.equations.kinetic_energy + self.equations.potential_energy
        return Quantity("energy", "J", "kinetic and potential energy"), total

    def _entry(self, part: str, slot: int, symbol: Expr) -> Named:
        return quantity_of_symbol(symbol), getattr(self.equations, part)[slot]

    def _acceleration(self, slot: int, symbol: Expr) -> Named:
        return quantity_of_symbol(symbol), self._accelerations[slot]

    def _unknown(self, symbol: Expr) -> Named:
        """An algebraic unknown, by the formula it was solved for."""
        layout = self.equations.layout
        now = self.equations.tree.at(layout.coordinates, layout.speeds)
        (value,) = law_values(now, MovingFrames(now), [symbol])
        return quantity_of_symbol(symbol), as_expr(value)

    @property
    def _accelerations(self) -> tuple[Expr, ...]:
        """As formulas; as symbols where they are solved for together with multipliers."""
        return self.equations.layout.accelerations if self.has_symbols else self.equations.acceleration

    @property
    def has_symbols(self) -> bool:
        """Whether accelerations are symbols in the quantities: with constraints, or contacts that may close."""
        return bool(self.programs.constraints)

    def _sensor_of_motion(self, name: str) -> Sensor | None:
        """The sensor that a name such as `arm.velocity.x` describes."""
        parts = name.rsplit(".", 2)
        if len(parts) != 3 or parts[0] not in self._frames or parts[1] not in QUANTITIES:
            return None
        if parts[2] not in components_of(parts[1]):
            return None
        return Sensor(name, parts[1], self._frames[parts[0]], parts[2])

    def _quaternion_of(self, name: str) -> tuple[Frame, int] | None:
        """Frame and component that a name such as `hull.quaternion.w` describes."""
        place, *rest = name.rsplit(".", 2)
        if place not in self._frames or len(rest) != 2 or rest[0] != "quaternion" or rest[1] not in "wxyz":
            return None
        return (self._frames[place], "wxyz".index(rest[1])) if len(rest[1]) == 1 else None

    def _quaternion(self, name: str, frame: Frame, component: int) -> Named:
        rotation = self.frames_in_motion[frame].place.rotation
        meaning = f"component of the unit quaternion that turns the earth's axes to those of {name.rsplit('.', 2)[0]}"
        return Quantity(name, "1", meaning), as_expr(quaternion_of(rotation)[component])

    @cached_property
    def frames_in_motion(self) -> MovingFrames:
        layout = self.equations.layout
        return MovingFrames(self.equations.tree.at(layout.coordinates, layout.speeds))

    def _measure(self, measure: Measure) -> Named:
        """A measure; accelerations in it are solved for first, as loads must not hold them."""
        used = set(symbols_of([measure.formula]))
        known = {s.symbol: self._measurement(s)[1] for s in self.equations.mechanism.sensors if s.symbol in used}
        (formula,) = substitute([measure.formula], known)
        now = self.equations.tree.at(self.equations.layout.coordinates, self.equations.layout.speeds)
        (value,) = law_values(now, self.frames_in_motion, [formula])
        return Quantity(measure.name, measure.unit, measure.meaning), as_expr(value)

    # Energies and powers of single bodies, joints and loads

    def _account_of(self, name: str) -> Callable[[NamedQuantities, str], Named] | None:
        owner, _, word = name.rpartition(".")
        mechanism = self.equations.mechanism
        kinds: dict[str, tuple[Iterable[Any], Callable[[NamedQuantities, str], Named]]] = {
            "kinetic_energy": (mechanism.bodies, body_kinetic_energy),
            "potential_energy": (mechanism.bodies, body_potential_energy),
            "length": ([x for x in mechanism.loads if isinstance(x, PointSpring)], spring_length),
            "tension": ([x for x in mechanism.loads if isinstance(x, PointSpring)], spring_tension),
        }
        if word == "power" and owner in [load.name for load in mechanism.loads]:
            return load_power
        if word == "power" and owner in [joint.name for joint in mechanism.joints]:
            return joint_power
        things, account = kinds.get(word, ((), load_power))
        return account if owner in [thing.name for thing in things] else None

    def _applied_by(self, name: str) -> tuple[str, str, str] | None:
        """Load, kind and axis that a name such as `gust.force.x` describes; a joint of that name comes first."""
        owner, *component = name.rsplit(".", 2)
        loads = [load.name for load in self.equations.mechanism.loads if isinstance(load, AppliedWrench)]
        if owner not in loads or ".".join(component) not in REACTIONS or self._reaction_of(name) is not None:
            return None
        return owner, component[0], component[1]

    def _reaction_of(self, name: str) -> tuple[str, int] | None:
        """Joint and component that a name such as `elbow.force.x` describes."""
        joint, *component = name.rsplit(".", 2)
        joints = [j.name for j in self.equations.mechanism.joints]
        if joint not in joints or ".".join(component) not in REACTIONS:
            return None
        return joint, REACTIONS.index(".".join(component))

    def _reaction(self, name: str) -> Named:
        found = self._reaction_of(name)
        assert found is not None
        joint, component = found
        if joint not in self._reactions:
            self._reactions[joint] = reaction(self.programs, joint)
        result = self._reactions[joint]
        if component in result.undetermined:
            self.undetermined[name] = f"the motion leaves open how much of it {result.undetermined[component]} takes"
        unit = UNITS_OF_REACTIONS[REACTIONS[component].partition(".")[0]]
        formula = result.components[component]
        if not self.has_symbols:
            (formula,) = substitute([formula], self._solved)
        return Quantity(name, unit, f"reaction in joint {joint}, on its child"), formula

    @cached_property
    def _reactions(self) -> dict[str, Reaction]:
        return {}

    @cached_property
    def _solved(self) -> dict[Expr, Expr]:
        return dict(zip(self.equations.layout.accelerations, self.equations.acceleration, strict=True))

    def _measurement(self, sensor: Sensor) -> Named:
        layout = self.equations.layout
        frames = MovingFrames(self.equations.tree.at(layout.coordinates, layout.speeds))
        if sensor.kind not in ("acceleration", "rotation_rate"):
            return quantity_of_symbol(sensor.symbol), as_expr(sensor_value(sensor, frames))
        motion = acceleration(self.equations.tree, sensor.of, layout.coordinates, layout.speeds, self._accelerations)
        own = motion.linear if sensor.kind == "acceleration" else motion.angular
        in_earth = frames[sensor.of].place.rotation.to_parent(own)
        component = getattr(frames[sensor.axes].place.rotation.to_child(in_earth), sensor.component)
        return quantity_of_symbol(sensor.symbol), as_expr(component)


def quantity_of_symbol(symbol: Expr) -> Quantity:
    """Name, unit and meaning of a symbol."""
    return Quantity(symbol.data.name, symbol.data.unit, symbol.data.meaning)
