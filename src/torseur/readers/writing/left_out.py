"""What a file cannot say of a mechanism."""

from __future__ import annotations

from torseur.errors import UnsupportedError
from torseur.readers.robot_file import Finding

LEFT_OUT = "left out"


class LeftOut:
    """Collects what is left out; unless the user accepts it, writing ends in an error that lists it."""

    def __init__(self, file_format: str) -> None:
        self.format = file_format
        self.findings: list[Finding] = []
        self._grave: list[str] = []

    def add(self, what: str) -> None:
        """Something without which the motion is another."""
        self.note(what)
        self._grave.append(self.findings[-1].message)

    def note(self, what: str) -> None:
        """Something that does not change the motion."""
        self.findings.append(Finding(LEFT_OUT, f"{what} cannot be said in {self.format}."))

    def require_nothing(self) -> None:
        if self._grave:
            listing = "\n  ".join(self._grave)
            advice = "Write it with partial=True to leave this out."
            raise UnsupportedError(f"the mechanism says more than a file can hold:\n  {listing}\n{advice}")
