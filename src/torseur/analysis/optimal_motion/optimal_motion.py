"""A motion to be planned: a mechanism, its motors, conditions and bounds, and what is to be least."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.optimal_motion.transcription import METHODS
from torseur.computation.codegen.targets.casadi.casadi_program import casadi_program
from torseur.computation.functions.frameworks.requested_program import requested_program
from torseur.derivation.equations import Equations
from torseur.derivation.formalisms import derive
from torseur.description.mechanism import Mechanism
from torseur.errors import TorseurError, UnsupportedError, unknown_name
from torseur.extras import install_command

LIBERAL = {"print_level": 0, "sb": "yes", "max_iter": 1000}


@dataclass(frozen=True)
class PlannedMotion:
    """States and forces at grid points, one row for each, and how they were found.

    Between grid points the forces are linear. `violation` is the largest amount by which a condition, or an equation of
    motion in its transcribed form, is missed. `status` is IPOPT's own word.
    """

    times: Array
    q: Array
    v: Array
    tau: Array
    cost: float
    iterations: int
    seconds: float
    violation: float
    status: str
    coordinate_names: tuple[str, ...]
    speed_names: tuple[str, ...]
    motors: tuple[str, ...]

    def __getitem__(self, name: str) -> Array:
        """The course of a coordinate, a speed, or the force of a motor (tau_NAME)."""
        for names, values in (
            (self.coordinate_names, self.q), (self.speed_names, self.v), (force_names(self.motors), self.tau)
        ):  # fmt: skip
            if name in names:
                return values[:, names.index(name)]
        known = [*self.coordinate_names, *self.speed_names, *force_names(self.motors)]
        raise TorseurError(unknown_name("quantity of the motion", name, known))


def force_names(motors: Sequence[str]) -> tuple[str, ...]:
    """The names of the motors' forces, as in `with_motors`."""
    return tuple(f"tau_{name}" for name in motors)


