"""The overdetermined system W π = w of all trials, one block per equation of motion, brought to triangular form.

Blocks keep only the columns that can appear in their equation, and are factored by QR piece by piece, so that memory
does not grow with the number of samples and no square of the condition number enters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.algebra.arrays import Array, Slots, triangular_factor
from torseur.analysis.identification.data.trials import Trial
from torseur.analysis.identification.model.base_parameters import BaseParameters, independent_columns
from torseur.analysis.identification.model.constraint_projector import Projector
from torseur.analysis.identification.model.linear_model import LinearModel
from torseur.errors import IdentificationError

# Why in pieces: docs/decisions/0040-identification-on-base-parameters.md.
PIECE = 4096  # samples evaluated at a time
KEPT = 40_000_000  # numbers kept in memory between passes


@dataclass(frozen=True, eq=False)
class Block:
    """Some samples of one equation of one trial: matrix (samples, columns present) and right-hand side."""

    trial: int
    equation: int
    samples: slice
    columns: Slots
    matrix: Array
    right: Array


@dataclass(frozen=True, eq=False)
class Regression:
    """A model and its trials as one linear system, over some of the model's columns or all of them."""

    model: LinearModel
    trials: tuple[Trial, ...]
    columns: frozenset[int] | None = None

    def __post_init__(self) -> None:
        if not self.trials:
            raise IdentificationError("identification needs at least one trial.")

    @property
    def width(self) -> int:
        return len(self.model.columns)

    @cached_property
    def equations(self) -> list[str]:
        """What the equations are called: the speeds they belong to, or the freedoms that loops leave."""
        names = [name.removesuffix("'") for name in self.model.equations.layout.speed_names]
        if not self.model.is_constrained:
            return names
        return [f"freedom {k + 1}" if owner is None else names[owner] for k, owner in enumerate(self._freedoms)]

    @cached_property
    def _freedoms(self) -> list[int | None]:
        """The measured speeds that the freedoms are counted by, None where there are not enough of them."""
        driven = self._measured_speeds(self.trials[0])
        trial = self.trials[0]
        count = self._projector.basis(trial.time[:1], trial.q[:1]).shape[2]
        return [driven[k] if k < len(driven) and len(driven) == count else None for k in range(count)]

    @cached_property
    def _projector(self) -> Projector:
        return Projector(self.model)

    @staticmethod
    def _measured_speeds(trial: Trial) -> list[int]:
        return [k for k, is_measured in enumerate(trial.measured) if is_measured]

    def blocks(self) -> Iterator[Block]:
        """Every block; kept from the first pass where they fit into memory."""
        if self._blocks_in_memory is not None:
            yield from self._blocks_in_memory
        else:
            yield from self._evaluate()

    @cached_property
    def _blocks_in_memory(self) -> list[Block] | None:
        wanted = [c for row in self.model.rows for c, _ in row if self.columns is None or c in self.columns]
        size = sum(len(trial) for trial in self.trials) * len(wanted)
        return list(self._evaluate()) if size <= KEPT else None

    def _evaluate(self) -> Iterator[Block]:
        for number, trial in enumerate(self.trials):
            for start in range(0, len(trial), PIECE):
                samples = slice(start, min(start + PIECE, len(trial)))
                part = trial.part(samples)
                blocks = self._blocks_with_loops if self.model.is_constrained else self._blocks_without_loops
                yield from blocks(number, samples, part)

    def _blocks_without_loops(self, number: int, samples: slice, part: Trial) -> Iterator[Block]:
        table = self.model.evaluate(part.time, part.q, part.v, part.vdot)
        known = table[:, self.model.offsets[-1] :]
        for equation, row in enumerate(self.model.rows):
            if not part.measured[equation]:
                continue
            columns = np.array([c for c, _ in row], dtype=np.intp)
            matrix = table[:, self.model.offsets[equation] : self.model.offsets[equation + 1]]
            here = self._present(columns, part)
            yield Block(
                number, equation, samples, columns[here], matrix[:, here], part.tau[:, equation] + known[:, equation]
            )

    def _blocks_with_loops(self, number: int, samples: slice, part: Trial) -> Iterator[Block]:
        N = self._projector.basis(part.time, part.q, tuple(self._measured_speeds(part)))
        table = self.model.evaluate(part.time, part.q, part.v, part.vdot)
        Y = np.zeros((len(part), len(self.model.rows), self.width))
        for equation, row in enumerate(self.model.rows):
            Y[:, equation, [c for c, _ in row]] = table[
                :, self.model.offsets[equation] : self.model.offsets[equation + 1]
            ]
        across = np.swapaxes(N, 1, 2)
        matrix = across @ Y
        right = np.einsum("tij,tj->ti", across, part.tau + table[:, self.model.offsets[-1] :])
        columns = np.arange(self.width, dtype=np.intp)
        here = self._present(columns, part)
        for freedom in range(N.shape[2]):
            yield Block(number, freedom, samples, columns[here], matrix[:, freedom][:, here], right[:, freedom])

    def _present(self, columns: Slots, part: Trial) -> Slots:
        """Columns but those of payloads that this trial does not carry."""
        owners = [self.model.columns[c] for c in columns]
        carried = [column.kind != "payload" or column.owner == part.payload for column in owners]
        chosen = [self.columns is None or int(c) in self.columns for c in columns]
        return np.flatnonzero(np.array(carried) & np.array(chosen))

    @cached_property
    def triangles(self) -> dict[int, Triangle]:
        """Per equation, the triangular factor of [W w]."""
        return self.factorise()

    @cached_property
    def joint(self) -> Triangle:
        """All equations together, each with the same weight."""
        return combine(list(self.triangles.values()), [1.0] * len(self.triangles), self.width)

    def factorise(self, weights: dict[tuple[int, int, int], Array] | None = None) -> dict[int, Triangle]:
        """Triangular factors per equation, with a weight for each sample where given (trial, equation, start)."""
        triangles: dict[int, Triangle] = {}
        for block in self.blocks():
            matrix, right = block.matrix, block.right
            if weights is not None:
                w = weights[block.trial, block.equation, block.samples.start]
                matrix, right = matrix * w[:, None], right * w
            before = triangles.get(block.equation)
            triangles[block.equation] = Triangle.of(block.columns, matrix, right, before)
        return triangles


