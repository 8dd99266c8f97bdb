"""Frequency response: the steady oscillation of a quantity per unit of an oscillating force or input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from torseur.algebra.graph import Expr, Program, dense_jacobian, live_nodes, matrix
from torseur.computation.linearisation.small_motions import SmallMotions
from torseur.computation.simulation.model.system import Vector
from torseur.errors import TorseurError, unknown_name


@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    """Complex amplitude of `output` for a force exp(i w t) along `input`, or for such an input itself, at angular
    frequencies w (rad/s)."""

    input: str
    output: str
    frequencies: Vector
    values: NDArray[np.complex128]
    units: tuple[str, str] = ("", "")

    def plot(self, path: str | Path) -> Path:
        """Draws gain and phase into a file."""
        from torseur.computation.linearisation.plot_small_motions import draw_frequency_response

        return draw_frequency_response(self, Path(path))


def frequency_response(
    motions: SmallMotions, input: str, output: str | Expr, frequencies: Sequence[float] | Vector
) -> FrequencyResponse:
    """Response of a coordinate, a speed or a formula to a generalised force along a coordinate or speed.

    (i w - A) z = B u, and the output is a combination of z and i w z. Angular frequencies in rad/s.
    """
    omega = _finite(frequencies)
    rows = output_rows(motions, output)
    amplitudes = _amplitudes(motions, force_slot(motions, input), rows, omega)
    return FrequencyResponse(input, str(output), omega, amplitudes)


def _finite(frequencies: Sequence[float] | Vector) -> Vector:
    """A row of frequencies, all of them numbers."""
    omega = np.asarray(frequencies, dtype=float)
    if omega.ndim > 1:
        raise TorseurError(f"frequencies: expected one row of numbers, got an array of shape {omega.shape}.")
    if not np.isfinite(omega).all():
        raise TorseurError(f"frequencies: {omega[~np.isfinite(omega)][0]} is no frequency.")
    return omega


def response_per_input(
    motions: SmallMotions, coordinate: str, output: str | Expr, frequencies: Sequence[float] | Vector
) -> NDArray[np.complex128]:
    """Response of an output per unit of a coordinate that something else moves as it wants.

    A force F that moves the coordinate u makes u = U F and the output Y F of it; per unit of u that is Y/U, whatever
    inertia u has itself.
    """
    omega = _finite(frequencies)
    slot = force_slot(motions, coordinate)
    moved = _amplitudes(motions, slot, output_rows(motions, coordinate), omega)
    return np.asarray(_amplitudes(motions, slot, output_rows(motions, output), omega) / moved)


def _amplitudes(
    motions: SmallMotions, force: int, rows: tuple[Vector, Vector], omega: Vector
) -> NDArray[np.complex128]:
    of_states, of_rates = rows
    eye = np.eye(len(motions.state_matrix))
    return np.array(
        [
            (of_states + 1j * w * of_rates)
            @ np.linalg.solve(1j * w * eye - motions.state_matrix, motions.input_matrix[:, force])
            for w in omega
        ],
        dtype=complex,
    )


def force_slot(motions: SmallMotions, name: str) -> int:
    """The number of the generalised force along a coordinate or speed."""
    names = motions.input_names
    # A force is named by the coordinate that it works along, or by its speed.
    match = [k for k, speed in enumerate(names) if speed in (name, f"{name}'")]
    if not match:
        raise TorseurError(unknown_name("coordinate or speed", name, names, "input: "))
    return match[0]


def output_rows(motions: SmallMotions, output: str | Expr) -> tuple[Vector, Vector]:
    """The output as a combination of z, and of z'."""
    if isinstance(output, Expr):
        return _formula_rows(motions, output)
    row = _output_row(motions, output)
    return row, np.zeros(len(row))


def _formula_rows(motions: SmallMotions, formula: Expr) -> tuple[Vector, Vector]:
    """δg = g_q N δπ + g_v δv + g_a δv', of a formula g of coordinates, speeds and accelerations."""
    point, programs = motions.point, motions.point.programs
    layout = point.equations.layout
    if any(node in programs.multipliers for node in live_nodes([formula])):
        raise TorseurError(
            "output: forces of constraints have no response yet. Take motions, or forces by their formulas."
        )
    groups = (layout.coordinates, layout.speeds, layout.accelerations)
    outputs = tuple(matrix(f"by {k}", dense_jacobian([formula], group)) for k, group in enumerate(groups))
    program = Program("output", (*programs.inputs, *programs.solution), outputs)
    accelerations, multipliers = point.solution
    matrices = point.numbers.of(program, point.t, point.y, a=accelerations, l=multipliers)
    by_position, by_speed, by_acceleration = (matrices[f"by {k}"].reshape(-1) for k in range(3))
    reach = point.kinematics["reach"] @ motions.position_basis
    return by_position @ reach + by_speed @ motions.speed_basis, by_acceleration @ motions.speed_basis


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
