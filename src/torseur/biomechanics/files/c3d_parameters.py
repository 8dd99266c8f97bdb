"""Parameters of a C3D file, by group and name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from torseur.biomechanics.files.units import plain
from torseur.errors import RecordingError
from torseur.identification.arrays import Array


@dataclass(frozen=True)
class Parameters:
    """What a file says about itself; what it does not say is empty, and an error only where it is needed."""

    file: Path
    groups: Any

    def _value(self, group: str, name: str) -> Any:
        if group not in self.groups or name not in self.groups[group]:
            return []
        return self.groups[group][name]["value"]

    def texts(self, group: str, name: str) -> list[str]:
        return [plain(str(text)) for text in self._value(group, name)]

    def text(self, group: str, name: str) -> str:
        return next(iter(self.texts(group, name)), "")

    def labels(self, group: str) -> list[str]:
        """Labels of all points or channels, which a file may spread over LABELS, LABELS2, ..."""
        found, more = self.texts(group, "LABELS"), 2
        while part := self.texts(group, f"LABELS{more}"):
            found, more = found + part, more + 1
        return found

    def numbers(self, group: str, name: str) -> Array:
        return np.asarray(self._value(group, name), dtype=float)

    def number(self, group: str, name: str) -> float:
        values = self.numbers(group, name).reshape(-1)
        if not len(values):
            raise RecordingError(f"'{self.file}' has no parameter {group}:{name}.")
        return float(values[0])

    def whole(self, group: str, name: str, default: int) -> int:
        values = self.numbers(group, name).reshape(-1)
        # Counts above 32767 are stored as if negative.
        return int(values[0]) % 65536 if len(values) else default
