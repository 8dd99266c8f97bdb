"""Equilibria and steady motions: states in which no speed changes.

Unknowns are moves along the speeds and of states beyond mechanics, the speeds and the multipliers. They satisfy the
balance of forces without accelerations, the constraints at both levels, states that stay as they are, and what is
given; coordinates that are not said to move stand still. In a joint with speeds of its own, such as the velocity of a
car in its own axes, all speeds may then be other than zero: a steady turn moves along x, y and yaw, and the rates of
the other coordinates, combinations of the speeds, vanish.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.computation.linearisation.operating_point import Kinematics, Laws, Model, Point, point_of
from torseur.computation.linearisation.small_motions import SmallMotions, small_motions
from torseur.computation.linearisation.steady_path import reason_unbalanced, reason_unsteady
from torseur.computation.linearisation.verification import Check, check_steadiness
from torseur.computation.simulation.model.system import Vector
from torseur.derivation.equations import parameter_values
from torseur.errors import TorseurError, unknown_name

ITERATIONS = 40
RELAXATIONS = 400
SOFT = 1e-9  # part of the forces at work below which a stiffness is none
BALANCED = 1e-9  # what may be left of forces in units of the largest, and of positions and speeds
CONVERGED = 1e-10  # size of the last move in units of the mechanism, and of the last change of speeds
TRUSTED = 0.7  # part of the promised change by which the residual may miss it
SHORTEST = 2.0**-12  # part of a step that is taken in any case
FIRST_MOVE = 0.1  # when a mechanism is let go in a thick fluid, in units of the mechanism
LONGEST_MOVE = 0.5  # in one iteration, in units of the mechanism


@dataclass(frozen=True, eq=False)
class Steady:
    """A state that does not change but for coordinates that move steadily."""

    point: Point
    multipliers: Vector
    moving: tuple[int, ...] = ()  # numbers of the speeds that need not be zero

    @cached_property
    def small_motions(self) -> SmallMotions:
        """Small motions about it."""
        return small_motions(self.point)

    @cached_property
    def check(self) -> Check:
        """How far it moves by its accelerations; computed when it is asked for."""
        roots = np.linalg.eigvals(self.small_motions.state_matrix)
        return check_steadiness(self.point, self.moving, np.abs(roots))

    @property
    def trusted(self) -> bool:
        """Whether the check agrees."""
        return self.check.agrees

    @property
    def state(self) -> dict[str, float]:
        """Coordinates and speeds by name, as `initial` of a simulation takes them."""
        layout = self.point.equations.layout
        return dict(zip([*layout.coordinate_names, *layout.speed_names], self.point.y.tolist(), strict=True))


def equilibrium(
    model: Model | Kinematics,
    at: Mapping[str, float] | None = None,
    *,
    fixed: Collection[str] = (),
    parameters: Mapping[str, float] | None = None,
    laws: Laws | None = None,
    t: float = 0.0,
) -> Steady:
    """A state of rest, searched for from the mechanism's initial state with some values replaced by `at`.

    `fixed` are coordinates that keep their value.
    """
    return steady_motion(model, at, fixed=fixed, parameters=parameters, laws=laws, t=t)


def steady_motion(
    model: Model | Kinematics,
    at: Mapping[str, float] | None = None,
    *,
    moving: Collection[str] = (),
    fixed: Collection[str] = (),
    parameters: Mapping[str, float] | None = None,
    laws: Laws | None = None,
    t: float = 0.0,
) -> Steady:
    """A motion whose speeds are constant and in which only the coordinates `moving` change.

    The search starts at the mechanism's initial state with some values replaced by `at`. `fixed` are coordinates and
    speeds that keep their value; speeds of moving coordinates are found unless fixed. A state whose accelerations
    vanish at one instant only is refused.
    """
    start = point_of(model, at, parameters, laws, t)
    search = _Search.about(start, np.zeros(len(start.rows)), moving, fixed)
    steady = replace(search, point=search.at_rest()).solve()
    reason = reason_unsteady(steady.point, steady.moving)
    if reason:
        raise TorseurError(f"{start.equations.mechanism.name}: no steady motion was found from this start: {reason}.")
    return steady


def steady_from(
    steady: Steady,
    moving: Collection[str],
    parameters: Mapping[str, float],
    kinematics: Kinematics,
    fixed: Collection[str] = (),
) -> Steady:
    """The steady motion near another one of the same mechanism, some of its parameters having changed."""
    point = steady.point
    names = point.equations.layout.parameter_names
    now = dict(zip(names, point.numbers.parameters.tolist(), strict=True)) | dict(parameters)
    given = parameter_values(kinematics.programs.equations, {name: now[name] for name in names})
    numbers = replace(point.numbers, parameters=np.array(list(given.values())))
    search = _Search.about(replace(point, numbers=numbers), steady.multipliers, moving, fixed)
    balance = search._by_newton()
    if balance is None:
        raise TorseurError(search._failure())
    return Steady(balance.point, balance.multipliers, balance.moving)


def steady_equations(steady: Steady, moving: Collection[str] = (), fixed: Collection[str] = ()) -> tuple[Vector, float]:
    """Jacobian of the equations of a steady state by moves, speeds and multipliers, and the unit its forces are in.

    The last rows say that what is fixed does not change.
    """
    search = _Search.about(steady.point, steady.multipliers, moving, fixed)
    size, jacobian = search._jacobian()
    held = [k for k in range(jacobian.shape[1]) if k not in search._open]
    return np.vstack([jacobian, np.eye(jacobian.shape[1])[held]]), size


def moving_speeds(point: Point, names: Collection[str]) -> tuple[int, ...]:
    """Numbers of the speeds and states that need not be zero where the named coordinates move."""
    beside = [name for own in _own_speeds(point, names) for name in own]
    return speeds_along(point, [*names, *beside])


def standing_coordinates(point: Point, moving: Collection[str]) -> list[int]:
    """Numbers of coordinates that stand still beside moving ones in a joint with speeds of its own."""
    names = point.equations.layout.coordinate_names
    return [names.index(name) for own in _own_speeds(point, moving) for name in own if name not in moving]


def _own_speeds(point: Point, moving: Collection[str]) -> list[list[str]]:
    """The coordinates of each joint with speeds of its own that moves, but for quaternions."""
    return [
        names
        for joint in point.equations.mechanism.joints
        if (joint.speeds or joint.frame_speeds) and joint.freedoms == len(joint.coordinates)
        and set(names := [q.name for q in joint.coordinates]) & set(moving)
    ]  # fmt: skip


def speeds_along(point: Point, names: Collection[str]) -> tuple[int, ...]:
    """Numbers of the speeds along which the named coordinates move, and of named states beyond mechanics after them."""
    layout = point.equations.layout
    known = [*layout.coordinate_names, *layout.speed_names, *(str(rate.name) for rate in layout.rates)]
    for name in names:
        if name not in known:
            raise TorseurError(unknown_name("coordinate or speed", name, known))
    reach = np.abs(point.kinematics["reach"]) > 1e-12
    slots = [k for k, name in enumerate(layout.coordinate_names) if name in names]
    return tuple(int(k) for k in np.flatnonzero(reach[slots].any(axis=0)))


@dataclass(frozen=True, eq=False)
class _Search:
    point: Point
    multipliers: Vector
    moving: tuple[int, ...]
    fixed: tuple[int, ...]
    names: frozenset[str]
    standing: tuple[int, ...]

    @staticmethod
    def about(point: Point, multipliers: Vector, moving: Collection[str], fixed: Collection[str]) -> _Search:
        speeds = moving_speeds(point, moving), speeds_along(point, fixed)
        standing = tuple(standing_coordinates(point, moving))
        return _Search(point, multipliers, *speeds, frozenset(fixed), standing)

    def at_rest(self) -> Point:
        """The point with everything that does not move at rest."""
        change = np.where(np.isin(np.arange(self.point.speeds), self.moving), 0.0, -self.point.v)
        return self.point.after_move(np.zeros(self.point.moves), change)

    @cached_property
    def _fixed_speeds(self) -> list[int]:
        layout = self.point.equations.layout
        rates = [k for k, rate in enumerate(layout.rates) if rate.name in self.names]
        along = self.point.kinematics["reach"][:, : self.point.speeds]
        by_rate = np.flatnonzero((np.abs(along[rates]) > 1e-12).any(axis=0))
        by_name = [k for k, name in enumerate(layout.speed_names) if name in self.names]
        still = [k for k in range(self.point.speeds) if k not in self.moving]
        return sorted({*by_rate.tolist(), *by_name, *still})

    def solve(self) -> Steady:
        """The nearest such state that Newton's method finds, else the one in which the mechanism, slowed, would end."""
        search = self._by_newton() or self._by_relaxation()
        if search is None:
            raise TorseurError(self._failure())
        return Steady(search.point, search.multipliers, search.moving)

    def _by_newton(self) -> _Search | None:
        """By least squares where something is left open, each step shortened until it keeps its promise."""
        search = self
        for _ in range(ITERATIONS):
            size, jacobian = search._jacobian()
            residual = search._residual(size)
            step = self._step(jacobian, residual)
            # Beyond half the mechanism a linearisation says nothing; such a step could end anywhere.
            step *= min(1.0, LONGEST_MOVE / max(search._move(step), 1e-300))
            search = search._towards(step, size, residual)
            if search._is_converged(step):
                return search
        return None

    def _by_relaxation(self) -> _Search | None:
        """Implicit steps of (M δ / τ) = force, as in a thick fluid, τ growing as long as the moves stay short."""
        search, n, states_count = self, self.point.speeds, self.point.moves - self.point.speeds
        pace = FIRST_MOVE / max(search._move(self.point.solution[0]), 1e-300)
        for _ in range(RELAXATIONS):
            size, jacobian = search._jacobian()
            # M δ / τ = force is an implicit step through a thick fluid: stable equilibria attract it from far away,
            # where Newton's method may go to any stationary point or to none. As τ grows the steps become Newton's.
            jacobian[:n, :n] += search.point.mass / (pace * size)
            # States beyond mechanics follow their own equations, by an implicit step of √τ: δz/√τ = z' + z'_z δz.
            rows, states = np.arange(len(jacobian) - states_count, len(jacobian)), np.arange(n, n + states_count)
            jacobian[rows, states] -= search._held_states / (search.point.move_scales[n:] * np.sqrt(pace))
            step = self._step(jacobian, search._residual(size))
            if search._move(step) > LONGEST_MOVE:
                pace /= 4.0
                continue
            search = search._after(step)
            pace *= 2.0
            if search._is_converged(step):
                return search
        return None

    def _step(self, jacobian: Vector, residual: Vector) -> Vector:
        step = np.zeros(jacobian.shape[1])
        # Of least length: multipliers of redundant constraints share, and what nothing determines stays where it is.
        step[self._open] = np.linalg.lstsq(jacobian[:, self._open], -residual, rcond=1e-11)[0]
        return step

    def _move(self, step: Vector) -> float:
        """The longest move of a step, in units of the mechanism."""
        n = self.point.speeds
        return float(np.abs(step[:n] / self.point.numbers.scales).max(initial=0.0))

    def _after(self, step: Vector) -> _Search:
        moves, n = self.point.moves, self.point.speeds
        point = self.point.after_move(step[:moves], step[moves : moves + n])
        return replace(self, point=point, multipliers=self.multipliers + step[moves + n :])

    def _is_converged(self, step: Vector) -> bool:
        """Whether the last step was as good as none and nothing is left to balance."""
        moves, n = self.point.moves, self.point.speeds
        faster = np.abs(step[moves : moves + n]).max(initial=0.0) / (1.0 + np.abs(self.point.v).max(initial=0.0))
        changed = np.abs(step[n:moves] / self.point.move_scales[n:]).max(initial=0.0)
        if max(self._move(step), faster, changed) >= CONVERGED:
            return False
        return self.imbalance() < BALANCED

    def imbalance(self) -> float:
        """What is left of forces in units of what they change by, of positions, and of velocities."""
        n, moves = self.point.speeds, self.point.moves
        size, jacobian = self._jacobian()
        by_move, by_speed, _ = np.split(jacobian[:n] * size, [moves, moves + n], axis=1)
        largest = max(np.abs(by_move).max(initial=0.0), self._largest_reaction(by_speed), 1e-300)
        return float(np.abs(self._residual(largest)).max(initial=0.0))

    def _largest_reaction(self, by_speed: Vector) -> float:
        """The largest force that speeds or multipliers make.

        A unit of speed is added to the speeds, as where steps are measured: a damper at rest has a size too.
        """
        faster = np.abs(by_speed) * (1.0 + np.abs(self.point.v).max(initial=0.0))
        held = np.abs(self.point.rows.T) @ np.abs(self.multipliers)
        return float(max(faster.max(initial=0.0), held.max(initial=0.0)))

    @cached_property
    def _open(self) -> list[int]:
        """Unknowns that are not fixed: moves, changes of speeds, multipliers."""
        moves, n = self.point.moves, self.point.speeds
        fixed = {*self.fixed, *(moves + k for k in self._fixed_speeds)}
        return [k for k in range(moves + n + len(self.multipliers)) if k not in fixed]

    def _towards(self, step: Vector, size: float, before: Vector) -> _Search:
        """The first of ever shorter steps after which the residual is nearly what the Jacobian foretells."""
        part = 1.0
        while True:
            tried = self._after(part * step)
            # A full Newton step promises a residual of zero, part of it (1 - part) of what was there.
            missed = np.linalg.norm(tried._residual(size) - (1.0 - part) * before)
            if part < SHORTEST or missed <= TRUSTED * part * np.linalg.norm(before):
                return tried
            part /= 2.0

    @cached_property
    def _held_states(self) -> Vector:
        """1 for states beyond mechanics that stay as they are, 0 for those that may go on changing."""
        slots = np.arange(self.point.speeds, self.point.moves)
        return np.where(np.isin(slots, self.moving), 0.0, 1.0)

    def _balance(self) -> Vector:
        """Cᵀ λ - f without accelerations."""
        point = self.point
        force = point.numbers.of(point.programs.dynamics, point.t, point.y)["force"]
        return point.rows.T @ self.multipliers - force

    def _residual(self, size: float) -> Vector:
        """What is left of forces, in units of `size`, of positions, of velocities and of rates of states."""
        rates = self._held_states * self.point.state_rates / self.point.move_scales[self.point.speeds :]
        parts = [self._balance() / size, self.point.gaps, self.point.slips, rates, self._standing_rates()]
        return np.concatenate(parts)

    def _standing_rates(self) -> Vector:
        """Rates of coordinates that stand still though the speeds of their joint do not vanish."""
        if not self.standing:
            return np.zeros(0)
        rates = self.point.numbers.of(self.point.programs.dynamics, self.point.t, self.point.y)["rates"]
        return np.asarray(rates[list(self.standing)])

    def _jacobian(self) -> tuple[float, Vector]:
        """A size of forces, and the Jacobian of the residuals by moves, speeds and multipliers."""
        point, n, m = self.point, self.point.speeds, len(self.point.rows)
        derivatives = point.numbers.of(
            point.programs.linearised_with_laws, point.t, point.y, a=np.zeros(n), l=self.multipliers
        )
        by_state = derivatives["force_derivatives"]
        reach, states = point.kinematics["reach"], point.moves - n
        units = (self._held_states / point.move_scales[n:])[:, None]
        of_states = derivatives["rate_derivatives"][:, point.numbers.coordinates - states :].T * units
        standing = derivatives["rate_derivatives"][:, list(self.standing)].T
        by_move, by_speed = np.split(by_state, [point.numbers.coordinates])
        moves = by_move.T @ reach
        # Forces are counted in units of a stiffness, so that rows of all three kinds are lengths and comparable. Where
        # none depends on a position (a car on the plane) the imbalance is no unit either: in the end it is rounding.
        size, carried = np.abs(moves).max(initial=0.0), self._largest_reaction(by_speed.T)
        size = max(size if size > SOFT * carried else carried, np.abs(self._balance()).max(initial=0.0), 1e-300)
        #        moves (δπ, δz)    speeds v   λ
        #     [  (Cᵀ λ - f)_q N    -f_v        Cᵀ  ] / size    balance of forces
        #     [  C_h           0    0          0   ]           positions
        #     [  (C v + drift)_q N  C          0   ]           velocities
        #     [  z'_q N             z'_v       0   ]           states that stay
        #     [  q'_q N             q'_v       0   ]           coordinates that stand still beside moving ones
        blocks = [
            [moves / size, by_speed.T / size, point.rows.T / size],
            [
                np.hstack([point.holonomic_rows, np.zeros((len(point.gaps), states))]),
                np.zeros((len(point.gaps), n)),
                np.zeros((len(point.gaps), m)),
            ],
            [point.kinematics["slip_derivatives"] @ reach, point.rows, np.zeros((m, m))],
            [
                of_states[:, : point.numbers.coordinates] @ reach,
                of_states[:, point.numbers.coordinates :],
                np.zeros((states, m)),
            ],
            [
                standing[:, : point.numbers.coordinates] @ reach,
                standing[:, point.numbers.coordinates :],
                np.zeros((len(standing), m)),
            ],
        ]
        return float(size), np.block(blocks)

    def _failure(self) -> str:
        kind = "steady motion" if self.moving else "equilibrium"
        rates = self._held_states * self.point.state_rates
        reason = reason_unbalanced(self.point, self._balance(), rates, BALANCED)
        return f"{self.point.equations.mechanism.name}: no {kind} was found from this start: {reason}."
