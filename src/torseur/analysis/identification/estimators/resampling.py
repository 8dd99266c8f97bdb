"""Bootstrap and cross-validation: what the fit would have been with other data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.identification.data.trials import Trial
from torseur.analysis.identification.estimators import least_squares as ls
from torseur.analysis.identification.estimators.regression import Regression, excited_columns
from torseur.analysis.identification.model.base_parameters import BaseParameters, base_parameters
from torseur.analysis.identification.model.linear_model import LinearModel
from torseur.analysis.identification.results.estimate import Bootstrap
from torseur.analysis.identification.results.fits import Fit, fits_of
from torseur.errors import IdentificationError

BLOCKS = 40  # pieces of the recordings that are drawn with replacement


def bootstrap_fits(
    regression: Regression, columns: Sequence[int], noise: Mapping[int, float], replications: int, seed: int = 0
) -> Bootstrap:
    """Weighted fits to blocks of consecutive samples drawn with replacement.

    Blocks, not samples, so that noise correlated in time keeps its correlation.
    """
    if replications < 2:
        raise IdentificationError("a bootstrap needs at least two replications.")
    squares, products = _block_products(regression, list(columns), noise)
    scale = np.sqrt(np.maximum(np.diag(squares.sum(axis=0)), 1e-300))
    squares, products = squares / np.outer(scale, scale), products / scale
    rng = np.random.default_rng(seed)
    # Normal equations of a block are summed once; a replication is then a sum of small matrices and one solution.
    draws = rng.integers(0, len(squares), (replications, len(squares)))
    values = [np.linalg.solve(squares[d].sum(axis=0), products[d].sum(axis=0)) / scale for d in draws]
    return Bootstrap(np.array(values))


def _block_products(regression: Regression, columns: list[int], noise: Mapping[int, float]) -> tuple[Array, Array]:
    """WᵀW and Wᵀw of consecutive pieces of the trials, all equations of a piece together."""
    samples = sum(len(trial) for trial in regression.trials)
    length = max(samples // BLOCKS, 1)
    width = len(columns)
    pieces: dict[tuple[int, int], tuple[Array, Array]] = {}
    for block in regression.blocks():
        place = {int(c): k for k, c in enumerate(block.columns)}
        here = [k for k, c in enumerate(columns) if c in place]
        matrix = block.matrix[:, [place[columns[k]] for k in here]] / noise[block.equation]
        right = block.right / noise[block.equation]
        for start in range(0, len(right), length):
            part = slice(start, start + length)
            key = (block.trial, (block.samples.start + start) // length)
            square, product = pieces.setdefault(key, (np.zeros((width, width)), np.zeros(width)))
            square[np.ix_(here, here)] += matrix[part].T @ matrix[part]
            product[here] += matrix[part].T @ right[part]
    return np.array([s for s, _ in pieces.values()]), np.array([p for _, p in pieces.values()])


def cross_validate(
    model: LinearModel, trials: Sequence[Trial], *, base: BaseParameters | None = None
) -> tuple[Fit, ...]:
    """Each trial predicted from a weighted fit to the others."""
    if len(trials) < 2:
        raise IdentificationError("cross-validation needs at least two trials.")
    structure = base or base_parameters(model)
    fits: list[Fit] = []
    for held, trial in enumerate(trials):
        rest = Regression(model, tuple(t for k, t in enumerate(trials) if k != held), frozenset(structure.columns))
        columns, _, _ = excited_columns(rest, structure)
        full = np.zeros(len(model.columns))
        full[list(columns)] = ls.weighted_least_squares(rest, columns).values
        fits += fits_of(Regression(model, (trial,), rest.columns), full)
    return tuple(fits)
