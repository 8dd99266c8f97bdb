"""Handling: what small motions about straight running, a step steer and a change of lanes say of a vehicle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.algebra.graph import Expr, Program, as_expr, dense_jacobian, matrix
from torseur.algebra.graph.scalar import atan, maximum, minimum, tanh
from torseur.analysis.sensitivity.criteria.formula_outputs import formula_outputs
from torseur.analysis.sensitivity.criteria.motion_formulas import read_formula
from torseur.analysis.vehicles.cornering import TIME, Turn, straight_running, turn_of
from torseur.analysis.vehicles.steered_vehicle import Vehicle
from torseur.computation.linearisation.equilibrium import Steady, steady_equations
from torseur.computation.linearisation.frequency_response import FrequencyResponse, output_rows, response_per_input
from torseur.computation.linearisation.modes import Mode
from torseur.computation.linearisation.small_motions import small_motions
from torseur.computation.linearisation.verification import Check
from torseur.computation.simulation import Trajectory, simulate
from torseur.computation.simulation.model.first_order_form import as_system, system_with_accelerations
from torseur.computation.simulation.model.system import Vector
from torseur.description.mechanism import TIME as T
from torseur.description.mechanism import Mechanism, State, driven_input, motor, with_sensors
from torseur.description.mechanism.frames import Frame, Sensor, placement
from torseur.description.mechanism.transformations.moving_inputs import with_moving_inputs
from torseur.errors import TorseurError, unknown_name

LANE = 3.5  # m, by which a double lane change leads aside (ISO 3888-1)
SLOWLY = 1.0  # rad/s, at which it is looked how a vehicle follows its drive
HANDS = 25.0  # rad/s, how fast hands follow what the driver wants


@dataclass(frozen=True, eq=False)
class Gains:
    """Derivatives of a steady turn by its lateral acceleration a, about straight running at a speed (m/s)."""

    speed: float
    steering_per_acceleration: float  # dδ/da
    sideslip_per_acceleration: float  # dβ/da, β at the mass centre
    roll_per_acceleration: float

    @property
    def yaw_gain(self) -> float:
        """dr/dδ with r = a/V."""
        return 1.0 / (self.speed * self.steering_per_acceleration)


@dataclass(frozen=True, eq=False)
class Handling:
    """Straight running at a speed, and what follows from it.

    The steering angle of a turn is δ = (l/V²) a + K a: l is the wheelbase times the ratio of the steering, K the
    understeer gradient. Both follow from the gains at this speed and at half of it.
    """

    vehicle: Vehicle
    speed: float
    straight: Steady
    gains: Gains
    slower: Gains

    @cached_property
    def _fit(self) -> tuple[float, float]:
        rows = np.array([[1.0 / g.speed**2, 1.0] for g in (self.gains, self.slower)])
        wanted = np.array([g.steering_per_acceleration for g in (self.gains, self.slower)])
        length, gradient = np.linalg.solve(rows, wanted)
        return float(length), float(gradient)

    @property
    def steered_length(self) -> float:
        """Wheelbase times the ratio of the steering: δ over the curvature of a slow turn (m, times that ratio)."""
        return self._fit[0]

    @property
    def understeer_gradient(self) -> float:
        """K = dδ/da - l/V², in the unit of the steering parameter over m/s²."""
        return self._fit[1]

    @property
    def characteristic_speed(self) -> float | None:
        """The speed of the largest yaw gain, √(l/K), of a vehicle that understeers (m/s)."""
        ratio = self.steered_length / self.understeer_gradient if self.understeer_gradient else -1.0
        return float(np.sqrt(ratio)) if ratio > 0.0 else None

    @property
    def critical_speed(self) -> float | None:
        """The speed √(-l/K) beyond which a vehicle that oversteers is unstable (m/s)."""
        ratio = -self.steered_length / self.understeer_gradient if self.understeer_gradient else -1.0
        return float(np.sqrt(ratio)) if ratio > 0.0 else None

    @cached_property
    def turn(self) -> Turn:
        """Straight running as a turn without lateral acceleration, with its small motions and eigenvalues."""
        return turn_of(self.vehicle, self.straight)

    @property
    def checks(self) -> tuple[Check, ...]:
        """Whether straight running is steady, and its small motions are those of the equations of motion."""
        return self.straight.check, self.turn.motions.check

    @property
    def modes(self) -> tuple[Mode, ...]:
        """Modes about straight running: of ride, of roll, of yaw, of the wheels."""
        roots = set(self.turn.eigenvalues)
        return tuple(mode for mode in self.turn.motions.modes if mode.eigenvalue in roots)

    def moves_in(self, mode: Mode) -> tuple[str, ...]:
        """What of the body takes the largest part in a mode, and what of all the rest; speeds count in its own time."""
        layout, pace = self.turn.motions.point.equations.layout, max(abs(mode.eigenvalue), 1e-3)
        rates = {str(v.name) for v in layout.rates}
        sizes = {name: abs(mode.shape[name]) for name in layout.coordinate_names if name not in self.vehicle.moving}
        sizes |= {name: abs(mode.shape[name]) / pace for name in layout.speed_names if name not in rates}
        (joint,) = [j for j in self.vehicle.mechanism.joints if j.child.body == self.vehicle.body and not j.role]
        own = {q.name for q in joint.coordinates} | {name for name in layout.speed_names if name not in rates}
        groups = ([n for n in sizes if n in own], [n for n in sizes if n not in own])
        return tuple(max(group, key=lambda name: sizes[name]) for group in groups if group)

    def response(self, output: str, frequencies: Sequence[float] | Vector) -> FrequencyResponse:
        """Frequency response of a formula to the steering, at angular frequencies (rad/s), the speed being kept."""
        steered, point = self.vehicle.steered, self.straight.point
        read = read_formula(output, system_with_accelerations(point.equations))
        values = response_per_input(small_motions(point), steered.steering, read.value, frequencies)
        units = read.unit, str(self.vehicle.mechanism.parameter(self.vehicle.steering).symbol.data.unit)
        return FrequencyResponse(self.vehicle.steering, output, np.asarray(frequencies, dtype=float), values, units)


def handling(
    vehicle: Vehicle, speed: float, parameters: Mapping[str, float] | None = None, time: float = TIME
) -> Handling:
    """Gains, understeer gradient, characteristic speed and modes of a vehicle in straight running at a speed (m/s)."""
    straight = straight_running(vehicle, speed, parameters, time)
    slower = straight_running(vehicle, speed / 2, parameters, time)
    return Handling(vehicle, speed, straight, gains_of(vehicle, straight, speed), gains_of(vehicle, slower, speed / 2))


def gains_of(vehicle: Vehicle, straight: Steady, speed: float) -> Gains:
    """Derivatives by the lateral acceleration, from the equations of steady turns F(x, a) = 0: F_x dx = -F_a."""
    point, steered = straight.point, vehicle.steered
    layout, n = point.equations.layout, point.speeds
    jacobian, _ = steady_equations(straight, vehicle.moving)
    hold = [str(s.name) for s in layout.states].index(f"{vehicle.steering}.hold")
    # a stands in the row of the state that holds the steering, whose rate is a minus its aim.
    row = n + len(point.gaps) + len(point.slips) + hold
    right = np.zeros(len(jacobian))
    right[row] = 1.0 / point.move_scales[n + hold]
    change: Vector = np.asarray(np.linalg.lstsq(jacobian, right, rcond=1e-13)[0], dtype=float)
    of_coordinates = point.kinematics["reach"] @ change[: point.moves]
    steering = of_coordinates[layout.coordinate_names.index(steered.steering)]
    # δv of the mass centre sideways over its speed ahead, and roll: of the body's own frame, about its x axis.
    sideways = _formula_derivative(vehicle, straight, _sideways(vehicle.body), change)
    roll = _formula_derivative(vehicle, straight, f"{vehicle.body}.direction.zy", change)
    return Gains(speed, float(steering), sideways / speed, roll)


def _sideways(body: str) -> str:
    """The velocity of the mass centre along the body's y axis."""
    return " + ".join(f"{body}.iframe.velocity.{c}*{body}.direction.{c}y" for c in "xyz")


