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

from torseur.studies import read_study
from torseur.studies.evaluation import Evaluator
from torseur.studies.pool import AHEAD
from torseur.studies.store import open_store

STUDY = """
mechanism = "library:double_pendulum"
until = "10 s"
rtol = 1e-6
[vary]
m1 = { uniform = ["3 kg", "5 kg"] }
l2 = { uniform = ["1.5 m", "2.5 m"] }
[design]
kind = "sobol"
count = 1000000
[criteria]
q1_end = "q1"
q2_end = "q2"
"""


@dataclass(frozen=True)
class Costs:
    """Seconds of a motion on one core, bytes of a point in the store, seconds of writing a chunk (per chunk and per
    point), and seconds of the scheduler per task.
    """

    motion: float
    bytes_a_point: float
    write: float
    write_a_point: float
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
        study = read_study(path)
        evaluator = Evaluator(study)
        rows = study.points(0, points)
        evaluator(rows[:16])
        begin = time.process_time()  # of this process alone, however busy the machine is
        found = evaluator(rows)
        motion = (time.process_time() - begin) / points
        writes = {}
        for size in (points // 20, points):
            store = open_store(Path(folder) / f"{size}.zarr", study, evaluator.columns, [], size)
            part = type(found)(found.values[:size], found.outputs[:size], {})
            taken = []
            for number in range(3):
                begin = time.perf_counter()
                store.write(number, rows[:size], part)
                taken.append(time.perf_counter() - begin)
            writes[size] = min(taken)
        stored = sum(file.stat().st_size for file in store.path.glob("*/c/*")) / (3 * points)
        small, large = points // 20, points
        each = max((writes[large] - writes[small]) / (large - small), 0.0)
        return Costs(motion, stored, max(writes[small] - each * small, 0.0), each, task_cost())


def task_cost(tasks: int = 400) -> float:
    """Seconds that one small task takes from the client through dask's scheduler and back, when many are under way."""
    import distributed

    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None, "processes": False}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        client.gather(client.map(abs, range(20), pure=False))
        begin = time.process_time()
        client.gather(client.map(abs, range(tasks), pure=False))
        return (time.process_time() - begin) / tasks


def plan(points: int, costs: Costs, workers: int, chunk: int) -> Simulated:
    """A study on a cluster."""
    write = costs.write + chunk * costs.write_a_point
    return simulate(-(-points // chunk), workers, chunk * costs.motion, write, costs.task)


def words(seconds: float) -> str:
    units = (("days", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0))
    name, size = next(((name, size) for name, size in units if seconds >= 2 * size), units[-1])
    return f"{seconds / size:.1f} {name}"


def main() -> None:
    points = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000_000
    costs = measured()
    print(f"a motion takes {1e6 * costs.motion:.1f} µs of a core, a point {costs.bytes_a_point:.1f} bytes of store: "
          f"{points * costs.bytes_a_point / 1e9:.1f} GB in all")  # fmt: skip
    print(f"a chunk takes {1e3 * costs.write:.1f} ms and {1e9 * costs.write_a_point:.0f} ns a point to write; a task "
          f"{1e3 * costs.task:.2f} ms of the scheduler")  # fmt: skip
    print(f"{points:.3g} points:")
    for workers in (1, 10, 1000):
        for chunk in (200_000, 1_000_000):
            found = plan(points, costs, workers, chunk)
            print(f"{workers:6d} workers, chunks of {chunk:9,d}: {words(found.seconds):>9}, workers busy "
                  f"{100 * found.workers_busy:5.1f} %, client {100 * found.client_busy:5.1f} %")  # fmt: skip


if __name__ == "__main__":
    main()
