"""From mechanisms to robot files."""

from torseur.description.readers.writing.write_robot import write_robot

__all__ = ["write_robot"]
