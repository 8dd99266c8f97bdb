"""Checksums of a store: every chunk of every array, its status included, and the files that say how to read them.

A chunk counts as done when its seal is there and the files are as the seal says. Seals lie in the folder of the status,
where neither zarr nor xarray looks for arrays:

    status/seals/layout    study, points per chunk, and the content of every file of the empty store
    status/seals/7         checksums of the files of chunk 7, and what its points said that failed
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torseur.edges.integrity import begun_beside, digest, seal, unseal

STATUS = "status"
MOST_MESSAGES = 1000


@dataclass(frozen=True)
class Damage:
    """What is not as it was written: an array and a chunk of it, or a file of the layout (chunk None)."""

    what: str
    chunk: int | None
    fault: str

    def __str__(self) -> str:
        place = "" if self.chunk is None else f", chunk {self.chunk}"
        return f"'{self.what}'{place}: {self.fault}"


@dataclass(frozen=True)
class Layout:
    """The files of a store before any chunk is there, as they were written."""

    study: str
    chunk: int
    size: int
    files: dict[str, str]

    @property
    def arrays(self) -> tuple[str, ...]:
        """The arrays that have a chunk for each chunk of points."""
        names = [name.removesuffix("/zarr.json") for name in self.files if name.endswith("/zarr.json")]
        # The instants of the outputs do not depend on the points; they are part of the layout.
        return tuple(name for name in names if f"{name}/c/0" not in self.files)


@dataclass(frozen=True)
class Seals:
    """The seals of the store at a path."""

    path: Path

    @property
    def folder(self) -> Path:
        return self.path / STATUS / "seals"

    def write_layout(self, study: str, chunk: int, size: int) -> Layout:
        """Seals a store that was just laid out."""
        shutil.rmtree(self.folder, ignore_errors=True)
        names = sorted(str(file.relative_to(self.path).as_posix()) for file in self.path.rglob("*") if file.is_file())
        # Bytes as characters of the same number: metadata are text, instants of outputs are not.
        layout = Layout(study, chunk, size, {name: _content(self.path / name).decode("latin-1") for name in names})
        self._write("layout", vars(layout))
        return layout

    def layout(self) -> Layout | None:
        document = self._read("layout")
        return None if document is None else Layout(**document)

    def layout_damage(self, layout: Layout) -> list[Damage]:
        """The files of the layout that are not as they were."""
        return [
            Damage(name, None, "missing" if _content(self.path / name) == b"" else "changed")
            for name, content in layout.files.items()
            if _content(self.path / name) != content.encode("latin-1")
        ]

    def restore(self, layout: Layout, damage: list[Damage]) -> None:
        """Writes damaged files of the layout again."""
        for file in damage:
            place = self.path / file.what
            _remove(place)
            place.parent.mkdir(parents=True, exist_ok=True)
            with begun_beside(place, durable=True) as draft:
                draft.write_bytes(layout.files[file.what].encode("latin-1"))

    def write(self, number: int, arrays: tuple[str, ...], failures: dict[int, str]) -> None:
        """Seals a chunk that is on the disk; `failures` are what points said that failed, by their number."""
        sums = {name: _sum_of(self.file(name, number)) for name in arrays}
        kept = {str(point): text for point, text in sorted(failures.items())[:MOST_MESSAGES]}
        self._write(str(number), {"chunk": number, "files": sums, "failures": kept})

    def failures(self, number: int) -> dict[int, str]:
        """What failed points of a chunk said."""
        document = self._read(str(number)) or {"failures": {}}
        return {int(point): text for point, text in document["failures"].items()}

    def damage(self, number: int, arrays: tuple[str, ...]) -> list[Damage]:
        """What is not as it was written in a chunk; nothing where it is whole or was never begun."""
        sealed = self._read(str(number))
        if sealed is None or sealed["chunk"] != number:
            if not self.is_done(number) and not (self.folder / str(number)).exists():
                return []
            return [Damage(STATUS, number, "the checksums are missing or damaged")]
        sums = [(name, sealed["files"].get(name, ""), _sum_of(self.file(name, number))) for name in arrays]
        return [
            Damage(name, number, "missing" if now is None else "changed")
            for name, written, now in sums
            if now != written
        ]

    def is_done(self, number: int) -> bool:
        """Whether the status of a chunk was written."""
        return self.file(STATUS, number).exists()

    def is_sealed(self, number: int) -> bool:
        return (self.folder / str(number)).exists()

    def discard(self, number: int, arrays: tuple[str, ...]) -> None:
        """Removes a damaged chunk, its seal first: nobody counts on what is left if this is interrupted."""
        _remove(self.folder / str(number))
        for name in (STATUS, *arrays):
            _remove(self.path / name / "c" / str(number))

    def file(self, array: str, number: int) -> Path:
        """The file of a chunk; arrays over time have one chunk in that direction."""
        place = self.path / array / "c" / str(number)
        return place / "0" if place.is_dir() else place

    def _write(self, name: str, document: dict[str, Any]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with begun_beside(self.folder / name, durable=True) as draft:
            draft.write_bytes(seal(document))

    def _read(self, name: str) -> dict[str, Any] | None:
        return unseal(_content(self.folder / name))


def all_damage(seals: Seals, layout: Layout) -> Iterator[Damage]:
    """Everything in a store that is not as it was written."""
    yield from seals.layout_damage(layout)
    for number in range(-(-layout.size // layout.chunk)):
        yield from seals.damage(number, layout.arrays)


def _content(file: Path) -> bytes:
    """What is in a file; nothing where there is none."""
    with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return file.read_bytes()
    return b""


def _sum_of(file: Path) -> str | None:
    """The checksum of a file; None where there is none, as zarr leaves out chunks without a number in them."""
    return digest(file.read_bytes()) if file.is_file() else None


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
