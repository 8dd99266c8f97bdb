"""Equations of motion as a first order system: states, values, initial state, named outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from torseur.dynamics import acceleration, sensor_value
from torseur.dynamics.frames_in_motion import MovingFrames
from torseur.equations import Equations
from torseur.errors import MechanismError, TorseurError, unknown_name
from torseur.formalisms import derive
from torseur.graph import Expr, Input, Program, as_expr, evaluate, substitute, symbols_of, vector
from torseur.graph import scalar as s
from torseur.mechanism import TIME, Mechanism, Sensor
from torseur.mechanism.quantities import per_second
from torseur.mechanism.sensors import COMPONENTS, UNITS
from torseur.simulation.system import Law, Quantity, System, Vector


def system_of(equations: Equations, parameters: Mapping[str, float] | None = None) -> System:
    """The first order system y' = f(t, y, p), y = (q, v), of the equations with given parameter values."""
    layout = equations.layout
    values = parameter_values(equations, parameters or {})
    inputs = state_inputs(equations)
    slopes = [*equations.rates, *equations.acceleration]
    laws = tuple(Law(node.data.name, node) for node in equations.undetermined)
    given = (*inputs, Input("u", equations.undetermined)) if laws else inputs
    return System(
        states=tuple(_quantity(x) for x in (*layout.coordinates, *layout.speeds)),
        initial=initial_state(equations, values),
        rhs=Program("rhs", given, (vector("dy", slopes),)),
        coordinates=len(layout.coordinates),
        parameters=tuple(_quantity(p) for p in layout.parameters),
        values=tuple(values[str(p.name)] for p in layout.parameters),
        project=_projection(equations, inputs),
        quantities=NamedQuantities(equations),
        laws=laws,
        explain=lambda t, y: _why_singular(equations, values, t, y),
        name=equations.mechanism.name,
    )


def as_system(motion: Equations | Mechanism | System, parameters: Mapping[str, float] | None = None) -> System:
    """The system of a mechanism (by the recursive formalism), of equations, or the system itself."""
    if isinstance(motion, System):
        return motion
    return system_of(derive(motion) if isinstance(motion, Mechanism) else motion, parameters)


def state_inputs(equations: Equations) -> tuple[Input, ...]:
    """The inputs (t, y, p) of every program of the equations."""
    layout = equations.layout
    return Input("t", (TIME,)), Input("y", (*layout.coordinates, *layout.speeds)), Input("p", layout.parameters)


def _quantity(node: Expr) -> Quantity:
    return Quantity(node.data.name, node.data.unit, node.data.meaning)


def parameter_values(equations: Equations, changes: Mapping[str, float]) -> dict[str, float]:
    """Values of the independent parameters; those without a value are named in one message."""
    layout, mechanism = equations.layout, equations.mechanism
    given = {p.name: p.value for p in mechanism.parameters if p.value is not None}
    dependent = {str(symbol.name) for symbol in equations.tree.definitions}
    for name in changes:
        if name in dependent:
            raise MechanismError(f"parameter '{name}' follows from others ({given[name]}) and cannot be set by itself.")
        if name not in layout.parameter_names:
            raise MechanismError(unknown_name("parameter", name, layout.parameter_names))
    values = {name: changes.get(name, float(given[name]) if name in given else np.nan) for name in layout.parameter_names}
    missing = [name for name, value in values.items() if np.isnan(value)]
    if missing:
        listing = ", ".join(f"'{name}'" for name in missing)
        raise MechanismError(f"{mechanism.name}: no value is given for {listing}. Give it in the description or with "
                             f"parameters={{'{missing[0]}': ...}}.")
    return {name: float(value) for name, value in values.items()}


def initial_state(equations: Equations, values: Mapping[str, float]) -> tuple[float, ...]:
    """The initial state the mechanism declares, at the given parameter values."""
    layout, tree = equations.layout, equations.tree
    slots = {name: k for k, name in enumerate([*layout.coordinate_names, *layout.speed_names])}
    state = [0.0] * len(slots)
    for link in tree.links:
        if link.symbols.quaternion:
            state[slots[str(link.symbols.quaternion[0].name)]] = 1.0
    bindings = {p: values[str(p.name)] for p in layout.parameters}
    for name, formula in equations.mechanism.initial:
        if name not in slots:
            raise MechanismError(unknown_name("state", name, slots, "initial state: "))
        (resolved,) = substitute([formula], {k: v for k, v in tree.definitions.items() if k in symbols_of([formula])})
        state[slots[name]] = float(evaluate([resolved], bindings or {as_expr(0): 0.0})[0])
    return tuple(state)


