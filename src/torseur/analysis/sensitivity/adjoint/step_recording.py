"""Motions kept so that one can go back through their steps, in bounded memory.

The derivatives of all stages are kept while they fit. Beyond that, blocks of steps keep their times, lengths and first
state only, and are computed again when they are needed, which costs one more simulation. Implicit steps, which are few
and dear, keep their stages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from torseur.analysis.sensitivity.events.discontinuities import Discontinuities
from torseur.analysis.sensitivity.events.event_crossing import Landing
from torseur.computation.codegen.kernels.compiled_routine import CompiledRoutine
from torseur.computation.simulation.explicit.dop853_tableau import STAGES
from torseur.computation.simulation.implicit.implicit_setup import STAGES as IMPLICIT_STAGES
from torseur.computation.simulation.loop import memory
from torseur.computation.simulation.loop.integrator import FIRST_ROOM, Integrator, Memory, Run, statistics_of
from torseur.computation.simulation.loop.memory import row_width
from torseur.computation.simulation.model.system import Vector
from torseur.computation.simulation.problem import Problem


@dataclass(frozen=True, eq=False)
class Block:
    """Steps that follow each other: rows of what was kept of each, or its first state with times and lengths.

    `method` names the implicit method they were taken by, if any.
    """

    rows: Vector
    first: Vector | None = None
    method: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def checkpoint(self) -> Block:
        """The block without its stages."""
        if self.first is not None or self.method or not len(self.rows):
            return self
        size = (self.rows.shape[1] - 2) // (1 + STAGES)
        return Block(self.rows[:, :2].copy(), self.rows[0, 2 : 2 + size].copy())


@dataclass(frozen=True, eq=False)
class Switch:
    """Other constraints selected among redundant ones; `settings` are those before."""

    settings: Vector


@dataclass(frozen=True, eq=False)
class Recording:
    """A motion as blocks of steps and how it ended; `repeat` makes the routine that takes steps again.

    `jumps` holds, by number of blocks before it, each jump of the state between them.
    """

    blocks: tuple[Block, ...]
    run: Run
    repeat: Callable[[], CompiledRoutine]
    parameters: Vector
    jumps: tuple[tuple[int, Landing | Switch], ...] = ()

    @property
    def end(self) -> Vector:
        return self.run.y

    def settings(self, t: float) -> Vector:
        """The parameters as the loop took them at the end."""
        return self.parameters

    def backwards(self) -> Iterator[Block | Landing | Switch]:
        """Blocks with stages, from the last to the first, and the jumps between them."""
        parameters = self.parameters
        for number in range(len(self.blocks), -1, -1):
            for landing in reversed([landing for place, landing in self.jumps if place == number]):
                yield landing
                # Contacts that closed and constraints that were selected live in the parameters: steps are taken again
                # under those of their own time.
                parameters = landing.settings
            if number == 0:
                return
            block = self.blocks[number - 1]
            if block.first is None:
                yield block
                continue
            size = len(block.first)
            rows = np.zeros((len(block), row_width(memory.KEEP_STAGES, size)))
            rows[:, :2] = block.rows
            self.repeat()(len(block), block.first.copy(), parameters, rows.reshape(-1))
            yield Block(rows)


def record(
    loop: Integrator,
    repeat: Callable[[], CompiledRoutine],
    problem: Problem,
    most_bytes: float,
    jumps: Discontinuities | None = None,
) -> Recording:
    """The motion with everything needed to go back through it, in about that much memory; `problem` keeps stages."""
    begin = perf_counter()
    running = jumps.along(problem.parameters) if jumps is not None else None
    work = Memory.of(problem)
    work.motion.watches_stiffness = loop.when_stiff is not None
    work.motion.can_select = problem.reselect is not None
    blocks: list[Block] = []
    landed: list[tuple[int, Landing | Switch]] = []
    notes: list[str] = []
    answer = memory.PAUSED
    if problem.struck and running is not None:
        work.strike(problem.struck)
        running.apply(work)
        landed += [(0, landing) for landing in running.landings]
    while answer in (memory.PAUSED, memory.STIFFENED, memory.RESELECT) and work.attempts < problem.max_steps:
        if answer == memory.RESELECT and problem.reselect is not None:
            # The state goes on, but the way back needs the constraints that were selected before.
            landed.append((len(blocks), Switch(problem.parameters.copy())))
            problem.reselect(work.time, work.y)
        if answer == memory.STIFFENED and loop.when_stiff is not None:
            loop = loop.when_stiff()
            notes.append(f"Stiff from t = {work.time:.6g} s on: {loop.method} took over there.")
        if blocks:
            # The last block keeps the rows that the loop wrote, without a copy: the loop gets new ones.
            work.output.rows = np.empty_like(work.output.rows)
        work.kept_rows.clear()
        work.make_room(min(work.attempts + FIRST_ROOM, problem.max_steps))
        answer = loop.call(work, problem)
        if work.output.row:
            blocks.append(_block(work.rows, loop, len(work.y)))
            _thin(blocks, most_bytes)
        if answer == memory.STOPPED and running is not None:
            work.take_over()
            known = len(running.landings)
            running.apply(work)
            landed += [(len(blocks), landing) for landing in running.landings[known:]]
            answer = memory.PAUSED
    empty, statistics = np.empty((0, 0)), statistics_of(loop, work.motion, perf_counter() - begin)
    worst = int(work.motion.worst)
    run = Run(answer, work.time, work.y, empty, empty, empty, worst, statistics, notes=tuple(notes))
    return Recording(tuple(blocks), run, repeat, problem.parameters, tuple(landed))


def _block(rows: Vector, loop: Integrator, size: int) -> Block:
    """What the loop wrote; of implicit steps the derivative at their start and their stages are worth keeping."""
    if loop.method not in IMPLICIT_STAGES:
        return Block(rows)
    return Block(rows[:, : implicit_width(loop.method, size)].copy(), method=loop.method)


def implicit_width(method: str, size: int) -> int:
    """Numbers that are kept of an implicit step."""
    return 2 + (2 + IMPLICIT_STAGES[method]) * size


def _thin(blocks: list[Block], most_bytes: float) -> None:
    """Takes the stages from the first blocks until the rest fits."""
    # The first blocks give up their stages: the way back begins with the last ones.
    kept = sum(block.rows.nbytes for block in blocks)
    for k, block in enumerate(blocks):
        if kept <= most_bytes:
            return
        blocks[k] = block.checkpoint
        kept -= block.rows.nbytes - blocks[k].rows.nbytes
