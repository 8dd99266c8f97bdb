"""Which base parameters a recorded motion tells apart."""

from __future__ import annotations

import numpy as np

from torseur.errors import IdentificationError
from torseur.identification.arrays import Array
from torseur.identification.base_parameters import BaseParameters, independent_columns
from torseur.identification.regression import Regression

_EXCITED = 1e-7


def excited_columns(regression: Regression, base: BaseParameters) -> tuple[tuple[int, ...], float, tuple[str, ...]]:
    """Base columns that these trials tell apart, their condition number, and those they do not."""
    joint = regression.joint
    if not np.any(joint.c) and joint.rest == 0.0:
        raise IdentificationError(
            "no force acts in these trials: the recorded ones are zero throughout, and the description has no loads. "
            "Masses follow from forces; with zeros alone every mass could be zero."
        )
    R = joint.R[:, list(base.columns)]
    scale = np.linalg.norm(R, axis=0)
    felt = scale > _EXCITED * max(float(np.max(scale, initial=0.0)), 1e-300)
    if not felt.any():
        raise IdentificationError("unexcited motion: no force in these trials depends on any parameter.")
    slots = np.flatnonzero(felt)
    chosen = slots[independent_columns(R[:, slots], _EXCITED / 10)]
    columns = tuple(base.columns[k] for k in chosen)
    values = np.linalg.svd(R[:, chosen] / scale[chosen], compute_uv=False)
    names = [base.names[k] for k in range(len(base)) if k not in set(chosen.tolist())]
    return columns, float(values[0] / max(values[-1], 1e-300)), tuple(names)


def excited_combination(regression: Regression, base: BaseParameters, columns: tuple[int, ...]) -> Array:
    """What the excited columns stand for: the base parameters, with what goes with them in this motion."""
    if len(columns) == len(base):
        return base.combination
    joint = regression.joint
    mixing = np.linalg.lstsq(joint.R[:, list(columns)], joint.R[:, list(base.columns)], rcond=None)[0]
    mixing[np.abs(mixing) < 1e-7 * float(np.max(np.abs(mixing)))] = 0.0
    return np.asarray(mixing @ base.combination)
