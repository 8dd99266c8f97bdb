"""A vehicle that slips, yaws and rolls after a step steer, by its rear axle: Sandel (2007), section 2.4.3.

    M V (α' + r) - M h x' = lateral tyre forces,   Izz r' + Ixz x' = their moment,   φ' = x
    (Ixx + M h²) x' - M h V (α' + r) + Ixz r' = -b x - (K - M g h) φ

α angle of the velocity at the mass centre, r yaw rate, φ roll angle. Tyre and axle act in series (1/D* = 1/D + 1/D'),
and roll steers and cambers the wheels. Everything is linear in the steering angle β.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.algebra.graph import Expr, Input, Program, symbol, vector
from torseur.analysis.sensitivity import Criterion, Sensitivities, Surface, sensitivity, sensitivity_surface
from torseur.analysis.sensitivity.steady.steady_states import steady_sensitivity
from torseur.computation.simulation import Quantity, System
from torseur.computation.simulation.model.system import Vector
from torseur.description.mechanism import TIME

REAR = ("C2", "D2", "D2p")  # camber stiffness of a rear tyre, its cornering stiffness, that of the rear axle
STATES = {"alpha": "rad", "r": "rad/s", "x": "rad/s", "phi": "rad"}
CONSTANTS = {
    "V": (30.0, "m/s", "forward speed"),
    "beta": (0.15, "rad", "steering angle, a step"),
    "M": (1590.0, "kg", "mass"),
    "h": (0.476, "m", "height of the mass centre above the roll axis"),
    "Ixx": (569.0, "kg*m^2", "moment of inertia about the roll axis"),
    "Izz": (1866.0, "kg*m^2", "moment of inertia in yaw"),
    "Ixz": (0.0, "kg*m^2", "product of inertia"),
    "a1": (1.141, "m", "distance of the front axle"),
    "a2": (1.639, "m", "distance of the rear axle"),
    "b": (4313.0, "N*m*s", "damping in roll"),
    "K": (104313.0, "N*m", "stiffness in roll"),
    "g": (9.81, "m/s^2", "gravity"),
    "D1": (65763.0, "N", "cornering stiffness of a front tyre"),
    "D2": (58588.0, "N", "cornering stiffness of a rear tyre"),
    "D1p": (384615.0, "N", "cornering stiffness of the front axle"),
    "D2p": (363636.0, "N", "cornering stiffness of the rear axle"),
    "C1": (1750.0, "N", "camber stiffness of a front tyre"),
    "C2": (1320.0, "N", "camber stiffness of a rear tyre"),
    "l1": (1.042, "1", "camber per roll, front"),
    "l2": (0.878, "1", "camber per roll, rear"),
    "e1": (-0.03, "1", "steer per roll, front"),
    "e2": (-0.0065, "1", "steer per roll, rear"),
}


def roll_yaw_vehicle() -> System:
    """The vehicle going straight at first; `lateral_acceleration` is V (r + α')."""
    y = tuple(symbol(name, unit) for name, unit in STATES.items())
    p = {name: symbol(name, unit, meaning) for name, (_, unit, meaning) in CONSTANTS.items()}
    rates = _rates(y, p)
    lateral = p["V"] * (y[1] + rates[0])
    inputs = (Input("t", (TIME,)), Input("y", y), Input("p", tuple(p.values())))
    return System(
        states=tuple(Quantity(name, unit) for name, unit in STATES.items()),
        initial=(0.0,) * 4,
        rhs=Program("vehicle", inputs, (vector("dy", rates),)),
        coordinates=0,
        parameters=tuple(Quantity(name, unit, meaning) for name, (_, unit, meaning) in CONSTANTS.items()),
        values=tuple(value for value, _, _ in CONSTANTS.values()),
        quantities={"lateral_acceleration": (Quantity("lateral_acceleration", "m/s^2"), lateral)},
        name="roll_yaw_vehicle",
    )


def _rates(y: tuple[Expr, ...], p: dict[str, Expr]) -> list[Expr]:
    alpha, r, x, phi = y
    front, rear = (2 * p[f"D{k}"] * p[f"D{k}p"] / (p[f"D{k}"] + p[f"D{k}p"]) for k in (1, 2))
    front_roll = front * (p["l1"] * p["C1"] / p["D1"] - p["e1"])
    rear_roll = rear * (p["l2"] * p["C2"] / p["D2"] - p["e2"])
    slip_front = alpha + p["a1"] * r / p["V"] - p["beta"]
    slip_rear = alpha - p["a2"] * r / p["V"]
    force_front = -front * slip_front - front_roll * phi
    force_rear = -rear * slip_rear - rear_roll * phi
    force = force_front + force_rear - p["M"] * p["V"] * r
    moment = p["a1"] * force_front - p["a2"] * force_rear
    weight = p["M"] * p["g"] * p["h"]
    rolling = p["M"] * p["h"] * p["V"] * r - p["b"] * x - (p["K"] - weight) * phi + p["h"] * force
    coupling = p["Ixz"] / p["Izz"]
    roll = (rolling - coupling * moment) / (p["Ixx"] - coupling * p["Ixz"])
    yaw = (moment - p["Ixz"] * roll) / p["Izz"]
    slip = (force + p["M"] * p["h"] * roll) / (p["M"] * p["V"])
    return [slip, yaw, roll, x]


def steady(speed: float = 30.0, steering: float = 0.15) -> Sensitivities:
    """Slip, yaw rate, roll and lateral acceleration in a steady turn, by the rear parameters."""
    criteria = ["alpha", "r", "phi", "lateral_acceleration"]
    return steady_sensitivity(roll_yaw_vehicle(), criteria, list(REAR), values={"V": speed, "beta": steering})


def transient(speed: float = 30.0, steering: float = 0.15, until: float = 5.0, rtol: float = 1e-9) -> Sensitivities:
    """The same after a step steer, as functions of time, with the heading."""
    plain: list[str | Criterion] = ["alpha", "r", "phi", "lateral_acceleration"]
    criteria = [*plain, Criterion("r", "integral", name="heading")]
    values = {"V": speed, "beta": steering}
    samples = round(until / 0.04) + 1
    return sensitivity(roll_yaw_vehicle(), criteria, list(REAR), until=until, samples=samples, values=values, rtol=rtol)


def operating_points(speeds: Vector | None = None, steering: Vector | None = None, until: float = 5.0) -> Surface:
    """The yaw rate by the rear parameters over a grid of speed and steering, 10 by 10 unless said otherwise."""
    over = {
        "V": np.linspace(3.0, 30.0, 10) if speeds is None else speeds,
        "beta": np.linspace(0.015, 0.15, 10) if steering is None else steering,
    }
    return sensitivity_surface(roll_yaw_vehicle(), "r", list(REAR), over, until=until)


@dataclass(frozen=True)
class TableRow:
    """A parameter in a table of the source: computed per 1 %, and as printed there."""

    parameter: str
    computed: float
    printed: float


PRINTED_YAW = {"C2": 2.8e-4, "D2": -0.011, "D2p": 1.6e-3}
PRINTED_HEADING = {"C2": 1.1e-3, "D2": -0.05, "D2p": 8e-3}


def tables() -> dict[str, tuple[TableRow, ...]]:
    """Table 2.4.4 (yaw rate) and 2.4.6 (heading after 5 s) at 30 m/s and 0.15 rad, per 1 % of each parameter.

    The sign of D2' is reversed in print: tyre and axle act in series, so both stiffnesses have the same sign.
    """
    rows = transient()
    columns = {"yaw rate": ("r", PRINTED_YAW), "heading": ("heading", PRINTED_HEADING)}
    return {
        title: tuple(TableRow(n, float(rows.derivative(c, n, "per_percent")[-1]), printed[n]) for n in REAR)
        for title, (c, printed) in columns.items()
    }
