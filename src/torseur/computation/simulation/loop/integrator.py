"""The compiled loop with its memory: runs it, gives it room when it asks, and gathers what it wrote."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from torseur.computation.simulation.loop import memory
from torseur.computation.simulation.loop.memory import Events, Motion, Output, Tolerance, row_width
from torseur.computation.simulation.model.system import Vector
from torseur.computation.simulation.problem import Problem
from torseur.errors import SimulationError

ATTEMPTS_PER_CALL = 20_000  # then Python may look at interrupts and report progress
FIRST_ROOM = 256
FEW = 8  # rows are few where less than this part of the room is used


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


class Run(NamedTuple):
    """What the loop left: its answer, the samples and steps it wrote, the events, and where it stands.

    `unresolved` is the number of an event function that is faster than the search for events, or -1.
    """

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
    unresolved: int = -1


@dataclass
class Memory:
    """The records that the loop works on; what it wrote in rows and marks is taken over whenever it hands back control.

    No array is empty, even one that is not used: a compiled function takes empty arrays the slow way.
    """

    motion: Motion
    y: Vector
    tolerance: Tolerance
    output: Output
    events: Events
    width: int  # of a row
    kept_rows: list[Vector] = field(default_factory=list)
    kept_marks: list[Vector] = field(default_factory=list)
    kept_count: int = 0  # rows in all
    is_given_away: bool = False  # whether the buffers belong to what was kept

    @classmethod
    def of(cls, problem: Problem) -> Memory:
        """Memory at the start of a problem."""
        motion = _MOTION(
            time=problem.start,
            t_end=problem.until,
            direction=1.0 if problem.until > problem.start else -1.0,
            max_step=problem.max_step,
            milestone=problem.start,
        )
        n = len(problem.initial)
        width, tolerance = row_width(problem.keep, n), _TOLERANCE(problem.atol, rtol=problem.rtol)
        output_kind, events_kind = _records_of(n)
        output = _output(problem, output_kind, width)
        return cls(motion, problem.initial.copy(), tolerance, output, _events(problem, events_kind, n), width)

    @property
    def time(self) -> float:
        return self.motion.time

    @property
    def attempts(self) -> int:
        return self.motion.attempts

    @property
    def rows(self) -> Vector:
        """Steps that were kept since there was room."""
        return self.output.rows.reshape(-1, self.width)[: self.output.row]

    def make_room(self, attempts: int) -> None:
        """Empties the buffers, twice as large when all of them was used, and allows so many attempts in all."""
        output, events = self.output, self.events
        if self.is_given_away:
            output.rows = np.empty(self.width * _room(output.row_room, output.row))
            events.marks = np.empty((_room(len(events.marks), events.mark), 2 + len(self.y)))
        output.row = events.mark = 0
        output.row_room, events.mark_room = len(output.rows) // self.width, len(events.marks)
        self.motion.pause_at = attempts

    def strike(self, struck: tuple[int, ...]) -> None:
        """Marks events that happen at the very start."""
        self.kept_marks.append(np.array([[self.time, k, *self.y] for k in struck]))

    def take_over(self) -> None:
        """Keeps what was written since there was room."""
        rows, marks = self.rows, self.events.marks[: self.events.mark]
        # Controllers make the loop stop after every few steps: little is copied, much is given away with its buffer.
        self.is_given_away = FEW * len(rows) > self.output.row_room or FEW * len(marks) > self.events.mark_room
        self.kept_rows.append(rows if self.is_given_away else rows.copy())
        self.kept_marks.append(marks if self.is_given_away else marks.copy())
        self.kept_count += len(rows)


_MOTION, _TOLERANCE = Motion.bound({}), Tolerance.bound({})


@lru_cache(maxsize=64)
def _records_of(states: int) -> tuple[type[Output], type[Events]]:
    return Output.bound({"N": states}), Events.bound({"N": states})


def _output(problem: Problem, kind: type[Output], width: int) -> Output:
    times = problem.times
    room = FIRST_ROOM if problem.keep != memory.KEEP_NOTHING else 1
    return kind(
        times if len(times) else np.zeros(1),
        np.empty((max(len(times), 1), len(problem.initial))),
        np.empty(room * width),
        sample_count=len(times),
        keep=problem.keep,
    )


def _events(problem: Problem, kind: type[Events], states: int) -> Events:
    count = len(problem.directions)
    sides = np.zeros(max(count, 1), dtype=np.int64)
    # Just after the start a motion may be through a stop already: a contact is positive there, whatever its gap says.
    sides[: problem.contacts] = 1
    return kind(
        sides,
        _integers(problem.directions),
        _integers(problem.limits),
        np.empty((FIRST_ROOM + count + problem.marks if count + problem.marks else 1, 2 + states)),
    )


def _room(rows: int, used: int) -> int:
    return 2 * rows if 2 * used > rows else rows


_NO_INTEGERS = np.zeros(1, dtype=np.int64)
"""Read by nobody."""


def _integers(values: tuple[int, ...]) -> Any:
    return np.array(values, dtype=np.int64) if values else _NO_INTEGERS


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
        work.motion.can_select = problem.reselect is not None
        work.motion.can_hold = problem.hold is not None
        work.motion.watches_stiffness = self.when_stiff is not None
        present, answer, error, notes = self, memory.PAUSED, None, []
        if problem.struck and problem.jump is not None:
            work.strike(problem.struck)
            answer, error = _after_jump(problem.jump, work)
        if problem.control is not None and error is None:
            error = _under_control(problem.control, work)
            answer = answer if error is None else memory.RAISED
        if error is not None:  # before any step: the start is all there is
            work.take_over()
        while answer in memory.GOES_ON and work.attempts < problem.max_steps:
            if answer == memory.STIFFENED and present.when_stiff is not None:
                present = present.when_stiff()
                notes.append(f"Stiff from t = {work.time:.6g} s on: {present.method} took over there.")
            elif answer == memory.REPARTITION and problem.repartition is not None:
                notes.append(problem.repartition(work.time, work.y))
            elif answer == memory.RESELECT and problem.reselect is not None:
                problem.reselect(work.time, work.y)
            elif answer == memory.HOLD and problem.hold is not None:
                problem.hold(work.output.derivative)
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
            if answer == memory.DONE and problem.control is not None and work.time != problem.until:
                error = _under_control(problem.control, work)
                answer = memory.PAUSED if error is None else memory.RAISED
            if problem.progress is not None:
                problem.progress(problem.part_done(work.time))
        return present._run(answer, work, time.perf_counter() - begin, error, tuple(notes))

    def call(self, work: Memory, problem: Problem) -> int:
        """One call of the loop: goes on from where the memory stands, and answers why it came back."""
        answer: int = self.loop(work.motion, work.y, problem.parameters, work.tolerance, work.output, work.events)
        return answer

    def _run(
        self, answer: int, work: Memory, wall_time: float, error: SimulationError | None, notes: tuple[str, ...]
    ) -> Run:
        return Run(
            answer=answer,
            t=work.time,
            y=work.y,
            samples=work.output.samples[: work.output.sample],
            rows=_concatenate(work.kept_rows),
            marks=_concatenate(work.kept_marks),
            worst=work.motion.worst,
            unresolved=work.events.unresolved,
            statistics=statistics_of(self, work.motion, wall_time),
            error=error,
            notes=notes,
        )


def statistics_of(loop: Integrator, motion: Motion, wall_time: float) -> Statistics:
    """What a motion cost that this loop ended."""
    return Statistics(
        steps=motion.steps,
        rejected=motion.rejected,
        evaluations=motion.evaluations,
        stiffness=motion.stiffness,
        backend=loop.backend,
        wall_time=wall_time,
        method=loop.method,
        jacobians=motion.jacobians,
        factorisations=motion.factorisations,
    )


def _after_jump(jump: Callable[[Memory], bool], work: Memory) -> tuple[int, SimulationError | None]:
    """The answer after a jump of the state: go on, or stop there."""
    try:
        return (memory.PAUSED if jump(work) else memory.STOPPED), None
    except SimulationError as raised:
        return memory.RAISED, raised


def _under_control(control: Callable[[Memory], float], work: Memory) -> SimulationError | None:
    """Lets controllers act, and sets how far the loop goes before they act again."""
    try:
        work.motion.t_end = control(work)
    except SimulationError as raised:
        return raised
    return None


def _concatenate(parts: list[Vector]) -> Vector:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
