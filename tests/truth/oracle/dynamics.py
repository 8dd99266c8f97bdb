"""Accelerations and multipliers of a state: Newton and Euler for every body, under all constraints.

    m v_c' = F            J ω' + ω x J ω = M            0 = f_q            with the forces Cᵀ λ of C u' = γ added,

which is one symmetric system for u' and λ:

    | W  -Cᵀ | | u' |   | f - bias |
    | C   0  | | λ  | = |    γ     |

W has the masses and inertia matrices on its diagonal and zeros for joint coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass

import mpmath
import numpy as np
from scipy.linalg import qr

from truth.oracle.constraints import linear_rows
from truth.oracle.jets import Jet
from truth.oracle.loads import generalised_forces, joint_wrench
from truth.oracle.state import body_rotation

RANK = 1e-9
"""A constraint row counts as implied by others when less than this part of it is new."""


class SingularState(Exception):
    """Bodies without mass, a pole of angles, or constraints that meet: the equations have no single solution."""


@dataclass(frozen=True)
class Dynamics:
    """u' and λ (zero for rows that others imply), with the constraints' matrix and the owner of each row."""

    accelerations: np.ndarray
    multipliers: np.ndarray
    matrix: np.ndarray
    owners: list
    independent: np.ndarray


def dynamics(model, state):
    """What happens at a state."""
    matrix, _, gamma, owners = linear_rows(model, state)
    independent = independent_rows(matrix)
    C, n = matrix[independent], model.size
    m = len(C)
    W, f = mass_matrix(model), generalised_forces(model, state) - gyroscopic(model, state)
    system = model.zeros(n + m, n + m) + 0 * f[:1].sum()
    system[:n, :n], system[:n, n:], system[n:, :n] = W, -C.T, C
    solution = solve(system, np.concatenate([f, gamma[independent]]))
    multipliers = 0 * np.asarray(gamma)
    multipliers[independent] = solution[n:]
    return Dynamics(solution[:n], multipliers, matrix, owners, independent)


def mass_matrix(model):
    W = model.zeros(model.size, model.size) + 0 * sum(i.mass for i in model.inertias)
    for k, inertia in enumerate(model.inertias):
        W[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = inertia.mass * np.eye(3)
        W[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = inertia.matrix
    return W


def gyroscopic(model, state):
    """ω x J ω of every body."""
    force = 0 * state.velocities
    for k, inertia in enumerate(model.inertias):
        omega = state.velocities[6 * k + 3 : 6 * k + 6]
        momentum = inertia.matrix @ omega
        force[6 * k + 3 : 6 * k + 6] = [
            omega[1] * momentum[2] - omega[2] * momentum[1],
            omega[2] * momentum[0] - omega[0] * momentum[2],
            omega[0] * momentum[1] - omega[1] * momentum[0],
        ]
    return force


def independent_rows(matrix):
    """Rows that span all rows, by QR factors with pivots of the rows scaled to unit length."""
    real = np.asarray(np.real(matrix), dtype=float)
    if not len(real):
        return np.zeros(0, dtype=int)
    if not np.all(np.isfinite(real)):
        raise SingularState("a constraint has no derivative here")
    lengths = np.linalg.norm(real, axis=1)
    scaled = real / np.where(lengths > 0, lengths, 1)[:, None]
    _, factor, order = qr(scaled.T, pivoting=True, mode="economic")
    rank = int(np.sum(np.abs(np.diag(factor)) > RANK))
    return np.sort(order[:rank])


def solve(system, right):
    """The solution of a square system in any of the oracle's numbers.

    Rows and columns are scaled first, because masses of grams stand beside unit rows of constraints.
    """
    if system.dtype == object:
        return np.array(
            list(mpmath.lu_solve(mpmath.matrix(system.tolist()), mpmath.matrix(right.tolist()))), dtype=object
        )
    size = np.sqrt(np.max(np.abs(system), axis=1))
    size = np.where(size > 0, size, 1)
    try:
        return np.linalg.solve(system / size[:, None] / size, right / size) / size
    except np.linalg.LinAlgError:
        raise SingularState("nothing determines the accelerations here") from None


def reaction(model, state, joint_name, result=None):
    """Force and moment that a joint's parent exerts on its child, at the child's joint frame and in its axes.

    None where a component is not determined: where a combination of multipliers that does no work contains it.
    """
    result = result or dynamics(model, state)
    curves = model.curves(state)
    joint = model.mechanism.joint(joint_name)
    axes = curves.frame_place(joint.child).rotation.value[0]
    mine = [k for k, owner in enumerate(result.owners) if owner == joint_name]
    force, moment = result.multipliers[mine[:3]], result.multipliers[mine[3:6]]
    force, moment = axes.T @ force, moment
    for load in model.mechanism.loads:
        if type(load).__name__ == "JointWrench" and load.joint == joint_name:
            _, f, m = joint_wrench(curves, load)
            force, moment = force + axes.T @ f, moment + axes.T @ m
    free = idle_multipliers(result.matrix)[mine[:6]]
    free = np.vstack([axes.T @ free[:3], free[3:]]) if free.shape[1] else free
    known = np.max(np.abs(free), axis=1, initial=0) < 1e-7
    return [value if sure else None for value, sure in zip([*force, *moment], known, strict=True)]


def idle_multipliers(matrix):
    """Combinations of multipliers that exert no force: the columns span the kernel of Cᵀ."""
    real = np.asarray(np.real(matrix), dtype=float)
    if not len(real):
        return np.zeros((0, 0))
    u, s, _ = np.linalg.svd(real)
    rank = int(np.sum(s > RANK * s[0]))
    return u[:, rank:]


def second_rates(model, state, names, result=None):
    """Rates of speeds or of coordinates' rates (by name, as formulas know them) in the motion through a state."""
    result = result or dynamics(model, state)
    curves = Accelerating(model, state, result.accelerations)
    return {name: np.ravel(np.broadcast_to(curves[name].rate, (1,)))[0] for name in names}


