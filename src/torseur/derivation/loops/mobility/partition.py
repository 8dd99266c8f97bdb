"""Independent coordinates and the passage matrices that give everything from their speeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.configuration import ClosedConfiguration
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.model.poses import body_poses
from torseur.derivation.loops.rank.numerical_rank import numerical_rank

_WORTH_KEEPING = 0.05


@dataclass(frozen=True)
class Partition:
    """Independent freedoms, and what follows from their speeds (SI).

    `passage` is N: speeds of all freedoms per independent speed. `bodies` is Psi: per body, angular velocity and
    velocity of its origin in the earth's axes, stacked (6 per body). `quality` is the smallest singular value of
    the independent rows of an orthonormal basis of motions: 1 is best, 0 means that they do not determine it.
    """

    independent: tuple[str, ...]
    freedoms: tuple[str, ...]
    passage: Array
    bodies: Array
    body_names: tuple[str, ...]
    quality: float


def partition(here: ClosedConfiguration, preferred: Sequence[str] = ()) -> Partition:
    """Independent coordinates at a closed configuration: preferred ones while they serve, then the best."""
    system = here.system
    motions = _all_motions(here)
    names = [f.name for f in system.frame.freedoms]
    wanted = [names.index(name) for name in preferred if name in names]
    balls = [i for i, f in enumerate(system.frame.freedoms) if f.symbol is None]
    chosen = independent_rows(motions, wanted, balls)
    passage = motions @ np.linalg.inv(motions[chosen]) if chosen else np.zeros((system.n, 0))
    units = system.amounts.units
    body_names, stacked = _body_rows(system, here.state)
    return Partition(
        independent=tuple(names[i] for i in chosen),
        freedoms=tuple(names),
        # N is in the system's units of length: rows times, columns by their own unit give SI.
        passage=passage * units[:, None] / units[chosen],
        bodies=stacked @ passage / units[chosen],
        body_names=tuple(body_names),
        quality=quality(motions, chosen),
    )


def _all_motions(here: ClosedConfiguration) -> Array:
    """First-order motions that constraints on velocities allow too."""
    rows = here.system.velocity_rows(here.state)[0] @ here.rank.motions
    return here.rank.motions @ numerical_rank(rows).motions if len(rows) else here.rank.motions


def independent_rows(motions: Array, preferred: Sequence[int] = (), avoided: Sequence[int] = ()) -> list[int]:
    """Rows of a basis of motions that determine a motion: preferred ones while they add enough, then pivoted QR.

    Avoided rows (a ball's axes, which are no coordinates) come in only where others are ten times worse.
    """
    from scipy.linalg import qr

    # Motions dq = N u with the chosen rows N_c invertible: then dq = N N_c⁻¹ dq_c. Pivoted QR of Nᵀ picks rows far from
    # dependent; preferred ones go first, by Gram-Schmidt, as long as they add more than a twentieth of their length.
    count = motions.shape[1]
    space = np.zeros((count, 0))
    chosen: list[int] = []
    for i in preferred:
        rest = motions[i] - space @ (space.T @ motions[i])
        if len(chosen) < count and np.linalg.norm(rest) > _WORTH_KEEPING:
            space = np.column_stack([space, rest / np.linalg.norm(rest)])
            chosen.append(int(i))
    if len(chosen) < count:
        left = motions - (motions @ space) @ space.T
        left[list(avoided)] *= 0.1
        order = qr(left.T, pivoting=True, mode="r")[1]
        chosen += [int(i) for i in order[: count - len(chosen)]]
    return chosen


def quality(motions: Array, chosen: Sequence[int]) -> float:
    """How well chosen rows determine a motion: 1 / |dq/dq_independent|."""
    if not len(chosen):
        return 1.0
    return float(np.linalg.svd(motions[list(chosen)], compute_uv=False)[-1])


def _body_rows(system: LoopSystem, state: State) -> tuple[list[str], Array]:
    """Velocities of the bodies per freedom: angular, then of the body's origin in SI, in the earth's axes."""
    poses = body_poses(system, state)
    names = [body.name for body in system.frame.mechanism.bodies]
    blocks = []
    for name in names:
        angular, at_earth = poses.screws[name][:3], poses.screws[name][3:]
        # From the earth's origin to the body's: v + w x p.
        origin = at_earth + np.cross(angular, poses.position[name][:, None], axis=0)
        blocks.append(np.concatenate([angular, origin * system.length]))
    return names, np.concatenate(blocks) if blocks else np.zeros((0, system.n))
