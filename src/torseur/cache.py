"""What is kept for the next time: compiled code and tables of libraries on disk, recent values in memory.

Code from disk is trusted only when its checksum says so: a file holds a mark, a checksum and the code. Files are
written beside their place and moved into it, so that another process sees a whole file or none. A disk that cannot be
written costs one warning, never an error.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

V = TypeVar("V")

_MARK = b"torseur kernel 1\n"
_LARGEST_NUMBER_OF_FILES = 4096
_REMEDY = "Set TORSEUR_CACHE to a folder that can be written, or to 'off'."
_OFF = ("", "0", "off", "no", "none")
_warned: set[str] = set()


def cache_key(*parts: str | bytes) -> str:
    """A hash of everything that what is kept depends on, this package's version included."""
    digest = hashlib.sha256(_version().encode())
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()


def load(key: str) -> bytes | None:
    """The code stored under a key; None when there is none or the file is damaged or not ours."""
    folder = _folder()
    if folder is None:
        return None
    try:
        content = (folder / f"{key}.kernel").read_bytes()
    except OSError:
        return None
    head = len(_MARK) + 32
    payload = content[head:]
    intact = content[:head] == _MARK + _checksum(key, payload)
    return payload if intact else None


def store(key: str, payload: bytes) -> None:
    """Keeps code under a key; what goes wrong is a warning, once."""
    folder = _folder()
    if folder is None:
        return
    try:
        _write_atomically(folder, f"{key}.kernel", _MARK + _checksum(key, payload) + payload)
        _drop_oldest(folder)
    except OSError as error:
        _warn_once(f"compiled code is not kept in '{folder}': {error.strerror or error}. {_REMEDY}")


def kept_path(name: str) -> Path | None:
    """Where a library may keep a file of its own; None, and no warning, when there is no folder to be trusted."""
    try:
        folder = _trusted_folder()
    except (OSError, RuntimeError):
        return None
    return None if folder is None else folder / name


@contextmanager
def begun_beside(place: Path) -> Iterator[Path]:
    """A path to write to; what is there at the end is moved into its place, after an error it is removed."""
    handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=".new-")
    os.close(handle)
    try:
        yield Path(temporary)
        os.replace(temporary, place)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def cache_folder() -> Path | None:
    """Where things are kept: TORSEUR_CACHE if set, else the platform's cache folder; None when off."""
    chosen = os.environ.get("TORSEUR_CACHE")
    if chosen is not None:
        return None if chosen.strip().lower() in _OFF else Path(chosen).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "torseur"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "torseur" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "torseur"


def _folder() -> Path | None:
    """The cache folder, made if needed; None when it is off, cannot be made or is open to other users."""
    try:
        return _trusted_folder()
    except (OSError, RuntimeError) as error:
        _warn_once(f"compiled code is not kept: {error}. {_REMEDY}")
        return None


def _trusted_folder() -> Path | None:
    """The cache folder, made if needed; None when it is off, an error when it cannot be made or trusted."""
    folder = cache_folder()
    if folder is None:
        return None
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if _open_to_others(folder):
        raise PermissionError(f"other users can write to '{folder}'")
    return folder


def _open_to_others(folder: Path) -> bool:
    """Loading code from a folder that somebody else can write would run their code."""
    if os.name != "posix":
        return False
    status = folder.stat()
    return status.st_uid != os.getuid() or bool(status.st_mode & stat.S_IWOTH)


def _write_atomically(folder: Path, name: str, content: bytes) -> None:
    with begun_beside(folder / name) as draft:
        draft.write_bytes(content)


def _drop_oldest(folder: Path) -> None:
    """Keeps the folder bounded: beyond the limit the oldest quarter goes."""
    files = list(folder.glob("*.kernel"))
    if len(files) <= _LARGEST_NUMBER_OF_FILES:
        return
    ages = sorted((file.stat().st_mtime, file) for file in files)
    for _, file in ages[: _LARGEST_NUMBER_OF_FILES // 4]:
        file.unlink(missing_ok=True)


def _checksum(key: str, payload: bytes) -> bytes:
    return hashlib.sha256(key.encode() + payload).digest()


def _warn_once(message: str) -> None:
    if message not in _warned:
        _warned.add(message)
        warnings.warn(message, stacklevel=3)


@cache
def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # a tenth of a second, for those who compile only

    try:
        return version("torseur")
    except PackageNotFoundError:
        return "source"


class Recent(Generic[V]):
    """Values by key, those asked for last; beyond `most` of them the one not asked for longest goes.

    As much as a process that runs for days, such as the studio, can afford.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._values: dict[Hashable, tuple[V]] = {}
        self._moving = Lock()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value of a key, made if it is not there."""
        # Taken out and put in again: a dictionary keeps the order of insertion, so the first key is the oldest. The
        # value is made outside the lock, which would make threads wait for each other's compilations.
        with self._moving:
            held = self._values.pop(key, None)
        kept = held if held is not None else (make(),)
        with self._moving:
            self._values[key] = kept
            while len(self._values) > self.most:
                del self._values[next(iter(self._values))]
        return kept[0]

    def __len__(self) -> int:
        return len(self._values)