def Accelerating(model, state, accelerations):
    """The curves of the motion itself: with second derivatives that include u'.

    Only rates' names need them, so they are put in: x'' of a coordinate, e'' of a quaternion, ω'.
    """
    curves = model.curves(state)
    for joint in model.mechanism.joints:
        turning = model.quaternions[joint.name]
        for c in joint.coordinates:
            if c.name not in turning:
                change = accelerations[model.column[f"{c.name}'"]]
                q, rate = curves[c.name], curves[f"{c.name}'"]
                dict.__setitem__(curves, c.name, Jet(q.value, q.rate, q.second + change))
                dict.__setitem__(curves, f"{c.name}'", Jet(rate.value, rate.rate + change))
        if turning:
            _accelerate_quaternion(model, curves, joint, turning, accelerations)
    return curves


def _accelerate_quaternion(model, curves, joint, turning, accelerations):
    first = model.column[f"{joint.name}.wx"]
    alpha = accelerations[first : first + 3]
    a, b, c, d = (curves[name].value for name in turning)
    x, y, z = alpha
    change = [
        (-b * x - c * y - d * z) / 2,
        (a * x + c * z - d * y) / 2,
        (a * y - b * z + d * x) / 2,
        (a * z + b * y - c * x) / 2,
    ]
    for name, extra in zip(turning, change, strict=True):
        e = curves[name]
        dict.__setitem__(curves, name, Jet(e.value, e.rate, e.second + extra))
        dict.__setitem__(curves, f"{name}'", curves[name].derivative)
    for k, axis in enumerate("xyz"):
        w = curves[f"{joint.name}.w{axis}"]
        dict.__setitem__(curves, f"{joint.name}.w{axis}", Jet(w.value, w.rate + alpha[k]))


def kinetic_energy(model, state):
    """Half of m v² and ω·J ω, summed over the bodies."""
    W = mass_matrix(model)
    return state.velocities @ W @ state.velocities / 2


__all__ = [
    "Dynamics",
    "body_rotation",
    "dynamics",
    "independent_rows",
    "kinetic_energy",
    "reaction",
    "second_rates",
    "solve",
]
