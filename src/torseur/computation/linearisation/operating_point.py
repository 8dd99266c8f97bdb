"""A mechanism at one state with everything that small motions about it need, as numbers.

Small changes of the positions are counted along the speeds: δq = N δπ, where q' = N v + n. So angles, quaternions and
quasi-velocities are all treated alike, with as many changes δπ as there are speeds. States beyond mechanics follow
them, each its own change: moves are (δπ, δz).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.algebra.graph import Expr, Program, as_expr, dense_jacobian, matrix, time_derivative
from torseur.computation.simulation.constrained.solver.constrained_setup import mechanism_size
from torseur.computation.simulation.constrained.start.consistent_state import consistent_state
from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.model.initial_state import initial_state, stated_values
from torseur.computation.simulation.model.motion_programs import MechanismPrograms
from torseur.computation.simulation.model.system import Vector
from torseur.derivation.equations import Equations, motion_values
from torseur.derivation.formalisms import derive
from torseur.description.mechanism import TIME, Mechanism, require_smooth
from torseur.errors import TorseurError

Model = Equations | Mechanism
Laws = Mapping[str, Callable[..., float]]


@dataclass(frozen=True)
class Point:
    """A state y = (q, v) at time t of a mechanism with given parameters and laws."""

    numbers: StateNumbers
    kinematics_program: Kinematics
    t: float
    y: Vector
    state_scales: Vector
    """Units of states beyond mechanics: what they start from, or 1 in their unit."""

    @property
    def equations(self) -> Equations:
        return self.numbers.equations

    @property
    def programs(self) -> MechanismPrograms:
        return self.numbers.programs

    @property
    def speeds(self) -> int:
        return len(self.equations.layout.speeds)

    @property
    def moves(self) -> int:
        """Small changes beside those of the speeds: along the speeds, and of states beyond mechanics."""
        return self.speeds + self.equations.layout.state_count

    @cached_property
    def move_scales(self) -> Vector:
        """Units of the moves: 1 rad or the size of the mechanism, then those of states."""
        return np.concatenate([self.numbers.scales, self.state_scales])

    @property
    def v(self) -> Vector:
        return self.y[self.numbers.coordinates :]

    @cached_property
    def rows(self) -> Vector:
        """C."""
        return self._velocities["rows"].reshape(len(self.programs.constraints), self.speeds)

    @property
    def holonomic_rows(self) -> Vector:
        return self.rows[: self.programs.holonomic]

    @cached_property
    def _velocities(self) -> dict[str, Vector]:
        return self.numbers.of(self.programs.velocities, self.t, self.y)

    @property
    def gaps(self) -> Vector:
        """Φ of the holonomic constraints."""
        return self._velocities["phi"][: self.programs.holonomic]

    @property
    def slips(self) -> Vector:
        """C v + drift."""
        return self.rows @ self.v + self._velocities["drift"]

    @cached_property
    def state_rates(self) -> Vector:
        """Rates of the states beyond mechanics."""
        rates = self.numbers.of(self.programs.dynamics, self.t, self.y)["rates"]
        return rates[self.numbers.coordinates - self.equations.layout.state_count :]

    @cached_property
    def mass(self) -> Vector:
        """M."""
        lower = self.numbers.of(self.programs.positions, self.t, self.y)["mass"]
        full: Vector = lower + np.tril(lower, -1).T
        return full

    @cached_property
    def solution(self) -> tuple[Vector, Vector]:
        """Accelerations and multipliers; the smallest multipliers where constraints are redundant."""
        terms = self.numbers.of(self.programs.dynamics, self.t, self.y)
        return self.solve(terms["force"], terms["gamma"])

    def solve(self, force: Vector, gamma: Vector) -> tuple[Vector, Vector]:
        """(a, λ) with M a + Cᵀ λ = force and C a = gamma; for vectors, or columns of a matrix."""
        n, m = self.speeds, len(self.rows)
        # [M Cᵀ] [a]   [force]
        # [C 0 ] [λ] = [gamma]      by least squares: redundant constraints leave λ open, and the smallest is taken
        system = np.block([[self.mass, self.rows.T], [self.rows, np.zeros((m, m))]])
        answer = np.linalg.lstsq(system, np.concatenate([force, gamma]), rcond=1e-13)[0]
        return answer[:n], answer[n:]

    @cached_property
    def derivatives(self) -> dict[str, Vector]:
        """Derivatives by the state of rates, forces M v' + Cᵀ λ - f and constraints C v' - γ; a row per state."""
        a, multipliers = self.solution
        return self.numbers.of(self.programs.linearised_with_laws, self.t, self.y, a=a, l=multipliers)

    @cached_property
    def kinematics(self) -> dict[str, Vector]:
        """N, its rate, and the derivatives of C v + drift by the coordinates (a row per constraint)."""
        matrices = self.numbers.of(self.kinematics_program.program, self.t, self.y)
        return {**matrices, "slip_derivatives": matrices["slip_derivatives"].reshape(-1, self.numbers.coordinates)}

    def after_move(self, move: Vector, speeds: Vector) -> Point:
        """The point after moves along the speeds and of states, and changes of the speeds."""
        # Along the speeds and not by components: quaternions stay of length one.
        y = self.numbers.moved(self.t, self.y, move[: self.speeds] / self.numbers.scales)
        y[self.numbers.coordinates - self.equations.layout.state_count : self.numbers.coordinates] += move[
            self.speeds :
        ]
        y[self.numbers.coordinates :] += speeds
        return replace(self, y=y)


@dataclass(frozen=True, eq=False)
class Kinematics:
    """N, N', and the derivatives of the velocity constraints by the coordinates, as a program."""

    programs: MechanismPrograms

    @cached_property
    def program(self) -> Program:
        layout = self.programs.equations.layout
        shape = (len(layout.coordinates), len(layout.speeds) + layout.state_count)
        #          δπ  δz
        # joints [ N   0 ]
        # states [ 0   1 ]
        zero, one = as_expr(0), as_expr(1)
        along = dense_jacobian(list(self.programs.equations.rates)[: len(layout.joint_coordinates)], layout.speeds)
        reach = [[*row, *([zero] * layout.state_count)] for row in along]
        reach += [[one if x is z else zero for x in (*layout.speeds, *layout.states)] for z in layout.states]
        moving = dict(zip(layout.coordinates, self.programs.equations.rates, strict=True))
        # Ṅ is needed where δq = N δπ is differentiated along the motion: δq' = N δπ' + Ṅ δπ.
        flat = time_derivative([entry for row in reach for entry in row], moving, TIME)
        rates = [flat[i * shape[1] : (i + 1) * shape[1]] for i in range(shape[0])]
        slips = [_slip(c.row, layout.speeds) + c.drift for c in self.programs.constraints]
        derivatives = dense_jacobian(slips, layout.coordinates)
        outputs = (matrix("reach", reach), matrix("reach_rate", rates), matrix("slip_derivatives", derivatives))
        return Program("kinematics", self.programs.inputs, outputs)


