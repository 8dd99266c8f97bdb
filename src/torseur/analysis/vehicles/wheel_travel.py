"""A suspension in its positions: the body held, the wheel's centre moved, all else following through the loops."""

from __future__ import annotations

from collections.abc import Mapping
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
from torseur.errors import TorseurError, unknown_name

ITERATIONS = 40
CLOSED = 1e-12  # m and rad, to which positions are found
NUDGE = 1e-5  # m of travel, or part of the steering's range, over which rates are differences to both sides
STEP = 0.01  # m of travel that one search goes at most


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
            mechanism, loads=tuple(springs), states=(), state_equations=(), gravity=ORIGIN, contacts=(), measures=(),
            instances=(),
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
    def _values(self) -> dict[str, Vector]:
        return self.point.numbers.of(self.prepared.program, self.point.t, self.point.y)

    @property
    def points(self) -> NDArray[np.float64]:
        """Places of the points in the axes of the earth, a row each."""
        return np.asarray(self._values["points"].reshape(-1, 3))

    @property
    def reach(self) -> NDArray[np.float64]:
        """How far each point goes with a move along each speed: (point, component, speed)."""
        along = self._values["jacobian"].reshape(-1, self.point.numbers.coordinates) @ self.point.kinematics["reach"]
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
        ratios = {}
        for k, name in enumerate(self.prepared.springs):
            a, b = first + 2 * k, first + 2 * k + 1
            along = self.points[b] - self.points[a]
            length = np.linalg.norm(along)
            ratios[name] = -float(along @ (moved[b] - moved[a]) / length) if length else 0.0
        return {name: ratio for name, ratio in ratios.items() if abs(ratio) > 1e-9}
