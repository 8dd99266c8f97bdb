"""From identified combinations to all parameters: what the data leave open comes from the description or a prior."""

from __future__ import annotations

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.identification.estimators.priors import Prior, description_parameters
from torseur.analysis.identification.model.linear_model import LinearModel
from torseur.analysis.identification.model.pseudo_inertia import (
    is_consistent,
    parameters_of_pseudo_inertia,
    pseudo_inertia,
    smallest,
)

_ANY_BODY = np.array([1.0, 0, 0, 0, 0.02, 0, 0.02, 0, 0, 0.02])


def expected_parameters(model: LinearModel, prior: Prior | None, any_body: bool = False) -> Array | None:
    """Expected values of all columns; a kilogram of ten centimetres for bodies nothing is known of, if `any_body`."""
    known = {**description_parameters(model), **(prior.bodies if prior is not None else {})}
    start = np.zeros(len(model.columns))
    for owner, where in model.bodies.items():
        expected = known.get(owner)
        if any_body:
            expected = _ANY_BODY if expected is None or expected[0] <= 0 or not is_consistent(expected) else expected
            expected = _with_extent(expected)
        if expected is None:
            return None
        start[where] = expected
    for name, (value, _) in (prior.others if prior is not None else {}).items():
        if name in model.names:
            start[model.names.index(name)] = value
    return start


def _with_extent(parameters: Array) -> Array:
    """A body a little thicker than a point, rod or plate: one that is inside the cone of bodies."""
    J = pseudo_inertia(parameters)
    return parameters_of_pseudo_inertia(J + 1e-6 * np.trace(J) * np.eye(4))


def complete_parameters(model: LinearModel, combination: Array, values: Array, prior: Prior | None) -> Array | None:
    """All parameters nearest to the expected ones that have the identified combinations; None without expectations."""
    start = expected_parameters(model, prior)
    if start is None:
        return None
    sizes = np.ones(len(model.columns))
    for where in model.bodies.values():
        sizes[where] = _sizes(start[where])
    # The smallest change, in units of what a body's parameters may reasonably change by, that meets the combinations.
    missing = values - combination @ start
    return start + sizes * np.linalg.lstsq(combination * sizes, missing, rcond=None)[0]


def _sizes(parameters: Array) -> Array:
    """How much each parameter of a body may reasonably change: by its mass and extent."""
    mass = max(abs(float(parameters[0])), 1e-3)
    length = max(np.sqrt(max(float(np.sum(parameters[[4, 6, 9]])), 0.0) / (2 * mass)), 1e-3)
    return np.array([mass, *(mass * length,) * 3, *(mass * length**2,) * 6])


def inconsistent_bodies(model: LinearModel, parameters: Array) -> list[str]:
    """Warnings about bodies whose parameters no body can have."""
    warnings = []
    for owner, where in model.bodies.items():
        if not is_consistent(parameters[where]):
            warnings.append(
                f"'{owner}' has parameters that no body can have (pseudo-inertia with eigenvalue "
                f"{smallest(parameters[where]):.3g}): use method='consistent' or 'log_cholesky'."
            )
    return warnings