@dataclass(frozen=True, eq=False)
class Triangle:
    """R and c with |R x - c|² + rest = |W x - w|² for every x, and the number of rows it stands for."""

    columns: Slots
    R: Array
    c: Array
    rest: float
    rows: int

    @staticmethod
    def of(columns: Slots, matrix: Array, right: Array, before: Triangle | None = None) -> Triangle:
        """The factor of more rows, on top of those before."""
        if before is not None and not np.array_equal(before.columns, columns):
            joint = np.union1d(before.columns, columns)
            before, matrix, columns = before.widen(joint), _widen(matrix, columns, joint), joint
        n = len(columns)
        top = np.zeros((0, n + 1)) if before is None else np.column_stack([before.R, before.c])
        rest = 0.0 if before is None else before.rest
        # [ R  c ]  new rows below the factor of the old ones; what is left in the corner is part of the sum of squares
        # [ 0  ρ ]
        R = triangular_factor(np.vstack([top, np.column_stack([matrix, right])]))
        rest += float(R[n, n] ** 2) if len(R) > n else 0.0
        rows = len(right) + (0 if before is None else before.rows)
        return Triangle(columns, R[:n, :n], R[:n, n], rest, rows)

    def widen(self, columns: Slots) -> Triangle:
        """The same over more columns."""
        return Triangle(columns, _widen(self.R, self.columns, columns), self.c, self.rest, self.rows)


def _widen(matrix: Array, columns: Slots, wider: Slots) -> Array:
    result = np.zeros((len(matrix), len(wider)))
    result[:, np.searchsorted(wider, columns)] = matrix
    return result


def combine(triangles: Sequence[Triangle], weights: Sequence[float], width: int) -> Triangle:
    """One triangle over all columns from several, each with a weight for all of its rows."""
    used = np.unique(np.concatenate([t.columns for t in triangles]))
    R = np.vstack([w * _widen(t.R, t.columns, used) for t, w in zip(triangles, weights, strict=True)])
    c = np.concatenate([w * t.c for t, w in zip(triangles, weights, strict=True)])
    rest = sum(w * w * t.rest for t, w in zip(triangles, weights, strict=True))
    joint = Triangle.of(used, R, c).widen(np.arange(width, dtype=np.intp))
    return replace(joint, rest=joint.rest + rest, rows=sum(t.rows for t in triangles))


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
    # Columns that the motion hardly feels first: they would count as independent only by their noise.
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
