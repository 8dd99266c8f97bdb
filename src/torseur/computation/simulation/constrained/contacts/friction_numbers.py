"""Friction elements of a mechanism in numbers at single states, as the search for modes takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.computation.simulation.constrained.contacts.friction_rows import AMOUNTS, FrictionRows
from torseur.computation.simulation.constrained.contacts.switching_modes import Friction
from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.model.outputs_and_events import Impact
from torseur.computation.simulation.model.system import Vector
from torseur.errors import TorseurError


@dataclass(frozen=True)
class FrictionNumbers:
    """The friction elements with the constraints they stand among; contact k is row first + k of these."""

    friction: tuple[FrictionRows, ...]
    impacts: tuple[Impact, ...]
    numbers: StateNumbers
    first: int

    @cached_property
    def count(self) -> int:
        """Rows of friction in all."""
        return sum(len(element.rows) for element in self.friction)

    @cached_property
    def rows(self) -> tuple[list[int], ...]:
        """Rows of each element among the constraints: the last ones."""
        row, rows = len(self.numbers.programs.constraints) - self.count, []
        for element in self.friction:
            rows.append(list(range(row, row + len(element.rows))))
            row += len(element.rows)
        return tuple(rows)

    def places(self, k: int) -> list[int]:
        """Rows of element k among those of friction."""
        start = sum(len(element.rows) for element in self.friction[:k])
        return list(range(start, start + len(self.friction[k].rows)))

    def normal(self, k: int) -> int | None:
        """The row of the contact that an element is on, None where it is on none."""
        names = [impact.name for impact in self.impacts]
        return self.first + names.index(self.friction[k].on) if self.friction[k].on in names else None

    def at(self, t: float, y: Vector, multipliers: Vector) -> dict[str, Vector]:
        """Slips, amounts and gradients of what presses at a state."""
        if not self.friction:
            nothing = np.zeros((0, len(multipliers)))
            return {"slips": np.zeros(0), "amounts": np.zeros((0, AMOUNTS)), "gradients": nothing}
        return self.numbers.of(self.numbers.programs.rubbing, t, y, l=multipliers)

    def now(self, t: float, y: Vector, multipliers: Vector, creep: Vector, slipping: set[int]) -> tuple[Friction, ...]:
        """The elements at a state; `slipping` are those whose limit was just reached."""
        numbers, elements = self.at(t, y, multipliers), []
        for k, rows in enumerate(self.rows):
            slip = numbers["slips"][self.places(k)]
            speed = float(np.linalg.norm(slip))
            moves = speed > 2.0 * creep[k] and k not in slipping
            force, coefficient, breakaway, static, stribeck = numbers["amounts"][k].tolist()
            part = np.exp(-((speed if moves else 0.0) ** 2) / stribeck**2) if stribeck > 0.0 else 0.0
            sliding = (force + (breakaway - force) * part, coefficient + (static - coefficient) * part)
            direction = slip / speed if moves else None
            gradient, resting = numbers["gradients"][k], (breakaway, static)
            elements.append(
                Friction(tuple(rows), self.normal(k), gradient, sliding, resting, direction, k in slipping, slip)
            )
        return tuple(elements)

    def at_impact(self, t: float, y: Vector, touching: Sequence[int]) -> list[Friction]:
        """Friction that what presses in an impact brings about; forces that are finite have no part in it."""
        numbers, elements = self.at(t, y, np.zeros(len(self.numbers.programs.constraints))), []
        for k, rows in enumerate(self.rows):
            normal = self.normal(k)
            if normal is not None and normal - self.first in touching:
                limits = (0.0, float(numbers["amounts"][k][1]))
                slip = numbers["slips"][self.places(k)]
                gradient = numbers["gradients"][k]
                elements.append(Friction(tuple(rows), normal, gradient, limits, limits, None, False, slip))
        return elements


def require_amounts(friction: Sequence[FrictionRows], amounts: Vector) -> None:
    """Refuses friction that would drive what slides, or holds less than it rubs."""
    names = ("force", "coefficient", "breakaway force", "static coefficient", "Stribeck speed")
    for element, own in zip(friction, amounts.tolist(), strict=True):
        for name, value in zip(names, own, strict=True):
            if not value >= 0.0:
                raise TorseurError(f"friction '{element.name}': its {name} is {value:g}, expected zero or more.")
        for sliding, resting in ((0, 2), (1, 3)):
            if own[resting] < own[sliding]:
                raise TorseurError(
                    f"friction '{element.name}': its {names[resting]} is {own[resting]:g}, less than the "
                    f"{names[sliding]} {own[sliding]:g} with which it slides. Expected at least as much."
                )
