"""Values of sensors, and laws that refer to rates and sensors, at a state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torseur.algebra.graph import Expr, as_expr, evaluate, substitute, symbols_of
from torseur.algebra.spatial import Scalar, Vec3
from torseur.derivation.dynamics.loads.frames_in_motion import MovingFrames
from torseur.derivation.tree import CoupledStates, Snapshot, Tree, coupled_states, resolve
from torseur.description.mechanism import Sensor
from torseur.errors import UnsupportedError


def sensor_value(sensor: Sensor, frames: MovingFrames) -> Scalar:
    """The component a sensor measures."""
    frame, axes = frames[sensor.of], frames[sensor.axes]
    if sensor.kind == "direction":
        along, axis = tuple(sensor.component)
        turn = axes.place.rotation.inverse.then(frame.place.rotation)
        return getattr(turn.matrix.rows["xyz".index(along)], axis)
    vectors = {
        "position": frame.place.position,
        "velocity": frame.velocity.linear,
        "rotation": frame.velocity.angular,
    }
    if sensor.kind not in vectors:
        raise UnsupportedError(f"a load cannot depend on '{sensor.name}': an acceleration is a result of the loads.")
    component: Vec3 = axes.place.rotation.to_child(vectors[sensor.kind])
    return getattr(component, sensor.component)


def law_values(
    now: Snapshot, frames: MovingFrames, laws: Sequence[Expr], extra: dict[Expr, Any] | None = None
) -> list[Any]:
    """Laws at a state: rates, sensors and `extra` symbols replaced by their values."""
    tree = now.tree
    formulas = resolve(tree.mechanism, tree.definitions, list(laws))
    if tree.state_rates:
        formulas = substitute(formulas, tree.state_rates)
    # Only what occurs is computed: a sensor asks for poses and velocities of whole chains.
    used = set(symbols_of(formulas))
    values: dict[Expr, Any] = dict(extra or {})
    values.update((symbol, rate) for symbol, rate in now.rates.items() if symbol in used and symbol is not rate)
    for sensor in tree.mechanism.sensors:
        if sensor.symbol in used:
            values[sensor.symbol] = sensor_value(sensor, frames)
    # At the tree's own symbols there is nothing to evaluate: sensors and rates are put in, everything else stays.
    if now.values is None:
        return substitute(formulas, values)
    return evaluate(formulas, {**now.values, **values})


def in_states(tree: Tree, formula: Expr) -> Expr:
    """A formula with its rates, sensors, laws and dependent parameters in terms of the state."""
    now = tree.at(tree.layout.coordinates, tree.layout.speeds)
    (result,) = law_values(now, MovingFrames(now), [formula])
    return as_expr(result)


def coupled_rates(tree: Tree) -> CoupledStates | None:
    """A z' = f of the states that equations share, in terms of q, v and t; None where there are none."""
    coupled = coupled_states(tree.mechanism, tree.definitions)
    if coupled is None:
        return None
    now = tree.at(tree.layout.coordinates, tree.layout.speeds)
    entries = [*(entry for row in coupled.matrix for entry in row), *coupled.right]
    values = iter([as_expr(value) for value in law_values(now, MovingFrames(now), entries)])
    matrix = tuple(tuple(next(values) for _ in row) for row in coupled.matrix)
    return CoupledStates(coupled.states, matrix, tuple(values))


def coordinate_rates(tree: Tree) -> list[Expr]:
    """q' in terms of q, v and t: of the joints' coordinates, then of the states beyond mechanics."""
    of_joints = [as_expr(rate) for link in tree.links for rate in link.motion.rates]
    if not tree.state_rates:
        return of_joints
    now = tree.at(tree.layout.coordinates, tree.layout.speeds)
    return [
        *of_joints,
        *(as_expr(rate) for rate in law_values(now, MovingFrames(now), list(tree.state_rates.values()))),
    ]
