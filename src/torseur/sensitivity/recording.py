"""Motions kept so that one can go back through their steps, in bounded memory.

The slopes of all stages are kept while they fit. Beyond that, blocks of steps keep their times, lengths and first
state only, and are computed again when they are needed, which costs one more simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from torseur.codegen.compiled import CompiledRoutine
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
    """A motion as blocks of steps and how it ended; `repeat` makes the routine that takes steps again."""

    blocks: tuple[Block, ...]
    run: Run
    repeat: Callable[[], CompiledRoutine]
    parameters: Vector

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

    def backwards(self) -> Iterator[Vector]:
        """Rows with slopes, from the last block to the first."""
        for block in reversed(self.blocks):
            if block.first is None:
                yield block.rows
                continue
            size = len(block.first)
            rows = np.zeros((len(block), PIECE_STATE + (1 + STAGES) * size))
            rows[:, :PIECE_STATE] = block.rows
            self.repeat()(len(block), block.first.copy(), self.parameters, rows.reshape(-1))
            yield rows


def record(loop: Integrator, repeat: Callable[[], CompiledRoutine], problem: Problem, most_bytes: float) -> Recording:
    """The motion with everything needed to go back through it, in about that much memory."""
    from time import perf_counter

    begin = perf_counter()
    problem = replace(problem, keep=memory.KEEP_SLOPES)
    work = Memory.of(problem)
    blocks: list[Block] = []
    answer, kept = memory.PAUSED, 0.0
    while answer == memory.PAUSED and work.attempts < problem.max_steps:
        if blocks:
            work.rows = np.empty_like(work.rows)
        work.kept_rows.clear()
        work.make_room(min(work.attempts + FIRST_ROOM, problem.max_steps))
        answer = loop.call(work, problem)
        blocks.append(Block(work.rows[: work.count[memory.ROW]]))
        kept += blocks[-1].rows.nbytes
        for k in range(len(blocks)):
            if kept <= most_bytes:
                break
            before = blocks[k].rows.nbytes
            blocks[k] = blocks[k].checkpoint
            kept -= before - blocks[k].rows.nbytes
    count, clock = work.count.tolist(), work.clock.tolist()
    statistics = Statistics(
        steps=count[memory.STEPS],
        rejected=count[memory.REJECTED],
        evaluations=count[memory.EVALUATIONS],
        stiffness=clock[memory.STIFFNESS],
        backend=loop.backend,
        wall_time=perf_counter() - begin,
    )
    empty = np.empty((0, 0))
    run = Run(answer, clock[memory.TIME], work.y, empty, empty, empty, count[memory.WORST], statistics)
    return Recording(tuple(block for block in blocks if len(block)), run, repeat, problem.parameters)
