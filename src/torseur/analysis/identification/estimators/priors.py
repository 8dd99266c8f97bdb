"""Priors: where parameters are expected before the data speak, and how strongly.

For bodies the distance is ½ tr(J₀⁻¹ ΔJ J₀⁻¹ ΔJ): it does not depend on the frame or the units in which a body is
described (Lee, Wensing and Park 2020). One unit of it counts like one squared deviation of a measured force.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import Expr, symbols_of
from torseur.analysis.identification.model.columns import parameters_of
from torseur.analysis.identification.model.linear_model import LinearModel
from torseur.analysis.identification.model.pseudo_inertia import BASIS, is_consistent, pseudo_inertia
from torseur.derivation.tree.flatten import flatten
from torseur.derivation.tree.tree import instantiate
from torseur.errors import IdentificationError, unknown_name


@dataclass(frozen=True, eq=False)
class Prior:
    """Expected parameters by body (ten each) and of further columns, with the weight of one relative deviation."""

    bodies: Mapping[str, Array]
    others: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # column: value and deviation
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not self.weight > 0:
            raise IdentificationError(f"the weight of a prior must be positive, not {self.weight:g}.")

    def rows(self, model: LinearModel) -> tuple[Array, Array]:
        """A and b such that the prior's cost is |A π - b|²."""
        rows, right = [], []
        for owner, where in model.bodies.items():
            expected = self.bodies.get(owner)
            if expected is None:
                continue
            whitened = np.sqrt(self.weight / 2) * _metric(owner, expected)
            # ½ |J₀^-½ ΔJ J₀^-½|² as sixteen rows, one per entry: those off the diagonal count twice, as in the trace.
            block = np.zeros((16, len(model.columns)))
            block[:, where] = whitened
            rows.append(block)
            right.append(whitened @ expected)
        for name, (value, deviation) in self.others.items():
            row = np.zeros((1, len(model.columns)))
            row[0, _slot(model, name)] = 1 / deviation
            rows.append(row)
            right.append(np.array([value / deviation]))
        width = len(model.columns)
        return (np.vstack(rows), np.concatenate(right)) if rows else (np.zeros((0, width)), np.zeros(0))


def _slot(model: LinearModel, name: str) -> int:
    if name not in model.names:
        raise IdentificationError(unknown_name("parameter", name, model.names, "prior: "))
    return model.names.index(name)


def _metric(owner: str, expected: Array) -> Array:
    """The linear map from ten parameters to J₀^-½ J J₀^-½, flattened."""
    # ½ tr(J₀⁻¹ ΔJ J₀⁻¹ ΔJ) = ½ |J₀^-½ ΔJ J₀^-½|²: a quadratic form in the parameters, so that the fit stays linear.
    J = pseudo_inertia(expected)
    values, vectors = np.linalg.eigh(J)
    if values[0] < -1e-9 * max(values[-1], 0.0) or values[-1] <= 0:
        raise IdentificationError(
            f"prior: the parameters of '{owner}' are those of no body (pseudo-inertia with eigenvalue {values[0]:.3g})."
        )
    # A thin rod has no extent across: give it a little, or nothing could ever deviate there.
    floor = np.maximum(values, 1e-6 * values[-1])
    root = (vectors / np.sqrt(floor)) @ vectors.T
    return np.stack([(root @ B @ root).ravel() for B in BASIS], axis=1)


def description_parameters(model: LinearModel) -> dict[str, Array]:
    """Parameters of the links as the description gives them, by name; those without values are left out."""
    tree = model.equations.tree
    values = {s: model.values[str(s.name)] for s in tree.layout.parameters if str(s.name) in model.values}
    parameters = {}
    for link in tree.links:
        leaves = [leaf for leaf in flatten(link.inertia) if isinstance(leaf, Expr)]
        if all(s in values for s in symbols_of(leaves)):
            numbers = instantiate(link.inertia, values)
            parameters[link.name] = np.array([float(x) for x in parameters_of(numbers)])
    return parameters


def description_prior(model: LinearModel, weight: float = 1.0) -> Prior:
    """The description's own values as the prior, for the bodies that have some and are bodies."""
    known = description_parameters(model)
    bodies = {name: p for name, p in known.items() if p[0] > 0 and is_consistent(p)}
    return Prior(bodies, weight=weight)
