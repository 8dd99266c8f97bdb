"""Curves of a suspension: angles, roll centre, support angles, wheel rate and motion ratio over travel or steering.

The body is held, the wheel's centre is moved through its travel, and everything follows through the closed loops. The
wheel is given by a frame: its origin is the wheel's centre, its y axis the axle. x points forward, y to the left, z up
in the axes of the body; angles have the signs of ISO 8855 for the side on which the wheel is: camber is positive where
the top leans outward, toe where the front points inward.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.analysis.vehicles.wheel_travel import NUDGE, Placed, Suspension
from torseur.computation.simulation.model.system import Vector
from torseur.errors import TorseurError, list_names, unknown_name

# name: (unit, meaning)
QUANTITIES: Mapping[str, tuple[str, str]] = {
    "camber": ("rad", "the top of the wheel leans outward"),
    "toe": ("rad", "the front of the wheel points inward"),
    "half track": ("m", "of the contact, from the middle of the vehicle"),
    "wheelbase change": ("m", "the wheel's centre moves forward"),
    "caster": ("rad", "the steering axis leans to the rear"),
    "kingpin inclination": ("rad", "the steering axis leans inward"),
    "scrub radius": ("m", "the steering axis meets the ground inside the contact"),
    "caster trail": ("m", "the steering axis meets the ground ahead of the contact"),
    "roll centre height": ("m", "above the ground, both sides alike"),
    "support angle, braking": ("rad", "the locked wheel's contact goes forward as it rises"),
    "support angle, driving": ("rad", "the wheel's centre goes backward as it rises"),
    "anti-dive": ("1", "part of the dive that the arms take, braking"),
    "wheel load": ("N", "upward force at the contact that holds the springs"),
    "wheel rate": ("N/m", "its change with the travel"),
}


@dataclass(frozen=True, eq=False)
class Curves:
    """Quantities over the travel (m) or the steering, a value at each place; what cannot be had is missing."""

    name: str
    over: str
    places: Vector
    values: Mapping[str, Vector]
    ratios: Mapping[str, Vector]

    def __getitem__(self, name: str) -> Vector:
        known = {**self.values, **{f"motion ratio of {spring}": ratio for spring, ratio in self.ratios.items()}}
        if name not in known:
            raise TorseurError(unknown_name("curve", name, known))
        return known[name]


def suspension_curves(
    suspension: Suspension, travel: Sequence[float] | Vector, steering: float | None = None, name: str = ""
) -> Curves:
    """Curves over the travel (m) from where the suspension is described, the steering at a value."""
    placed = suspension.prepared.start(steering)
    zero, found = placed.height, []
    order = np.argsort(np.abs(np.asarray(travel, dtype=float)), kind="stable")
    reached: dict[float, Placed] = {0.0: placed}
    values: list[dict[str, float]] = [{} for _ in order]
    ratios: list[dict[str, float]] = [{} for _ in order]
    for k in order.tolist():
        z = float(travel[k])
        near = min(reached, key=lambda other: abs(other - z))
        placed = reached[z] = reached[near].at_height(zero + z)
        values[k], ratios[k] = _quantities(placed, steering), placed.ratios()
        found.append(z)
    return _curves(name, "travel", np.asarray(travel, dtype=float), values, ratios)


def steering_curves(
    suspension: Suspension, steering: Sequence[float] | Vector, travel: float = 0.0, name: str = ""
) -> Curves:
    """Curves over the steering, at a travel (m)."""
    if suspension.steering is None:
        raise TorseurError("curves over the steering need its name: steering = a parameter or coordinate.")
    zero = suspension.prepared.start(0.0).height
    placed = [suspension.prepared.start(float(u)).at_height(zero + travel) for u in steering]
    values = [_quantities(p, float(u)) for p, u in zip(placed, steering, strict=True)]
    return _curves(name, suspension.steering, np.asarray(steering, dtype=float), values, [p.ratios() for p in placed])


def _curves(
    name: str, over: str, places: Vector, values: Sequence[Mapping[str, float]], ratios: Sequence[Mapping[str, float]]
) -> Curves:
    return Curves(
        name,
        over,
        places,
        {key: np.array([v[key] for v in values]) for key in QUANTITIES if all(key in v for v in values)},
        {key: np.array([r.get(key, 0.0) for r in ratios]) for key in dict.fromkeys(k for r in ratios for k in r)},
    )


def _quantities(placed: Placed, steering: float | None) -> dict[str, float]:
    suspension, side, outward = placed.prepared.suspension, placed.side, placed.outward
    centre, contact = placed.rates(placed.tangent)
    at_contact = placed.centre + placed.contact_from_centre
    zero = placed.prepared.start(steering).centre
    rear, front = placed.at_height(placed.height - NUDGE), placed.at_height(placed.height + NUDGE)
    values = {
        "camber": -float(np.arcsin(outward[2])),
        "toe": float(np.arctan2(outward[0], abs(outward[1]))),
        "half track": float(abs(at_contact[1])),
        "wheelbase change": float(placed.centre[0] - zero[0]),
        # The line through the contact across its velocity meets the middle plane there.
        "roll centre height": float(at_contact[1] * contact[1] / contact[2]),
        "support angle, braking": float(np.arctan2(contact[0], contact[2])),
        "support angle, driving": float(np.arctan2(-centre[0], centre[2])),
        "wheel load": placed.wheel_load,
        "wheel rate": (front.wheel_load - rear.wheel_load) / (2.0 * NUDGE),
    }
    if suspension.wheelbase is not None:
        slope = contact[0] / contact[2]
        values["anti-dive"] = float(suspension.brake_share * slope * suspension.wheelbase / suspension.height)
    axis = _steering_axis(placed, steering)
    if axis is not None:
        through, along = axis
        ground = through + along * (at_contact[2] - through[2]) / along[2]
        values |= {
            "caster": float(np.arctan2(-along[0], along[2])),
            "kingpin inclination": float(np.arctan2(-side * along[1], along[2])),
            "scrub radius": float(side * (at_contact[1] - ground[1])),
            "caster trail": float(ground[0] - at_contact[0]),
        }
    return values


def _steering_axis(placed: Placed, steering: float | None) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """A point of the steering axis and its direction upward: through two frames, or the screw of steering itself."""
    suspension = placed.prepared.suspension
    if suspension.kingpin is not None:
        lower, upper = (placed._own(placed.points[8 + k] - placed.points[4]) for k in (0, 1))
        return lower, (upper - lower) / np.linalg.norm(upper - lower)
    if suspension.steering is None:
        return None
    u = steering if steering is not None else _steering_value(placed)
    ends = [placed.prepared.start(u + h).at_height(placed.height) for h in (-NUDGE, NUDGE)]
    low, high = (np.array([end._own(end.points[k] - end.points[4]) for k in range(4)]) for end in ends)
    rates, here = high - low, 0.5 * (high + low)
    # ω from how the axes of the wheel turn: ω = ½ Σ e x e'.
    spin = 0.5 * np.sum([np.cross(here[k] - here[0], rates[k] - rates[0]) for k in (1, 2, 3)], axis=0)
    size = float(spin @ spin)
    if size < 1e-24:
        raise TorseurError(f"steering by '{suspension.steering}' does not turn '{suspension.wheel}'.")
    through = here[0] + np.cross(spin, rates[0]) / size
    return through, spin / np.sqrt(size) * np.sign(spin[2])


def _steering_value(placed: Placed) -> float:
    name, point = placed.prepared.suspension.steering, placed.point
    assert name is not None
    layout = point.equations.layout
    if name in layout.coordinate_names:
        return float(point.y[layout.coordinate_names.index(name)])
    return float(point.numbers.parameters[layout.parameter_names.index(name)])


def require_curve(name: str, curves: Curves) -> None:
    """Refuses the name of a curve that this suspension does not have."""
    if name not in curves.values:
        has = list_names(list(curves.values))
        raise TorseurError(f"the suspension has no curve '{name}'; it has {has}.")
