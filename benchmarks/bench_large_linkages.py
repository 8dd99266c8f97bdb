"""Rows of four-bar linkages that share their uprights: what stages and evaluations cost, over the number of loops.

Run: python benchmarks/bench_large_linkages.py [number of loops ...] [--plot file.svg] [--peers | --generated]

Stages are timed once, cold except for what is kept on disk between runs; evaluations (accelerations, with the
projections of their steps) as the best of several motions of a second. The energy of each motion is checked before its
time is printed. Times say nothing about other mechanisms: nets of spatial loops are solved with full matrices.

`--generated` times the generated function of accelerations (constrained_forward_dynamics) called from Python, some 8 µs
of which are the call, after a comparison with the equation of the row in closed form.

`--peers` times the motion of half a second instead, by Exudyn, MuJoCo and torseur in one run at equal error: each takes
more and more steps, or smaller tolerances, until the angle of the row is within 1e-6 rad of a single equation in closed
form; the time of that motion counts, the best of three. Setting up is not in it, on any side. Times of peers are those
of the processor, which other programs on the machine do not lengthen; torseur's are by the clock.
"""

from __future__ import annotations

import sys
import time
import timeit
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from peers import linkage_rows
from peers.linkage_rows import Run

import torseur as ts
from torseur.computation.simulation.model.motion_programs import MechanismPrograms
from torseur.derivation.equations import motion_values
from torseur.description.library.chains import four_bar_chain

T = TypeVar("T")
LOOPS = (1, 2, 5, 10, 20, 40, 100, 200)
REPETITIONS = 5
ERROR = 1e-6  # rad, of the angle at the end of a motion beside peers
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


def plot(file: Path, loops: list[int], times: dict[str, list[float]], what: str) -> None:
    """Times over the number of loops, both in powers of ten."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4))
    for name, own in times.items():
        axes.loglog(loops, own, "o-", label=name)
    last = times["torseur"][-1]
    axes.loglog(loops, last * np.array(loops) / loops[-1], ":", color="grey", label="proportional to loops")
    axes.set(xlabel="loops", ylabel=what)
    axes.grid(which="both", alpha=0.2)
    axes.legend()
    figure.tight_layout()
    figure.savefig(file)


def generated(numbers: list[int], file: Path | None) -> None:
    """A line per number of loops for the generated function of accelerations, and a plot."""
    times = []
    for loops in numbers:
        begin = time.process_time()
        equations = ts.derive(ts.build_tree(four_bar_chain(loops)), "recursive")
        kernel = ts.compile(equations, ["constrained_forward_dynamics"])
        made = time.process_time() - begin
        names = list(equations.layout.coordinate_names)
        upright, angle = np.array([name.startswith("a") for name in names]), 1.2
        given = {"p": np.array(list(motion_values(equations, {}).values()), float), "t": np.zeros(1),
                 "tau": np.zeros(len(names)), "q": np.where(upright, angle, -angle),
                 "v": np.where(upright, -1.0, 1.0)}  # fmt: skip
        inputs = [given[group.name] for group in kernel.program.inputs]
        found = kernel(*inputs)["vdot"][names.index("a0")]
        error = abs(found / linkage_rows.exact_acceleration(loops, angle) - 1)
        assert error < ERROR, f"{loops} loops: an acceleration is wrong by {error:.1e}"
        times.append(1e6 * min(timeit.repeat(partial(kernel.function, *inputs), number=20, repeat=30)) / 20)
        count = len(kernel.program.operations)
        print(
            f"{loops:5d} loops: {times[-1]:8.2f} µs, {count} operations, made in {made:.1f} s of processor", flush=True
        )
    if file is not None:
        plot(file, numbers, {"torseur": times}, "µs per evaluation, called from Python")


def in_torseur(loops: int) -> Iterator[Callable[[], Run]]:
    """Motions with smaller and smaller tolerances."""
    equations = ts.derive(ts.build_tree(four_bar_chain(loops)), "recursive")
    for rtol in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9):

        def run(rtol: float = rtol) -> Run:
            motion = ts.simulate(equations, until=linkage_rows.UNTIL, samples=2, rtol=rtol)
            return Run(float(motion["a0"][-1]), motion.statistics.wall_time)

        yield run


ENGINES = {"torseur": in_torseur, "Exudyn": linkage_rows.in_exudyn, "MuJoCo": linkage_rows.in_mujoco}


def at_equal_error(engine: Callable[[int], Iterator[Callable[[], Run]]], loops: int) -> tuple[float, float]:
    """Seconds of the cheapest motion that is within the error, and its error; no number where none is."""
    exact, error = linkage_rows.exact_angle(loops), float("inf")
    for run in engine(loops):
        first = run()
        error = abs(first.angle - exact)
        if error < ERROR:
            return min(first.seconds, run().seconds, run().seconds), error
    return float("nan"), error


def beside_peers(numbers: list[int], file: Path | None) -> None:
    """A line per number of loops with the times of all engines."""
    times: dict[str, list[float]] = {name: [] for name in ENGINES}
    print(f"milliseconds of a motion of {linkage_rows.UNTIL} s to within {ERROR:.0e} rad (error)")
    for loops in numbers:
        cells = []
        for name, engine in ENGINES.items():
            seconds, error = at_equal_error(engine, loops)
            times[name].append(seconds)
            cells.append(f"{name} {1e3 * seconds:8.3f} ({error:.0e})")
        print(f"{loops:5d} loops: {'; '.join(cells)}", flush=True)
    if file is not None:
        milliseconds = {name: [1e3 * s for s in own] for name, own in times.items()}
        plot(file, numbers, milliseconds, "ms per motion at equal error")


def main(arguments: list[str]) -> None:
    """Prints a line per number of loops, and draws them."""
    file = Path(arguments[arguments.index("--plot") + 1]) if "--plot" in arguments else None
    numbers = [int(a) for a in arguments if a.isdigit()] or list(LOOPS)
    if "--peers" in arguments:
        beside_peers(numbers, file)
        return
    if "--generated" in arguments:
        generated(numbers, file)
        return
    times = []
    for loops in numbers:
        stages, operations, microseconds = measure(loops)
        times.append(microseconds)
        listing = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in stages.seconds.items())
        print(f"{loops:5d} loops: {microseconds:8.2f} µs, {operations} operations; s: {listing}", flush=True)
    if file is not None:
        plot(file, numbers, {"torseur": times}, "µs per evaluation")


if __name__ == "__main__":
    main(sys.argv[1:])
