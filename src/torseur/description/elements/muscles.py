"""Hill's muscle: activation, force by length and speed of the fibres, along a line over joints.

F = F₀ (a f_L(l) f_V(v) + f_P(l)), with l the length of the fibres over the optimal one and v their speed over the
greatest. Curves of De Groote, Kinney, Rao and Fregly (Annals of Biomedical Engineering 44, 2016), supplement S1.
"""

from __future__ import annotations

from dataclasses import dataclass

from torseur.algebra.graph import Expr, ExprLike, as_expr
from torseur.algebra.graph.scalar import cos, exp, log, sqrt, tanh, where
from torseur.description.elements.element import Element
from torseur.description.elements.lines import Line
from torseur.description.mechanism.quantities import State

# b1 to b4 of three bells, b1 exp(-½ ((l - b2)/(b3 + b4 l))²)
BELLS = (
    (0.8150671134243542, 1.055033428970575, 0.162384573599574, 0.063303448465465),
    (0.433004984392647, 0.716775413397760, -0.029947116970696, 0.200356847296188),
    (0.1, 1.0, 0.353553390593274, 0.0),
)
SPEEDS = (-0.3211346127989808, -8.149, -0.374, 0.8825327733249912)
PASSIVE, STRAIN = 4.0, 0.6  # shape, and strain at which passive fibres take the greatest isometric force


def active_force(length: ExprLike) -> Expr:
    """f_L: the part of the greatest isometric force that fibres of this normalised length give."""
    x = as_expr(length)
    parts = [b1 * exp(-((x - b2) * (x - b2)) / (2 * (b3 + b4 * x) * (b3 + b4 * x))) for b1, b2, b3, b4 in BELLS]
    return as_expr(sum(parts, as_expr(0)))


def force_at_speed(speed: ExprLike) -> Expr:
    """f_V: 0 at the greatest speed of shortening (-1), 1 at rest, up to 1.794 where fibres are stretched."""
    d1, d2, d3, d4 = SPEEDS
    x = d2 * as_expr(speed) + d3
    return as_expr(d1 * log(x + sqrt(x * x + 1)) + d4)


def passive_force(length: ExprLike) -> Expr:
    """f_P: nothing below the optimal length, 1 at a strain of 0.6."""
    x = as_expr(length)
    return as_expr(where(x <= 1, 0, (exp(PASSIVE * (x - 1) / STRAIN) - 1) / (exp(as_expr(PASSIVE)) - 1)))


@dataclass(frozen=True)
class Muscle:
    """A muscle's greatest isometric force (N), optimal length of its fibres (m), slack length of its tendon (m),
    greatest speed (optimal lengths per second), pennation at the optimal length (rad; the fibres' thickness stays), the
    time constants with which its activation rises and falls (s), and its activation at the start.
    """

    force: ExprLike
    fibre: ExprLike
    tendon: ExprLike
    fastest: ExprLike = 10
    pennation: ExprLike = 0
    rise: ExprLike = 0.015
    fall: ExprLike = 0.060
    start: float = 0.05


def hill_muscle(name: str, along: Line, excitation: ExprLike, data: Muscle) -> Element:
    """A muscle along a line, its tendon rigid; `output` is its tension (N).

    The activation follows the excitation, 0 to 1, as in that paper:
    a' = (f/(τ_r (½ + 3a/2)) + (1 - f) (½ + 3a/2)/τ_f) (e - a) with f = ½ + ½ tanh(10 (e - a)).
    """
    a = State(f"{name}.activation", "1", "activation")
    e, level = as_expr(excitation), 0.5 + 1.5 * a
    rising = 0.5 + 0.5 * tanh(10 * (e - a))
    rate = (rising / (as_expr(data.rise) * level) + (1 - rising) * level / data.fall) * (e - a)
    optimal = as_expr(data.fibre)
    if as_expr(data.pennation).is_zero:
        length, along_line, speed = along.length - data.tendon, as_expr(1), along.rate
    else:
        # The fibres' thickness h = l₀ sin α₀ stays; (L - tendon)² + h² is the square of their length.
        from_tendon = along.length - data.tendon
        thick = optimal * _sine(data.pennation)
        length = as_expr(sqrt(from_tendon * from_tendon + thick * thick))
        along_line = as_expr(from_tendon / length)
        speed = along.rate * along_line
    x, v = length / optimal, speed / (optimal * data.fastest)
    tension = as_expr(data.force) * (a * active_force(x) * force_at_speed(v) + passive_force(x)) * along_line
    states = {a: as_expr(rate)}
    return Element(
        name, as_expr(tension), states, {a.name: data.start}, tuple(along.loads(tension, name)), along.sensors
    )


def _sine(angle: ExprLike) -> Expr:
    c = cos(as_expr(angle))
    return as_expr(sqrt(1 - c * c))