def _formula_derivative(vehicle: Vehicle, steady: Steady, formula: str, change: Vector) -> float:
    point = steady.point
    read = read_formula(formula, system_with_accelerations(point.equations))
    layout = point.equations.layout
    outputs = tuple(
        matrix(name, dense_jacobian([read.value], group))
        for name, group in (("positions", layout.coordinates), ("speeds", layout.speeds))
    )
    program = Program("gain", (*point.programs.inputs, *point.programs.solution), outputs)
    values = point.numbers.of(program, point.t, point.y, a=np.zeros(point.speeds), l=steady.multipliers)
    moves, n = point.moves, point.speeds
    by_moves = values["positions"].reshape(-1) @ point.kinematics["reach"] @ change[:moves]
    return float(by_moves + values["speeds"].reshape(-1) @ change[moves : moves + n])


def eigenvalues_over_speed(
    vehicle: Vehicle,
    speeds: Sequence[float] | Vector,
    parameters: Mapping[str, float] | None = None,
    time: float = TIME,
) -> list[tuple[complex, ...]]:
    """Eigenvalues about straight running at each speed, without those of place, heading and turns of wheels."""
    return [turn_of(vehicle, straight_running(vehicle, float(v), parameters, time)).eigenvalues for v in speeds]


@dataclass(frozen=True, eq=False)
class StepSteer:
    """The motion after a step steer, and its characteristics (times from when half the step is done)."""

    motion: Trajectory
    angle: float
    since: Vector
    curves: Mapping[str, Vector]

    def characteristics(self, name: str) -> dict[str, float]:
        """Steady value, overshoot (part of it), peak time, response time to 90 %, settling time to within 5 %.

        Only the steady value where that is nothing.
        """
        if name not in self.curves:
            raise TorseurError(unknown_name("curve", name, self.curves))
        values, t = self.curves[name], self.since
        final = float(values[-1])
        if abs(final) < 1e-9:
            return {"steady": final}
        peak = int(np.argmax(values * np.sign(final)))
        over = values[peak] / final - 1.0
        outside = np.flatnonzero(np.abs(values - final) > 0.05 * abs(final))
        reached = np.flatnonzero(values / final >= 0.9)
        return {
            "steady": final,
            "overshoot": max(float(over), 0.0),
            "peak time": float(t[peak]),
            "response time": float(np.interp(0.9, values[: reached[0] + 1] / final, t[: reached[0] + 1])),
            "settling time": float(t[min(outside[-1] + 1, len(t) - 1)]) if len(outside) else float(t[0]),
        }