def _slip(row: Sequence[Expr], speeds: Sequence[Expr]) -> Expr:
    return sum((c * v for c, v in zip(row, speeds, strict=True)), as_expr(0))


def kinematics_of(model: Model) -> Kinematics:
    """The programs of a mechanism, to be shared by all its points."""
    equations = derive(model) if isinstance(model, Mechanism) else model
    require_smooth(equations.mechanism, "a linearisation or a steady state")
    return Kinematics(MechanismPrograms(equations))


def point_of(
    model: Model | Kinematics,
    at: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
    laws: Laws | None = None,
    t: float = 0.0,
) -> Point:
    """The mechanism at its initial state with some values replaced, put on its constraints."""
    kinematics = model if isinstance(model, Kinematics) else kinematics_of(model)
    programs, equations = kinematics.programs, kinematics.programs.equations
    if not equations.layout.coordinates:
        raise TorseurError(f"{equations.mechanism.name} has no coordinates: nothing in it can move.")
    values = motion_values(equations, parameters or {})
    y = np.array(initial_state(equations, values, at or {}))
    given = np.array(list(values.values()))
    names, guesses = stated_values(equations.mechanism, at or {})
    numbers = StateNumbers(programs, given, dict(laws or {}), mechanism_size(programs, given), guesses=guesses)
    if programs.constraints:
        # Exact values stay; assembly moves the others.
        y = consistent_state(numbers, t, y, names).y
    end = len(equations.layout.coordinates)
    states = np.abs(y[end - equations.layout.state_count : end])
    return Point(numbers, kinematics, t, y, np.where(states == 0.0, 1.0, states))
