"""How many markers a rotation needs: Monnet (2007), chapter 7, on the box of its chapter 3.

Markers at the box's corners, white noise of at most ±3 mm on each of their coordinates, derivatives by central
differences without any smoothing. The influence of 3 to 8 markers on R, on the angular velocity and on R̈.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics import Axes, Markers
from torseur.analysis.biomechanics.motion.segment_motion import segment_motion
from torseur.analysis.biomechanics.smoothing import RotationRates, rotation_rates
from torseur.analysis.biomechanics.tracking import MarkerModel
from torseur.computation.simulation import simulate
from torseur.description.library.catalogue import load

CORNERS = tuple(f"P{k}" for k in range(1, 9))
NOISE = 0.003  # m, at most
DURATION, RATE = 2.0, 100.0  # s, Hz
QUANTITIES = ("rotation", "omega", "second")


@dataclass(frozen=True, eq=False)
class Influence:
    """Errors by number of markers; one row per quantity: the nine coefficients of R, the three of ω, the nine of R̈.

    `relative` is the source's mean of |(exact - estimated) / exact|, as a median over the repetitions because values
    near zero dominate a mean; `normalised` the mean of |exact - estimated| over the mean of |exact|.
    """

    counts: tuple[int, ...]
    relative: Array
    normalised: Array

    def __str__(self) -> str:
        head = "markers     " + "".join(f"{count:>9d}" for count in self.counts)
        rows = zip(("R", "ω", "R̈"), self.normalised, strict=True)
        return "\n".join([head, *(f"{name:<12s}" + "".join(f"{x:9.4f}" for x in row) for name, row in rows)])


@cache
def box() -> MarkerModel:
    """The box with markers at its corners."""
    mechanism = load("box_on_string")
    return MarkerModel(mechanism, {corner: mechanism.frame(corner) for corner in CORNERS}, {})


@cache
def box_markers() -> Markers:
    """The eight corners of the box swinging on its string, exact, for two seconds at 100 Hz."""
    motion = simulate(box().mechanism, DURATION, samples=int(DURATION * RATE) + 1, rtol=1e-11)
    positions = box().positions(motion.time, motion.q)
    return Markers(motion.time, CORNERS, positions, Axes(z="up"), "box on a string")


def rates_from(markers: Markers, count: int) -> RotationRates:
    """R, ω and R̈ of the box from its first corners: algebraically from three, by the eigenvector from more."""
    labels = CORNERS[:count]
    # Coordinates of the box: position and a unit quaternion, no rotation.
    unturned = np.array([[0, 0, 0, 1, 0, 0, 0]], dtype=float)
    shape = dict(zip(CORNERS, box().positions(np.zeros(1), unturned)[0], strict=True))
    method = "algebraic" if count == 3 else "eigenvector"
    motion = segment_motion(markers, labels, shape, method=method, name="box")
    return rotation_rates(markers.time, motion.rotation, "central")


def influence(
    counts: Sequence[int] = (3, 4, 5, 6, 7, 8), amplitude: float = NOISE, repetitions: int = 20, seed: int = 0
) -> Influence:
    """Errors of R, ω and R̈ by number of markers, over repetitions of the noise."""
    exact = box_markers()
    truth = rates_from(exact, 8)
    rng = np.random.default_rng(seed)
    recordings = [exact.with_noise(amplitude, rng) for _ in range(repetitions)]
    errors = [[_errors(truth, rates_from(recording, count)) for recording in recordings] for count in counts]
    table = np.array(errors)  # (counts, repetitions, relative or normalised, quantities)
    return Influence(tuple(counts), np.median(table[:, :, 0], axis=1).T, np.mean(table[:, :, 1], axis=1).T)


def _errors(truth: RotationRates, estimate: RotationRates) -> list[list[float]]:
    """Relative and normalised errors of the three quantities, without the first and last samples."""
    rows: list[list[float]] = [[], []]
    for name in QUANTITIES:
        exact, noisy = getattr(truth, name)[2:-2].reshape(-1), getattr(estimate, name)[2:-2].reshape(-1)
        rows[0].append(float(np.mean(np.abs((exact - noisy) / exact))))
        rows[1].append(float(np.mean(np.abs(exact - noisy)) / np.mean(np.abs(exact))))
    return rows
