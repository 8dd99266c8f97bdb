"""Equilibria and steady motions: states in which no speed changes.

Unknowns are moves along the speeds, the speeds and the multipliers. They satisfy the balance of forces without
accelerations, the constraints at both levels, and what is given; coordinates that are not said to move stand still.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.errors import TorseurError, unknown_name
from torseur.linearisation.point import Laws, Model, Point, point_of
from torseur.simulation.system import Vector

ITERATIONS = 60
BALANCED = 1e-9  # what may be left of forces in units of the largest, and of positions and speeds
CONVERGED = 1e-10  # size of the last move in units of the mechanism, and of the last change of speeds
LONGEST_MOVE = 0.5  # in one iteration, in units of the mechanism


@dataclass(frozen=True, eq=False)
class Steady:
    """A state that does not change but for coordinates that move steadily."""

    point: Point
    multipliers: Vector

    @property
    def state(self) -> dict[str, float]:
        """Coordinates and speeds by name, as `initial` of a simulation takes them."""
        layout = self.point.equations.layout
        return dict(zip([*layout.coordinate_names, *layout.speed_names], self.point.y.tolist(), strict=True))


def equilibrium(
    model: Model,
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
    model: Model,
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
    speeds that keep their value; speeds of moving coordinates are found unless fixed.
    """
    start = point_of(model, at, parameters, laws, t)
    search = _Search(start, np.zeros(len(start.rows)), _marked(start, moving), _marked(start, fixed), frozenset(fixed))
    search = replace(search, point=search.at_rest())
    return search.solved()


def steady_equations(
    steady: Steady, moving: Collection[str] = (), fixed: Collection[str] = ()
) -> tuple[Vector, float]:
    """Slopes of the equations of a steady state by moves, speeds and multipliers, and the unit its forces are in."""
    point = steady.point
    search = _Search(point, steady.multipliers, _marked(point, moving), _marked(point, fixed), frozenset(fixed))
    _, slopes = search._equations()
    balance, by_state = search._balance()
    return slopes, search._size(balance, by_state["force_slopes"])


def _marked(point: Point, names: Collection[str]) -> tuple[int, ...]:
    """Numbers of the speeds along which the named coordinates move."""
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

    def at_rest(self) -> Point:
        """The point with everything that does not move at rest."""
        change = np.where(np.isin(np.arange(self.point.speeds), self.moving), 0.0, -self.point.v)
        return self.point.moved(np.zeros(self.point.speeds), change)

    @cached_property
    def _fixed_speeds(self) -> list[int]:
        layout = self.point.equations.layout
        rates = [k for k, rate in enumerate(layout.rates) if rate.name in self.names]
        by_rate = np.flatnonzero((np.abs(self.point.kinematics["reach"][rates]) > 1e-12).any(axis=0))
        by_name = [k for k, name in enumerate(layout.speed_names) if name in self.names]
        still = [k for k in range(self.point.speeds) if k not in self.moving]
        return sorted({*by_rate.tolist(), *by_name, *still})

    def solved(self) -> Steady:
        """Newton's method, by least squares where something is left open."""
        search = self
        for _ in range(ITERATIONS):
            residual, slopes = search._equations()
            step: Vector = np.asarray(np.linalg.lstsq(slopes, -residual, rcond=1e-11)[0], dtype=float)
            n = search.point.speeds
            scaled = np.abs(step[:n] / search.point.numbers.scales).max(initial=0.0)
            step *= min(1.0, LONGEST_MOVE / max(scaled, 1e-300))
            point = search.point.moved(step[:n], step[n : 2 * n])
            search = replace(search, point=point, multipliers=search.multipliers + step[2 * n :])
            faster = np.abs(step[n : 2 * n]).max(initial=0.0) / (1.0 + np.abs(point.v).max(initial=0.0))
            if max(scaled, faster) < CONVERGED and search._is_balanced():
                return Steady(search.point, search.multipliers)
        raise TorseurError(search._failure())

    def _balance(self) -> tuple[Vector, dict[str, Vector]]:
        """Cᵀ λ - f without accelerations, and the slopes of the equations there."""
        point = self.point
        force = point.numbers.of(point.programs.dynamics, point.t, point.y)["force"]
        still = np.zeros(point.speeds)
        slopes = point.numbers.of(point.programs.linearised_with_laws, point.t, point.y, a=still, l=self.multipliers)
        return point.rows.T @ self.multipliers - force, slopes

    def _equations(self) -> tuple[Vector, Vector]:
        """Residuals and their slopes by moves, speeds and multipliers; forces in units of the largest."""
        point, n, m = self.point, self.point.speeds, len(self.point.rows)
        balance, slopes = self._balance()
        reach, by_state = point.kinematics["reach"], slopes["force_slopes"]
        by_move = by_state[: point.numbers.coordinates].T @ reach
        by_speed = by_state[point.numbers.coordinates :].T
        held = np.eye(n)[list(self.fixed)]
        constant = np.eye(n)[self._fixed_speeds]
        size = self._size(balance, by_state)
        blocks = [
            [by_move / size, by_speed / size, point.rows.T / size],
            [point.holonomic_rows, np.zeros((len(point.gaps), n)), np.zeros((len(point.gaps), m))],
            [point.kinematics["slip_slopes"] @ reach, point.rows, np.zeros((m, m))],
            [held, np.zeros_like(held), np.zeros((len(held), m))],
            [np.zeros_like(constant), constant, np.zeros((len(constant), m))],
        ]
        parts = [balance / size, point.gaps, point.slips, np.zeros(len(held)), np.zeros(len(constant))]
        return np.concatenate(parts), np.block(blocks)

    def _size(self, balance: Vector, force_slopes: Vector) -> float:
        """The unit of forces: the largest force, or slope of a force by a move."""
        by_move = force_slopes[: self.point.numbers.coordinates].T @ self.point.kinematics["reach"]
        return float(max(np.abs(by_move).max(initial=0.0), np.abs(balance).max(initial=0.0), 1e-300))

    def _is_balanced(self) -> bool:
        residual, _ = self._equations()
        return bool(np.abs(residual).max(initial=0.0) < BALANCED)

    def _failure(self) -> str:
        balance, _ = self._balance()
        worst = int(np.argmax(np.abs(balance)))
        name = self.point.equations.layout.speed_names[worst]
        kind = "steady motion" if self.moving else "equilibrium"
        return (
            f"{self.point.equations.mechanism.name}: no {kind} was found from this start: along '{name}' a force of "
            f"{balance[worst]:.4g} is left. Start nearer to it with at={{...}}, or fix fewer coordinates."
        )
