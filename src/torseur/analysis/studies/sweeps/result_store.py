"""Results on disk: a zarr store, written chunk by chunk, that another run goes on with.

A chunk's numbers are written first, then its status and last its checksums, each file whole or not at all and on the
disk before the next: what the status calls done is there, and what the checksums do not confirm is computed again. One
run at a time writes to a store; the lock goes away with its process, however that ends.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from torseur.analysis.studies.definition.axes import Vector
from torseur.analysis.studies.definition.study import SweepStudy
from torseur.analysis.studies.sweeps.evaluation import Column, Results
from torseur.analysis.studies.sweeps.store_seals import STATUS, Damage, Layout, Seals, all_damage
from torseur.edges.integrity import flush_to_disk
from torseur.edges.processes import lock_file
from torseur.errors import TorseurError
from torseur.extras import install_command

if TYPE_CHECKING:
    import xarray

DONE, FAILED = 1, 2
MOST_MESSAGES = 1000


# Why numbers before status: docs/decisions/0046-numbers-before-status.md.
class Store:
    """The store of one study."""

    def __init__(self, path: Path, group: Any, study: SweepStudy, columns: Sequence[Column], layout: Layout) -> None:
        self.path, self.group, self.study, self.columns, self.layout = path, group, study, tuple(columns), layout
        self.seals = Seals(path)
        self.damage: tuple[Damage, ...] = ()

    @property
    def chunk(self) -> int:
        return self.layout.chunk

    @property
    def size(self) -> int:
        return self.layout.size

    @property
    def chunks(self) -> range:
        return range(-(-self.size // self.chunk))

    def missing(self) -> list[int]:
        """Numbers of the chunks that are not done, or not as they were written; the latter are removed.

        What was damaged is then in `damage`.
        """
        with explain_disk_errors(self.path):
            for number in self.chunks:
                damage = self.seals.damage(number, self.layout.arrays)
                if damage:
                    self.damage += tuple(damage)
                    self.seals.discard(number, self.layout.arrays)
            return [number for number in self.chunks if not self.seals.is_sealed(number)]

    def rows(self, number: int) -> slice:
        return slice(number * self.chunk, min((number + 1) * self.chunk, self.size))

    def write(self, number: int, points: Vector, results: Results) -> None:
        """A chunk's results: numbers, and last that it is done."""
        self.write_numbers(number, points, results)
        self.finish(number, results.failures)

    def write_numbers(self, number: int, points: Vector, results: Results) -> None:
        """The points, criteria and outputs of a chunk; nobody counts on them before it is finished."""
        with explain_disk_errors(self.path):
            for k, axis in enumerate(self.study.all_axes):
                self._store_chunk(axis.name, number, points[:, k])
            for k, column in enumerate(self.columns):
                self._store_chunk(column.label, number, results.values[:, k])
            for k, output in enumerate(self.study.outputs):
                self._store_chunk(output.label, number, results.outputs[:, k])

    def finish(self, number: int, failures: dict[int, str]) -> None:
        """What failed in a chunk, that its numbers are there, and the checksums of all that."""
        rows = self.rows(number)
        status = np.full(rows.stop - rows.start, DONE, dtype=np.int8)
        status[list(failures)] = FAILED
        with explain_disk_errors(self.path):
            self._store_chunk(STATUS, number, status)
            points = {rows.start + row: message for row, message in failures.items()}
            self.seals.write(number, self.layout.arrays, points)

    def _store_chunk(self, name: str, number: int, values: Any) -> None:
        """A chunk of an array, on the disk when this returns: a machine may stop at any time."""
        self.group[name][self.rows(number)] = values
        file = self.seals.file(name, number)
        if file.is_file():
            flush_to_disk(file)

    def failures(self) -> dict[int, str]:
        """What the first failed points said, by point; the status tells of all."""
        said: dict[int, str] = {}
        for number in self.chunks:
            if len(said) < MOST_MESSAGES:
                said |= self.seals.failures(number)
        return dict(list(said.items())[:MOST_MESSAGES])

    def column(self, name: str) -> Any:
        """All values of an axis, a criterion or the status."""
        return np.asarray(self.group[name][:])

    def unit(self, name: str) -> str:
        return str(self.group[name].attrs["units"])

    def dataset(self) -> xarray.Dataset:
        """The points and criteria as a labelled dataset; nan where a chunk is not done, whatever is there of it."""
        import xarray

        dataset = xarray.open_zarr(self.path, consolidated=False).load()
        missing = dataset["status"].values == 0
        for name in [*dataset.data_vars, *dataset.coords]:
            if missing.any() and name not in ("status", "time"):
                dataset[name].values[missing] = np.nan
        return dataset


def open_store(path: Path, study: SweepStudy, columns: Sequence[Column], units: Sequence[str], chunk: int) -> Store:
    """The store of a study, made when it is not there; one of another study is refused. `units` are the outputs'.

    Files that say how to read it and are damaged are written again.
    """
    with explain_disk_errors(path):
        if not is_store(path):
            return _create(path, study, columns, units, chunk)
        layout = Seals(path).layout()
        if layout is None:
            return _lay_out_again(path, study, columns, units, chunk)
        _refuse_other(path, layout.study, study)
        damage = Seals(path).layout_damage(layout)
        Seals(path).restore(layout, damage)
        store = _open(path, study, columns)
        store.damage += tuple(damage)
        return store


def check_store(path: Path, study: SweepStudy) -> tuple[Damage, ...]:
    """What in the store of a study is not as it was written; nothing is changed."""
    if not is_store(path):
        raise TorseurError(f"'{path}': there is no store of this study yet.")
    with lock(path), explain_disk_errors(path):
        layout = Seals(path).layout()
        if layout is None:
            return (Damage(f"{STATUS}/seals/layout", None, "the checksums are missing or damaged"),)
        _refuse_other(path, layout.study, study)
        return tuple(all_damage(Seals(path), layout))


