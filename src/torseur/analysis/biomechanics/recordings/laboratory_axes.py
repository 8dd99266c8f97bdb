"""Which way the axes of a laboratory point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.errors import RecordingError

# Every word as a line (0 along the walk, 1 vertical, 2 across) and a sense along it.
_SENSE = {
    "forward": (0, 1.0), "backward": (0, -1.0), "up": (1, 1.0), "down": (1, -1.0), "right": (2, 1.0), "left": (2, -1.0),
}  # fmt: skip


@dataclass(frozen=True)
class Axes:
    """Directions of the x, y and z axes: forward, backward, up, down, right or left; empty where nothing states it."""

    x: str = ""
    y: str = ""
    z: str = ""

    def __post_init__(self) -> None:
        for word in self.words:
            if word and word not in _SENSE:
                raise RecordingError(f"an axis points {', '.join(_SENSE)}, not '{word}'.")
        known = [_SENSE[word][0] for word in self.words if word]
        if len(set(known)) < len(known):
            raise RecordingError(f"two axes lie along the same line: {self}.")
        if len(known) == 3 and np.linalg.det(self.matrix) < 0:
            raise RecordingError(f"left-handed axes: {self}. Reverse one of them.")

    def __str__(self) -> str:
        pairs = zip("xyz", self.words, strict=True)
        return ", ".join(f"{axis} {word}" for axis, word in pairs if word) or "axes not stated"

    @property
    def words(self) -> tuple[str, str, str]:
        return self.x, self.y, self.z

    @property
    def upward(self) -> Array:
        """The unit vector that points up; an error where the axes do not say."""
        for k, word in enumerate(self.words):
            if word in ("up", "down"):
                return np.eye(3)[k] * (1.0 if word == "up" else -1.0)
        raise RecordingError(f"which axis points up is not stated ({self}). Say it: --up z, or `axes` in Python.")

    @property
    def matrix(self) -> Array:
        """Rotation to the axes (forward, up, right); an error where an axis is not stated."""
        rows = np.zeros((3, 3))
        for k, word in enumerate(self.words):
            if not word:
                raise RecordingError(f"to turn axes, all three must be stated, not '{self}'.")
            line, sense = _SENSE[word]
            rows[line, k] = sense
        return rows

    def rotation_to(self, other: Axes) -> Array:
        """The rotation that takes components along these axes to components along others."""
        return other.matrix.T @ self.matrix


NOT_STATED = Axes()
OPENSIM_AXES = Axes("forward", "up", "right")
Z_UP = Axes("forward", "left", "up")
