"""Compiled code kept on disk between runs, trusted only when its checksum says so.

A file holds a mark, a checksum and the code. Files are written beside their place and moved into it, so that
another process sees a whole file or none. A disk that cannot be written costs one warning, never an error.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import stat
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

_MARK = b"torseur kernel 1\n"
_LARGEST_NUMBER_OF_FILES = 4096
_REMEDY = "Set TORSEUR_CACHE to a folder that can be written, or to 'off'."
_OFF = ("", "0", "off", "no", "none")
_warned: set[str] = set()


def cache_key(*parts: str | bytes) -> str:
    """A hash of everything the compiled code depends on, this package's version included."""
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


def cache_folder() -> Path | None:
    """Where compiled code is kept: TORSEUR_CACHE if set, else the platform's cache folder; None when off."""
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
        folder = cache_folder()
        if folder is None:
            return None
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _open_to_others(folder):
            _warn_once(f"compiled code is not kept in '{folder}': other users can write there.")
            return None
        return folder
    except (OSError, RuntimeError) as error:
        _warn_once(f"compiled code is not kept: {error}. {_REMEDY}")
        return None


def _open_to_others(folder: Path) -> bool:
    """Loading code from a folder that somebody else can write would run their code."""
    if os.name != "posix":
        return False
    status = folder.stat()
    return status.st_uid != os.getuid() or bool(status.st_mode & stat.S_IWOTH)


def _write_atomically(folder: Path, name: str, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, folder / name)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise


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
    try:
        return importlib.metadata.version("torseur")
    except importlib.metadata.PackageNotFoundError:
        return "source"
