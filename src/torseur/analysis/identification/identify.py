"""`identify`: from trials of a mechanism to its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from torseur.algebra.arrays import Array, triangular_factor
from torseur.analysis.identification.data.trials import Trial
from torseur.analysis.identification.estimators import least_squares as ls
from torseur.analysis.identification.estimators.body_family import body_family, consistent_problem, expected_parameters
from torseur.analysis.identification.estimators.consistent_fit import Certificate, fit_consistent
from torseur.analysis.identification.estimators.correlated_noise import related_covariance
from torseur.analysis.identification.estimators.priors import Prior, description_parameters
from torseur.analysis.identification.estimators.regression import (
    Regression,
    combine,
    excited_columns,
    excited_combination,
)
from torseur.analysis.identification.estimators.resampling import bootstrap_fits, cross_validate
from torseur.analysis.identification.model.base_parameters import BaseParameters, base_parameters
from torseur.analysis.identification.model.linear_model import LinearModel
from torseur.analysis.identification.model.pseudo_inertia import Limits
from torseur.analysis.identification.results.estimate import Estimate
from torseur.analysis.identification.results.fit_checks import checks_of
from torseur.analysis.identification.results.fits import fits_of
from torseur.analysis.identification.results.identification_warnings import (
    doubts_about_data,
    doubts_about_forces,
    doubts_about_residuals,
    doubts_about_signs,
    inconsistent_bodies,
)
from torseur.errors import IdentificationError, unknown_name

# There is one consistent fit; a study may still call it by the variables in which it was once solved.
CONSISTENT = ("consistent", "log_cholesky")
METHODS = ("ordinary", "weighted", "total", "robust", "instrumental", *CONSISTENT)


@dataclass(frozen=True)
class Options:
    """What `identify` may be told besides the data.

    prior        a Prior that weighs beside the data (consistent methods); by default none. What the data leave open is
                 nearest to its values or the description's in any case
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


# Methods whose solution is that of weighted or ordinary least squares, or begins there.
_SQUARES = ("ordinary", "weighted", *CONSISTENT)


def identify(
    model: LinearModel, trials: Sequence[Trial], method: str = "weighted", options: Options | None = None
) -> Estimate:
    """Parameters of a mechanism that explain its trials.

    method       "ordinary", "weighted" (by the noise of each equation), "total", "robust" (Huber) least squares,
                 "instrumental" variables, or "consistent": the best among parameters that real bodies can have
                 (semidefinite programming; "log_cholesky" is the same)
    """
    trials, options = tuple(trials), options or Options()
    _check(method, options)
    follow = options.progress or (lambda part: None)
    base = options.base or base_parameters(model)
    regression = Regression(model, trials, frozenset(base.columns))
    follow(0.1)
    # What the structure allows to identify, less what this motion does not excite.
    columns, condition, unexcited = excited_columns(regression, base)
    combination = excited_combination(regression, base, columns)
    follow(0.3)
    solution = _solve(regression, columns, method, options)
    follow(0.6)
    covariance = related_covariance(regression, columns, solution) if method in _SQUARES else solution.covariance
    # Base combinations are what the data determine; single parameters need a reference, or the conditions on bodies.
    parameters, certificate = _all_parameters(regression, columns, combination, method, options, solution)
    values = solution.values if certificate is None or parameters is None else combination @ parameters
    full = _all_columns(model, columns, values)
    fits = fits_of(regression, full)
    held = fits_of(Regression(model, tuple(options.validation), regression.columns), full) if options.validation else ()
    follow(0.8)
    replications = (
        bootstrap_fits(regression, columns, solution.noise, options.bootstrap, options.seed)
        if options.bootstrap
        else None
    )
    rows = sum(t.rows for t in regression.triangles.values())
    expected = expected_parameters(model, options.prior)
    warnings = [*doubts_about_data(condition, unexcited, rows, len(columns))]
    warnings += doubts_about_signs(model, columns, values, covariance)
    if expected is not None:
        warnings += doubts_about_forces(regression, _all_columns(model, columns, combination @ expected))
    warnings += doubts_about_residuals(fits)
    warnings += inconsistent_bodies(model, parameters) if parameters is not None else []
    return Estimate(
        model=model,
        method=method,
        base=base,
        columns=columns,
        combination=combination,
        values=values,
        covariance=covariance,
        noise={regression.equations[k]: s for k, s in solution.noise.items()},
        parameters=parameters,
        expected=expected,
        condition=condition,
        confidence=options.confidence,
        freedom=max(rows - len(columns), 1),
        history=solution.history,
        certificate=certificate,
        checks=checks_of(regression, values, columns, method, solution, certificate, (*fits, *held)),
        fits=fits,
        validation=held,
        cross_validation=cross_validate(model, trials, base=base) if options.cross else (),
        bootstrap=replications,
        warnings=tuple(warnings),
        notes=_notes(model, trials, base, method, options.prior),
    )


