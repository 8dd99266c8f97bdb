"""Motions kept so that one can go back through their steps, in bounded memory.

The slopes of all stages are kept while they fit. Beyond that, blocks of steps keep their times, lengths and first
state only, and are computed again when they are needed, which costs one more simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from torseur.codegen.compiled import CompiledRoutine
from torseur.sensitivity.discontinuities import Discontinuities
from torseur.sensitivity.landing import Landing
from torseur.simulation import memory
from torseur.simulation.dop853 import PIECE_STATE
from torseur.simulation.integrator import FIRST_ROOM, Integrator, Memory, Run, Statistics
from torseur.simulation.problem import Problem
from torseur.simulation.system import Vector
from torseur.simulation.tableau import STAGES


@dataclass(frozen=True, eq=False)
class Block:
    """Steps that follow each other: rows of what was kept of each, or its first state with times and lengths."""

    rows: Vector
    first: Vector | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def checkpoint(self) -> Block:
        """The block without its slopes."""
        if self.first is not None or not len(self.rows):
            return self
        size = (self.rows.shape[1] - PIECE_STATE) // (1 + STAGES)
        return Block(self.rows[:, :PIECE_STATE].copy(), self.rows[0, PIECE_STATE : PIECE_STATE + size].copy())


@dataclass(frozen=True, eq=False)
class Recording:
    """A motion as blocks of steps and how it ended; `repeat` makes the routine that takes steps again.

    `jumps` holds, by number of blocks before it, each jump of the state between them.
    """

    blocks: tuple[Block, ...]
    run: Run
    repeat: Callable[[], CompiledRoutine]
    parameters: Vector
    jumps: tuple[tuple[int, Landing], ...] = ()

    @property
    def end(self) -> Vector:
        return self.run.y

    @property
    def steps(self) -> int:
        return sum(len(block) for block in self.blocks)

    @property
    def checkpoints(self) -> int:
        """Blocks whose slopes were not kept."""
        return sum(block.first is not None for block in self.blocks)

    def backwards(self) -> Iterator[Vector | Landing]:
        """Rows with slopes, from the last block to the first, and the jumps between them."""
        parameters = self.parameters
        for number in range(len(self.blocks), -1, -1):
            for landing in reversed([landing for place, landing in self.jumps if place == number]):
                yield landing
                parameters = landing.settings
            if number == 0:
                return
            block = self.blocks[number - 1]
            if block.first is None:
                yield block.rows
                continue
            size = len(block.first)
            rows = np.zeros((len(block), PIECE_STATE + (1 + STAGES) * size))
            rows[:, :PIECE_STATE] = block.rows
            self.repeat()(len(block), block.first.copy(), parameters, rows.reshape(-1))
            yield rows


def record(
    loop: Integrator,
    repeat: Callable[[], CompiledRoutine],
    problem: Problem,
    most_bytes: float,
    jumps: Discontinuities | None = None,
) -> Recording:
    """The motion with everything needed to go back through it, in about that much memory."""
    begin = perf_counter()
    problem = replace(problem, keep=memory.KEEP_SLOPES)
    running = jumps.along(problem.parameters) if jumps is not None else None
    work = Memory.of(problem)
    blocks: list[Block] = []
    landed: list[tuple[int, Landing]] = []
    answer = memory.PAUSED
    while answer == memory.PAUSED and work.attempts < problem.max_steps:
        if blocks:
            work.rows = np.empty_like(work.rows)
        work.kept_rows.clear()
        work.make_room(min(work.attempts + FIRST_ROOM, problem.max_steps))
        answer = loop.call(work, problem)
        if work.count[memory.ROW]:
            blocks.append(Block(work.rows[: work.count[memory.ROW]]))
            _thin(blocks, most_bytes)
        if answer == memory.STOPPED and running is not None:
            work.take_over()
            known = len(running.landings)
            running.apply(work)
            landed += [(len(blocks), landing) for landing in running.landings[known:]]
            answer = memory.PAUSED
    run = _run(answer, work, loop.backend, perf_counter() - begin)
    return Recording(tuple(blocks), run, repeat, problem.parameters, tuple(landed))


def _thin(blocks: list[Block], most_bytes: float) -> None:
    """Takes the slopes from the first blocks until the rest fits."""
    kept = sum(block.rows.nbytes for block in blocks)
    for k, block in enumerate(blocks):
        if kept <= most_bytes:
            return
        blocks[k] = block.checkpoint
        kept -= block.rows.nbytes - blocks[k].rows.nbytes


def _run(answer: int, work: Memory, backend: str, seconds: float) -> Run:
    count, clock = work.count.tolist(), work.clock.tolist()
    statistics = Statistics(
        steps=count[memory.STEPS],
        rejected=count[memory.REJECTED],
        evaluations=count[memory.EVALUATIONS],
        stiffness=clock[memory.STIFFNESS],
        backend=backend,
        wall_time=seconds,
    )
    empty = np.empty((0, 0))
    return Run(answer, clock[memory.TIME], work.y, empty, empty, empty, count[memory.WORST], statistics)
