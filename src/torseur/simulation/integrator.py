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


@dataclass
class Memory:
    """The arrays the loop works on; rows and marks are handed over and emptied whenever it pauses."""

    clock: Vector
    count: NDArray[np.int64]
    y: Vector
    samples: Vector
    rows: Vector
    marks: Vector
    sides: NDArray[np.int64]
    directions: NDArray[np.int64]
    limits: NDArray[np.int64]
    row_width: int
    mark_width: int
    kept_rows: list[Vector] = field(default_factory=list)
    kept_marks: list[Vector] = field(default_factory=list)

    @classmethod
    def of(cls, problem: Problem) -> Memory:
        """Memory at the start of a problem."""
        n, events = len(problem.initial), len(problem.directions)
        row_width = PIECE_STATE + (8 * n if problem.keep == memory.KEEP_DENSE else n)
        rows = FIRST_ROOM if problem.keep != memory.KEEP_NOTHING else 1
        marks = FIRST_ROOM + events if events else 1
        result = cls(
            clock=np.zeros(memory.CLOCK_SIZE), count=np.zeros(memory.COUNT_SIZE, dtype=np.int64),
            y=problem.initial.copy(), samples=np.full((len(problem.times), n), np.nan),
            rows=np.empty((rows, row_width)), marks=np.empty((marks, 2 + n)),
            sides=np.zeros(events, dtype=np.int64), directions=np.array(problem.directions, dtype=np.int64),
            limits=np.array(problem.limits, dtype=np.int64),
            row_width=row_width, mark_width=2 + n,
        )
        result._set_clock(problem)
        return result

    def _set_clock(self, problem: Problem) -> None:
        clock, count = self.clock, self.count
        clock[memory.TIME], clock[memory.T_END] = problem.start, problem.until
        clock[memory.DIRECTION] = 1.0 if problem.until > problem.start else -1.0
        clock[memory.RTOL], clock[memory.MAX_STEP] = problem.rtol, problem.max_step
        clock[memory.LAST_ERROR] = FIRST_LAST_ERROR
        count[memory.SAMPLES], count[memory.KEEP] = len(problem.times), problem.keep
        count[memory.ROWS], count[memory.MARKS] = len(self.rows), len(self.marks)

    @property
    def attempts(self) -> int:
        return int(self.count[memory.STEPS] + self.count[memory.REJECTED])

    def hand_over(self) -> None:
        """Takes what was written since the last time and makes room, twice as much when all of it was used."""
        kept_rows, kept_marks = self.count[memory.ROW], self.count[memory.MARK]
        self.kept_rows.append(self.rows[:kept_rows])
        self.kept_marks.append(self.marks[:kept_marks])
        self.rows = np.empty((len(self.rows) * (2 if kept_rows == len(self.rows) else 1), self.row_width))
        self.marks = np.empty((2 * len(self.marks), self.mark_width))
        self.count[[memory.ROW, memory.MARK]] = 0
        self.count[memory.ROWS], self.count[memory.MARKS] = len(self.rows), len(self.marks)


@dataclass(frozen=True)
class Integrator:
    """The loop compiled for one system."""

    loop: Callable[..., Any]
    backend: str

    def run(self, problem: Problem) -> Run:
        """Computes the motion, or as much of it as there is."""
        begin = time.perf_counter()
        work = Memory.of(problem)
        answer, error = memory.PAUSED, None
        while answer == memory.PAUSED and work.attempts < problem.max_steps:
            work.count[memory.PAUSE_AT] = min(work.attempts + ATTEMPTS_PER_CALL, problem.max_steps)
            try:
                answer = self.loop(
                    work.clock, work.count, work.y, problem.parameters, problem.atol, problem.times,
                    work.samples.ravel(), work.rows.ravel(), work.sides, work.directions, work.limits, work.marks.ravel(),
                )
            except SimulationError as raised:
                answer, error = memory.RAISED, raised
            work.hand_over()
            if problem.progress is not None:
                problem.progress((work.clock[memory.TIME] - problem.start) / (problem.until - problem.start))
        return self._gathered(answer, work, time.perf_counter() - begin, error)

    def _gathered(self, answer: int, work: Memory, wall_time: float, error: SimulationError | None) -> Run:
        count, clock = work.count, work.clock
        statistics = Statistics(
            steps=int(count[memory.STEPS]), rejected=int(count[memory.REJECTED]),
            evaluations=int(count[memory.EVALUATIONS]), stiffness=float(clock[memory.STIFFNESS]),
            backend=self.backend, wall_time=wall_time,
        )
        return Run(
            answer=answer, t=float(clock[memory.TIME]), y=work.y, samples=work.samples[: count[memory.SAMPLE]],
            rows=np.concatenate(work.kept_rows), marks=np.concatenate(work.kept_marks),
            worst=int(count[memory.WORST]), statistics=statistics, error=error,
        )
