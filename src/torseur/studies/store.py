"""Results on disk: a zarr store, written chunk by chunk, that another run goes on with.

A chunk's numbers are written first and its status last, each file whole or not at all: what the status calls done is
there. One run at a time writes to a store; the lock goes away with its process, however that ends.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from torseur.errors import TorseurError
from torseur.studies.axes import Vector
from torseur.studies.evaluation import Evaluated
from torseur.studies.study import SweepStudy

if TYPE_CHECKING:
    import xarray

DONE, FAILED = 1, 2
FAILURES = "failures"
MOST_MESSAGES = 1000


class Store:
    """The store of one study."""

    def __init__(self, path: Path, group: Any, study: SweepStudy, chunk: int) -> None:
        self.path, self.group, self.study, self.chunk = path, group, study, chunk

    @property
    def size(self) -> int:
        return int(self.group["status"].shape[0])

    def missing(self) -> list[int]:
        """Numbers of the chunks that are not done."""
        status = self.group["status"][:]
        starts = range(0, self.size, self.chunk)
        return [k for k, start in enumerate(starts) if not np.all(status[start : start + self.chunk])]

    def rows(self, number: int) -> slice:
        return slice(number * self.chunk, min((number + 1) * self.chunk, self.size))

    def write(self, number: int, found: Evaluated) -> None:
        """A chunk's results: numbers, failures, and last that it is done."""
        rows = self.rows(number)
        with refused(self.path):
            for k, criterion in enumerate(self.study.criteria):
                self.group[criterion.label][rows] = found.values[:, k]
            if found.failures:
                self._write_failures(number, found.failures)
            status = np.full(rows.stop - rows.start, DONE, dtype=np.int8)
            status[list(found.failures)] = FAILED
            self.group["status"][rows] = status

    def _write_failures(self, number: int, failures: dict[int, str]) -> None:
        """Keeps what the first failures said; the status tells of all."""
        start, known = number * self.chunk, self.failures()
        known |= {start + row: message for row, message in failures.items()}
        kept = dict(sorted(known.items())[:MOST_MESSAGES])
        self.group.attrs[FAILURES] = {str(point): message for point, message in kept.items()}

    def failures(self) -> dict[int, str]:
        """What failed points said, by point."""
        return {int(point): text for point, text in self.group.attrs.get(FAILURES, {}).items()}

    def dataset(self) -> xarray.Dataset:
        """The points and criteria as a labelled dataset."""
        import xarray

        return xarray.open_zarr(self.path, consolidated=False).load()


def open_store(path: Path, study: SweepStudy, points: Vector, units: Sequence[str], chunk: int) -> Store:
    """The store of a study, made when it is not there; one of another study is refused."""
    import zarr

    with refused(path):
        if (path / "zarr.json").is_file():
            group = zarr.open_group(path, mode="r+")
            if group.attrs.get("study_digest") != study.digest:
                raise TorseurError(
                    f"'{path}' holds another study, or this one before it was changed. Give another name."
                )
            return Store(path, group, study, int(str(group.attrs["chunk"])))
        return Store(path, _made(path, study, points, units, chunk), study, chunk)


def _made(path: Path, study: SweepStudy, points: Vector, units: Sequence[str], chunk: int) -> Any:
    """A new store, complete before it appears under its name."""
    import zarr

    beside = path.with_name(f".{path.name}.{os.getpid()}")
    shutil.rmtree(beside, ignore_errors=True)
    group = zarr.open_group(beside, mode="w")
    count = len(points)
    common: dict[str, Any] = {"chunks": (chunk,), "dimension_names": ["point"]}
    for k, axis in enumerate(study.axes):
        array = group.create_array(axis.name, data=np.ascontiguousarray(points[:, k]), **common)
        array.attrs.update({"units": axis.unit, "varied": axis.shape})
    for criterion, unit in zip(study.criteria, units, strict=True):
        array = group.create_array(criterion.label, shape=(count,), dtype="f8", fill_value=np.nan, **common)
        array.attrs.update({"units": unit, "kind": criterion.kind, "formula": str(criterion.formula)})
    group.create_array("status", shape=(count,), dtype="i1", fill_value=0, **common)
    group.attrs.update({
        "study": study.path.name, "study_text": study.text, "study_digest": study.digest, "chunk": chunk,
        "mechanism": study.mechanism.name, "design": study.design.kind, "status": "0 to do, 1 done, 2 failed",
    })  # fmt: skip
    os.makedirs(path.parent, exist_ok=True)
    os.replace(beside, path)
    return zarr.open_group(path, mode="r+")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the store for this process alone."""
    with refused(path):
        handle = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise TorseurError(
                f"'{path}' is being written by another sweep. Wait for it, or give another name."
            ) from None
        yield
    finally:
        os.close(handle)


@contextmanager
def refused(path: Path) -> Iterator[None]:
    """Turns what a disk refuses into words; what was stored before stays readable."""
    try:
        yield
    except OSError as problem:
        raise TorseurError(
            f"'{path}': {problem.strerror or problem}. What was stored is kept; run the sweep again to go on."
        ) from problem
