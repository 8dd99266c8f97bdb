"""What the user asks of a reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from torseur.readers.errors import RobotFileError

AS_WRITTEN, FIXED, FLOATING = "file", "fixed", "floating"


@dataclass(frozen=True)
class Options:
    """How a robot file is read; see `read_robot` for the meaning of each."""

    strict: bool = False
    base: str = AS_WRITTEN
    merge_fixed: bool = False
    density: float | None = None
    friction_speed: float = 0.01
    packages: Mapping[str, str | Path] = field(default_factory=dict)
    keyframe: str | None = None
    rotors: bool = False

    def __post_init__(self) -> None:
        if self.base not in (AS_WRITTEN, FIXED, FLOATING):
            raise RobotFileError(f"base is '{self.base}': expected '{AS_WRITTEN}', '{FIXED}' or '{FLOATING}'.")
        if not 0.0 <= self.friction_speed < float("inf"):
            raise RobotFileError(f"friction_speed is {self.friction_speed}: expected a speed of zero or more.")
        if self.density is not None and not 0.0 < self.density < float("inf"):
            raise RobotFileError(f"density is {self.density}: expected a positive number of kg/m^3.")