def shared_store(path: Path, study: SweepStudy, columns: Sequence[Column]) -> Store:
    """The store of a study as a worker reaches it, to write the numbers of its chunks."""
    if not is_store(path):
        raise TorseurError(f"a worker does not reach the store '{path}'. Without 'shared' the client writes it.")
    return _open(path, study, columns)


def is_store(path: Path) -> bool:
    return (path / "zarr.json").is_file() or (Seals(path).folder / "layout").is_file()


def _open(path: Path, study: SweepStudy, columns: Sequence[Column]) -> Store:
    layout = Seals(path).layout()
    if layout is None:
        raise TorseurError(f"'{path}' is not a readable store. Give another name.")
    _refuse_other(path, layout.study, study)
    return Store(path, _zarr().open_group(path, mode="r+"), study, columns, layout)


def _refuse_other(path: Path, digest: object, study: SweepStudy) -> None:
    if digest != study.digest:
        raise TorseurError(f"'{path}' holds another study, or this one before it was changed. Give another name.")


def _zarr() -> Any:
    try:
        import zarr
    except ImportError:
        raise TorseurError(f"sweeps keep their results with zarr: {install_command('sweep')}.") from None
    return zarr


def _create(path: Path, study: SweepStudy, columns: Sequence[Column], units: Sequence[str], chunk: int) -> Store:
    """A new store, complete before it appears under its name."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        os.makedirs(path.parent, exist_ok=True)
        shutil.rmtree(beside, ignore_errors=True)
        _lay_out(_zarr().open_group(beside, mode="w"), study, columns, units, chunk)
        Seals(beside).write_layout(study.digest, chunk, study.size)
        os.replace(beside, path)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return _open(path, study, columns)


def _lay_out_again(path: Path, study: SweepStudy, columns: Sequence[Column], units: Sequence[str], chunk: int) -> Store:
    """A store whose checksums are lost, from its beginning: nothing in it can be told from damage."""
    try:
        attributes = json.loads((path / "zarr.json").read_bytes())["attributes"]
        digest, chunk = attributes["study_digest"], chunk or int(attributes["chunk"])
    except (ValueError, KeyError, TypeError, OSError, RecursionError) as problem:
        raise TorseurError(f"'{path}' is not a readable store. Give another name.") from problem
    _refuse_other(path, digest, study)
    # The old one goes away only when the new one is complete.
    aside = path.with_name(f".{path.name}.{os.getpid()}.lost")
    os.replace(path, aside)
    try:
        store = _create(path, study, columns, units, chunk)
    except BaseException:
        os.replace(aside, path)
        raise
    shutil.rmtree(aside, ignore_errors=True)
    store.damage += (Damage(f"{STATUS}/seals/layout", None, "damaged checksums; all points are computed again"),)
    return store


def _lay_out(group: Any, study: SweepStudy, columns: Sequence[Column], units: Sequence[str], chunk: int) -> None:
    """The empty arrays of a study; what varies are coordinates of the points."""
    count = study.size
    common: dict[str, Any] = {"shape": (count,), "chunks": (chunk,), "dimension_names": ["point"]}
    empty: dict[str, Any] = {"dtype": "f8", "fill_value": np.nan}
    for axis in study.all_axes:
        role = "operating point" if axis in study.operating.axes else "design"
        array = group.create_array(axis.name, **common, **empty)
        array.attrs.update({"units": axis.unit, "varied": axis.shape, "role": role})
    for column in columns:
        array = group.create_array(column.label, **common, **empty)
        array.attrs.update({"units": column.unit, "kind": column.kind, "formula": column.formula})
    if study.outputs:
        _lay_out_outputs(group, study, units, chunk)
    group.create_array(STATUS, dtype="i1", fill_value=0, **common)
    group.attrs.update({
        "study": study.path.name, "study_text": study.text, "study_digest": study.digest, "chunk": chunk,
        "mechanism": study.name, "design": study.design.kind, "operating_points": list(study.operating.names),
        "status": "0 to do, 1 done, 2 failed", "coordinates": " ".join(axis.name for axis in study.all_axes),
    })  # fmt: skip


def _lay_out_outputs(group: Any, study: SweepStudy, units: Sequence[str], chunk: int) -> None:
    times = group.create_array("time", data=np.array(study.samples), dimension_names=["time"])
    times.attrs["units"] = "s"
    shape = (study.size, len(study.samples))
    for output, unit in zip(study.outputs, units, strict=True):
        array = group.create_array(
            output.label, shape=shape, chunks=(chunk, len(study.samples)), dtype="f8", fill_value=np.nan,
            dimension_names=["point", "time"],
        )  # fmt: skip
        array.attrs.update({"units": unit, "kind": "output", "formula": str(output.formula)})


@contextmanager
def lock(path: Path, by: str = "sweep") -> Iterator[None]:
    """Holds a store or a log for this process alone; `by` says what others do with it."""
    with explain_disk_errors(path):
        os.makedirs(path.parent, exist_ok=True)
        handle = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT)
    try:
        if not lock_file(handle):
            raise TorseurError(f"'{path}' is being written by another {by}. Wait for it, or give another name.")
        yield
    finally:
        os.close(handle)


@contextmanager
def explain_disk_errors(path: Path) -> Iterator[None]:
    """Turns what a disk refuses into words; what was stored before stays readable."""
    try:
        yield
    except OSError as problem:
        raise TorseurError(
            f"'{path}': {problem.strerror or problem}. What was stored is kept; run the study again to go on."
        ) from problem
