"""What a C3D file says about its own size, compared with the size it has."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from torseur.errors import RecordingError

BLOCK = 512
_KEY = 0x50
_LAST_FRAME = 65535
_INTEL, _DEC, _MIPS = 84, 85, 86


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


def read_claim(path: Path) -> Claim:
    """The header of a C3D file."""
    if not path.is_file():
        raise RecordingError(f"there is no file '{path}'.")
    with path.open("rb") as stream:
        header = stream.read(BLOCK)
        if len(header) < BLOCK or header[1] != _KEY or header[0] == 0:
            raise RecordingError(f"'{path}' is not a C3D file: its first block is no C3D header.")
        stream.seek((header[0] - 1) * BLOCK)
        processor = stream.read(4)[3:]
    if not processor or processor[0] not in (_INTEL, _DEC, _MIPS):
        raise RecordingError(
            f"'{path}' is not a C3D file: its parameters are not where its header says (block {header[0]})."
        )
    words = struct.unpack((">" if processor[0] == _MIPS else "<") + "10H", header[:20])
    # The sign of the scale tells floating point numbers (4 bytes) from integers (2); DEC swaps the halves of a float.
    negative = header[12 if processor[0] == _MIPS else 13 if processor[0] == _DEC else 15] & 0x80
    return Claim(words[4] - words[3] + 1, words[1], words[2], (words[8] - 1) * BLOCK, 4 if negative else 2,
                 words[4] < _LAST_FRAME)  # fmt: skip


def require_honest_size(path: Path) -> Claim:
    """Refuses a file that is shorter than its header says; longer ones end with an unfinished block."""
    claim, size = read_claim(path), path.stat().st_size
    if claim.frames < 1 or claim.start < 2 * BLOCK:
        raise RecordingError(
            f"'{path}' lies about its size: its header counts {claim.frames} frames from byte {claim.start} on."
        )
    if claim.counted and size < claim.bytes:
        whole = max(size - claim.start, 0) // max(claim.frame_bytes, 1)
        raise RecordingError(
            f"'{path}' lies about its size: its header counts {claim.frames} frames of {claim.points} points and "
            f"{claim.analog} analog values, {claim.bytes} bytes in all, but it has {size} bytes: {whole} whole frames. "
            "It was cut short, or its header is damaged."
        )
    return claim
