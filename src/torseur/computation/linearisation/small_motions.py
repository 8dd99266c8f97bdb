"""Small motions about a state: z' = A z + B u in independent changes of positions and speeds.

With δq = N δπ, the constraints leave C_h δπ = 0 (holonomic ones) and C δv + (C v + drift)_q N δπ = 0 (all), and the
accelerations change by δa from M δa + Cᵀ δλ = -F δy + u and C δa = -G δy. Independent changes are entries of δπ and δv
themselves, so that z has names; velocity constraints leave more positions than speeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.computation.linearisation.modes import Mode, modes_of
from torseur.computation.linearisation.operating_point import Laws, Model, Point, point_of
from torseur.computation.linearisation.verification import Check, check_linearisation
from torseur.computation.simulation.constrained.start.constraint_numbers import WITHOUT_INERTIA
from torseur.computation.simulation.model.singular_mass import TAKES_PART
from torseur.computation.simulation.model.system import Vector
from torseur.computation.simulation.output.trajectory import Trajectory
from torseur.derivation.loops.mobility.partition import independent_rows
from torseur.errors import TorseurError, unknown_name

DEPENDENT = 1e-9  # singular values below this part of the largest count as zero
UNCOUPLED = 1e-9  # entries of A below this part of the largest count as zero


@dataclass(frozen=True, eq=False)
class SmallMotions:
    """z' = A z + B u about a point; u are generalised forces along all speeds.

    z holds changes along the `positions` (numbers of speeds, then of states beyond mechanics), then of the `speeds`.
    `position_basis` and `speed_basis` give all moves (δπ, δz) and δv from z.
    """

    point: Point
    positions: tuple[int, ...]
    speeds: tuple[int, ...]
    position_basis: Vector
    speed_basis: Vector
    state_matrix: Vector
    input_matrix: Vector
    mass_matrix: Vector

    @property
    def state_names(self) -> list[str]:
        """Coordinates by their own name where they have one, and speeds."""
        layout = self.point.equations.layout
        names = layout.speed_names
        moves = [*(_position_name(name) for name in names), *(str(state.name) for state in layout.states)]
        return [*(moves[k] for k in self.positions), *(names[k] for k in self.speeds)]

    @property
    def input_names(self) -> list[str]:
        return self.point.equations.layout.speed_names

    @property
    def damping_matrix(self) -> Vector:
        """D of M z_v' + D z_v + K z_q = 0."""
        result: Vector = -self.mass_matrix @ self.state_matrix[len(self.positions) :, len(self.positions) :]
        return result

    @property
    def stiffness_matrix(self) -> Vector:
        """K of M z_v' + D z_v + K z_q = 0: a column per independent position."""
        result: Vector = -self.mass_matrix @ self.state_matrix[len(self.positions) :, : len(self.positions)]
        return result

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """Eigenvalues with their shapes, slowest first."""
        return modes_of(self.state_matrix, self.position_basis, self.speed_basis, self.point)

    @cached_property
    def check(self) -> Check:
        """How far differences of the equations of motion agree; computed when it is asked for."""
        return check_linearisation(self)

    @property
    def trusted(self) -> bool:
        """Whether the check agrees."""
        return self.check.agrees

    @property
    def is_stable(self) -> bool:
        """Whether no mode grows; modes that merely persist, such as a rolling wheel's, count as stable."""
        return all(mode.growth <= mode.resolution for mode in self.modes)

    def block(self, names: Sequence[str]) -> Vector:
        """The rows and columns of A for some of z, which must not depend on the rest of it."""
        slots = [self.slot(name) for name in names]
        others = [k for k in range(len(self.state_matrix)) if k not in slots]
        # A block of A has its own eigenvalues only if nothing outside acts on it.
        coupling = np.abs(self.state_matrix[np.ix_(slots, others)])
        if coupling.max(initial=0.0) > UNCOUPLED * max(np.abs(self.state_matrix).max(), 1e-300):
            row, column = divmod(int(np.argmax(coupling)), len(others))
            raise TorseurError(
                f"'{names[row]}' depends on '{self.state_names[others[column]]}' too: take that into the block."
            )
        result: Vector = self.state_matrix[np.ix_(slots, slots)]
        return result

    def slot(self, name: str) -> int:
        """The place of a position or speed in z."""
        if name not in self.state_names:
            raise TorseurError(unknown_name("independent position or speed", name, self.state_names))
        return self.state_names.index(name)


def _position_name(speed: str) -> str:
    return speed.removesuffix("'") if speed.endswith("'") else f"change along {speed}"


def linearise(
    model: Model,
    at: Mapping[str, float] | None = None,
    *,
    parameters: Mapping[str, float] | None = None,
    laws: Laws | None = None,
    t: float = 0.0,
    independent: Sequence[str] = (),
) -> SmallMotions:
    """Small motions about the initial state of a mechanism, with some of its values replaced by `at`.

    Constraints may be holonomic or not. `independent` names coordinates or speeds that should be among the independent
    ones. About a motion that is not steady, the matrices are those of the instant t.
    """
    return small_motions(point_of(model, at, parameters, laws, t), independent)


