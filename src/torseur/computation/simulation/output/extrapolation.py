"""Tables that a motion left: where a spline goes on without points, its values are made up."""

from __future__ import annotations

import numpy as np

from torseur.algebra.graph import Expr, Program, evaluate, live_nodes, symbols_of
from torseur.computation.simulation.model.system import System, Vector


def table_notes(system: System, times: Vector, states: Vector) -> list[str]:
    """What is said of tables whose argument left their points along a motion."""
    if not isinstance(system.rhs, Program) or not system.rhs.tables:
        return []
    known = _values_along(system, times, states)
    notes: dict[str, str] = {}
    for node in system.rhs.tables:
        argument, table = node.args[0], node.data.table
        if table.name in notes or not _is_known(argument, known):
            continue
        values = np.atleast_1d(np.asarray(evaluate([argument], known)[0], dtype=float))
        first, last = table.points[0], table.points[-1]
        outside = values[(values < first) | (values > last)]
        if outside.size:
            farthest = outside[np.argmax(np.maximum(first - outside, outside - last))]
            place = f" ({table.place})" if table.place else ""
            notes[table.name] = (
                f"table '{table.name}'{place} has points from {first:g} to {last:g}, and the motion asks for "
                f"{farthest:.4g}: beyond them its spline is extrapolated."
            )
    return list(notes.values())


def _values_along(system: System, times: Vector, states: Vector) -> dict[Expr, Vector | float]:
    """Time, states and parameters along the motion, by their symbols."""
    assert isinstance(system.rhs, Program)
    columns = {"t": [times], "y": list(states.T), "p": list(system.values)}
    return {
        node: value
        for group in system.rhs.inputs
        for node, value in zip(group.nodes, columns.get(group.name, ()), strict=False)
    }


def _is_known(argument: Expr, known: dict[Expr, Vector | float]) -> bool:
    # Laws are functions of the user's, which are not called again only for a note.
    laws = any(node.op == "apply" for node in live_nodes([argument]))
    return not laws and known.keys() >= set(symbols_of([argument]))
