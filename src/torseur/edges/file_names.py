"""Names of files that other programs wrote: how they end, and options behind them."""

from __future__ import annotations

from pathlib import Path

ROBOT_SUFFIXES = (".urdf", ".xacro", ".xml", ".mjcf", ".sdf", ".world", ".osim")
"""Robot files; their root element tells the format."""


def is_robot(name: str) -> bool:
    """Whether a name is that of a robot file, by its suffix; options may follow a question mark."""
    return Path(split_query(name)[0]).suffix.lower() in ROBOT_SUFFIXES


def split_query(name: str) -> tuple[str, str]:
    """The path in a name, and what stands after the question mark; a file whose name holds one is a path."""
    # A question mark is a letter like others in file names; an existing file wins.
    path, _, query = name.partition("?")
    return (name, "") if Path(name).exists() else (path, query)
