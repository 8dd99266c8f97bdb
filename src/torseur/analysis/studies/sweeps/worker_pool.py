"""Who computes the chunks of a sweep: threads over compiled motions, processes, or the workers of a dask cluster."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from torseur.analysis.studies.definition.axes import Vector
from torseur.analysis.studies.definition.study import SweepStudy
from torseur.analysis.studies.sweeps.evaluation import Evaluator, Results
from torseur.analysis.studies.sweeps.result_store import Store, shared_store
from torseur.edges.processes import available_cores, end_with_parent
from torseur.errors import TorseurError
from torseur.extras import install_command

TRIES = 3
CONNECT_SECONDS = 10
AHEAD = 3  # chunks per core that wait for their turn; more would only fill memory


class Chunk(NamedTuple):
    """The points of a study from `start` on to before `stop`."""

    number: int
    start: int
    stop: int


class FinishedChunk(NamedTuple):
    """A chunk with its points and results; without numbers where a worker wrote them to the store."""

    number: int
    points: Vector
    results: Results
    is_written: bool = False


def evaluate_chunk(study: bytes, chunk: Chunk, store: str | None = None) -> FinishedChunk:
    """Runs in a worker: the study arrives pickled and is made ready once; points are made where they are used.

    With the path of a store the worker writes the numbers, and only what failed goes back.
    """
    evaluator = _evaluator(study)
    done = _compute(evaluator, chunk)
    if store is None:
        return done
    _store(study, store).write_numbers(chunk.number, done.points, done.results)
    nothing = np.empty((0, 0))
    return FinishedChunk(chunk.number, nothing, Results(nothing, nothing, done.results.failures), True)


@lru_cache(maxsize=2)
def _store(study: bytes, path: str) -> Store:
    evaluator = _evaluator(study)
    return shared_store(Path(path), evaluator.study, evaluator.columns)


@lru_cache(maxsize=2)
def _evaluator(study: bytes) -> Evaluator:
    return Evaluator(pickle.loads(study))


def _compute(evaluator: Evaluator, chunk: Chunk) -> FinishedChunk:
    points = evaluator.study.points(chunk.start, chunk.stop)
    return FinishedChunk(chunk.number, points, evaluator(points))


@dataclass(frozen=True)
class Pool:
    """Workers of one kind; those that die are replaced and their chunks computed again."""

    evaluator: Evaluator
    cores: int | None = None
    workers: int | None = None
    scheduler: str | None = None
    shared: Path | None = None
    """Where workers find the store, if they write to it themselves."""

    @property
    def _store(self) -> str | None:
        return None if self.shared is None else str(self.shared.resolve())

    @property
    def study(self) -> SweepStudy:
        return self.evaluator.study

    @property
    def words(self) -> str:
        """Who works, and why."""
        count = self.cores or available_cores()
        if self.scheduler is not None:
            return f"the dask cluster at {self.scheduler}"
        if self.workers is not None:
            return f"{self.workers} dask workers"
        if self.evaluator.is_on_device:
            return "a GPU"
        if not self.evaluator.leaves_many:
            return f"{count} threads, compiled"
        reason = self.evaluator.reason or "many of its motions are stiff or fail"
        return f"{count} processes, motion by motion: {reason}"

    def results(self, chunks: Sequence[Chunk]) -> Iterator[FinishedChunk]:
        """Chunks as they are done."""
        if not chunks:
            return iter(())
        if self.scheduler is not None or self.workers is not None:
            return self._by_dask(chunks)
        count = min(self.cores or available_cores(), len(chunks))
        if count == 1 or self.evaluator.is_on_device:
            return (_compute(self.evaluator, chunk) for chunk in chunks)
        return self._by_processes(chunks, count) if self.evaluator.leaves_many else self._by_threads(chunks, count)

    def _by_threads(self, chunks: Sequence[Chunk], count: int) -> Iterator[FinishedChunk]:
        """Compiled code runs without holding Python back."""
        self.evaluator.batch.compile()  # once, before anybody needs it
        with ThreadPoolExecutor(count) as pool:
            yield from _flow(pool, lambda chunk: (_compute, self.evaluator, chunk), chunks, count)

    def _by_processes(self, chunks: Sequence[Chunk], count: int) -> Iterator[FinishedChunk]:
        return _until_all(chunks, lambda waiting: self._round(waiting, min(count, len(waiting))))

    def _round(self, chunks: Sequence[Chunk], count: int) -> Iterator[FinishedChunk]:
        """Results until all are there or a worker dies."""
        packed = pickle.dumps(self.study)
        with ProcessPoolExecutor(count, get_context("spawn"), end_with_parent) as pool:
            try:
                yield from _flow(pool, lambda chunk: (evaluate_chunk, packed, chunk, self._store), chunks, count)
            except BrokenProcessPool:
                return

    def _by_dask(self, chunks: Sequence[Chunk]) -> Iterator[FinishedChunk]:
        try:
            import distributed
        except ImportError:
            raise TorseurError(f"clusters need dask: {install_command('sweep')}.") from None
        dask: Any = distributed
        cluster = None
        try:
            if self.scheduler is None:
                cluster = dask.LocalCluster(n_workers=self.workers, threads_per_worker=1, dashboard_address=None)
            with _client(dask, cluster, self.scheduler) as client:
                packed = pickle.dumps(self.study)
                yield from _until_all(chunks, lambda waiting: _from_dask(dask, client, packed, waiting, self._store))
        finally:
            if cluster is not None:
                cluster.close()


def _until_all(
    chunks: Sequence[Chunk], attempt: Callable[[list[Chunk]], Iterator[FinishedChunk]]
) -> Iterator[FinishedChunk]:
    """Results of attempts, each with the chunks that those before lost with their workers."""
    waiting, tries = {chunk.number: chunk for chunk in chunks}, 0
    while waiting:
        before = len(waiting)
        for done in attempt(list(waiting.values())):
            if waiting.pop(done.number, None) is not None:
                yield done
        # Only rounds without any result count: a cluster that loses workers now and then still comes to its end.
        tries = tries + 1 if len(waiting) == before else 0
        if tries >= TRIES:
            raise TorseurError(
                f"the workers died {TRIES} times at chunk {min(waiting)}: is memory short? A script that sweeps has "
                "to do so under `if __name__ == '__main__':`, since workers import it. What was stored is kept."
            )


def _flow(pool: Executor, call: Any, chunks: Sequence[Chunk], count: int) -> Iterator[FinishedChunk]:
    """Results as they come, with a few chunks ahead of the workers."""
    ahead, running = iter(chunks), set[Future[FinishedChunk]]()
    while True:
        for chunk in ahead:
            function, *arguments = call(chunk)
            running.add(pool.submit(function, *arguments))
            if len(running) >= AHEAD * count:
                break
        if not running:
            return
        finished, running = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            yield future.result()


def _client(dask: Any, cluster: Any, scheduler: str | None) -> Any:
    try:
        return dask.Client(cluster if cluster is not None else scheduler, timeout=CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError) as problem:
        raise TorseurError(
            f"there is no dask scheduler at '{scheduler}': {problem}. Start one with 'dask scheduler'."
        ) from problem


def _from_dask(
    dask: Any, client: Any, packed: bytes, chunks: Sequence[Chunk], store: str | None
) -> Iterator[FinishedChunk]:
    """Results from a cluster, with a few chunks ahead of its workers; results are let go once they are here.

    The study travels with every chunk: what is scattered once dies with the workers that hold it, and a chunk that
    needs it could then not be computed again.
    """
    ahead = iter(chunks)
    slots = AHEAD * max(sum(client.nthreads().values()), 1)
    first = [chunk for chunk, _ in zip(ahead, range(slots), strict=False)]
    flow = dask.as_completed([client.submit(evaluate_chunk, packed, chunk, store, pure=False) for chunk in first])
    for future in flow:
        try:
            done = future.result()
        except (dask.KilledWorker, CancelledError):
            continue  # its chunk is still waiting and is tried again
        future.release()
        following = next(ahead, None)
        if following is not None:
            flow.add(client.submit(evaluate_chunk, packed, following, store, pure=False))
        yield done
