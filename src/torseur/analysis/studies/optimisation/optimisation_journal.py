"""The steps of an optimisation in a file of lines, which several processes write and a later run goes on from."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torseur.analysis.studies.sweeps.result_store import explain_disk_errors
from torseur.errors import TorseurError


@dataclass(frozen=True)
class Iterate:
    """A step of the search: the start it belongs to, the axes scaled to between 0 and 1, and the criteria there."""

    start: int
    point: tuple[float, ...]
    criteria: tuple[float, ...]


@dataclass(frozen=True)
class Journal:
    """The file; lines are appended whole."""

    path: Path

    def begin(self, digest: str) -> None:
        """Takes the file up for a study, without a last line that was cut off."""
        with explain_disk_errors(self.path):
            if not self.path.is_file():
                self._append({"study": digest})
                return
            text = self.path.read_text(encoding="utf-8")
            whole = text[: text.rfind("\n") + 1]
            if whole != text:
                beside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
                beside.write_text(whole, encoding="utf-8")
                os.replace(beside, self.path)
        lines = self._lines()
        if not lines or lines[0].get("study") != digest:
            raise TorseurError(f"'{self.path}' belongs to another study, or this one before it was changed. Remove it.")

    def _lines(self) -> list[dict[str, Any]]:
        text = self.path.read_text(encoding="utf-8")
        try:
            return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
        except ValueError:
            raise TorseurError(f"'{self.path}' is no log of an optimisation. Give another name.") from None

    @property
    def iterates(self) -> tuple[Iterate, ...]:
        lines = [line for line in self._lines() if "point" in line]
        return tuple(Iterate(line["start"], tuple(line["point"]), tuple(line["criteria"])) for line in lines)

    @property
    def end_messages(self) -> dict[int, str]:
        """What the searches said that are over, by start."""
        return {line["start"]: line["message"] for line in self._lines() if "message" in line}

    def add(self, iterate: Iterate) -> None:
        self._append({"start": iterate.start, "point": iterate.point, "criteria": iterate.criteria})

    def end(self, start: int, message: str) -> None:
        self._append({"start": start, "message": message})

    def _append(self, line: dict[str, Any]) -> None:
        with explain_disk_errors(self.path):
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                os.write(handle, (json.dumps(line) + "\n").encode())
                os.fsync(handle)
            finally:
                os.close(handle)
