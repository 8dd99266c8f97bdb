"""The plots of a motion: coordinates and speeds by unit, and energies."""

from __future__ import annotations

import numpy as np

from torseur.report.content import Curve, Plot
from torseur.report.formula import formula
from torseur.report.reading.read_graph import named
from torseur.simulation import Trajectory
from torseur.tree import Tree

TITLES = {
    "rad": "Angles",
    "m": "Displacements",
    "rad/s": "Angular speeds",
    "m/s": "Speeds",
    "1": "Quaternion components",
}
ENERGIES = {"kinetic_energy": "kinetic", "potential_energy": "potential", "energy": "total"}


def plots_of(tree: Tree, trajectory: Trajectory) -> tuple[Plot, ...]:
    """Coordinates, then speeds, then energies."""
    return (*_states(tree, trajectory, speeds=False), *_states(tree, trajectory, speeds=True), _energies(trajectory))


def _states(tree: Tree, trajectory: Trajectory, speeds: bool) -> list[Plot]:
    by_unit: dict[str, list[Curve]] = {}
    for link in tree.links:
        for symbol in link.symbols.speeds if speeds else link.symbols.coordinates:
            name = str(symbol.name)
            curves = by_unit.setdefault(symbol.data.unit, [])
            # A body has one colour, so that only its first curve in a plot can have it.
            body = None if any(curve.body == link.name for curve in curves) else link.name
            curves.append(Curve(name, np.asarray(trajectory[name]), formula(named(name)), body))
    times = np.asarray(trajectory.time)
    return [
        Plot(TITLES.get(unit, "Speeds" if speeds else "Coordinates"), "" if unit == "1" else unit, times, tuple(curves))
        for unit, curves in by_unit.items()
    ]


def _energies(trajectory: Trajectory) -> Plot:
    curves = [Curve(label, np.asarray(trajectory[name]), dashed=name == "energy") for name, label in ENERGIES.items()]
    return Plot("Energy", "J", np.asarray(trajectory.time), tuple(curves))
