"""Curves of a suspension: angles, roll centre, support angles, wheel rate and motion ratio over travel or steering.

The body is held, the wheel's centre is moved through its travel, and everything follows through the closed loops. The
wheel is given by a frame: its origin is the wheel's centre, its y axis the axle. x points forward, y to the left, z up
in the axes of the body; angles have the signs of ISO 8855 for the side on which the wheel is: camber is positive where
the top leans outward, toe where the front points inward.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from torseur.algebra.graph import Program, dense_jacobian, matrix, vector
from torseur.computation.linearisation.operating_point import Kinematics, Point, kinematics_of, point_of
from torseur.computation.simulation.model.first_order_form import system_with_accelerations
from torseur.computation.simulation.model.system import Vector
from torseur.description.mechanism import (
    EARTH_NAME,
    Bushing,
    CoordinateSpring,
    Frame,
    Mechanism,
    Placement,
    PointSpring,
    Sensor,
    with_sensors,
)
from torseur.description.mechanism.frames import EARTH
from torseur.description.mechanism.quantities import ORIGIN
from torseur.errors import TorseurError, list_names, unknown_name

ITERATIONS = 40
CLOSED = 1e-12  # m and rad, to which positions are found
NUDGE = 1e-5  # m of travel, or part of the steering's range, over which rates are differences to both sides
STEP = 0.01  # m of travel that one search goes at most

# name: (unit, meaning)
QUANTITIES: Mapping[str, tuple[str, str]] = {
    "camber": ("rad", "the top of the wheel leans outward"),
    "toe": ("rad", "the front of the wheel points inward"),
    "half track": ("m", "of the contact, from the middle of the vehicle"),
    "wheelbase change": ("m", "the wheel's centre moves forward"),
    "caster": ("rad", "the steering axis leans to the rear"),
    "kingpin inclination": ("rad", "the steering axis leans inward"),
    "scrub radius": ("m", "the steering axis meets the ground inside the contact"),
    "caster trail": ("m", "the steering axis meets the ground ahead of the contact"),
    "roll centre height": ("m", "above the ground, both sides alike"),
    "support angle, braking": ("rad", "the locked wheel's contact goes forward as it rises"),
    "support angle, driving": ("rad", "the wheel's centre goes backward as it rises"),
    "anti-dive": ("1", "part of the dive that the arms take, braking"),
    "wheel load": ("N", "upward force at the contact that holds the springs"),
    "wheel rate": ("N/m", "its change with the travel"),
}


@dataclass(frozen=True)
class Suspension:
    """A mechanism with the frames of a suspension in it.

    `wheel` names a frame or body of the carrier; `body` the reference, the ground by default; `radius` is that of the
    tyre. `kingpin` are two frames on the steering axis, lower then upper; without them the axis is that about which the
    carrier turns when `steering` (a parameter, or a coordinate) changes. Anti-dive needs the wheelbase, the height of
    the mass centre and the part of the braking force at this axle.
    """

    mechanism: Mechanism
    wheel: str
    body: str = EARTH_NAME
    radius: float = 0.3
    steering: str | None = None
    kingpin: tuple[str, str] | None = None
    wheelbase: float | None = None
    height: float = 0.5
    brake_share: float = 0.6
    parameters: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def prepared(self) -> Prepared:
        """Its programs: positions of points by the coordinates, and the springs' forces."""
        return Prepared.of(self)

    def with_values(self, values: Mapping[str, float]) -> Suspension:
        """The same with other values of parameters, whose programs are those of this one."""
        other = replace(self, parameters={**self.parameters, **values})
        other.__dict__["prepared"] = replace(self.prepared, suspension=other)
        return other


