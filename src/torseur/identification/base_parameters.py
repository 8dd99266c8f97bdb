"""Base parameters: the combinations that forces depend on, as few as there are.

Grouping rules give them with symbolic geometry; what they miss (rotors beside inertias, axes along gravity, special
geometry of loops) is found by a rank-revealing QR factorisation of the regressor at random states (Gautier 1991).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.errors import IdentificationError
from torseur.graph import Expr, as_expr, evaluate, jacobian, symbol
from torseur.identification.arrays import Array, Mask, triangular
from torseur.identification.grouping import grouped_parameters
from torseur.identification.linear_model import LinearModel
from torseur.identification.loop_grouping import grouped_across_loops
from torseur.identification.random_states import random_regressor
from torseur.identification.spelling import spelled, spelled_numbers

_DEPENDENT, _WHOLE = 1e-9, 1e-7


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The independent columns of a model and what their coefficients stand for.

    `combination` maps all parameters to the base ones: β = combination π and Y π = Y[:, columns] β. `meanings` are the
    same with symbolic geometry where the grouping rules give them, None where only numbers are known.
    """

    model: LinearModel
    columns: tuple[int, ...]
    combination: Array
    meanings: tuple[Expr | None, ...]
    unfelt: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def names(self) -> list[str]:
        """Each base parameter by the name of its leading parameter."""
        return [self.model.columns[c].name for c in self.columns]

    def text(self, number: int) -> str:
        """What a base parameter stands for, in the user's names."""
        meaning = self.meanings[number]
        if meaning is not None:
            return spelled(meaning, self.model.names)
        return spelled_numbers(self.combination[number], self.model.names)

    def __str__(self) -> str:
        width = max((len(name) for name in self.names), default=0)
        lines = [f"{name:<{width}}  {self.text(k)}" for k, name in enumerate(self.names)]
        return "\n".join([f"{len(self)} base parameters of {len(self.model.columns)}", *lines])


def base_parameters(model: LinearModel, *, grouping: bool = True, samples: int | None = None) -> BaseParameters:
    """The base parameters of a model, from its structure alone: no data enter.

    With `grouping`, the rules say which parameters stand for the others; without, the order of the columns does.
    """
    Y = random_regressor(model, samples or 40 + 2 * len(model.columns))
    scale = np.linalg.norm(Y, axis=0)
    felt = scale > _DEPENDENT * max(float(scale.max(initial=0.0)), 1e-300)
    if not felt.any():
        raise IdentificationError(f"{model.equations.mechanism.name}: no force depends on any of the parameters.")
    preferred, meanings = _preferred(model, grouping, felt)
    chosen = [c for c in preferred if felt[c]]
    columns = [chosen[k] for k in independent_columns(Y[:, chosen])]
    if len(columns) < rank_of(Y):
        columns = _completed(Y, felt, columns)
    combination = _combination(Y, columns)
    dropped = [c for c in chosen if c not in columns]
    symbolic = _checked(model, _symbolic(meanings, columns, dropped, combination), combination)
    unfelt = tuple(column.name for column, is_felt in zip(model.columns, felt, strict=True) if not is_felt)
    return BaseParameters(model, tuple(columns), combination, symbolic, unfelt)


def _preferred(model: LinearModel, grouping: bool, felt: Mask) -> tuple[list[int], dict[int, Expr]]:
    """Columns in the order in which they may stand for others, with their meanings after grouping."""
    carried = [c for c, column in enumerate(model.columns) if column.kind == "inertia"]
    others = [c for c, column in enumerate(model.columns) if column.kind != "inertia"]
    if not grouping:
        return carried + others, {}
    grouped = grouped_parameters(model.equations.tree)
    meanings = {model.names.index(name): m for name, m in zip(grouped.names, grouped.meanings, strict=True)
                if name in model.names}  # fmt: skip
    if model.is_constrained:
        meanings = grouped_across_loops(model, {c: m for c, m in meanings.items() if felt[c]})
    columns = list(meanings)
    for c in others:
        if model.columns[c].kind != "payload":
            meanings[c] = symbol(model.columns[c].name, model.columns[c].unit)
    return [*columns, *others], meanings


def independent_columns(Y: Array, tolerance: float = _DEPENDENT) -> list[int]:
    """Columns, taken in order, that do not follow from those before them."""
    scale = np.linalg.norm(Y, axis=0)
    R = triangular(Y / np.where(scale > 0, scale, 1.0))
    kept: list[int] = []
    directions = np.zeros((len(R), 0))
    for k in range(Y.shape[1]):
        left = R[:, k]
        for _ in range(2):  # once more, since rounding leaves a little of what was taken away
            left = left - directions @ (directions.T @ left)
        size = float(np.linalg.norm(left))
        if size > 10 * tolerance:
            directions = np.column_stack([directions, left / size])
            kept.append(k)
    return kept


def rank_of(Y: Array, tolerance: float = _DEPENDENT) -> int:
    """Rank of a regressor whose columns are brought to the same length."""
    scale = np.linalg.norm(Y, axis=0)
    values = np.linalg.svd(triangular(Y / np.where(scale > 0, scale, 1.0)), compute_uv=False)
    return int(np.sum(values > tolerance * values[0]))


def _completed(Y: Array, felt: Mask, columns: Sequence[int]) -> list[int]:
    """Columns together with those that grouping let go too early, as where joints move in time."""
    order = [*columns, *(c for c in range(Y.shape[1]) if felt[c] and c not in columns)]
    return [order[k] for k in independent_columns(Y[:, order])]


def _combination(Y: Array, columns: Sequence[int]) -> Array:
    """β = combination π, from Y = Y[:, columns] combination."""
    R = triangular(Y)
    found: Array = np.linalg.lstsq(R[:, list(columns)], R, rcond=None)[0].astype(np.float64)
    found[np.abs(found) < 1e-9 * np.max(np.abs(found))] = 0.0
    found[:, list(columns)] = np.eye(len(columns))
    return found


def _symbolic(
    meanings: dict[int, Expr], columns: Sequence[int], dropped: Sequence[int], combination: Array
) -> tuple[Expr | None, ...]:
    """Meanings after grouping, with what was found dependent added where its factor is a whole number."""
    found: list[Expr | None] = []
    for k, c in enumerate(columns):
        extra = [(d, combination[k, d]) for d in dropped if abs(combination[k, d]) > _WHOLE]
        known = c in meanings and all(d in meanings and abs(x - round(x)) < _WHOLE for d, x in extra)
        total = sum((round(x) * meanings[d] for d, x in extra), meanings[c]) if known else None
        found.append(None if total is None else as_expr(total))
    return tuple(found)


def _checked(model: LinearModel, symbolic: tuple[Expr | None, ...], combination: Array) -> tuple[Expr | None, ...]:
    """Meanings that are what the numbers say; None where the geometry is special and rules do not know of it."""
    values = {s: model.values.get(str(s.name), 0.0) for s in model.equations.layout.parameters}
    symbols = [symbol(column.name, column.unit) for column in model.columns]
    found: list[Expr | None] = []
    for meaning, row in zip(symbolic, combination, strict=True):
        numbers = np.zeros(len(row))
        if meaning is not None:
            slopes = jacobian([meaning], symbols)
            numbers[[k for _, k in slopes]] = [float(x) for x in evaluate(list(slopes.values()), values)]
        found.append(meaning if np.allclose(numbers, row, rtol=1e-6, atol=1e-7 * float(np.max(np.abs(row)))) else None)
    return tuple(found)
