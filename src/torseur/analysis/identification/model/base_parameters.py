"""Base parameters: the combinations that forces depend on, as few as there are.

Grouping rules give them with symbolic geometry; what they miss (rotors beside inertias, axes along gravity, special
geometry of loops) is found by a rank-revealing QR factorisation of the regressor at random states (Gautier 1991).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array, Mask, triangular_factor
from torseur.algebra.graph import Expr, as_expr, evaluate, jacobian, symbol
from torseur.analysis.identification.model.constraint_projector import Projector
from torseur.analysis.identification.model.coordinate_rates import CoordinateRates
from torseur.analysis.identification.model.grouping import group_across_loops, group_parameters
from torseur.analysis.identification.model.linear_model import LinearModel
from torseur.analysis.identification.results.combination_text import combination_text, numeric_combination_text
from torseur.description.mechanism import TIME
from torseur.errors import IdentificationError

SEED = 1990


def random_states(model: LinearModel, count: int, seed: int = SEED) -> tuple[Array, Array, Array]:
    """Coordinates, speeds and accelerations drawn at random; angles within a turn, lengths within a metre."""
    rng = np.random.default_rng(seed)
    layout = model.equations.layout
    lengths = np.array([q.data.unit == "m" for q in layout.coordinates])
    # Full turns, three radians per second and ten per second squared: every term of the regressor has about the same
    # size.
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
    # A payload moves with the body that carries it: only states without it tell their columns apart.
    stacked = Y.reshape(-1, Y.shape[2])
    payloads = dict.fromkeys(column.owner for column in model.columns if column.kind == "payload")
    return np.vstack([_with_payload(model, stacked, name) for name in (None, *payloads)])


def _with_payload(model: LinearModel, Y: Array, payload: str | None) -> Array:
    """The regressor of trials that carry one payload, or none."""
    here = [column.kind != "payload" or column.owner == payload for column in model.columns]
    return Y * np.array(here, dtype=float)


# A column whose part beyond the others is below _DEPENDENT of its length depends on them; factors within _WHOLE of a
# whole number are taken as that number.
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
            return combination_text(meaning, self.model.names)
        return numeric_combination_text(self.combination[number], self.model.names)

    def __str__(self) -> str:
        width = max((len(name) for name in self.names), default=0)
        lines = [f"{name:<{width}}  {self.text(k)}" for k, name in enumerate(self.names)]
        return "\n".join([f"{len(self)} base parameters of {len(self.model.columns)}", *lines])


# Why combinations of parameters: docs/decisions/0040-identification-on-base-parameters.md.
def base_parameters(model: LinearModel, *, grouping: bool = True, samples: int | None = None) -> BaseParameters:
    """The base parameters of a model, from its structure alone: no data enter.

    With `grouping`, the rules say which parameters stand for the others; without, the order of the columns does.
    """
    # Many more rows than columns, so that a random dependence of columns has no chance.
    Y = random_regressor(model, samples or 40 + 2 * len(model.columns))
    if not len(Y):
        raise IdentificationError(
            f"{model.equations.mechanism.name}: its constraints leave no degree of freedom, so no parameter can be "
            "identified from forces. Take drivers out of the description: the recorded motion takes their place."
        )
    scale = np.linalg.norm(Y, axis=0)
    felt = scale > _DEPENDENT * max(float(scale.max(initial=0.0)), 1e-300)
    if not felt.any():
        raise IdentificationError(f"{model.equations.mechanism.name}: no force depends on any of the parameters.")
    preferred, meanings = _preferred_columns(model, grouping, felt)
    chosen = [c for c in preferred if felt[c]]
    columns = [chosen[k] for k in independent_columns(Y[:, chosen])]
    # Grouping assumes joints that move by their coordinates alone; where one is driven in time it may group too much.
    if len(columns) < rank_of(Y):
        columns = _complete(Y, felt, columns)
    combination = combination_of(Y, columns)
    dropped = [c for c in chosen if c not in columns]
    symbolic = _verify_meanings(model, _symbolic(meanings, columns, dropped, combination), combination)
    unfelt = tuple(column.name for column, is_felt in zip(model.columns, felt, strict=True) if not is_felt)
    return BaseParameters(model, tuple(columns), combination, symbolic, unfelt)


def _preferred_columns(model: LinearModel, grouping: bool, felt: Mask) -> tuple[list[int], dict[int, Expr]]:
    """Columns in the order in which they may stand for others, with their meanings after grouping."""
    carried = [c for c, column in enumerate(model.columns) if column.kind == "inertia"]
    others = [c for c, column in enumerate(model.columns) if column.kind != "inertia"]
    if not grouping:
        return carried + others, {}
    grouped = group_parameters(model.equations.tree)
    meanings = {model.names.index(name): m for name, m in zip(grouped.names, grouped.meanings, strict=True)
                if name in model.names}  # fmt: skip
    if model.is_constrained:
        meanings = group_across_loops(model, {c: m for c, m in meanings.items() if felt[c]})
    columns = list(meanings)
    for c in others:
        if model.columns[c].kind != "payload":
            meanings[c] = symbol(model.columns[c].name, model.columns[c].unit)
    return [*columns, *others], meanings


def independent_columns(Y: Array, tolerance: float = _DEPENDENT) -> list[int]:
    """Columns, taken in order, that do not follow from those before them."""
    scale = np.linalg.norm(Y, axis=0)
    R = triangular_factor(Y / np.where(scale > 0, scale, 1.0))
    kept: list[int] = []
    directions = np.zeros((len(R), 0))
    for k in range(Y.shape[1]):
        left = R[:, k]
        # Gram-Schmidt in the order of the columns and not pivoted: the order says which parameter may stand for others.
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
    values = np.linalg.svd(triangular_factor(Y / np.where(scale > 0, scale, 1.0)), compute_uv=False)
    return int(np.sum(values > tolerance * values[0]))


def _complete(Y: Array, felt: Mask, columns: Sequence[int]) -> list[int]:
    """Columns together with those that grouping let go too early, as where joints move in time."""
    order = [*columns, *(c for c in range(Y.shape[1]) if felt[c] and c not in columns)]
    return [order[k] for k in independent_columns(Y[:, order])]


def combination_of(Y: Array, columns: Sequence[int]) -> Array:
    """β = combination π, from Y = Y[:, columns] combination."""
    # R has the same dependences between columns as Y and no more rows than columns.
    R = triangular_factor(Y)
    # Dust is cut at 1e-9: factors of geometry are of the order of lengths, and rounding leaves 1e-13.
    combination: Array = np.linalg.lstsq(R[:, list(columns)], R, rcond=None)[0].astype(np.float64)
    combination[np.abs(combination) < 1e-9 * np.max(np.abs(combination))] = 0.0
    combination[:, list(columns)] = np.eye(len(columns))
    return combination


def _symbolic(
    meanings: dict[int, Expr], columns: Sequence[int], dropped: Sequence[int], combination: Array
) -> tuple[Expr | None, ...]:
    """Meanings after grouping, with what was found dependent added where its factor is a whole number."""
    symbolic: list[Expr | None] = []
    for k, c in enumerate(columns):
        extra = [(d, combination[k, d]) for d in dropped if abs(combination[k, d]) > _WHOLE]
        known = c in meanings and all(d in meanings and abs(x - round(x)) < _WHOLE for d, x in extra)
        total = sum((round(x) * meanings[d] for d, x in extra), meanings[c]) if known else None
        symbolic.append(None if total is None else as_expr(total))
    return tuple(symbolic)


def _verify_meanings(
    model: LinearModel, symbolic: tuple[Expr | None, ...], combination: Array
) -> tuple[Expr | None, ...]:
    """Meanings that are what the numbers say; None where the geometry is special and rules do not know of it."""
    values = {s: model.values.get(str(s.name), 0.0) for s in model.equations.layout.parameters} | {TIME: 0.0}
    symbols = [symbol(column.name, column.unit) for column in model.columns]
    verified: list[Expr | None] = []
    for meaning, row in zip(symbolic, combination, strict=True):
        numbers = np.zeros(len(row))
        if meaning is not None:
            factors = jacobian([meaning], symbols)
            numbers[[k for _, k in factors]] = [float(x) for x in evaluate(list(factors.values()), values)]
        agrees = np.allclose(numbers, row, rtol=1e-6, atol=1e-7 * float(np.max(np.abs(row))))
        verified.append(meaning if agrees else None)
    return tuple(verified)
