"""What is kept for the next time: compiled code and tables of libraries on disk, recent values in memory.

Code from disk is trusted only where nobody else can write, and only when a checksum under a secret of this user says
that it belongs to its key (edges/integrity.py): a file holds a mark, that checksum and the content, never a pickle.
Files are written beside their place and moved into it, so that another process sees a whole file or none. A disk that
cannot be written, and an entry that is not ours, cost one warning, never an error.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import sys
import warnings
from collections.abc import Callable, Hashable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from torseur.edges.integrity import begun_beside, keyed_digest, own_file, refuse_shared_folder, secret_of

V = TypeVar("V")

_MARK = b"torseur cache 2\n"
_CHECKSUM_BYTES = 32
_LARGEST_NUMBER_OF_FILES = 4096
_REMEDY = "Set TORSEUR_CACHE to a folder that can be written, or to 'off'."
_OFF = ("", "0", "off", "no", "none")
_warned: set[str] = set()


def cache_key(*parts: str | bytes) -> str:
    """A hash of everything that what is kept depends on, this package's version included."""
    digest = hashlib.sha256(_MARK + _version().encode())  # what earlier versions wrote has other names
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()


def load(key: str) -> bytes | None:
    """What is stored under a key; None when there is nothing, or the file is damaged or not ours."""
    kept = _folder()
    if kept is None:
        return None
    folder, secret = kept
    place = folder / f"{key}.kernel"
    try:
        content = own_file(place)
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn_once(f"ignored: {error}. It is created again.")
        return None
    head = len(_MARK) + _CHECKSUM_BYTES
    payload = content[head:]
    if hmac.compare_digest(content[:head], _MARK + keyed_digest(secret, key.encode(), payload)):
        return payload
    _warn_once(f"ignored: '{place}' is damaged or was not written by torseur for this user. It is created again.")
    return None


def store(key: str, payload: bytes) -> None:
    """Keeps content under a key; what goes wrong is a warning, once."""
    kept = _folder()
    if kept is None:
        return
    folder, secret = kept
    try:
        _write_atomically(folder, f"{key}.kernel", _MARK + keyed_digest(secret, key.encode(), payload) + payload)
        _drop_oldest(folder)
    except OSError as error:
        _warn_once(f"compiled code is not kept in '{folder}': {error.strerror or error}. {_REMEDY}")


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


def _folder() -> tuple[Path, bytes] | None:
    """The cache folder, made if needed, and its secret; None when it is off, cannot be made or is open to others."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        return _trusted_folder(folder)
    except (OSError, RuntimeError) as error:
        _warn_once(f"compiled code is not kept: {error}. {_REMEDY}")
        return None


def _trusted_folder(chosen: Path) -> tuple[Path, bytes]:
    """The folder without links and its secret; an error when it cannot be made or trusted."""
    chosen.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = chosen.resolve()
    refuse_shared_folder(folder)
    return folder, secret_of(folder)


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