@dataclass(frozen=True, eq=False)
class Curves:
    """Quantities over the travel (m) or the steering, a value at each place; what cannot be had is missing."""

    name: str
    over: str
    places: Vector
    values: Mapping[str, Vector]
    ratios: Mapping[str, Vector]

    def __getitem__(self, name: str) -> Vector:
        known = {**self.values, **{f"motion ratio of {spring}": ratio for spring, ratio in self.ratios.items()}}
        if name not in known:
            raise TorseurError(unknown_name("curve", name, known))
        return known[name]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A suspension's springs and joints alone, with the points that its curves are made of."""

    suspension: Suspension
    kinematics: Kinematics
    program: Program
    springs: tuple[str, ...]

    @staticmethod
    def of(suspension: Suspension) -> Prepared:
        mechanism = suspension.mechanism
        springs = [load for load in mechanism.loads if isinstance(load, (PointSpring, CoordinateSpring, Bushing))]
        if suspension.body != EARTH_NAME:  # what stands on the ground is the tyre
            springs = [load for load in springs if EARTH_NAME not in _ends(load)]
        # Tyres, brakes, weight and whatever else acts is no matter of a suspension's curves.
        bare = replace(
            mechanism, loads=tuple(springs), states=(), state_equations=(), gravity=ORIGIN, contacts=(), instances=(),
            initial=tuple(i for i in mechanism.initial if i[0] not in {s.name for s in mechanism.states}),
        )  # fmt: skip
        ends = [load for load in springs if isinstance(load, PointSpring)]
        frames = [*_four(_frame(mechanism, suspension.wheel)), *_four(_frame(mechanism, suspension.body))]
        frames += [_frame(mechanism, name) for name in suspension.kingpin or ()]
        frames += [frame for load in ends for frame in (load.first, load.second)]
        sensors = [Sensor(f"point {k} {c}", "position", frame, c) for k, frame in enumerate(frames) for c in "xyz"]
        whole = with_sensors(bare, sensors)
        kinematics = kinematics_of(whole)
        equations = kinematics.programs.equations
        resolve = system_with_accelerations(equations).resolve
        assert resolve is not None
        points = [resolve(sensor.symbol) for sensor in sensors]
        coordinates = equations.layout.coordinates
        outputs = (vector("points", points), matrix("jacobian", dense_jacobian(points, coordinates)))
        inputs = (*kinematics.programs.inputs,)
        return Prepared(suspension, kinematics, Program("suspension", inputs, outputs), tuple(e.name for e in ends))

    def start(self, steering: float | None = None) -> Placed:
        """The suspension as it is described, the steering at a value."""
        s = self.suspension
        given: dict[str, float] = dict(s.parameters)
        at: dict[str, float] = {}
        if steering is not None and s.steering is not None:
            (given if self._steers_by_parameter else at)[s.steering] = steering
        point = point_of(self.kinematics, at, given, None, 1e3)
        held = None if self._steers_by_parameter or s.steering is None else s.steering
        placed = Placed(self, point, held)
        return replace(placed, reference=placed.points[4:8])

    @property
    def _steers_by_parameter(self) -> bool:
        name = self.suspension.steering
        names = [p.name for p in self.suspension.mechanism.parameters]
        coordinates = self.kinematics.programs.equations.layout.coordinate_names
        if name is not None and name not in names and name not in coordinates:
            raise TorseurError(unknown_name("parameter or coordinate", name, [*names, *coordinates], "steering: "))
        return name in names


def _ends(load: PointSpring | CoordinateSpring | Bushing) -> tuple[str, ...]:
    return () if isinstance(load, CoordinateSpring) else (load.first.body, load.second.body)


def _four(frame: Frame) -> list[Frame]:
    """A frame's origin, and its points one metre along each axis: any point fixed in it is a combination of these."""
    return [frame, *(_offset(frame, axis) for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1)))]


def _offset(frame: Frame, offset: tuple[int, int, int]) -> Frame:
    from torseur.description.mechanism.transformations.instancing import Mounting

    moved = Frame(frame.body, Placement()).at(offset)
    return Mounting("", {frame.body: frame}).frame(moved)


def _frame(mechanism: Mechanism, name: str) -> Frame:
    if name == EARTH_NAME:
        return EARTH
    frames = dict(mechanism.frames)
    if name in frames:
        return frames[name]
    bodies = [body.name for body in mechanism.bodies]
    if name.removesuffix(".frame") in bodies:
        return Frame(name.removesuffix(".frame"))
    raise TorseurError(unknown_name("frame or body", name, [*frames, *bodies]))


