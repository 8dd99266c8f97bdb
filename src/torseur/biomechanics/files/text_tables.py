"""Rows of numbers in text files, with what is wrong named by line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from torseur.errors import RecordingError
from torseur.identification.arrays import Array


def lines_of(path: Path) -> list[str]:
    """The lines of a text file."""
    if not path.is_file():
        raise RecordingError(f"there is no file '{path}'.")
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as problem:
        raise RecordingError(f"'{path}' is not a text file: {problem.reason} at byte {problem.start}.") from problem


def numbers_of(path: Path, rows: Sequence[tuple[int, Sequence[str]]], width: int, may_end_early: bool) -> Array:
    """Rows of cells, each with its line number, as numbers; empty cells are NaN, as are those a row leaves off."""
    found = []
    for line, cells in rows:
        if len(cells) > width or (len(cells) < width and not may_end_early):
            raise RecordingError(f"'{path}', line {line}: {len(cells)} cells, the headings have {width}.")
        found.append([_number(path, line, cell) for cell in cells] + [np.nan] * (width - len(cells)))
    return np.array(found, dtype=float).reshape(len(found), width)


def _number(path: Path, line: int, cell: str) -> float:
    text = cell.strip()
    if not text:
        return float("nan")
    try:
        return float(text)
    except ValueError as problem:
        raise RecordingError(f"'{path}', line {line}: '{text}' is not a number.") from problem


def whole_number(path: Path, name: str, text: str) -> int:
    try:
        return int(float(text))
    except ValueError as problem:
        raise RecordingError(f"'{path}': {name} is a whole number, not '{text}'.") from problem
