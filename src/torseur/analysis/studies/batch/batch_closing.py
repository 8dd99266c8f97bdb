"""Start states of many points on the constraints of a mechanism, with their tangents by parameters.

The rules are those of a single motion's start (computation/simulation/constrained/start/position_assembly.py and
consistent_state.py): exact values stay; coordinates close the loops by damped Newton steps from the same guess; speeds
that follow from the constraints change. Whatever is unusual there is done again by itself.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from torseur.algebra.graph import Program, symbols_of
from torseur.analysis.sensitivity.extended_loop import routine_of
from torseur.analysis.sensitivity.method_routines import constrained_programs
from torseur.analysis.sensitivity.model.initial_derivatives import (
    ALONE,
    StartProjection,
    varied_initial_states,
)
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.analysis.studies.batch.batch_assembly import ROUNDING, close_loops
from torseur.computation.codegen.kernels.batch_kernel import BatchKernel, compile_batch
from torseur.computation.codegen.kernels.compiled_routine import CompiledRoutine
from torseur.computation.simulation.constrained.solver.constrained_setup import Constrained, at_start
from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.constrained.start.initial_speeds import free_speeds, held_rates
from torseur.computation.simulation.constrained.start.position_assembly import (
    CLOSED,
    Mask,
    free_directions,
    has_constant_directions,
    held_slots,
)
from torseur.computation.simulation.model.system import Vector
from torseur.edges.processes import available_cores
from torseur.errors import TorseurError

START = 0.0
LEAST_PER_CORE = 64  # points below which another thread costs more than it gives
REFINEMENTS = 3  # solutions of what is left, which take that part away again


# Why starts of a chunk are closed together: docs/decisions/0045-loop-starts-solved-together.md.
@dataclass(frozen=True, eq=False)
class Closing:
    """The start of many motions; arrays have a row per point. `variation` is that of some point, ready to move."""

    variation: Variation

    @property
    def _constrained(self) -> Constrained:
        constrained = self.variation.system.constrained
        assert constrained is not None
        return constrained

    @property
    def _numbers(self) -> StateNumbers:
        assert self._constrained.numbers is not None
        return self._constrained.numbers

    @property
    def _y(self) -> Vector:
        """A state on the constraints, where it is seen what is free to move."""
        return np.array(self.variation.system.initial)

    @cached_property
    def _stated_names(self) -> set[str]:
        return {*self._constrained.given, *varied_initial_states(self.variation)}

    @cached_property
    def _is_usual(self) -> bool:
        """Whether all points can be treated alike: inertia everywhere, no quaternions, no play, fixed directions."""
        numbers = self._numbers
        if self._constrained.massless or numbers.programs.quaternions or numbers.play is not None:
            return False
        if held_rates(numbers, self._stated_names):
            return False  # given rates hold beside the constraints
        if any(symbols_of([condition.value]) for condition in numbers.programs.conditions):
            return False  # dimensions of a point may make its loops impossible
        return has_constant_directions(numbers, held_slots(numbers, self._stated_names))

    @cached_property
    def _open_limit(self) -> float:
        """What loops may stay open by: next to nothing, or their tolerance where rounded dimensions forbid closing."""
        gap = np.abs(self._numbers.closure(START, self._y)[0]).max(initial=0.0)
        return CLOSED if gap <= CLOSED else float(self._numbers.tolerances.max(initial=CLOSED))

    @cached_property
    def _free(self) -> Mask:
        return np.any(free_directions(self._numbers, START, self._y, self._stated_names) != 0.0, axis=1)

    @cached_property
    def _free_speeds(self) -> Mask:
        return free_speeds(self._numbers, START, self._y, self._stated_names)

    def states(self, given: Vector, guesses: Vector) -> Vector:
        """The states of points with parameters `given`; nan where there is none."""
        states, is_closed = guesses.copy(), np.zeros(len(guesses), dtype=bool)
        if self._is_usual:
            states, is_closed = self._close(given, guesses, self._free)
            states, moves = self._moving(given, states)
            is_closed &= moves
        for row in np.flatnonzero(~is_closed):
            try:
                states[row] = self.single(given[row], guesses[row])
            except TorseurError:
                states[row] = np.nan
        return states

    def single(self, given: Vector, guess: Vector) -> Vector:
        """The state of one point; says what is wrong where there is none."""
        return at_start(self._constrained, given, {}, START, guess)[1].y

    def _close(self, given: Vector, guesses: Vector, free: Mask) -> tuple[Vector, NDArray[np.bool_]]:
        """Levenberg and Marquardt's steps of every point, on all cores."""
        y, left, numbers = guesses.copy(), np.empty(len(guesses)), self._numbers
        flat = np.ascontiguousarray(given).ravel() if given.size else np.zeros(1)
        arrays = (START, y.reshape(-1), flat, free.astype(np.int64), assembly_rule(numbers), left)
        shares = max(1, min(available_cores(), len(y) // LEAST_PER_CORE))
        bounds = [len(y) * k // shares for k in range(shares + 1)]
        with ThreadPoolExecutor(shares) as pool:
            list(pool.map(lambda k: self._close_loops(bounds[k], bounds[k + 1], *arrays), range(shares)))
        return y, left <= self._open_limit

    @cached_property
    def _close_loops(self) -> CompiledRoutine:
        own, programs = self._constrained.statics, self._numbers.programs
        externals = {"velocities": programs.velocities, "displaced": programs.displaced}
        return routine_of(close_loops, len(self.variation.states), own, externals, "auto")

    def _moving(self, given: Vector, y: Vector) -> tuple[Vector, NDArray[np.bool_]]:
        """The states with the nearest speeds that the constraints allow, and whether there are such."""
        numbers = self._numbers
        velocities = self._of(numbers.programs.velocities, y, given)
        rows, drift = velocities["rows"] * numbers.scales, velocities["drift"]
        v = y[:, numbers.coordinates :] / numbers.scales
        missing = -drift - np.einsum("nij,nj->ni", rows, v)
        if not missing.any():
            return y, np.ones(len(y), dtype=bool)
        change = self._least(rows, missing[:, :, None], self._metric(y, given), self._free_speeds)[:, :, 0]
        left = np.abs((missing - np.einsum("nij,nj->ni", rows, change)) / numbers.row_scales).max(axis=1, initial=0.0)
        fastest = np.maximum(np.abs(v).max(axis=1, initial=0.0), np.abs(drift / numbers.row_scales).max(axis=1))
        result = y.copy()
        result[:, numbers.coordinates :] = (v + change) * numbers.scales
        return result, left <= CLOSED + self._open_limit * fastest

    @property
    def can_differentiate(self) -> bool:
        """Whether the constraints determine how all start states change."""
        start = StartProjection(self.variation, {}, START)
        return self._is_usual and not start.is_open and start.has_determined_speeds

    def tangents(self, given: Vector, y: Vector, own: Vector) -> Vector:
        """Tangents of the states by parameters (point, state, parameter), from those of what is stated."""
        numbers, count = self._numbers, y.shape[1]
        derivatives = self._of(constrained_programs(self.variation).level_derivatives, y, given)
        phi, slip = (derivatives[name].transpose(0, 2, 1) for name in ("phi_derivatives", "slip_derivatives"))
        rows = self._of(numbers.programs.velocities, y, given)["rows"] * numbers.scales
        holonomic, result = numbers.programs.holonomic, own.copy()
        # Φ(q, p) = 0 along p: Φ_q q_p + Φ_p = 0, and one level below for the speeds.
        gap = phi[:, :holonomic, :count] @ result + phi[:, :holonomic, count:]
        same = np.broadcast_to(np.eye(len(numbers.scales)), (len(y), len(numbers.scales), len(numbers.scales)))
        moves = self._least_or_all(rows[:, :holonomic], -gap, same, self._free)
        result[:, : numbers.coordinates] += derivatives["reach"] @ (moves * numbers.scales[:, None])
        gap = slip[:, :, :count] @ result + slip[:, :, count:]
        faster = self._least_or_all(rows, -gap, self._metric(y, given), self._free_speeds)
        result[:, numbers.coordinates :] += faster * numbers.scales[:, None]
        return result

    def at_point(self, given: Vector, y: Vector) -> Variation:
        """The variation of one point, for what is done by itself."""
        constrained = replace(self._constrained, numbers=replace(self._numbers, parameters=given))
        system = self.variation.system
        own = {"values": tuple(given.tolist()), "initial": tuple(y.tolist()), "constrained": constrained}
        return replace(self.variation, system=replace(system, **own))  # type: ignore[arg-type]

    def _least_or_all(self, rows: Vector, target: Vector, metric: Vector, free: Mask) -> Vector:
        """The smallest changes of what is free; of everything where that is not enough."""
        moves = self._least(rows, target, metric, free)
        left = np.abs(target - rows @ moves).max(axis=(1, 2), initial=0.0)
        short = left > ALONE * np.maximum(np.abs(target).max(axis=(1, 2), initial=0.0), 1e-300)
        if short.any():
            moves[short] = self._least(rows[short], target[short], metric[short], np.ones_like(free))
        return moves

    def _least(self, rows: Vector, target: Vector, metric: Vector, free: Mask) -> Vector:
        """The smallest changes of what is free with rows @ change = target (point, speed, column)."""
        result = np.zeros((len(rows), rows.shape[2], target.shape[2]))
        if not free.any() or not rows.shape[1]:
            return result
        # min |x|_M with R x = t:  x = L⁻ᵀ y, M = L Lᵀ, y the shortest solution of (R L⁻ᵀ) y = t.
        inverse = np.linalg.inv(np.linalg.cholesky(metric[:, free][:, :, free]))
        whitened = rows[:, :, free] @ inverse.transpose(0, 2, 1)
        answer, left = np.zeros((len(rows), int(free.sum()), target.shape[2])), target
        # Normal equations square the condition number; solving for what is left wins the digits back.
        for _ in range(REFINEMENTS):
            answer = answer + _smallest(whitened, left)
            left = target - whitened @ answer
        result[:, free] = inverse.transpose(0, 2, 1) @ answer
        return result

    def _metric(self, y: Vector, given: Vector) -> Vector:
        """The mass matrix in units of scaled moves."""
        numbers = self._numbers
        lower = self._of(numbers.programs.positions, y, given)["mass"]
        full: Vector = lower + np.tril(lower, -1).transpose(0, 2, 1)
        return full * np.outer(numbers.scales, numbers.scales)

    def _of(self, program: Program, y: Vector, given: Vector) -> dict[str, Vector]:
        """Outputs of a program at many points, a row each."""
        known = {"t": np.full((1, len(y)), START), "y": y.T, "p": given.T}
        outputs = self._kernel(program)(**{group.name: known[group.name] for group in program.inputs})
        return {name: np.moveaxis(array, -1, 0) for name, array in outputs.items()}

    def _kernel(self, program: Program) -> BatchKernel:
        if id(program) not in self._kernels:
            self._kernels[id(program)] = compile_batch(program)
        return self._kernels[id(program)]

    @cached_property
    def _kernels(self) -> dict[int, BatchKernel]:
        return {}


def assembly_rule(numbers: StateNumbers) -> Vector:
    """The `Rule` of `batch_assembly.py`, in the order of its fields."""
    return np.concatenate([numbers.scales, numbers.row_scales, numbers.rounding_of_rows, [numbers.negligible(0.0)]])


def _smallest(rows: Vector, target: Vector) -> Vector:
    """Rᵀ (R Rᵀ)⁻¹ target of many points, targets with columns; nearly so, for rows that others imply."""
    square = rows @ rows.transpose(0, 2, 1)
    added = ROUNDING * np.trace(square, axis1=1, axis2=2) + 1e-300
    square = square + added[:, None, None] * np.eye(rows.shape[1])
    smallest: Vector = rows.transpose(0, 2, 1) @ np.linalg.solve(square, target)
    return smallest
