"""A mechanism while it is written: statements, joints with their values, and short random numbers, axes and places."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

DATA = Path(__file__).parent / "data"


class Unreachable(Exception):
    """The drawn values do not lead onto the constraints, or to a place where they determine the motion."""


@dataclass
class JointDraft:
    """A joint while it is written: coordinates with values, the speeds that its motion is told by, turning ones."""

    name: str
    body: str
    coordinates: dict
    quaternion: tuple = ()
    speeds: tuple = ()
    lengths: tuple = ()


@dataclass
class Draft:
    """A mechanism while it is written."""

    rng: random.Random
    statements: list = field(default_factory=list)
    joints: list = field(default_factory=list)
    bodies: list = field(default_factory=list)
    values: dict = field(default_factory=dict)

    def text(self, start=()):
        init = [f"init {', '.join(start)} ;"] if start else []
        return "\n".join([*self.statements, *init]) + "\n"

    def number(self, low, high, digits=2):
        """A short number; now and then one of the special values behind which faults hide."""
        if self.rng.random() < 0.12 and low <= 0 <= high:
            return 0.0
        return round(self.rng.uniform(low, high), digits)

    def vector(self, size):
        return [self.number(-size, size) for _ in range(3)]

    def axis(self):
        """A direction, often oblique, never of unit length by design."""
        if self.rng.random() < 0.3:
            return self.rng.choice(("[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]", "[0, 0, -1]", "[0, 0.6, 0.8]"))
        while True:
            v = self.vector(1)
            if sum(c * c for c in v) > 0.2:
                return f"[{v[0]:g}, {v[1]:g}, {v[2]:g}]"

    def place(self, body, plain=0.25):
        """A frame of a body, mostly off its origin and turned."""
        if self.rng.random() < plain:
            return "earth" if body == "earth" else f"{body}.frame"
        x, y, z = self.vector(0.6)
        turn = "" if self.rng.random() < 0.3 else f" ++ ({self.number(-2, 2)} || {self.axis()})"
        return f"[{x:g}, {y:g}, {z:g}] m{turn} @ {body}"
