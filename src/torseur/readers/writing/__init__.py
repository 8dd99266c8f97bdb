"""From mechanisms to robot files."""

from torseur.readers.writing.write import write_robot

__all__ = ["write_robot"]
