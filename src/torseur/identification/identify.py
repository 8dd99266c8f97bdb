"""`identify`: from trials of a mechanism to its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from torseur.errors import IdentificationError, unknown_name
from torseur.identification import least_squares as ls
from torseur.identification.arrays import Array, triangular
from torseur.identification.base_parameters import BaseParameters, base_parameters
from torseur.identification.completion import completed, inconsistent_bodies, prior_start
from torseur.identification.consistent import ConeProblem, solve_cones
from torseur.identification.doubts import (
    doubts_about_data,
    doubts_about_forces,
    doubts_about_residuals,
    doubts_about_signs,
)
from torseur.identification.estimate import Estimate
from torseur.identification.excited import excited_columns, excited_combination
from torseur.identification.fits import fits_of
from torseur.identification.linear_model import LinearModel
from torseur.identification.log_cholesky import solve_log_cholesky
from torseur.identification.priors import Prior, described_prior
from torseur.identification.pseudo_inertia import Limits
from torseur.identification.regression import Regression, combined
from torseur.identification.resampling import bootstrap as resampled
from torseur.identification.resampling import cross_validate
from torseur.identification.trials import Trial

METHODS = ("ordinary", "weighted", "total", "robust", "instrumental", "consistent", "log_cholesky")
CONSISTENT = ("consistent", "log_cholesky")


@dataclass(frozen=True)
class Options:
    """What `identify` may be told besides the data.

    prior        a Prior; by default the description's values, with the weight of one squared deviation per body
    limits       by body, what it is allowed to be (consistent methods)
    known        parameters by name that have these values ("upper.mass", "q1.viscous"; consistent methods)
    instruments  trials of the same motion with noise of their own, for the instrumental method
    validation   trials that are only predicted
    cross        whether each trial is also predicted from a weighted fit to the others
    confidence   of the intervals
    bootstrap    how many times to fit resampled blocks of the trials
    progress     is called now and then with the part of the work that is done
    base         the base parameters, where they are known already
    """

    prior: Prior | None = None
    limits: Mapping[str, Limits] = field(default_factory=dict)
    known: Mapping[str, float] = field(default_factory=dict)
    instruments: Sequence[Trial] = ()
    validation: Sequence[Trial] = ()
    cross: bool = False
    confidence: float = 0.95
    bootstrap: int = 0
    seed: int = 0
    base: BaseParameters | None = None
    progress: Callable[[float], None] | None = None

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise IdentificationError(f"confidence is a part of one, such as 0.95, not {self.confidence:g}.")


def identify(
    model: LinearModel, trials: Sequence[Trial], method: str = "weighted", options: Options | None = None
) -> Estimate:
    """Parameters of a mechanism that explain its trials.

    method       "ordinary", "weighted" (by the noise of each equation), "total", "robust" (Huber) least squares,
                 "instrumental" variables, or parameters of real bodies: "consistent" (semidefinite programming),
                 "log_cholesky"
    """
    return _identified(model, tuple(trials), method, options or Options())


def _identified(model: LinearModel, trials: tuple[Trial, ...], method: str, options: Options) -> Estimate:
    if method not in METHODS:
        raise IdentificationError(unknown_name("method", method, METHODS))
    if (options.limits or options.known) and method not in CONSISTENT:
        raise IdentificationError(
            f"limits and known values of bodies are for methods {' and '.join(CONSISTENT)}, not '{method}'."
        )
    follow = options.progress or (lambda part: None)
    base = options.base or base_parameters(model)
    regression = Regression(model, trials, frozenset(base.columns))
    follow(0.1)
    columns, condition, unexcited = excited_columns(regression, base)
    combination = excited_combination(regression, base, columns)
    follow(0.3)
    solution = _solved(regression, columns, method, options)
    follow(0.6)
    parameters, history = _all_parameters(regression, columns, combination, method, options, solution)
    values = combination @ parameters if method in CONSISTENT and parameters is not None else solution.values
    full = _spread(model, columns, values)
    fits = fits_of(regression, full)
    held = fits_of(Regression(model, tuple(options.validation), regression.columns), full) if options.validation else ()
    follow(0.8)
    replications = (
        resampled(regression, columns, solution.noise, options.bootstrap, options.seed) if options.bootstrap else None
    )
    rows = sum(t.rows for t in regression.triangles.values())
    expected = prior_start(model, options.prior)
    warnings = (
        *doubts_about_data(condition, unexcited, rows, len(columns)),
        *doubts_about_signs(model, columns, values, solution.covariance),
        *(
            doubts_about_forces(regression, _spread(model, columns, combination @ expected))
            if expected is not None
            else ()
        ),
        *doubts_about_residuals(fits),
        *(inconsistent_bodies(model, parameters) if parameters is not None else ()),
    )
    return Estimate(
        model=model,
        method=method,
        base=base,
        columns=columns,
        combination=combination,
        values=values,
        covariance=solution.covariance,
        noise={regression.equations[k]: s for k, s in solution.noise.items()},
        parameters=parameters,
        described=expected,
        condition=condition,
        confidence=options.confidence,
        freedom=max(rows - len(columns), 1),
        history=history or solution.history,
        fits=fits,
        validation=held,
        crossed=cross_validate(model, trials, base=base) if options.cross else (),
        bootstrap=replications,
        warnings=warnings,
        notes=_notes(model, trials, base, method, options.prior),
    )


def _solved(regression: Regression, columns: tuple[int, ...], method: str, options: Options) -> ls.Solution:
    if method == "ordinary":
        return ls.ordinary(regression, columns)
    if method == "total":
        return ls.total(regression, columns)
    if method == "robust":
        return ls.robust(regression, columns, progress=options.progress)
    if method == "instrumental":
        if not options.instruments:
            raise IdentificationError(
                "instrumental variables need instruments: trials of the same motion, with noise of their own."
            )
        return ls.instrumental(
            regression, Regression(regression.model, tuple(options.instruments), regression.columns), columns
        )
    return ls.weighted(regression, columns)


def _all_parameters(
    regression: Regression, columns: tuple[int, ...], combination: Array, method: str, options: Options,
    solution: ls.Solution,
) -> tuple[Array | None, tuple[float, ...]]:  # fmt: skip
    """Every column's value where something determines it, and the iterations that led there."""
    model = regression.model
    if method not in CONSISTENT:
        return completed(model, combination, solution.values, options.prior), ()
    prior = options.prior or described_prior(model)
    R, c = whitened(regression, columns, solution.noise)
    problem = ConeProblem(model, columns, combination, R, c, prior.rows(model), options.limits, options.known)
    if method == "consistent":
        return solve_cones(problem).parameters, ()
    start = prior_start(model, prior, any_body=True)
    assert start is not None
    descent = solve_log_cholesky(problem, start, progress=options.progress)
    return descent.parameters, descent.history