class OptimalMotion:
    """The motion of a mechanism over N intervals of time, whose effort or duration is to be least.

    plan = ts.OptimalMotion(cart_pole, duration=2.0, motors=["x"])
    plan.start({"x": 0, "theta": 0}); plan.end({"theta": np.pi}); plan.bound("tau_x", -20, 20)
    motion = plan.solve()

    `duration` is a number, or a pair of bounds between which it is found. `motors` are the coordinates that forces
    drive; unless given, those that the mechanism says are actuated, or all. `method` is "hermite-simpson" (direct
    collocation, errors of order h⁴), "trapezoidal" (h²) or "multiple shooting" (steps of Runge and Kutta, h⁴). The
    least of ∫ Σ τ² dt is looked for unless `minimise` says otherwise.

    For conditions of one's own: `q`, `v` and `tau` are matrices of CasADi with a column per grid point, `time` is the
    duration, `function` gives functions of the mechanism, and `require` takes equations and inequalities of them.
    `dynamics` replaces the equations of motion by another CasADi function of (q, v, tau).
    """

    def __init__(
        self,
        model: Mechanism | Equations,
        duration: float | tuple[float, float],
        *,
        motors: Sequence[str] = (),
        intervals: int = 40,
        method: str = "hermite-simpson",
        dynamics: Any = None,
    ) -> None:
        self._casadi = _casadi()
        self.equations = model if isinstance(model, Equations) else derive(model)
        mechanism, layout = self.equations.mechanism, self.equations.layout
        if self.equations.is_constrained:
            raise UnsupportedError(
                f"'{mechanism.name}' has loops or constraints, which plans do not take: describe what closes them as "
                "conditions (require), or give coordinates by formulas (ts.substitute_coordinates)."
            )
        if method not in METHODS:
            raise TorseurError(unknown_name("method", method, METHODS))
        if intervals < 1:
            raise TorseurError(f"intervals = {intervals}: expected one or more.")
        self.coordinate_names, self.speed_names = tuple(layout.coordinate_names), tuple(layout.speed_names)
        self.motors = self._known_motors(
            motors or mechanism.actuated or [n.removesuffix("'") for n in self.speed_names]
        )
        self.intervals, self.method = intervals, method
        self.opti = self._casadi.Opti()
        self.q = self.opti.variable(len(self.coordinate_names), intervals + 1)
        self.v = self.opti.variable(len(self.speed_names), intervals + 1)
        self.tau = self.opti.variable(len(self.motors), intervals + 1)
        self.time = self._duration(duration)
        self.dynamics = dynamics if dynamics is not None else self.function("forward_dynamics")
        self._cost: Callable[[Any, Any, Any], Any] | None = None
        self._other_cost: Any = None
        self._guessed: dict[str, Any] = {}
        self._ends: dict[tuple[str, int], float] = {}

    def function(self, request: str) -> Any:
        """A function of the mechanism ("frame:hand", "mass_matrix", ...) as a casadi.Function."""
        return casadi_program(requested_program(self.equations, request, live=False), own_jacobian=False)

    def start(self, values: Mapping[str, float], *, rest: bool = True) -> None:
        """Values of coordinates and speeds at the start; speeds that are not named are zero unless rest=False."""
        self._fix(0, values, rest)

    def end(self, values: Mapping[str, float], *, rest: bool = True) -> None:
        """Values at the end, as `start` takes them."""
        self._fix(self.intervals, values, rest)

    def bound(self, name: str, lower: float = -np.inf, upper: float = np.inf) -> None:
        """Bounds of a coordinate, a speed or a motor's force (tau_NAME) at all grid points."""
        if not lower <= upper:
            raise TorseurError(f"bounds of '{name}': {lower:g} is above {upper:g}.")
        row = self._row(name)
        if np.isfinite(lower) and np.isfinite(upper):
            self.opti.subject_to(self.opti.bounded(lower, row, upper))
        elif np.isfinite(lower):
            self.opti.subject_to(row >= lower)
        elif np.isfinite(upper):
            self.opti.subject_to(row <= upper)

    def require(self, *conditions: Any) -> None:
        """Equations and inequalities of CasADi that the motion has to fulfil."""
        for condition in conditions:
            self.opti.subject_to(condition)

    def minimise(self, cost: Any) -> None:
        """What is to be least: a function of (q, v, tau), integrated over time, or an expression of CasADi.

        The function gets matrices with a column per state and gives a row; plan.minimise(plan.time) asks for haste.
        """
        if callable(cost):
            self._cost, self._other_cost = cost, None
        else:
            self._cost, self._other_cost = (lambda q, v, tau: self._casadi.MX.zeros(1, q.shape[1])), cost

    def guess(self, name: str, course: Any) -> None:
        """Where the search starts: a course of a coordinate, a speed or a force over the motion, any number of points.

        Coordinates that are not guessed go evenly from their start to their end.
        """
        values = np.atleast_1d(np.asarray(course, dtype=float))
        grid = np.linspace(0, 1, self.intervals + 1)
        self._guessed[name] = np.interp(
            grid, np.linspace(0, 1, max(len(values), 2)), np.resize(values, max(len(values), 2))
        )
        self._row(name)

    def solve(self, **options: Any) -> PlannedMotion:
        """The best motion near the guess. Options are IPOPT's, such as max_iter=500 or tol=1e-6."""
        transcribed = METHODS[self.method](self._rates, self._running_cost, self._states, self.tau, self._step)
        self.opti.subject_to(self._casadi.vec(transcribed.equations) == 0)
        self.opti.minimize(transcribed.cost + (self._other_cost if self._other_cost is not None else 0))
        self._set_guesses()
        self.opti.solver("ipopt", {"print_time": False}, LIBERAL | options)
        begin = time.perf_counter()
        try:
            self.opti.solve()
        except RuntimeError as problem:
            # What IPOPT reached without converging is told by its status; anything else went wrong before.
            if "return_status is" not in str(problem):
                raise TorseurError(f"the plan cannot be solved: {problem}") from None
        return self._result(time.perf_counter() - begin)

    @property
    def _states(self) -> Any:
        return self._casadi.vertcat(self.q, self.v)

    @property
    def _step(self) -> Any:
        return self.time / self.intervals

    def _rates(self, x: Any, tau: Any) -> Any:
        """x' of states in columns, many of them by one mapped function."""
        # Mapped: the graph of the plan then holds one function and its derivatives, however many intervals there are.
        q, v = x[: self.q.rows(), :], x[self.q.rows() :, :]
        count = x.columns()
        forces = self._casadi.MX(len(self.speed_names), count)
        for row, name in enumerate(self.motors):
            forces[self._slot(name), :] = tau[row, :]
        moving = v if self._has_plain_rates else self.function("rates").map(count)(q, v)
        return self._casadi.vertcat(moving, self.dynamics.map(count)(q, v, forces))

    @property
    def _has_plain_rates(self) -> bool:
        return all(f"{q}'" == v for q, v in zip(self.coordinate_names, self.speed_names, strict=False)) and len(
            self.coordinate_names
        ) == len(self.speed_names)

    def _running_cost(self, x: Any, tau: Any) -> Any:
        if self._cost is None:
            return self._casadi.sum1(tau**2)
        return self._cost(x[: self.q.rows(), :], x[self.q.rows() :, :], tau)

    def _duration(self, given: float | tuple[float, float]) -> Any:
        """The duration: a number, or a variable within its bounds."""
        low, high = given if isinstance(given, tuple) else (given, given)
        if not 0 < low <= high < np.inf:
            raise TorseurError(f"duration {given}: expected a positive time in seconds, or (shortest, longest).")
        if low == high:
            return self._casadi.MX(low)
        duration = self.opti.variable()
        self.opti.subject_to(self.opti.bounded(low, duration, high))
        self.opti.set_initial(duration, (low + high) / 2)
        return duration

    def _known_motors(self, names: Sequence[str]) -> tuple[str, ...]:
        for name in names:
            self._slot(name)
        return tuple(names)

    def _slot(self, motor: str) -> int:
        """The place of the speed along which a motor drives."""
        for slot, speed in enumerate(self.speed_names):
            if motor in (speed, speed.removesuffix("'")):
                return slot
        raise TorseurError(unknown_name("speed", motor, self.speed_names))

    def _row(self, name: str) -> Any:
        """The row of a quantity over the grid."""
        for names, matrix in (
            (self.coordinate_names, self.q), (self.speed_names, self.v), (force_names(self.motors), self.tau)
        ):  # fmt: skip
            if name in names:
                return matrix[names.index(name), :]
        known = [*self.coordinate_names, *self.speed_names, *force_names(self.motors)]
        raise TorseurError(unknown_name("quantity of the plan", name, known))

    def _fix(self, place: int, values: Mapping[str, float], rest: bool) -> None:
        given = dict.fromkeys(self.speed_names, 0.0) if rest else {}
        for name, value in (given | dict(values)).items():
            self.opti.subject_to(self._row(name)[place] == float(value))
            self._ends[name, place] = float(value)

    def _set_guesses(self) -> None:
        for name in (*self.coordinate_names, *self.speed_names, *force_names(self.motors)):
            course = self._guessed.get(name)
            if course is None and name in self.coordinate_names:
                first = self._ends.get((name, 0), self._initial(name))
                course = np.linspace(first, self._ends.get((name, self.intervals), first), self.intervals + 1)
            if course is not None:
                self.opti.set_initial(self._row(name), course)

    def _initial(self, name: str) -> float:
        """A coordinate as the mechanism starts; the real part of a quaternion that is not given is one."""
        value = dict(self.equations.mechanism.initial).get(name)
        scalars = [
            str(link.symbols.quaternion[0].name) for link in self.equations.tree.links if link.symbols.quaternion
        ]
        return float(value) if value is not None else float(name in scalars)

    def _result(self, seconds: float) -> PlannedMotion:
        debug, stats = self.opti.debug, self.opti.stats()

        def rows(matrix: Any) -> Array:
            return np.array(debug.value(matrix), dtype=float).reshape(matrix.shape, order="F").T

        duration = float(debug.value(self.time))
        conditions = (self.opti.lbg, self.opti.g, self.opti.ubg)
        low, value, high = (np.array(debug.value(x), dtype=float).ravel() for x in conditions)
        return PlannedMotion(
            times=np.linspace(0, duration, self.intervals + 1),
            q=rows(self.q), v=rows(self.v), tau=rows(self.tau),
            cost=float(debug.value(self.opti.f)), iterations=int(stats["iter_count"]), seconds=seconds,
            violation=float(np.maximum(low - value, value - high).max(initial=0.0)), status=str(stats["return_status"]),
            coordinate_names=self.coordinate_names, speed_names=self.speed_names, motors=self.motors,
        )  # fmt: skip


def _casadi() -> Any:
    try:
        import casadi
    except ImportError:
        raise UnsupportedError(f"plans of motions need CasADi: {install_command('casadi')}.") from None
    return casadi
