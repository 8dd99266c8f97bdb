"""The C3D format: a header, parameters in groups, and frames of points and analog values, in three byte orders.

Source: the C3D file format user guide (Motion Lab Systems, www.c3d.org). Every length and place that a file states is
compared with what the file holds before it is used: a damaged file is refused with words, whichever of its bytes is
damaged. Files are taken apart here and nowhere else; what their parameters mean is in c3d.py.

    block 1                  header: counts, scale, where the parameters and the frames begin
    block header[0]          parameters: records of groups and of their parameters, each with the way to the next
    block header word 9      frames: 4 numbers per point, then the analog values, sample by sample

A block has 512 bytes; words have 16 bits.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from torseur.algebra.arrays import Array
from torseur.edges.budgets import bounded_bytes
from torseur.errors import RecordingError

BLOCK = 512
_KEY = 0x50
_LAST_FRAME = 65535
_INTEL, _DEC, _MIPS = 84, 85, 86
_TEXT, _BYTE, _WORD, _FLOAT = -1, 1, 2, 4  # kinds of parameters; the number is also their width

_MOST_DIMENSIONS = 7

Groups = dict[str, dict[str, Any]]
"""Values of parameters by group and name: lists of texts, or arrays whose first index runs fastest in the file."""


@dataclass(frozen=True)
class Claim:
    """Frames, points, analog values per frame and where the data begin, as the header has them."""

    frames: int
    points: int
    analog: int
    start: int
    width: int  # bytes of a number
    counted: bool = True  # a header counts to 65535 only; longer files leave it at that

    @property
    def frame_bytes(self) -> int:
        return self.width * (4 * self.points + self.analog)

    @property
    def bytes(self) -> int:
        return self.start + self.frames * self.frame_bytes


class Frames(NamedTuple):
    """Points (frame, point, 3) as the file has them, which of them were seen, and analog values (sample, channel)."""

    points: Array
    seen: Any
    analog: Array


@dataclass(frozen=True)
class C3dFile:
    """The bytes of a file and what its first words say of them."""

    path: Path
    content: bytes

    @cached_property
    def processor(self) -> int:
        """How numbers are written: by an Intel, DEC or MIPS processor."""
        header = self.content[:BLOCK]
        if len(header) < BLOCK or header[1] != _KEY or header[0] == 0:
            raise RecordingError(f"'{self.path}' is not a C3D file: its first block is not a C3D header.")
        place = (header[0] - 1) * BLOCK + 3
        byte = self.content[place] if place < len(self.content) else 0
        if byte not in (_INTEL, _DEC, _MIPS):
            raise RecordingError(
                f"'{self.path}' is not a C3D file: its parameters are not where its header says (block {header[0]})."
            )
        return byte

    @property
    def order(self) -> str:
        return ">" if self.processor == _MIPS else "<"

    @cached_property
    def header(self) -> tuple[int, ...]:
        """The first ten words."""
        assert self.processor
        return struct.unpack(f"{self.order}10H", self.content[:20])

    @cached_property
    def scale(self) -> float:
        """What integers of points are multiplied by; negative where numbers are floating point."""
        assert self.processor
        return float(self.floats(self.content[12:16])[0])

    @cached_property
    def claim(self) -> Claim:
        words = self.header
        return Claim(
            words[4] - words[3] + 1, words[1], words[2], (words[8] - 1) * BLOCK, 4 if self.scale < 0 else 2,
            words[4] < _LAST_FRAME,
        )  # fmt: skip

    @cached_property
    def rate(self) -> float:
        """Frames per second, as the header has them."""
        assert self.processor
        return float(self.floats(self.content[20:24])[0])

    @property
    def first_frame(self) -> int:
        """The number of the first frame, from 0."""
        return self.header[3] - 1

    @np.errstate(invalid="ignore", over="ignore")  # a damaged number may be a NaN of any kind
    def floats(self, raw: bytes) -> Array:
        """Floating point numbers of four bytes in the order of the file's processor."""
        if self.processor == _DEC:
            # A VAX's F_floating has its halves swapped, and an exponent larger by two than that of IEEE 754.
            # PDP-endian: the word with the sign and the exponent comes first.
            swapped = np.frombuffer(raw, "<u2").reshape(-1, 2)[:, ::-1].tobytes()
            return np.frombuffer(swapped, "<f4").astype(float) / 4.0
        return np.frombuffer(raw, f"{self.order}f4").astype(float)

    # A record: length of its name (negative: locked), number of its group (negative: it is the group itself), the name,
    # the way from here to the next record (0: this is the last), and for a parameter its kind, its number of
    # dimensions, these, and the values. A description follows, which nobody needs.
    @cached_property
    def groups(self) -> Groups:
        """All parameters."""
        start = (self.content[0] - 1) * BLOCK
        place, end = start + 4, len(self.content)
        if blocks := self.content[start + 2]:
            # The last record of some files leads on; what lies beyond the section is none.
            end = min(end, start + blocks * BLOCK)
        names: dict[int, str] = {}
        listed: list[tuple[int, str, Any]] = []
        while place + 2 <= end and self.content[place]:
            length, number = (struct.unpack_from("b", self.content, place + k)[0] for k in (0, 1))
            name = _text(self._take(place + 2, abs(length))).strip().upper()
            place += 2 + abs(length)
            (way,) = struct.unpack(f"{self.order}H", self._take(place, 2))
            if number < 0:
                names[-number] = name
            else:
                listed.append((number, name, self._value(place + 2, name)))
            if way == 0:
                break
            place += way
        groups: Groups = {name: {} for name in names.values()}
        # A parameter may stand before its group.
        for number, name, value in listed:
            groups.setdefault(names.get(number, f"group {number}"), {})[name] = value
        return groups

    def _value(self, place: int, name: str) -> Any:
        kind, dimensions = struct.unpack("bB", self._take(place, 2))
        sizes = tuple(self._take(place + 2, dimensions))
        if dimensions > _MOST_DIMENSIONS:
            raise RecordingError(f"'{self.path}' is damaged: its parameter '{name}' has {dimensions} dimensions.")
        if kind not in (_TEXT, _BYTE, _WORD, _FLOAT):
            raise RecordingError(f"'{self.path}' is damaged: its parameter '{name}' is of the unknown kind {kind}.")
        raw = self._take(place + 2 + dimensions, abs(kind) * prod(sizes))
        if kind == _TEXT:
            return _texts(raw, sizes)
        numbers = self.floats(raw) if kind == _FLOAT else np.frombuffer(raw, self._integer(kind)).astype(float)
        return numbers.reshape(sizes or (1,), order="F")

    def _integer(self, width: int) -> str:
        return "i1" if width == _BYTE else f"{self.order}i2"

    def _take(self, place: int, count: int) -> bytes:
        """So many bytes from a place on."""
        if place + count > len(self.content):
            raise RecordingError(f"'{self.path}' is damaged: its parameters go on beyond its end.")
        return self.content[place : place + count]

    @np.errstate(invalid="ignore", over="ignore")
    def frames(self, count: int) -> Frames:
        """The first `count` frames."""
        claim, per_frame = self.claim, max(self.header[9], 1)
        if claim.analog % per_frame:
            raise RecordingError(
                f"'{self.path}' lies about its size: {claim.analog} analog values a frame by the header, in "
                f"{per_frame} samples."
            )
        raw = self.content[claim.start : claim.start + count * claim.frame_bytes]
        if len(raw) < count * claim.frame_bytes:
            raise RecordingError(f"'{self.path}' lies about its size: {count} frames by its parameters are not there.")
        numbers = self.floats(raw) if claim.width == _FLOAT else np.frombuffer(raw, f"{self.order}i2").astype(float)
        table = numbers.reshape(count, 4 * claim.points + claim.analog)
        points = table[:, : 4 * claim.points].reshape(count, claim.points, 4)
        # x, y, z, and a word whose sign says that the point was not seen.
        places = points[..., :3] if claim.width == _FLOAT else points[..., :3] * self.scale
        channels = claim.analog // per_frame
        analog = table[:, 4 * claim.points :].reshape(count * per_frame if channels else 0, channels)
        return Frames(places.copy(), points[..., 3] >= 0, self._in_units(analog))

    def _in_units(self, analog: Array) -> Array:
        """Analog values in their units: (stored - OFFSET) SCALE GEN_SCALE."""
        group = self.groups.get("ANALOG", {})
        if self.claim.width == _WORD and "UNSIGNED" in "".join(map(str, group.get("FORMAT", []))).upper():
            analog = analog % 65536
        return (analog - self._per_channel("OFFSET", 0.0, analog)) * (
            self._per_channel("SCALE", 1.0, analog) * float(_numbers(group.get("GEN_SCALE"), 1.0)[0])
        )

    def _per_channel(self, name: str, default: float, analog: Array) -> Array:
        given = _numbers(self.groups.get("ANALOG", {}).get(name), default)[: analog.shape[1]]
        return np.concatenate([given, np.full(analog.shape[1] - len(given), default)])


def open_c3d(path: Path) -> C3dFile:
    """A C3D file, its first block checked."""
    if not path.is_file():
        raise RecordingError(f"there is no file '{path}'.")
    file = C3dFile(path, bounded_bytes(path))
    assert file.processor
    return file


def _numbers(value: Any, default: float) -> Array:
    usable = isinstance(value, np.ndarray) and value.size
    return value.reshape(-1) if usable else np.array([default])


def _texts(raw: bytes, sizes: tuple[int, ...]) -> list[str]:
    """Texts of one length; the first dimension is that length."""
    length = sizes[0] if sizes else 1
    count = prod(sizes[1:]) if len(sizes) > 1 else 1
    return [_text(raw[k * length : (k + 1) * length]).rstrip(" \0") for k in range(count)]


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")  # as programs wrote before there was UTF-8
