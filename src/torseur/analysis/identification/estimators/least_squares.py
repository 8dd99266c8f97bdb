"""Ordinary, weighted, total and robust least squares and instrumental variables on the independent columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array, triangular_factor
from torseur.analysis.identification.estimators.regression import Regression, Triangle, combine
from torseur.errors import IdentificationError

HUBER = 1.345  # residuals beyond this many deviations count by their size, not their square
_SETTLED = 1e-9


@dataclass(frozen=True, eq=False)
class Solution:
    """Values of the chosen columns, their covariance, the deviation of each equation's noise, and the iterations.

    `history` holds what an iterative method minimised, or how much it changed, step by step.
    """

    values: Array
    covariance: Array
    noise: dict[int, float]
    history: tuple[float, ...] = ()


Progress = Callable[[float], None]


def solve_triangle(triangle: Triangle, columns: Sequence[int]) -> tuple[Array, Array, float]:
    """x that minimises |R x - c| over some columns, (RᵀR)⁻¹, and the sum of squares left."""
    R = triangle.R[:, list(columns)]
    # Columns of kilograms and of kg m² side by side: equal lengths first, or the inverse loses digits.
    scale = np.linalg.norm(R, axis=0)
    scale[scale == 0] = 1.0
    n = len(columns)
    #     [ R S⁻¹ | c ]  =  Q [ U  r ]      x = S⁻¹ U⁻¹ r, and ρ² joins the squares that no x reaches
    #                         [ 0  ρ ]
    upper = triangular_factor(np.column_stack([R / scale, triangle.c]))
    square, right = upper[:n, :n], upper[:n, n]
    from scipy.linalg import solve_triangular

    x = solve_triangular(square, right)
    inverse = solve_triangular(square, np.eye(n))
    left = triangle.rest + (float(upper[n, n] ** 2) if len(upper) > n else 0.0)
    return x / scale, (inverse @ inverse.T) / np.outer(scale, scale), left


def ordinary_least_squares(regression: Regression, columns: Sequence[int]) -> Solution:
    """Every sample of every equation counts the same."""
    triangles, joint = regression.triangles, regression.joint
    x, inverse, left = solve_triangle(joint, columns)
    variance = left / max(joint.rows - len(columns), 1)
    return Solution(x, variance * inverse, dict.fromkeys(triangles, float(np.sqrt(variance))))


def weighted_least_squares(regression: Regression, columns: Sequence[int], rounds: int = 20) -> Solution:
    """Each equation counts by the inverse of its noise, which the residuals of the fit before tell."""
    triangles = regression.triangles
    x = ordinary_least_squares(regression, columns).values
    history: list[float] = []
    # The noise from the residuals, the residuals from a fit weighted by it: a few rounds settle.
    for _ in range(rounds):
        noise = noise_levels(triangles, columns, x)
        joint = combine(list(triangles.values()), [1 / s for s in noise.values()], regression.width)
        new, inverse, _ = solve_triangle(joint, columns)
        history.append(float(np.max(np.abs(new - x)) / max(float(np.max(np.abs(new))), 1e-300)))
        x = new
        if history[-1] < _SETTLED:
            break
    return Solution(x, inverse, noise, tuple(history))


def noise_levels(triangles: dict[int, Triangle], columns: Sequence[int], x: Array) -> dict[int, float]:
    """Standard deviation of each equation's residual; never below what rounding leaves."""
    deviations = {}
    full = np.zeros(max(int(np.max(t.columns, initial=0)) for t in triangles.values()) + 1)
    full[list(columns)] = x
    rows = sum(t.rows for t in triangles.values())
    for equation, t in triangles.items():
        square = float(np.sum((t.R @ full[t.columns] - t.c) ** 2)) + t.rest
        size = float(np.sum(t.c**2)) + t.rest
        # Each equation pays for the parameters in proportion to its rows.
        freedom = max(t.rows * (1 - len(columns) / rows), 1.0)
        deviations[equation] = float(np.sqrt(max(square, 1e-24 * size, 1e-300) / freedom))
    return deviations


