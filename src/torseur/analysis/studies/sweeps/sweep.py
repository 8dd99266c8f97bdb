"""`sweep`: every point of a study, on all cores or on a cluster, into a store."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torseur.analysis.studies.definition.study import SweepStudy
from torseur.analysis.studies.definition.study_file import check_backend, read_study
from torseur.analysis.studies.sweeps.evaluation import Evaluator
from torseur.analysis.studies.sweeps.result_store import Store, check_store, is_store, lock, open_store
from torseur.analysis.studies.sweeps.store_seals import Damage
from torseur.analysis.studies.sweeps.worker_pool import AHEAD, Chunk, Pool
from torseur.display import Displayed
from torseur.edges.arguments import explain_methods
from torseur.edges.budgets import NUMBER, require_disk, require_memory
from torseur.edges.processes import available_cores

CHUNK_SECONDS = 2.0
MOST_IN_CHUNK, LEAST_IN_CHUNK = 1_000_000, 16
MOST_NUMBERS = 16_000_000  # kept of a chunk, outputs included: what a worker holds and sends at once
SAMPLE_SECONDS = 0.2

Progress = Callable[[int, int], None]
"""Is called with the points done and all points."""


@explain_methods
@dataclass(frozen=True, repr=False)
class SweepRun(Displayed):
    """What a sweep did: where the results are, how many points this run computed, in what time, and by whom."""

    store: Store
    computed: int
    seconds: float
    workers: str
    damage: tuple[Damage, ...] = ()
    """What the store held that was not as it had been written; it is computed again."""

    def __repr__(self) -> str:
        done = f"{self.computed} computed in {self.seconds:.3g} s"
        return f"SweepRun: {self.store.size} points in '{self.store.path.name}', {done}"

    @property
    def rate(self) -> float:
        return self.computed / self.seconds if self.seconds > 0 else 0.0


def sweep(
    study: SweepStudy | str | Path,
    store: str | Path | None = None,
    *,
    cores: int | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    shared: bool = False,
    backend: str | None = None,
    progress: Progress | None = None,
) -> SweepRun:
    """All points of a study, into a zarr store beside its file (or `store`); what is stored already is not computed.

    cores      of this machine to use; all by default
    workers    of a local dask cluster instead
    scheduler  address of a dask scheduler instead
    shared     workers reach the store under its path and write their chunks themselves; else this process writes all
    backend    "cpu" or "cuda", in place of what the study says
    """
    study = study if isinstance(study, SweepStudy) else read_study(study)
    study = study if backend is None else study.on(check_backend(backend, "sweep"))
    path = Path(store) if store is not None else study.path.with_suffix(".zarr")
    with lock(path):
        evaluator = Evaluator(study)
        units = [output.unit for output in evaluator.outputs]
        _require_room(path, evaluator)
        chunk = study.chunk or (0 if is_store(path) else _chunk_for(evaluator))
        results = open_store(path, study, evaluator.columns, units, chunk)
        pool = Pool(evaluator, cores, workers, scheduler, path if shared else None)
        return _fill(results, pool, progress)


def check_sweep(study: SweepStudy | str | Path, store: str | Path | None = None) -> tuple[Damage, ...]:
    """What in the store of a study is not as it was written, by the checksums; nothing is computed or changed."""
    study = study if isinstance(study, SweepStudy) else read_study(study)
    return check_store(Path(store) if store is not None else study.path.with_suffix(".zarr"), study)


def _numbers_a_point(evaluator: Evaluator) -> int:
    study = evaluator.study
    return len(evaluator.columns) + len(study.all_axes) + len(study.outputs) * len(study.samples)


def _require_room(path: Path, evaluator: Evaluator) -> None:
    """Refuses, before anything is computed, a store larger than its disk and chunks larger than memory."""
    study, each = evaluator.study, NUMBER * _numbers_a_point(evaluator)
    if not is_store(path):
        require_disk(path, study.size * each, f"'{study.path}': a store of {study.size} points")
    require_memory(min(study.chunk, study.size), AHEAD * each, f"'{study.path}': chunk = {study.chunk}")


def _chunk_for(evaluator: Evaluator) -> int:
    """Points that take about two seconds, from the time of the first few."""
    study = evaluator.study
    # The first call compiles; it must not count.
    evaluator(study.points(0, 1))
    count, seconds = min(8, study.size), 0.0
    while True:
        sample = study.points(0, count)
        begin = time.perf_counter()
        evaluator(sample)
        seconds = time.perf_counter() - begin
        if seconds > SAMPLE_SECONDS or count == study.size:
            break
        count = min(8 * count, study.size)
    # At least four chunks per core, so that the last one does not keep the others waiting.
    fair = -(-study.size // (4 * available_cores()))
    most = min(MOST_IN_CHUNK, max(MOST_NUMBERS // _numbers_a_point(evaluator), 1), max(fair, LEAST_IN_CHUNK))
    return int(min(max(CHUNK_SECONDS * count / max(seconds, 1e-9), LEAST_IN_CHUNK), most))


def _fill(store: Store, pool: Pool, progress: Progress | None) -> SweepRun:
    begin, computed = time.perf_counter(), 0
    todo = [Chunk(k, store.rows(k).start, store.rows(k).stop) for k in store.missing()]
    done = store.size - sum(chunk.stop - chunk.start for chunk in todo)
    if progress is not None:
        progress(done, store.size)
    for chunk in pool.results(todo):
        if not chunk.is_written:
            store.write_numbers(chunk.number, chunk.points, chunk.results)
        store.finish(chunk.number, chunk.results.failures)
        rows = store.rows(chunk.number)
        computed += rows.stop - rows.start
        if progress is not None:
            progress(done + computed, store.size)
    return SweepRun(store, computed, time.perf_counter() - begin, pool.words, store.damage)
