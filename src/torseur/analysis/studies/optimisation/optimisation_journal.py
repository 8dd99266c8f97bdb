"""The steps of an optimisation in a file of lines, which several processes write and a later run goes on from.

Every line carries its checksum and the study it belongs to, every step its number, and the end of a search how many
steps it had: a line that is damaged, cut off or gone is noticed, and the search goes on from the step before it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torseur.analysis.studies.sweeps.result_store import explain_disk_errors
from torseur.edges.integrity import begun_beside, seal, unseal
from torseur.errors import TorseurError


@dataclass(frozen=True)
class Iterate:
    """A step of the search: the start it belongs to, the axes scaled to between 0 and 1, and the criteria there."""

    start: int
    point: tuple[float, ...]
    criteria: tuple[float, ...]


@dataclass(frozen=True)
class Journal:
    """The file of a study, by the study's digest; lines are appended whole."""

    path: Path
    study: str

    def begin(self) -> tuple[str, ...]:
        """Takes the file up, without what is damaged in it; what that was, in words."""
        with explain_disk_errors(self.path):
            if not self.path.exists():
                self._append({})
                return ()
            content = self.path.read_bytes()
            lines = self._lines(content)
            if not lines:
                raise TorseurError(f"'{self.path}' is not a readable optimisation log. Give another name.")
            if any(line.get("study") != self.study for line in lines):
                raise TorseurError(
                    f"'{self.path}' belongs to another study, or this one before it was changed. Remove it."
                )
            whole, damage = _without_gaps(lines)
            kept = b"".join(seal(line) for line in whole)
            if kept == content:
                return ()
            with begun_beside(self.path, durable=True) as draft:
                draft.write_bytes(kept)
        # A last line that was cut off is what a stopped process leaves, no damage.
        spoilt = len(content[: content.rfind(b"\n") + 1].splitlines()) - len(lines)
        return (*(["damaged lines: " + str(spoilt)] if spoilt else []), *damage)

    def _lines(self, content: bytes) -> list[dict[str, Any]]:
        read = [unseal(line) for line in content.splitlines(keepends=True)]
        return [line for line in read if line is not None]

    def _records(self, word: str) -> list[dict[str, Any]]:
        return [line for line in self._lines(self.path.read_bytes()) if word in line]

    @property
    def iterates(self) -> tuple[Iterate, ...]:
        return tuple(
            Iterate(line["start"], tuple(line["point"]), tuple(line["criteria"])) for line in self._records("point")
        )

    @property
    def end_messages(self) -> dict[int, str]:
        """What the searches said that are over, by start."""
        return {line["start"]: line["message"] for line in self._records("message")}

    def add(self, iterate: Iterate, step: int) -> None:
        """Keeps a step; `step` is its number, from 0, in its search."""
        self._append({"step": step, **vars(iterate)})

    def end(self, start: int, steps: int, message: str) -> None:
        self._append({"start": start, "steps": steps, "message": message})

    def _append(self, line: dict[str, Any]) -> None:
        with explain_disk_errors(self.path):
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                content = seal({"study": self.study, **line})
                if os.write(handle, content) < len(content):
                    raise OSError(28, "No space left on device")
                os.fsync(handle)
            finally:
                os.close(handle)


def _without_gaps(lines: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """The lines up to where a step of their search is gone, and which searches go on from an earlier step."""
    kept: list[dict[str, Any]] = []
    steps: dict[int, int] = {}
    broken: dict[int, str] = {}
    for line in lines:
        start = line.get("start")
        if start is not None:
            known = steps.get(start, 0)
            if start in broken or line.get("step", line.get("steps")) != known:
                broken[start] = f"start {start + 1}: goes on from step {known}, what follows it is incomplete"
                continue
            steps[start] = known + ("step" in line)
        kept.append(line)
    return kept, list(broken.values())
