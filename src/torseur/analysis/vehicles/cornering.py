"""Steady cornering: turns at constant speed, followed over the lateral acceleration to the limit and beyond.

A steady turn is a motion whose speeds in the axes of the body are constant. Turns form a curve in the plane of lateral
acceleration a and steering angle δ; it is followed along its own length, so that it may turn back where the tyres give
no more: that is the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from torseur.analysis.vehicles.steered_vehicle import Vehicle
from torseur.computation.linearisation.equilibrium import Steady, steady_from, steady_motion
from torseur.computation.linearisation.operating_point import Point, point_of
from torseur.computation.linearisation.small_motions import SmallMotions, small_motions
from torseur.computation.linearisation.verification import Check, check_steadiness
from torseur.computation.simulation.model.system import Vector
from torseur.errors import TorseurError

TIME = 1e3  # s, at which laws of time are over
FIRST = 0.02  # first step, in units of the two axes
LONGEST, SHORTEST = 0.12, 1e-4
MOST_TURNS = 160
BEYOND = 3  # turns that are followed past the limit
SLOW = 1e-3  # 1/s: growth below which speed and course, which nothing holds, count as constant


@dataclass(frozen=True, eq=False)
class Turn:
    """A steady turn: lateral acceleration (m/s²), steering and drive, the motion, and small motions about it."""

    lateral_acceleration: float
    steering: float
    drive: float
    speed: float
    moving: int
    state: Mapping[str, float]
    motions: SmallMotions = field(repr=False)

    @cached_property
    def eigenvalues(self) -> tuple[complex, ...]:
        """Eigenvalues of the motions about it, without those of place, heading and turns of wheels.

        Nothing depends on these: moved to another place or another heading, a turn is the same turn. In the axes of the
        body, which turns by the yaw rate r, a shift has the eigenvalues ±i r, a turn has zero.
        """
        rate = self.lateral_acceleration / self.speed
        neutral = (0j, 1j * rate, -1j * rate)
        roots = [mode.eigenvalue for mode in self.motions.modes]
        return tuple(s for s in roots if min(abs(s - n) for n in neutral) > SLOW)

    @property
    def growth(self) -> float:
        """The largest real part of the eigenvalues (1/s): negative where the turn is stable with steering held.

        Of those that say nothing, one is left out for each coordinate that moves; the speed, which nothing but the
        drive holds, stays: in straight running without drag it has a root of zero.
        """
        rate = self.lateral_acceleration / self.speed
        roots = [mode.eigenvalue for mode in self.motions.modes]
        for neutral in (1j * rate, -1j * rate, *([0j] * (self.moving - 2))):
            roots.pop(int(np.argmin(np.abs(np.array(roots) - neutral))))
        return max((s.real for s in roots), default=-np.inf)

    @property
    def is_stable(self) -> bool:
        """Whether no disturbance grows while steering and drive are held."""
        return self.growth <= SLOW


@dataclass(frozen=True, eq=False)
class SteadyCornering:
    """Steady turns at one speed (m/s), in the order in which they were followed."""

    vehicle: Vehicle
    speed: float
    turns: tuple[Turn, ...]
    ended: str

    @property
    def lateral_acceleration(self) -> Vector:
        return np.array([turn.lateral_acceleration for turn in self.turns])

    @property
    def steering(self) -> Vector:
        return np.array([turn.steering for turn in self.turns])

    @property
    def limit(self) -> float | None:
        """The largest lateral acceleration, where the curve turned back; None where it was not reached."""
        a = np.abs(self.lateral_acceleration)
        k = int(np.argmax(a))
        if k in (0, len(a) - 1):
            return None
        # The vertex of the parabola through the turn that reaches farthest and its neighbours, over the steering angle.
        rows = np.vander(self.steering[k - 1 : k + 2], 3)
        c = np.linalg.solve(rows, a[k - 1 : k + 2])
        return float(c[2] - c[1] ** 2 / (4.0 * c[0])) if c[0] < 0 else float(a[k])

    @property
    def checks(self) -> tuple[Check, ...]:
        """Whether the turns are steady and their small motions right: of each of both checks the worst turn."""
        motions = [turn.motions for turn in self.turns]
        # Where a turn leads to and which way it points changes in it: all speeds may be other than zero.
        steadiness = [check_steadiness(m.point, tuple(range(m.point.speeds)), np.abs(_roots(m))) for m in motions]
        worst = [max(kind, key=lambda c: c.error) for kind in (steadiness, [m.check for m in motions])]
        return tuple(replace(check, by=f"{check.by}, in the worst turn") for check in worst)

    @property
    def first_unstable(self) -> Turn | None:
        """The first turn that is unstable with steering held."""
        return next((turn for turn in self.turns if not turn.is_stable), None)

    def of(self, name: str) -> Vector:
        """A coordinate or speed over the turns."""
        if name not in self.turns[0].state:
            raise TorseurError(f"'{name}' is not a coordinate or speed of {self.vehicle.mechanism.name}.")
        return np.array([turn.state[name] for turn in self.turns])


def straight_running(
    vehicle: Vehicle, speed: float, parameters: Mapping[str, float] | None = None, time: float = TIME
) -> Steady:
    """Straight running at a speed, with the drive that it takes."""
    steered = vehicle.steered
    given = {**(parameters or {}), **_aim(vehicle, speed, 1.0, 0.0, 0.0), vehicle.steering: 0.0}
    start = _rolling(vehicle, speed, given)
    return steady_motion(steered.kinematics, start, moving=vehicle.moving, parameters=given, t=time)


def steady_cornering(
    vehicle: Vehicle,
    speed: float,
    up_to: float = 15.0,
    parameters: Mapping[str, float] | None = None,
    time: float = TIME,
    progress: Callable[[float], None] | None = None,
) -> SteadyCornering:
    """Steady turns at a speed from straight running up to a lateral acceleration, or past the limit.

    Turns go to the side of a positive steering parameter. The curve ends at `up_to`, a little past the limit,
    where an unstable vehicle needs countersteering, or where no turn is found any more (`ended` says which).
    """
    steered, given = vehicle.steered, dict(parameters or {})
    now = straight_running(vehicle, speed, given, time)
    angle_slope = _slope(vehicle, now)
    if angle_slope == 0.0:
        raise TorseurError(f"{vehicle.mechanism.name}: '{vehicle.steering}' does not make it turn.")
    # Units of the two axes: g, and the angle that the straight line from the origin gives for it.
    units = np.array([9.81, 9.81 / abs(angle_slope)])
    turns = [turn_of(vehicle, now)]
    place, step, direction = np.zeros(2), FIRST, np.array([np.sign(angle_slope), 1.0]) / np.sqrt(2.0)
    ended = f"{MOST_TURNS} turns"
    farthest, beyond = 0.0, 0
    while len(turns) < MOST_TURNS:
        aim = place + step * direction
        # Along the direction from the last two turns: c · (a, δ) = c · aim, in units of the axes.
        turning, steering = (direction / units).tolist()
        try:
            state = steady_from(
                now, vehicle.moving, _aim(vehicle, speed, turning, steering, float(direction @ aim)), steered.kinematics
            )
        except TorseurError:
            state = None
        reached = _place(vehicle, state, units) if state is not None else place
        if state is None or np.linalg.norm(reached - aim) > 0.5 * step:
            step /= 2.0
            if step < SHORTEST:
                ended = "no turn was found beyond"
                break
            continue
        direction = (reached - place) / np.linalg.norm(reached - place)
        place, now = reached, state
        turns.append(turn_of(vehicle, now))
        step = min(1.6 * step, LONGEST)
        beyond = 0 if abs(place[0]) > farthest else beyond + 1
        farthest = max(farthest, abs(place[0]))
        if progress is not None:
            progress(min(1.0, farthest * 9.81 / up_to))
        if abs(place[0]) * 9.81 >= up_to:
            ended = f"{up_to:g} m/s² were reached"
            break
        if not turns[-1].is_stable and reached[1] * turns[1].steering < 0.0:
            ended = "turns became unstable and need steering to the other side"
            break
        if beyond == BEYOND:
            ended = "the limit was passed"
            break
    return SteadyCornering(vehicle, speed, tuple(turns), ended)


def _aim(vehicle: Vehicle, speed: float, turning: float, steering: float, aim: float) -> dict[str, float]:
    names = vehicle.steered.targets
    return {names["speed"]: speed, names["of_turning"]: turning, names["of_steering"]: steering, names["aim"]: aim}


def _rolling(vehicle: Vehicle, speed: float, parameters: Mapping[str, float]) -> dict[str, float]:
    """The initial speeds all made larger or smaller in proportion, so that wheels roll at another speed."""
    point = point_of(vehicle.kinematics, None, {k: v for k, v in parameters.items() if not _is_aim(vehicle, k)})
    names = point.equations.layout.speed_names
    (joint,) = [j for j in vehicle.mechanism.joints if j.child.body == vehicle.body and j.parent.body == "earth"]
    rates = point.numbers.of(point.programs.dynamics, 0.0, point.y)["rates"]
    slots = [point.equations.layout.coordinate_names.index(q.name) for q in joint.coordinates][:2]
    own = float(np.hypot(*rates[slots]))
    if own <= 0.0:
        raise TorseurError(
            f"{vehicle.mechanism.name}: the vehicle must move forward at the start, which tells how the wheels turn: "
            "init vx = 20 m/s, ..."
        )
    return {name: float(v) * speed / own for name, v in zip(names, point.v, strict=True) if v}


def _is_aim(vehicle: Vehicle, name: str) -> bool:
    return name in vehicle.steered.targets.values()


def _place(vehicle: Vehicle, steady: Steady, units: Vector) -> Vector:
    a, angle = _turning(vehicle, steady.point), steady.state[vehicle.steered.steering]
    return np.asarray(np.array([a, angle]) / units)


def _turning(vehicle: Vehicle, point: Point) -> float:
    """Lateral acceleration: the state that holds the steering would change by what the aim lacks."""
    layout = point.equations.layout
    slot = [str(s.name) for s in layout.states].index(f"{vehicle.steering}.hold")
    values = dict(zip(layout.parameter_names, point.numbers.parameters.tolist(), strict=True))
    names = vehicle.steered.targets
    angle = point.y[layout.coordinate_names.index(vehicle.steered.steering)]
    rest = values[names["of_steering"]] * angle - values[names["aim"]]
    return float((point.state_rates[slot] - rest) / values[names["of_turning"]])


def _slope(vehicle: Vehicle, steady: Steady) -> float:
    """Lateral acceleration over the steering angle in straight running."""
    point = steady.point
    small = 1e-6
    turned = steady_from(
        steady, vehicle.moving, _aim(vehicle, _speed_aim(vehicle, point), 1.0, 0.0, small), vehicle.steered.kinematics
    )
    return small / turned.state[vehicle.steered.steering]


def _speed_aim(vehicle: Vehicle, point: Point) -> float:
    values = dict(zip(point.equations.layout.parameter_names, point.numbers.parameters.tolist(), strict=True))
    return float(values[vehicle.steered.targets["speed"]])


def turn_of(vehicle: Vehicle, steady: Steady) -> Turn:
    """The turn, and small motions of the vehicle about it with steering and drive held."""
    steered, state = vehicle.steered, steady.state
    layout = vehicle.kinematics.programs.equations.layout
    kept = {name: state[name] for name in (*layout.coordinate_names, *layout.speed_names)}
    names, numbers = steady.point.equations.layout.parameter_names, steady.point.numbers.parameters
    given = dict(zip(names, numbers.tolist(), strict=True))
    held = {name: given[name] for name in layout.parameter_names}
    held |= {vehicle.steering: state[steered.steering], vehicle.drive: state[steered.drive]}
    point = point_of(vehicle.kinematics, kept, held, None, steady.point.t)
    return Turn(
        _turning(vehicle, steady.point), state[steered.steering], state[steered.drive],
        _speed_aim(vehicle, steady.point), len(vehicle.moving), kept, small_motions(point),
    )  # fmt: skip


def _roots(motions: SmallMotions) -> Vector:
    return np.array([mode.eigenvalue for mode in motions.modes])
