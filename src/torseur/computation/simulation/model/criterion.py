"""Numbers that a motion is judged by."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.algebra.graph import Expr
from torseur.errors import TorseurError, unknown_name

KINDS = ("value", "integral", "maximum", "minimum", "event", "event time")


@dataclass(frozen=True)
class Criterion:
    """A formula over the motion, and how it becomes a number.

    kind   "value": the formula itself, at each sample; "integral": its integral from the start to each sample;
           "maximum" or "minimum": the largest or smallest value over the motion; "event": the formula where `when`
           changes sign; "event time": the time when it does (the formula is not used)
    when   formula whose change of sign is the event; `direction` +1 or -1 chooses rising or falling ones, and
           `occurrence` which of them, from 1 on
    """

    formula: str | Expr
    kind: str = "value"
    name: str = ""
    unit: str = ""
    when: str | Expr = ""
    direction: int = 0
    occurrence: int = 1

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise TorseurError(unknown_name("kind of criterion", self.kind, KINDS))
        if self.kind.startswith("event") and self.when == "":
            raise TorseurError(f"criterion '{self.label}': say when, such as when=\"q1\" for where q1 changes sign.")
        if self.occurrence < 1:
            raise TorseurError(f"criterion '{self.label}': occurrence is {self.occurrence}, expected 1 or more.")

    @property
    def label(self) -> str:
        """The name in tables and plots."""
        return (
            self.name
            or {
                "value": f"{self.formula}",
                "integral": f"integral of {self.formula}",
                "maximum": f"maximum of {self.formula}",
                "minimum": f"minimum of {self.formula}",
                "event": f"{self.formula} where {self.when} = 0",
                "event time": f"time when {self.when} = 0",
            }[self.kind]
        )

    @property
    def is_over_time(self) -> bool:
        """Whether it has a value at every sample."""
        return self.kind in ("value", "integral")
