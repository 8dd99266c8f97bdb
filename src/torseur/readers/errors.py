"""The refusal of a robot file: which file, which line, what is wrong, what would do."""

from __future__ import annotations

from torseur.errors import TorseurError


class RobotFileError(TorseurError):
    """A robot file that cannot be read or written; the text says where and why."""
