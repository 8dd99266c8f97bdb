"""Frequency response: the steady oscillation of a quantity per unit of an oscillating force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from torseur.computation.linearisation.small_motions import SmallMotions
from torseur.computation.simulation.model.system import Vector
from torseur.errors import TorseurError, unknown_name


@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    """Complex amplitude of `output` for a force exp(i w t) along `input`, at angular frequencies w (rad/s)."""

    input: str
    output: str
    frequencies: Vector
    values: NDArray[np.complex128]

    def plot(self, path: str | Path) -> Path:
        """Draws gain and phase into a file."""
        from torseur.computation.linearisation.plot_small_motions import draw_frequency_response

        return draw_frequency_response(self, Path(path))


def frequency_response(
    motions: SmallMotions, input: str, output: str, frequencies: Sequence[float] | Vector
) -> FrequencyResponse:
    """Response of a coordinate or speed to a generalised force along a coordinate or speed.

    (i w - A) z = B u, and the output is a combination of z. Angular frequencies in rad/s.
    """
    force = force_slot(motions, input)
    row = _output_row(motions, output)
    count = len(motions.state_matrix)
    omega = np.asarray(frequencies, dtype=float)
    amplitudes = [
        row @ np.linalg.solve(1j * w * np.eye(count) - motions.state_matrix, motions.input_matrix[:, force])
        for w in omega
    ]
    return FrequencyResponse(input, output, omega, np.array(amplitudes, dtype=complex))


def force_slot(motions: SmallMotions, name: str) -> int:
    """The number of the generalised force along a coordinate or speed."""
    names = motions.input_names
    # A force is named by the coordinate that it works along, or by its speed.
    match = [k for k, speed in enumerate(names) if speed in (name, f"{name}'")]
    if not match:
        raise TorseurError(unknown_name("coordinate or speed", name, names, "input: "))
    return match[0]


def _output_row(motions: SmallMotions, name: str) -> Vector:
    """The output as a combination of z."""
    layout = motions.point.equations.layout
    coordinates, speeds = layout.coordinate_names, layout.speed_names
    if name in coordinates:
        # Coordinates move by N δπ, of which z_q gives the independent part.
        reach: Vector = motions.point.kinematics["reach"] @ motions.position_basis
        return reach[coordinates.index(name)]
    if name in speeds:
        return motions.speed_basis[speeds.index(name)]
    raise TorseurError(unknown_name("coordinate or speed", name, [*coordinates, *speeds], "output: "))
