"""Roads of a class by ISO 8608: heights over the way whose spectrum is that of the class.

One-sided spectral density of the heights G(n) = G_0 (n/n_0)^-2 over the spatial frequency n (1/m), n_0 = 0.1/m. The
road is a sum of cosines with random phases, one for each strip of frequencies, with the power of the strip.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from torseur.algebra.graph import Table
from torseur.computation.simulation.model.system import Vector
from torseur.edges.budgets import FREQUENCY, require_memory
from torseur.errors import TorseurError, unknown_name

# Geometric means of the classes at n_0, in 1e-6 m³: ISO 8608:2016, table C.1. A class reaches from half to twice that.
CLASSES = {"A": 16.0, "B": 64.0, "C": 256.0, "D": 1024.0, "E": 4096.0, "F": 16384.0, "G": 65536.0, "H": 262144.0}
REFERENCE = 0.1  # 1/m
LOWEST, HIGHEST = 0.011, 2.83  # 1/m, the range of the standard


@dataclass(frozen=True, eq=False)
class Road:
    """Heights (m) at evenly spaced places along the way (m)."""

    kind: str
    way: Vector
    height: Vector

    def table(self, name: str = "road") -> Table:
        """The heights as a function for formulas: a cubic spline through the points."""
        return Table(name, tuple(self.way.tolist()), tuple(self.height.tolist()), unit="m")

    def save(self, path: str | Path) -> Path:
        """Writes two columns, way and height in metres, as `table road in m = "road.csv" ;` reads them."""
        target = Path(path)
        lines = [f"{x!r}, {z!r}" for x, z in zip(self.way.tolist(), self.height.tolist(), strict=True)]
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return target


def road_profile(
    kind: str = "C", length: float = 200.0, spacing: float = 0.1, seed: int = 0, flat: float = 10.0
) -> Road:
    """A road of an ISO 8608 class, A to H, over a length (m), after `flat` metres that lead on to it.

    Frequencies above half of one over the spacing have no place in its points and are left out.
    """
    if kind not in CLASSES:
        raise TorseurError(unknown_name("class of road", kind, CLASSES))
    for name, value in (("length", length), ("spacing", spacing)):
        if not 0.0 < value < 1e7:
            raise TorseurError(f"road: {name} is {value:g}, expected a positive number of metres, less than 10,000 km.")
    count = round(length / spacing) + 1
    require_memory(count, FREQUENCY, f"a road of {count} points")
    way: Vector = np.arange(count, dtype=float) * spacing
    # Strips half as wide as what the length resolves: the sum repeats itself after twice the length only.
    n = np.fft.rfftfreq(2 * count, spacing)
    inside = (n >= LOWEST) & (n <= min(HIGHEST, 0.5 / spacing))
    density = CLASSES[kind] * 1e-6 * (np.where(inside, n, np.inf) / REFERENCE) ** -2.0
    phases = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, len(n))
    strips = np.sqrt(2.0 * density * n[1]) * np.exp(1j * phases)
    height: Vector = np.asarray(np.fft.irfft(strips * count)[:count], dtype=float)
    if flat > 0.0:
        s = np.clip(way / flat, 0.0, 1.0)
        height *= s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    return Road(kind, way, height)