def _projection(equations: Equations, inputs: tuple[Input, ...]) -> Program | None:
    """The state with every quaternion brought back to unit length, when there is one."""
    groups = [link.symbols.quaternion for link in equations.tree.links if link.symbols.quaternion]
    if not groups:
        return None
    scaled: dict[Expr, Expr] = {}
    for quaternion in groups:
        length = s.sqrt(sum((x * x for x in quaternion), as_expr(0)))
        scaled.update((x, x / length) for x in quaternion)
    return Program("project", inputs, (vector("out", [scaled.get(x, x) for x in inputs[1].nodes]),))


class NamedQuantities(Mapping[str, tuple[Quantity, Expr]]):
    """What can be asked for by name besides the states, derived when asked.

    Energies and power, accelerations (`q1''`), declared sensors, and any component of a body's motion: `arm.position.x`,
    `arm.centre.velocity.y`, `arm.rotation.z` and so on, in earth axes.
    """

    def __init__(self, equations: Equations) -> None:
        self._equations = equations
        self._makers: dict[str, Callable[[], tuple[Quantity, Expr]]] = {
            "kinetic_energy": lambda: (Quantity("kinetic_energy", "J"), equations.kinetic_energy),
            "potential_energy": lambda: (Quantity("potential_energy", "J"), equations.potential_energy),
            "energy": lambda: (Quantity("energy", "J"), equations.kinetic_energy + equations.potential_energy),
            "power": lambda: (Quantity("power", "W", "power of loads without potential"), equations.power),
        }
        for k, v in enumerate(equations.layout.accelerations):
            self._makers[str(v.name)] = lambda k=k, v=v: (_quantity(v), equations.acceleration[k])  # type: ignore[misc]
        for q, rate, value in zip(equations.layout.coordinates, equations.layout.rates, equations.rates, strict=True):
            unit = per_second(q.data.unit)
            self._makers.setdefault(
                str(rate.name), lambda rate=rate, unit=unit, value=value: (Quantity(rate.name, unit), value)  # type: ignore[misc]
            )
        for sensor in _all_sensors(equations):
            self._makers.setdefault(sensor.name, lambda sensor=sensor: self._sensor(sensor))  # type: ignore[misc]

    def _sensor(self, sensor: Sensor) -> tuple[Quantity, Expr]:
        tree, layout = self._equations.tree, self._equations.layout
        q, v = layout.coordinates, layout.speeds
        frames = MovingFrames(tree.at(q, v))
        if "acceleration" in sensor.kind or sensor.kind == "rotation_rate":
            motion = acceleration(tree, sensor.of, q, v, self._equations.acceleration)
            own = motion.linear if sensor.kind == "acceleration" else motion.angular
            in_earth = frames[sensor.of].place.rotation.to_parent(own)
            value = getattr(frames[sensor.axes].place.rotation.to_child(in_earth), sensor.component)
        else:
            value = sensor_value(sensor, frames)
        return _quantity(sensor.symbol), as_expr(value)

    def __getitem__(self, name: str) -> tuple[Quantity, Expr]:
        return self._makers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


def _all_sensors(equations: Equations) -> list[Sensor]:
    """Declared sensors, and every component of every body's motion at its frame and at its mass centre."""
    found = list(equations.mechanism.sensors)
    frames = [(body.name, body.frame) for body in equations.mechanism.bodies]
    frames += [(f"{body.name}.centre", body.centre_frame) for body in equations.mechanism.bodies]
    frames += list(equations.mechanism.frames)
    for name, frame in frames:
        found += [Sensor(f"{name}.{kind}.{c}", kind, frame, c) for kind in UNITS for c in COMPONENTS]
    return found


def _why_singular(equations: Equations, values: Mapping[str, float], t: float, y: Vector) -> str | None:
    """Names the speeds along which the mass matrix has lost rank at a state, or None when it is sound."""
    layout = equations.layout
    bindings = dict(zip((*layout.coordinates, *layout.speeds), (float(x) for x in y), strict=True))
    bindings |= {p: values[str(p.name)] for p in layout.parameters} | {TIME: float(t)}
    try:
        flat = evaluate([entry for row in equations.mass_matrix for entry in row], bindings)
    except TorseurError as problem:
        return f"the mass matrix cannot be evaluated: {problem}"
    n = len(layout.speeds)
    matrix = np.array(flat, dtype=float).reshape(n, n)
    if not np.all(np.isfinite(matrix)):
        return "the mass matrix is not finite"
    size = np.sqrt(np.abs(np.diag(matrix)))
    scale = np.where(size > 0, size, 1.0)
    eigenvalues, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    if eigenvalues[0] > 1e-10:
        return None
    direction = vectors[:, 0]
    names = [name for name, part in zip(layout.speed_names, direction, strict=True) if abs(part) > 0.1]
    return (f"the mass matrix loses rank along {', '.join(names)} (smallest scaled eigenvalue {eigenvalues[0]:.1e}): "
            "no mass resists that motion there, or the coordinates become singular (an Euler angle at its pole?)")


