"""What can be asked of a mechanism by name besides its states, derived when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial

from torseur.algebra.graph import Expr, as_expr, substitute
from torseur.computation.simulation.model.joint_reactions import COMPONENTS as REACTIONS
from torseur.computation.simulation.model.joint_reactions import UNITS as UNITS_OF_REACTIONS
from torseur.computation.simulation.model.joint_reactions import Reaction, reaction
from torseur.computation.simulation.model.motion_programs import MechanismPrograms
from torseur.computation.simulation.model.system import Quantity
from torseur.derivation.dynamics import acceleration, sensor_value
from torseur.derivation.dynamics.loads.frames_in_motion import MovingFrames
from torseur.derivation.dynamics.loads.sensor_values import law_values
from torseur.description.mechanism import Frame, Sensor
from torseur.description.mechanism.frames import COMPONENTS, QUANTITIES

Named = tuple[Quantity, Expr]


class NamedQuantities(Mapping[str, Named]):
    """Energies and power, rates, accelerations (`q1''`), algebraic unknowns, sensors, motions of frames, reactions.

    The last two are not listed one by one: `arm.position.x`, `arm.centre.velocity.y`, `arm.rotation.z` and so on, in
    earth axes, and `wheel.direction.xy`, the part along x of the wheel's y axis; `elbow.force.x`, `elbow.moment.z` in
    the axes of the joint's child frame. `undetermined` says why a quantity that was asked for has no value.
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
            return self._measured(sensor)
        direction = self._direction_of(name)
        if direction is not None:
            return self._direction(name, *direction)
        if self._reaction_of(name) is None:
            raise KeyError(name)
        return self._reaction(name)

    def __contains__(self, name: object) -> bool:
        if name in self._makers:
            return True
        if not isinstance(name, str):
            return False
        ways = (self._sensor_of_motion, self._direction_of, self._reaction_of)
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
            makers[sensor.name] = partial(self._measured, sensor)
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
        if len(parts) != 3 or parts[0] not in self._frames or parts[1] not in QUANTITIES or parts[2] not in COMPONENTS:
            return None
        return Sensor(name, parts[1], self._frames[parts[0]], parts[2])

    def _direction_of(self, name: str) -> tuple[Frame, int, int] | None:
        """Frame, axis of the earth and axis of the frame that a name such as `wheel.direction.xy` describes."""
        place, *rest = name.rsplit(".", 2)
        if place not in self._frames or len(rest) != 2 or rest[0] != "direction" or len(rest[1]) != 2:
            return None
        row, column = (COMPONENTS.index(axis) if axis in COMPONENTS else -1 for axis in rest[1])
        return None if row < 0 or column < 0 else (self._frames[place], row, column)

    def _direction(self, name: str, frame: Frame, row: int, column: int) -> Named:
        """A direction cosine: how far an axis of the frame, of length 1, goes along an axis of the earth."""
        layout = self.equations.layout
        place = MovingFrames(self.equations.tree.at(layout.coordinates, layout.speeds))[frame].place
        meaning = f"component along {COMPONENTS[row]} of the {COMPONENTS[column]} axis of {name.rsplit('.', 2)[0]}"
        return Quantity(name, "1", meaning), as_expr(getattr(place.rotation.matrix.rows[row], COMPONENTS[column]))

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
            self.undetermined[name] = f"nothing that moves tells how much of it {result.undetermined[component]} takes"
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

    def _measured(self, sensor: Sensor) -> Named:
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
