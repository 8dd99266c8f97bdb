"""Where a mechanism is before it moves: what is drawn when there is no motion."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from torseur.algebra.graph import evaluate, symbols_of
from torseur.computation.simulation import Trajectory
from torseur.computation.simulation.model.first_order_form import as_system
from torseur.computation.simulation.model.system import Quantity, System
from torseur.computation.simulation.output.trajectory import Column, Kind
from torseur.computation.simulation.simulate import system_on_constraints
from torseur.derivation.equations import Equations
from torseur.derivation.tree import Tree, resolve
from torseur.derivation.tree.definitions import undetermined_functions
from torseur.description.mechanism import implied_symbols, quaternion_coordinates
from torseur.errors import TorseurError
from torseur.presentation.scene.bodies.known_numbers import Numbers

# What stands for a length that nobody gave, so that something is seen; everything else is 0.
STAND_IN = {"m": 1.0}


def stand_ins(tree: Tree, values: Mapping[str, float]) -> dict[str, float]:
    """Values with which a mechanism can be drawn whose parameters are not all given: 1 m for lengths, 0 for others."""
    missing = set(Numbers(tree, values).missing)
    symbols = [p for p in tree.layout.parameters if str(p.name) in missing]
    # A mass centre that nobody gave is drawn at the body's origin.
    implied = {name for body in tree.mechanism.bodies for name in implied_symbols(body.name)}
    return {str(p.name): 0.0 if str(p.name) in implied else STAND_IN.get(str(p.data.unit), 0.0) for p in symbols}


def hold_still(system: System, coordinates: int, until: float = 1.0) -> Trajectory:
    """A trajectory that stays at the initial state of a system, whose first states are the coordinates."""
    columns = tuple(
        Column(quantity, Kind.COORDINATE if k < coordinates else Kind.VELOCITY)
        for k, quantity in enumerate(system.states)
    )
    return Trajectory(np.array([0.0, until]), np.tile(np.array(system.initial), (2, 1)), columns)


def start_position(
    tree: Tree, equations: Equations | None, values: Mapping[str, float], initial: Mapping[str, float]
) -> Trajectory:
    """The position at the start, loops closed where that can be done, held still."""
    given = {**stand_ins(tree, values), **values}
    if equations is not None:
        try:
            system = as_system(equations, given, initial)
            if not undetermined_functions(tree.mechanism):
                system = system_on_constraints(system, None, 0.0, "augmented")
            return hold_still(system, len(tree.layout.coordinates))
        except TorseurError:
            pass  # the reason is said where the motion failed; what is described is drawn as it stands
    return _described_position(tree, given, initial)


def _described_position(tree: Tree, values: Mapping[str, float], initial: Mapping[str, float]) -> Trajectory:
    """The coordinates as the description gives them, whether or not loops close there."""
    numbers = Numbers(tree, values)
    start = dict(tree.mechanism.initial)
    fours = [quaternion_coordinates(joint.coordinates, joint.motions) for joint in tree.mechanism.joints]
    firsts = {four[0].name for four in fours if four}
    rows = []
    for symbol in tree.layout.coordinates:
        name = str(symbol.name)
        formula = start.get(name)
        value = initial.get(name)
        if value is None and formula is not None:
            (resolved,) = resolve(tree.mechanism, tree.definitions, [formula])
            known = all(x in numbers.by_symbol for x in symbols_of([resolved]))
            value = float(evaluate([resolved], numbers.by_symbol)[0]) if known else None
        # A quaternion without a start is no rotation: its first component is 1.
        rows.append(value if value is not None else float(name in firsts))
    columns = tuple(Column(Quantity(str(q.name), str(q.data.unit)), Kind.COORDINATE) for q in tree.layout.coordinates)
    return Trajectory(np.array([0.0, 1.0]), np.tile(np.array(rows, dtype=float), (2, 1)), columns)