def step_steer(
    run: Handling,
    lateral_acceleration: float = 4.0,
    until: float = 4.0,
    parameters: Mapping[str, float] | None = None,
    rise: float = 0.1,
    rtol: float = 1e-6,
) -> StepSteer:
    """The motion from straight running after the steering is turned, within `rise` seconds, by the angle that would
    bring the lateral acceleration (m/s²) if it went on in proportion."""
    vehicle = run.vehicle
    angle = lateral_acceleration * run.gains.steering_per_acceleration
    begin = TIME + 0.2
    # From 0 to 1 within the rise, half of it at `begin`: tanh is at 96 % after twice its scale.
    formula = as_expr(angle) * (1 + tanh((T - begin - rise / 2) / (rise / 4))) / 2
    moving = with_formula(vehicle.mechanism, {vehicle.steering: formula})
    outputs = _outputs(vehicle)
    motion = _motion(run, moving, outputs, until, parameters, rtol)
    curves = {name: np.asarray(motion[_column(name)]) for name in outputs}
    return StepSteer(motion, angle, np.asarray(motion.time) - begin - rise / 2, curves)


def _column(name: str) -> str:
    """The name of a column of the motion that no coordinate has."""
    return f"{name} of the vehicle"


def _outputs(vehicle: Vehicle) -> dict[str, str]:
    b = f"{vehicle.body}.iframe"
    speed = f"sqrt({b}.velocity.x^2 + {b}.velocity.y^2)"
    return {
        "lateral acceleration": f"({b}.velocity.x*{b}.acceleration.y - {b}.velocity.y*{b}.acceleration.x)/{speed}",
        "yaw rate": f"{vehicle.body}.rotation.z",
        "roll": f"asin({vehicle.body}.direction.zy)",
        "sideslip": f"atan(({_sideways(vehicle.body)})/{speed})",
    }


def _motion(
    run: Handling,
    mechanism: Mechanism,
    outputs: Mapping[str, str],
    until: float,
    parameters: Mapping[str, float] | None,
    rtol: float,
    extra: Mapping[str, float] | None = None,
) -> Trajectory:
    vehicle = run.vehicle
    given = {**(parameters or {}), vehicle.drive: run.turn.drive}
    given = {name: value for name, value in given.items() if name in {p.name for p in mechanism.parameters}}
    system = as_system(mechanism, given)
    wanted = formula_outputs([f"{_column(name)} = {formula}" for name, formula in outputs.items()], system)
    start = dict(run.turn.state) | dict(extra or {})
    return simulate(
        mechanism, TIME + until, start=TIME, samples=round(until * 100) + 1, initial=start, parameters=given,
        outputs=wanted, rtol=rtol,
    )  # fmt: skip


def with_formula(mechanism: Mechanism, formulas: Mapping[str, Expr]) -> Mechanism:
    """The mechanism in which parameters are formulas of time, coordinates, measures or states."""
    now: dict[str, Any] = {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}
    moving = [replace(p, value=formulas[p.name]) if p.name in formulas else p for p in now["parameters"]]
    put_in = with_moving_inputs({**now, "parameters": tuple(moving), "initial": ()}, {p.name for p in moving})
    return Mechanism(**{**put_in, "parameters": now["parameters"], "initial": now["initial"], "instances": ()})


