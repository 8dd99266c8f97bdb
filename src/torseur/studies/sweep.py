"""`sweep`: every point of a study, on all cores or on a cluster, into a store."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from torseur.errors import TorseurError
from torseur.studies.axes import Vector
from torseur.studies.evaluation import Evaluated, Evaluator
from torseur.studies.store import Store, locked, open_store
from torseur.studies.study import SweepStudy, read_study

CHUNK_SECONDS = 2.0
MOST_IN_CHUNK, LEAST_IN_CHUNK = 20_000, 16
TRIES = 3

Progress = Callable[[int, int], None]
"""Is called with the points done and all points."""


@dataclass(frozen=True)
class Swept:
    """What a sweep did: where the results are, how many points this run computed, and in what time."""

    store: Store
    computed: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.computed / self.seconds if self.seconds > 0 else 0.0


def sweep(
    study: SweepStudy | str | Path,
    store: str | Path | None = None,
    *,
    processes: int | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> Swept:
    """All points of a study, into a zarr store beside its file (or `store`); what is stored already is not computed.

    processes  on this machine; by default one per core
    workers    of a local dask cluster instead
    scheduler  address of a dask scheduler instead
    """
    study = study if isinstance(study, SweepStudy) else read_study(study)
    path = Path(store) if store is not None else study.path.with_suffix(".zarr")
    points = study.design.points(study.axes)
    evaluator = Evaluator(study)
    results = open_store(path, study, points, evaluator.units, study.chunk or _chunk_for(evaluator, points))
    with locked(path):
        return _filled(results, points, _Pool(study, processes, workers, scheduler), progress)


def _chunk_for(evaluator: Evaluator, points: Vector) -> int:
    """Points that take about two seconds, from the time of the first few."""
    evaluator(points[:1])
    begin = time.perf_counter()
    sample = points[: min(len(points), 8)]
    evaluator(sample)
    each = (time.perf_counter() - begin) / len(sample)
    fair = -(-len(points) // (4 * (os.cpu_count() or 1)))
    return int(min(max(CHUNK_SECONDS / max(each, 1e-6), LEAST_IN_CHUNK), MOST_IN_CHUNK, max(fair, LEAST_IN_CHUNK)))


def _filled(store: Store, points: Vector, pool: _Pool, progress: Progress | None) -> Swept:
    begin, computed = time.perf_counter(), 0
    todo = store.missing()
    left = sum(store.rows(k).stop - store.rows(k).start for k in todo)
    done = store.size - left
    for number, found in pool.results([(k, points[store.rows(k)]) for k in todo]):
        store.write(number, found)
        computed += len(found.values)
        if progress is not None:
            progress(done + computed, store.size)
    return Swept(store, computed, time.perf_counter() - begin)


def evaluate_chunk(study: bytes, rows: Vector) -> Evaluated:
    """Runs in a worker: the study arrives pickled and is made ready once."""
    return _evaluator(study)(rows)


@lru_cache(maxsize=2)
def _evaluator(study: bytes) -> Evaluator:
    return Evaluator(pickle.loads(study))


class _Pool:
    """Workers of one kind; those that die are replaced and their chunks computed again."""

    def __init__(self, study: SweepStudy, processes: int | None, workers: int | None, scheduler: str | None) -> None:
        self.study, self.processes, self.workers, self.scheduler = study, processes, workers, scheduler

    def results(self, chunks: Sequence[tuple[int, Vector]]) -> Iterator[tuple[int, Evaluated]]:
        """Chunk numbers and results as they come."""
        if not chunks:
            return iter(())
        if self.scheduler is not None or self.workers is not None:
            return self._by_dask(chunks)
        return self._by_processes(chunks)

    def _by_processes(self, chunks: Sequence[tuple[int, Vector]]) -> Iterator[tuple[int, Evaluated]]:
        count = self.processes or os.cpu_count() or 1
        if count == 1 or len(chunks) == 1:
            evaluator = Evaluator(self.study)
            yield from ((number, evaluator(rows)) for number, rows in chunks)
            return
        waiting, tries = dict(chunks), dict.fromkeys(dict(chunks), 0)
        while waiting:
            for number, found in self._round(waiting, min(count, len(waiting))):
                del waiting[number]
                yield number, found
            for number in waiting:
                tries[number] += 1
                if tries[number] > TRIES:
                    raise TorseurError(
                        f"the workers died {TRIES} times at points {number}: is memory short? What was stored is kept."
                    )

    def _round(self, waiting: dict[int, Vector], count: int) -> Iterator[tuple[int, Evaluated]]:
        """Results until all are there or a worker dies."""
        packed = pickle.dumps(self.study)
        with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
            running: dict[Future[Evaluated], int] = {
                pool.submit(evaluate_chunk, packed, rows): number for number, rows in waiting.items()
            }
            while running:
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    number = running.pop(future)
                    try:
                        yield number, future.result()
                    except BrokenProcessPool:
                        return

    def _by_dask(self, chunks: Sequence[tuple[int, Vector]]) -> Iterator[tuple[int, Evaluated]]:
        try:
            import distributed
        except ImportError:
            raise TorseurError("clusters need dask: pip install 'torseur[sweep]'.") from None
        dask: Any = distributed
        cluster = None
        if self.scheduler is None:
            cluster = dask.LocalCluster(n_workers=self.workers, threads_per_worker=1, dashboard_address=None)
        try:
            with dask.Client(cluster if cluster is not None else self.scheduler) as client:
                packed = client.scatter(pickle.dumps(self.study), broadcast=True)
                futures = {client.submit(evaluate_chunk, packed, rows, pure=False): n for n, rows in chunks}
                for future in dask.as_completed(list(futures)):
                    yield futures[future], future.result()
        finally:
            if cluster is not None:
                cluster.close()