def whitened(regression: Regression, columns: Sequence[int], noise: Mapping[int, float]) -> tuple[Array, Array]:
    """R and c over some columns in units of the noise, floored where data are as good as exact."""
    triangles = regression.triangles
    floors = {k: 1e-6 * np.sqrt((float(np.sum(t.c**2)) + t.rest) / max(t.rows, 1)) for k, t in triangles.items()}
    weights = [1 / max(noise[k], float(floors[k]), 1e-300) for k in triangles]
    joint = combined(list(triangles.values()), weights, regression.width)
    upper = triangular(np.column_stack([joint.R[:, list(columns)], joint.c]))
    return upper[: len(columns), :-1], upper[: len(columns), -1]


def _spread(model: LinearModel, columns: tuple[int, ...], values: Array) -> Array:
    full = np.zeros(len(model.columns))
    full[list(columns)] = values
    return full


def _notes(
    model: LinearModel, trials: Sequence[Trial], base: BaseParameters, method: str, prior: Prior | None
) -> tuple[str, ...]:
    notes = [f"{trial.name}: {note}" for trial in trials for note in trial.notes]
    names = [v.removesuffix("'") for v in model.equations.layout.speed_names]
    silent = sorted({n for t in trials for n, is_measured in zip(names, t.measured, strict=True) if not is_measured})
    if silent and model.is_constrained:
        notes.append(f"no force was recorded along {', '.join(silent)}: they were taken as passive.")
    elif silent:
        notes.append(f"no force was recorded along {', '.join(silent)}: their equations were not used.")
    if base.unfelt:
        notes.append(f"no force depends on {', '.join(base.unfelt)}.")
    if method in CONSISTENT:
        notes.append("deviations are those of the weighted fit without the conditions on bodies.")
        expected = (prior or described_prior(model)).bodies
        if free := [owner for owner in model.bodies if owner not in expected]:
            notes.append(f"nothing is expected of {', '.join(free)}: what the data leave open about them is arbitrary.")
    return tuple(notes)