def _check(method: str, options: Options) -> None:
    if method not in METHODS:
        raise IdentificationError(unknown_name("method", method, METHODS))
    if (options.limits or options.known) and method not in CONSISTENT:
        raise IdentificationError(
            f"limits and known values of bodies are for methods {' and '.join(CONSISTENT)}, not '{method}'."
        )


def _solve(regression: Regression, columns: tuple[int, ...], method: str, options: Options) -> ls.Solution:
    if method == "ordinary":
        return ls.ordinary_least_squares(regression, columns)
    if method == "total":
        return ls.total_least_squares(regression, columns)
    if method == "robust":
        return ls.robust_least_squares(regression, columns, progress=options.progress)
    if method == "instrumental":
        if not options.instruments:
            raise IdentificationError(
                "instrumental variables need instruments: trials of the same motion, with noise of their own."
            )
        return ls.instrumental_variables(
            regression, Regression(regression.model, tuple(options.instruments), regression.columns), columns
        )
    return ls.weighted_least_squares(regression, columns)


def _all_parameters(
    regression: Regression, columns: tuple[int, ...], combination: Array, method: str, options: Options,
    solution: ls.Solution,
) -> tuple[Array | None, Certificate | None]:  # fmt: skip
    """Every column's value where something determines it, and the proof of a consistent fit."""
    model, prior = regression.model, options.prior
    family = body_family(model, columns, combination, solution.values, prior)
    if method not in CONSISTENT:
        return None if expected_parameters(model, prior) is None else family.nearest(solution.values), None
    data = whiten(regression, columns, solution.noise)
    fit = fit_consistent(consistent_problem(model, family, data, prior, options.limits, options.known))
    return fit.parameters, fit.certificate


def whiten(regression: Regression, columns: Sequence[int], noise: Mapping[int, float]) -> tuple[Array, Array]:
    """R and c over some columns in units of the noise, floored where data are as good as exact."""
    triangles = regression.triangles
    # Data as good as exact (a simulation's) count to a millionth of the whole force: beyond that they would ask for
    # more digits of the bodies than any solver has.
    floors = {k: 1e-6 * np.sqrt(float(np.sum(t.c**2)) + t.rest) for k, t in triangles.items()}
    weights = [1 / max(noise[k], float(floors[k]), 1e-300) for k in triangles]
    joint = combine(list(triangles.values()), weights, regression.width)
    upper = triangular_factor(np.column_stack([joint.R[:, list(columns)], joint.c]))
    return upper[: len(columns), :-1], upper[: len(columns), -1]


def _all_columns(model: LinearModel, columns: tuple[int, ...], values: Array) -> Array:
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
        expected = description_parameters(model) | dict(prior.bodies if prior is not None else {})
        if free := [owner for owner in model.bodies if owner not in expected]:
            notes.append(
                f"nothing is expected of {', '.join(free)}: what the data leave open about them is that of a body as "
                "round as they allow."
            )
    return tuple(notes)
