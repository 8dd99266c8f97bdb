"""Drives: a motor with its current behind a gearbox, and a hydraulic cylinder with its pressures."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.algebra.graph import Expr, ExprLike, as_expr
from torseur.algebra.graph.scalar import absolute, tanh
from torseur.description.elements.element import Element
from torseur.description.mechanism.bodies import body, inertia
from torseur.description.mechanism.frames import EARTH
from torseur.description.mechanism.joints import Joint, Z, rotation, sequence
from torseur.description.mechanism.loads import motor
from torseur.description.mechanism.quantities import Coordinate, State
from torseur.errors import MechanismError


@dataclass(frozen=True)
class GearedMotor:
    """A DC motor with its gearbox: resistance (ohm), constant (N m/A, and V s alike), inductance (H), the ratio of
    motor speed over joint speed, the efficiency of the gearbox, and the inertia of the rotor, its armature (kg m²).

    From driving to driven the torque goes over within the joint speed `crossover` (rad/s).
    """

    resistance: ExprLike
    constant: ExprLike
    inductance: ExprLike = 0
    ratio: ExprLike = 1
    efficiency: ExprLike = 1
    armature: ExprLike = 0
    crossover: ExprLike = 0.01


def dc_motor(name: str, joint: Joint, voltage: ExprLike, data: GearedMotor) -> Element:
    """A DC motor that turns a joint: L i' = U - R i - k n q', torque n k i at the joint; `output` is the torque.

    The rotor is felt n² times. The gearbox passes on the part η of the power, whichever way it flows: the torque is
    η n k i where the motor drives and n k i/η where it is driven. Without inductance the current follows at once.
    """
    q, k, n, eta = _angle(name, joint), as_expr(data.constant), as_expr(data.ratio), as_expr(data.efficiency)
    if eta.is_constant and not 0.0 < float(eta) <= 1.0:
        raise MechanismError(f"motor '{name}': its efficiency is {float(eta):g}, expected above 0 and at most 1.")
    states: dict[State, Expr] = {}
    back = as_expr(voltage) - k * n * q.rate
    if as_expr(data.inductance).is_zero:
        current = as_expr(back / data.resistance)
    else:
        state = State(f"{name}.current", "A", "current")
        current = state.symbol
        states[state] = as_expr((back - as_expr(data.resistance) * state) / data.inductance)
    torque = n * k * current
    if not (eta.is_constant and float(eta) == 1.0):
        mean, half = (1 / eta + eta) / 2, (1 / eta - eta) / 2
        torque = mean * torque - half * absolute(torque) * tanh(q.rate / data.crossover)
    load = motor(name, joint.name, q.name, torque)
    inertia_felt = as_expr(data.armature) * n * n
    if inertia_felt.is_zero:
        return Element(name, as_expr(torque), states, loads=(load,))
    # Two wheels on the earth that turn against each other with the joint: inertia n² J and no angular momentum.
    turns = ((f"{name}.rotor", q.symbol), (f"{name}.counter-rotor", -q.symbol))
    wheels = tuple(body(w, mass=0, centre=(0, 0, 0), inertia=inertia(0, 0, inertia_felt / 2)) for w, _ in turns)
    joints = tuple(
        sequence(w, EARTH, wheel, (), (rotation(Z, amount),)) for wheel, (w, amount) in zip(wheels, turns, strict=True)
    )
    return Element(name, as_expr(torque), states, {}, (load,), (), wheels, joints)


@dataclass(frozen=True)
class OilChambers:
    """Both sides of a cylinder: areas (m²), volumes at x = 0 (m³) and pressures at the start (Pa) of the chamber that
    pushes and of that with the rod, the bulk modulus of the oil (Pa), and the leakage between them (m³/s/Pa).
    """

    area: ExprLike
    rod_area: ExprLike
    volume: ExprLike
    rod_volume: ExprLike
    bulk_modulus: ExprLike = 1.4e9
    leakage: ExprLike = 0
    start: tuple[float, float] = (0.0, 0.0)


def hydraulic_cylinder(name: str, joint: Joint, inflow: ExprLike, outflow: ExprLike, oil: OilChambers) -> Element:
    """A double-acting cylinder along a displacement x of a joint: force A p - A_r p_r, pressures of compressible oil.

    p' = β (inflow - A x' - c (p - p_r))/(V + A x) and p_r' = β (A_r x' - outflow + c (p - p_r))/(V_r - A_r x), with the
    flows (m³/s) into the chamber that pushes and out of that of the rod. Flows may be formulas of the pressures, the
    states NAME.pressure and NAME.rod_pressure.
    """
    q = joint.coordinates[0] if len(joint.coordinates) == 1 else None
    if q is None or q.unit != "m":
        raise MechanismError(f"cylinder '{name}': expected a joint with one displacement, and '{joint.name}' is none.")
    p, r = (State(f"{name}.{which}", "Pa", which.replace("_", " ")) for which in ("pressure", "rod_pressure"))
    leak = as_expr(oil.leakage) * (p - r.symbol)
    push, pull = as_expr(oil.area), as_expr(oil.rod_area)
    beta = as_expr(oil.bulk_modulus)
    rates = {
        p: as_expr(beta * (as_expr(inflow) - push * q.rate - leak) / (as_expr(oil.volume) + push * q.symbol)),
        r: as_expr(beta * (pull * q.rate - as_expr(outflow) + leak) / (as_expr(oil.rod_volume) - pull * q.symbol)),
    }
    force = as_expr(push * p - pull * r.symbol)
    begin = {p.name: oil.start[0], r.name: oil.start[1]}
    return Element(name, force, rates, begin, (motor(name, joint.name, q.name, force),))


def _angle(name: str, joint: Joint) -> Coordinate:
    if len(joint.coordinates) != 1 or joint.coordinates[0].unit != "rad":
        raise MechanismError(f"motor '{name}': expected a joint with one angle, and '{joint.name}' is none.")
    return joint.coordinates[0]
