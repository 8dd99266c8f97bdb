"""Inertial parameters of a body or of a tree of segments from recorded motion and external forces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array, Mask, Slots, triangular_factor
from torseur.analysis.identification.estimators.consistent_fit import (
    Certificate,
    Cone,
    ConsistentProblem,
    Family,
    LinearLimits,
    fit_consistent,
)
from torseur.analysis.identification.estimators.correlated_noise import long_run
from torseur.analysis.identification.model.base_parameters import combination_of, independent_columns
from torseur.analysis.identification.results.fit_checks import FitCheck
from torseur.analysis.identification.segments.conjugate_gradient import Descent, Stopping, descend
from torseur.analysis.identification.segments.poinsot_cost import PoinsotCost
from torseur.analysis.identification.segments.segment_trials import SegmentTrial
from torseur.errors import IdentificationError

_OBSERVABLE, _FLAT, _EXACT, _ABOVE, _UNEXPLAINED = 1e-7, 1e-5, 1e-6, 1e-2, 0.5
_PIECE = 512  # samples whose equations are written down at a time


@dataclass(frozen=True, eq=False)
class SegmentEstimate:
    """J with the standard deviation of its entries, what the motion did not excite, and the proof that it is the best.

    `unexcited` entries kept their start value, as far as a real body can have it; `undetermined` ones belong to
    combinations that the motion cannot tell apart, so that their own value depends on the start. `certificate` is that
    of the fit among real bodies, `descent` the source's iteration where it was asked for, `unexplained` the part of the
    external forces that is left.
    """

    J: Array
    deviation: Array
    unexcited: Mask
    undetermined: Mask
    certificate: Certificate | None
    descent: Descent | None
    unexplained: float
    warnings: tuple[str, ...]

    @property
    def checks(self) -> tuple[FitCheck, ...]:
        """What was verified of the fit, apart from the fit itself."""
        proof = self.certificate
        proven = [] if proof is None else [FitCheck(proof.holds, "The fit is the best one of real bodies", str(proof))]
        left = f"{100 * self.unexplained:.2g} % of them left, at most {100 * _UNEXPLAINED:g} %"
        return (*proven, FitCheck(self.unexplained <= _UNEXPLAINED, "The external forces are explained", left))

    @property
    def smallest(self) -> float:
        """The smallest eigenvalue of J."""
        return float(np.linalg.eigvalsh(self.J)[0])

    def __str__(self) -> str:
        names = [f"z{k + 1}" for k in range(len(self.J) - 1)] + ["1"]
        return "\n".join([self.table(names), *(f"warning: {text}" for text in self.warnings)])

    def table(self, names: Sequence[str]) -> str:
        """J by the names of its rows, each entry with its deviation, and how it was proven."""
        rows = zip(self.J, self.deviation, strict=True)
        entries = [[f"{x:.6g} ± {s:.2g}" for x, s in zip(*row, strict=True)] for row in rows]
        width, first = max(len(text) for row in entries for text in row), max(len(name) for name in names)
        lines = ["J (kg; kg m beside 1; kg m² elsewhere), each entry with its standard deviation"]
        lines += ["  ".join([" " * first, *(name.rjust(width) for name in names)])]
        lines += ["  ".join([f"{n:<{first}}", *(text.rjust(width) for text in row)])
                  for n, row in zip(names, entries, strict=True)]  # fmt: skip
        lines += [f"{'ok ' if check.ok else 'BAD'} {check.title}: {check.detail}" for check in self.checks]
        if (steps := self.descent) is not None:
            lines.append(f"{steps.iterations} iterations, {steps.projections} projections: {steps.reason}")
        return "\n".join(lines)


def identify_segments(
    trials: Sequence[SegmentTrial],
    start: Array | None = None,
    *,
    known_zero: Mask | None = None,
    positive: bool = True,
    stopping: Stopping | None = None,
    progress: Callable[[float], None] | None = None,
) -> SegmentEstimate:
    """J that explains the trials best among those of real bodies (J ⪰ 0), by the consistent fit of all roads.

    What the data leave open is nearest to `start` (the identity by default). `known_zero` marks entries held at zero.
    Without `positive` the result may be no mass distribution at all; it is returned with a warning that says so. With
    `stopping` rules J comes from the source's projected conjugate gradient, and is refused where a better one exists.
    """
    if not trials:
        raise IdentificationError("identification needs at least one trial.")
    system = _System.of(trials, start, known_zero)
    best, certificate = system.solve(positive)
    J, descent = system.matrix(best), None
    if stopping is not None:
        free = system.free_mask
        descent = descend(
            PoinsotCost.of(trials), system.start, free=free, positive=positive, stopping=stopping, progress=progress
        )
        J = descent.J
        _require_least(system, J, best, descent)
    undetermined, deviation = system.certainty(J, trials)
    warnings = _warnings(J, positive, system.unexcited, undetermined)
    # From the samples themselves, not from the factors that the fit saw.
    left, whole = (sum(float(np.sum(x**2)) for x in parts) for parts in
                   ([trial.residual(J) for trial in trials], [trial.T for trial in trials]))  # fmt: skip
    unexplained = float(np.sqrt(left / max(whole, 1e-300)))
    return SegmentEstimate(J, deviation, system.unexcited, undetermined, certificate, descent, unexplained, warnings)


@dataclass(frozen=True, eq=False)
class _System:
    """The equations of all samples over the free entries of J, as a triangular factor."""

    start: Array
    rows: Slots
    columns: Slots
    R: Array
    c: Array
    rest: float
    count: int

    @staticmethod
    def of(trials: Sequence[SegmentTrial], start: Array | None, known_zero: Mask | None) -> _System:
        size = trials[0].size
        for trial in trials:
            if trial.size != size:
                raise IdentificationError(
                    f"trial '{trial.name}' has matrices for {trial.size} columns, the first trial for {size}."
                )
        J = np.eye(size) if start is None else np.array(start, dtype=float)
        zero = np.zeros((size, size), dtype=bool) if known_zero is None else np.asarray(known_zero, dtype=bool)
        if J.shape != zero.shape or not np.all(np.isfinite(J)) or not np.allclose(J, J.T) or np.any(zero != zero.T):
            raise IdentificationError(
                f"the start and the mask of known zeros must be symmetric and finite, of shape {(size, size)}."
            )
        rows, columns = (index[~zero[np.triu_indices(size)]] for index in np.triu_indices(size))
        factor = np.zeros((0, len(rows) + 1))
        for trial in trials:
            for first in range(0, len(trial.A), _PIECE):
                factor = triangular_factor(
                    np.vstack([factor, _equations(trial, rows, columns, slice(first, first + _PIECE))])
                )
        n = len(rows)
        factor = np.vstack([factor, np.zeros((max(0, n + 1 - len(factor)), n + 1))])
        count = sum(6 * len(trial.A) for trial in trials)
        return _System(
            np.where(zero, 0.0, J), rows, columns, factor[:n, :n], factor[:n, n], float(factor[n, n] ** 2), count
        )

    @property
    def free_mask(self) -> Mask:
        mask = np.zeros(self.start.shape, dtype=bool)
        mask[self.rows, self.columns] = mask[self.columns, self.rows] = True
        return mask

    def matrix(self, entries: Array) -> Array:
        """J of its free entries."""
        J = np.zeros_like(self.start)
        J[self.rows, self.columns] = J[self.columns, self.rows] = entries
        return J

    def entries(self, J: Array) -> Array:
        return J[self.rows, self.columns]

    @property
    def observable(self) -> Mask:
        scale = np.linalg.norm(self.R, axis=0)
        return scale > _OBSERVABLE * max(float(np.max(scale, initial=0.0)), 1e-300)

    @property
    def unexcited(self) -> Mask:
        """Entries of J that no force feels."""
        mask = np.zeros(self.start.shape, dtype=bool)
        mask[self.rows, self.columns] = mask[self.columns, self.rows] = ~self.observable
        return mask

    def solve(self, positive: bool) -> tuple[Array, Certificate | None]:
        """The free entries of the best J, and its proof where it is one of real bodies."""
        observable = np.flatnonzero(self.observable)
        if not len(observable) or not np.any(self.R):
            raise IdentificationError("unexcited motion: nothing in these trials depends on any mass.")
        # Entries of J that the forces feel are not all felt apart: sums of them are, which `combination_of` finds.
        base = observable[independent_columns(self.R[:, observable], _OBSERVABLE)]
        factor = triangular_factor(np.column_stack([self.R[:, base], self.c]))
        R, c = factor[: len(base), :-1], factor[: len(base), -1]
        left = self.rest + (float(factor[len(base), -1] ** 2) if len(factor) > len(base) else 0.0)
        # Data as good as exact count to a millionth of the whole, as for regressors.
        noise = max(np.sqrt(left / max(self.count - len(base), 1)), _EXACT * float(np.linalg.norm(c)), 1e-300)
        sizes = np.sqrt(np.where(np.diag(self.start) > 0, np.diag(self.start), 1.0))
        metric = np.diag(sizes[self.rows] * sizes[self.columns])
        family = Family(combination_of(self.R, base.tolist()), self.entries(self.start), metric)
        best: Array = np.linalg.solve(R, c).astype(np.float64)
        if not positive:
            return family.nearest(best), None
        width = len(self.rows)
        none = LinearLimits.none(width)
        problem = ConsistentProblem(
            R / noise, c / noise, family, (self._cone(family.nearest(best)),), none, none,
            (np.zeros((0, width)), np.zeros(0)),
        )  # fmt: skip
        fit = fit_consistent(problem)
        return fit.parameters, fit.certificate

    def _cone(self, about: Array) -> Cone:
        """J ⪰ 0 in units of about its own size."""
        diagonal = np.abs(np.diag(self.matrix(about)))
        scale = 1 / np.sqrt(np.maximum(diagonal, 1e-3 * float(np.max(diagonal))))
        size, width = len(self.start), len(self.rows)
        derivatives = np.zeros((width, size, size))
        weights = scale[self.rows] * scale[self.columns]
        derivatives[np.arange(width), self.rows, self.columns] = weights
        derivatives[np.arange(width), self.columns, self.rows] = weights
        return Cone("J", np.zeros((size, size)), derivatives, slice(0, width))

    def misfit(self, entries: Array) -> float:
        return float(np.sum((self.R @ entries - self.c) ** 2)) + self.rest

    def certainty(self, J: Array, trials: Sequence[SegmentTrial]) -> tuple[Mask, Array]:
        """Entries with a part in combinations that no force feels, and standard deviations by the residual.

        What neighbouring samples share counts once: rotations are smoothed over time, and skin slides slowly.
        """
        chosen = np.flatnonzero(self.observable)
        _, values, vectors = np.linalg.svd(self.R[:, chosen])
        # Directions in the space of J that change no force: the data are the same all along them.
        flat = values < _FLAT * values[0]
        loose = np.any(np.abs(vectors[flat]) > 1e-6, axis=0)
        to_entries = vectors[~flat].T / values[~flat]
        related = self._long_run_covariance(J, trials, chosen, to_entries)
        variance = self.misfit(self.entries(J)) / max(self.count - int(np.sum(~flat)), 1)
        # Few samples that happen to cancel must not make the deviation smaller than white noise makes it.
        plain = np.sum(to_entries**2, axis=1) * variance
        spread = np.sqrt(np.maximum(np.diag(to_entries @ related @ to_entries.T), plain))
        undetermined, deviation = np.zeros(J.shape, dtype=bool), np.zeros(J.shape)
        rows, columns = self.rows[chosen], self.columns[chosen]
        undetermined[rows, columns] = undetermined[columns, rows] = loose
        deviation[rows, columns] = deviation[columns, rows] = spread
        return undetermined, deviation

    def _long_run_covariance(self, J: Array, trials: Sequence[SegmentTrial], chosen: Slots, to_entries: Array) -> Array:
        """Long-run covariance of what the samples say along observable directions (columns of `to_entries`)."""
        x, total = self.entries(J), np.zeros((to_entries.shape[1],) * 2)
        for trial in trials:
            rows = _equations(trial, self.rows, self.columns, slice(None))
            error = rows[:, -1] - rows[:, :-1] @ x
            scores = (rows[:, :-1][:, chosen] * error[:, None]).reshape(len(trial.T), -1, len(chosen)).sum(axis=1)
            total = total + long_run(scores @ to_entries)
        return total


def _equations(trial: SegmentTrial, rows: Slots, columns: Slots, part: slice) -> Array:
    """The six different entries of A J Bᵀ - B J Aᵀ = T at every sample as rows over J_ij, right-hand sides last."""
    A, B, T, weights = trial.A[part], trial.B[part], trial.T[part], np.sqrt(trial.weights[part])
    # T is antisymmetric: six entries of a 4x4 matrix say all.
    p, q = np.triu_indices(4, 1)

    def products(i: Slots, j: Slots) -> Array:
        return A[:, p][:, :, i] * B[:, q][:, :, j] - B[:, p][:, :, i] * A[:, q][:, :, j]

    # An entry off the diagonal stands twice in J.
    matrix = products(rows, columns) + np.where(rows == columns, 0.0, products(columns, rows))
    # By columns: one for each free entry of J, the right-hand side last, so that one factorisation serves both.
    stacked = np.concatenate([matrix, T[:, p, q][:, :, None]], axis=2) * weights[:, None, None]
    return stacked.reshape(-1, len(rows) + 1)


def _require_least(system: _System, J: Array, best: Array, descent: Descent) -> None:
    """Refuses a descent that stopped before the least cost."""
    least, reached = system.misfit(best), system.misfit(system.entries(J))
    variance = max(least / max(system.count, 1), (_EXACT**2) * float(system.c @ system.c))
    if reached - least > _ABOVE * variance:
        raise IdentificationError(
            f"the conjugate gradient stopped before the least cost ({descent.reason}; {descent.iterations} "
            f"iterations): a better J exists by {(reached - least) / variance:.2g} squared deviations. "
            "Let it run longer, or leave the stopping rules out."
        )


def _warnings(J: Array, positive: bool, unexcited: Mask, undetermined: Mask) -> tuple[str, ...]:
    warnings = []
    smallest = float(np.linalg.eigvalsh(J)[0])
    if not positive and smallest < -1e-12 * max(1.0, float(np.max(np.abs(J)))):
        warnings.append(
            f"J has the negative eigenvalue {smallest:.3g}: no body has these parameters. "
            "Identify among real bodies (positive = true), or record a richer motion."
        )
    if unexcited.any():
        warnings.append(f"the motion does not excite {_entry_list(unexcited)}: they keep the value they started with.")
    if undetermined.any():
        warnings.append(
            f"the motion determines {_entry_list(undetermined)} only together: each depends on where it started."
        )
    return tuple(warnings)


def _entry_list(entries: Mask) -> str:
    return ", ".join(f"J[{i},{j}]" for i, j in np.argwhere(np.triu(entries)))
