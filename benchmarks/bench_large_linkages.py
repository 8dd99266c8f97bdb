"""Rows of four-bar linkages that share their uprights: what stages and evaluations cost, over the number of loops.

Run: python benchmarks/bench_large_linkages.py [number of loops ...] [--plot file.svg]

Stages are timed once, cold except for what is kept on disk between runs; evaluations (accelerations, with the
projections of their steps) as the best of several motions of a second. The energy of each motion is checked before its
time is printed. Times say nothing about other mechanisms: nets of spatial loops are solved with full matrices. No other
engine is timed beside it here: Exudyn and MuJoCo are no dependencies, and their rows of four-bars are not written.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

import torseur as ts
from torseur.computation.simulation.model.motion_programs import MechanismPrograms
from torseur.description.library.chains import four_bar_chain

T = TypeVar("T")
LOOPS = (1, 2, 5, 10, 20, 40, 100, 200)
REPETITIONS = 5
ENERGY = 1e-4  # J, of a motion of a second at rtol 1e-8


@dataclass
class Stages:
    """Seconds by stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    def of(self, stage: str, work: Callable[[], T]) -> T:
        start = time.perf_counter()
        result = work()
        self.seconds[stage] = time.perf_counter() - start
        return result


def measure(loops: int) -> tuple[Stages, int, float]:
    """Stages, operations of an evaluation, and its time in microseconds."""
    stages = Stages()
    mechanism = stages.of("describe", lambda: four_bar_chain(loops))
    tree = stages.of("tree", lambda: ts.build_tree(mechanism))
    equations = ts.derive(tree, "recursive")
    stages.of("derive", lambda: (equations.constraints, equations.bias, equations.loads))
    programs = MechanismPrograms(equations)
    program = stages.of(
        "program", lambda: programs.elimination.eliminated if equations.is_sparse else programs.dynamics
    )
    run = lambda: ts.simulate(equations, until=1, samples=2, rtol=1e-8, outputs=["energy"])  # noqa: E731
    stages.of("first motion", run)
    motions = [stages.of("motion", run) for _ in range(REPETITIONS)]
    assert np.ptp(motions[0]["energy"]) < ENERGY, f"{loops} loops: energy changes by {np.ptp(motions[0]['energy'])} J"
    best = min(m.statistics.wall_time / m.statistics.evaluations for m in motions)
    return stages, len(program.operations), 1e6 * best


def plot(file: Path, loops: list[int], times: list[float]) -> None:
    """The time of an evaluation over the number of loops, both in powers of ten."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4))
    axes.loglog(loops, times, "o-", label="torseur")
    axes.loglog(loops, times[-1] * np.array(loops) / loops[-1], ":", label="proportional to loops")
    axes.set(xlabel="loops", ylabel="µs per evaluation")
    axes.legend()
    figure.savefig(file)


def main(arguments: list[str]) -> None:
    """Prints a line per number of loops, and draws them."""
    file = Path(arguments[arguments.index("--plot") + 1]) if "--plot" in arguments else None
    numbers = [int(a) for a in arguments if a.isdigit()] or list(LOOPS)
    times = []
    for loops in numbers:
        stages, operations, microseconds = measure(loops)
        times.append(microseconds)
        listing = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in stages.seconds.items())
        print(f"{loops:5d} loops: {microseconds:8.2f} µs, {operations} operations; s: {listing}", flush=True)
    if file is not None:
        plot(file, numbers, times)


if __name__ == "__main__":
    main(sys.argv[1:])
