"""Settings of a constrained solver that change along a motion, in the array of parameters that the loop reads."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.computation.simulation.constrained.solver.constrained_setup import Constrained
from torseur.computation.simulation.constrained.solver.constrained_sizes import Settings
from torseur.computation.simulation.model.system import System, Vector


@dataclass(frozen=True)
class SolverSettings:
    """The parameters of a system as its loop takes them: see constrained_sizes.py for what stands behind them."""

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

    @property
    def _settings(self) -> Settings:
        """What stands behind the parameters of the model."""
        return Settings.bound(self.constrained.statics).view(self.parameters[len(self.system.values) :])

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
        self._settings.sizes[:] = self.constrained.sizes
        if self.constrained.contacts is not None:
            self._settings.sliding[:] = self.constrained.contacts.sliding
            self._settings.grip[:] = self.constrained.contacts.grip
        if self.constrained.is_partitioned:
            self.repartition(t, y)

    def hold(self, derivative: Vector) -> None:
        """Keeps the accelerations in the derivative of a state for the passage of a singular configuration."""
        settings = self._settings
        settings.holds = 1.0
        settings.held[:] = derivative[self.constrained.statics["NQ"] :]

    def let_go(self) -> None:
        """Forgets what was held: after a jump the accelerations are others."""
        if self.system.constrained is not None:
            self._settings.holds = 0.0
