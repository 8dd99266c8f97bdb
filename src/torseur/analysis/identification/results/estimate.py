"""The result of an identification: values with their uncertainty, what they explain, what must be said of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.identification.estimators.consistent_fit import Certificate
from torseur.analysis.identification.model.base_parameters import BaseParameters
from torseur.analysis.identification.model.linear_model import LinearModel
from torseur.analysis.identification.results.combination_text import numeric_combination_text
from torseur.analysis.identification.results.fit_checks import FitCheck
from torseur.analysis.identification.results.fits import Fit
from torseur.display import Displayed
from torseur.edges.arguments import explain_methods
from torseur.errors import IdentificationError, unknown_name


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Values refitted to resampled blocks of the trials, one row per replication."""

    values: Array

    @property
    def deviation(self) -> Array:
        return np.asarray(np.std(self.values, axis=0, ddof=1))


@explain_methods
@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Displayed):
    """Identified combinations of parameters and, where something determines them one by one, all parameters.

    values       of the base parameters that the motion excites; `combination` maps all parameters to them
    parameters   all columns of the model: from a consistent fit, or completed by the description or prior
    condition    of the regressor with columns of equal length: below about 100 is good excitation
    history      what the method minimised, or how much it changed, by iteration
    certificate  of a consistent fit: how far it is proven to be the best one
    checks       what was verified apart from the fit itself; `trusted` when all of them hold
    fits         how the trials are explained; `validation` the same for trials that were held out,
                 `cross_validation` for each trial by a fit to the others
    """

    model: LinearModel
    method: str
    base: BaseParameters
    columns: tuple[int, ...]
    combination: Array
    values: Array
    covariance: Array
    noise: Mapping[str, float]
    parameters: Array | None
    expected: Array | None
    condition: float
    confidence: float
    freedom: int
    history: tuple[float, ...]
    certificate: Certificate | None
    checks: tuple[FitCheck, ...]
    fits: tuple[Fit, ...]
    validation: tuple[Fit, ...]
    cross_validation: tuple[Fit, ...]
    bootstrap: Bootstrap | None
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        verdict = "trusted" if self.trusted else "checks failed"
        return f"Estimate of {len(self.values)} parameters by {self.method}, condition {self.condition:.3g}, {verdict}"

    @property
    def names(self) -> list[str]:
        """Each value by its leading parameter."""
        return [self.model.columns[c].name for c in self.columns]

    @property
    def units(self) -> list[str]:
        return [self.model.columns[c].unit for c in self.columns]

    def text(self, number: int) -> str:
        """What a value stands for, in the user's names."""
        c = self.columns[number]
        if len(self.columns) == len(self.base):
            return self.base.text(self.base.columns.index(c))
        return numeric_combination_text(self.combination[number], self.model.names)

    def __getitem__(self, name: str) -> float:
        """A parameter, or the combination it leads."""
        if self.parameters is not None and name in self.model.names:
            return float(self.parameters[self.model.names.index(name)])
        if name not in self.names:
            raise IdentificationError(unknown_name("parameter", name, self.names))
        return float(self.values[self.names.index(name)])

    @property
    def trusted(self) -> bool:
        """Whether every check of the fit holds."""
        return all(check.ok for check in self.checks)

    @property
    def deviation(self) -> Array:
        """Standard deviation of every value."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def interval(self) -> tuple[Array, Array]:
        """Bounds that hold each value with the estimate's confidence, by Student's distribution.

        Of the bootstrap's deviation where there is one: it knows of noise that is correlated in time. Its quantiles
        would need a thousand replications, its deviation a few dozen.
        """
        from scipy.stats import t

        deviation = self.deviation if self.bootstrap is None else self.bootstrap.deviation
        reach = float(t.ppf(0.5 + self.confidence / 2, max(self.freedom, 1))) * deviation
        return self.values - reach, self.values + reach

    @property
    def relative_deviation(self) -> Array:
        """Deviation over the size of the value; infinite where the value vanishes."""
        sizes = np.abs(self.values)
        return np.where(sizes > 0, self.deviation / np.where(sizes > 0, sizes, 1.0), np.inf)

    def body(self, name: str) -> Array:
        """Ten parameters of a body: mass, first moment, inertia at the link's origin."""
        if self.parameters is None:
            raise IdentificationError(
                "the data determine combinations only, and nothing says how they split. Use the method consistent, or "
                "give the description values to start from."
            )
        if name not in self.model.bodies:
            raise IdentificationError(unknown_name("body", name, self.model.bodies))
        return self.parameters[self.model.bodies[name]]

    def rows(self) -> list[tuple[str, float, float, float, str, str]]:
        """Name, value, deviation, relative deviation, unit and meaning of every value."""
        columns = zip(self.names, self.values, self.deviation, self.relative_deviation, self.units, strict=True)
        return [(n, float(v), float(s), float(r), u, self.text(k)) for k, (n, v, s, r, u) in enumerate(columns)]

    def __str__(self) -> str:
        width = max((len(name) for name in self.names), default=0)
        lines = [f"{len(self.values)} parameters by {self.method}, condition {self.condition:.3g}"]
        again = None if self.bootstrap is None else self.bootstrap.deviation
        for k, (n, v, s, _, u, t) in enumerate(self.rows()):
            refitted = "" if again is None else f"(bootstrap {again[k]:.2g})".ljust(20)
            lines.append(f"{n:<{width}}  {v:>13.6g} ± {s:<9.2g} {refitted}{u:<8} {t}")
        lines += [f"fit of {fit.name}: {100 * fit.relative:.3g} %" for fit in self.fits]
        lines += [f"held out, {fit.name}: {100 * fit.relative:.3g} %" for fit in self.validation]
        lines += [f"from the others, {fit.name}: {100 * fit.relative:.3g} %" for fit in self.cross_validation]
        lines += [f"{'ok ' if check.ok else 'BAD'} {check.title}: {check.detail}" for check in self.checks]
        lines += [f"warning: {text}" for text in self.warnings]
        return "\n".join([*lines, *(f"note: {text}" for text in self.notes)])
