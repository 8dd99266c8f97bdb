"""Dry friction of joints as robot files say it: one number for each coordinate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from torseur.algebra.graph import Expr, as_expr, gradient, live_nodes, substitute, symbol, symbols_of
from torseur.description.mechanism import CoordinateForce, DryFriction, Mechanism
from torseur.description.readers.robot_assembly import Options
from torseur.description.readers.writing.file_outline import LeftOut
from torseur.description.readers.writing.numeric_values import Values


@dataclass(frozen=True)
class Friction:
    """The largest force (N, N*m) against a rate; it fades below a speed, or sticks where there is none."""

    name: str
    coordinate: str
    force: float
    speed: float | None


def write_friction(mechanism: Mechanism, values: Values, left: LeftOut) -> tuple[dict[str, float], set[str]]:
    """Forces by coordinate, and the names of the loads and contacts that they stand for.

    How a friction behaves about zero speed is for the reader of a file to choose; what is another way than his usual
    one is noted.
    """
    found = list(_frictions((*mechanism.loads, *mechanism.contacts), values))
    forces: dict[str, float] = {}
    for friction in found:
        forces[friction.coordinate] = forces.get(friction.coordinate, 0.0) + friction.force
        if friction.speed is None:
            left.note(f"that '{friction.name}' sticks (sticking=True where the file is read)")
        elif abs(friction.speed - Options.friction_speed) > 1e-9 * Options.friction_speed:
            left.note(f"the speed {friction.speed:g} of '{friction.name}' (friction_speed where the file is read)")
    return forces, {friction.name for friction in found}


def _frictions(elements: Iterable[object], values: Values) -> Iterable[Friction]:
    for element in elements:
        if isinstance(element, CoordinateForce):
            friction = _fading(element, values)
        elif isinstance(element, DryFriction):
            friction = _sticking(element, values)
        else:
            continue
        if friction is not None:
            yield friction


def _fading(load: CoordinateForce, values: Values) -> Friction | None:
    """-f tanh(q'/s) or -f sign(q'), with s = 0; None where the law is another one."""
    law = values.plain(load.law)
    steps = [node for node in live_nodes([law]) if node.op in ("tanh", "sign")]
    rate = next((q.rate for q in values.coordinates if q.name == load.coordinate), None)
    if len(steps) != 1 or rate is None:
        return None
    (step,), slip = steps, symbol("slip")
    height = _proportion(substitute([law], {step: slip})[0], slip, values)
    ratio = _proportion(step.args[0], rate, values)
    if height is None or ratio is None or not height * ratio < 0.0:
        return None
    return Friction(load.name, load.coordinate, abs(height), 1.0 / abs(ratio) if step.op == "tanh" else 0.0)


def _sticking(element: DryFriction, values: Values) -> Friction | None:
    """Friction with one force, at rest and sliding, against the rate of one coordinate."""
    if len(element.slip) != 1 or element.on or element.breakaway is not None or not element.coefficient.is_zero:
        return None
    (slip,) = element.slip
    rates = [q for q in values.coordinates if q.rate in symbols_of([slip])]
    ratio = _proportion(slip, rates[0].rate, values) if len(rates) == 1 else None
    if ratio is None or any(x not in values.parameters for x in symbols_of([values.plain(element.force)])):
        return None
    force = values.number(element.force, f"contact '{element.name}'")
    return Friction(element.name, rates[0].name, force * abs(ratio), None)


def _proportion(formula: Expr, x: Expr, values: Values) -> float | None:
    """k of k x, by parameters alone; None where a formula is not of that kind."""
    (slope,) = gradient(formula, [x])
    (rest,) = substitute([formula], {x: as_expr(0)})
    if not rest.is_zero or any(name not in values.parameters for name in symbols_of([slope])):
        return None
    return values.number(slope, "friction")
