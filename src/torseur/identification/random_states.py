"""Random states of a mechanism, on its constraints where it has some, and its regressor there."""

from __future__ import annotations

import numpy as np

from torseur.identification.arrays import Array
from torseur.identification.coordinate_rates import CoordinateRates
from torseur.identification.linear_model import LinearModel
from torseur.identification.projector import Projector

SEED = 1990


def random_states(model: LinearModel, count: int, seed: int = SEED) -> tuple[Array, Array, Array]:
    """Coordinates, speeds and accelerations drawn at random; angles within a turn, lengths within a metre."""
    rng = np.random.default_rng(seed)
    layout = model.equations.layout
    lengths = np.array([q.data.unit == "m" for q in layout.coordinates])
    q = rng.uniform(-1, 1, (count, len(layout.coordinates))) * np.where(lengths, 1.0, np.pi)
    q = CoordinateRates(model).unit(q)
    v, vdot = (rng.uniform(-1, 1, (count, len(layout.speeds))) * scale for scale in (3.0, 10.0))
    if not model.is_constrained:
        return q, v, vdot
    return Projector(model).random(count, rng)


def random_regressor(model: LinearModel, count: int) -> Array:
    """The regressor stacked over random states, of the equations that remain where loops tie the speeds.

    Once without payloads, and once with each of them.
    """
    q, v, vdot = random_states(model, count)
    Y = model.matrix(q, v, vdot)
    if model.is_constrained:
        Y = np.swapaxes(Projector(model).basis(np.zeros(count), q), 1, 2) @ Y
    stacked = Y.reshape(-1, Y.shape[2])
    payloads = dict.fromkeys(column.owner for column in model.columns if column.kind == "payload")
    return np.vstack([_carrying(model, stacked, name) for name in (None, *payloads)])


def _carrying(model: LinearModel, Y: Array, payload: str | None) -> Array:
    """The regressor of trials that carry one payload, or none."""
    here = [column.kind != "payload" or column.owner == payload for column in model.columns]
    return Y * np.array(here, dtype=float)
