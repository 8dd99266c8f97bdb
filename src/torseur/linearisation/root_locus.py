"""Root loci: how the eigenvalues of small motions move with a parameter or a speed, and where stability changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from torseur.errors import TorseurError
from torseur.linearisation.point import Laws, Model, kinematics_of, point_of
from torseur.linearisation.small_motions import small_motions
from torseur.simulation.system import Vector

Eigenvalues: TypeAlias = NDArray[np.complex128]
Choice: TypeAlias = Callable[[float], Mapping[str, float]]

BISECTIONS = 200


@dataclass(frozen=True)
class Crossing:
    """A value at which a root crosses the imaginary axis: `growing` beyond it when the values increase."""

    value: float
    eigenvalue: complex
    growing: bool


@dataclass(frozen=True, eq=False)
class RootLocus:
    """Eigenvalues (a row per value, a column per branch followed)."""

    name: str
    values: Vector
    eigenvalues: Eigenvalues
    at: Callable[[float], Eigenvalues] = field(repr=False)

    @cached_property
    def crossings(self) -> tuple[Crossing, ...]:
        """Where stability changes, located by bisection."""
        found = []
        for branch in self.eigenvalues.T:
            for k in range(len(self.values) - 1):
                before, after = branch[k].real, branch[k + 1].real
                if before * after < 0.0 and branch[k].imag >= 0.0:
                    found.append(self._located(k, branch[k], branch[k + 1]))
        return tuple(sorted(found, key=lambda crossing: crossing.value))

    def _located(self, k: int, first: complex, last: complex) -> Crossing:
        low, high = float(self.values[k]), float(self.values[k + 1])
        growing = last.real > 0.0
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            roots = self.at(middle)
            root = roots[int(np.argmin(np.abs(roots - 0.5 * (first + last))))]
            if (root.real > 0.0) == growing:
                high, last = middle, complex(root)
            else:
                low, first = middle, complex(root)
        return Crossing(0.5 * (low + high), 0.5 * (first + last), growing)

    def plot(self, path: str | Path) -> Path:
        """Draws the roots in the complex plane, and their real and imaginary parts over the values, into a file."""
        from torseur.linearisation.drawing import draw_root_locus

        return draw_root_locus(self, Path(path))


def root_locus(
    model: Model,
    values: Sequence[float],
    *,
    at: Choice | None = None,
    parameters: Choice | None = None,
    states: Sequence[str] = (),
    independent: Sequence[str] = (),
    laws: Laws | None = None,
    name: str = "value",
) -> RootLocus:
    """Eigenvalues of small motions for each value.

    `at` and `parameters` give, for a value, the initial values and parameters that go with it. `states` keeps only
    part of the small motions, when it does not depend on the rest.
    """
    if at is None and parameters is None:
        raise TorseurError("a root locus needs at=... or parameters=..., functions of the value, to know what varies.")
    wanted = [*independent, *(name for name in states if name not in independent)]

    kinematics = kinematics_of(model)

    def eigenvalues(value: float) -> Eigenvalues:
        point = point_of(kinematics, at(value) if at else None, parameters(value) if parameters else None, laws)
        motions = small_motions(point, [state.removesuffix("'") for state in wanted])
        matrix = motions.block(states) if states else motions.state_matrix
        return np.linalg.eigvals(matrix).astype(complex)

    rows = [eigenvalues(float(value)) for value in values]
    return RootLocus(name, np.array(values, dtype=float), _followed(rows), eigenvalues)


def _followed(rows: Sequence[Eigenvalues]) -> Eigenvalues:
    """Eigenvalues ordered so that each column continues its own past."""
    from scipy.optimize import linear_sum_assignment

    ordered = [np.sort_complex(rows[0])]
    for k, row in enumerate(rows[1:], 1):
        expected = 2.0 * ordered[-1] - ordered[-2] if k > 1 else ordered[-1]
        _, columns = linear_sum_assignment(np.abs(expected[:, None] - row[None, :]))
        ordered.append(row[columns])
    return np.array(ordered)
