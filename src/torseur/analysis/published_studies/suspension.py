"""Roll of a double wishbone axle by its hard points: two closed loops, differentiated through."""

from __future__ import annotations

from torseur.analysis.sensitivity import Criterion, Sensitivities, sensitivity
from torseur.analysis.sensitivity.steady.small_motion_sensitivity import ModeSensitivities, eigenvalue_sensitivity
from torseur.analysis.sensitivity.steady.steady_states import steady_sensitivity
from torseur.description.library.catalogue import load
from torseur.description.mechanism import Mechanism

HARD_POINTS = ("yli", "zli", "ylo", "zlo", "yui", "zui", "yuo", "zuo")


def axle() -> Mechanism:
    """The front axle of the library."""
    return load("wishbone_axle")


def roll_in_a_turn(lateral_acceleration: float = 3.0) -> Sensitivities:
    """Roll and heave of the body in a steady turn, by the positions of the arms' ends."""
    return steady_sensitivity(axle(), ["roll", "heave"], list(HARD_POINTS), values={"ay": lateral_acceleration})


def roll_after_a_step(until: float = 1.5, samples: int = 76, rtol: float = 1e-7) -> Sensitivities:
    """Roll after the lateral acceleration sets in, as a function of time, and its largest value."""
    criteria = [Criterion("roll"), Criterion("roll", "maximum")]
    return sensitivity(axle(), criteria, list(HARD_POINTS), until=until, samples=samples, rtol=rtol)


def modes() -> ModeSensitivities:
    """Ride and roll frequencies of the axle standing straight, by the hard points and the springs."""
    return eigenvalue_sensitivity(axle(), [*HARD_POINTS, "ks", "cs"], values={"ay": 0.0})