def linearise_along(
    model: Model,
    motion: Trajectory,
    times: Sequence[float],
    *,
    parameters: Mapping[str, float] | None = None,
    laws: Laws | None = None,
    independent: Sequence[str] = (),
) -> tuple[SmallMotions, ...]:
    """Small motions about a motion at some of its times; it must have been simulated with dense=True."""
    point = point_of(model, None, parameters, laws)
    states = motion.state_at(np.array(times, dtype=float))
    return tuple(
        small_motions(replace(point, t=float(t), y=y), independent) for t, y in zip(times, states, strict=True)
    )


def small_motions(point: Point, independent: Sequence[str] = ()) -> SmallMotions:
    """Small motions about a point."""
    preferred = _preferred_speeds(point, independent)
    still = np.zeros((len(point.holonomic_rows), point.moves - point.speeds))
    positions, position_basis = _independent(np.hstack([point.holonomic_rows, still]), point.moves, preferred)
    speeds, allowed = _independent(point.rows, point.speeds, preferred)
    free = position_basis.shape[1]
    mass = allowed.T @ point.mass @ allowed
    _require_inertia(point, mass, [point.equations.layout.speed_names[k] for k in speeds])
    # [δπ]   [ position_basis   0       ] [z_q]
    # [δv] = [ dependent        allowed ] [z_v]      dependent: speeds that velocity constraints tie to positions
    on_positions = np.hstack([position_basis, np.zeros((point.moves, allowed.shape[1]))])
    carried = _dependent_speeds(point, speeds, position_basis)
    on_speeds = np.hstack([carried, allowed])
    move_rates, accelerations = _rates(point, on_positions, on_speeds)
    matrix = np.vstack([move_rates[list(positions)], accelerations[list(speeds)]])
    responses, _ = point.solve(np.eye(point.speeds), np.zeros((len(point.rows), point.speeds)))
    inputs = np.vstack([np.zeros((free, point.speeds)), responses[list(speeds)]])
    return SmallMotions(point, positions, speeds, on_positions, on_speeds, matrix, inputs, mass)


def _require_inertia(point: Point, mass: Vector, names: Sequence[str]) -> None:
    """Least squares would answer where nothing determines the accelerations, as where two axes of angles align."""
    if not names:
        return
    diagonal = np.diag(mass)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    values, vectors = np.linalg.eigh(mass * np.outer(scale, scale))
    # Negative masses are meant where they are stated; what is left of nothing by rounding is not.
    if np.min(np.abs(values)) > WITHOUT_INERTIA:
        return
    motion = np.abs(vectors[:, int(np.argmin(np.abs(values)))])
    guilty = " and ".join(f"'{name}'" for name, share in zip(names, motion, strict=True) if share > TAKES_PART)
    raise TorseurError(
        f"{point.equations.mechanism.name}: there are no small motions about this state: nothing with inertia resists "
        f"a motion of {guilty}. Linearise about another state; if two axes of angles align here, describe that joint "
        "by other angles or a quaternion."
    )


def _preferred_speeds(point: Point, names: Sequence[str]) -> list[int]:
    known = point.equations.layout.speed_names
    numbers = []
    for name in names:
        match = [k for k, speed in enumerate(known) if speed in (name, f"{name}'")]
        if not match:
            raise TorseurError(unknown_name("coordinate or speed", name, known, "independent: "))
        numbers += match
    return numbers


def _independent(rows: Vector, speeds: int, preferred: Sequence[int]) -> tuple[tuple[int, ...], Vector]:
    """Independent entries of the vectors x with rows @ x = 0, and a basis of these with ones there."""
    null = np.eye(speeds)
    if len(rows):
        # The null space by singular values, since constraints may be redundant; then independent entries of it as
        # coordinates.
        _, sizes, directions = np.linalg.svd(rows)
        rank = int(np.sum(sizes > DEPENDENT * sizes.max(initial=0.0)))
        null = directions[rank:].T
    chosen = sorted(independent_rows(null, preferred))
    return tuple(chosen), null @ np.linalg.inv(null[chosen]) if chosen else null


def _dependent_speeds(point: Point, speeds: Sequence[int], position_basis: Vector) -> Vector:
    """Changes of the dependent speeds that changes of position bring with them."""
    carried = np.zeros((point.speeds, position_basis.shape[1]))
    dependent = [k for k in range(point.speeds) if k not in speeds]
    if len(point.rows) and dependent:
        reach = point.kinematics["reach"]
        target = -point.kinematics["slip_derivatives"] @ reach @ position_basis
        # Positions that move carry the dependent speeds along, so that C δv = -(C v + drift)_q N δπ.
        carried[dependent] = np.linalg.lstsq(point.rows[:, dependent], target, rcond=1e-12)[0]
    return carried


def _rates(point: Point, moves: Vector, speeds: Vector) -> tuple[Vector, Vector]:
    """Rates of δπ and δv for given δπ and δv, one column each."""
    reach, reach_rate = point.kinematics["reach"], point.kinematics["reach_rate"]
    change = np.vstack([reach @ moves, speeds])
    names = ("rate_derivatives", "force_derivatives", "row_derivatives")
    of_coordinates, forces, constraints = (point.derivatives[name].T @ change for name in names)
    of_coordinates = of_coordinates - reach_rate @ moves
    # δq' = N δπ' + Ṅ δπ, solved for δπ'; N has more rows than columns where coordinates are quaternions.
    move_rates: Vector = np.asarray(np.linalg.lstsq(reach, of_coordinates, rcond=None)[0], dtype=float)
    accelerations, _ = point.solve(-forces, -constraints)
    return move_rates, accelerations