def total_least_squares(regression: Regression, columns: Sequence[int]) -> Solution:
    """Total least squares: the regressor is noisy too; the smallest singular vector of [W w], scaled by column."""
    start = weighted_least_squares(regression, columns)
    triangles = regression.triangles
    joint = combine(list(triangles.values()), [1 / s for s in start.noise.values()], regression.width)
    R = triangular_factor(
        # The factor of [W w], of a few rows, has the singular values of all samples.
        np.vstack([np.column_stack([joint.R[:, list(columns)], joint.c]), _rest_row(joint, len(columns))])
    )
    # The smallest singular vector (x, -1) of [W w] (Golub and Van Loan 1980); columns of equal length, since singular
    # values depend on units.
    scale = np.linalg.norm(R, axis=0)
    _, values, right = np.linalg.svd(R / scale)
    vector = right[-1] / scale
    if abs(vector[-1]) < 1e-12 * np.linalg.norm(vector):
        raise IdentificationError("total least squares has no solution here: the forces do not depend on the motion.")
    x = -vector[:-1] / vector[-1]
    covariance = start.covariance * (
        1 + float(np.sum((x * scale[-1] / scale[:-1]) ** 2)) * float(values[-1] ** 2) / max(joint.rows, 1)
    )
    return Solution(x, covariance, start.noise, tuple(values.tolist()))


def _rest_row(joint: Triangle, count: int) -> Array:
    row = np.zeros((1, count + 1))
    row[0, -1] = np.sqrt(max(joint.rest, 0.0))
    return row


def robust_least_squares(
    regression: Regression, columns: Sequence[int], rounds: int = 30, progress: Progress | None = None
) -> Solution:
    """Iteratively reweighted least squares with Huber's weights: outliers pull less."""
    start = weighted_least_squares(regression, columns)
    x, noise = start.values, dict(start.noise)
    full = np.zeros(regression.width)
    history: list[float] = []
    for turn in range(rounds):
        full[list(columns)] = x
        weights, noise = _huber_weights(regression, full)
        joint = combine(list((t := regression.factorise(weights)).values()), [1.0] * len(t), regression.width)
        new, inverse, _ = solve_triangle(joint, columns)
        history.append(float(np.max(np.abs(new - x)) / max(float(np.max(np.abs(new))), 1e-300)))
        x = new
        if progress is not None:
            progress((turn + 1) / rounds)
        if history[-1] < 1e-8:
            break
    return Solution(x, inverse, noise, tuple(history))


def _huber_weights(regression: Regression, full: Array) -> tuple[dict[tuple[int, int, int], Array], dict[int, float]]:
    """Square roots of the weights over the noise, per block, and the noise by the median of absolute residuals."""
    residuals = {
        (b.trial, b.equation, b.samples.start): b.matrix @ full[b.columns] - b.right for b in regression.blocks()
    }
    noise = {}
    for equation in dict.fromkeys(key[1] for key in residuals):
        together = np.concatenate([r for key, r in residuals.items() if key[1] == equation])
        noise[equation] = max(
            # The median of |r| times 1.4826 is the deviation of normal noise, and outliers do not move it (Huber 1981).
            1.4826 * float(np.median(np.abs(together))),
            1e-12 * float(np.max(np.abs(together))),
            1e-300,
        )
    weights = {}
    for key, r in residuals.items():
        # Weight 1 within HUBER deviations, HUBER / size beyond: 95 % efficient for normal noise (Huber 1964).
        size = np.abs(r) / noise[key[1]]
        weights[key] = np.sqrt(np.minimum(1.0, HUBER / np.maximum(size, 1e-300))) / noise[key[1]]
    return weights, noise


def instrumental_variables(regression: Regression, instruments: Regression, columns: Sequence[int]) -> Solution:
    """(Zᵀ W) x = Zᵀ w with the regressor Z of instruments: the same motion recorded again, or computed.

    Noise in W that Z does not share leaves no bias.
    """
    noise = weighted_least_squares(regression, columns).noise
    chosen = list(columns)
    # E Zᵀ e = 0 though E Wᵀ e ≠ 0: noise of the recorded motion stands in W and in e alike, and in Z not at all.
    ZW, ZZ, Zw = np.zeros((len(chosen), len(chosen))), np.zeros((len(chosen), len(chosen))), np.zeros(len(chosen))
    for ours, theirs in zip(regression.blocks(), instruments.blocks(), strict=True):
        if len(ours.right) != len(theirs.right) or ours.equation != theirs.equation:
            raise IdentificationError("instruments need the samples and forces of the trials they belong to.")
        place = {int(c): k for k, c in enumerate(ours.columns)}
        here = [k for k, c in enumerate(chosen) if c in place]
        W, Z = (b.matrix[:, [place[chosen[k]] for k in here]] / noise[ours.equation] for b in (ours, theirs))
        block = np.ix_(here, here)
        # Sums over blocks: neither Z nor W is ever whole in memory.
        ZW[block] += Z.T @ W
        ZZ[block] += Z.T @ Z
        Zw[here] += Z.T @ (ours.right / noise[ours.equation])
    scale = np.sqrt(np.diag(ZZ))
    inverse = np.linalg.inv(ZW / np.outer(scale, scale)) / np.outer(scale, scale)
    return Solution(inverse @ Zw, inverse @ ZZ @ inverse.T, noise)
