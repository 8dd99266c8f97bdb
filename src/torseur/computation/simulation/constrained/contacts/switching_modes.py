"""Which contacts are closed and which friction sticks: modes that agree with the forces and motions they lead to.

At accelerations x = v' and at an impact x = v₊ the conditions are the same:

    M x + Cᵀ λ = f,   C x = c for what holds

    contact   closed  G x = g, N = -λ ≥ 0        open   G x ≥ g, N = 0
    friction  sticks  T x = c, |λ| ≤ limit       slides λ = d limit, with T x - c along d

Modes are changed one at a time, the first that contradicts itself, until none does: Murty's least index method, which
ends for frictionless contacts. Where friction makes it return to modes it has tried, all modes are tried in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from torseur.computation.simulation.model.system import Vector
from torseur.errors import SimulationError

OPEN, CLOSED, STICKS, SLIDES, IDLE = "open", "closed", "sticks", "slides", "idle"
TOLERANCE = 1e-9  # part of its own size by which a condition may be missed: what rounding leaves
DEPENDENT = 1e-9  # part of a row left over by others, below which it follows from them
# All modes of twelve contacts without friction.
MOST_TRIED = 4096
TINY = 1e-300
CONTRADICTED = 0.5  # part of an approach that impulses leave where nothing can stop it
WITHOUT_INERTIA = 1e-12  # smallest eigenvalue of the mass matrix, its diagonal scaled to one, that counts as none
SWEEPS = 20_000
FEW_SWEEPS = 2_000
SETTLED = 1e-13  # change of speeds in a sweep, by their size, after which relaxation ends
TURNED = 1e-9  # angle by which the direction of sliding may be missed
MANY_TURNS = 30
AT_LIMIT = 1e-7  # part of a limit that may be missing where relaxation has reached it
REACHED = 1e-6  # part of a limit that may be missing where an event has found it reached


@dataclass(frozen=True)
class Friction:
    """An element of friction in a problem of modes.

    `normal` is its contact's row, `presses` a gradient of the force that presses by all multipliers (it is linear in
    them, or nearly so). `direction` is that in which it slides already; None where it is at rest. `must_slide` is for
    an element whose limit was just reached.
    """

    rows: tuple[int, ...]
    normal: int | None
    presses: Vector
    sliding: tuple[float, float]  # force and coefficient
    resting: tuple[float, float]
    direction: Vector | None = None
    must_slide: bool = False
    slip: Vector | None = None

    @property
    def guess(self) -> Vector:
        """A direction to begin with: that of the slip, or the first."""
        if self.direction is not None:
            return self.direction
        size = 0.0 if self.slip is None else float(np.linalg.norm(self.slip))
        first: Vector = np.eye(len(self.rows))[0]
        return first if self.slip is None or size == 0.0 else self.slip / size


@dataclass(frozen=True)
class ModeProblem:
    """M x + Cᵀ λ = f with rows that hold (`lasting`), rows of contacts (`contacts`), and friction."""

    mass: Vector
    force: Vector
    rows: Vector
    target: Vector
    lasting: tuple[int, ...]
    contacts: tuple[int, ...] = ()
    friction: tuple[Friction, ...] = ()


@dataclass(frozen=True)
class Modes:
    """A mode of each contact and of each friction element, with the directions of those that slide."""

    contacts: tuple[str, ...]
    friction: tuple[str, ...]
    directions: tuple[Vector, ...]


@dataclass(frozen=True)
class Solution:
    """Consistent modes with the motion and the multipliers of all rows that they lead to."""

    modes: Modes
    x: Vector
    multipliers: Vector


class Resolver:
    """The search for consistent modes of one problem."""

    def __init__(self, problem: ModeProblem) -> None:
        self.problem, self.turns = problem, 0
        self.metric = Metric(problem.mass, problem.rows[list(problem.lasting)], problem.target[list(problem.lasting)])
        self.whitened = self.metric.whitened(problem.rows)
        self.lengths: Vector = np.maximum(np.linalg.norm(self.whitened, axis=1), TINY)
        self.force = self.metric.whitened((problem.force + self.metric.more_force)[None])[0]
        self.free = self.metric.unwhitened(self.force)

    def resolve(self, start: Modes, exhaustive: bool = True) -> Solution | None:
        """Consistent modes near those to start from, or any if it is exhaustive; None where there are none."""
        modes, tried = start, set()
        while True:
            # Eleven digits of a direction: turning in circles comes back near where it was, not to the last bit.
            key = (modes.contacts, modes.friction, tuple(tuple(np.round(d, 11)) for d in modes.directions))
            if key in tried:
                return self._try_all(start) if exhaustive else None
            tried.add(key)
            solution = self.solve(modes)
            changed = self._correct(solution)
            if changed is None:
                return solution
            modes = changed

    def _try_all(self, start: Modes) -> Solution | None:
        for number, modes in enumerate(self._all(start)):
            if number >= MOST_TRIED:
                return None
            solution = self.solve(modes)
            if self._correct(solution) is None:
                return solution
        return None

    def _all(self, start: Modes) -> Iterator[Modes]:
        ways: list[list[tuple[str, Vector]]] = []
        for element, direction in zip(self.problem.friction, start.directions, strict=True):
            if element.direction is not None:
                ways.append([(SLIDES, direction)])
                continue
            both = [(SLIDES, direction), (SLIDES, -direction)]
            ways.append(both if element.must_slide else [(STICKS, direction), *both])
        for closed in product((CLOSED, OPEN), repeat=len(self.problem.contacts)):
            for chosen in product(*ways):
                yield self.consistent(Modes(closed, tuple(m for m, _ in chosen), tuple(d for _, d in chosen)))

    def consistent(self, modes: Modes) -> Modes:
        """Modes in which nothing rubs that is not pressed together, and a contact that opened may stick again."""
        friction = list(modes.friction)
        closed = {row for row, mode in zip(self.problem.contacts, modes.contacts, strict=True) if mode == CLOSED}
        for k, element in enumerate(self.problem.friction):
            pressed = element.normal is None or element.normal in closed
            if not pressed:
                friction[k] = IDLE
            elif friction[k] == IDLE:
                friction[k] = SLIDES if element.direction is not None or element.must_slide else STICKS
        return replace(modes, friction=tuple(friction))

    def independent_rows(self, modes: Modes) -> list[int]:
        """Rows that hold, without those that follow from others before them."""
        wanted = list(self.problem.lasting)
        wanted += [r for r, mode in zip(self.problem.contacts, modes.contacts, strict=True) if mode == CLOSED]
        for element, mode in zip(self.problem.friction, modes.friction, strict=True):
            wanted += list(element.rows) if mode == STICKS else []
        units: list[Vector] = []
        held = []
        for row in wanted:
            rest = self.whitened[row]
            for _ in range(2):
                for unit in units:
                    rest = rest - (rest @ unit) * unit
            size, whole = np.linalg.norm(rest), self.lengths[row]
            if size > DEPENDENT * whole:
                units.append(rest / size)
                held.append(row)
        return held

    def solve(self, modes: Modes) -> Solution:
        """The motion and the multipliers that modes lead to."""
        problem, held = self.problem, self.independent_rows(modes)
        n, m = len(problem.mass), len(problem.rows)
        # In the metric of M and with rows of length one, so that masses and lengths of any size are solved alike:
        # [1 Qᵀ; Q 0] [z; λ] = [f; c], and coefficient presses·λ along the directions of what slides.
        units = self.whitened[held] / self.lengths[held, None]
        system = np.zeros((n + len(held), n + len(held)))
        system[:n, :n] = np.eye(n)
        system[:n, n:] = units.T
        system[n:, :n] = units
        right = np.concatenate([self.force, problem.target[held] / self.lengths[held]])
        for element, mode, d in zip(problem.friction, modes.friction, modes.directions, strict=True):
            if mode == SLIDES:  # λ = d (force + coefficient presses·λ)
                push = self.whitened[list(element.rows)].T @ d
                level, coefficient = element.sliding
                right[:n] -= level * push
                system[:n, n:] += coefficient * np.outer(push, element.presses[held] / self.lengths[held])
        answer = np.linalg.lstsq(system, right, rcond=1e-14)[0]
        multipliers = np.zeros(m)
        multipliers[held] = answer[n:] / self.lengths[held]
        for element, mode, d in zip(problem.friction, modes.friction, modes.directions, strict=True):
            if mode == SLIDES:
                level, coefficient = element.sliding
                multipliers[list(element.rows)] = d * (level + coefficient * (element.presses @ multipliers))
        return Solution(modes, self.metric.unwhitened(answer[:n]), multipliers)

    def _correct(self, solution: Solution) -> Modes | None:
        """The modes with the first contradiction removed; None where there is none."""
        problem, modes = self.problem, solution.modes
        past = problem.rows @ solution.x - problem.target
        sizes = np.abs(problem.rows) @ (np.abs(solution.x) + np.abs(self.free)) + np.abs(problem.target)
        forces = np.abs(solution.multipliers).max(initial=0.0)
        for k, row in enumerate(problem.contacts):
            if modes.contacts[k] == CLOSED:
                wrong = solution.multipliers[row] > TOLERANCE * forces
            else:
                wrong = past[row] < -TOLERANCE * sizes[row] and self._adds(row, modes)
            if wrong:
                contacts = list(modes.contacts)
                contacts[k] = OPEN if contacts[k] == CLOSED else CLOSED
                return self.consistent(replace(modes, contacts=tuple(contacts)))
        for k, element in enumerate(problem.friction):
            changed = self._other_friction(k, element, solution, past, sizes)
            if changed is not None:
                friction, directions = list(modes.friction), list(modes.directions)
                friction[k], directions[k] = changed
                return replace(modes, friction=tuple(friction), directions=tuple(directions))
        return None

    def _adds(self, row: int, modes: Modes) -> bool:
        """Whether closing a contact would hold anything that is not held already."""
        contacts = [CLOSED if r == row else mode for r, mode in zip(self.problem.contacts, modes.contacts, strict=True)]
        return row in self.independent_rows(replace(modes, contacts=tuple(contacts)))

    def _other_friction(
        self, k: int, element: Friction, solution: Solution, past: Vector, sizes: Vector
    ) -> tuple[str, Vector] | None:
        """What a friction element must do instead, with its direction; None where it does not contradict itself."""
        mode, rows = solution.modes.friction[k], list(element.rows)
        force = solution.multipliers[rows]
        if mode == STICKS:
            limit = element.resting[0] + element.resting[1] * (element.presses @ solution.multipliers)
            size = float(np.linalg.norm(force))
            most = float(limit) * (1.0 - REACHED if element.must_slide else 1.0 + TOLERANCE)
            rounding = TOLERANCE * np.abs(solution.multipliers).max(initial=0.0)
            if size > max(most, 0.0) + rounding:
                return SLIDES, force / size
        elif mode == SLIDES and element.direction is None:
            along, d = past[rows], solution.modes.directions[k]
            small = TOLERANCE * float(sizes[rows].max())
            if d @ along < -small and not element.must_slide:
                return STICKS, d
            if len(rows) == 2 and float(np.linalg.norm(along)) > small:
                turned = along / np.linalg.norm(along)
                # What hardly begins to slide has hardly a direction: across its own it must not accelerate.
                across = float(np.linalg.norm(along - (d @ along) * d))
                if float(np.linalg.norm(turned - d)) > TURNED and across > small:
                    # Half way after some turns: full ones may go round for ever.
                    self.turns += 1
                    mean = turned if self.turns < MANY_TURNS else 0.5 * (turned + d)
                    return SLIDES, mean / np.linalg.norm(mean)
        return None


def relax(problem: ModeProblem, sweeps: int = SWEEPS) -> Solution | None:
    """Modes by relaxation, where the search for modes finds none, with what they lead to; None if that does not settle.

    Gauss and Seidel's sweeps over contacts and friction, each projected on what it may be: many contacts at once have
    modes beyond counting, and impulses or forces nevertheless.
    """
    resolver = Resolver(problem)
    rows, target = resolver.whitened, problem.target
    squares = np.maximum(np.sum(rows * rows, axis=1), TINY)
    multipliers, z = np.zeros(len(rows)), resolver.force.copy()
    scale = float(np.abs(rows @ z - target).max(initial=TINY))
    for _ in range(sweeps):
        largest = 0.0

        def push(which: list[int], new: Vector) -> None:
            nonlocal z, largest
            change = new - multipliers[which]
            z = z - rows[which].T @ change
            multipliers[which] = new
            largest = max(largest, float(np.abs(change * np.sqrt(squares[which])).max(initial=0.0)))

        for r in problem.lasting:
            push([r], multipliers[[r]] + (rows[[r]] @ z - target[[r]]) / squares[r])
        for r in problem.contacts:
            # λ ≤ 0 presses (N = -λ): a contact does not pull.
            push([r], np.minimum(multipliers[[r]] + (rows[[r]] @ z - target[[r]]) / squares[r], 0.0))
        for element in problem.friction:
            which = list(element.rows)
            # Both rows by the trace of their product, which bounds its larger eigenvalue: the step does not overshoot.
            wanted = multipliers[which] + (rows[which] @ z - target[which]) / squares[which].sum()
            level, coefficient = element.resting if element.direction is None else element.sliding
            limit = max(level + coefficient * float(element.presses @ multipliers), 0.0)
            if element.direction is not None:
                push(which, element.direction * limit)
            else:
                push(which, wanted * min(1.0, limit / max(float(np.linalg.norm(wanted)), TINY)))
        if largest <= SETTLED * scale:
            return Solution(_modes_of(problem, multipliers), resolver.metric.unwhitened(z), multipliers)
    return None


def _modes_of(problem: ModeProblem, multipliers: Vector) -> Modes:
    """The modes that multipliers belong to."""
    forces = np.abs(multipliers).max(initial=TINY)
    contacts = tuple(CLOSED if multipliers[row] < -TOLERANCE * forces else OPEN for row in problem.contacts)
    modes, directions = [], []
    for element in problem.friction:
        own = multipliers[list(element.rows)]
        size = float(np.linalg.norm(own))
        limit = max(element.resting[0] + element.resting[1] * float(element.presses @ multipliers), 0.0)
        slides = element.direction is not None or element.must_slide or size >= limit * (1.0 - AT_LIMIT)
        modes.append(SLIDES if slides else STICKS)
        directions.append(own / size if element.direction is None and size > 0.0 else element.guess)
    return Modes(contacts, tuple(modes), tuple(directions))


class Metric:
    """The metric of M, completed by lasting constraints where bodies have no mass.

    M + w Cᵀ C with f + w Cᵀ c has the same motion, since C x = c.
    """

    def __init__(self, mass: Vector, lasting: Vector, target: Vector) -> None:
        size = np.sqrt(np.maximum(np.diag(mass), TINY))
        completed: Vector = mass
        self.more_force: Vector = np.zeros(len(mass))
        if len(lasting) and np.linalg.eigvalsh(mass / np.outer(size, size)).min(initial=1.0) < WITHOUT_INERTIA:
            weight = np.trace(mass) / max(float(np.sum(lasting * lasting)), TINY)
            completed = mass + weight * lasting.T @ lasting
            self.more_force = weight * lasting.T @ target
        try:
            self.lower: Vector = np.asarray(np.linalg.cholesky(completed), dtype=np.float64)
        except np.linalg.LinAlgError as problem:
            raise SimulationError("a motion that contacts act on has no inertia: give its bodies mass.") from problem

    def whitened(self, rows: Vector) -> Vector:
        """Rows in the metric, L⁻¹ of each."""
        result: Vector = np.asarray(np.linalg.solve(self.lower, rows.T).T, dtype=np.float64)
        return result

    def unwhitened(self, z: Vector) -> Vector:
        """L⁻ᵀ z."""
        result: Vector = np.asarray(np.linalg.solve(self.lower.T, z), dtype=np.float64)
        return result


def nearest_solution(problem: ModeProblem, rows: list[int]) -> Vector:
    """x with M x + Cᵀ λ = f and C x = c for the given rows, those that follow from others left out."""
    resolver = Resolver(replace(problem, lasting=tuple(rows), contacts=(), friction=()))
    return resolver.solve(Modes((), (), ())).x
