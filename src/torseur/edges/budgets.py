"""Counts and sizes, judged before memory is taken; files, read no further than that.

What is allowed is half of the machine's memory, or what TORSEUR_MEMORY (`torseur --memory`) says. The judgement is of
what a request needs at least: who asks for less than that may still be refused later, but never by a machine that
stands still.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from torseur.errors import TorseurError

VARIABLE = "TORSEUR_MEMORY"
NUMBER = 8
"""Bytes of a number in an array."""
PYTHON_NUMBER = 40
"""Bytes of a number in a list: itself and its place."""
FREQUENCY = 2000
"""Bytes that one point of a locus or a frequency response takes, in Python's own numbers."""
_PART_OF_MACHINE = 0.5
_UNKNOWN_MACHINE = 4 << 30
_LEAST = 64 << 20
_BLOCK = 1 << 20
_PART_OF_FILE = 8  # text takes several times its size when it is taken apart
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15, "EB": 10**18}
_SIZE = re.compile(r"\s*([0-9.]+(?:[eE][0-9]+)?)\s*([A-Za-z]*)\s*")


class BudgetError(TorseurError):
    """What is asked for needs more than is allowed."""


def allowed_bytes() -> int:
    """Memory that one request may take."""
    given = os.environ.get(VARIABLE, "").strip()
    return read_size(given, VARIABLE) if given else max(int(_PART_OF_MACHINE * _machine()), _LEAST)


def allow_memory(text: str) -> None:
    """Allows so much from now on, also to the processes that are started."""
    read_size(text, "--memory")
    os.environ[VARIABLE] = text


def read_size(text: str, where: str) -> int:
    """Bytes from words such as 800 MB or 16GB."""
    match = _SIZE.fullmatch(text)
    unit = match[2].upper().replace("IB", "B") if match else ""
    try:
        size = float(match[1]) * _UNITS[unit] if match else -1.0
    except (ValueError, KeyError):
        size = -1.0
    if not 1.0 <= size < 2**63:
        raise TorseurError(f"{where} is '{text}': expected a size such as 800 MB or 16 GB.")
    return int(size)


def require_memory(count: float, each: float, what: str) -> None:
    """Refuses `count` things of `each` bytes before they are made; `what` says, with its place, what they are."""
    needed, allowed = count * each, allowed_bytes()
    if needed > allowed:
        raise BudgetError(
            f"{what} needs {shown_size(needed)} of memory, {shown_size(allowed)} are allowed. Ask for less, or allow "
            f"more: torseur --memory SIZE ..., or {VARIABLE}."
        )


def require_disk(path: Path, needed: float, what: str) -> None:
    """Refuses to begin what its disk cannot hold."""
    place = next((folder for folder in path.resolve().parents if folder.is_dir()), None)
    free = shutil.disk_usage(place).free if place is not None else needed
    if needed > free:
        raise BudgetError(
            f"{what} needs up to {shown_size(needed)} on disk, {shown_size(free)} are free in '{place}'. Ask for less, "
            "or give another place."
        )


def shown_size(size: float) -> str:
    """1.5 GB, 12 MB."""
    if size >= 1000 * _UNITS["EB"]:  # counts of a file may have thousands of digits
        return "more than 1000 EB"
    for unit in ("EB", "PB", "TB", "GB", "MB", "KB"):
        if size >= _UNITS[unit]:
            return f"{size / _UNITS[unit]:.3g} {unit}"
    return f"{size:.0f} bytes"


def bounded_bytes(path: Path, most: int | None = None) -> bytes:
    """What a file holds; an OSError when that is more than `most` bytes, as of a device that never ends."""
    with open(path, "rb") as file:
        return bounded_stream(file, str(path), most)


def bounded_stream(stream: BinaryIO, name: str, most: int | None = None) -> bytes:
    """What comes from a stream, bounded as `bounded_bytes` is."""
    most = allowed_bytes() // _PART_OF_FILE if most is None else most
    # Block by block: Python would take memory for all that may come before it reads the first byte.
    blocks, left = [], most + 1
    while left > 0 and (block := stream.read(min(_BLOCK, left))):
        blocks.append(block)
        left -= len(block)
    if left <= 0:
        raise OSError(errno.EFBIG, f"it has more than {shown_size(most)}, the most that is read of it", name)
    return b"".join(blocks)


def bounded_text(path: Path, most: int | None = None, encoding: str = "utf-8", errors: str = "strict") -> str:
    """What a text file holds, its lines ended by a line feed; bounded as `bounded_bytes` is."""
    text = bounded_bytes(path, most).decode(encoding, errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parsed_toml(text: str) -> dict[str, Any]:
    """A TOML document; a ValueError where it is none, or nested too deeply."""
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def parsed_json(text: str) -> Any:
    """A JSON document; a ValueError where it is none, or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


@cache
def _machine() -> int:
    """Memory of the machine, or of the container; a modest number where the system does not say."""
    if sys.platform == "win32":
        return _UNKNOWN_MACHINE
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
        memory = pages * size
    except (OSError, ValueError):
        return _UNKNOWN_MACHINE
    with suppress(OSError, ValueError):  # no container, or one without a limit ("max")
        memory = min(memory, int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return memory if memory > 0 else _UNKNOWN_MACHINE
