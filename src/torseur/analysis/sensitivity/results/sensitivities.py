"""`Sensitivities`: how criteria change with parameters, in the forms in which people read them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from torseur.analysis.sensitivity.model.varied_parameters import Varied
from torseur.computation.simulation.loop.integrator import Statistics
from torseur.computation.simulation.model.system import Vector
from torseur.deprecation import FormerName
from torseur.display import Displayed
from torseur.edges.arguments import explain_methods
from torseur.edges.plain_text import cell
from torseur.errors import TorseurError, unknown_name

if TYPE_CHECKING:
    from torseur.analysis.sensitivity.results.verification import Agreement

SUFFIXES = (".csv", ".json")
FORMS = ("raw", "per_percent", "logarithmic")
ROUNDING = 1e-12  # relative change of a criterion per relative change of a parameter that rounding alone can make


@dataclass(frozen=True, eq=False)
class Response:
    """A criterion along time (one time for those that are a single number), with its derivatives by the parameters.

    `over` says what `time` is where it is not that: the frequency of a response.

    `derivatives` has a row per time and a column per parameter; `hessian` a row and a column per parameter, at the end.
    `magnitude` is the size that changes of the criterion are compared with: its own, or what changes of the states by
    their size make of it.
    """

    name: str
    unit: str
    kind: str
    time: Vector
    values: Vector
    derivatives: Vector
    hessian: Vector | None = None
    over: str = "time [s]"
    magnitude: float = 0.0

    slopes = FormerName("derivatives")

    @property
    def size(self) -> float:
        """The size that changes of the criterion are compared with."""
        return max(self.magnitude, float(np.abs(self.values).max(initial=0.0)))

    @property
    def value(self) -> float:
        """At the last time."""
        return float(self.values[-1])

    @property
    def gradient(self) -> Vector:
        """Derivatives by all parameters at the last time."""
        return np.asarray(self.derivatives[-1])

    @property
    def is_curve(self) -> bool:
        return len(self.time) > 1


@dataclass(frozen=True, eq=False)
class Rank:
    """One parameter in a ranking of its influence on a criterion.

    `spread` is what its tolerance (1 % of its value unless given) makes of the criterion, `share` its part of the
    variance of all of them together, `merit` the spread per cost. A derivative that `noise` cannot tell from zero has
    no part in it.
    """

    parameter: str
    derivative: float
    per_percent: float
    tolerance: float
    spread: float
    share: float
    cost: float
    merit: float
    noise: float = 0.0

    slope = FormerName("derivative")

    @property
    def is_zero(self) -> bool:
        """Whether the derivative is zero within rounding."""
        return abs(self.derivative) <= self.noise


@explain_methods
@dataclass(frozen=True, eq=False, repr=False)
class Sensitivities(Displayed):
    """Criteria with their derivatives by the parameters of a study, and how they were computed.

    `reason` says why the method was chosen, `notes` what should be known before the numbers are used; `trusted` is
    false when differences of motions contradict the derivatives (`agreement`), or small errors grow so much along the
    motion that the numbers mean nothing. `seconds` is what the integrations there and back took, without setting up.
    """

    name: str
    parameters: tuple[Varied, ...]
    responses: tuple[Response, ...]
    method: str
    reason: str
    statistics: Statistics | None = None
    notes: tuple[str, ...] = ()
    trusted: bool = True
    agreement: tuple[Agreement, ...] = ()
    seconds: float = 0.0

    def __repr__(self) -> str:
        criteria = ", ".join(response.name for response in self.responses)
        trust = "" if self.trusted else "; not to be trusted"
        return f"Sensitivities of {criteria} by {', '.join(self.parameter_names)}, {self.method} method{trust}"

    def __getitem__(self, criterion: str) -> Response:
        names = [response.name for response in self.responses]
        if criterion not in names:
            raise TorseurError(unknown_name("criterion", criterion, names))
        return self.responses[names.index(criterion)]

    @property
    def parameter_names(self) -> list[str]:
        return [parameter.name for parameter in self.parameters]

    def noise(self, criterion: str) -> Vector:
        """What rounding alone can make of the derivatives of a criterion, one number per parameter."""
        return np.asarray(ROUNDING * self[criterion].size / np.array([p.scale for p in self.parameters]))

    def column(self, parameter: str) -> int:
        """The place of a parameter among the derivatives."""
        if parameter not in self.parameter_names:
            raise TorseurError(unknown_name("parameter", parameter, self.parameter_names))
        return self.parameter_names.index(parameter)

    def derivative(self, criterion: str, parameter: str, form: str = "raw") -> Vector:
        """Along time: raw dg/dx; per_percent, the change of g with 1 % of x; logarithmic, (x/g) dg/dx."""
        return np.asarray(self.derivatives(criterion, form)[:, self.column(parameter)])

    def derivatives(self, criterion: str, form: str = "raw") -> Vector:
        """A row per time, a column per parameter."""
        response = self[criterion]
        return in_form(form, self.parameters, response.values, response.derivatives)

    slope, slopes = FormerName("derivative"), FormerName("derivatives")

    def overshoot(self, criterion: str, parameter: str) -> float:
        """(largest - steady) / steady of a derivative that settles, in percent; the last value counts as steady."""
        curve = self.derivative(criterion, parameter)
        steady = curve[-1]
        if steady == 0.0:
            return float("nan")
        return float(100.0 * ((curve / steady).max() - 1.0))

    def ranking(
        self,
        criterion: str,
        tolerances: Mapping[str, float] | None = None,
        costs: Mapping[str, float] | None = None,
    ) -> tuple[Rank, ...]:
        """Parameters by what their tolerance makes of the criterion at the last time, or by spread per cost."""
        return _rank_parameters(self, criterion, tolerances or {}, costs or {})

    def spread(self, criterion: str, tolerances: Mapping[str, float] | None = None) -> float:
        """Standard deviation of the criterion when each parameter has its tolerance as standard deviation."""
        return float(np.sqrt(sum(rank.spread**2 for rank in self.ranking(criterion, tolerances))))

    def save(self, path: str | Path, overwrite: bool = False, form: str = "raw") -> Path:
        """Writes CSV (curves) or JSON (everything), by the suffix of the path; second derivatives are always raw."""
        over = self.responses[0].over if self.responses else "time [s]"
        headings = ["criterion", over, "value", "unit", *derivative_headings(self.parameters, form)]
        rows = [
            [response.name, float(t), float(value), response.unit, *map(float, row)]
            for response in self.responses
            for t, value, row in zip(response.time, response.values, self.derivatives(response.name, form), strict=True)
        ]
        return write_table(Path(path), overwrite, headings, rows, lambda: self.document(form))

    def document(self, form: str = "raw") -> dict[str, object]:
        """Everything as plain data."""
        return _document(self, form)

    def plot(self, path: str | Path, criterion: str | None = None, form: str = "per_percent") -> Path:
        """Draws the derivatives along time into a file, a tornado chart for a criterion that is a single number.

        All criteria side by side, or one.
        """
        from torseur.analysis.sensitivity.results.sensitivity_plots import draw

        return draw(self, self._plotted_parameters(criterion), Path(path), form)

    def tornado(self, path: str | Path, criterion: str | None = None, form: str = "per_percent") -> Path:
        """Draws the parameters by influence at the last time, for all criteria or one."""
        from torseur.analysis.sensitivity.results.sensitivity_plots import draw

        return draw(self, self._plotted_parameters(criterion), Path(path), form, at_end=True)

    def pareto(self, path: str | Path, costs: Mapping[str, float], criterion: str | None = None) -> Path:
        """Draws influence against cost, for all criteria or one."""
        from torseur.analysis.sensitivity.results.sensitivity_plots import draw_pareto

        return draw_pareto(self, self._plotted_parameters(criterion), Path(path), costs)

    def _plotted_parameters(self, criterion: str | None) -> list[str]:
        return [response.name for response in self.responses] if criterion is None else [self[criterion].name]


def _rank_parameters(
    result: Sensitivities, criterion: str, tolerances: Mapping[str, float], costs: Mapping[str, float]
) -> tuple[Rank, ...]:
    """Parameters from the most to the least influential; per cost where costs are given."""
    for name in (*tolerances, *costs):
        if name not in result.parameter_names:
            raise TorseurError(unknown_name("parameter", name, result.parameter_names))
    for name, cost in costs.items():
        if not cost > 0.0:
            raise TorseurError(f"the cost of '{name}' is {cost}: expected a positive number.")
    gradient, noise = result[criterion].gradient, result.noise(criterion)
    widths = [tolerances.get(p.name, 0.01 * p.scale) for p in result.parameters]
    # What rounding made has no influence: it would be ranked by accident where nothing else is there.
    clear = np.where(np.abs(gradient) > noise, np.abs(gradient), 0.0)
    spreads = [float(entry) * abs(width) for entry, width in zip(clear, widths, strict=True)]
    # First order: independent errors add their variances, (∂g/∂p σ_p)².
    total = sum(spread * spread for spread in spreads) or 1.0
    ranks = [
        Rank(
            parameter.name,
            float(entry),
            float(entry) * parameter.value / 100.0,
            float(width),
            spread,
            spread * spread / total,
            costs.get(parameter.name, 1.0),
            spread / costs.get(parameter.name, 1.0),
            float(level),
        )
        for parameter, entry, width, spread, level in zip(
            result.parameters, gradient, widths, spreads, noise, strict=True
        )
    ]
    return tuple(sorted(ranks, key=lambda rank: -rank.merit))


def in_form(form: str, parameters: Sequence[Varied], values: Vector, derivatives: Vector) -> Vector:
    """Derivatives, a row per value and a column per parameter, in one of FORMS."""
    sizes = np.array([parameter.value for parameter in parameters])
    if form == "raw":
        return derivatives
    if form == "per_percent":
        return np.asarray(derivatives * sizes / 100.0)
    if form == "logarithmic":
        # A criterion that passes through zero has no relative derivative there: infinity says so.
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(derivatives * sizes / values[:, None])
    raise TorseurError(unknown_name("form", form, FORMS))


def derivative_headings(parameters: Sequence[Varied], form: str) -> list[str]:
    """What columns of derivatives are called in files."""
    words = {"raw": "d/d {}", "per_percent": "change with 1 % of {}", "logarithmic": "logarithmic d/d {}"}
    if form not in FORMS:
        raise TorseurError(unknown_name("form", form, FORMS))
    return [words[form].format(parameter.name) for parameter in parameters]


def write_table(
    path: Path,
    overwrite: bool,
    headings: Sequence[str],
    rows: Sequence[Sequence[object]],
    document: Callable[[], dict[str, object]],
) -> Path:
    """Writes rows as CSV, or a document as JSON, by the suffix of the path."""
    if path.suffix not in SUFFIXES:
        raise TorseurError(f"'{path}': expected a name that ends in {' or '.join(SUFFIXES)}.")
    if path.exists() and not overwrite:
        raise TorseurError(f"'{path}' exists already: say overwrite=True, or choose another name.")
    if path.suffix == ".json":
        path.write_text(json.dumps(document(), indent=1) + "\n", encoding="utf-8")
        return path
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(map(cell, headings))
        writer.writerows([[cell(x) if isinstance(x, str) else repr(x) for x in row] for row in rows])
    return path


def _document(result: Sensitivities, form: str) -> dict[str, object]:
    """Everything as plain data."""
    return {
        "name": result.name,
        "method": result.method,
        "reason": result.reason,
        "trusted": result.trusted,
        "notes": list(result.notes),
        "agreement": [agreement.document() for agreement in result.agreement],
        "form": form,
        "parameters": [
            {"name": p.name, "value": p.value, "unit": p.unit, "meaning": p.meaning} for p in result.parameters
        ],
        "criteria": [
            {
                "name": response.name,
                "unit": response.unit,
                "kind": response.kind,
                "over": response.over,
                "time": response.time.tolist(),
                "values": response.values.tolist(),
                "derivatives": result.derivatives(response.name, form).tolist(),
                "noise": result.noise(response.name).tolist(),
                "hessian": None if response.hessian is None else response.hessian.tolist(),
            }
            for response in result.responses
        ],
        "statistics": None if result.statistics is None else vars(result.statistics),
    }
