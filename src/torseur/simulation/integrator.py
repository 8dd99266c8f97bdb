"""The compiled loop with its memory: runs it, gives it room when it asks, and gathers what it wrote."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.errors import SimulationError
from torseur.simulation import memory
from torseur.simulation.control import FIRST_LAST_ERROR
from torseur.simulation.dop853 import PIECE_STATE
from torseur.simulation.problem import Problem
from torseur.simulation.system import Vector
from torseur.simulation.tableau import STAGES

ATTEMPTS_PER_CALL = 20_000  # then Python may look at interrupts and report progress
FIRST_ROOM = 256


@dataclass(frozen=True)
class Statistics:
    """What a motion cost."""

    steps: int
    rejected: int
    evaluations: int
    stiffness: float
    backend: str
    wall_time: float
    method: str = "explicit"
    jacobians: int = 0
    factorisations: int = 0


@dataclass(frozen=True)
class Run:
    """What the loop left: its answer, the samples and steps it wrote, the events, and where it stands."""

    answer: int
    t: float
    y: Vector
    samples: Vector
    rows: Vector
    marks: Vector
    worst: int
    statistics: Statistics
    error: SimulationError | None = None
    notes: tuple[str, ...] = ()


@dataclass
class Memory:
    """The arrays the loop works on; what it wrote in rows and marks is taken over whenever it hands back control.

    No array is empty, even one that is not used: a compiled function takes empty arrays the slow way.
    """

    clock: Vector
    count: NDArray[np.int64]
    y: Vector
    times: Vector
    samples: Vector
    rows: Vector
    marks: Vector
    sides: NDArray[np.int64]
    directions: NDArray[np.int64]
    limits: NDArray[np.int64]
    kept_rows: list[Vector] = field(default_factory=list)
    kept_marks: list[Vector] = field(default_factory=list)

    @classmethod
    def of(cls, problem: Problem) -> Memory:
        """Memory at the start of a problem."""
        n, events, times = len(problem.initial), len(problem.directions), problem.times
        vectors = {memory.KEEP_DENSE: 8, memory.KEEP_SLOPES: 1 + STAGES}.get(problem.keep, 1)
        return cls(
            clock=_clock(problem),
            count=_count(problem),
            y=problem.initial.copy(),
            times=times if len(times) else np.zeros(1),
            samples=np.empty((max(len(times), 1), n)),
            rows=np.empty((FIRST_ROOM if problem.keep != memory.KEEP_NOTHING else 1, PIECE_STATE + vectors * n)),
            marks=np.empty((FIRST_ROOM + events if events else 1, 2 + n)),
            sides=np.zeros(max(events, 1), dtype=np.int64),
            directions=_integers(problem.directions),
            limits=_integers(problem.limits),
        )

    @property
    def slope(self) -> Vector:
        """The slope of the present state, where the loop left it."""
        return self.clock[memory.CLOCK_SIZE :]

    @property
    def attempts(self) -> int:
        return int(self.count[memory.ATTEMPTS])

    def make_room(self, attempts: int) -> None:
        """Empties the buffers, twice as large when all of them was used, and allows so many attempts in all."""
        count = self.count
        if self.kept_rows:
            self.rows = np.empty_like(self.rows, shape=_room(self.rows, int(count[memory.ROW])))
            self.marks = np.empty_like(self.marks, shape=_room(self.marks, int(count[memory.MARK])))
        count[memory.ROW] = count[memory.MARK] = 0
        count[memory.ROWS], count[memory.MARKS] = len(self.rows), len(self.marks)
        count[memory.PAUSE_AT] = attempts

    def take_over(self) -> None:
        """Keeps what was written since there was room."""
        self.kept_rows.append(self.rows[: self.count[memory.ROW]])
        self.kept_marks.append(self.marks[: self.count[memory.MARK]])


def _room(buffer: Vector, used: int) -> tuple[int, int]:
    rows, width = buffer.shape
    return (2 * rows if 2 * used > rows else rows, width)


_NO_INTEGERS = np.zeros(1, dtype=np.int64)
"""Read by nobody."""


def _integers(values: tuple[int, ...]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64) if values else _NO_INTEGERS


def _clock(problem: Problem) -> Vector:
    # A list takes entries five times faster than an array. The slope of the present state has its place at the end.
    clock = [0.0] * (memory.CLOCK_SIZE + len(problem.initial))
    clock[memory.TIME], clock[memory.T_END] = problem.start, problem.until
    clock[memory.DIRECTION] = 1.0 if problem.until > problem.start else -1.0
    clock[memory.RTOL], clock[memory.MAX_STEP] = problem.rtol, problem.max_step
    clock[memory.LAST_ERROR] = FIRST_LAST_ERROR
    clock[memory.MILESTONE] = problem.start
    clock[memory.DISTANCE] = clock[memory.START_DISTANCE] = clock[memory.ASKED] = 1.0
    return np.array(clock)


def _count(problem: Problem) -> NDArray[np.int64]:
    count = np.zeros(memory.COUNT_SIZE, dtype=np.int64)
    count[memory.SAMPLES] = len(problem.times)
    count[memory.KEEP] = problem.keep
    return count


@dataclass(frozen=True)
class Integrator:
    """The loop compiled for one system; `when_stiff` makes the one that takes over where the system is stiff."""

    loop: Callable[..., Any]
    backend: str
    method: str = "explicit"
    when_stiff: Callable[[], Integrator] | None = None

    def run(self, problem: Problem) -> Run:
        """Computes the motion, or as much of it as there is."""
        begin = time.perf_counter()
        work = Memory.of(problem)
        work.count[memory.SELECTS] = problem.reselect is not None
        work.count[memory.WATCH] = self.when_stiff is not None
        present, answer, error, notes = self, memory.PAUSED, None, []
        while answer in memory.GOES_ON and work.attempts < problem.max_steps:
            if answer == memory.STIFFENED and present.when_stiff is not None:
                present = present.when_stiff()
                notes.append(f"Stiff from t = {work.clock[memory.TIME]:.6g} s on: {present.method} took over there.")
            elif answer == memory.REPARTITION and problem.repartition is not None:
                notes.append(problem.repartition(float(work.clock[memory.TIME]), work.y))
            elif answer == memory.RESELECT and problem.reselect is not None:
                problem.reselect(float(work.clock[memory.TIME]), work.y)
            elif answer == memory.HOLD and problem.hold is not None:
                problem.hold(work.slope)
            elif answer == memory.LET_GO and problem.let_go is not None:
                problem.let_go()
            work.make_room(min(work.attempts + ATTEMPTS_PER_CALL, problem.max_steps))
            try:
                answer = present.call(work, problem)
            except SimulationError as raised:
                answer, error = memory.RAISED, raised
            work.take_over()
            if answer == memory.STOPPED and problem.jump is not None:
                answer, error = _after_jump(problem.jump, work)
            if problem.progress is not None:
                problem.progress(float((work.clock[memory.TIME] - problem.start) / (problem.until - problem.start)))
        return present._gathered(answer, work, time.perf_counter() - begin, error, tuple(notes))

    def call(self, work: Memory, problem: Problem) -> int:
        """One call of the loop: goes on from where the memory stands, and answers why it came back."""
        # Compiled code takes an array of any shape; Python indexes a flat one.
        samples, rows, marks = work.samples, work.rows, work.marks
        if self.backend == "python":
            samples, rows, marks = samples.reshape(-1), rows.reshape(-1), marks.reshape(-1)
        answer: int = self.loop(
            work.clock,
            work.count,
            work.y,
            problem.parameters,
            problem.atol,
            work.times,
            samples,
            rows,
            work.sides,
            work.directions,
            work.limits,
            marks,
        )
        return answer

    def _gathered(
        self, answer: int, work: Memory, wall_time: float, error: SimulationError | None, notes: tuple[str, ...]
    ) -> Run:
        count, clock = work.count.tolist(), work.clock.tolist()
        statistics = Statistics(
            steps=count[memory.STEPS],
            rejected=count[memory.REJECTED],
            evaluations=count[memory.EVALUATIONS],
            stiffness=clock[memory.STIFFNESS],
            backend=self.backend,
            wall_time=wall_time,
            method=self.method,
            jacobians=count[memory.JACOBIANS],
            factorisations=count[memory.FACTORISATIONS],
        )
        return Run(
            answer=answer,
            t=clock[memory.TIME],
            y=work.y,
            samples=work.samples[: count[memory.SAMPLE]],
            rows=_joined(work.kept_rows),
            marks=_joined(work.kept_marks),
            worst=count[memory.WORST],
            statistics=statistics,
            error=error,
            notes=notes,
        )


def _after_jump(jump: Callable[[Memory], bool], work: Memory) -> tuple[int, SimulationError | None]:
    """The answer after a jump of the state: go on, or stop there."""
    try:
        return (memory.PAUSED if jump(work) else memory.STOPPED), None
    except SimulationError as raised:
        return memory.RAISED, raised


def _joined(parts: list[Vector]) -> Vector:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
