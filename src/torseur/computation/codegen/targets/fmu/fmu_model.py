"""What an FMU is made from: its variables, their start values, and the routine that computes with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from torseur.computation.codegen.kernels.linking import LinkedUnit
from torseur.computation.codegen.sources.identifiers import Names
from torseur.computation.codegen.targets.c.c_spelling import RESERVED
from torseur.computation.codegen.targets.c.c_unit import unit_source

TOLERANCE = 1e-10
"""Relative error per step, when the environment asks for none."""

DRIFT = 1e-4
"""Distance from closed loops and unit quaternions, in parts of the state, at which model exchange asks for an event."""


@dataclass(frozen=True)
class Variable:
    """A number that the environment sees."""

    name: str
    unit: str = "1"
    meaning: str = ""
    start: float = 0.0


@dataclass(frozen=True)
class BaseUnit:
    """A unit as a factor and powers of the base units of FMI (kg, m, s, A, K, mol, cd, rad)."""

    factor: float = 1.0
    powers: Mapping[str, int] | None = None


@dataclass(frozen=True)
class FmuModel:
    """y' = f(t, y, p) with p = (parameters, settings, inputs), and outputs of the same arguments.

    `task` is the compiled routine with its entry
    (task: int, t: float, t_end: float, pace: Array, y: Array, p: Array, atol: Array, out: Array) -> int,
    where `pace` holds the relative tolerance and the length of the steps to go on with. Task 0 writes the derivatives
    to `out`, 1 the outputs, 2 the state on its manifold, 3 moves y from t to t_end, and 4, where there is a tangent,
    writes derivatives and outputs along the direction of y and p that `atol` holds; 0 is success. `nominal` are sizes
    of the states; `settings` are numbers that the routine needs and nobody sees.
    """

    name: str
    states: tuple[Variable, ...]
    nominal: tuple[float, ...]
    parameters: tuple[Variable, ...]
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    task: LinkedUnit
    settings: tuple[float, ...] = ()
    has_manifold: bool = False
    has_tangent: bool = False
    units: Mapping[str, BaseUnit] | None = None
    description: str = ""

    @property
    def identifier(self) -> str:
        """The name of the binary, and the beginning of the names it exports besides those of FMI."""
        return Names(RESERVED).unique(self.name)

    @cached_property
    def source(self) -> str:
        """The routine as C."""
        return unit_source(self.task, self.entry)

    @property
    def entry(self) -> str:
        return f"{self.identifier}_task"
