"""What is verified on the motion of a report."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torseur.equations import Equations
from torseur.errors import counted
from torseur.graph import as_expr, directional_derivative
from torseur.mechanism import TIME
from torseur.report.compose.terms import Samples
from torseur.report.content import Check
from torseur.simulation import Trajectory

LARGEST_MATRIX = 40
DRIFT, BALANCE = 1e-5, 1e-7  # relative errors above which a check fails
HELD = 1e-7  # m, rad and their rates: errors of constraints above which a check fails


def checks_of(equations: Equations, samples: Samples, trajectory: Trajectory) -> Iterator[Check]:
    """Energy, power, the equations themselves, and the mass matrix at every sample."""
    yield from _energy(equations, trajectory)
    yield from _power(equations, samples)
    yield _residual(equations, samples)
    yield from _constraints(equations, samples)
    yield from _mass_matrix(equations, samples)


def _energy(equations: Equations, trajectory: Trajectory) -> Iterator[Check]:
    """Constant energy, where nothing adds or takes any."""
    if not (equations.power.is_zero and equations.driving_power.is_zero):
        return
    energy, kinetic = trajectory["energy"], trajectory["kinetic_energy"]
    drift, scale = float(np.max(np.abs(energy - energy[0]))), float(np.max(np.abs(kinetic)))
    title = f"Energy: kinetic plus potential is constant within {drift:.1e} J"
    yield Check(drift <= DRIFT * scale, title, f"over {_span(trajectory)}; the kinetic energy reaches {scale:.4g} J")


def _span(trajectory: Trajectory) -> str:
    return f"{trajectory.time[-1] - trajectory.time[0]:.4g} s"


def _power(equations: Equations, samples: Samples) -> Iterator[Check]:
    """d(T + V)/dt against the power of loads and drivers, from the accelerations and multipliers of the motion."""
    layout = equations.layout
    moving = dict(zip(layout.coordinates, equations.rates, strict=True))
    moving |= dict(zip(layout.speeds, layout.accelerations, strict=True)) | {TIME: as_expr(1)}
    energy = equations.kinetic_energy + equations.potential_energy
    (rate,) = directional_derivative([energy], moving)
    gained, given = samples.values([rate, equations.power + equations.driving_power])
    terms = [f * v for f, v in zip(equations.loads, layout.speeds, strict=True)]
    scale = max(float(np.max(np.abs(x), initial=0.0)) for x in (gained, given, *samples.values(terms)))
    error = float(np.max(np.abs(gained - given)))
    size = max(scale, _rate_scale(equations, samples))
    who = "the loads" if equations.driving_power.is_zero else "loads and drivers"
    title = f"Power balance: the rate of energy equals the power of {who} within {error:.1e} W"
    yield Check(error <= BALANCE * max(size, 1e-300), title, f"powers reach {size:.4g} W")


def _rate_scale(equations: Equations, samples: Samples) -> float:
    """The size of the powers that cancel where energy is constant, and of the kinetic energy spent in a second.

    What rolls steadily has no powers at all; the rounding of their sum is then compared with its kinetic energy.
    """
    products = [b * v for b, v in zip(equations.bias, equations.layout.speeds, strict=True)]
    found = samples.values([*products, equations.kinetic_energy])
    return max((float(np.max(np.abs(x))) for x in found), default=0.0)


def _residual(equations: Equations, samples: Samples) -> Check:
    """M v' + b - Q with the accelerations that forward dynamics gave."""
    rows = samples.values(list(equations.residual))
    sizes = samples.values([*equations.bias, *equations.loads])
    scale = max((float(np.max(np.abs(x))) for x in sizes), default=0.0)
    error = max((float(np.max(np.abs(x))) for x in rows), default=0.0)
    title = f"Equations: M v' + b - Q vanishes along the motion within {error:.1e}"
    detail = f"accelerations and matrices are derived separately; forces reach {scale:.4g}"
    return Check(error <= BALANCE * max(scale, 1e-12), title, detail)


def _constraints(equations: Equations, samples: Samples) -> Iterator[Check]:
    """Φ(q, t) = 0 and C v + drift = 0 at every sample."""
    if not equations.constraints:
        return
    closed = [constraint.residual for constraint in equations.constraints if constraint.is_holonomic]
    speeds = equations.layout.speeds
    kept = [
        sum((c * v for c, v in zip(constraint.row, speeds, strict=True)), constraint.drift)
        for constraint in equations.constraints
    ]
    gap = max((float(np.max(np.abs(x))) for x in samples.values(closed)), default=0.0)
    slip = max((float(np.max(np.abs(x))) for x in samples.values(kept)), default=0.0)
    title = f"Constraints: held within {gap:.1e} in position and {slip:.1e} in speed"
    yield Check(max(gap, slip) <= HELD, title, counted(len(equations.constraints), "equation"))


def _mass_matrix(equations: Equations, samples: Samples) -> Iterator[Check]:
    n = len(equations.layout.speeds)
    if not 0 < n <= LARGEST_MATRIX:
        return
    entries = samples.values([entry for row in equations.mass_matrix for entry in row])
    matrices = np.stack(entries, axis=-1).reshape(samples.count, n, n)
    scale = np.sqrt(np.abs(np.einsum("tii->ti", matrices)))
    sound = bool(np.all(scale > 0))
    least = float(np.min(np.linalg.eigvalsh(matrices)))
    scaled = matrices / (scale[:, :, None] * scale[:, None, :]) if sound else matrices
    positive = sound and bool(np.min(np.linalg.eigvalsh(scaled)) > 1e-12)
    yield Check(positive, "Mass matrix: positive definite along the motion", f"smallest eigenvalue {least:.4g}")