@dataclass(frozen=True, eq=False)
class LaneChange:
    """A double lane change by a driver who looks ahead: the motion, and the path that was to be followed."""

    motion: Trajectory
    way: Vector
    path: Vector
    aside: Vector
    steering: Vector
    curves: Mapping[str, Vector]

    @property
    def largest_error(self) -> float:
        """How far the mass centre leaves the path (m)."""
        return float(np.abs(self.aside - self.path).max())


def lane_change(
    run: Handling,
    preview: float = 0.9,
    lag: float = 0.15,
    parameters: Mapping[str, float] | None = None,
    rtol: float = 1e-5,
) -> LaneChange:
    """A double lane change (ISO 3888-1: 3.5 m aside over 30 m, and back over 25 m, 25 m later) at the speed of `run`.

    The driver steers by the curvature that leads to the point of the path seen `preview` seconds ahead, after a delay
    `lag`, and keeps the speed. The hands follow within 1/25 s.
    """
    vehicle, v = run.vehicle, run.speed
    body, distance = vehicle.body, preview * v
    seen = Frame(body, placement((distance, 0, 0)))
    sensors = [Sensor(f"{body}.seen.{c}", "position", seen, c) for c in "xy"]
    sensors += [Sensor(f"{body}.iframe.velocity.{c}", "velocity", Frame(body, base="iframe"), c) for c in "xy"]
    x, y = (sensor.symbol for sensor in sensors[:2])
    prepared = with_sensors(vehicle.mechanism, sensors)
    # A circle through the point seen aside by e at the distance d has the curvature 2 e/d².
    aside = distance * atan((_path(x) - y) / distance)
    per_curvature = run.gains.steering_per_acceleration * v**2
    wish = as_expr(per_curvature) * 2 * aside / distance**2
    delayed = State("driver.angle", "rad", "angle that the driver wants")
    delayed = replace(delayed, formula=(wish - delayed.symbol) / lag)
    driven = driven_input(prepared, vehicle.steering)
    angle = driven.coordinate
    hands = motor(f"{angle.name}.hands", angle.name, angle.name,
                  HANDS**2 * (delayed.symbol - angle.symbol) - 2 * HANDS * angle.rate)  # fmt: skip
    whole = replace(
        driven.mechanism, loads=(*driven.mechanism.loads, hands), states=(*driven.mechanism.states, delayed)
    )
    pushing = as_expr(run.turn.drive) + _push(run) * (v - vehicle.speed)
    controlled = with_formula(whole, {vehicle.drive: pushing})
    outputs = {**_outputs(vehicle), "way": f"{body}.iframe.position.x", "aside": f"{body}.iframe.position.y"}
    start = {angle.name: run.turn.steering, f"{angle.name}'": 0.0}
    motion = _motion(run, controlled, outputs, 160.0 / v, parameters, rtol, start)
    curves = {name: np.asarray(motion[_column(name)]) for name in outputs}
    way = curves["way"]
    return LaneChange(motion, way, _path_numbers(way), curves["aside"], np.asarray(motion[angle.name]), curves)


def _push(run: Handling) -> float:
    """Drive over the lack of speed that makes up for it with a time constant of two seconds."""
    vehicle, motions = run.vehicle, run.turn.motions
    point = motions.point
    slot = point.equations.layout.parameter_names.index(vehicle.drive)
    given = point.numbers.parameters.copy()
    given[slot] += 1.0
    pushed = replace(point, numbers=replace(point.numbers, parameters=given))
    more = (pushed.solution[0] - point.solution[0])[list(motions.speeds)]
    # Slowly, when wheels and tyres have followed: a torque turns the wheels first and moves the vehicle after that.
    ahead = read_formula(f"{vehicle.body}.iframe.velocity.x", system_with_accelerations(point.equations)).value
    inputs = np.concatenate([np.zeros(len(motions.positions)), more])
    gain = np.linalg.solve(1j * SLOWLY * np.eye(len(inputs)) - motions.state_matrix, inputs)
    return 0.5 / float(abs(SLOWLY * (output_rows(motions, ahead)[0] @ gain)))


_STEPS = ((15.0, 30.0, 1.0), (70.0, 25.0, -1.0))  # where a change begins (m), over which way, to which side


def _path(x: Expr) -> Expr:
    total = as_expr(0)
    for begin, length, side in _STEPS:
        s = minimum(maximum((x - begin) / length, 0), 1)
        total = total + side * LANE * s**3 * (10 - 15 * s + 6 * s**2)
    return total


def _path_numbers(x: Vector) -> NDArray[np.float64]:
    total = np.zeros(len(x))
    for begin, length, side in _STEPS:
        s = np.clip((x - begin) / length, 0.0, 1.0)
        total += side * LANE * s**3 * (10 - 15 * s + 6 * s**2)
    return total
