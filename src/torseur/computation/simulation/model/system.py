"""Equations of motion in first order form, as the integrators take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from torseur.algebra.graph import Expr, Input, Program
from torseur.errors import TorseurError, unknown_name

if TYPE_CHECKING:
    from torseur.computation.simulation.constrained.solver.constrained_setup import Constrained
    from torseur.computation.simulation.model.motion_programs import MechanismPrograms

Vector: TypeAlias = NDArray[np.float64]
SlopeFunction: TypeAlias = Callable[[float, Vector, Vector], Sequence[float] | Vector]


@dataclass(frozen=True)
class Quantity:
    """A named number of the model: its unit, and what it means."""

    name: str
    unit: str = "1"
    meaning: str = ""


@dataclass(frozen=True)
class Law:
    """An undetermined function of the equations; `node` is its value in the graph, its arguments those of the node."""

    name: str
    node: Expr


@dataclass(frozen=True)
class System:
    """dy/dt = f(t, y, p), with y = (q, v): first the coordinates, then the velocities.

    rhs        a Program from inputs (t, y, p), or (t, y, p, u) with the values u of the laws, to dy; for a constrained
               system to what determines dy together with its constraints; or a Python function of (t, y, p)
    programs   the parts of a mechanism's equations, None for other systems
    solution   more inputs of the formulas of a constrained system: its accelerations and multipliers
    project    a Program from (t, y, p) to the nearest state on the manifold (unit quaternions, closed loops)
    quantities what can be asked for by name besides the states, as expressions in the inputs of rhs
    resolve    turns a formula a user wrote into one of the inputs of rhs
    explain    why the equations fail at (t, y), for instance a mass matrix without full rank; None when they are sound
    undetermined why a state leaves rates open that were found by division, which may have cancelled; None elsewhere
    scales     size of each state below which its error no longer counts in proportion
    notes      what has to be said about the motion before it is computed
    """

    states: tuple[Quantity, ...]
    initial: tuple[float, ...]
    rhs: Program | SlopeFunction
    coordinates: int
    parameters: tuple[Quantity, ...] = ()
    values: tuple[float, ...] = ()
    project: Program | None = None
    quantities: Mapping[str, tuple[Quantity, Expr]] = field(default_factory=lambda: MappingProxyType({}))
    laws: tuple[Law, ...] = ()
    resolve: Callable[[Expr], Expr] | None = None
    explain: Callable[[float, Vector], str | None] | None = None
    undetermined: Callable[[float, Vector], str | None] | None = None
    scales: tuple[float, ...] | None = None
    solution: tuple[Input, ...] = ()
    programs: MechanismPrograms | None = None
    constrained: Constrained | None = None
    notes: tuple[str, ...] = ()
    name: str = "motion"

    def __post_init__(self) -> None:
        if len(self.initial) != len(self.states):
            raise TorseurError(f"{self.name}: {len(self.states)} states but {len(self.initial)} initial values.")
        if len(self.values) != len(self.parameters):
            raise TorseurError(f"{self.name}: {len(self.parameters)} parameters but {len(self.values)} values.")

    @property
    def solver_parameters(self) -> Vector:
        """The parameters as the loop takes them: those of the model, then the settings of its solver."""
        settings = self.constrained.settings if self.constrained is not None else ()
        return np.array([*self.values, *settings])

    def state_with(self, changes: Mapping[str, float] | None) -> Vector:
        """The initial state with some values replaced."""
        return _with_changes("state", self.states, self.initial, changes)

    def parameters_with(self, changes: Mapping[str, float] | None) -> Vector:
        """The parameter vector with some values replaced."""
        return _with_changes("parameter", self.parameters, self.values, changes)

    def state_scales(self, initial: Vector) -> Vector:
        """Size of each state for absolute errors: the largest initial magnitude among the states of the same unit.

        1 (in that unit) when they all vanish, or nearly so.
        """
        if self.scales is not None:
            return np.array(self.scales, dtype=float)
        largest: dict[str, float] = {}
        for quantity, value in zip(self.states, initial, strict=True):
            largest[quantity.unit] = max(largest.get(quantity.unit, 0.0), abs(float(value)))
        return np.array([largest[q.unit] if largest[q.unit] > 1e-6 else 1.0 for q in self.states])


def _with_changes(
    kind: str, quantities: tuple[Quantity, ...], values: Sequence[float], changes: Mapping[str, float] | None
) -> Vector:
    vector = np.array(values, dtype=float)
    slots = {quantity.name: slot for slot, quantity in enumerate(quantities)}
    for name, value in (changes or {}).items():
        if name not in slots:
            raise TorseurError(unknown_name(kind, name, slots))
        vector[slots[name]] = value
    return vector