@dataclass(frozen=True, eq=False)
class Placed:
    """A suspension in one position."""

    prepared: Prepared
    point: Point
    held: str | None = None
    reference: NDArray[np.float64] | None = None

    @cached_property
    def _found(self) -> dict[str, Vector]:
        return self.point.numbers.of(self.prepared.program, self.point.t, self.point.y)

    @property
    def points(self) -> NDArray[np.float64]:
        """Places of the points in the axes of the earth, a row each."""
        return np.asarray(self._found["points"].reshape(-1, 3))

    @property
    def reach(self) -> NDArray[np.float64]:
        """How far each point goes with a move along each speed: (point, component, speed)."""
        along = self._found["jacobian"].reshape(-1, self.point.numbers.coordinates) @ self.point.kinematics["reach"]
        return np.asarray(along.reshape(len(self.points), 3, -1)[:, :, : self.point.speeds])

    @cached_property
    def axes(self) -> NDArray[np.float64]:
        """Rows: x, y and z of the body."""
        body = self.points[4:8]
        return np.asarray(body[1:] - body[0])

    @property
    def height(self) -> float:
        """Of the wheel's centre above the body's origin, along the body's z axis."""
        return float(self.axes[2] @ (self.points[0] - self.points[4]))

    def _rows(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Constraints, the body held, the steering held: their derivatives by moves, and what is left of them."""
        assert self.reference is not None
        reach = self.reach
        rows = [self.point.holonomic_rows, reach[4:8].reshape(12, -1)]
        left = [self.point.gaps, (self.points[4:8] - self.reference).reshape(-1)]
        if self.held is not None:
            slot = self.point.equations.layout.coordinate_names.index(self.held)
            rows.append(self.point.kinematics["reach"][slot : slot + 1, : self.point.speeds])
            left.append(np.zeros(1))
        return np.vstack(rows), np.concatenate(left)

    @cached_property
    def tangent(self) -> Vector:
        """The move along the speeds for a metre of travel."""
        rows, _ = self._rows()
        travel = self.axes[2] @ self.reach[0]
        right = np.zeros(len(rows) + 1)
        right[-1] = 1.0
        whole = np.vstack([rows, travel])
        move = np.linalg.lstsq(whole, right, rcond=1e-11)[0]
        if abs(float(travel @ move) - 1.0) > 1e-6:
            name = self.prepared.suspension.wheel
            raise TorseurError(f"'{name}' cannot rise against '{self.prepared.suspension.body}': its travel ends here.")
        return np.asarray(move)

    def at_height(self, height: float) -> Placed:
        """The position with the wheel's centre at a height over the body's origin."""
        placed = self
        steps = max(1, int(np.ceil(abs(height - self.height) / STEP)))
        for target in np.linspace(self.height, height, steps + 1)[1:]:
            placed = placed._nearest(float(target))
        return placed

    def _nearest(self, height: float) -> Placed:
        placed = self
        for _ in range(ITERATIONS):
            rows, left = placed._rows()
            travel = placed.axes[2] @ placed.reach[0]
            missing = np.concatenate([left, [placed.height - height]])
            if np.abs(missing).max() < CLOSED:
                return placed
            move = np.linalg.lstsq(np.vstack([rows, travel]), -missing, rcond=1e-11)[0]
            extra = np.zeros(placed.point.moves - placed.point.speeds)
            point = placed.point.after_move(np.concatenate([move, extra]), np.zeros(placed.point.speeds))
            placed = replace(placed, point=point)
        if np.abs(missing).max() < 1e-8:
            return placed
        s = self.prepared.suspension
        raise TorseurError(
            f"'{s.wheel}' does not reach {height:.4g} m over '{s.body}': the arms end before. Ask for less travel."
        )

    # What the curves are made of, in the axes of the body

    def _own(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self.axes @ v)

    @property
    def centre(self) -> NDArray[np.float64]:
        return self._own(self.points[0] - self.points[4])

    @property
    def side(self) -> float:
        """1 for a wheel at the left, -1 at the right."""
        return 1.0 if self.centre[1] >= 0.0 else -1.0

    @property
    def outward(self) -> NDArray[np.float64]:
        """Direction of the axle, outward."""
        axle = self._own(self.points[2] - self.points[0])
        return np.asarray(axle * np.sign(axle[1] * self.side))

    @property
    def contact_from_centre(self) -> NDArray[np.float64]:
        """From the wheel's centre to the contact: down in the plane of the wheel, by its radius."""
        up = np.array([0.0, 0.0, 1.0]) - self.outward[2] * self.outward
        return np.asarray(-self.prepared.suspension.radius * up / np.linalg.norm(up))

    def rates(self, move: Vector) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How the wheel's centre and the point of the carrier at the contact go with a move."""
        moved = (self.reach @ move) @ self.axes.T
        columns = np.array([self._own(self.points[k] - self.points[0]) for k in (1, 2, 3)])
        in_wheel = columns @ self.contact_from_centre
        contact = moved[0] + in_wheel @ (moved[1:4] - moved[0])
        return moved[0], contact

    @property
    def wheel_load(self) -> float:
        """Force upward at the contact that balances the springs: -f·δq of a metre of travel."""
        force = self.point.numbers.of(self.point.programs.dynamics, self.point.t, self._at_rest().y)["force"]
        return -float(force @ self.tangent)

    def _at_rest(self) -> Point:
        y = self.point.y.copy()
        y[self.point.numbers.coordinates :] = 0.0
        return replace(self.point, y=y)

    def ratios(self) -> dict[str, float]:
        """How much each spring shortens per travel."""
        first = 8 + 2 * (self.prepared.suspension.kingpin is not None)
        moved = self.reach @ self.tangent
        found = {}
        for k, name in enumerate(self.prepared.springs):
            a, b = first + 2 * k, first + 2 * k + 1
            along = self.points[b] - self.points[a]
            length = np.linalg.norm(along)
            found[name] = -float(along @ (moved[b] - moved[a]) / length) if length else 0.0
        return {name: ratio for name, ratio in found.items() if abs(ratio) > 1e-9}


def suspension_curves(
    suspension: Suspension, travel: Sequence[float] | Vector, steering: float | None = None, name: str = ""
) -> Curves:
    """Curves over the travel (m) from where the suspension is described, the steering at a value."""
    placed = suspension.prepared.start(steering)
    zero, found = placed.height, []
    order = np.argsort(np.abs(np.asarray(travel, dtype=float)), kind="stable")
    reached: dict[float, Placed] = {0.0: placed}
    values: list[dict[str, float]] = [{} for _ in order]
    ratios: list[dict[str, float]] = [{} for _ in order]
    for k in order.tolist():
        z = float(travel[k])
        near = min(reached, key=lambda other: abs(other - z))
        placed = reached[z] = reached[near].at_height(zero + z)
        values[k], ratios[k] = _quantities(placed, steering), placed.ratios()
        found.append(z)
    return _curves(name, "travel", np.asarray(travel, dtype=float), values, ratios)


def steering_curves(
    suspension: Suspension, steering: Sequence[float] | Vector, travel: float = 0.0, name: str = ""
) -> Curves:
    """Curves over the steering, at a travel (m)."""
    if suspension.steering is None:
        raise TorseurError("curves over the steering need its name: steering = a parameter or coordinate.")
    zero = suspension.prepared.start(0.0).height
    placed = [suspension.prepared.start(float(u)).at_height(zero + travel) for u in steering]
    values = [_quantities(p, float(u)) for p, u in zip(placed, steering, strict=True)]
    return _curves(name, suspension.steering, np.asarray(steering, dtype=float), values, [p.ratios() for p in placed])


def _curves(
    name: str, over: str, places: Vector, values: Sequence[Mapping[str, float]], ratios: Sequence[Mapping[str, float]]
) -> Curves:
    return Curves(
        name,
        over,
        places,
        {key: np.array([v[key] for v in values]) for key in QUANTITIES if all(key in v for v in values)},
        {key: np.array([r.get(key, 0.0) for r in ratios]) for key in dict.fromkeys(k for r in ratios for k in r)},
    )


def _quantities(placed: Placed, steering: float | None) -> dict[str, float]:
    suspension, side, outward = placed.prepared.suspension, placed.side, placed.outward
    centre, contact = placed.rates(placed.tangent)
    at_contact = placed.centre + placed.contact_from_centre
    zero = placed.prepared.start(steering).centre
    rear, front = placed.at_height(placed.height - NUDGE), placed.at_height(placed.height + NUDGE)
    values = {
        "camber": -float(np.arcsin(outward[2])),
        "toe": float(np.arctan2(outward[0], abs(outward[1]))),
        "half track": float(abs(at_contact[1])),
        "wheelbase change": float(placed.centre[0] - zero[0]),
        # The line through the contact across its velocity meets the middle plane there.
        "roll centre height": float(at_contact[1] * contact[1] / contact[2]),
        "support angle, braking": float(np.arctan2(contact[0], contact[2])),
        "support angle, driving": float(np.arctan2(-centre[0], centre[2])),
        "wheel load": placed.wheel_load,
        "wheel rate": (front.wheel_load - rear.wheel_load) / (2.0 * NUDGE),
    }
    if suspension.wheelbase is not None:
        slope = contact[0] / contact[2]
        values["anti-dive"] = float(suspension.brake_share * slope * suspension.wheelbase / suspension.height)
    axis = _steering_axis(placed, steering)
    if axis is not None:
        through, along = axis
        ground = through + along * (at_contact[2] - through[2]) / along[2]
        values |= {
            "caster": float(np.arctan2(-along[0], along[2])),
            "kingpin inclination": float(np.arctan2(-side * along[1], along[2])),
            "scrub radius": float(side * (at_contact[1] - ground[1])),
            "caster trail": float(ground[0] - at_contact[0]),
        }
    return values


def _steering_axis(placed: Placed, steering: float | None) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """A point of the steering axis and its direction upward: through two frames, or the screw of steering itself."""
    suspension = placed.prepared.suspension
    if suspension.kingpin is not None:
        lower, upper = (placed._own(placed.points[8 + k] - placed.points[4]) for k in (0, 1))
        return lower, (upper - lower) / np.linalg.norm(upper - lower)
    if suspension.steering is None:
        return None
    u = steering if steering is not None else _steering_value(placed)
    ends = [placed.prepared.start(u + h).at_height(placed.height) for h in (-NUDGE, NUDGE)]
    low, high = (np.array([end._own(end.points[k] - end.points[4]) for k in range(4)]) for end in ends)
    rates, here = high - low, 0.5 * (high + low)
    # ω from how the axes of the wheel turn: ω = ½ Σ e x e'.
    spin = 0.5 * np.sum([np.cross(here[k] - here[0], rates[k] - rates[0]) for k in (1, 2, 3)], axis=0)
    size = float(spin @ spin)
    if size < 1e-24:
        raise TorseurError(f"steering by '{suspension.steering}' does not turn '{suspension.wheel}'.")
    through = here[0] + np.cross(spin, rates[0]) / size
    return through, spin / np.sqrt(size) * np.sign(spin[2])


def _steering_value(placed: Placed) -> float:
    name, point = placed.prepared.suspension.steering, placed.point
    assert name is not None
    layout = point.equations.layout
    if name in layout.coordinate_names:
        return float(point.y[layout.coordinate_names.index(name)])
    return float(point.numbers.parameters[layout.parameter_names.index(name)])


def require_curve(name: str, curves: Curves) -> None:
    """Refuses the name of a curve that this suspension does not have."""
    if name not in curves.values:
        has = list_names(list(curves.values))
        raise TorseurError(f"the suspension has no curve '{name}'; it has {has}.")
