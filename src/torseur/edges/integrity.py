"""What is read back from a disk is what was written: checksums, whole files, and folders that nobody else can write.

Caches, stores of sweeps and logs of optimisations all keep their word by these few functions. A checksum guards
against damage; against somebody who writes on purpose only a secret does, which the cache has
(docs/decisions/0080-what-is-read-back.md).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

SECRET_BYTES = 32
_LARGEST_FILE = 1 << 30
_SEAL = "sha256"


def digest(content: bytes) -> str:
    """The checksum of what was written."""
    return hashlib.sha256(content).hexdigest()


def keyed_digest(secret: bytes, *parts: bytes) -> bytes:
    """A checksum that only those who know the secret can make (HMAC-SHA-256, RFC 2104)."""
    # The lengths stand before the parts: what moves from one part to the next changes the checksum.
    content = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    return hmac.digest(secret, content, "sha256")


def seal(document: dict[str, Any]) -> bytes:
    """A document as one line of JSON that carries its own checksum."""
    return (json.dumps(document | {_SEAL: _checksum(document)}) + "\n").encode()


def unseal(line: bytes) -> dict[str, Any] | None:
    """The document of a sealed line; None when a single byte of it is not as it was."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    claimed = document.pop(_SEAL, None)
    # Spaces and the spelling of numbers are no part of the checksum, therefore the line is written anew and compared.
    return document if claimed == _checksum(document) and seal(document) == line else None


def _checksum(document: dict[str, Any]) -> str:
    return digest(json.dumps(document).encode())


@contextmanager
def begun_beside(place: Path, durable: bool = False) -> Iterator[Path]:
    """A path to write to; what is there at the end is moved into its place, after an error it is removed.

    durable  it is on the disk before it is moved, and the move too: what a machine that stops leaves is whole
    """
    handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=".new-")
    os.close(handle)
    try:
        yield Path(temporary)
        if durable:
            flush_to_disk(Path(temporary))
        os.replace(temporary, place)
        if durable:
            flush_to_disk(place.parent)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def flush_to_disk(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on the disk."""
    if os.name != "posix" and path.is_dir():
        return  # Windows opens no folders
    handle = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def own_file(path: Path) -> bytes:
    """The content of a file of this user; an OSError where it is somebody else's, no plain file, or endless."""
    # A link is not followed, and a pipe that nobody writes to is not waited for.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST_FILE:
            raise PermissionError(f"'{path}' was not written by torseur")
        if sys.platform != "win32" and (status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
            raise PermissionError(f"other users can write to '{path}'")
        return file.read(status.st_size)


def refuse_shared_folder(folder: Path) -> None:
    """A PermissionError where somebody else could put files into a folder, or another folder in its place.

    `folder` is without links. It must be this user's alone; what it lies in must be this user's or the system's, and
    writable by nobody else, or "sticky" as /tmp is, where others cannot rename what is not theirs. On Windows the
    folders of an account are kept from others by their access lists.
    """
    if sys.platform == "win32":
        return
    _refuse_shared(folder, folder.stat(), os.getuid(), private_group=False)
    for above in folder.parents:
        status = above.stat()
        if not (status.st_mode & stat.S_ISVTX and status.st_uid in (0, os.getuid())):
            _refuse_shared(above, status, 0, private_group=True)


def _refuse_shared(folder: Path, status: os.stat_result, system: int, private_group: bool) -> None:
    if sys.platform == "win32":
        return
    if status.st_uid not in (system, os.getuid()):
        raise PermissionError(f"'{folder}' belongs to another user")
    by_group = bool(status.st_mode & stat.S_IWGRP) and not (private_group and _is_private(status))
    if by_group or status.st_mode & stat.S_IWOTH:
        raise PermissionError(f"other users can write to '{folder}'")


def _is_private(status: os.stat_result) -> bool:
    """Whether a folder's group is its owner alone, as many systems give everybody a group of the same name."""
    if sys.platform == "win32":
        return False
    import grp
    import pwd

    if os.getuid() == 0 or status.st_uid != os.getuid():
        return False
    try:
        owner, group = pwd.getpwuid(status.st_uid), grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    return group.gr_name == owner.pw_name and group.gr_gid == owner.pw_gid and set(group.gr_mem) <= {owner.pw_name}


def secret_of(folder: Path) -> bytes:
    """The secret of a folder that nobody else can write, made when there is none that can be used."""
    place = folder / "secret"
    with suppress(OSError):
        known = own_file(place)
        if len(known) == SECRET_BYTES and (os.name != "posix" or not place.stat().st_mode & 0o077):
            return known
        place.unlink()
    # Two processes that begin at once must agree: the first to link its draft wins, and both read what is there.
    handle, draft = tempfile.mkstemp(dir=folder, prefix=".new-")
    try:
        os.write(handle, os.urandom(SECRET_BYTES))
        with suppress(FileExistsError):
            os.link(draft, place)
    finally:
        os.close(handle)
        os.unlink(draft)
    return own_file(place)
