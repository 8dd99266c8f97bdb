"""Settings of a constrained solver that change along a motion, in the array of parameters that the loop reads."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.simulation.constrained.setup import Constrained
from torseur.simulation.system import System, Vector


@dataclass(frozen=True)
class SolverSettings:
    """The parameters of a system as its loop takes them: see constrained/sizes.py for what stands behind them."""

    system: System
    parameters: Vector

    @property
    def constrained(self) -> Constrained:
        assert self.system.constrained is not None
        return self.system.constrained

    @property
    def has_choice(self) -> bool:
        """Whether other constraints could be selected than those in use."""
        return self.system.constrained is not None and self.system.constrained.is_redundant

    def _place(self, setting: str, size: str | None = None) -> slice:
        statics = self.constrained.statics
        first = len(self.system.values) + statics[setting]
        return slice(first, first + (statics[size] if size else 1))

    def repartition(self, t: float, y: Vector) -> str:
        """Chooses independent speeds at a state, and says which they are."""
        chosen, note = self.constrained.partitioned(t, y)
        self.parameters[len(self.parameters) - len(chosen) :] = chosen
        return note

    def reselect(self, t: float, y: Vector) -> None:
        """Selects other constraints where those in use have become a bad choice."""
        if self.constrained.reselect(t, y):
            self.take_constraints(t, y)

    def take_constraints(self, t: float, y: Vector) -> None:
        """Takes over which constraints are in force, and what follows for the independent speeds."""
        self.parameters[self._place("SIZES", "NC")] = self.constrained.sizes
        if self.constrained.is_partitioned:
            self.repartition(t, y)

    def hold(self, slope: Vector) -> None:
        """Keeps the accelerations of a slope for the passage of a singular configuration."""
        self.parameters[self._place("HOLDS")] = 1.0
        self.parameters[self._place("HELD", "NV")] = slope[self.constrained.statics["NQ"] :]

    def let_go(self) -> None:
        """Forgets what was held: after a jump the accelerations are others."""
        if self.system.constrained is not None:
            self.parameters[self._place("HOLDS")] = 0.0
