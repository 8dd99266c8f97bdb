"""The plan of a study of a billion points: costs measured here, and a simulation of clusters that have them.

Run: python benchmarks/cluster_plan.py [POINTS]
Measures the time of a motion, what a point takes in the store, the time of writing a chunk, and what a task costs the
scheduler of dask; then simulates 1, 10 and 1000 workers event by event. Workers compute chunks; the scheduler hands out
one task after the other; the client receives and writes one chunk after the other and asks for the next.
What is not simulated: workers that die or share a network, and a file system slower than this disk.
"""

from __future__ import annotations

import heapq
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from torseur.analysis.studies import read_study
from torseur.analysis.studies.sweeps.evaluation import Evaluator, Results
from torseur.analysis.studies.sweeps.result_store import open_store
from torseur.analysis.studies.sweeps.worker_pool import AHEAD

STUDY = """
mechanism = "library:double_pendulum"
until = "10 s"
rtol = 1e-6
[vary]
m1 = { uniform = ["3 kg", "5 kg"] }
l2 = { uniform = ["1.5 m", "2.5 m"] }
[design]
kind = "sobol"
count = 4000000
[criteria]
q1_end = "q1"
q2_end = "q2"
"""


@dataclass(frozen=True)
class Costs:
    """Seconds of a motion on one core, bytes of a point in the store, seconds of writing a chunk (per chunk and per
    point) and of finishing it, and seconds of the scheduler per task.
    """

    motion: float
    bytes_a_point: float
    write: float
    write_a_point: float
    finish: float
    task: float


@dataclass(frozen=True)
class Simulated:
    """Seconds until everything is stored, and the parts of it that workers compute and the client writes."""

    seconds: float
    workers_busy: float
    client_busy: float


def simulate(chunks: int, workers: int, chunk_seconds: float, write_seconds: float, task_seconds: float,
             spread: float = 0.1, seed: int = 0) -> Simulated:  # fmt: skip
    """A sweep event by event; chunks take chunk_seconds with a relative spread."""
    random = np.random.default_rng(seed)
    lengths = iter(chunk_seconds * np.maximum(random.normal(1.0, spread, chunks), 0.1))
    events: list[tuple[float, int, str]] = []
    waiting, idle, finished = deque[int](), workers, deque[int]()
    submitted = done = 0
    scheduler_free = client_free = now = computed = 0.0
    client_works = False

    def submit(count: int) -> None:
        nonlocal submitted, scheduler_free
        for _ in range(min(count, chunks - submitted)):
            scheduler_free = max(scheduler_free, now) + task_seconds
            heapq.heappush(events, (scheduler_free, submitted, "handed out"))
            submitted += 1

    submit(AHEAD * workers)
    while done < chunks:
        now, chunk, what = heapq.heappop(events)
        if what == "handed out":
            waiting.append(chunk)
        elif what == "computed":
            idle += 1
            finished.append(chunk)
        else:
            client_works = False
            done += 1
        while idle and waiting:
            length = float(next(lengths))
            computed += length
            idle -= 1
            heapq.heappush(events, (now + length, waiting.popleft(), "computed"))
        if finished and not client_works:
            client_works = True
            submit(1)
            heapq.heappush(events, (now + write_seconds, finished.popleft(), "written"))
            client_free += write_seconds
    return Simulated(now, computed / (workers * now), client_free / now)


def measured(points: int = 40_000) -> Costs:
    """The costs on this machine."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.toml"
        path.write_text(STUDY)
        evaluator = Evaluator(read_study(path))
        rows = evaluator.study.points(0, points)
        evaluator(rows[:100])
        motion = min(_processor_time(evaluator, rows) for _ in range(3)) / points
        small, large = points // 2, 10 * points
        (first, _, _), (second, finish, stored) = (_written(evaluator, Path(folder), size) for size in (small, large))
        each = max((second - first) / (large - small), 0.0)
        return Costs(motion, stored, max(first - each * small, 0.0), each, finish, task_cost())


def _processor_time(action: Evaluator, rows: np.ndarray) -> float:
    """Seconds of this process alone, however busy the machine is."""
    begin = time.process_time()
    action(rows)
    return time.process_time() - begin


def _written(evaluator: Evaluator, folder: Path, size: int) -> tuple[float, float, float]:
    """Seconds of writing a chunk and of finishing it, the best of five, and bytes of a point."""
    study = evaluator.study
    store = open_store(folder / f"{size}.zarr", study, evaluator.columns, [], size)
    values = np.random.default_rng(0).normal(size=(size, len(evaluator.columns)))
    found, rows, taken, ended = Results(values, np.empty((size, 0, 0)), {}), study.points(0, size), [], []
    for number in range(min(5, study.size // size)):
        begin = time.perf_counter()
        store.write_numbers(number, rows, found)
        written = time.perf_counter()
        store.finish(number, {})
        taken.append(written - begin)
        ended.append(time.perf_counter() - written)
    bytes_stored = sum(file.stat().st_size for file in store.path.glob("*/c/*"))
    return min(taken), min(ended), bytes_stored / (len(taken) * size)


def task_cost(tasks: int = 400) -> float:
    """Seconds that one small task takes from the client through dask's scheduler and back, when many are under way."""
    import distributed

    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None, "processes": False}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        client.gather(client.map(abs, range(20), pure=False))
        begin = time.process_time()
        client.gather(client.map(abs, range(tasks), pure=False))
        return (time.process_time() - begin) / tasks


def plan(points: int, costs: Costs, workers: int, chunk: int, shared: bool = False) -> Simulated:
    """A study on a cluster; shared: workers write the numbers of their chunks themselves."""
    write, compute = costs.write + chunk * costs.write_a_point, chunk * costs.motion
    if shared:
        return simulate(-(-points // chunk), workers, compute + write, costs.finish, costs.task)
    return simulate(-(-points // chunk), workers, compute, write + costs.finish, costs.task)


def words(seconds: float) -> str:
    units = (("days", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0))
    name, size = next(((name, size) for name, size in units if seconds >= 2 * size), units[-1])
    return f"{seconds / size:.1f} {name}"


def main() -> None:
    points = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000_000
    costs = measured()
    print(f"a motion takes {1e6 * costs.motion:.1f} µs of a core, a point {costs.bytes_a_point:.1f} bytes of store: "
          f"{points * costs.bytes_a_point / 1e9:.1f} GB in all")  # fmt: skip
    print(f"a chunk takes {1e3 * costs.write:.1f} ms and {1e9 * costs.write_a_point:.0f} ns a point to write, "
          f"{1e3 * costs.finish:.1f} ms to finish; a task {1e3 * costs.task:.2f} ms of the scheduler")  # fmt: skip
    print(f"{points:.3g} points in chunks of a million, written by the client or by the workers (shared):")
    for workers in (1, 10, 1000):
        for shared in (False, True):
            found = plan(points, costs, workers, 1_000_000, shared)
            by = "workers" if shared else "client"
            print(
                f"{workers:6d} workers, written by the {by}: {words(found.seconds):>9}, "
                f"workers busy {100 * found.workers_busy:4.1f} %, client {100 * found.client_busy:4.1f} %"
            )


if __name__ == "__main__":
    main()
