"""The orthogonal double pendulum: kinetic energy and its integral by m1, m2, l2, r2, both methods compared in time."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.analysis.sensitivity import Criterion, Sensitivities, sensitivity
from torseur.computation.simulation import simulate
from torseur.description.library.catalogue import load

PARAMETERS = ("m1", "m2", "l2", "r2")
UNTIL = 5.0
REPETITIONS = 5


@dataclass(frozen=True, eq=False)
class Timing:
    """A method, what it found, and what it took in units of the motion alone."""

    method: str
    sensitivities: Sensitivities
    seconds: float
    simulations: float


def energies(method: str = "auto", samples: int | None = 51, rtol: float = 1e-9) -> Sensitivities:
    """Kinetic energy and its integral, as functions of time."""
    criteria = [Criterion("kinetic_energy"), Criterion("kinetic_energy", "integral")]
    mechanism = load("double_pendulum")
    return sensitivity(mechanism, criteria, list(PARAMETERS), until=UNTIL, samples=samples, method=method, rtol=rtol)


def methods_in_time(rtol: float = 1e-9) -> tuple[Timing, ...]:
    """Both methods at the end of the motion, the best of a few repetitions, compilation left out."""
    mechanism = load("double_pendulum")
    motion = min(_motion_time(mechanism, rtol) for _ in range(REPETITIONS))
    timings = []
    for method in ("direct", "adjoint"):
        runs = [sensitivity(mechanism, "kinetic_energy", list(PARAMETERS), until=UNTIL, method=method, rtol=rtol)]
        runs += [
            sensitivity(mechanism, "kinetic_energy", list(PARAMETERS), until=UNTIL, method=method, rtol=rtol)
            for _ in range(REPETITIONS)
        ]
        seconds = min(run.seconds for run in runs)
        timings.append(Timing(method, runs[-1], seconds, seconds / motion))
    return tuple(timings)


def _motion_time(mechanism: object, rtol: float) -> float:
    motion = simulate(mechanism, UNTIL, samples=2, rtol=rtol)  # type: ignore[arg-type]
    assert motion.statistics is not None
    return motion.statistics.wall_time
